/*
 * The classic Bloom filter (B. Bloom, "Space/time trade-offs in hash coding with allowable errors",
 * 1970).
 *
 * Idea: an array of m bits, all zero. Adding a key sets k of them, at places that follow from its
 * digest. A key whose k bits are all set was perhaps added; one with a zero bit definitely was not.
 *
 *     digest ──▶ k words, each a product of the one before ──▶ k bit positions 0..m-1
 *
 *          0 1 2 3 4 5 6 7 8 9 ...                    m-1
 *         ┌─┬─┬─┬─┬─┬─┬─┬─┬─┬─┬─────────────────────┬─┬─┐
 *         │0│1│0│0│1│0│0│0│1│0│         ...         │1│0│   padded with zeros to whole 64-bit words
 *         └─┴─┴─┴─┴─┴─┴─┴─┴─┴─┴─────────────────────┴─┴─┘
 *
 * Example: a million keys at 1 % take k = 7 and 9.59 million bits; half of the bits are then set,
 * so a non-member's seven bits are all set with a chance of about 0.52^7 = 1 %.
 *
 * Cost: k cache lines a query. Layout: m, k. Probes and batches stand in bloom_batch.h.
 *
 * Invariants
 *   I1  1 <= m, 1 <= k <= 64, and the payload has exactly ceil(m/64) words.
 *   I2  bits m and above are zero.
 *   I3  every key that was added has all its k bits set.
 */
#include "kind/bloom/bloom_layout.h"
#include "base/bits.h"
#include "perhaps_inline.h"

#define PROBE_CELL_SHIFT 3

static inline unsigned cell_used(const uint8_t *bytes, uint64_t i, bool shared) {
    return shared ? shared_bit_get(bytes, i) : bit_get(bytes, i);
}

static inline unsigned cell_mark(uint8_t *bytes, uint64_t i, bool shared) {
    if (shared) return !shared_bit_set(bytes, i);
    unsigned had = bit_get(bytes, i);
    bit_set(bytes, i);
    return had;
}

#include "kind/bloom/bloom_probes.h"

static uint64_t payload_bytes(const uint64_t layout[LAYOUT_WORDS], const char **reason) {
    *reason = "a number of bits out of range";
    if (layout[BLOOM_CELLS] == 0 || layout[BLOOM_CELLS] > UINT64_MAX - 63) return 0;
    return hashes_fit(layout, reason) ? (layout[BLOOM_CELLS] + 63) / 64 * 8 : 0;
}

PROBE_PREFETCH(bloom_prefetch)
PROBE_SINGLES(bloom_add, bloom_contains, false)
PROBE_SINGLES(bloom_add_shared, bloom_contains_shared, true)
PROBE_BATCHES(bloom_add_many, bloom_contains_many, false)
PROBE_BATCHES(bloom_add_many_shared, bloom_contains_many_shared, true)

static const struct kind_ops *ops(const uint64_t layout[LAYOUT_WORDS], enum isa isa, bool shared) {
    static const struct kind_ops by_shared[2] = {
        {BASIC_OPS(bloom_add, bloom_contains, bloom_add_many, bloom_contains_many, bloom_prefetch)},
        {BASIC_OPS(bloom_add_shared, bloom_contains_shared, bloom_add_many_shared, bloom_contains_many_shared,
                   bloom_prefetch)}};
    (void)layout, (void)isa;
    return &by_shared[shared];
}

static void view(const struct array *array, perhaps_view *view) {
    view->form = PERHAPS_VIEW_BLOOM;
    view->cells = array->layout[BLOOM_CELLS];
    view->hashes = (unsigned)array->layout[BLOOM_HASHES];
    view->test_all = tests_all(array);
}

#include "kind/bloom/bloom_trace.h"

const struct kind kind_bloom = {
    .row = {PERHAPS_BLOOM, PERHAPS_ADD | PERHAPS_MERGE | PERHAPS_INTERSECT | PERHAPS_IN_PLACE, "bloom",
            "classic Bloom filter: k bits anywhere; small, and any rate"},
    .hashing = {.hash = PERHAPS_XXH3, .words = 1},
    .words = {.name = {"bits", "hashes"}},
    .payload_bytes = payload_bytes,
    .ops = ops,
    .lock_free = true,
    .model = &model_bloom,
    .combinable = BEYOND_QUERIES(&combinable_bits),
    .view = BEYOND_QUERIES(view),
    .trace = BEYOND_QUERIES(probe_trace),
    .cells = BEYOND_QUERIES(probe_cells),
};
