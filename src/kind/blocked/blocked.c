/*
 * A Bloom filter in cache lines (Putze, Sanders, Singler, "Cache-, hash- and space-efficient Bloom filters", 2007; the
 * lanes are those of the split-block filters of Impala and Parquet, twice as wide).
 *
 * Idea: the digest picks one 512-bit line, and one bit (or two) in each of its eight 64-bit lanes. A question then
 * costs one memory access and a handful of vector instructions, whatever the answer. Small rates use two lines.
 *
 *     digest ─┬────────▶ line 0..lines-1
 *             └─ × odd ▶ 8 × 6 bits: a bit in each lane
 *
 *              lane 0      lane 1           lane 7
 *            ┌───────────┬───────────┬────┬───────────┐
 *     line   │ 64 bits   │ 64 bits   │ .. │ 64 bits   │   64 bytes, eight little-endian words
 *            └─────1─────┴──1────────┴────┴────────1──┘
 *
 * With two lines a key, the first lies in the first half of the array and the second in the second half: they never
 * coincide, and their loads are independent.
 *
 * Example: a million keys at 1 % take 19,726 lines, 10.1 bits a key. A line then holds 50.7 keys on average, but some
 * hold 30 and some 75: the rate is the mean over that mixture, which is why the classic formula does not apply here
 * (it would promise 0.8 %).
 *
 * Cost: one cache line a question (or two). Layout: lines, bits per line, lines per key.
 *
 * Invariants
 *   I1  bits per line is 8 or 16; lines per key is 1 or 2; lines is a positive multiple of lines per key, below 2^32.
 *   I2  every key that was added has its bits set in all its lines.
 */
#include "kind/blocked/blocked_layout.h"
#include "base/arith.h"
#include "base/bits.h"

enum { LINES_AT_A_TIME = 8 };

/* How the lines of a batch come to the core. An array that is a small part of the second-level cache is left to the processor; one
 * that just fits is fetched from there into the first, NEAR_BLOCK keys before their turn; and a larger one into the second,
 * which can wait for more lines at a time than the first, BLOCK keys before. */
enum reach { HERE, NEAR, FAR };
enum { BLOCK = 64, NEAR_BLOCK = 24, HERE_BYTES = 512 << 10 };

static inline enum reach reach_of(const struct array *array) {
    if (!is_near(array)) return FAR;
    return array->length <= HERE_BYTES ? HERE : NEAR;
}

static uint64_t payload_bytes(const uint64_t layout[LAYOUT_WORDS], const char **reason) {
    if (layout[BLOCKED_BITS_PER_LINE] != 8 && layout[BLOCKED_BITS_PER_LINE] != 16) {
        *reason = "bits per line is neither 8 nor 16";
        return 0;
    }
    if (layout[BLOCKED_LINES_PER_KEY] != 1 && layout[BLOCKED_LINES_PER_KEY] != 2) {
        *reason = "lines per key is neither 1 nor 2";
        return 0;
    }
    if (layout[BLOCKED_LINES] == 0 || layout[BLOCKED_LINES] > UINT32_MAX ||
        layout[BLOCKED_LINES] % layout[BLOCKED_LINES_PER_KEY]) {
        *reason = "number of lines out of range";
        return 0;
    }
    return layout[BLOCKED_LINES] * BLOCKED_LINE_BYTES;
}

/* Each use takes a function of its own of the digest: the digest itself picks the first line, and five odd multipliers (from
 * the fractions of the square roots of 3, 5, 7, 11 and 13) give what else is needed. Digests are uniform, and only the
 * upper bits of the products are used, so a multiplication is mix enough. */
static const uint64_t multiplier[6] = {1,
                                       UINT64_C(0xBB67AE8584CAA73B),
                                       UINT64_C(0x3C6EF372FE94F82B),
                                       UINT64_C(0xA54FF53A5F1D36F1),
                                       UINT64_C(0x510E527FADE682D1),
                                       UINT64_C(0x9B05688C2B3E6C1F)};

/* What picks the line of a digest: mul_high of it and the number of lines. `which` is 0 or 1, the first or second line
 * of the key. */
static inline uint64_t line_hash(uint64_t digest, int which) {
    return digest * multiplier[3 * which];
}

/* Which bit of each lane: bits 16 and up of this word, six for each. `second` is for the second bit of each lane. */
static inline uint64_t lanes_of(uint64_t digest, int which, int second) {
    return digest * multiplier[3 * which + 1 + second];
}

/* What an operation does to the lines of a key; other threads may be adding to shared ones at the same time. */
enum task { ASK, ADD, ADD_SHARED };

/* What to read when asking for a line: the line itself. That other threads may be setting bits in it is a race in the
 * language's eyes, but not on machines, which read each byte as it was at some moment; and a bit, once set, stays. Only
 * where ThreadSanitizer looks on it is read byte by byte, into `copy`. */
static inline const uint8_t *to_read(const uint8_t *line, uint8_t copy[BLOCKED_LINE_BYTES]) {
    if (!RACES_ARE_REPORTED) return line;
    for (int i = 0; i < BLOCKED_LINE_BYTES; i++) copy[i] = __atomic_load_n(line + i, __ATOMIC_RELAXED);
    return copy;
}

static uint64_t line(const struct array *array, uint64_t digest) {
    return mul_high(line_hash(digest, 0), array->layout[BLOCKED_LINES]);
}

/* Into the second-level cache. */
static void fetch(const struct array *array, struct digest digest) {
    int pair = array->layout[BLOCKED_LINES_PER_KEY] == 2;
    for (int which = 0; which <= pair; which++) {
        uint64_t line = mul_high(line_hash(digest.first, which), array->layout[BLOCKED_LINES] >> pair);
        __builtin_prefetch(array->bytes + line * BLOCKED_LINE_BYTES + (which ? array->length / 2 : 0), 0, 2);
    }
}

/* Memory that is fetched evenly while n keys are asked for: the lines of a span. */
struct sweep {
    const uint8_t *at;
    size_t step;
};

static struct sweep sweep_over(const struct array *array, const struct span *span, size_t n) {
    uint64_t from = line(array, span->first), to = line(array, span->last) + 1;
    return (struct sweep){array->bytes + from * BLOCKED_LINE_BYTES, (size_t)((to - from) * BLOCKED_LINE_BYTES / n + 1)};
}

/* A template: each instruction set brings lacks() and put() for a line, and blocked.h makes the operations of them. */
#define FOR_SCALAR "kind/blocked/blocked_scalar.h"
#define FOR_AVX2   "kind/blocked/blocked_avx2.h"
#define FOR_AVX512 "kind/blocked/blocked_avx512.h"
#define FOR_NEON   "kind/blocked/blocked_neon.h"
#define TEMPLATE   "kind/blocked/blocked_batch.h"
#include "base/each_isa.h"

/* One of four shapes, for one instruction set, and for one thread or many. */
static const struct kind_ops *ops(const uint64_t layout[LAYOUT_WORDS], enum isa isa, bool shared) {
    int shape = (layout[BLOCKED_BITS_PER_LINE] == 16) + 2 * (layout[BLOCKED_LINES_PER_KEY] == 2);
#if defined(__x86_64__)
    if (isa == ISA_AVX512) return &ops_avx512[shared][shape];
    if (isa == ISA_AVX2) return &ops_avx2[shared][shape];
#endif
#if defined(__aarch64__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    if (isa == ISA_NEON) return &ops_neon[shared][shape];
#endif
    (void)isa;
    return &ops_scalar[shared][shape];
}

#include "kind/blocked/blocked_trace.h"

const struct kind kind_blocked = {
    .row = {PERHAPS_BLOCKED, PERHAPS_ADD | PERHAPS_MERGE | PERHAPS_INTERSECT | PERHAPS_IN_PLACE, "blocked",
            "Bloom filter in cache lines: one or two memory accesses a key; the fastest"},
    .hashing = {.hash = PERHAPS_XXH3, .words = 1},
    .words = {.name = {"cache lines", "bits per cache line", "cache lines per key"}},
    .payload_bytes = payload_bytes,
    .ops = ops,
    .lock_free = true,
    .model = &model_blocked,
    .combinable = &combinable_bits,
    .trace = blocked_trace,
};
