/*
 * A Bloom filter in cache lines (Putze, Sanders, Singler, "Cache-, hash- and space-efficient Bloom
 * filters", 2007; the lanes are those of the split-block filters of Impala and Parquet, twice as
 * wide).
 *
 * Idea: the digest picks one 512-bit line, and one bit (or two) in each of its eight 64-bit lanes.
 * A query then costs one memory access and a handful of vector instructions, whatever the answer.
 * Small rates use two lines.
 *
 *     digest ─┬────────▶ line 0..lines-1
 *             └─ × odd ▶ 8 × 6 bits: a bit in each lane
 *
 *              lane 0      lane 1           lane 7
 *            ┌───────────┬───────────┬────┬───────────┐
 *     line   │ 64 bits   │ 64 bits   │ .. │ 64 bits   │   64 bytes, eight little-endian words
 *            └─────1─────┴──1────────┴────┴────────1──┘
 *
 * With two lines a key, the first lies in the first half of the array and the second in the second
 * half: they never coincide, and their loads are independent.
 *
 * Example: a million keys at 1 % take 19,726 lines, 10.1 bits per key. A line then holds 50.7 keys
 * on average, but some hold 30 and some 75: the rate is the mean over that mixture, which is why
 * the classic formula does not apply here (it would promise 0.8 %).
 *
 * Cost: one cache line a query (or two). Layout: lines, bits per line, lines per key.
 *
 * Invariants
 *   I1  bits per line is 8 or 16; lines per key is 1 or 2; lines is a positive multiple of lines
 *       per key, below 2^32.
 *   I2  every key that was added has its bits set in all its lines.
 */
#include "kind/blocked/blocked_layout.h"
#include "base/arith.h"
#include "base/bits.h"
#include "base/target.h"
#include "perhaps_inline.h"

/* How a batch prefetches cache lines. HERE: the array is a small part of the second-level cache;
 * the processor does it. NEAR: it just fits; from there into the first-level cache. FAR: into the
 * second-level cache, which can wait for more cache lines at a time. A processor may drop
 * prefetches when many are under way, so each line is prefetched once more, SOON before its key
 * comes (docs/choices.md has the measurements). Distances are in keys. */
enum reach { HERE, NEAR, FAR };
enum { NEAR_DISTANCE = 24, FAR_DISTANCE = 128, SOON = 8 };

static inline enum reach reach_of(const struct array *array) {
    if (!PREFETCHES) return HERE;
    if (!is_near(array)) return FAR;
    return array->length <= array->near_bytes / 2 ? HERE : NEAR;
}

enum { PART = 1024 }; /* keys of a batch whose lines are found at a time */

static uint64_t payload_bytes(const uint64_t layout[LAYOUT_WORDS], const char **reason) {
    if (layout[BLOCKED_BITS_PER_LINE] != 8 && layout[BLOCKED_BITS_PER_LINE] != 16) {
        *reason = "bits per line that are neither 8 nor 16";
        return 0;
    }
    if (layout[BLOCKED_LINES_PER_KEY] != 1 && layout[BLOCKED_LINES_PER_KEY] != 2) {
        *reason = "lines per key that are neither 1 nor 2";
        return 0;
    }
    if (layout[BLOCKED_LINES] == 0 || layout[BLOCKED_LINES] > UINT32_MAX ||
        layout[BLOCKED_LINES] % layout[BLOCKED_LINES_PER_KEY]) {
        *reason = "a number of lines out of range";
        return 0;
    }
    return layout[BLOCKED_LINES] * BLOCKED_LINE_BYTES;
}

/* Each use takes another function of the digest: the digest itself picks the first line, and
 * five odd multipliers (from the fractions of the square roots of 3, 5, 7, 11 and 13) give what
 * else is needed. Digests are uniform, and only the upper bits of the products are used, so a
 * multiplication is mix enough. */
static const uint64_t multiplier[6] = {
    1, PERHAPS_VIEW_LANES_1, PERHAPS_VIEW_LANES_2, PERHAPS_VIEW_PAIR, PERHAPS_VIEW_PAIR_1, PERHAPS_VIEW_PAIR_2};

/* What picks the line of a digest: mul_high of it and the number of lines. `which` is 0 or 1, the
 * first or second line of the key. */
static inline uint64_t line_hash(uint64_t digest, int which) {
    return digest * multiplier[3 * which];
}

/* Which bit of each lane: bits 16 and up of this word, six for each. `second` is for the second bit
 * of each lane. */
static inline uint64_t lanes_of(uint64_t digest, int which, int second) {
    return digest * multiplier[3 * which + 1 + second];
}

/* What an operation does to the cache lines of a key. Other threads may add to shared ones at the
 * same time.
 *
 * A query reads with plain loads, vectors of 16 to 64 bytes, also while other threads set bits. The
 * language calls that a race. Processors read each byte as it was at some moment, and a bit that is
 * set stays set, so that the answer is one that was right before or after the other thread's add
 * (tests/tsan.supp). */
enum task { QUERY, ADD, ADD_SHARED };

static uint64_t blocked_line(const struct array *array, uint64_t digest) {
    return mul_high(line_hash(digest, 0), array->layout[BLOCKED_LINES]);
}

/* Where a line is: the second ones have the second half of the array. */
static inline __attribute__((always_inline)) uint8_t *place_of(const struct array *array, uint64_t line, int which) {
    return array->bytes + line * BLOCKED_LINE_BYTES + (which ? array->length / 2 : 0);
}

/* Into the second-level cache. */
static void blocked_prefetch(const struct array *array, struct digest digest) {
    int pair = array->layout[BLOCKED_LINES_PER_KEY] == 2;
    for (int which = 0; which <= pair; which++) {
        uint64_t line = mul_high(line_hash(digest.first, which), array->layout[BLOCKED_LINES] >> pair);
        __builtin_prefetch(place_of(array, line, which), 0, 2);
    }
}

/* The cache lines of a span, prefetched at a steady rate during a query of n keys. */
struct blocked_sweep {
    const uint8_t *at;
    size_t step;
};

static struct blocked_sweep sweep_over(const struct array *array, const struct span *span, size_t n) {
    uint64_t from = blocked_line(array, span->first), to = blocked_line(array, span->last) + 1;
    return (struct blocked_sweep){array->bytes + from * BLOCKED_LINE_BYTES,
                                  (size_t)((to - from) * BLOCKED_LINE_BYTES / n + 1)};
}

/* A template: each instruction set brings lacks() and put() for a line, and blocked_batch.h makes
 * the operations of them. */
#define FOR_SCALAR "kind/blocked/blocked_scalar.h"
#define FOR_AVX2   "kind/blocked/blocked_avx2.h"
#define FOR_AVX512 "kind/blocked/blocked_avx512.h"
#define FOR_NEON   "kind/blocked/blocked_neon.h"
#define FOR_WASM   "kind/blocked/blocked_wasm.h"
#define TEMPLATE   "kind/blocked/blocked_batch.h"
#include "base/each_isa.h"

/* The operations of one shape for one instruction set. Queries are the same for one thread and for
 * many. `single` is the instruction set for a query that comes alone: with 512 bits, what runs in
 * between takes longer (docs/choices.md). */
#define BLOCKED_OPS(table, target, isa, single, two, pair, line_name, any_name, add_name, add_shared_name,             \
                    add_many_name, add_many_shared_name, contains_name, contains_unmixed_name, contains_many_name)     \
    target static int add_name(struct array *a, struct digest digest) {                                                \
        return one_##isa(a, digest.first, two, pair, ADD);                                                             \
    }                                                                                                                  \
    target static int add_shared_name(struct array *a, struct digest digest) {                                         \
        return one_##isa(a, digest.first, two, pair, ADD_SHARED);                                                      \
    }                                                                                                                  \
    target static size_t add_many_name(struct array *a, const uint64_t *digests, size_t n, uint8_t *answers,           \
                                       const char *ahead) {                                                            \
        many_within_##isa(a, digests, n, answers, ahead, two, pair, ADD);                                              \
        return n;                                                                                                      \
    }                                                                                                                  \
    target static size_t add_many_shared_name(struct array *a, const uint64_t *digests, size_t n, uint8_t *answers,    \
                                              const char *ahead) {                                                     \
        many_within_##isa(a, digests, n, answers, ahead, two, pair, ADD_SHARED);                                       \
        return n;                                                                                                      \
    }                                                                                                                  \
    target static int contains_name(const struct array *a, struct digest digest) {                                     \
        return one_##single(a, digest.first, two, pair, QUERY);                                                        \
    }                                                                                                                  \
    target static int contains_unmixed_name(const struct array *a, uint64_t key) {                                     \
        return one_##isa(a, mix64(key), two, pair, QUERY);                                                             \
    }                                                                                                                  \
    target static void contains_many_name(const struct array *a, const uint64_t *digests, size_t n, uint8_t *answers,  \
                                          const char *ahead) {                                                         \
        many_within_##isa(a, digests, n, answers, ahead, two, pair, QUERY);                                            \
    }                                                                                                                  \
    static const struct batch_ops table##_batch = {                                                                    \
        .contains_any = any_name, .cache_line = line_name, .contains_unmixed = contains_unmixed_name};                 \
    static const struct kind_ops table[2] = {                                                                          \
        {BASIC_OPS(add_name, contains_name, add_many_name, contains_many_name, blocked_prefetch),                      \
         .batch = &table##_batch},                                                                                     \
        {BASIC_OPS(add_shared_name, contains_name, add_many_shared_name, contains_many_name, blocked_prefetch),        \
         .batch = &table##_batch}};
#define BLOCKED_ANY(any_name, target, isa, two)                                                                        \
    target static void any_name(const struct array *const arrays[ARRAYS_AT_ONCE], const uint64_t *digests, size_t n,   \
                                uint8_t *answers, const struct span *next) {                                           \
        query_any_##isa(arrays, digests, n, answers, next, two);                                                       \
    }

BLOCKED_ANY(blocked_contains_any_8x1_scalar, , scalar, 0)
BLOCKED_ANY(blocked_contains_any_16x1_scalar, , scalar, 1)
BLOCKED_OPS(blocked_ops_8x1_scalar, , scalar, scalar, 0, 0, blocked_line, blocked_contains_any_8x1_scalar,
            blocked_add_8x1_scalar, blocked_add_shared_8x1_scalar, blocked_add_many_8x1_scalar,
            blocked_add_many_shared_8x1_scalar, blocked_contains_8x1_scalar, blocked_contains_unmixed_8x1_scalar,
            blocked_contains_many_8x1_scalar)
BLOCKED_OPS(blocked_ops_16x1_scalar, , scalar, scalar, 1, 0, blocked_line, blocked_contains_any_16x1_scalar,
            blocked_add_16x1_scalar, blocked_add_shared_16x1_scalar, blocked_add_many_16x1_scalar,
            blocked_add_many_shared_16x1_scalar, blocked_contains_16x1_scalar, blocked_contains_unmixed_16x1_scalar,
            blocked_contains_many_16x1_scalar)
BLOCKED_OPS(blocked_ops_8x2_scalar, , scalar, scalar, 0, 1, NULL, NULL, blocked_add_8x2_scalar,
            blocked_add_shared_8x2_scalar, blocked_add_many_8x2_scalar, blocked_add_many_shared_8x2_scalar,
            blocked_contains_8x2_scalar, blocked_contains_unmixed_8x2_scalar, blocked_contains_many_8x2_scalar)
BLOCKED_OPS(blocked_ops_16x2_scalar, , scalar, scalar, 1, 1, NULL, NULL, blocked_add_16x2_scalar,
            blocked_add_shared_16x2_scalar, blocked_add_many_16x2_scalar, blocked_add_many_shared_16x2_scalar,
            blocked_contains_16x2_scalar, blocked_contains_unmixed_16x2_scalar, blocked_contains_many_16x2_scalar)
#if defined(__x86_64__)
BLOCKED_ANY(blocked_contains_any_8x1_avx2, TARGET_AVX2, avx2, 0)
BLOCKED_ANY(blocked_contains_any_16x1_avx2, TARGET_AVX2, avx2, 1)
BLOCKED_OPS(blocked_ops_8x1_avx2, TARGET_AVX2, avx2, avx2, 0, 0, blocked_line, blocked_contains_any_8x1_avx2,
            blocked_add_8x1_avx2, blocked_add_shared_8x1_avx2, blocked_add_many_8x1_avx2,
            blocked_add_many_shared_8x1_avx2, blocked_contains_8x1_avx2, blocked_contains_unmixed_8x1_avx2,
            blocked_contains_many_8x1_avx2)
BLOCKED_OPS(blocked_ops_16x1_avx2, TARGET_AVX2, avx2, avx2, 1, 0, blocked_line, blocked_contains_any_16x1_avx2,
            blocked_add_16x1_avx2, blocked_add_shared_16x1_avx2, blocked_add_many_16x1_avx2,
            blocked_add_many_shared_16x1_avx2, blocked_contains_16x1_avx2, blocked_contains_unmixed_16x1_avx2,
            blocked_contains_many_16x1_avx2)
BLOCKED_OPS(blocked_ops_8x2_avx2, TARGET_AVX2, avx2, avx2, 0, 1, NULL, NULL, blocked_add_8x2_avx2,
            blocked_add_shared_8x2_avx2, blocked_add_many_8x2_avx2, blocked_add_many_shared_8x2_avx2,
            blocked_contains_8x2_avx2, blocked_contains_unmixed_8x2_avx2, blocked_contains_many_8x2_avx2)
BLOCKED_OPS(blocked_ops_16x2_avx2, TARGET_AVX2, avx2, avx2, 1, 1, NULL, NULL, blocked_add_16x2_avx2,
            blocked_add_shared_16x2_avx2, blocked_add_many_16x2_avx2, blocked_add_many_shared_16x2_avx2,
            blocked_contains_16x2_avx2, blocked_contains_unmixed_16x2_avx2, blocked_contains_many_16x2_avx2)
BLOCKED_ANY(blocked_contains_any_8x1_avx512, TARGET_AVX512, avx512, 0)
BLOCKED_ANY(blocked_contains_any_16x1_avx512, TARGET_AVX512, avx512, 1)
BLOCKED_OPS(blocked_ops_8x1_avx512, TARGET_AVX512, avx512, avx2, 0, 0, blocked_line, blocked_contains_any_8x1_avx512,
            blocked_add_8x1_avx512, blocked_add_shared_8x1_avx512, blocked_add_many_8x1_avx512,
            blocked_add_many_shared_8x1_avx512, blocked_contains_8x1_avx512, blocked_contains_unmixed_8x1_avx512,
            blocked_contains_many_8x1_avx512)
BLOCKED_OPS(blocked_ops_16x1_avx512, TARGET_AVX512, avx512, avx2, 1, 0, blocked_line, blocked_contains_any_16x1_avx512,
            blocked_add_16x1_avx512, blocked_add_shared_16x1_avx512, blocked_add_many_16x1_avx512,
            blocked_add_many_shared_16x1_avx512, blocked_contains_16x1_avx512, blocked_contains_unmixed_16x1_avx512,
            blocked_contains_many_16x1_avx512)
BLOCKED_OPS(blocked_ops_8x2_avx512, TARGET_AVX512, avx512, avx2, 0, 1, NULL, NULL, blocked_add_8x2_avx512,
            blocked_add_shared_8x2_avx512, blocked_add_many_8x2_avx512, blocked_add_many_shared_8x2_avx512,
            blocked_contains_8x2_avx512, blocked_contains_unmixed_8x2_avx512, blocked_contains_many_8x2_avx512)
BLOCKED_OPS(blocked_ops_16x2_avx512, TARGET_AVX512, avx512, avx2, 1, 1, NULL, NULL, blocked_add_16x2_avx512,
            blocked_add_shared_16x2_avx512, blocked_add_many_16x2_avx512, blocked_add_many_shared_16x2_avx512,
            blocked_contains_16x2_avx512, blocked_contains_unmixed_16x2_avx512, blocked_contains_many_16x2_avx512)
#endif
#if defined(__aarch64__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
BLOCKED_ANY(blocked_contains_any_8x1_neon, , neon, 0)
BLOCKED_ANY(blocked_contains_any_16x1_neon, , neon, 1)
BLOCKED_OPS(blocked_ops_8x1_neon, , neon, neon, 0, 0, blocked_line, blocked_contains_any_8x1_neon, blocked_add_8x1_neon,
            blocked_add_shared_8x1_neon, blocked_add_many_8x1_neon, blocked_add_many_shared_8x1_neon,
            blocked_contains_8x1_neon, blocked_contains_unmixed_8x1_neon, blocked_contains_many_8x1_neon)
BLOCKED_OPS(blocked_ops_16x1_neon, , neon, neon, 1, 0, blocked_line, blocked_contains_any_16x1_neon,
            blocked_add_16x1_neon, blocked_add_shared_16x1_neon, blocked_add_many_16x1_neon,
            blocked_add_many_shared_16x1_neon, blocked_contains_16x1_neon, blocked_contains_unmixed_16x1_neon,
            blocked_contains_many_16x1_neon)
BLOCKED_OPS(blocked_ops_8x2_neon, , neon, neon, 0, 1, NULL, NULL, blocked_add_8x2_neon, blocked_add_shared_8x2_neon,
            blocked_add_many_8x2_neon, blocked_add_many_shared_8x2_neon, blocked_contains_8x2_neon,
            blocked_contains_unmixed_8x2_neon, blocked_contains_many_8x2_neon)
BLOCKED_OPS(blocked_ops_16x2_neon, , neon, neon, 1, 1, NULL, NULL, blocked_add_16x2_neon, blocked_add_shared_16x2_neon,
            blocked_add_many_16x2_neon, blocked_add_many_shared_16x2_neon, blocked_contains_16x2_neon,
            blocked_contains_unmixed_16x2_neon, blocked_contains_many_16x2_neon)
#endif
#if defined(__wasm_simd128__)
BLOCKED_ANY(blocked_contains_any_8x1_wasm, , wasm, 0)
BLOCKED_ANY(blocked_contains_any_16x1_wasm, , wasm, 1)
BLOCKED_OPS(blocked_ops_8x1_wasm, , wasm, wasm, 0, 0, blocked_line, blocked_contains_any_8x1_wasm, blocked_add_8x1_wasm,
            blocked_add_shared_8x1_wasm, blocked_add_many_8x1_wasm, blocked_add_many_shared_8x1_wasm,
            blocked_contains_8x1_wasm, blocked_contains_unmixed_8x1_wasm, blocked_contains_many_8x1_wasm)
BLOCKED_OPS(blocked_ops_16x1_wasm, , wasm, wasm, 1, 0, blocked_line, blocked_contains_any_16x1_wasm,
            blocked_add_16x1_wasm, blocked_add_shared_16x1_wasm, blocked_add_many_16x1_wasm,
            blocked_add_many_shared_16x1_wasm, blocked_contains_16x1_wasm, blocked_contains_unmixed_16x1_wasm,
            blocked_contains_many_16x1_wasm)
BLOCKED_OPS(blocked_ops_8x2_wasm, , wasm, wasm, 0, 1, NULL, NULL, blocked_add_8x2_wasm, blocked_add_shared_8x2_wasm,
            blocked_add_many_8x2_wasm, blocked_add_many_shared_8x2_wasm, blocked_contains_8x2_wasm,
            blocked_contains_unmixed_8x2_wasm, blocked_contains_many_8x2_wasm)
BLOCKED_OPS(blocked_ops_16x2_wasm, , wasm, wasm, 1, 1, NULL, NULL, blocked_add_16x2_wasm, blocked_add_shared_16x2_wasm,
            blocked_add_many_16x2_wasm, blocked_add_many_shared_16x2_wasm, blocked_contains_16x2_wasm,
            blocked_contains_unmixed_16x2_wasm, blocked_contains_many_16x2_wasm)
#endif

/* By bits per line, lines per key and `shared`. */
static const struct kind_ops *ops(const uint64_t layout[LAYOUT_WORDS], enum isa isa, bool shared) {
    int shape = (layout[BLOCKED_BITS_PER_LINE] == 16) + 2 * (layout[BLOCKED_LINES_PER_KEY] == 2);
    static const struct kind_ops *const scalar[4] = {blocked_ops_8x1_scalar, blocked_ops_16x1_scalar,
                                                     blocked_ops_8x2_scalar, blocked_ops_16x2_scalar};
    (void)isa;
#if defined(__x86_64__)
    static const struct kind_ops *const avx2[4] = {blocked_ops_8x1_avx2, blocked_ops_16x1_avx2, blocked_ops_8x2_avx2,
                                                   blocked_ops_16x2_avx2};
    static const struct kind_ops *const avx512[4] = {blocked_ops_8x1_avx512, blocked_ops_16x1_avx512,
                                                     blocked_ops_8x2_avx512, blocked_ops_16x2_avx512};
    if (isa == ISA_AVX512) return &avx512[shape][shared];
    if (isa == ISA_AVX2) return &avx2[shape][shared];
#endif
#if defined(__aarch64__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    static const struct kind_ops *const neon[4] = {blocked_ops_8x1_neon, blocked_ops_16x1_neon, blocked_ops_8x2_neon,
                                                   blocked_ops_16x2_neon};
    if (isa == ISA_NEON) return &neon[shape][shared];
#endif
#if defined(__wasm_simd128__)
    static const struct kind_ops *const wasm[4] = {blocked_ops_8x1_wasm, blocked_ops_16x1_wasm, blocked_ops_8x2_wasm,
                                                   blocked_ops_16x2_wasm};
    if (isa != ISA_SCALAR) return &wasm[shape][shared];
#endif
    return &scalar[shape][shared];
}

#include "kind/blocked/blocked_trace.h"

static void view(const struct array *array, perhaps_view *view) {
    bool two = array->layout[BLOCKED_BITS_PER_LINE] == 16, pair = array->layout[BLOCKED_LINES_PER_KEY] == 2;
    view->form = PERHAPS_VIEW_BLOCKED_8X1 + two + 2 * pair;
    view->cells = array->layout[BLOCKED_LINES] >> pair;
    view->second_half = array->length / 2;
}

const struct kind kind_blocked = {
    .row = {PERHAPS_BLOCKED, PERHAPS_ADD | PERHAPS_MERGE | PERHAPS_INTERSECT | PERHAPS_IN_PLACE, "blocked",
            "Bloom filter in cache lines: one or two memory accesses a key; the fastest"},
    .hashing = {.hash = PERHAPS_XXH3, .words = 1},
    .words = {.name = {"cache lines", "bits per cache line", "cache lines per key"}},
    .payload_bytes = payload_bytes,
    .ops = ops,
    .lock_free = true,
    .model = &model_blocked,
    .combinable = BEYOND_QUERIES(&combinable_bits),
    .view = BEYOND_QUERIES(view),
    .trace = BEYOND_QUERIES(blocked_trace),
};
