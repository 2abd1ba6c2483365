/*
 * Two ways to order keys: by some bits in one scatter, or completely.
 *
 * Sorting assumes keys that share their topmost bits and are uniform below them. A first scatter
 * makes ranges of about 2^RANGE_KEYS_BITS keys, which fit into the first-level cache. A second one
 * scatters each range to slots of one key on average. A key is then at most a slot from its place,
 * and an insertion sort does the rest.
 */
#include "static/key_sort.h"

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

/* `bits` bits below the topmost `same`. */
static inline uint64_t digit(uint64_t key, unsigned same, unsigned bits) {
    return key << same >> 1 >> (63 - bits);
}

/* Scatters keys by a digit. Those with digit d are then at next[d]..next[d+1]-1. */
static void scatter(const uint64_t *from, uint64_t n, uint64_t *to, unsigned same, unsigned bits, uint32_t *next) {
    uint64_t digits = UINT64_C(1) << bits;
    for (uint64_t d = 0; d < digits + 2; d++) next[d] = 0;
    for (uint64_t i = 0; i < n; i++) next[digit(from[i], same, bits) + 2]++;
    for (uint64_t d = 2; d < digits + 2; d++) next[d] += next[d - 1];
    for (uint64_t i = 0; i < n; i++) to[next[digit(from[i], same, bits) + 1]++] = from[i];
}

void order_keys(const uint64_t *keys, uint64_t n, unsigned skip, unsigned bits, uint64_t *to) {
    uint32_t next[(1 << ORDERING_BITS_MAX) + 2];
    scatter(keys, n, to, skip, bits, next);
}

/* The number of bits that leaves about 2^keys_bits keys for each digit. */
static unsigned bits_for(uint64_t n, unsigned keys_bits, unsigned most) {
    unsigned bits = 0;
    while (bits < most && n >> bits >> keys_bits > 1) bits++;
    return bits;
}

static void order_range(const uint64_t *from, uint64_t n, uint64_t *to, unsigned same) {
    uint32_t next[(1 << ORDERING_BITS_MAX) + 2];
    unsigned bits = bits_for(n, 0, ORDERING_BITS_MAX);
    scatter(from, n, to, same, bits, next);
    bool uniform = true;
    for (uint64_t d = 0; d < UINT64_C(1) << bits; d++) uniform &= next[d + 1] - next[d] <= FEW;
    if (uniform) order_few(to, n);
    for (uint64_t d = 0; !uniform && d < UINT64_C(1) << bits; d++) order_any(to + next[d], next[d + 1] - next[d]);
}

/* The number of topmost bits that all keys share. */
static unsigned same_bits(const uint64_t *keys, uint64_t n) {
    uint64_t differing = 0;
    for (uint64_t i = 1; i < n; i++) differing |= keys[i] ^ keys[0];
    return differing ? (unsigned)__builtin_clzll(differing) : 64;
}

void sort_keys(uint64_t *keys, uint64_t n, uint64_t *room) {
    uint32_t next[(1 << ORDERING_BITS_MAX) + 2];
    unsigned bits = bits_for(n, RANGE_KEYS_BITS, ORDERING_BITS_MAX), same = same_bits(keys, n);
    if (same + bits >= 63) {
        order_any(keys, n);
        return;
    }
    scatter(keys, n, room, same, bits, next);
    for (uint64_t d = 0; d < UINT64_C(1) << bits; d++)
        order_range(room + next[d], next[d + 1] - next[d], keys + next[d], same + bits);
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
