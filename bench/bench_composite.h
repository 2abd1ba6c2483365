/*
 * Composite filters, measured: what the parts of `perhaps bench --combined` share.
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

#include "run.h"

struct part_run {
    struct figures *figures;
    struct pass *pass;
    uint64_t keys; /* in the largest filter that is filled; others follow */
};

/* A new row, named as by printf. Values that stay 0 are not measured. */
struct row *part_row(struct part_run *all, enum bench_part part, const char *name, ...);

/* A value that has no spread. */
void row_set(struct row *row, unsigned column, double value);

/* Makes a filter and what is needed to fill and query it. An error is then in `run`. */
void part_open(struct part_run *all, struct run *run, struct cell *cell, const perhaps_want *want, uint64_t members);
void part_close(struct run *run);

/* The share of non-members that the filter takes for members, of run->non_member_queries. */
double part_rate(struct run *run);

/* The parts. 0 or an enum perhaps_error. */
int part_growing(struct part_run *all);
int part_sharded(struct part_run *all);
int part_parallel(struct part_run *all);
int part_peak(struct part_run *all);

#endif
