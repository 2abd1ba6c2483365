/*
 * The classic Bloom filter (B. Bloom, "Space/time trade-offs in hash coding with allowable errors", 1970).
 *
 * Idea: an array of m bits, all zero. Adding a key sets k of them, at places that follow from its digest. A key
 * whose k bits are all set was perhaps added; one with a zero bit definitely was not.
 *
 *     digest ──▶ k fresh mixes ──▶ k bit positions 0..m-1
 *
 *          0 1 2 3 4 5 6 7 8 9 ...                    m-1
 *         ┌─┬─┬─┬─┬─┬─┬─┬─┬─┬─┬─────────────────────┬─┬─┐
 *         │0│1│0│0│1│0│0│0│1│0│         ...         │1│0│   padded with zeros to whole 64-bit words
 *         └─┴─┴─┴─┴─┴─┴─┴─┴─┴─┴─────────────────────┴─┴─┘
 *
 * Example: a million keys at 1 % take k = 7 and 9.59 million bits; half of the bits are then set, so a stranger's
 * seven bits are all set with a chance of about 0.52^7 = 1 %.
 *
 * Cost: k cache lines a question. Layout: m, k. Probes and batches stand in probes.h.
 *
 * Invariants
 *   I1  1 <= m, 1 <= k <= 64, and the payload has exactly ceil(m/64) words.
 *   I2  bits m and above are zero.
 *   I3  every key that was added has all its k bits set.
 */
#include "kind/kind.h"
#include "base/bits.h"

enum { CELL_SHIFT = 3 };

static inline unsigned cell_used(const uint8_t *bytes, uint64_t i, bool shared) {
    return shared ? shared_bit_get(bytes, i) : bit_get(bytes, i);
}

static inline unsigned cell_mark(uint8_t *bytes, uint64_t i, bool shared) {
    if (shared) return !shared_bit_set(bytes, i);
    unsigned had = bit_get(bytes, i);
    bit_set(bytes, i);
    return had;
}

#include "kind/bloom/bloom_batch.h"

static uint64_t payload_bytes(const uint64_t layout[LAYOUT_WORDS], const char **reason) {
    *reason = "number of bits out of range";
    if (layout[CELLS] == 0 || layout[CELLS] > UINT64_MAX - 63) return 0;
    return hashes_fit(layout, reason) ? (layout[CELLS] + 63) / 64 * 8 : 0;
}

/* `one` makes the operations on single keys, `many` those on batches. */
#define OPS(one, many)                                                                                                 \
    {                                                                                                                  \
        .add = add_##one, .contains = contains_##one, .add_many = add_many_##many,                                     \
        .contains_many = contains_many_##many, .fetch = fetch                                                          \
    }

static const struct kind_ops *ops(const uint64_t layout[LAYOUT_WORDS], enum isa isa, bool shared) {
    static const struct kind_ops plain[2] = {OPS(alone, alone), OPS(shared, shared)};
    (void)layout;
#if defined(__x86_64__)
    static const struct kind_ops avx512[2] = {OPS(alone, alone_avx512), OPS(shared, shared_avx512)};
    if (isa == ISA_AVX512) return &avx512[shared];
#endif
    (void)isa;
    return &plain[shared];
}

extern const struct model model_bloom;

const struct kind kind_bloom = {
    .row = {PERHAPS_BLOOM, PERHAPS_ADD | PERHAPS_MERGE | PERHAPS_INTERSECT | PERHAPS_IN_PLACE, "bloom",
            "classic Bloom filter: k bits anywhere; small, and any rate"},
    .hashing = {.hash = PERHAPS_XXH3, .words = 1},
    .words = {.name = {"bits", "hashes"}},
    .payload_bytes = payload_bytes,
    .ops = ops,
    .lock_free = true,
    .model = &model_bloom,
    .combinable = &combinable_bits,
};
