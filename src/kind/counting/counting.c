/*
 * The counting Bloom filter (L. Fan, P. Cao, J. Almeida, A. Broder, "Summary cache", 1998).
 *
 * Idea: a Bloom filter that can forget. In place of each bit stands a counter of four bits: adding
 * a key adds one to each of its k counters, removing it takes one away, and a key with a zero among
 * its k is definitely not there.
 *
 *     digest ──▶ k places as in bloom.c ──▶ k counters 0..m-1, two in a byte, sixteen in a word
 *
 *           0    1    2    3    4    5                m-1
 *         ┌────┬────┬────┬────┬────┬────┬───────────┬────┐
 *         │ 0  │ 2  │ 0  │ 15 │ 1  │ 0  │    ...    │ 1  │   padded with zeros to 64-bit words
 *         └────┴────┴────┴────┴────┴────┴───────────┴────┘
 *                          └ stuck: 15 or more, forever
 *
 * Example: a million keys at 1 % take k = 7 and 9.59 million counters, which are 38.4 bits per key.
 * The counters are on average 0.73; that any of them all reaches 15 with different keys has a
 * chance of one in thirty million. Fifteen copies of one key do it.
 *
 * A counter that has reached 15 no longer knows how far it would have gone, so it never goes down
 * again. That costs false positives when its keys are removed, but never a false negative.
 *
 * It is a multiset: each add wants its remove. There are at most as many copies of a key as the
 * smallest of its counters says, if that is not 15.
 *
 * Cost: k cache lines a query. Layout: m, k. Probes and batches stand in bloom_batch.h.
 *
 * Invariants
 *   I1  1 <= m, 1 <= k <= 64, and the payload has exactly ceil(m/16) words.
 *   I2  counters m and above are zero.
 *   I3  a counter below 15 is the number of probes of all copies in the filter that fall on it (a
 *       key with two probes there counts twice), as long as only keys are removed that were added.
 *   I4  a counter at 15 has been there since it got there.
 */
#include "kind/counting/counting_layout.h"
#include "kind/counting/counting_cells.h"

#define PROBE_CELL_SHIFT 1

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

#include "kind/bloom/bloom_probes.h"

static uint64_t payload_bytes(const uint64_t layout[LAYOUT_WORDS], const char **reason) {
    *reason = "a number of counters out of range";
    if (layout[COUNTING_COUNTERS] == 0 || layout[COUNTING_COUNTERS] > UINT64_MAX - 15) return 0;
    return hashes_fit(layout, reason) ? (layout[COUNTING_COUNTERS] + 15) / 16 * 8 : 0;
}

/* The caller removes a key only as often as it was added. With several threads too: two that remove
 * the same last copy at the same time may both find it. */
INLINE int remove_copy(struct array *array, struct digest digest, bool shared) {
    struct digest state = probe_begin(digest);
    if (!test_key(array, digest, shared)) return 0;
    for (uint64_t i = 0; i < array->layout[COUNTING_HASHES]; i++)
        cell_unmark(array->bytes, probe(array, &state, i), shared);
    return 1;
}

INLINE uint64_t count_copies(const struct array *array, struct digest digest, bool shared) {
    struct digest state = probe_begin(digest);
    unsigned least = COUNTER_STUCK;
    for (uint64_t i = 0; i < array->layout[COUNTING_HASHES] && least; i++) {
        unsigned here = cell_get(array->bytes, probe(array, &state, i), shared);
        if (here < least) least = here;
    }
    return least;
}

#define COUNTING_COPIES(remove_name, count_name, shared)                                                               \
    static int remove_name(struct array *array, struct digest digest) {                                                \
        return remove_copy(array, digest, shared);                                                                     \
    }                                                                                                                  \
    static uint64_t count_name(const struct array *array, struct digest digest) {                                      \
        return count_copies(array, digest, shared);                                                                    \
    }

COUNTING_COPIES(counting_remove, counting_count, false)
COUNTING_COPIES(counting_remove_shared, counting_count_shared, true)
PROBE_PREFETCH(counting_prefetch)
PROBE_SINGLES(counting_add, counting_contains, false)
PROBE_SINGLES(counting_add_shared, counting_contains_shared, true)
PROBE_BATCHES(counting_add_many, counting_contains_many, false)
PROBE_BATCHES(counting_add_many_shared, counting_contains_many_shared, true)

static bool merge(struct array *into, const struct array *from) {
    counters_merge(into->bytes, from->bytes, into->length);
    return true;
}

static const struct kind_ops *ops(const uint64_t layout[LAYOUT_WORDS], enum isa isa, bool shared) {
    static const struct kind_ops by_shared[2] = {
        {BASIC_OPS(counting_add, counting_contains, counting_add_many, counting_contains_many, counting_prefetch),
         .remove = counting_remove, .count = counting_count},
        {BASIC_OPS(counting_add_shared, counting_contains_shared, counting_add_many_shared,
                   counting_contains_many_shared, counting_prefetch),
         .remove = counting_remove_shared, .count = counting_count_shared}};
    (void)layout, (void)isa;
    return &by_shared[shared];
}

static const struct combinable combinable = {.combine = {merge}};

#include "kind/counting/counting_trace.h"

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
    .trace = counting_trace,
    .cells = counting_cells,
    .cell = "counter",
};
