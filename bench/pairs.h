/*
 * The protocol behind every ratio that the benchmark shows.
 *
 * A shared machine is 20 to 40 % faster or slower from one second to the next. So all contenders
 * take turns of some milliseconds, in one process, pinned to one core, on the same keys: a round is
 * one turn of each. A ratio is that of two turns of the same round. The median of these ratios
 * counts, over 15 rounds and more, and their quartiles say how far it can be trusted.
 *
 * Each round begins with another contender, and every other one goes backwards: nobody always has
 * the same one before him, whose data he finds in the caches.
 */
#ifndef PERHAPS_BENCH_PAIRS_H
#define PERHAPS_BENCH_PAIRS_H

#include <stddef.h>

enum { LEAST_ROUNDS = 15, MOST_ROUNDS = 127, MOST_CONTENDERS = 16 };

/* Of several values: the quartiles and the median. A median of 0 = not measured. */
struct spread {
    double low, middle, high;
};

/* What the turns took, in nanoseconds per key. */
struct pairs {
    size_t contenders, rounds;
    double ns[MOST_CONTENDERS][MOST_ROUNDS];
};

struct pairs_game {
    size_t contenders;
    double seconds; /* after LEAST_ROUNDS, no round begins when this time is over */
    void *context;
    /* Before each round, off the clock; the first one, which only warms up, is not counted. NULL =
     * nothing to do. */
    void (*prepare)(void *context);
    /* One turn: nanoseconds per key, or below 0 to end it all. */
    double (*turn)(void *context, size_t contender);
};

/* 0, or -1 if a turn ended it. */
int pairs_run(struct pairs *pairs, const struct pairs_game *game);
struct spread pairs_time(const struct pairs *pairs, size_t contender);
/* Of a's time to b's. */
struct spread pairs_ratio(const struct pairs *pairs, size_t a, size_t b);

#endif
