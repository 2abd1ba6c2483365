/* Adds with one thread and with two: whole fills by the wall clock, keys already in memory. */
#include "bench_composite.h"

enum { ROUNDS = 3, THREADS = 2 };

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

static double time_fill(struct run *run, const uint64_t *keys, size_t n, unsigned threads) {
    run_check(run, perhaps_clear(run->f));
    double begin = machine_now();
    run_check(run, perhaps_add_parallel(run->f, &PERHAPS_KEYS_U64(keys, 0, n), NULL, threads));
    return (machine_now() - begin) / (double)n;
}

static int measure(struct part_run *all, const struct parallel *what, const uint64_t *keys) {
    size_t n = (size_t)(all->keys / what->divisor);
    perhaps_want want = PERHAPS_WANT(.kind = what->kind, .items = n, .shards = what->shards);
    if (what->kind == PERHAPS_BLOCKED) want.fpr = 0.01;
    double ns[THREADS] = {0};
    struct cell cell;
    struct run run;
    part_open(all, &run, &cell, &want, n);
    /* The first round only brings the memory. */
    for (unsigned round = 0; round <= ROUNDS && !run.error; round++)
        for (unsigned i = 0; i < THREADS; i++) {
            double time = time_fill(&run, keys, n, i + 1);
            if (round) keep_best(&ns[i], time);
        }
    part_close(&run);
    if (run.error) return run.error;
    struct row *row = part_row(all, PART_PARALLEL, "%s", what->name);
    row->values[0] = (double)n;
    row->values[1] = ns[0];
    row->values[2] = ns[1];
    row->values[3] = ns[1] / ns[0];
    return 0;
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
