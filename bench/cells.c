/* One filter of the library in one working set: filled, and timed beside the machine's limit and
 * its rivals, operation by operation. */
#include "inline_calls.h"
#include "run.h"

#include <string.h>

enum {
    TURN_KEYS = 1 << 19, /* of a batch call */
    SMALL_SET = 1 << 16, /* so few members are for trying it out: turns of as many keys */
    /* Members of a kind that holds integers: its speed does not depend on how full it is. */
    MOST_INTEGERS = 1 << 24
};

const int hits_percent[HITS_COUNT] = {0, 50, 100};
const char *const op_names[OP_COUNT] = {"contains_many", "contains", "contains, inline",
                                        "add_many",      "add",      "add, inline",
                                        "fill_many",     "fill",     "remove_many"};

const struct figure *cell_figure(const struct cell *cell, enum op op, enum hit_share hits) {
    for (size_t i = 0; i < cell->figure_count; i++)
        if (cell->figures[i].op == op && cell->figures[i].hits == hits) return &cell->figures[i];
    return NULL;
}

const struct versus *figure_versus(const struct figure *figure, const char *name) {
    for (size_t i = 0; i < figure->versus_count; i++)
        if (strcmp(figure->versus[i].name, name) == 0) return &figure->versus[i];
    return NULL;
}

const struct versus *figure_fastest(const struct figure *figure) {
    const struct versus *fastest = NULL;
    for (size_t i = 1; i < figure->versus_count; i++) {
        const struct versus *versus = &figure->versus[i];
        if (!versus->kept && (!fastest || versus->ratio.middle > fastest->ratio.middle)) fastest = versus;
    }
    return fastest;
}

perhaps_want kind_want(int kind, double fpr, uint64_t bytes, uint64_t items) {
    perhaps_want want = PERHAPS_WANT(.kind = kind, .fpr = fpr, .grow = PERHAPS_GROW_NEVER, .items = items);
    struct perhaps_plan plan = {.size = sizeof plan};
    if (items) return want;
    want.bytes = bytes;
    if (!(perhaps_kind_traits(kind) & PERHAPS_STATIC)) return want;
    /* The bits per key of a static filter hardly depend on the number of keys. */
    want.bytes = 0;
    want.items = bytes;
    if (perhaps_plan(&want, &plan) == PERHAPS_OK) want.items = (uint64_t)(8 * (double)bytes / plan.bits_per_key);
    return want;
}

struct key_space filter_space(const struct perhaps_info *info) {
    if (info->traits & PERHAPS_TAKES_BYTES) return key_space_all(info->capacity);
    uint64_t members = info->capacity / 2; /* integers of a range */
    return key_space_below(info->capacity, members < MOST_INTEGERS ? members : MOST_INTEGERS);
}

void run_check(struct run *run, int64_t answer) {
    if (answer < 0) run->error = (int)answer;
}

/* Arrays of bits: all members of a small filter, or random words. */
static void fill_bits(struct run *run, struct rival_filter *r) {
    enum { SOME = 4096 };
    uint64_t keys[SOME];
    rival_call *add = r->rival->calls[OP_ADD_MANY] ? r->rival->calls[OP_ADD_MANY] : r->rival->calls[OP_ADD];
    if (run->space.members > MOST_REAL_MEMBERS) {
        uint64_t *words = r->memory;
        for (uint64_t i = 0; !r->rival->kept && i < r->bytes / sizeof *words; i++) words[i] = key_number(~i);
        return;
    }
    for (uint64_t from = 0; from < run->space.members;) {
        size_t n = run->space.members - from < SOME ? (size_t)(run->space.members - from) : SOME;
        for (size_t i = 0; i < n; i++) keys[i] = key_member(&run->space, from + i);
        add(r, keys, n, run->pass->answers);
        from += n;
    }
}

/* A static filter's size is known then. */
static void seal(struct run *run) {
    struct perhaps_info info = {.size = sizeof info};
    refill(run, 0, run->space.members);
    machine_unpin();
    if (!run->error) run_check(run, perhaps_seal(run->f, &PERHAPS_SEAL(.threads = 0)));
    machine_pin();
    if (!run->error) run_check(run, perhaps_facts(run->f, &info));
    run->cell->bits_per_key = info.bits_per_key;
}

/* From an empty filter to a full one. */
static void time_adding(struct run *run, unsigned traits) {
    struct pass *pass = run->pass;
    const unsigned can = run->cell->can;
    pass->progress(run->cell, "filling");
    if (!(can & PERHAPS_COUNT) && !(traits & PERHAPS_STATIC)) {
        refill(run, 0, run->half);
        pass->progress(run->cell, "adding to");
        match_changes(run, OP_ADD_MANY);
        match_changes(run, OP_ADD);
        if (view_is_inline(run->f)) match_changes(run, OP_ADD_INLINE);
    }
    pass->progress(run->cell, "filling");
    if (can & PERHAPS_REMOVE) {
        match_fills(run);
    } else if (traits & PERHAPS_STATIC) {
        seal(run);
    } else {
        refill(run, run->next, run->space.members);
        for (size_t i = 0; i < run->rival_count; i++) fill_bits(run, &run->rivals[i]);
    }
}

static void time_querying(struct run *run) {
    run->pass->progress(run->cell, "querying");
    for (enum hit_share hits = 0; hits < HITS_COUNT; hits++) {
        match_queries(run, OP_CONTAINS_MANY, hits);
        match_queries(run, OP_CONTAINS, hits);
        if (view_is_inline(run->f)) match_queries(run, OP_CONTAINS_INLINE, hits);
    }
    run->cell->fpr = (double)run->false_positives / (double)run->non_member_queries;
}

static void time_removing(struct run *run) {
    run->pass->progress(run->cell, "removing from");
    match_changes(run, OP_REMOVE_MANY);
}

static void prepare(struct run *run, const struct perhaps_info *info) {
    struct cell *cell = run->cell;
    cell->kind = info->kind_name;
    cell->can = info->can;
    cell->items = info->capacity;
    if (!cell->limit_lines) cell->limit_lines = info->lines < MOST_LIMIT_LINES ? info->lines : MOST_LIMIT_LINES;
    cell->bits_per_key = info->bits_per_key;
    run->space = filter_space(info);
    run->half = run->next = run->space.members / 2;
    run->shared = run->space.members;
    run->pass_keys = info->lines > MOST_LIMIT_LINES ? TURN_KEYS / 2 : TURN_KEYS;
    if (run->space.members < SMALL_SET) run->pass_keys = SMALL_SET;
}

int cell_run(struct cell *cell, perhaps *f, struct limit *limit, struct pass *pass) {
    struct run run = {.cell = cell, .f = f, .limit = limit, .pass = pass};
    struct perhaps_info info = {.size = sizeof info};
    int error = perhaps_info(f, &info);
    if (error < 0) return error;
    prepare(&run, &info);
    int rivals = rivals_open(run.rivals, info.kind, cell, pass);
    if (rivals < 0) return PERHAPS_ENOMEM;
    run.rival_count = (size_t)rivals;
    time_adding(&run, info.traits);
    if (!run.error) time_querying(&run);
    if (!run.error && cell->can & PERHAPS_REMOVE) time_removing(&run);
    rivals_close(run.rivals, run.rival_count);
    return run.error;
}
