/*
 * The plan of DCSO's filters: not what is best, but what DCSO's program makes, in the same order of
 * operations, so that the numbers are equal to the last bit. For n keys at false-positive rate p
 * there are m = |ceil(n·ln p / ln²2)| bits and k = ceil(ln 2 · m / n) hashes.
 */
#include "foreign/foreign_fpr.h"
#include "foreign/dcso/dcso_layout.h"

#include <math.h>

static int rule(const perhaps_want *want, struct level *level) {
    int rc = foreign_check_want(want, "dcso");
    if (rc < 0) return rc;
    double n = (double)want->items, m = fabs(ceil(n * log(want->fpr) / pow(log(2), 2)));
    uint64_t layout[LAYOUT_WORDS] = {[DCSO_BITS] = m < 0x1p62 ? (uint64_t)m : 0,
                                     [DCSO_HASHES] = (uint64_t)ceil(log(2) * m / n),
                                     [DCSO_FLAGS] = DCSO_VERSION};
    return foreign_level(&kind_dcso, want, layout, level);
}

const struct model model_dcso = {
    .hashes = bloom_hashes,
    .cache_lines = bloom_hashes,
    .measure = foreign_measure,
    .rule = rule,
    .distinct_in_either = bloom_either,
};
