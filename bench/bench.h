/* The benchmark behind `perhaps bench`. */
#ifndef PERHAPS_BENCH_H
#define PERHAPS_BENCH_H

#include <stdint.h>

struct bench_options {
    const char *kind; /* a kind's name; NULL = the main kinds */
    uint64_t items;   /* keys per filter; 0 = as many as fill each working set */
    int full;         /* all kinds except static ones, and a working set of 1 GiB */
    /* Composite filters and threads, instead; of up to `items` keys, 10^8 if that is 0. */
    int combined;
    int foreign;         /* foreign formats, instead */
    int static_kinds;    /* building static filters, instead */
    int small;           /* small batches, instead */
    const char *isa;     /* the instruction set, as PERHAPS_ISA; NULL = the best */
    int json;            /* machine-readable, on stdout */
    int goals;           /* also the figures that have a goal */
    const char *compare; /* also an earlier run that is in this file; NULL = none */
    const char *plot;    /* write a picture here through gnuplot; NULL = none */
    int replace;         /* also if there is a file */
};

/* Runs and prints. The exit status: 0 or 2. */
int bench_run(const struct bench_options *options);

#endif
