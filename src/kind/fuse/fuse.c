/*
 * Binary fuse filter (T. M. Graf, D. Lemire, "Binary Fuse Filters: Fast and Smaller Than Xor
 * Filters", 2022).
 *
 * Idea: a key has three places (or four) in an array of slots, each `width` bits wide, and a
 * fingerprint of as many bits. The slots are set, once and for all keys together, so that the
 * exclusive or of a key's places is its fingerprint. A non-member's is so with a chance of one in
 * 2^width. Places lie in neighbouring segments, which makes the array fill up nearly to the last
 * slot.
 *
 *     key ─┬─▶ part 0..2^b-1, and first place in it         (parts.h)
 *          └─ mix with the part's seed ─▶ two offsets, and the fingerprint
 *
 *     slots of a part, in segments of 2^s:
 *     ┌──────────┬──────────┬──────────┬──────────┬─────┬──────────┐
 *     │     x    │ x        │       x  │          │ ... │          │      fingerprint = x ^ x ^ x
 *     └─────┴────┴─┴────────┴───────┴──┴──────────┴─────┴──────────┘
 *          first   next       next but one; packed bit after bit
 *
 * Example: ten million keys at 1 %: width 7 (1/128 = 0.8 %), eight parts of 1.25 million keys with
 * 172 segments of 8,192 slots, 7.89 bits a key. Building stands in fuse_solve.c.
 *
 * Cost: three cache lines a query (or four). Layout: parts, words, width, places of a key, bits of
 * a segment.
 *
 * Invariants
 *   I1  1 <= width <= 32; places are 3 or 4; 2 <= s <= 18.
 *   I2  parts lie in the data one after the other without gaps, each in whole words; starting
 *       places are a multiple of 2^s, at least that, and below 2^24.
 *   I3  every key's places add up to its fingerprint.
 *   I4  the slots of a part without keys are zero.
 */
#include "kind/fuse/fuse_layout.h"

#include <stddef.h>

/* Keys in flight at a time: 48 lines, as many as the second-level cache of many machines can wait
 * for. */
enum { BLOCK = 16 };

/* A part as queries see it: the byte at which its data begins and the number of its starting
 * places; a mark if it has no keys; and its seed. Two words, so that the guide to a billion keys
 * stays in the cache. */
enum { RANGE_BITS = 24, GUIDE_WORDS = 2 };
#define NO_KEYS (UINT64_C(1) << 63)

static uint64_t payload_bytes(const uint64_t layout[LAYOUT_WORDS], const char **reason) {
    *reason = "width, places or segments out of range";
    if (layout[FUSE_WIDTH] < 1 || layout[FUSE_WIDTH] > FUSE_WIDTH_MAX) return 0;
    if (layout[FUSE_ARITY] != 3 && layout[FUSE_ARITY] != 4) return 0;
    if (layout[FUSE_SEGMENT] < FUSE_SEGMENT_MIN || layout[FUSE_SEGMENT] > FUSE_SEGMENT_MAX) return 0;
    return parts_length(layout, FUSE_ENTRY, reason);
}

static uint64_t guide_bytes(const uint64_t layout[LAYOUT_WORDS]) {
    return (UINT64_C(8) * GUIDE_WORDS) << layout[PARTS_BITS];
}

static bool are_zero(const uint8_t *bytes, uint64_t words) {
    uint64_t all = 0;
    for (uint64_t i = 0; i < words; i++) all |= load64(bytes + 8 * i);
    return all == 0;
}

static const char *guide(const struct array *array, uint64_t items, void *memory) {
    const uint64_t *layout = array->layout, segment = layout[FUSE_SEGMENT];
    uint64_t *out = memory, words = 0, keys = 0;
    for (uint64_t i = 0; i < UINT64_C(1) << layout[PARTS_BITS]; i++) {
        uint64_t range = entry_word(array, i, FUSE_ENTRY, FUSE_RANGE),
                 here = entry_word(array, i, FUSE_ENTRY, PART_KEYS);
        uint64_t seed = entry_word(array, i, FUSE_ENTRY, FUSE_SEED),
                 slots = fuse_slots(range, layout[FUSE_ARITY], segment);
        if (here > slots || range == 0 || range > FUSE_RANGE_MAX || range & ((UINT64_C(1) << segment) - 1) ||
            seed >= FUSE_SEEDS)
            return "a directory with an entry that is out of range";
        if (entry_word(array, i, FUSE_ENTRY, PART_START) != words)
            return "a directory whose parts do not follow each other";
        uint64_t start = parts_data_start(layout, FUSE_ENTRY) + 8 * words,
                 here_words = fuse_words(slots, layout[FUSE_WIDTH]);
        out[GUIDE_WORDS * i] = start << RANGE_BITS | range;
        out[GUIDE_WORDS * i + 1] = fuse_seed_word(seed);
        words += here_words;
        keys += here;
        if (here) continue;
        if (words > layout[DATA_WORDS] || !are_zero(array->bytes + start, here_words))
            return "a part without keys that is not empty";
        out[GUIDE_WORDS * i] |= NO_KEYS;
    }
    if (words != layout[DATA_WORDS]) return "a directory that does not add up to its data";
    return keys == items ? NULL : "a directory that does not add up to its keys";
}

/* ---- one slot ---- */

/* Where a place of a part is, in bits. The guide's first word begins with the mark of a part
 * without keys. */
static inline uint64_t bit_of(uint64_t first_word, uint64_t place, uint64_t width) {
    return (first_word << 1 >> (RANGE_BITS + 1)) * 8 + place * width;
}

/* How to load the slot at this bit: from which byte on, and how far to shift what is there, in the
 * lower 6 bits. A slot of one byte or two is loaded as it is. Others are loaded with the word that
 * they begin in; near the end of a cache line, with one that begins earlier, so as not to reach
 * into the next line: `over` is the array's first byte within its own line. */
static inline uint64_t load_of(uint64_t bit, uint64_t over, uint64_t width) {
    uint64_t byte = bit >> 3;
    if (width == 8 || width == 16) return byte << 6;
    uint64_t is_late = (((byte + over) & 63) + 7) >> 6, back = (0 - is_late) & (8 - (width + 14) / 8);
    return (byte - back) << 6 | ((bit & 7) + 8 * back);
}

/* The slot, and above it whatever its neighbours are. */
static inline uint64_t slot_at(const uint8_t *bytes, uint64_t load, uint64_t width) {
    const uint8_t *from = bytes + (load >> 6);
    if (width == 8) return from[0];
    if (width == 16) return (uint64_t)from[0] | (uint64_t)from[1] << 8;
    return load64(from) >> (load & 63);
}

/* What is known of a key before its places are: its part's word of the guide; the first place; and
 * what the others and the fingerprint are taken from. */
struct fuse_key {
    uint64_t word, first, spread;
};

static inline struct fuse_key fuse_key_of(const uint64_t *guide, uint64_t bits, uint64_t digest) {
    uint64_t key = part_key(digest), part = GUIDE_WORDS * part_of(key, bits), word = guide[part];
    return (struct fuse_key){word, fuse_first(key, bits, word & FUSE_RANGE_MAX), fuse_spread(key, guide[part + 1])};
}

/* load_of for place j of a key. */
static inline uint64_t load_of_place(struct fuse_key key, unsigned j, uint64_t segment, uint64_t over, uint64_t width) {
    return load_of(bit_of(key.word, fuse_place(key.first, key.spread, j, segment), width), over, width);
}

/* In a part without keys no sum of slots equals it. */
static inline uint64_t print_of(struct fuse_key key, uint64_t width) {
    return fuse_fingerprint(key.spread, width) | key.word >> 63;
}

/* What a block of keys looks at. The slots of a part without keys are zero, and the fingerprint of
 * a key that falls into it is not. */
struct fuse_block {
    uint64_t load[4][BLOCK], fingerprint[BLOCK];
};

#define TEMPLATE "kind/fuse/fuse_batch.h"
#define FOR_AVX2 "kind/fuse/fuse_avx2.h"
#include "base/each_isa.h"

/* The operations for one number of places and one width: 8, 16, or what the layout says. */
#define FUSE_OPS(table, target, isa, arity, width, contains_name, contains_many_name)                                  \
    target static int contains_name(const struct array *a, struct digest digest) {                                     \
        return query_one_##isa(a, digest.first, arity, width);                                                         \
    }                                                                                                                  \
    target static void contains_many_name(const struct array *a, const uint64_t *digests, size_t n, uint8_t *answers,  \
                                          const char *ahead) {                                                         \
        query_many_##isa(a, digests, n, answers, ahead, arity, width);                                                 \
    }                                                                                                                  \
    static const struct kind_ops table = {                                                                             \
        .add = parts_add, .add_many = parts_add_many, .contains = contains_name, .contains_many = contains_many_name};

FUSE_OPS(fuse_ops_3_of_8_scalar, , scalar, 3, 8, fuse_contains_3_of_8_scalar, fuse_contains_many_3_of_8_scalar)
FUSE_OPS(fuse_ops_3_of_16_scalar, , scalar, 3, 16, fuse_contains_3_of_16_scalar, fuse_contains_many_3_of_16_scalar)
FUSE_OPS(fuse_ops_3_of_any_scalar, , scalar, 3, a->layout[FUSE_WIDTH], fuse_contains_3_of_any_scalar,
         fuse_contains_many_3_of_any_scalar)
FUSE_OPS(fuse_ops_4_of_8_scalar, , scalar, 4, 8, fuse_contains_4_of_8_scalar, fuse_contains_many_4_of_8_scalar)
FUSE_OPS(fuse_ops_4_of_16_scalar, , scalar, 4, 16, fuse_contains_4_of_16_scalar, fuse_contains_many_4_of_16_scalar)
FUSE_OPS(fuse_ops_4_of_any_scalar, , scalar, 4, a->layout[FUSE_WIDTH], fuse_contains_4_of_any_scalar,
         fuse_contains_many_4_of_any_scalar)
#if defined(__x86_64__)
FUSE_OPS(fuse_ops_3_of_8_avx2, TARGET_AVX2, avx2, 3, 8, fuse_contains_3_of_8_avx2, fuse_contains_many_3_of_8_avx2)
FUSE_OPS(fuse_ops_3_of_16_avx2, TARGET_AVX2, avx2, 3, 16, fuse_contains_3_of_16_avx2, fuse_contains_many_3_of_16_avx2)
FUSE_OPS(fuse_ops_3_of_any_avx2, TARGET_AVX2, avx2, 3, a->layout[FUSE_WIDTH], fuse_contains_3_of_any_avx2,
         fuse_contains_many_3_of_any_avx2)
FUSE_OPS(fuse_ops_4_of_8_avx2, TARGET_AVX2, avx2, 4, 8, fuse_contains_4_of_8_avx2, fuse_contains_many_4_of_8_avx2)
FUSE_OPS(fuse_ops_4_of_16_avx2, TARGET_AVX2, avx2, 4, 16, fuse_contains_4_of_16_avx2, fuse_contains_many_4_of_16_avx2)
FUSE_OPS(fuse_ops_4_of_any_avx2, TARGET_AVX2, avx2, 4, a->layout[FUSE_WIDTH], fuse_contains_4_of_any_avx2,
         fuse_contains_many_4_of_any_avx2)
FUSE_OPS(fuse_ops_3_of_8_avx512, TARGET_AVX512, avx512, 3, 8, fuse_contains_3_of_8_avx512,
         fuse_contains_many_3_of_8_avx512)
FUSE_OPS(fuse_ops_3_of_16_avx512, TARGET_AVX512, avx512, 3, 16, fuse_contains_3_of_16_avx512,
         fuse_contains_many_3_of_16_avx512)
FUSE_OPS(fuse_ops_3_of_any_avx512, TARGET_AVX512, avx512, 3, a->layout[FUSE_WIDTH], fuse_contains_3_of_any_avx512,
         fuse_contains_many_3_of_any_avx512)
FUSE_OPS(fuse_ops_4_of_8_avx512, TARGET_AVX512, avx512, 4, 8, fuse_contains_4_of_8_avx512,
         fuse_contains_many_4_of_8_avx512)
FUSE_OPS(fuse_ops_4_of_16_avx512, TARGET_AVX512, avx512, 4, 16, fuse_contains_4_of_16_avx512,
         fuse_contains_many_4_of_16_avx512)
FUSE_OPS(fuse_ops_4_of_any_avx512, TARGET_AVX512, avx512, 4, a->layout[FUSE_WIDTH], fuse_contains_4_of_any_avx512,
         fuse_contains_many_4_of_any_avx512)
#endif

static const struct kind_ops *ops(const uint64_t layout[LAYOUT_WORDS], enum isa isa, bool shared) {
    int width = layout[FUSE_WIDTH] == 8 ? 0 : layout[FUSE_WIDTH] == 16 ? 1 : 2, four = layout[FUSE_ARITY] == 4;
    static const struct kind_ops *const scalar[2][3] = {
        {&fuse_ops_3_of_8_scalar, &fuse_ops_3_of_16_scalar, &fuse_ops_3_of_any_scalar},
        {&fuse_ops_4_of_8_scalar, &fuse_ops_4_of_16_scalar, &fuse_ops_4_of_any_scalar}};
    (void)isa, (void)shared;
#if defined(__x86_64__)
    static const struct kind_ops *const avx2[2][3] = {
        {&fuse_ops_3_of_8_avx2, &fuse_ops_3_of_16_avx2, &fuse_ops_3_of_any_avx2},
        {&fuse_ops_4_of_8_avx2, &fuse_ops_4_of_16_avx2, &fuse_ops_4_of_any_avx2}};
    static const struct kind_ops *const avx512[2][3] = {
        {&fuse_ops_3_of_8_avx512, &fuse_ops_3_of_16_avx512, &fuse_ops_3_of_any_avx512},
        {&fuse_ops_4_of_8_avx512, &fuse_ops_4_of_16_avx512, &fuse_ops_4_of_any_avx512}};
    if (isa == ISA_AVX512) return avx512[four][width];
    if (isa == ISA_AVX2) return avx2[four][width];
#endif
    return scalar[four][width];
}

static const struct solver solver = {.entry_words = FUSE_ENTRY,
                                     .settle = fuse_settle,
                                     .room = fuse_room,
                                     .solve = fuse_solve,
                                     .guide_bytes = guide_bytes,
                                     .guide = guide};

#include "kind/fuse/fuse_trace.h"

const struct kind kind_fuse = {
    .row = {PERHAPS_FUSE, 0, "fuse",
            "binary fuse filter: static, small and quick to build; its rates are powers of two"},
    .hashing = {.hash = PERHAPS_XXH3, .words = 1},
    .words = {.name = {"parts", "words", "width", "places", "segments"}},
    .payload_bytes = payload_bytes,
    .ops = ops,
    .model = &model_fuse,
    .solver = &solver,
    .trace = fuse_trace,
};
