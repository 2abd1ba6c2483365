/* One filter under measurement: what rounds.c, fills.c and refill.c share. */
#ifndef PERHAPS_BENCH_ROUNDS_H
#define PERHAPS_BENCH_ROUNDS_H

#include "measure.h"

struct run {
    struct cell *cell;
    perhaps *f;
    struct limit *limit;
    struct pass *pass;
    const struct textbook *book; /* queried beside the filter; NULL = none */
    struct key_space space;
    size_t pass_keys; /* in a pass of a batch call and of the limit */
    uint64_t half;    /* members 0..half-1 stay in while adds and removes are timed */
    /* The next member to add or to remove; those from half to here were, or were skipped. */
    uint64_t next;
    uint64_t drawn; /* random numbers and non-members used so far, so that each is used once */
    uint64_t false_positives;
    uint64_t non_member_queries;
    int error; /* of the library; 0 = none */
};

/* Keeps the error of a call, if it is one. */
void run_check(struct run *run, int64_t answer);

/* Makes keys from..from+n-1 of the pass go through a call. */
void run_call(struct run *run, enum op op, size_t from, size_t n);

/* Keys for a pass of queries of the full filter; and their time. Counts false positives. */
void make_queries(struct run *run, enum hits hits, size_t n);
double time_queries(struct run *run, enum op op, enum hits hits, size_t n);

/* A better time takes the place of what was there; 0 is no time yet. */
void keep_best(double *best, double ns);

/* refill.c: adds the members from..to-1, off the clock. */
void refill(struct run *run, uint64_t from, uint64_t to);

/* fills.c: times whole fills, from empty to all members, and leaves the filter full. */
void time_fills(struct run *run);
/* The same with the textbook's cuckoo filter. 0, or -1 for want of memory. */
int time_textbook_fill(struct run *run);

#endif
