/*
 * Sharded filters beside one filter of the same size: what rate they have, and where they are
 * faster.
 *
 * A batch is sorted by shard before it is answered, so that the accesses of a shard stay in a part
 * of the memory: that costs time in small batches and may save it in large ones. How full the
 * filters are does not matter for the time; one key for each line is enough to have all the memory
 * there.
 */
#include "bench_composite.h"

#include <math.h>
#include <string.h>

enum { ROUNDS = 5, BATCHES = 3 };

static const double fpr = 0.01;
static const unsigned shard_counts[] = {16, 64, 256};
static const size_t batches[BATCHES] = {4096, 65536, 1048576};
static const char *const batch_names[BATCHES] = {"4k", "64k", "1M"};
static const enum op ops[] = {OP_CONTAINS_MANY, OP_ADD_MANY};

enum { SHARD_COUNTS = sizeof shard_counts / sizeof *shard_counts };

/* ---- rates ---- */

/* The rate with a tenth of the keys in it. */
static int measure_rate(struct part_run *all, perhaps_want want, struct perhaps_info *info, double *rate,
                        uint64_t *queries) {
    struct cell cell;
    struct run run;
    part_open(all, &run, &cell, &want, want.items);
    if (!run.error) {
        refill(&run, 0, want.items);
        perhaps_info(run.f, info);
        *rate = part_rate(&run);
        *queries = run.non_member_queries;
    }
    part_close(&run);
    return run.error;
}

/* Shards have room for more keys than their share, so the single filter gets as much memory. */
static int measure_rates(struct part_run *all) {
    uint64_t n = all->keys / 10, queries = 0;
    int error = 0;
    for (size_t i = 0; i < SHARD_COUNTS && !error; i++) {
        double rate = 0, single = 0;
        struct perhaps_info info = {.size = sizeof info}, ignored = {.size = sizeof ignored};
        perhaps_want sharded = PERHAPS_WANT(.kind = PERHAPS_BLOCKED, .items = n, .fpr = fpr, .shards = shard_counts[i]);
        error = measure_rate(all, sharded, &info, &rate, &queries);
        if (error) break;
        perhaps_want one = PERHAPS_WANT(.kind = PERHAPS_BLOCKED, .items = n, .bytes = info.bytes);
        error = measure_rate(all, one, &ignored, &single, &queries);
        if (error) break;
        struct row *row = part_row(all, PART_RATE, "%u shards", shard_counts[i]);
        row->values[0] = (double)n;
        row->values[1] = rate;
        row->values[2] = single;
        row->values[3] = (rate - single) / sqrt((rate * (1 - rate) + single * (1 - single)) / (double)queries);
    }
    return error;
}

/* ---- times ---- */

struct timed {
    struct run run;
    struct cell cell;
    double ns[BATCHES][2]; /* by batch and operation */
};

static void open_timed(struct part_run *all, struct timed *timed, unsigned shards) {
    /* 1 GiB for 10^8 keys */
    uint64_t bytes = (uint64_t)((double)all->keys * 10.74) / 64 * 64;
    perhaps_want want = PERHAPS_WANT(.kind = PERHAPS_BLOCKED, .bytes = bytes, .fpr = fpr, .shards = shards);
    *timed = (struct timed){.run = {.f = NULL}};
    part_open(all, &timed->run, &timed->cell, &want, bytes / 64);
    if (timed->run.error) return;
    refill(&timed->run, 0, timed->run.space.members);
    timed->run.next = timed->run.space.members;
}

/* Half of the keys to add are members, the others are new. */
static void make_adds(struct run *run) {
    for (size_t i = 0; i < run->pass_keys; i++) {
        uint64_t random = key_random(run->drawn++);
        run->pass->keys[i] = random & 1 ? key_random_member(&run->space, random, run->space.members)
                                        : key_member(&run->space, run->next++);
    }
}

static void time_pass(struct timed *timed, unsigned batch, unsigned op) {
    size_t n = timed->run.pass_keys, length = batches[batch];
    double begin = machine_worked();
    for (size_t from = 0; from < n; from += length) run_call(&timed->run, ops[op], from, length);
    keep_best(&timed->ns[batch][op], (machine_worked() - begin) / (double)n);
}

/* Both filters get the same keys, in turn. */
static void time_both(struct timed *one, struct timed *sharded) {
    for (unsigned round = 0; round < ROUNDS; round++)
        for (unsigned batch = 0; batch < BATCHES; batch++)
            for (unsigned op = 0; op < 2; op++) {
                if (ops[op] == OP_ADD_MANY)
                    make_adds(&one->run);
                else
                    make_queries(&one->run, HITS_50, one->run.pass_keys);
                time_pass(one, batch, op);
                time_pass(sharded, batch, op);
            }
}

static void take_row(struct row *row, const struct timed *one, const struct timed *sharded, unsigned batch) {
    row->values[0] = (double)sharded->cell.bytes / 0x1p20;
    for (unsigned op = 0; op < 2; op++) {
        double *values = row->values + 1 + 3 * op;
        values[0] = sharded->ns[batch][op];
        values[1] = one->ns[batch][op];
        values[2] = values[0] / values[1];
    }
}

/* The single filter is timed again beside each sharded one, so that both have as many rounds. */
static int time_shards(struct part_run *all, struct timed *one, unsigned shards) {
    struct timed sharded;
    memset(one->ns, 0, sizeof one->ns);
    open_timed(all, &sharded, shards);
    if (!sharded.run.error) {
        all->pass->progress(&sharded.cell, "timing");
        time_both(one, &sharded);
    }
    for (unsigned batch = 0; batch < BATCHES && !sharded.run.error; batch++)
        take_row(part_row(all, PART_SHARDED, "%u shards, batches of %s", shards, batch_names[batch]), one, &sharded,
                 batch);
    part_close(&sharded.run);
    return sharded.run.error;
}

static int measure_times(struct part_run *all) {
    struct timed one;
    open_timed(all, &one, 0);
    int error = one.run.error;
    for (size_t i = 0; i < SHARD_COUNTS && !error; i++) error = time_shards(all, &one, shard_counts[i]);
    part_close(&one.run);
    return error ? error : one.run.error;
}

int part_sharded(struct part_run *all) {
    int error = measure_rates(all);
    return error ? error : measure_times(all);
}
