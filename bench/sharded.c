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

enum { BATCHES = 3 };

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
        row_set(row, 0, (double)n);
        row_set(row, 1, rate);
        row_set(row, 2, single);
        row_set(row, 3, (rate - single) / sqrt((rate * (1 - rate) + single * (1 - single)) / (double)queries));
    }
    return error;
}

/* ---- times ---- */

struct timed {
    struct run run;
    struct cell cell;
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

/* Both filters get the same keys. */
struct sharded_turns {
    struct timed *timed[2]; /* sharded, and not */
    size_t batch;
    enum op op;
};

static void prepare(void *context) {
    struct sharded_turns *turns = context;
    struct run *run = &turns->timed[1]->run;
    if (turns->op == OP_ADD_MANY)
        make_adds(run);
    else
        make_queries(run, HITS_50, run->pass_keys);
}

static double turn(void *context, size_t contender) {
    struct sharded_turns *turns = context;
    struct run *run = &turns->timed[contender]->run;
    size_t batch = turns->batch < run->pass_keys ? turns->batch : run->pass_keys;
    double time = 0;
    for (size_t from = 0; from < run->pass_keys; from += batch) time += time_call(run, turns->op, from, batch);
    return run->error ? -1 : time / (double)run->pass_keys;
}

static void time_batch(struct sharded_turns *turns, struct row *row) {
    struct pairs pairs;
    row_set(row, 0, (double)turns->timed[0]->cell.bytes / 0x1p20);
    for (unsigned i = 0; i < 2; i++) {
        turns->op = ops[i];
        struct pairs_game game = {.contenders = 2, .context = turns, .prepare = prepare, .turn = turn};
        if (pairs_run(&pairs, &game) < 0) return;
        struct spread *values = row->values + 1 + 3 * i;
        values[0] = pairs_time(&pairs, 0);
        values[1] = pairs_time(&pairs, 1);
        values[2] = pairs_ratio(&pairs, 0, 1);
    }
}

static int time_shards(struct part_run *all, struct timed *one, unsigned shards) {
    struct timed sharded;
    open_timed(all, &sharded, shards);
    for (unsigned batch = 0; batch < BATCHES && !sharded.run.error; batch++) {
        struct sharded_turns turns = {{&sharded, one}, batches[batch], OP_CONTAINS_MANY};
        all->pass->progress(&sharded.cell, "timing");
        time_batch(&turns, part_row(all, PART_SHARDED, "%u shards, batches of %s", shards, batch_names[batch]));
    }
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
