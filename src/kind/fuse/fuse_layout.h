/* Fuse filters: what queries (fuse.c) and building (fuse_solve.c) share. The idea and the layout
 * are in fuse.c. */
#ifndef PERHAPS_KIND_FUSE_FUSE_LAYOUT_H
#define PERHAPS_KIND_FUSE_FUSE_LAYOUT_H

#include "perhaps_inline.h"
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

/* Each seed has an odd factor. Its product with a key is the key's spread, which offsets are taken
 * from: 18 bits each, from the upper end. */
static inline uint64_t fuse_factor(uint64_t seed) {
    return UINT64_C(0x9E6C63D0876A9A63) + seed * UINT64_C(0x3C6EF372FE94F82A);
}

/* From here on all is to be vectorised: 64-bit lanes, no branches. */

static inline uint64_t fuse_first(uint64_t key, uint64_t bits, uint64_t range) {
    return mul_high_32(place_in_part(key, bits), (uint32_t)range);
}

/* Place i of a key: i segments after the first, and anywhere in that segment. */
static inline uint64_t fuse_place(uint64_t first, uint64_t spread, unsigned i, uint64_t segment) {
    uint64_t anywhere = (UINT64_C(1) << segment) - 1;
    return i ? (first + ((uint64_t)i << segment)) ^ (spread >> (64 - FUSE_SEGMENT_MAX * i) & anywhere) : first;
}

/* The lowest bits of a key: places hardly depend on them. */
static inline uint64_t fuse_fingerprint(uint64_t key, uint64_t width) {
    return key & ((UINT64_C(1) << width) - 1);
}

/* fuse_solve.c; see struct solver. */
void fuse_settle(uint64_t layout[LAYOUT_WORDS], uint64_t keys);
uint64_t fuse_room(const uint64_t layout[LAYOUT_WORDS], uint64_t n);
bool fuse_solve(const uint64_t layout[LAYOUT_WORDS], enum isa isa, uint64_t *keys, uint64_t n, uint64_t *room,
                struct solution *solution);
void fuse_trace_solved(const uint64_t layout[LAYOUT_WORDS], const uint64_t *room, uint64_t n,
                       const struct solution *solution, struct trace *trace);

/* Words of data for `parts` parts of `keys` keys each, for plans. */
uint64_t fuse_words_for(const uint64_t layout[LAYOUT_WORDS], uint64_t parts, uint64_t keys);

#endif
