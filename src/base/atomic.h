/*
 * Words that several threads read and change at the same time, without locks.
 *
 * A word is what a machine changes in one step: 64 bits, or 32 where pointers have 32. In
 * little-endian order, which arrays have on every machine, both have the same bits in the same
 * places: bit i of an array is bit i%WORD_BITS of word i/WORD_BITS. Words must be aligned, as they
 * are in the library's memory and in mapped files.
 *
 * Memory order is relaxed. A bit that was set says nothing about other memory, so no other load or
 * store need be seen together with it. A thread that adds a key and then tells another thread of it
 * does so by a lock, a queue or the end of a thread. That orders everything before it, and the
 * other thread finds the key. A query that runs at the same time as the add may see some of the
 * key's bits: it says that the key is not there, as if it had come a moment earlier. Two queries
 * without such an order may see two adds in either order. No bit is lost, since every change of a
 * shared word is one atomic step (or, and, exchange).
 */
#ifndef PERHAPS_BASE_ATOMIC_H
#define PERHAPS_BASE_ATOMIC_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

/* may_alias: other code reads the same bytes as other types. */
typedef uintptr_t __attribute__((may_alias)) shared_word;
enum { WORD_BITS = 8 * (int)sizeof(shared_word) };

static inline uintptr_t little_endian(uintptr_t x) {
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    return WORD_BITS == 64 ? (uintptr_t)__builtin_bswap64(x) : (uintptr_t)__builtin_bswap32((uint32_t)x);
#else
    return x;
#endif
}

/* Where word i of an array is. */
static inline shared_word *word_at(const uint8_t *bytes, uint64_t i) {
    shared_word *at = (shared_word *)(uintptr_t)(bytes + i * sizeof(shared_word));
    assert((uintptr_t)at % sizeof(shared_word) == 0);
    return at;
}

static inline uintptr_t word_get(const shared_word *at) {
    return little_endian(__atomic_load_n(at, __ATOMIC_RELAXED));
}

/* Sets bits; gives those that were missing, each to only one of the threads that set it. A word
 * that has them all is not written: it stays in the caches of several processors. */
static inline uintptr_t word_set(shared_word *at, uintptr_t bits) {
    if (!(bits & ~word_get(at))) return 0;
    return bits & ~little_endian(__atomic_fetch_or(at, little_endian(bits), __ATOMIC_RELAXED));
}

/* Clears bits; gives those that were set. */
static inline uintptr_t word_clear(shared_word *at, uintptr_t bits) {
    if (!(bits & word_get(at))) return 0;
    return bits & little_endian(__atomic_fetch_and(at, little_endian(~bits), __ATOMIC_RELAXED));
}

/* Writes `after` if the word is still *before; otherwise false, and *before is what it is now. */
static inline bool word_replace(shared_word *at, uintptr_t *before, uintptr_t after) {
    uintptr_t raw = little_endian(*before);
    bool done = __atomic_compare_exchange_n(at, &raw, little_endian(after), true, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    *before = little_endian(raw);
    return done;
}

/* word_set for eight bytes, which are one word or two. */
static inline uint64_t shared_set64(uint8_t *bytes, uint64_t bits) {
    uint64_t missing = 0;
    for (unsigned i = 0; i < 64; i += WORD_BITS)
        missing |= (uint64_t)word_set(word_at(bytes, i / WORD_BITS), (uintptr_t)(bits >> i)) << i;
    return missing;
}

#endif
