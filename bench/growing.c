/*
 * A filter that grows in layers from a thousand keys on, beside filters planned for the number of
 * keys it has.
 *
 * What it takes is seen at every power of ten, and at its best and worst moments: with the newest
 * layer full, and just after a new one has come. A filter may lay a layer a little before the last
 * one is full, when a batch might need it. So the last keys of a layer are added in small steps,
 * and a moment is known to such a step.
 */
#include "bench_composite.h"

enum {
    FIRST_ITEMS = 1000,
    NEAR = 4096, /* keys before a layer is full, from where on steps are small */
    STEP = 1024
};

static const double fpr = 0.01;
static const uint64_t first_moment = 1000000; /* moments of smaller filters have no goal */

struct growing {
    struct part_run *all;
    struct run run;
    struct cell cell;
    struct perhaps_info info;
    double full, fresh; /* the largest ratios since the last row */
};

/* Bytes of this filter beside those of one planned for n keys. */
static double size_ratio(struct growing *g, uint64_t bytes, uint64_t n) {
    perhaps_want want = PERHAPS_WANT(.kind = PERHAPS_BLOCKED, .items = n, .fpr = fpr);
    struct perhaps_plan plan = {.size = sizeof plan};
    run_check(&g->run, perhaps_plan(&want, &plan));
    return (double)bytes / (double)plan.bytes;
}

static void keep_largest(double *largest, double value) {
    if (value > *largest) *largest = value;
}

static void look(struct growing *g) {
    g->info = (struct perhaps_info){.size = sizeof g->info};
    run_check(&g->run, perhaps_info(g->run.f, &g->info));
    g->cell.bytes = g->info.bytes;
}

/* Adds members up to number n, or some of them. */
static void step_towards(struct growing *g, uint64_t n) {
    const struct perhaps_info before = g->info;
    uint64_t room = before.capacity > before.items ? before.capacity - before.items : 0;
    uint64_t step = room > NEAR + STEP ? room - NEAR : STEP, rest = n - g->run.next;
    uint64_t next = g->run.next + (step < rest ? step : rest);
    refill(&g->run, g->run.next, next);
    g->run.next = next;
    look(g);
    if (g->info.bytes == before.bytes || next < first_moment) return;
    keep_largest(&g->fresh, size_ratio(g, g->info.bytes, next));
    if (before.capacity >= first_moment) keep_largest(&g->full, size_ratio(g, before.bytes, before.capacity));
}

static void take_row(struct growing *g, unsigned power) {
    struct row *row = part_row(g->all, PART_GROWING, "10^%u keys", power);
    double size = size_ratio(g, g->info.bytes, g->run.next);
    row_set(row, 0, g->info.children);
    row_set(row, 1, part_rate(&g->run));
    row_set(row, 2, size);
    row_set(row, 3, g->full);
    row_set(row, 4, g->fresh);
    g->full = 0;
    /* The moment at which the next power of ten begins. */
    g->fresh = g->run.next < first_moment ? 0 : size;
}

/* The grown filter and the planned one. */
struct growing_turns {
    struct run *runs[2];
    enum hit_share hits;
};

static void prepare(void *context) {
    struct growing_turns *turns = context;
    make_queries(turns->runs[0], turns->hits, turns->runs[1]->pass_keys);
}

static double turn(void *context, size_t contender) {
    struct run *run = ((struct growing_turns *)context)->runs[contender];
    double time = time_call(run, OP_CONTAINS_MANY, 0, run->pass_keys);
    return run->error ? -1 : time / (double)run->pass_keys;
}

static void time_beside(struct growing *g, struct run *planned, struct row *row) {
    static const enum hit_share order[] = {HITS_50, HITS_0};
    struct pairs pairs;
    for (unsigned i = 0; i < 2; i++) {
        struct growing_turns turns = {{&g->run, planned}, order[i]};
        struct pairs_game game = {.contenders = 2, .context = &turns, .prepare = prepare, .turn = turn};
        if (pairs_run(&pairs, &game) == 0) row->values[5 + i] = pairs_ratio(&pairs, 0, 1);
    }
}

static void time_growing(struct growing *g, struct row *row) {
    perhaps_want want = PERHAPS_WANT(.kind = PERHAPS_BLOCKED, .items = g->run.next, .fpr = fpr);
    struct cell cell;
    struct run planned;
    part_open(g->all, &planned, &cell, &want, g->run.next);
    if (!planned.error) {
        refill(&planned, 0, g->run.next);
        g->all->pass->progress(&g->cell, "querying");
        time_beside(g, &planned, row);
    }
    run_check(&g->run, planned.error);
    part_close(&planned);
}

int part_growing(struct part_run *all) {
    perhaps_want want =
        PERHAPS_WANT(.kind = PERHAPS_BLOCKED, .items = FIRST_ITEMS, .fpr = fpr, .grow = PERHAPS_GROW_LAYERS);
    struct growing g = {.all = all};
    part_open(all, &g.run, &g.cell, &want, all->keys);
    g.cell.can = 0; /* two copies that are merged in the end would not be one that has grown */
    unsigned power = 3;
    for (uint64_t n = FIRST_ITEMS; n <= all->keys && !g.run.error; n *= 10, power++) {
        g.run.space = key_space_all(n);
        look(&g);
        while (g.run.next < n && !g.run.error) step_towards(&g, n);
        if (!g.run.error) take_row(&g, power);
    }
    if (!g.run.error) time_growing(&g, &all->figures->rows[all->figures->row_count - 1]);
    part_close(&g.run);
    return g.run.error;
}
