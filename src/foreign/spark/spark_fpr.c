/* The plan of Spark's filters: what Spark makes, by the rule that it took from Guava. */
#include "foreign/foreign_fpr.h"
#include "foreign/spark/spark_layout.h"

static int rule(const perhaps_want *want, struct level *level) {
    return foreign_rule_of_guava(&kind_spark, want, 0, level);
}

const struct model model_spark = {
    .hashes = bloom_hashes,
    .cache_lines = bloom_hashes,
    .measure = foreign_measure,
    .rule = rule,
    .distinct_in_either = bloom_either,
};
