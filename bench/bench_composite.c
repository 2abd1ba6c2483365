/* `perhaps bench --combined`: composite filters, and threads. */
#include "bench_composite.h"

#include <stdarg.h>
#include <stdio.h>

/* 16 million non-members: a rate of 1 % is known to a quarter of a percent of it */
enum { RATE_PASSES = 4 };

const struct part_table part_tables[PART_COUNT] = {
    [PART_SMALL] = {"small",
                    "Small batches: contains_many of that many keys, half of them in the filter, ns per key; 1 is the "
                    "single call",
                    {{"1", 0}, {"2", 0}, {"4", 0}, {"8", 0}, {"16", 0}, {"32", 0}, {"64", 0}}},
    [PART_GROWING] =
        {"growing",
         "Growing over blocked, 1 %, from 1,000 keys. Size, full (newest layer), new: bytes, and 50 %, 0 %: "
         "time of\ncontains_many at that share of hits; all as ratio to a filter planned for that many keys",
         {{"layers", 0}, {"fpr", 0.01}, {"size", 0}, {"full", 1.75}, {"new", 3.5}, {"hits_50", 3}, {"hits_0", 5}}},
    [PART_RATE] = {"sharded_rate",
                   "Rates of sharded filters over blocked, 1 %. Sigmas: how many standard deviations of this "
                   "measurement\nit is above the rate of the filter that is not sharded",
                   {{"keys", 0}, {"fpr", 0.01}, {"unsharded", 0}, {"sigmas", 3}}},
    [PART_SHARDED] =
        {"sharded",
         "Sharded blocked filters beside one that is not sharded: contains_many and add_many at 50 % hits, ns per "
         "key",
         {{"mib", 0}, {"contains", 0}, {"of_one", 0}, {"ratio", 0}, {"add", 0}, {"add_of_one", 0}, {"add_ratio", 0}}},
    [PART_PARALLEL] = {"parallel",
                       "Adding with threads, ns per key of the wall clock; ratio: two threads to one",
                       {{"keys", 0}, {"one_ns", 0}, {"two_ns", 0}, {"ratio", 0}}},
    [PART_PEAK] = {"peak",
                   "Peak memory of a sharded table that grows from nothing; ratio: to 14 bytes per key + 64 MiB",
                   {{"keys", 0}, {"mib", 0}, {"bytes_per_key", 0}, {"ratio", 1}}},
    [PART_FOREIGN] = {"foreign",
                      "Foreign formats, 1 %: contains_many beside a plain loop with the same hash, ns per key",
                      {{"mib", 0}, {"contains", 0}, {"loop", 0}, {"ratio", 1. / 3}}},
    [PART_STATIC_SIZE] =
        {"static_size",
         "Static filters: bits per key beside log2(1/p), which none can go below. Sigmas: how many standard deviations "
         "of\nthis measurement the rate is above the filter's own",
         {{"keys", 0},
          {"bits_per_key", 0},
          {"limit_bits", 0},
          {"ratio", 0},
          {"fpr", 0},
          {"own_fpr", 0},
          {"sigmas", 3}}},
    [PART_STATIC_BUILD] =
        {"static_build",
         "Building static filters, ns per key of the wall clock: adding and sealing with one thread, and with two. "
         "Ratios: two\nthreads to one; to a plain fuse filter of one array; to our fuse filter",
         {{"keys", 0}, {"one", 0}, {"two", 0}, {"threads_ratio", 0}, {"plain_ratio", 0}, {"fuse_ratio", 0}}},
};

struct row *part_row(struct part_run *all, enum bench_part part, const char *name, ...) {
    struct figures *figures = all->figures;
    struct row *row = &figures->rows[figures->row_count];
    if (figures->row_count + 1 < MOST_ROWS) figures->row_count++;
    va_list arguments;
    va_start(arguments, name);
    vsnprintf(row->name, sizeof row->name, name, arguments);
    va_end(arguments);
    row->part = part;
    return row;
}

void row_set(struct row *row, unsigned column, double value) {
    row->values[column] = (struct spread){.middle = value};
}

/* Small runs, which are for trying it out, query less. */
static size_t pass_keys(const struct part_run *all) {
    return all->keys < PASS_KEYS ? PASS_KEYS / 16 : PASS_KEYS;
}

void part_open(struct part_run *all, struct run *run, struct cell *cell, const perhaps_want *want, uint64_t members) {
    struct perhaps_info info = {.size = sizeof info};
    *cell = (struct cell){.kind = "filter"};
    *run = (struct run){.cell = cell, .pass = all->pass, .space = key_space_all(members), .pass_keys = pass_keys(all)};
    run_check(run, perhaps_create(&run->f, want));
    if (run->error) return;
    run_check(run, perhaps_info(run->f, &info));
    cell->kind = info.kind_name;
    cell->bytes = info.bytes;
    cell->can = info.can;
    all->pass->progress(cell, "filling");
}

void part_close(struct run *run) {
    perhaps_free(run->f);
    run->f = NULL;
}

double part_rate(struct run *run) {
    run->false_positives = run->non_member_queries = 0;
    run->pass->progress(run->cell, "querying");
    for (unsigned pass = 0; pass < RATE_PASSES && !run->error; pass++) {
        make_queries(run, HITS_0, run->pass_keys);
        time_call(run, OP_CONTAINS_MANY, 0, run->pass_keys);
        count_false_positives(run, run->pass_keys);
    }
    return (double)run->false_positives / (double)run->non_member_queries;
}

int composite_run(struct figures *figures, struct pass *pass, uint64_t keys) {
    static int (*const parts[])(struct part_run *) = {part_growing, part_sharded, part_parallel, part_peak};
    struct part_run all = {figures, pass, keys};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        int error = parts[i](&all);
        if (error < 0) return error;
    }
    return 0;
}
