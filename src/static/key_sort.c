/*
 * Two ways to order keys: by some bits in one scatter, or completely.
 *
 * Sorting assumes keys that share their topmost bits and are uniform below them. A first scatter
 * makes ranges of about 2^RANGE_KEYS_BITS keys, which fit into the first-level cache. A second one
 * scatters each range to slots of one key on average. A key is then at most a slot from its place,
 * and an insertion sort does the rest.
 */
#include "static/key_sort.h"

#include "base/scatter.h"

#include <stdbool.h>

enum { RANGE_KEYS_BITS = 11, FEW = 32 };

static void sift(uint64_t *keys, uint64_t n, uint64_t at) {
    uint64_t key = keys[at];
    for (uint64_t child; (child = 2 * at + 1) < n; at = child) {
        if (child + 1 < n && keys[child + 1] > keys[child]) child++;
        if (keys[child] <= key) break;
        keys[at] = keys[child];
    }
    keys[at] = key;
}

/* Heap sort, for keys that are not uniform: no memory, n log n time. */
static void order_any(uint64_t *keys, uint64_t n) {
    for (uint64_t i = n / 2; i-- > 0;) sift(keys, n, i);
    for (uint64_t end = n; end-- > 1;) {
        uint64_t largest = keys[0];
        keys[0] = keys[end];
        keys[end] = largest;
        sift(keys, end, 0);
    }
}

/* One pass of bubble sort, without a branch: most keys are in order after it. */
static void carry_larger(uint64_t *keys, uint64_t n) {
    uint64_t larger = n ? keys[0] : 0;
    for (uint64_t i = 1; i < n; i++) {
        uint64_t key = keys[i], smaller = key < larger ? key : larger;
        larger ^= key ^ smaller;
        keys[i - 1] = smaller;
    }
    if (n) keys[n - 1] = larger;
}

/* Insertion sort, for keys that are near their places. */
static void order_few(uint64_t *keys, uint64_t n) {
    carry_larger(keys, n);
    for (uint64_t i = 1; i < n; i++) {
        uint64_t key = keys[i], at = i;
        for (; at && keys[at - 1] > key; at--) keys[at] = keys[at - 1];
        keys[at] = key;
    }
}

/* A digit of each key: the `bits` bits below the topmost `same`. */
struct digits {
    const uint64_t *keys;
    unsigned same, bits;
};

static inline size_t digit(const void *digits, size_t i) {
    const struct digits *of = digits;
    return (size_t)(of->keys[i] << of->same >> 1 >> (63 - of->bits));
}

/* Keys with digit d are then at first[d]..first[d+1]-1. */
static inline void scatter_by_digit(const uint64_t *from, uint64_t n, uint64_t *to, bool cached, unsigned same,
                                    unsigned bits, uint32_t *first) {
    scatter(from, (size_t)n, to, cached, first, (size_t)1 << bits, digit, &(struct digits){from, same, bits});
}

void order_keys(const uint64_t *keys, uint64_t n, unsigned skip, unsigned bits, uint64_t *to) {
    uint32_t first[(1 << ORDERING_BITS_MAX) + 2];
    scatter_by_digit(keys, n, to, false, skip, bits, first);
}

/* The number of bits that leaves about 2^keys_bits keys for each digit. */
static unsigned bits_for(uint64_t n, unsigned keys_bits, unsigned most) {
    unsigned bits = 0;
    while (bits < most && n >> bits >> keys_bits > 1) bits++;
    return bits;
}

static void order_range(const uint64_t *from, uint64_t n, uint64_t *to, unsigned same) {
    uint32_t first[(1 << ORDERING_BITS_MAX) + 2];
    unsigned bits = bits_for(n, 0, ORDERING_BITS_MAX);
    scatter_by_digit(from, n, to, true, same, bits, first);
    bool uniform = true;
    for (uint64_t d = 0; d < UINT64_C(1) << bits; d++) uniform &= first[d + 1] - first[d] <= FEW;
    if (uniform) order_few(to, n);
    for (uint64_t d = 0; !uniform && d < UINT64_C(1) << bits; d++) order_any(to + first[d], first[d + 1] - first[d]);
}

/* The number of topmost bits that all keys share. */
static unsigned same_bits(const uint64_t *keys, uint64_t n) {
    uint64_t differing = 0;
    for (uint64_t i = 1; i < n; i++) differing |= keys[i] ^ keys[0];
    return differing ? (unsigned)__builtin_clzll(differing) : 64;
}

void sort_keys(uint64_t *keys, uint64_t n, uint64_t *room) {
    uint32_t first[(1 << ORDERING_BITS_MAX) + 2];
    unsigned bits = bits_for(n, RANGE_KEYS_BITS, ORDERING_BITS_MAX), same = same_bits(keys, n);
    if (same + bits >= 63) {
        order_any(keys, n);
        return;
    }
    scatter_by_digit(keys, n, room, false, same, bits, first);
    for (uint64_t d = 0; d < UINT64_C(1) << bits; d++)
        order_range(room + first[d], first[d + 1] - first[d], keys + first[d], same + bits);
}

uint64_t unique_keys(uint64_t *keys, uint64_t n, uint64_t *room) {
    sort_keys(keys, n, room);
    uint64_t kept = 0, last = n ? ~keys[0] : 0;
    for (uint64_t i = 0; i < n; i++) {
        uint64_t key = keys[i];
        keys[kept] = key;
        kept += key != last;
        last = key;
    }
    return kept;
}
