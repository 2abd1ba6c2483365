/* What the plans of foreign Bloom filters share. The first two words of their layouts are the
 * number of bits and of hashes. */
#ifndef PERHAPS_FOREIGN_FOREIGN_FPR_H
#define PERHAPS_FOREIGN_FOREIGN_FPR_H

#include "kind/bloom/bloom_fpr.h"

/* All follows from the number of keys and the false-positive rate. Both fail if the want gives
 * something that follows; the second also if it lacks one of the two. */
int foreign_check_unused(const perhaps_want *want, const char *name);
int foreign_check_want(const perhaps_want *want, const char *name);

/* A level of this layout, if the kind can have it. */
int foreign_level(const struct kind *kind, const perhaps_want *want, const uint64_t layout[LAYOUT_WORDS],
                  struct level *level);

/* The rule of Guava, which Spark took over: -n·ln p / ln²2 bits, rounded down, from which the
 * number of hashes follows; then rounded up to whole words. The order of operations is the same as
 * there, so that the numbers are equal. */
int foreign_rule_of_guava(const struct kind *kind, const perhaps_want *want, uint64_t last_word, struct level *level);

void foreign_measure(const struct array *array, struct measures *sight);

#endif
