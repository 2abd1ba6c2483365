/* The peak memory of a sharded table while it grows from nothing, seen by its allocator. */
#include "bench_composite.h"

#include <perhaps_embed.h>

#include <stdlib.h>

enum { SHARDS = 64, FIRST_ITEMS = 1000, ALIGNMENT = 64 };

static const double bytes_per_key = 14, bytes_besides = 64 << 20; /* the goal */
static const double shares[] = {0.1, 0.12, 0.145, 0.17, 0.2};     /* of all keys */

struct meter {
    size_t now, peak;
};

static void *allocate(void *context, size_t size) {
    struct meter *meter = context;
    void *memory = aligned_alloc(ALIGNMENT, (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
    if (!memory) return NULL;
    meter->now += size;
    if (meter->now > meter->peak) meter->peak = meter->now;
    return memory;
}

static void release(void *context, void *memory, size_t size) {
    struct meter *meter = context;
    meter->now -= size;
    free(memory);
}

static int measure(struct part_run *all, uint64_t n) {
    struct meter meter = {0, 0};
    perhaps_allocator allocator = {.allocate = allocate, .release = release, .context = &meter};
    perhaps_want want =
        PERHAPS_WANT(.kind = PERHAPS_TABLE, .items = FIRST_ITEMS, .shards = SHARDS, .allocator = &allocator);
    struct cell cell;
    struct run run;
    part_open(all, &run, &cell, &want, n);
    if (!run.error) refill(&run, 0, n);
    part_close(&run);
    if (run.error) return run.error;
    struct row *row = part_row(all, PART_PEAK, "table, %d shards", SHARDS);
    double peak = (double)meter.peak;
    row_set(row, 0, (double)n);
    row_set(row, 1, peak / 0x1p20);
    row_set(row, 2, peak / (double)n);
    row_set(row, 3, peak / (bytes_per_key * (double)n + bytes_besides));
    return 0;
}

int part_peak(struct part_run *all) {
    int error = 0;
    for (size_t i = 0; i < sizeof shares / sizeof *shares && !error; i++)
        error = measure(all, (uint64_t)(shares[i] * (double)all->keys));
    return error;
}
