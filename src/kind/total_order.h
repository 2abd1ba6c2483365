/* Uniform words in order: what solving a part of a static filter begins with. */
#ifndef PERHAPS_KIND_TOTAL_ORDER_H
#define PERHAPS_KIND_TOTAL_ORDER_H

#include <stdint.h>

/* Sorts n words that have the same topmost `same` bits. `spare` has room for n words. Uniform words take time in proportion
 * to n, others more, but never more than n log n. */
void order_words(uint64_t *words, uint64_t n, unsigned same, uint64_t *spare);

/* Leaves one of each sort of words that are in order, and gives their number. */
uint64_t order_drop_equal(uint64_t *words, uint64_t n);

#endif
