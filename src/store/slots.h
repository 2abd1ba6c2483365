/* Slots of any width from 1 to 28 bits, packed without gaps into little-endian bytes: slot i has bits i·width and up. Two
 * neighbours come with one 64-bit load at any address, so an array of slots has SLOTS_BEYOND bytes after its last slot. */
#ifndef PERHAPS_STORE_SLOTS_H
#define PERHAPS_STORE_SLOTS_H

#include "base/endian.h"

enum { SLOT_WIDTH_MAX = 28, SLOTS_BEYOND = 8 };

static inline uint64_t slot_mask(unsigned width) {
    return (UINT64_C(1) << width) - 1;
}

/* The slots from this bit on: the first in the lowest bits, the second above it; what lies above that is no matter. */
static inline uint64_t slots_at(const uint8_t *bytes, uint64_t bit) {
    return load64(bytes + (bit >> 3)) >> (bit & 7);
}

static inline uint64_t slot_get(const uint8_t *bytes, uint64_t i, unsigned width) {
    return slots_at(bytes, i * width) & slot_mask(width);
}

static inline void slot_set(uint8_t *bytes, uint64_t i, unsigned width, uint64_t value) {
    uint64_t bit = i * width;
    unsigned shift = (unsigned)(bit & 7);
    uint8_t *word = bytes + (bit >> 3);
    store64(word, (load64(word) & ~(slot_mask(width) << shift)) | value << shift);
}

#endif
