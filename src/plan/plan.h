/* (items, fpr, memory) → an integer layout, and the rates that layouts have. Floating point stays in plan.c and plan/:
 * what reaches a kind or an image is integers. */
#ifndef PERHAPS_PLAN_PLAN_H
#define PERHAPS_PLAN_PLAN_H

#include "kind/kind.h"

#include <stdbool.h>

/* What a filter's bits say of it. */
struct measures {
    double fill;     /* share of bits set */
    double distinct; /* different keys, estimated */
    uint64_t items;  /* copies as a whole number; set by plan_measure */
    double copies;   /* keys in it, each as often as it was added; set by plan_measure if `look` leaves it 0 */
    double fpr;      /* the rate it has now */
    double loss;     /* the chance that two keys in it share a digest, where that loses one */
    uint64_t stuck, stashed;
};

struct level;
struct layers;

/* How the planner searches for a layout. A kind has one or more variants (how many hashes, how many cache lines per key);
 * a variant has a size. */
struct layout_search {
    unsigned variants; /* variants to try are 0..variants-1 */

    /* Writes the variant into a zeroed layout; false if the want rules it out. */
    bool (*variant)(unsigned number, const perhaps_want *want, uint64_t layout[LAYOUT_WORDS]);

    /* The step in which sizes grow, in bits. */
    uint64_t (*step)(const uint64_t layout[LAYOUT_WORDS]);

    /* Writes the largest size of at most `bits`; false if there is none. */
    bool (*resize)(uint64_t layout[LAYOUT_WORDS], uint64_t bits);

    const char *largest; /* the largest size and why, if users may want to know; else NULL */

    /* By how much another variant may be larger and still be taken instead of this one; NULL: not at all. */
    double (*handicap)(const uint64_t layout[LAYOUT_WORDS]);
};

/* Kinds whose layers depend on each other. Either of the last two may be NULL. */
struct layering {
    /* Whether one layer can follow the other. */
    bool (*nested)(const uint64_t older[LAYOUT_WORDS], const uint64_t newer[LAYOUT_WORDS]);

    /* Keys that are equal in a newer layer are equal in the older ones: writes the layout of a layer that is `times` as
     * large as this one, with a false-positive rate of at most `rate`, and the number of keys it is for. */
    bool (*nest)(const uint64_t older[LAYOUT_WORDS], uint64_t times, double rate, uint64_t layout[LAYOUT_WORDS],
                 uint64_t *items);

    /* The next layer by the rule of another program, in place of the library's rule. */
    int (*next_layer)(const struct layers *layers, struct level *level);
};

/* What the planner knows of a kind. */
struct model {
    /* The expected false-positive rate with `items` keys; INFINITY if they do not fit. Falls with size, grows with items.
     * NULL where the bytes of another program state it. */
    double (*fpr)(const uint64_t layout[LAYOUT_WORDS], uint64_t items);

    unsigned (*hashes)(const uint64_t layout[LAYOUT_WORDS]);      /* bits set per key */
    unsigned (*cache_lines)(const uint64_t layout[LAYOUT_WORDS]); /* touched per query, at most */
    void (*measure)(const struct array *array, struct measures *measures);

    bool exact; /* the array has no false positives: the number of items says all */
    bool lossy; /* keys with equal digests are one key, so that removing one loses the other */

    /* How a layout is found: by search, or by a rule that checks the want and fills the level. */
    const struct layout_search *search;
    int (*rule)(const perhaps_want *want, struct level *level);

    const struct layering *layering; /* or NULL */

    /* Distinct keys in the union of two arrays of one layout, estimated. For kinds whose intersection keeps bits of keys
     * that are in only one of both; else NULL. */
    double (*distinct_in_either)(const struct array *a, const struct array *b);
};

/* A filter to be made. */
struct level {
    const struct kind *kind;
    uint64_t layout[LAYOUT_WORDS];
    uint64_t capacity, length; /* length of the payload */
    double fpr;
};

/* A plan: what the caller sees of it, and the filters: a filter of filters, then what its children are, and at last one
 * with an array. */
enum { LEVELS_MAX = 3 };
struct plan {
    struct perhaps_plan shown;
    unsigned levels;
    struct level level[LEVELS_MAX];
};

/* `want` has all its fields, see perhaps_want's size. PERHAPS_EINVAL, PERHAPS_ERANGE or PERHAPS_ENOMEM, with a reason. */
int plan_make(const perhaps_want *want, struct plan *plan);

/* The layout for (items, fpr) of one kind, whatever else the want says. */
int plan_single(const struct kind *kind, const perhaps_want *want, struct level *level);

/* A growing filter as it stands. */
struct layers {
    const struct kind *base;
    double fpr;             /* what all its layers have together, for ever */
    double rest;            /* what the first one leaves of that */
    uint64_t growth;        /* word GROWTH of its layout */
    uint64_t siblings;      /* filters like it, itself included, that hold the set together */
    uint64_t total, newest; /* capacity of all layers, and of the newest */
    double newest_fpr;      /* the rate of the newest */
    const uint64_t *layout; /* of the newest */
};

/* Whether layers of that kind nest. */
static inline bool plan_nests(const struct kind *base) {
    return base->model && base->model->layering && base->model->layering->nest;
}

/* A growth as it was wanted in word GROWTH of a layout. */
int plan_growth(int kind, double growth, uint64_t *word);

/* Its next layer. */
int plan_next_layer(const struct layers *layers, struct level *level);

/* The keys that shards are for, which were planned for so many, and have room for `sum` now: as planned, or, when some have
 * grown, the sum. */
uint64_t plan_capacity_of_shards(uint64_t planned, uint64_t sum, unsigned shards);

/* The chance that two of so many keys share a digest, where that makes them one. */
double plan_loss(const struct kind *kind, double items);

/* How many cache lines a layer may touch, 0 = any: where strictness can be had for memory or for time, it is memory. fpr is
 * that of the whole filter. */
unsigned plan_layer_lines(const struct kind *base, uint64_t items, double fpr);

/* The share of the rate that the first layer gets, where there are so many items in all siblings together. */
double plan_first_share(const struct kind *base, double growth, double items);

/* For a file of another program that does not say how many keys it is for, or at which rate: what half of its bits set would mean. Only
 * those that are 0 change. */
void plan_guess(const struct kind *kind, const uint64_t layout[LAYOUT_WORDS], uint64_t *capacity, double *fpr);

/* The rate of a layout with so many keys, in the digits that images have. */
double plan_rate(const struct kind *kind, const uint64_t layout[LAYOUT_WORDS], uint64_t items);

/* What the array's bits say. */
void plan_measure(const struct kind *kind, const struct array *array, struct measures *sight);

/* The keys that two arrays have in common, estimated as |A| + |B| - |A or B|, where |A| and |B| are given. The bits
 * that both have would say too many: some are those of different keys. */
uint64_t plan_common(const struct kind *kind, const struct array *a, double in_a, const struct array *b, double in_b);

/* The share of questions about keys never added that two equal digests answer wrongly. */
double plan_digest_fpr(double items);

#endif
