/* Sorting up to 2^32 - 1 keys: a bin by parts, and the keys of a part. */
#ifndef PERHAPS_STATIC_KEY_SORT_H
#define PERHAPS_STATIC_KEY_SORT_H

#include <stdint.h>

enum { ORDERING_BITS_MAX = 12 };

/* Copies n keys to `to`, ordered by the `bits` bits below the top `skip`. Stable. */
void order_keys(const uint64_t *keys, uint64_t n, unsigned skip, unsigned bits, uint64_t *to);

/* Sorts n keys; `room` has n words. Linear time for uniform keys, n log n for any. */
void sort_keys(uint64_t *keys, uint64_t n, uint64_t *room);

/* Sorts n keys, drops duplicates, and gives the number left. `room` has n words. */
uint64_t unique_keys(uint64_t *keys, uint64_t n, uint64_t *room);

#endif
