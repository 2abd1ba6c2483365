/*
 * Sorting uniform words, in two rounds by their topmost bits and one that sets neighbours right.
 *
 * The first round scatters the words to ranges of some hundreds each, so that what the second does to a range stays in the
 * first-level cache: it scatters them again, to slots of one word each on average. Whatever is out of order then is in the same
 * slot, next to its place.
 */
#include "kind/total_order.h"

#include <stdbool.h>
#include <stddef.h>

enum { RANGE_BITS_MAX = 12, RANGE_WORDS_BITS = 11, SLOT_BITS_MAX = 12, FEW = 32 };

static void sift(uint64_t *words, uint64_t n, uint64_t at) {
    uint64_t word = words[at];
    for (uint64_t child; (child = 2 * at + 1) < n; at = child) {
        if (child + 1 < n && words[child + 1] > words[child]) child++;
        if (words[child] <= word) break;
        words[at] = words[child];
    }
    words[at] = word;
}

/* For words that are not uniform: a heap, which takes no memory and n log n time. */
static void order_any(uint64_t *words, uint64_t n) {
    for (uint64_t i = n / 2; i-- > 0;) sift(words, n, i);
    for (uint64_t end = n; end-- > 1;) {
        uint64_t largest = words[0];
        words[0] = words[end];
        words[end] = largest;
        sift(words, end, 0);
    }
}

/* Each word goes to the right past smaller ones: without a branch, this does most of what there is to do. */
static void carry_larger(uint64_t *words, uint64_t n) {
    uint64_t larger = n ? words[0] : 0;
    for (uint64_t i = 1; i < n; i++) {
        uint64_t word = words[i], smaller = word < larger ? word : larger;
        larger ^= word ^ smaller;
        words[i - 1] = smaller;
    }
    if (n) words[n - 1] = larger;
}

/* For words that are near their places. */
static void order_few(uint64_t *words, uint64_t n) {
    carry_larger(words, n);
    for (uint64_t i = 1; i < n; i++) {
        uint64_t word = words[i], at = i;
        for (; at && words[at - 1] > word; at--) words[at] = words[at - 1];
        words[at] = word;
    }
}

/* The bits below the topmost `same`, as many as said. */
static inline uint64_t digit(uint64_t word, unsigned same, unsigned bits) {
    return word << same >> 1 >> (63 - bits);
}

/* Scatters words by a digit; next[d + 1] is the end of those with digit d afterwards, and the beginning is next[d]. */
static void scatter(const uint64_t *from, uint64_t n, uint64_t *to, unsigned same, unsigned bits, uint32_t *next) {
    uint64_t digits = UINT64_C(1) << bits;
    for (uint64_t d = 0; d < digits + 2; d++) next[d] = 0;
    for (uint64_t i = 0; i < n; i++) next[digit(from[i], same, bits) + 2]++;
    for (uint64_t d = 2; d < digits + 2; d++) next[d] += next[d - 1];
    for (uint64_t i = 0; i < n; i++) to[next[digit(from[i], same, bits) + 1]++] = from[i];
}

/* A number of bits that makes for so many words a digit, a power of two, on average. */
static unsigned bits_for(uint64_t n, unsigned words_bits, unsigned most) {
    unsigned bits = 0;
    while (bits < most && n >> bits >> words_bits > 1) bits++;
    return bits;
}

/* Orders the words of a range, which has a slot each. */
static void order_range(const uint64_t *from, uint64_t n, uint64_t *to, unsigned same) {
    uint32_t next[(1 << SLOT_BITS_MAX) + 2];
    unsigned bits = bits_for(n, 0, SLOT_BITS_MAX);
    scatter(from, n, to, same, bits, next);
    bool uniform = true;
    for (uint64_t d = 0; d < UINT64_C(1) << bits; d++) uniform &= next[d + 1] - next[d] <= FEW;
    if (uniform) order_few(to, n);
    for (uint64_t d = 0; !uniform && d < UINT64_C(1) << bits; d++) order_any(to + next[d], next[d + 1] - next[d]);
}

void order_words(uint64_t *words, uint64_t n, unsigned same, uint64_t *spare) {
    uint32_t next[(1 << RANGE_BITS_MAX) + 2];
    unsigned bits = bits_for(n, RANGE_WORDS_BITS, RANGE_BITS_MAX);
    scatter(words, n, spare, same, bits, next);
    for (uint64_t d = 0; d < UINT64_C(1) << bits; d++)
        order_range(spare + next[d], next[d + 1] - next[d], words + next[d], same + bits);
}

uint64_t order_drop_equal(uint64_t *words, uint64_t n) {
    uint64_t kept = 0, last = n ? ~words[0] : 0;
    for (uint64_t i = 0; i < n; i++) {
        uint64_t word = words[i];
        words[kept] = word;
        kept += word != last;
        last = word;
    }
    return kept;
}
