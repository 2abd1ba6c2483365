/*
 * The counting Bloom filter (L. Fan, P. Cao, J. Almeida, A. Broder, "Summary cache", 1998).
 *
 * Idea: a Bloom filter that can forget. In place of each bit stands a counter of four bits: adding a key adds one to
 * each of its k counters, removing it takes one away, and a key with a zero among its k is definitely not there.
 *
 *     digest ──▶ k fresh mixes ──▶ k counters 0..m-1, two in a byte, sixteen in a word
 *
 *           0    1    2    3    4    5                m-1
 *         ┌────┬────┬────┬────┬────┬────┬───────────┬────┐
 *         │ 0  │ 2  │ 0  │ 15 │ 1  │ 0  │    ...    │ 1  │   padded with zeros to whole 64-bit words
 *         └────┴────┴────┴────┴────┴────┴───────────┴────┘
 *                          └ stuck: 15 or more, for ever
 *
 * Example: a million keys at 1 % take k = 7 and 9.59 million counters, which are 38.4 bits a key. The counters are on
 * average 0.73; that any of them all reaches 15 with different keys has a chance of one in thirty million. Fifteen
 * copies of one key do it.
 *
 * A counter that has reached 15 no longer knows how far it would have gone, so it never goes down again. That costs
 * false positives when its keys are removed, but never a false negative.
 *
 * It is a multiset: each add wants its remove. There are at most as many copies of a key as the smallest of its
 * counters says, if that is not 15.
 *
 * Cost: k cache lines a question. Layout: m, k. Probes and batches stand in probes.h.
 *
 * Invariants
 *   I1  1 <= m, 1 <= k <= 64, and the payload has exactly ceil(m/16) words.
 *   I2  counters m and above are zero.
 *   I3  a counter below 15 is the number of probes of all copies in the filter that fall on it (a key with two probes
 *       there counts twice), as long as only keys are removed that were added.
 *   I4  a counter at 15 has been there since it got there.
 */
#include "kind/kind.h"
#include "kind/counting/counting_cells.h"

enum { CELL_SHIFT = 1 };

static inline unsigned cell_get(const uint8_t *bytes, uint64_t i, bool shared) {
    return shared ? shared_counter_get(bytes, i) : counter_get(bytes, i);
}

static inline unsigned cell_used(const uint8_t *bytes, uint64_t i, bool shared) {
    return cell_get(bytes, i, shared) != 0;
}

/* Every copy counts, so it is never there already. */
static inline unsigned cell_mark(uint8_t *bytes, uint64_t i, bool shared) {
    if (shared)
        shared_counter_up(bytes, i);
    else
        counter_up(bytes, i);
    return 0;
}

static inline void cell_unmark(uint8_t *bytes, uint64_t i, bool shared) {
    if (shared)
        shared_counter_down(bytes, i);
    else
        counter_down(bytes, i);
}

#include "kind/bloom/bloom_batch.h"

static uint64_t payload_bytes(const uint64_t layout[LAYOUT_WORDS], const char **reason) {
    *reason = "number of counters out of range";
    if (layout[CELLS] == 0 || layout[CELLS] > UINT64_MAX - 15) return 0;
    return hashes_fit(layout, reason) ? (layout[CELLS] + 15) / 16 * 8 : 0;
}

/* Each add wants its remove, in many threads as in one: two that take out the same last copy at the same time may both
 * find it there, as if there had been two. */
INLINE int remove_copy(struct array *array, struct digest digest, bool shared) {
    if (!contains(array, digest, shared)) return 0;
    for (uint64_t i = 0; i < array->layout[HASHES]; i++)
        cell_unmark(array->bytes, probe(digest.first, i, array->layout[CELLS]), shared);
    return 1;
}

INLINE uint64_t count(const struct array *array, struct digest digest, bool shared) {
    unsigned least = COUNTER_STUCK;
    for (uint64_t i = 0; i < array->layout[HASHES] && least; i++) {
        unsigned here = cell_get(array->bytes, probe(digest.first, i, array->layout[CELLS]), shared);
        if (here < least) least = here;
    }
    return least;
}

#define COPIES(name, shared)                                                                                           \
    static int remove_##name(struct array *array, struct digest digest) {                                              \
        return remove_copy(array, digest, shared);                                                                     \
    }                                                                                                                  \
    static uint64_t count_##name(const struct array *array, struct digest digest) {                                    \
        return count(array, digest, shared);                                                                           \
    }

COPIES(alone, false)
COPIES(shared, true)

static bool merge(struct array *into, const struct array *from) {
    counters_merge(into->bytes, from->bytes, into->length);
    return true;
}

/* `one` makes the operations on single keys, `many` those on batches. */
#define OPS(one, many)                                                                                                 \
    {                                                                                                                  \
        .add = add_##one, .contains = contains_##one, .add_many = add_many_##many,                                     \
        .contains_many = contains_many_##many, .remove = remove_##one, .count = count_##one, .fetch = fetch            \
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

extern const struct model model_counting;

static const struct combinable combinable = {.combine = {merge}};

const struct kind kind_counting = {
    .row = {PERHAPS_COUNTING, PERHAPS_ADD | PERHAPS_REMOVE | PERHAPS_COUNT | PERHAPS_MERGE | PERHAPS_IN_PLACE,
            "counting", "Bloom filter of 4-bit counters: keys can be removed; four times the size"},
    .hashing = {.hash = PERHAPS_XXH3, .words = 1},
    .words = {.name = {"counters", "hashes"}},
    .payload_bytes = payload_bytes,
    .ops = ops,
    .lock_free = true,
    .model = &model_counting,
    .combinable = &combinable,
};
