/* Fuse filters: what queries (fuse.c) and building (fuse_solve.c) share. The idea and the layout
 * are in fuse.c. */
#ifndef PERHAPS_KIND_FUSE_FUSE_LAYOUT_H
#define PERHAPS_KIND_FUSE_FUSE_LAYOUT_H

#include "static/parts.h"

enum { FUSE_WIDTH = PARTS_OWN, FUSE_ARITY, FUSE_SEGMENT }; /* words of the layout */
enum { FUSE_RANGE = PART_OWN, FUSE_SEED, FUSE_ENTRY };     /* words of an entry, and their number */
enum { FUSE_WIDTH_MAX = 32, FUSE_SEGMENT_MIN = 2, FUSE_SEGMENT_MAX = 18, FUSE_SEEDS = 64 };
#define FUSE_RANGE_MAX ((UINT64_C(1) << 24) - 1)

extern const struct model model_fuse;

/* The slots of a part: starting places, and the segments that those of the last segment reach
 * into. */
static inline uint64_t fuse_slots(uint64_t range, uint64_t arity, uint64_t segment) {
    return range + ((arity - 1) << segment);
}

static inline uint64_t fuse_words(uint64_t slots, uint64_t width) {
    return (slots * width + 63) / 64;
}

/* What a seed does to keys. */
static inline uint64_t fuse_seed_word(uint64_t seed) {
    return seed * UINT64_C(0x9E3779B97F4A7C15);
}

/* From here on all is to be vectorised: 64-bit lanes, no branches. */

/* The word that offsets and fingerprint are taken from: of offset i, bits 18·i and up. */
static inline uint64_t fuse_spread(uint64_t key, uint64_t seed_word) {
    return mix64(key ^ seed_word);
}

static inline uint64_t fuse_first(uint64_t key, uint64_t bits, uint64_t range) {
    return mul_high_32(place_in_part(key, bits), (uint32_t)range);
}

/* Place i of a key: i segments after the first, and anywhere in that segment. */
static inline uint64_t fuse_place(uint64_t first, uint64_t spread, unsigned i, uint64_t segment) {
    uint64_t anywhere = (UINT64_C(1) << segment) - 1;
    return i ? (first + ((uint64_t)i << segment)) ^ (spread >> (FUSE_SEGMENT_MAX * (i - 1)) & anywhere) : first;
}

/* The upper half of a product: every bit of the spread is in it. */
#define FUSE_FINGERPRINT_HASH UINT64_C(0xD6E8FEB86659FD93)
static inline uint64_t fuse_fingerprint(uint64_t spread, uint64_t width) {
    return spread * FUSE_FINGERPRINT_HASH >> 32 & ((UINT64_C(1) << width) - 1);
}

/* fuse_solve.c; see struct solver. */
void fuse_settle(uint64_t layout[LAYOUT_WORDS], uint64_t keys);
uint64_t fuse_room(const uint64_t layout[LAYOUT_WORDS], uint64_t n);
bool fuse_solve(const uint64_t layout[LAYOUT_WORDS], enum isa isa, uint64_t *keys, uint64_t n, uint64_t *room,
                struct solution *solution);

/* Words of data for `parts` parts of `keys` keys each, for plans. */
uint64_t fuse_words_for(const uint64_t layout[LAYOUT_WORDS], uint64_t parts, uint64_t keys);

#endif
