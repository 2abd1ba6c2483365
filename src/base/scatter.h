/*
 * The radix scatter: words, ordered by part, in two passes. The first one counts the words of each
 * part, the second one copies each word to the next place of its part.
 *
 *     part     2 0 1 0          first   0 2 3 4
 *     from     a b c d   ──▶    to      b d c a
 *
 * Callers give the part of a word as a function, which the compiler inlines.
 */
#ifndef PERHAPS_BASE_SCATTER_H
#define PERHAPS_BASE_SCATTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Words ahead that a part's next cache line is prefetched: without it, stores to many parts wait
 * for each other. */
enum { SCATTER_AHEAD = 16 };

static inline void scatter_put(uint64_t *place, uint64_t word) {
    *place = word;
    __builtin_prefetch(place + SCATTER_AHEAD, 1, 2);
}

/* The part of word i. */
typedef size_t scatter_part(const void *context, size_t i);

/* Copies n words, fewer than 2^32. Part p is then to[first[p]..first[p+1]-1], in the order of
 * `from`. `first` has parts + 2 entries. `cached`: `to` is in the first-level cache, where
 * prefetching only costs.
 *
 * Parts are counted two entries on, and words placed by the entry one on: when the last word of a
 * part has its place, that entry is where the next part begins. */
static inline __attribute__((always_inline)) void scatter(const uint64_t *from, size_t n, uint64_t *to, bool cached,
                                                          uint32_t *first, size_t parts, scatter_part *part,
                                                          const void *context) {
    memset(first, 0, (parts + 2) * sizeof *first);
    for (size_t i = 0; i < n; i++) first[part(context, i) + 2]++;
    for (size_t p = 2; p < parts + 2; p++) first[p] += first[p - 1];
    for (size_t i = 0; i < n; i++) {
        uint64_t *place = to + first[part(context, i) + 1]++;
        if (cached)
            *place = from[i];
        else
            scatter_put(place, from[i]);
    }
}

#endif
