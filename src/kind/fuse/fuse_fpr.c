/* The plan of a fuse filter: a fingerprint of w bits makes a rate of 2^-w. */
#include "base/error.h"
#include "kind/fuse/fuse_layout.h"
#include "static/static_fpr.h"

#include <math.h>

static void set(uint64_t layout[LAYOUT_WORDS], unsigned step) {
    layout[FUSE_WIDTH] = step;
}

static double rate(const uint64_t layout[LAYOUT_WORDS], uint64_t keys) {
    (void)keys;
    return ldexp(1, -(int)layout[FUSE_WIDTH]);
}

static const struct fineness fineness = {FUSE_WIDTH_MAX, set, rate, fuse_words_for};

static int rule(const perhaps_want *want, struct level *level) {
    uint64_t start[LAYOUT_WORDS] = {0};
    start[FUSE_ARITY] = want->hashes == 4 ? 4 : 3;
    if ((want->hashes && want->hashes != start[FUSE_ARITY]) || (want->lines && want->lines < start[FUSE_ARITY]))
        return fail(PERHAPS_ERANGE, "fuse filters look at 3 or 4 places of a key, each in a line of its own");
    return static_rule(&kind_fuse, &fineness, want, start, level);
}

static unsigned places(const uint64_t layout[LAYOUT_WORDS]) {
    return (unsigned)layout[FUSE_ARITY];
}

static void measure(const struct array *array, struct measures *measures) {
    static_measure(&kind_fuse, &fineness, array, measures);
}

const struct model model_fuse = {
    .fpr = BEYOND_QUERIES(rate),
    .hashes = places,
    .cache_lines = places,
    .measure = BEYOND_QUERIES(measure),
    .rule = BEYOND_QUERIES(rule),
};
