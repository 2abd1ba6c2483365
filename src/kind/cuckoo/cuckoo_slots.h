/* Slots of any width from 1 to 28 bits, packed without gaps into little-endian bytes: slot i has
 * bits i·width and up. Two neighbours come with one 64-bit load at any address, and three if they
 * have at most CUCKOO_SLOT_WIDTH_THREE bits, so an array of slots has CUCKOO_SLOTS_BEYOND bytes
 * after its last slot. */
#ifndef PERHAPS_KIND_CUCKOO_CUCKOO_SLOTS_H
#define PERHAPS_KIND_CUCKOO_CUCKOO_SLOTS_H

#include "base/endian.h"

#include <stdbool.h>

enum { CUCKOO_SLOT_WIDTH_MAX = 28, CUCKOO_SLOT_WIDTH_THREE = 19, CUCKOO_SLOTS_BEYOND = 8 };

static inline uint64_t slot_mask(unsigned width) {
    return (UINT64_C(1) << width) - 1;
}

/* Where the word is that has `count` slots, the first of them slot i, and at which of its bits they
 * begin. A word that begins at the slot's first byte would often reach into the next cache line,
 * where nothing of them is: near the end of a line it begins earlier. */
struct slot_word {
    uint64_t byte;
    unsigned shift;
};

/* By how many bytes it may begin earlier and still have `count` slots. */
static inline unsigned slot_word_back(unsigned width, unsigned count) {
    return 8 - (count * width + 14) / 8;
}

static inline struct slot_word slot_word(uint64_t i, unsigned width, unsigned count) {
    uint64_t bit = i * width, byte = bit >> 3;
    unsigned back = (byte & 63) > 56 ? slot_word_back(width, count) : 0;
    return (struct slot_word){byte - back, (unsigned)(bit & 7) + 8 * back};
}

/* Slot i in the lowest bits, the others above it in turn; what lies above them is no matter. */
static inline uint64_t slots_at(const uint8_t *bytes, uint64_t i, unsigned width, unsigned count) {
    struct slot_word word = slot_word(i, width, count);
    return load64(bytes + word.byte) >> word.shift;
}

static inline uint64_t slot_get(const uint8_t *bytes, uint64_t i, unsigned width) {
    return slots_at(bytes, i, width, 1) & slot_mask(width);
}

/* Of a value that is too large, as a damaged array may give it, what fits is written: its
 * neighbours stay as they are. */
static inline void slot_set(uint8_t *bytes, uint64_t i, unsigned width, uint64_t value) {
    struct slot_word word = slot_word(i, width, 1);
    uint64_t others = load64(bytes + word.byte) & ~(slot_mask(width) << word.shift);
    store64(bytes + word.byte, others | (value & slot_mask(width)) << word.shift);
}

/* Writes to a slot that is empty; false if it is not. */
static inline bool slot_fill(uint8_t *bytes, uint64_t i, unsigned width, uint64_t value) {
    struct slot_word word = slot_word(i, width, 1);
    uint64_t all = load64(bytes + word.byte);
    if (all >> word.shift & slot_mask(width)) return false;
    store64(bytes + word.byte, all | (value & slot_mask(width)) << word.shift);
    return true;
}

#endif
