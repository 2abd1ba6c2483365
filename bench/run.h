/* One filter under measurement: what cells.c, match.c, fills.c, refill.c and the parts share. */
#ifndef PERHAPS_BENCH_RUN_H
#define PERHAPS_BENCH_RUN_H

#include "rivals.h"

struct run {
    struct cell *cell;
    perhaps *f;
    struct limit *limit;
    struct pass *pass;
    struct key_space space;
    uint64_t half;   /* members 0..half-1 stay in while adds and removes are timed */
    uint64_t next;   /* the next member to add or to remove; those from half to here were */
    uint64_t shared; /* members 0..shared-1 are in the rivals, too: hits of queries */
    uint64_t drawn;  /* random numbers and non-members used so far, so that each is used once */
    uint64_t false_positives;
    uint64_t non_member_queries;
    size_t pass_keys; /* in a turn of a batch call */
    size_t rival_count;
    struct rival_filter rivals[MOST_RIVALS];
    int error; /* of the library; 0 = none */
};

/* Keeps the error of a call, if it is one. */
void run_check(struct run *run, int64_t answer);
/* The members that fill a filter. */
struct key_space filter_space(const struct perhaps_info *info);
/* Adds the members from..to-1, off the clock. */
void refill(struct run *run, uint64_t from, uint64_t to);

/* --- match.c --- */

/* Whether the key at one position is a hit: 50 % in random order. */
int is_hit(enum hit_share hits, uint64_t random);
/* Queries for the full filter into pass->keys. */
void make_queries(struct run *run, enum hit_share hits, size_t n);
/* Makes keys from..from+n-1 of the pass go through a call of the library; returns the time. */
double time_call(struct run *run, enum op op, size_t from, size_t n);
/* Counts the answers to n queries of non-members. */
void count_false_positives(struct run *run, size_t n);

/* Times an operation beside the limit and all rivals that have it: a new figure of the cell. */
void match_queries(struct run *run, enum op op, enum hit_share hits);
void match_changes(struct run *run, enum op op);

/* --- fills.c --- */

/* Times whole fills of the filter and its rivals, and leaves them full. */
void match_fills(struct run *run);

/* A new figure from contenders 0 (the filter), 1 (the limit) and then the rivals with that call. */
void enter_figure(struct run *run, const struct pairs *pairs, enum op op, enum hit_share hits);

#endif
