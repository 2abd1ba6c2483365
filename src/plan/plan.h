/* (items, fpr, memory) → an integer layout, and the false-positive rates of layouts. Floating point
 * stays in plan/ and the *_fpr.c files: kinds get integers only. */
#ifndef PERHAPS_PLAN_PLAN_H
#define PERHAPS_PLAN_PLAN_H

#include "kind/kind.h"

#include <stdbool.h>

/* What a filter's bits say. */
struct measures {
    double fill;     /* share of bits set */
    double distinct; /* different keys, estimated */
    uint64_t items;  /* copies as a whole number; set by plan_measure */
    double copies;   /* adds less removes, estimated; `distinct` if a model leaves it 0 */
    double fpr;      /* the rate it has now */
    double loss;     /* the chance that two keys in it share a digest, where that loses one */
    uint64_t stuck, stashed;
};

struct level;
struct layers;

/* How the planner searches for a layout. A kind has one or more variants (how many hashes, how many
 * cache lines per key); a variant has a size. */
struct layout_search {
    unsigned variants; /* variants to try are 0..variants-1 */

    /* Writes the variant into a zeroed layout; false if the want rules it out. */
    bool (*variant)(unsigned number, const perhaps_want *want, uint64_t layout[LAYOUT_WORDS]);

    /* The step in which sizes grow, in bits. */
    uint64_t (*step)(const uint64_t layout[LAYOUT_WORDS]);

    /* Writes the largest size of at most `bits`; false if there is none. */
    bool (*resize)(uint64_t layout[LAYOUT_WORDS], uint64_t bits);

    const char *largest; /* the largest size and why, if users may want to know; else NULL */

    /* By how much another variant may be larger and still be taken instead of this one; NULL: not
     * at all. */
    double (*handicap)(const uint64_t layout[LAYOUT_WORDS]);
};

/* Kinds whose layers depend on each other. Either of the last two may be NULL. */
struct layering {
    /* Whether one layer can follow the other. */
    bool (*nested)(const uint64_t older[LAYOUT_WORDS], const uint64_t newer[LAYOUT_WORDS]);

    /* Keys that are equal in a newer layer are equal in the older ones: writes the layout of a
     * layer that is `times` as large as this one, with a false-positive rate of at most `rate`, and
     * the number of keys it is for. */
    bool (*nest)(const uint64_t older[LAYOUT_WORDS], uint64_t times, double rate, uint64_t layout[LAYOUT_WORDS],
                 uint64_t *items);

    /* The next layer by the rule of another program, in place of the library's rule. */
    int (*next_layer)(const struct layers *layers, struct level *level);
};

/* Cells in use in two arrays: bits, counters, digests, or pairs of a home and a fingerprint. */
struct used_cells {
    double cells; /* that there are */
    uint64_t a, b, either;
};

/* How two arrays tell how many keys they have in common; plan/estimate.c has the statistics. A cell
 * of an exact kind is a key: it needs only `count`. */
struct occupancy {
    /* In one pass over two arrays that can be combined. */
    void (*count)(const struct array *a, const struct array *b, struct used_cells *used);

    /* Different keys, estimated from `used` cells, which are not all. */
    double (*keys)(const uint64_t layout[LAYOUT_WORDS], double used);

    /* The covariance of the estimates for two sets that have `common` keys in common. */
    double (*covariance)(const uint64_t layout[LAYOUT_WORDS], double common);
};

/* What the planner knows of a kind. */
struct model {
    /* The expected false-positive rate with `items` keys; INFINITY if they do not fit. Falls with
     * size, grows with items. NULL where the bytes of another program state it. */
    double (*fpr)(const uint64_t layout[LAYOUT_WORDS], uint64_t items);

    unsigned (*hashes)(const uint64_t layout[LAYOUT_WORDS]);      /* bits set per key */
    unsigned (*cache_lines)(const uint64_t layout[LAYOUT_WORDS]); /* touched per query, at most */
    void (*measure)(const struct array *array, struct measures *measures);

    bool exact; /* the array has no false positives: the number of items says all */
    bool lossy; /* keys with equal digests are one key, so that removing one loses the other */

    /* How a layout is found: by search, or by a rule that checks the want and fills the level. */
    const struct layout_search *search;
    int (*rule)(const perhaps_want *want, struct level *level);
    bool takes_bucket; /* the rule uses want.bucket and want.steps */

    const struct layering *layering;   /* or NULL */
    const struct occupancy *occupancy; /* NULL where arrays do not tell what they have in common */
};

/* A filter to be made. */
struct level {
    const struct kind *kind;
    uint64_t layout[LAYOUT_WORDS];
    uint64_t capacity, length; /* length of the payload */
    double fpr;
};

/* A plan: what the caller sees, and its levels: composite filters from the outermost, then the
 * filter with an array. */
enum { LEVELS_MAX = 3 };
struct plan {
    struct perhaps_plan shown;
    unsigned levels;
    struct level level[LEVELS_MAX];
};

/* `want` is complete (take_sized). Fails with PERHAPS_EINVAL, PERHAPS_ERANGE or PERHAPS_ENOMEM. */
int plan_make(const perhaps_want *want, struct plan *plan);

/* The layout of one kind. */
int plan_single(const struct kind *kind, const perhaps_want *want, struct level *level);

/* A growing filter as it stands. */
struct layers {
    const struct kind *base;
    double fpr;                    /* of all its layers together, forever */
    double rest;                   /* what the first layer leaves of it */
    uint64_t growth;               /* word GROWTH of its layout */
    uint64_t siblings;             /* shards, itself included; 0 if it is none */
    uint64_t first, total, newest; /* capacity of the first layer, of all, and of the newest */
    double newest_fpr;
    const uint64_t *layout; /* of the newest */
};

/* Whether layers of that kind nest. */
static inline bool plan_nests(const struct kind *base) {
    return base->model && base->model->layering && base->model->layering->nest;
}

/* Checks a wanted growth, and converts it to word GROWTH of a layout. */
int plan_growth(int kind, double growth, uint64_t *word);

/* And back. */
double plan_growth_of(uint64_t word);

int plan_next_layer(const struct layers *layers, struct level *level);

/* The capacity of shards, planned for `planned` keys, that have room for `sum` now: `planned`, or
 * `sum` when some have grown. */
uint64_t plan_capacity_of_shards(uint64_t planned, uint64_t sum, unsigned shards);

/* The chance that two of `items` keys share a digest, where that makes them one key; else 0. */
double plan_loss(const struct kind *kind, double items);

/* Cache lines that a layer may touch; 0 = any. A small rate costs memory or time: layers of blocked
 * filters pay with memory. fpr is that of the whole filter. */
unsigned plan_layer_lines(const struct kind *base, uint64_t items, double fpr);

/* A layer's share of the false-positive rate, if it brings the room of all siblings to `room`.
 * `growth` is that of all layers together. */
double plan_share(const struct kind *base, double growth, double room);

/* For foreign files that do not store capacity or fpr: what they are with half of the bits set.
 * Changes only zeros. */
void plan_guess(const struct kind *kind, const uint64_t layout[LAYOUT_WORDS], uint64_t *capacity, double *fpr);

/* Set of enum perhaps_trait, of a filter of that kind with those abilities whose arrays are of kind
 * `inner`. */
unsigned plan_traits(const struct kind *kind, const struct kind *inner, unsigned can);

/* The false-positive rate of a layout with `items` keys, by plan_without_noise. */
double plan_rate(const struct kind *kind, const uint64_t layout[LAYOUT_WORDS], uint64_t items);

void plan_measure(const struct kind *kind, const struct array *array, struct measures *measures);

/* `count` where cells are bits. */
struct used_cells plan_used_bits(const struct array *a, const struct array *b, double cells);

/* A full array says only "many": as many as leave half a cell empty. */
double plan_not_all(double used, double cells);

/* m · (e^λ - 1 - λ): `covariance` of one throw a key, with λ common throws in each of m cells. */
double plan_spread(double cells, double load);

/* Keys in a, in b and in either, and covariances of their estimates (occupancy.covariance) for the
 * keys in a, in b, in either and in both. All are INFINITY where every cell is in use. Of several
 * pairs of arrays they add up. */
struct key_sums {
    double a, b, either;
    double of_a, of_b, of_either, of_both;
};

void plan_add_keys(const struct kind *kind, const struct array *a, const struct array *b, struct key_sums *sums);

/* Keys that two arrays have in common, estimated as |A| + |B| - |A or B|; |A| and |B| are given.
 * The common bits would say too many: some come from different keys. */
uint64_t plan_common(const struct kind *kind, const struct array *a, double in_a, const struct array *b, double in_b);

/* Fills in everything but the size and `exact`. */
void plan_overlap(const struct key_sums *sums, struct perhaps_overlap *overlap);

/* The false-positive rate from equal digests alone. The second is 0 for kinds of integers, which
 * have no digests that could be equal. */
double plan_digest_fpr(double items);
double plan_kind_digest_fpr(const struct kind *kind, double items);

#endif
