/* Adds with one thread and with two: whole fills by the wall clock, keys already in memory. */
#include "bench_composite.h"

struct parallel {
    const char *name;
    int kind;
    unsigned shards, divisor; /* keys: all of them divided by this */
};

static const struct parallel cases[] = {
    {"blocked", PERHAPS_BLOCKED, 0, 1},
    {"blocked, 64 shards", PERHAPS_BLOCKED, 64, 1},
    {"table, 64 shards", PERHAPS_TABLE, 64, 10},
};

struct parallel_turns {
    struct run run;
    const uint64_t *keys;
    size_t n;
};

/* Contender 0 has one thread, 1 has two. */
static double turn(void *context, size_t contender) {
    struct parallel_turns *turns = context;
    struct run *run = &turns->run;
    perhaps_keys keys = PERHAPS_KEYS_U64(turns->keys, 0, turns->n);
    run_check(run, perhaps_clear(run->f));
    double begin = machine_now();
    run_check(run, perhaps_add_parallel(run->f, &keys, NULL, (unsigned)contender + 1));
    return run->error ? -1 : (machine_now() - begin) / (double)turns->n;
}

static int measure(struct part_run *all, const struct parallel *what, const uint64_t *keys) {
    struct parallel_turns turns = {.keys = keys, .n = (size_t)(all->keys / what->divisor)};
    perhaps_want want = PERHAPS_WANT(.kind = what->kind, .items = turns.n, .shards = what->shards);
    if (what->kind == PERHAPS_BLOCKED) want.fpr = 0.01;
    struct pairs_game game = {.contenders = 2, .context = &turns, .turn = turn};
    struct pairs pairs;
    struct cell cell;
    part_open(all, &turns.run, &cell, &want, turns.n);
    if (!turns.run.error && pairs_run(&pairs, &game) == 0) {
        struct row *row = part_row(all, PART_PARALLEL, "%s", what->name);
        row_set(row, 0, (double)turns.n);
        row->values[1] = pairs_time(&pairs, 0);
        row->values[2] = pairs_time(&pairs, 1);
        row->values[3] = pairs_ratio(&pairs, 1, 0);
    }
    part_close(&turns.run);
    return turns.run.error;
}

int part_parallel(struct part_run *all) {
    uint64_t *keys = machine_memory(all->keys * sizeof *keys);
    int error = keys ? 0 : PERHAPS_ENOMEM;
    for (uint64_t i = 0; i < all->keys && keys; i++) keys[i] = key_number(i);
    machine_unpin();
    for (size_t i = 0; i < sizeof cases / sizeof *cases && !error; i++) error = measure(all, &cases[i], keys);
    machine_pin();
    machine_release(keys, all->keys * sizeof *keys);
    return error;
}
