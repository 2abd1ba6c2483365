/*
 * Bumped ribbon filter (P. C. Dillinger, L. Huebschle-Schneider, P. Sanders, S. Walzer, "Fast
 * Succinct Retrieval and Approximate Membership using Ribbon", 2022).
 *
 * Idea: a table of bits, a row for each key and a column for each bit of the print. A key starts in
 * a row, and takes some of the 64 rows from there on; the table is made so that in each column
 * their parity is the key's print. That is a system of linear equations in which each has its
 * unknowns close together, so that solving it is quick. A non-member's parities are its print with
 * a chance of one in 2^columns.
 *
 *     key ─┬─▶ part 0..2^b-1, and the row in it where it starts        (parts.h)
 *          └─ products ─▶ which of 64 rows, print
 *
 * There are a little fewer rows than keys, which leaves hardly a row empty. For that, some keys are
 * bumped to the next level, a table like this one, but of only the bumped keys; and of those, some
 * again. Rows make buckets of 128, each with a threshold of two bits: bumped are none of the keys
 * that start in it, those in the first 24 rows, in the first 64, or all. The last level is small,
 * has rows to spare, and bumps nobody.
 *
 *     a part:
 *     ┌──────────────────┬──────────────────┬───────────────────┬───────┬──────────────┐
 *     │ thresholds of    │ blocks of        │ thresholds and    │ third │ blocks of    │
 *     │ the first level  │ the first level  │ blocks of second  │       │ the last one │
 *     └──────────────────┴──────────────────┴───────────────────┴───────┴──────────────┘
 *     a block, 64 rows:       ┌──────────┬──────────┬─────┬──────────┐
 *     a word for each column  │ column 0 │ column 1 │ ... │ column 6 │   row i is bit i of each
 *                             └──────────┴──────────┴─────┴──────────┘
 *
 * A key looks at the block in which it starts, and at the next: a few words side by side. For rates
 * between powers of two, the blocks of a level from its border on have a column more than those
 * before it. How many columns a key has follows from the block in which it starts.
 *
 * Example: ten million keys at 1 %: 6.72 columns (28 % of the keys have 6, the others 7: 0.28/64 +
 * 0.72/128 = 1 %), eight parts of 1.25 million keys; the first level of each has 1,224,000 rows,
 * the second 30,600 for the 2.4 % that are bumped, and the last 832. 6.77 bits per key, where no
 * filter can do with less than 6.64. Building stands in ribbon_solve.c.
 *
 * Cost: a threshold, in the cache if the filter is not huge, and two or three lines next to each
 * other. Layout: parts, words, columns in units of 1/65536. Entry: start, keys, sizes of the four
 * levels, seed.
 *
 * Invariants
 *   I1  1 <= columns <= 32.
 *   I2  parts lie in the data one after the other without gaps, and so do the levels in a part; a
 *       level has fewer than 2^31 rows. A block follows every block in which a key can start.
 *   I3  every key that was added has the parities of its print in the first level that does not
 *       bump it.
 */
#include "kind/ribbon/ribbon_layout.h"

#include <string.h>

enum { BLOCK = 64 }; /* keys in flight at a time */

static uint64_t payload_bytes(const uint64_t layout[LAYOUT_WORDS], const char **reason) {
    *reason = "a number of columns out of range";
    if (layout[RIBBON_COLUMNS] < RIBBON_COLUMNS_ONE ||
        layout[RIBBON_COLUMNS] > (uint64_t)RIBBON_COLUMNS_MAX * RIBBON_COLUMNS_ONE)
        return 0;
    return parts_length(layout, RIBBON_ENTRY_WORDS, reason);
}

/* ---- the directory ---- */

static uint64_t guide_bytes(const uint64_t layout[LAYOUT_WORDS]) {
    return (sizeof(struct ribbon_level) * RIBBON_LEVELS) << layout[PARTS_BITS];
}

/* All first levels come first: few queries look at others. */
static inline struct ribbon_level *level_of(const struct array *array, uint64_t part, unsigned level) {
    return (struct ribbon_level *)array->guide + ((uint64_t)level << array->layout[PARTS_BITS]) + part;
}

/* The size of a level, as the entry of its part has it. */
static uint64_t size_of(const struct array *array, uint64_t part, unsigned level) {
    uint64_t sizes = entry_word(array, part, RIBBON_ENTRY_WORDS, RIBBON_PART_LEVELS + level / 2);
    return level % 2 ? sizes >> 32 : (uint32_t)sizes;
}

/* Writes what queries need of a level; `begin` is its offset in the array, in bytes. */
static void guide_level(const struct array *array, uint64_t part, unsigned level, uint64_t begin,
                        struct ribbon_level *out) {
    uint64_t size = size_of(array, part, level);
    *out = (struct ribbon_level){
        .data = begin + 8 * level_threshold_words(size, level),
        .thresholds = begin,
        .seed = entry_word(array, part, RIBBON_ENTRY_WORDS, RIBBON_PART_SEED),
        .starts = (uint32_t)(level_start_blocks(size, level) * RIBBON_ROWS),
        .border = (uint32_t)level_border(array->layout, size, level),
    };
}

/* Parts, and the levels of each, follow each other without gaps. No sum here can be too large for a
 * word. */
static const char *guide(const struct array *array, uint64_t items, void *memory) {
    const uint64_t *layout = array->layout, parts = UINT64_C(1) << layout[PARTS_BITS];
    uint64_t words = 0, keys = 0, data = parts_data_start(layout, RIBBON_ENTRY_WORDS);
    for (uint64_t part = 0; part < parts; part++) {
        uint64_t here = entry_word(array, part, RIBBON_ENTRY_WORDS, PART_KEYS);
        if (here > PART_KEYS_MAX) return "a directory with an entry that is out of range";
        if (entry_word(array, part, RIBBON_ENTRY_WORDS, PART_START) != words)
            return "a directory whose parts do not follow each other";
        for (unsigned level = 0; level < RIBBON_LEVELS; level++) {
            uint64_t size = size_of(array, part, level);
            if (level_blocks(size, level) > RIBBON_LEVEL_BLOCKS_MAX)
                return "a directory with an entry that is out of range";
            guide_level(array, part, level, data + 8 * words, (struct ribbon_level *)memory + level * parts + part);
            words += level_words(layout, size, level);
        }
        if (!here && words != entry_word(array, part, RIBBON_ENTRY_WORDS, PART_START))
            return "a directory with an entry that is out of range";
        keys += here;
    }
    if (words != layout[DATA_WORDS]) return "a directory that does not add up to its data";
    return keys == items ? NULL : "a directory that does not add up to its keys";
}

/* ---- queries ---- */

/* Where the answer about a key is: which rows of which words have which parities. */
struct spot {
    const uint8_t *words; /* of the block in which it starts; the next block's follow */
    uint64_t here, next;  /* which rows of these two blocks */
    uint32_t columns, print;
};

/* Queried where there are no keys: a column of zeros, whose parity is never a print of 1. */
static const uint8_t nothing[8 * (2 + 8)];

static inline unsigned threshold_of(const struct array *array, const struct ribbon_level *at, uint64_t start) {
    uint64_t bucket = start / RIBBON_BUCKET_ROWS;
    return array->bytes[at->thresholds + bucket / 4] >> bucket % 4 * RIBBON_THRESHOLD_BITS & 3;
}

static inline bool is_bumped(const struct array *array, const struct ribbon_level *at, uint64_t start) {
    return start % RIBBON_BUCKET_ROWS < ribbon_limit(threshold_of(array, at, start));
}

static inline struct spot spot_in(const struct array *array, const struct ribbon_level *at, uint64_t start,
                                  uint64_t rows, uint32_t print) {
    unsigned columns = ribbon_columns(array->layout);
    uint64_t block = start / RIBBON_ROWS;
    return (struct spot){.words = array->bytes + at->data + 8 * block_start(block, columns, at->border),
                         .here = rows << start % RIBBON_ROWS,
                         .next = rows >> 1 >> (RIBBON_ROWS - 1 - start % RIBBON_ROWS),
                         .columns = columns + (block >= at->border),
                         .print = print};
}

/* That of a key which is not in the levels before `level`. */
static struct spot spot_from(const struct array *array, uint64_t key, unsigned level) {
    uint64_t bits = array->layout[PARTS_BITS], part = part_of(key, bits);
    for (;; level++) {
        const struct ribbon_level *at = level_of(array, part, level);
        uint64_t start = mul_high_32(ribbon_place(key, at->seed, bits, level), at->starts);
        if (at->starts && (level == RIBBON_LAST || !is_bumped(array, at, start)))
            return spot_in(array, at, start, ribbon_rows(key), ribbon_print(key));
        if (level == RIBBON_LAST) return (struct spot){.words = nothing, .columns = 1, .print = 1};
    }
}

/* Into the second-level cache, which can wait for more lines at a time than the first. */
static inline __attribute__((always_inline)) void prefetch_words(const uint8_t *words, unsigned last) {
    for (unsigned byte = 0; byte < last; byte += 64) __builtin_prefetch(words + byte, 0, 2);
    __builtin_prefetch(words + last, 0, 2);
}

static void ribbon_prefetch(const struct array *array, struct digest digest) {
    struct spot spot = spot_from(array, digest.first, 0);
    prefetch_words(spot.words, 16 * spot.columns - 8);
}

/* The spots of keys that are under way. */
struct ribbon_block {
    uint64_t key[BLOCK], rows[BLOCK];
    const uint8_t *words[BLOCK];
    uint64_t here[BLOCK], next[BLOCK], columns[BLOCK];
    uint32_t print[BLOCK];
};

static inline void put_spot(struct ribbon_block *block, size_t i, struct spot spot) {
    block->words[i] = spot.words;
    block->here[i] = spot.here;
    block->next[i] = spot.next;
    block->columns[i] = spot.columns;
    block->print[i] = spot.print;
}

/* Finds the spot of a key that the first level has bumped. */
static void find_further(const struct array *array, struct ribbon_block *block, size_t i) {
    put_spot(block, i, spot_from(array, block->key[i], 1));
}

/* A template: each instruction set brings differs(), which looks at the columns of one key, and
 * ribbon_batch.h makes the operations. */
#define FOR_SCALAR "kind/ribbon/ribbon_scalar.h"
#define FOR_AVX2   "kind/ribbon/ribbon_avx2.h"
#define FOR_AVX512 "kind/ribbon/ribbon_avx512.h"
#define TARGET_512 TARGET_AVX512_POPCOUNT
#define TEMPLATE   "kind/ribbon/ribbon_batch.h"
#include "base/each_isa.h"

/* The operations for keys of at most `most` columns, which makes no difference in plain C. */
#define RIBBON_OPS(table, target, isa, most, contains_name, contains_many_name)                                        \
    target static int contains_name(const struct array *a, struct digest digest) {                                     \
        struct spot spot = spot_from(a, digest.first, 0);                                                              \
        return !differs_##isa(spot.words, spot.here, spot.next, spot.columns, spot.print, most);                       \
    }                                                                                                                  \
    target static void contains_many_name(const struct array *a, const uint64_t *digests, size_t n, uint8_t *answers,  \
                                          const char *ahead) {                                                         \
        query_many_##isa(a, digests, n, answers, ahead, most);                                                         \
    }                                                                                                                  \
    static const struct kind_ops table = {                                                                             \
        BASIC_OPS(parts_add, contains_name, parts_add_many, contains_many_name, ribbon_prefetch)};

RIBBON_OPS(ribbon_ops_scalar, , scalar, RIBBON_COLUMNS_MAX, ribbon_contains_scalar, ribbon_contains_many_scalar)
#if defined(__x86_64__)
RIBBON_OPS(ribbon_ops_8_avx2, TARGET_AVX2, avx2, 8, ribbon_contains_8_avx2, ribbon_contains_many_8_avx2)
RIBBON_OPS(ribbon_ops_16_avx2, TARGET_AVX2, avx2, 16, ribbon_contains_16_avx2, ribbon_contains_many_16_avx2)
RIBBON_OPS(ribbon_ops_32_avx2, TARGET_AVX2, avx2, 32, ribbon_contains_32_avx2, ribbon_contains_many_32_avx2)
RIBBON_OPS(ribbon_ops_8_avx512, TARGET_AVX512_POPCOUNT, avx512, 8, ribbon_contains_8_avx512,
           ribbon_contains_many_8_avx512)
RIBBON_OPS(ribbon_ops_16_avx512, TARGET_AVX512_POPCOUNT, avx512, 16, ribbon_contains_16_avx512,
           ribbon_contains_many_16_avx512)
RIBBON_OPS(ribbon_ops_32_avx512, TARGET_AVX512_POPCOUNT, avx512, 32, ribbon_contains_32_avx512,
           ribbon_contains_many_32_avx512)
#endif

static const struct kind_ops *ops(const uint64_t layout[LAYOUT_WORDS], enum isa isa, bool shared) {
    (void)layout, (void)isa, (void)shared;
#if defined(__x86_64__)
    unsigned columns = ribbon_columns_max(layout), shape = columns <= 8 ? 0 : columns <= 16 ? 1 : 2;
    static const struct kind_ops *const avx2[3] = {&ribbon_ops_8_avx2, &ribbon_ops_16_avx2, &ribbon_ops_32_avx2};
    static const struct kind_ops *const avx512[3] = {&ribbon_ops_8_avx512, &ribbon_ops_16_avx512,
                                                     &ribbon_ops_32_avx512};
    if (isa == ISA_AVX512 && isa_counts_bits(isa)) return avx512[shape];
    if (isa == ISA_AVX512 || isa == ISA_AVX2) return avx2[shape];
#endif
    return &ribbon_ops_scalar;
}

static const struct solver solver = {
    .entry_words = RIBBON_ENTRY_WORDS,
    .settle = BEYOND_QUERIES(ribbon_settle),
    .room = BEYOND_QUERIES(ribbon_room),
    .solve = BEYOND_QUERIES(ribbon_solve),
    .guide_bytes = guide_bytes,
    .guide = guide,
};

#include "kind/ribbon/ribbon_trace.h"

const struct kind kind_ribbon = {
    .row = {PERHAPS_RIBBON, 0, "ribbon",
            "bumped ribbon filter: static, the smallest for large sets; slower to build than fuse"},
    .hashing = {.hash = PERHAPS_XXH3, .words = 1},
    .words = {.name = {"bits of parts", "words of data", "columns"}},
    .payload_bytes = payload_bytes,
    .ops = ops,
    .model = &model_ribbon,
    .solver = &solver,
    .trace = BEYOND_QUERIES(ribbon_trace),
};
