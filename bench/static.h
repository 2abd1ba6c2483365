/*
 * Static filters, measured: what the parts of `perhaps bench --static` share.
 *
 *     static.c          which filters, and their goals
 *     static_build.c    building them with one thread and with two, their sizes and rates
 *     static_query.c    querying large ones
 *     plain_fuse.c      the filter that they are compared with
 */
#ifndef PERHAPS_BENCH_STATIC_H
#define PERHAPS_BENCH_STATIC_H

#include "bench_composite.h"

/* A static filter as it is measured. */
struct shape {
    int kind;
    unsigned places; /* fuse: that a key looks at */
    const char *name;
    double fpr;        /* requested */
    double rate;       /* that it has then */
    double size_goal;  /* bits per key, at most this times log2(1/rate) */
    unsigned lines;    /* of the limit that it is compared with */
    double query_goal; /* at most this times that limit; 0 = no goal */
};

struct statics {
    /* all.keys: in each filter; 0 = usual_keys to build, and large filters to query */
    struct part_run all;
    const char *kind; /* only this one; NULL = both */
};

extern const uint64_t usual_keys;
extern const struct shape *const plain_shape; /* the one that the plain filter has, too */

/* Shape 0, 1, ...; NULL past the end. */
const struct shape *static_shape(size_t number);
/* Is it to be measured? */
int static_is_taken(const struct statics *statics, const struct shape *shape);

perhaps_want static_want(const struct shape *shape, uint64_t keys);
/* The name of the kind: "fuse". */
const char *static_kind_name(const struct shape *shape);
/* A new cell, for results[] of the JSON output; its times are yet to come. */
struct cell *static_cell(struct statics *statics, const struct shape *shape, const struct perhaps_info *info);
/* Makes what is needed to query a filter of that many keys, before the filter is made. */
void static_open(struct statics *statics, struct run *run, struct cell *cell, const struct shape *shape, uint64_t keys);

/* The parts. 0 or an enum perhaps_error. */
int static_build(struct statics *statics);
int static_query(struct statics *statics);

#endif
