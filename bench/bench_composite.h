/*
 * Filters of filters, measured: what the parts of `perhaps bench --combined` share.
 *
 *     bench_composite.c the parts, their columns and goals
 *     growing.c         a filter that grows in layers beside planned ones
 *     sharded.c         shards beside one filter
 *     parallel.c        adding with threads
 *     peak.c            the memory that a sharded table takes while it grows
 *
 * A part gives rows; they are printed as tables or as JSON without knowing what they mean.
 */
#ifndef PERHAPS_BENCH_COMPOSITE_H
#define PERHAPS_BENCH_COMPOSITE_H

#include "rounds.h"

struct combined {
    struct figures *figures;
    struct pass *pass;
    uint64_t keys; /* in the largest filter that is filled; others follow */
};

/* A new row, named as by printf. Values that stay 0 are not measured. */
struct row *combined_row(struct combined *all, enum part part, const char *name, ...);

/* Makes a filter and what is needed to fill and ask it. `run` then has the error, if there is one. */
void combined_open(struct combined *all, struct run *run, struct cell *cell, const perhaps_want *want,
                   uint64_t members);
void combined_close(struct run *run);

/* The share of strangers that the filter takes for members; run->false_asked is then how many were asked. */
double combined_rate(struct run *run);

/* The parts. 0 or an enum perhaps_error. */
int combined_growing(struct combined *all);
int combined_sharded(struct combined *all);
int combined_parallel(struct combined *all);
int combined_peak(struct combined *all);

#endif
