/*
 * Asking static filters in batches, beside the limit of as many lines as they look at. They are larger than the caches near the core,
 * unless a number of keys is given.
 *
 * One of them has the plain filter beside it: the same rate, the same keys, a single array. Asked in batches like its own it shows
 * what the library's parts and their directory cost; asked key by key, what batches are worth.
 */
#include "plain_fuse.h"
#include "static.h"

#include <string.h>

enum { ROUNDS = 5, PLAIN_CALLS = 2 };

static const uint64_t large_bytes = (uint64_t)128 << 20;
static const double some_more = 1.01; /* keys, so that the filter is not smaller than that */

typedef size_t plain_call(const struct plain_fuse *, const uint64_t *, size_t, uint8_t *);

static plain_call *const plain_calls[PLAIN_CALLS] = {plain_fuse_contains_many, plain_fuse_contains};
static const char *const plain_names[PLAIN_CALLS] = {"the plain one, in batches", "the plain one, key by key"};

struct asked {
    const struct shape *shape;
    struct run run;
    struct cell cell;
    struct plain_fuse plain; /* without slots = none */
    double plain_ns[PLAIN_CALLS][HITS_COUNT];
};

static uint64_t keys_for(const struct statics *statics, const struct shape *shape, struct run *run) {
    if (statics->all.keys) return statics->all.keys;
    perhaps_want want = static_want(shape, large_bytes);
    struct perhaps_plan plan = {.size = sizeof plan};
    run_check(run, perhaps_plan(&want, &plan));
    return run->error ? 0 : (uint64_t)(some_more * 8 * (double)large_bytes / plan.bits_per_key);
}

static void make_filter(struct asked *asked, uint64_t keys) {
    struct run *run = &asked->run;
    perhaps_want want = static_want(asked->shape, keys);
    run->pass->progress(&asked->cell, "building");
    run_check(run, perhaps_create(&run->f, &want));
    if (!run->error) refill(run, 0, keys);
    machine_unpin();
    if (!run->error) run_check(run, perhaps_seal(run->f, &PERHAPS_SEAL(.threads = 0)));
    machine_pin();
}

/* A rival that forgets keys would be none. */
static int has_all(const struct asked *asked, const uint64_t *keys, size_t n) {
    size_t found = 0;
    for (size_t done = 0; done < n; done += PASS_KEYS) {
        size_t some = n - done < PASS_KEYS ? n - done : PASS_KEYS;
        found += plain_fuse_contains_many(&asked->plain, keys + done, some, asked->run.pass->answers);
    }
    return found == n;
}

static void make_plain(struct asked *asked, size_t n) {
    const uint64_t bytes = (uint64_t)n * sizeof(uint64_t);
    uint64_t *keys = machine_memory(bytes);
    for (size_t i = 0; keys && i < n; i++) keys[i] = key_member(&asked->run.space, i);
    if (!keys || plain_fuse_build(&asked->plain, keys, n) < 0)
        asked->run.error = PERHAPS_ENOMEM;
    else if (!has_all(asked, keys, n))
        asked->run.error = PERHAPS_EMISMATCH;
    machine_release(keys, bytes);
}

static void question_round(struct asked *asked, enum hits hits) {
    struct run *run = &asked->run;
    const size_t n = run->pass_keys;
    make_questions(run, hits, n);
    keep_best(&asked->cell.ns[OP_CONTAINS_MANY][hits], time_questions(run, OP_CONTAINS_MANY, hits, n) / (double)n);
    for (unsigned i = 0; asked->plain.slots && i < PLAIN_CALLS; i++) {
        double begin = machine_worked();
        run->limit->kept += plain_calls[i](&asked->plain, run->pass->keys, n, run->pass->answers);
        keep_best(&asked->plain_ns[i][hits], (machine_worked() - begin) / (double)n);
    }
}

/* In turns, the best time of each. */
static void take_turns(struct asked *asked) {
    struct run *run = &asked->run;
    run->pass->progress(&asked->cell, "asking");
    for (unsigned round = 0; round < ROUNDS && !run->error; round++) {
        limit_round(run->limit, LIMIT_LOAD, asked->shape->lines, run->pass->keys, run->pass_keys);
        question_round(asked, round % 2 ? HITS_50 : HITS_0);
        question_round(asked, round % 2 ? HITS_0 : HITS_50);
    }
}

static struct row *take_row(struct statics *statics, const struct asked *asked, const char *name, const double *ns) {
    struct row *row = combined_row(&statics->all, PART_STATIC_ASK, "%s", name);
    double limit = asked->run.limit->figures[0][LIMIT_LOAD][asked->shape->lines - 1].ns;
    row->values[0] = (double)asked->cell.bytes / 0x1p20;
    row->values[1] = ns[HITS_0];
    row->values[2] = ns[HITS_50];
    row->values[3] = asked->shape->lines;
    row->values[4] = limit;
    row->values[5] = ns[HITS_50] / limit;
    return row;
}

static void take_rows(struct statics *statics, struct asked *asked) {
    const double *ns = asked->cell.ns[OP_CONTAINS_MANY];
    struct row *row = take_row(statics, asked, asked->shape->name, ns);
    int is_large = asked->cell.bytes >= large_bytes;
    if (is_large) row->goals[5] = asked->shape->ask_goal;
    if (!asked->plain.slots) return;
    row->values[6] = ns[HITS_50] / asked->plain_ns[0][HITS_50];
    if (is_large) row->goals[6] = 1.05;
    for (unsigned i = 0; i < PLAIN_CALLS; i++) take_row(statics, asked, plain_names[i], asked->plain_ns[i]);
}

/* What JSON has of it. */
static void take_cell(struct statics *statics, const struct asked *asked, const struct perhaps_info *info) {
    struct cell *cell = static_cell(statics, asked->shape, info);
    cell->limit_lines = asked->shape->lines;
    cell->limit_ns[LIMIT_LOAD] = asked->run.limit->figures[0][LIMIT_LOAD][cell->limit_lines - 1].ns;
    cell->fpr = (double)asked->run.false_positives / (double)asked->run.false_asked;
    memcpy(cell->ns, asked->cell.ns, sizeof cell->ns);
    memcpy(cell->textbook_ns, asked->plain_ns[1], sizeof cell->textbook_ns);
}

static void ask_filter(struct statics *statics, struct asked *asked) {
    struct figures *figures = statics->all.figures;
    struct perhaps_info info = {.size = sizeof info};
    struct limit *limit = asked->run.limit = &figures->limits[figures->limit_count];
    run_check(&asked->run, perhaps_facts(asked->run.f, &info));
    asked->cell.bytes = info.bytes;
    if (limit_take_memory(limit, info.bytes) < 0) {
        asked->run.error = PERHAPS_ENOMEM;
        return;
    }
    figures->limit_count++;
    limit_find(limit, LIMIT_LOAD, asked->shape->lines, asked->run.pass->keys);
    take_turns(asked);
    limit_close(limit);
    if (asked->run.error) return;
    take_rows(statics, asked);
    take_cell(statics, asked, &info);
}

static int ask_shape(struct statics *statics, const struct shape *shape) {
    struct asked asked = {.shape = shape};
    uint64_t keys = keys_for(statics, shape, &asked.run);
    if (asked.run.error) return asked.run.error;
    static_open(statics, &asked.run, &asked.cell, shape, keys);
    make_filter(&asked, keys);
    if (!asked.run.error && shape == plain_shape) make_plain(&asked, (size_t)keys);
    if (!asked.run.error) ask_filter(statics, &asked);
    plain_fuse_free(&asked.plain);
    perhaps_free(asked.run.f);
    return asked.run.error;
}

int static_ask(struct statics *statics) {
    const struct shape *shape;
    int error = 0;
    for (size_t i = 0; !error && (shape = static_shape(i)); i++)
        if (static_is_taken(statics, shape)) error = ask_shape(statics, shape);
    return error;
}
