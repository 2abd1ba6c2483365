/*
 * Batch queries of static filters, beside the limit of as many cache lines as they look at. They
 * are larger than the caches near the core, unless a number of keys is given.
 *
 * One of them has the plain filter beside it: the same rate, the same keys, a single array. In
 * batches it shows what the library's parts and their directory cost; key by key, what batches are
 * worth.
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

struct queried {
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

static void make_filter(struct queried *queried, uint64_t keys) {
    struct run *run = &queried->run;
    perhaps_want want = static_want(queried->shape, keys);
    run->pass->progress(&queried->cell, "building");
    run_check(run, perhaps_create(&run->f, &want));
    if (!run->error) refill(run, 0, keys);
    machine_unpin();
    if (!run->error) run_check(run, perhaps_seal(run->f, &PERHAPS_SEAL(.threads = 0)));
    machine_pin();
}

/* A rival that forgets keys would be none. */
static int has_all(const struct queried *queried, const uint64_t *keys, size_t n) {
    size_t found = 0;
    for (size_t done = 0; done < n; done += PASS_KEYS) {
        size_t some = n - done < PASS_KEYS ? n - done : PASS_KEYS;
        found += plain_fuse_contains_many(&queried->plain, keys + done, some, queried->run.pass->answers);
    }
    return found == n;
}

static void make_plain(struct queried *queried, size_t n) {
    const uint64_t bytes = (uint64_t)n * sizeof(uint64_t);
    uint64_t *keys = machine_memory(bytes);
    for (size_t i = 0; keys && i < n; i++) keys[i] = key_member(&queried->run.space, i);
    if (!keys || plain_fuse_build(&queried->plain, keys, n) < 0)
        queried->run.error = PERHAPS_ENOMEM;
    else if (!has_all(queried, keys, n))
        queried->run.error = PERHAPS_EMISMATCH;
    machine_release(keys, bytes);
}

static void query_round(struct queried *queried, enum hits hits) {
    struct run *run = &queried->run;
    const size_t n = run->pass_keys;
    make_queries(run, hits, n);
    keep_best(&queried->cell.ns[OP_CONTAINS_MANY][hits], time_queries(run, OP_CONTAINS_MANY, hits, n) / (double)n);
    for (unsigned i = 0; queried->plain.slots && i < PLAIN_CALLS; i++) {
        double begin = machine_worked();
        run->limit->kept += plain_calls[i](&queried->plain, run->pass->keys, n, run->pass->answers);
        keep_best(&queried->plain_ns[i][hits], (machine_worked() - begin) / (double)n);
    }
}

/* In turns, the best time of each. */
static void take_turns(struct queried *queried) {
    struct run *run = &queried->run;
    run->pass->progress(&queried->cell, "querying");
    for (unsigned round = 0; round < ROUNDS && !run->error; round++) {
        limit_round(run->limit, LIMIT_LOAD, queried->shape->lines, run->pass->keys, run->pass_keys);
        query_round(queried, round % 2 ? HITS_50 : HITS_0);
        query_round(queried, round % 2 ? HITS_0 : HITS_50);
    }
}

static struct row *take_row(struct statics *statics, const struct queried *queried, const char *name,
                            const double *ns) {
    struct row *row = part_row(&statics->all, PART_STATIC_QUERY, "%s", name);
    double limit = queried->run.limit->figures[0][LIMIT_LOAD][queried->shape->lines - 1].ns;
    row->values[0] = (double)queried->cell.bytes / 0x1p20;
    row->values[1] = ns[HITS_0];
    row->values[2] = ns[HITS_50];
    row->values[3] = queried->shape->lines;
    row->values[4] = limit;
    row->values[5] = ns[HITS_50] / limit;
    return row;
}

static void take_rows(struct statics *statics, struct queried *queried) {
    const double *ns = queried->cell.ns[OP_CONTAINS_MANY];
    struct row *row = take_row(statics, queried, queried->shape->name, ns);
    int is_large = queried->cell.bytes >= large_bytes;
    if (is_large) row->goals[5] = queried->shape->query_goal;
    if (!queried->plain.slots) return;
    row->values[6] = ns[HITS_50] / queried->plain_ns[0][HITS_50];
    if (is_large) row->goals[6] = 1.05;
    for (unsigned i = 0; i < PLAIN_CALLS; i++) take_row(statics, queried, plain_names[i], queried->plain_ns[i]);
}

/* What JSON has of it. */
static void take_cell(struct statics *statics, const struct queried *queried, const struct perhaps_info *info) {
    struct cell *cell = static_cell(statics, queried->shape, info);
    cell->limit_lines = queried->shape->lines;
    cell->limit_ns[LIMIT_LOAD] = queried->run.limit->figures[0][LIMIT_LOAD][cell->limit_lines - 1].ns;
    cell->fpr = (double)queried->run.false_positives / (double)queried->run.non_member_queries;
    memcpy(cell->ns, queried->cell.ns, sizeof cell->ns);
    memcpy(cell->textbook_ns, queried->plain_ns[1], sizeof cell->textbook_ns);
}

static void query_filter(struct statics *statics, struct queried *queried) {
    struct figures *figures = statics->all.figures;
    struct perhaps_info info = {.size = sizeof info};
    struct limit *limit = queried->run.limit = &figures->limits[figures->limit_count];
    run_check(&queried->run, perhaps_facts(queried->run.f, &info));
    queried->cell.bytes = info.bytes;
    if (limit_take_memory(limit, info.bytes) < 0) {
        queried->run.error = PERHAPS_ENOMEM;
        return;
    }
    figures->limit_count++;
    limit_find(limit, LIMIT_LOAD, queried->shape->lines, queried->run.pass->keys);
    take_turns(queried);
    limit_close(limit);
    if (queried->run.error) return;
    take_rows(statics, queried);
    take_cell(statics, queried, &info);
}

static int query_shape(struct statics *statics, const struct shape *shape) {
    struct queried queried = {.shape = shape};
    uint64_t keys = keys_for(statics, shape, &queried.run);
    if (queried.run.error) return queried.run.error;
    static_open(statics, &queried.run, &queried.cell, shape, keys);
    make_filter(&queried, keys);
    if (!queried.run.error && shape == plain_shape) make_plain(&queried, (size_t)keys);
    if (!queried.run.error) query_filter(statics, &queried);
    plain_fuse_free(&queried.plain);
    perhaps_free(queried.run.f);
    return queried.run.error;
}

int static_query(struct statics *statics) {
    const struct shape *shape;
    int error = 0;
    for (size_t i = 0; !error && (shape = static_shape(i)); i++)
        if (static_is_taken(statics, shape)) error = query_shape(statics, shape);
    return error;
}
