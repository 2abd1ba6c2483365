/* The plan of Guava's filters: not what is best, but what Guava makes, with its newer strategy. */
#include "foreign/guava/guava_layout.h"
#include "foreign/foreign_fpr.h"

static int rule(const perhaps_want *want, struct level *level) {
    return foreign_rule_of_guava(&kind_guava, want, GUAVA_MITZ_64, level);
}

const struct model model_guava = {
    .hashes = bloom_hashes,
    .cache_lines = bloom_hashes,
    .measure = foreign_measure,
    .rule = rule,
    .distinct_in_either = bloom_either,
};
