/* Bringing keys in order, fewer than 2^32 of them: the parts of a bin, and the keys of a part. */
#ifndef PERHAPS_STATIC_KEY_SORT_H
#define PERHAPS_STATIC_KEY_SORT_H

#include <stdint.h>

enum { ORDERING_BITS_MAX = 12 };

/* Copies n keys to `to`, ordered by `bits` of their bits, those below the top `skip`. Keys that are equal there keep their order. */
void order_keys(const uint64_t *keys, uint64_t n, unsigned skip, unsigned bits, uint64_t *to);

/* Sorts n keys; `room` has as many words. Uniform ones take time in proportion to n, others more, but never more than n log n. */
void sort_keys(uint64_t *keys, uint64_t n, uint64_t *room);

/* Sorts n keys and leaves out those that are equal to another: how many are left. `room` has n words. */
uint64_t unique_keys(uint64_t *keys, uint64_t n, uint64_t *room);

#endif
