/* Counters of four bits in little-endian 64-bit words: counter i is bits 4·(i%16) and up of word
 * i/16, which is also half i%2 of byte i/2, the lower half first. A counter that has reached 15
 * says "15 or more", and stays there. */
#ifndef PERHAPS_KIND_COUNTING_COUNTING_CELLS_H
#define PERHAPS_KIND_COUNTING_COUNTING_CELLS_H

#include "base/endian.h"
#include "base/atomic.h"

enum { COUNTER_STUCK = 15 };

static inline unsigned counter_get(const uint8_t *bytes, uint64_t i) {
    return bytes[i >> 1] >> (i & 1) * 4 & 15u;
}

static inline void counter_add(uint8_t *bytes, uint64_t i, unsigned change) {
    bytes[i >> 1] = (uint8_t)(bytes[i >> 1] + (change << (i & 1) * 4));
}

static inline void counter_up(uint8_t *bytes, uint64_t i) {
    counter_add(bytes, i, counter_get(bytes, i) != COUNTER_STUCK);
}

/* Neither 0 nor 15 changes. */
static inline void counter_down(uint8_t *bytes, uint64_t i) {
    unsigned before = counter_get(bytes, i);
    counter_add(bytes, i, -(unsigned)(before != 0 && before != COUNTER_STUCK));
}

/* ---- the same where other threads change the array at the same time ---- */

enum { WORD_COUNTERS = WORD_BITS / 4 };

static inline unsigned counter_in(uintptr_t counters, uint64_t i) {
    return (unsigned)(counters >> 4 * (i % WORD_COUNTERS) & 15);
}

static inline unsigned shared_counter_get(const uint8_t *bytes, uint64_t i) {
    return counter_in(word_get(word_at(bytes, i / WORD_COUNTERS)), i);
}

static inline void shared_counter_up(uint8_t *bytes, uint64_t i) {
    shared_word *at = word_at(bytes, i / WORD_COUNTERS);
    uintptr_t one = (uintptr_t)1 << 4 * (i % WORD_COUNTERS), before = word_get(at);
    while (counter_in(before, i) != COUNTER_STUCK && !word_replace(at, &before, before + one)) continue;
}

static inline void shared_counter_down(uint8_t *bytes, uint64_t i) {
    shared_word *at = word_at(bytes, i / WORD_COUNTERS);
    uintptr_t one = (uintptr_t)1 << 4 * (i % WORD_COUNTERS), before = word_get(at);
    while (counter_in(before, i) != 0 && counter_in(before, i) != COUNTER_STUCK &&
           !word_replace(at, &before, before - one)) {
        continue;
    }
}

/* ---- sixteen counters at a time ---- */

static const uint64_t counter_ones = UINT64_C(0x1111111111111111);

/* Sums of counters that stop at 15. The lower three bits of each are added first, so that no carry
 * leaves a counter; then the top bits, whose carry becomes four ones. */
static inline uint64_t counters_sum(uint64_t a, uint64_t b) {
    const uint64_t top = counter_ones * 8;
    uint64_t sum = ((a & ~top) + (b & ~top)) ^ ((a ^ b) & top);
    uint64_t carry = ((a & b) | ((a | b) & ~sum)) & top;
    return sum | carry | (carry - (carry >> 3));
}

/* into += from, over `length` bytes, a multiple of eight. */
static inline void counters_merge(uint8_t *into, const uint8_t *from, uint64_t length) {
    for (uint64_t i = 0; i < length; i += 8) store64(into + i, counters_sum(load64(into + i), load64(from + i)));
}

/* Counters of a word that are not 0: a bit for each, the lowest. */
static inline uint64_t counters_used(uint64_t word) {
    uint64_t any = word | word >> 1;
    return (any | any >> 2) & counter_ones;
}

/* What an array of counters amounts to. */
struct counters_tally {
    uint64_t used, stuck, sum; /* counters that are not 0, those at 15, and all added up */
};

static inline struct counters_tally counters_count(const uint8_t *bytes, uint64_t length) {
    const uint64_t half = UINT64_C(0x0F0F0F0F0F0F0F0F), bytewise = UINT64_C(0x0101010101010101);
    struct counters_tally tally = {0, 0, 0};
    for (uint64_t i = 0; i < length; i += 8) {
        uint64_t word = load64(bytes + i), all = word & word >> 1;
        tally.used += (uint64_t)__builtin_popcountll(counters_used(word));
        tally.stuck += (uint64_t)__builtin_popcountll((all & all >> 2) & counter_ones);
        tally.sum += ((word & half) + (word >> 4 & half)) * bytewise >> 56;
    }
    return tally;
}

#endif
