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

/* Where the word is that has some slots, the first of them slot i, and at which of its bits they
 * begin. A word that begins at the slot's first byte would often reach into the next cache line,
 * where nothing of them is: near the end of a line it begins `back` bytes earlier. */
struct slot_word {
    uint64_t byte, shift;
};

/* By how many bytes it may begin earlier and still have `count` slots. */
static inline uint64_t slot_word_back(unsigned width, unsigned count) {
    return 8 - (count * width + 14) / 8;
}

static inline struct slot_word slot_word(uint64_t i, unsigned width, uint64_t back) {
    uint64_t bit = i * width, byte = bit >> 3, is_late = ((byte & 63) + 7) >> 6;
    back &= 0 - is_late; /* a branch would be mispredicted */
    return (struct slot_word){byte - back, (bit & 7) + 8 * back};
}

/* Slot i in the lowest bits, the others above it in turn; what lies above them is no matter. */
static inline uint64_t slots_at(const uint8_t *bytes, uint64_t i, unsigned width, uint64_t back) {
    struct slot_word word = slot_word(i, width, back);
    return load64(bytes + word.byte) >> word.shift;
}

static inline uint64_t slot_get(const uint8_t *bytes, uint64_t i, unsigned width) {
    return slots_at(bytes, i, width, slot_word_back(width, 1)) & slot_mask(width);
}

/* Of a value that is too large, as a damaged array may give it, what fits is written: its
 * neighbours stay as they are. */
static inline void slot_set(uint8_t *bytes, uint64_t i, unsigned width, uint64_t value) {
    struct slot_word word = slot_word(i, width, slot_word_back(width, 1));
    uint64_t others = load64(bytes + word.byte) & ~(slot_mask(width) << word.shift);
    store64(bytes + word.byte, others | (value & slot_mask(width)) << word.shift);
}

/* Some slots in the lowest bits of a word are compared all at once. The lowest bit of each: */
static inline uint64_t slot_ones(unsigned width, unsigned count) {
    uint64_t ones = 0;
    for (unsigned i = 0; i < count; i++) ones |= UINT64_C(1) << i * width;
    return ones;
}

/* The highest bit of each slot that is zero, of those whose highest bits are in `tops`; `below` has
 * the other bits of these slots, and may have more. */
static inline uint64_t zero_slots(uint64_t word, uint64_t below, uint64_t tops) {
    return ~(((word & below) + below) | word) & tops;
}

/* Which slot a highest bit belongs to: 0, 1 or 2. */
static inline uint64_t slot_of_top(uint64_t top, unsigned width) {
    return (uint64_t)(top >> width != 0) + (top >> width >> width != 0);
}

/* Empties the slot of a word that has this highest bit. */
static inline void clear_slot(uint8_t *bytes, struct slot_word word, uint64_t top, unsigned width) {
    uint64_t slot = 2 * top - (top >> (width - 1));
    store64(bytes + word.byte, load64(bytes + word.byte) & ~(slot << word.shift));
}

/* Writes to a slot that is empty; false if it is not. */
static inline bool slot_fill(uint8_t *bytes, uint64_t i, unsigned width, uint64_t value) {
    struct slot_word word = slot_word(i, width, slot_word_back(width, 1));
    uint64_t all = load64(bytes + word.byte);
    if (all >> word.shift & slot_mask(width)) return false;
    store64(bytes + word.byte, all | (value & slot_mask(width)) << word.shift);
    return true;
}

#endif
