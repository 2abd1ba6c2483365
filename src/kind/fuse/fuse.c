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
 *          ├─ times the factor of the part's seed ─▶ two offsets
 *          └─ lowest bits ─▶ fingerprint
 *
 *     slots of a part, in segments of 2^s:
 *     ┌──────────┬──────────┬──────────┬──────────┬─────┬──────────┐
 *     │     x    │ x        │       x  │          │ ... │          │      fingerprint = x ^ x ^ x
 *     └─────┴────┴─┴────────┴───────┴──┴──────────┴─────┴──────────┘
 *          first   next       next but one; packed bit after bit
 *
 * Example: ten million keys at 1 %: width 7 (1/128 = 0.8 %), eight parts of 1.25 million keys with
 * 172 segments of 8,192 slots, 7.89 bits per key. Building stands in fuse_solve.c.
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

/* Keys of a block: while one is tested, the lines of the next are fetched. */
enum { BLOCK = 64 };

/* A part as queries see it: the byte at which its data begins, the number of its starting places,
 * the factor of its seed, and 1 if it has no keys. perhaps_inline.h reads them, too. */
enum { GUIDE_START, GUIDE_RANGE, GUIDE_FACTOR, GUIDE_EMPTY, GUIDE_WORDS };

static uint64_t payload_bytes(const uint64_t layout[LAYOUT_WORDS], const char **reason) {
    *reason = "a width, places or segments out of range";
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
        uint64_t *part = out + GUIDE_WORDS * i;
        part[GUIDE_START] = start;
        part[GUIDE_RANGE] = range;
        part[GUIDE_FACTOR] = fuse_factor(seed);
        part[GUIDE_EMPTY] = here == 0;
        words += here_words;
        keys += here;
        if (here == 0 && (words > layout[DATA_WORDS] || !are_zero(array->bytes + start, here_words)))
            return "a part without keys that is not empty";
    }
    if (words != layout[DATA_WORDS]) return "a directory that does not add up to its data";
    return keys == items ? NULL : "a directory that does not add up to its keys";
}

/* ---- one slot ---- */

/* The bytes that are loaded for a slot, which need not begin with it: as few as have all of it, so
 * that few slots reach into a second cache line. */
static uint64_t load_bytes(uint64_t width) {
    return width == 8 ? 1 : width <= 9 ? 2 : width <= 25 ? 4 : 8;
}

/* The slot, and above it whatever its neighbours are. */
static inline uint64_t slot_at(const uint8_t *bytes, uint64_t bit, uint64_t load) {
    const uint8_t *from = bytes + (bit >> 3);
    uint64_t word = load == 1 ? from[0] : load == 2 ? load16(from) : load == 4 ? load32(from) : load64(from);
    return load == 1 ? word : word >> (bit & 7);
}

/* What is known of a key before its places are: where its part begins, the first place, what the
 * others are taken from, and the fingerprint; in a part without keys no sum of slots equals it. */
struct fuse_key {
    uint64_t start, first, spread, print;
};

static inline struct fuse_key fuse_key_of(const uint64_t *guide, uint64_t bits, uint64_t key, uint64_t width) {
    const uint64_t *part = guide + GUIDE_WORDS * part_of(key, bits);
    return (struct fuse_key){8 * part[GUIDE_START], fuse_first(key, bits, part[GUIDE_RANGE]), key * part[GUIDE_FACTOR],
                             fuse_fingerprint(key, width) | part[GUIDE_EMPTY]};
}

/* Where place j of a key is, in bits. */
static inline uint64_t bit_of_place(struct fuse_key key, unsigned j, uint64_t segment, uint64_t width) {
    return key.start + fuse_place(key.first, key.spread, j, segment) * width;
}

/* What a block of keys looks at. The slots of a part without keys are zero, and the fingerprint of
 * a key that falls into it is not. */
struct fuse_block {
    uint64_t bit[4][BLOCK], fingerprint[BLOCK];
};

static void fuse_prefetch(const struct array *array, struct digest digest) {
    const uint64_t *layout = array->layout;
    struct fuse_key key = fuse_key_of(array->guide, layout[PARTS_BITS], digest.first, layout[FUSE_WIDTH]);
    for (unsigned j = 0; j < layout[FUSE_ARITY]; j++) {
        uint64_t bit = bit_of_place(key, j, layout[FUSE_SEGMENT], layout[FUSE_WIDTH]);
        __builtin_prefetch(array->bytes + (bit >> 3), 0, 2);
    }
}

#define TEMPLATE   "kind/fuse/fuse_batch.h"
#define FOR_AVX2   "kind/fuse/fuse_avx2.h"
#define FOR_AVX512 "kind/fuse/fuse_avx2.h"
#include "base/each_isa.h"

/* The operations for one number of places, and of bytes that are loaded for a slot. */
#define FUSE_OPS(table, target, isa, arity, load, contains_name, contains_many_name)                                   \
    target static int contains_name(const struct array *a, struct digest digest) {                                     \
        return query_one_##isa(a, digest.first, arity, load);                                                          \
    }                                                                                                                  \
    target static void contains_many_name(const struct array *a, const uint64_t *digests, size_t n, uint8_t *answers,  \
                                          const char *ahead) {                                                         \
        query_many_##isa(a, digests, n, answers, ahead, arity, load);                                                  \
    }                                                                                                                  \
    static const struct kind_ops table = {                                                                             \
        BASIC_OPS(parts_add, contains_name, parts_add_many, contains_many_name, fuse_prefetch)};

FUSE_OPS(fuse_ops_3_by_1_scalar, , scalar, 3, 1, fuse_contains_3_by_1_scalar, fuse_contains_many_3_by_1_scalar)
FUSE_OPS(fuse_ops_3_by_2_scalar, , scalar, 3, 2, fuse_contains_3_by_2_scalar, fuse_contains_many_3_by_2_scalar)
FUSE_OPS(fuse_ops_3_by_4_scalar, , scalar, 3, 4, fuse_contains_3_by_4_scalar, fuse_contains_many_3_by_4_scalar)
FUSE_OPS(fuse_ops_3_by_8_scalar, , scalar, 3, 8, fuse_contains_3_by_8_scalar, fuse_contains_many_3_by_8_scalar)
FUSE_OPS(fuse_ops_4_by_1_scalar, , scalar, 4, 1, fuse_contains_4_by_1_scalar, fuse_contains_many_4_by_1_scalar)
FUSE_OPS(fuse_ops_4_by_2_scalar, , scalar, 4, 2, fuse_contains_4_by_2_scalar, fuse_contains_many_4_by_2_scalar)
FUSE_OPS(fuse_ops_4_by_4_scalar, , scalar, 4, 4, fuse_contains_4_by_4_scalar, fuse_contains_many_4_by_4_scalar)
FUSE_OPS(fuse_ops_4_by_8_scalar, , scalar, 4, 8, fuse_contains_4_by_8_scalar, fuse_contains_many_4_by_8_scalar)
#if defined(__x86_64__)
FUSE_OPS(fuse_ops_3_by_1_avx2, TARGET_AVX2, avx2, 3, 1, fuse_contains_3_by_1_avx2, fuse_contains_many_3_by_1_avx2)
FUSE_OPS(fuse_ops_3_by_2_avx2, TARGET_AVX2, avx2, 3, 2, fuse_contains_3_by_2_avx2, fuse_contains_many_3_by_2_avx2)
FUSE_OPS(fuse_ops_3_by_4_avx2, TARGET_AVX2, avx2, 3, 4, fuse_contains_3_by_4_avx2, fuse_contains_many_3_by_4_avx2)
FUSE_OPS(fuse_ops_3_by_8_avx2, TARGET_AVX2, avx2, 3, 8, fuse_contains_3_by_8_avx2, fuse_contains_many_3_by_8_avx2)
FUSE_OPS(fuse_ops_4_by_1_avx2, TARGET_AVX2, avx2, 4, 1, fuse_contains_4_by_1_avx2, fuse_contains_many_4_by_1_avx2)
FUSE_OPS(fuse_ops_4_by_2_avx2, TARGET_AVX2, avx2, 4, 2, fuse_contains_4_by_2_avx2, fuse_contains_many_4_by_2_avx2)
FUSE_OPS(fuse_ops_4_by_4_avx2, TARGET_AVX2, avx2, 4, 4, fuse_contains_4_by_4_avx2, fuse_contains_many_4_by_4_avx2)
FUSE_OPS(fuse_ops_4_by_8_avx2, TARGET_AVX2, avx2, 4, 8, fuse_contains_4_by_8_avx2, fuse_contains_many_4_by_8_avx2)
FUSE_OPS(fuse_ops_3_by_1_avx512, TARGET_AVX512, avx512, 3, 1, fuse_contains_3_by_1_avx512,
         fuse_contains_many_3_by_1_avx512)
FUSE_OPS(fuse_ops_3_by_2_avx512, TARGET_AVX512, avx512, 3, 2, fuse_contains_3_by_2_avx512,
         fuse_contains_many_3_by_2_avx512)
FUSE_OPS(fuse_ops_3_by_4_avx512, TARGET_AVX512, avx512, 3, 4, fuse_contains_3_by_4_avx512,
         fuse_contains_many_3_by_4_avx512)
FUSE_OPS(fuse_ops_3_by_8_avx512, TARGET_AVX512, avx512, 3, 8, fuse_contains_3_by_8_avx512,
         fuse_contains_many_3_by_8_avx512)
FUSE_OPS(fuse_ops_4_by_1_avx512, TARGET_AVX512, avx512, 4, 1, fuse_contains_4_by_1_avx512,
         fuse_contains_many_4_by_1_avx512)
FUSE_OPS(fuse_ops_4_by_2_avx512, TARGET_AVX512, avx512, 4, 2, fuse_contains_4_by_2_avx512,
         fuse_contains_many_4_by_2_avx512)
FUSE_OPS(fuse_ops_4_by_4_avx512, TARGET_AVX512, avx512, 4, 4, fuse_contains_4_by_4_avx512,
         fuse_contains_many_4_by_4_avx512)
FUSE_OPS(fuse_ops_4_by_8_avx512, TARGET_AVX512, avx512, 4, 8, fuse_contains_4_by_8_avx512,
         fuse_contains_many_4_by_8_avx512)
#endif

static const struct kind_ops *ops(const uint64_t layout[LAYOUT_WORDS], enum isa isa, bool shared) {
    int load = __builtin_ctzll(load_bytes(layout[FUSE_WIDTH])), four = layout[FUSE_ARITY] == 4;
    static const struct kind_ops *const scalar[2][4] = {
        {&fuse_ops_3_by_1_scalar, &fuse_ops_3_by_2_scalar, &fuse_ops_3_by_4_scalar, &fuse_ops_3_by_8_scalar},
        {&fuse_ops_4_by_1_scalar, &fuse_ops_4_by_2_scalar, &fuse_ops_4_by_4_scalar, &fuse_ops_4_by_8_scalar}};
    (void)isa, (void)shared;
#if defined(__x86_64__)
    static const struct kind_ops *const avx2[2][4] = {
        {&fuse_ops_3_by_1_avx2, &fuse_ops_3_by_2_avx2, &fuse_ops_3_by_4_avx2, &fuse_ops_3_by_8_avx2},
        {&fuse_ops_4_by_1_avx2, &fuse_ops_4_by_2_avx2, &fuse_ops_4_by_4_avx2, &fuse_ops_4_by_8_avx2}};
    static const struct kind_ops *const avx512[2][4] = {
        {&fuse_ops_3_by_1_avx512, &fuse_ops_3_by_2_avx512, &fuse_ops_3_by_4_avx512, &fuse_ops_3_by_8_avx512},
        {&fuse_ops_4_by_1_avx512, &fuse_ops_4_by_2_avx512, &fuse_ops_4_by_4_avx512, &fuse_ops_4_by_8_avx512}};
    if (isa == ISA_AVX512) return avx512[four][load];
    if (isa == ISA_AVX2) return avx2[four][load];
#endif
    return scalar[four][load];
}

static void view(const struct array *array, perhaps_view *view) {
    uint64_t load = load_bytes(array->layout[FUSE_WIDTH]);
    view->form = array->layout[FUSE_ARITY] != 3 || load > 4 ? PERHAPS_VIEW_FUSE_ANY
                                                            : PERHAPS_VIEW_FUSE_1 + __builtin_ctzll(load);
    view->hashes = (unsigned)array->layout[FUSE_ARITY];
    view->width = (unsigned)array->layout[FUSE_WIDTH];
    view->segment = (unsigned)array->layout[FUSE_SEGMENT];
    view->part_bits = (unsigned)array->layout[PARTS_BITS];
    view->guide = array->guide;
}

static const struct solver solver = {.entry_words = FUSE_ENTRY,
                                     .settle = BEYOND_QUERIES(fuse_settle),
                                     .room = BEYOND_QUERIES(fuse_room),
                                     .solve = BEYOND_QUERIES(fuse_solve),
                                     .trace = BEYOND_QUERIES(fuse_trace_solved),
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
    .view = BEYOND_QUERIES(view),
    .trace = BEYOND_QUERIES(fuse_trace),
    .cells = BEYOND_QUERIES(fuse_cells),
    .cell = "slot",
};
