/* Bits in little-endian 64-bit words: bit i is bit i%64 of word i/64, and bit i%8 of byte i/8. */
#ifndef PERHAPS_BASE_BITS_H
#define PERHAPS_BASE_BITS_H

#include "base/endian.h"
#include "base/atomic.h"

static inline unsigned bit_get(const uint8_t *bytes, uint64_t i) {
    return (unsigned)(load64(bytes + (i >> 6) * 8) >> (i & 63) & 1);
}

static inline void bit_set(uint8_t *bytes, uint64_t i) {
    uint8_t *word = bytes + (i >> 6) * 8;
    store64(word, load64(word) | UINT64_C(1) << (i & 63));
}

static inline void bit_flip(uint8_t *bytes, uint64_t i) {
    uint8_t *word = bytes + (i >> 6) * 8;
    store64(word, load64(word) ^ UINT64_C(1) << (i & 63));
}

/* ---- the same where other threads change the array at the same time ---- */

static inline unsigned shared_bit_get(const uint8_t *bytes, uint64_t i) {
    return (unsigned)(word_get(word_at(bytes, i / WORD_BITS)) >> i % WORD_BITS & 1);
}

/* 1 if this call has changed it: true for only one of the threads that set it at the same time. */
static inline unsigned shared_bit_set(uint8_t *bytes, uint64_t i) {
    return word_set(word_at(bytes, i / WORD_BITS), (uintptr_t)1 << i % WORD_BITS) != 0;
}

static inline unsigned shared_bit_clear(uint8_t *bytes, uint64_t i) {
    return word_clear(word_at(bytes, i / WORD_BITS), (uintptr_t)1 << i % WORD_BITS) != 0;
}

/* ---- whole arrays ---- */

/* into |= from, over `length` bytes, a multiple of eight. */
static inline void bits_or(uint8_t *into, const uint8_t *from, uint64_t length) {
    for (uint64_t i = 0; i < length; i += 8) store64(into + i, load64(into + i) | load64(from + i));
}

/* into &= from. */
static inline void bits_and(uint8_t *into, const uint8_t *from, uint64_t length) {
    for (uint64_t i = 0; i < length; i += 8) store64(into + i, load64(into + i) & load64(from + i));
}

static inline uint64_t bits_count(const uint8_t *bytes, uint64_t length) {
    uint64_t count = 0;
    for (uint64_t i = 0; i < length; i += 8) count += (uint64_t)__builtin_popcountll(load64(bytes + i));
    return count;
}

#endif
