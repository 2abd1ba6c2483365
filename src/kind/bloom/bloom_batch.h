/*
 * Probes: the template of bloom, counting and the foreign formats that are classic Bloom filters.
 *
 * An array has m cells, and a key has k places in it. Adding a key marks its k cells. A key of
 * which a cell is empty was never added. Kinds differ in what a cell is, and in how places follow
 * from a digest:
 *
 *     digest ──▶ state ──▶ k words of 64 bits ──▶ k cells 0..m-1
 *
 * The first two words of the layout are m and k (bloom_layout.h). The file that includes this
 * defines first
 *
 *     probe_begin(digest)                the state in which the probing of a key begins
 *     probe_word(layout, &state, i)      word i, called in order; only state.first may change
 *     PROBE_WORDS                        words of a digest and of a state: 1 or 2
 *     PROBE_MODULO                       1: place = word modulo m; 0: upper half of word · m
 *     PROBE_FLIP                         what a place is XORed with at last
 *     PROBE_HASHES_MAX                   no k is larger
 *     PROBE_CELL_SHIFT                   2^PROBE_CELL_SHIFT cells are in a byte
 *     cell_used(bytes, i, shared)        1 if cell i is not empty, otherwise 0
 *     cell_mark(bytes, i, shared)        marks cell i; 1 if it was marked already
 *
 * `shared` says whether other threads change the array at the same time. It is a constant in each
 * caller.
 *
 * Of threads that add one key at the same time, at least one finds it new: one of them was the
 * first to mark a cell that was empty before, and cell_mark told it so. If other keys have marked
 * all of them, none does, as happens to a single thread too.
 */
#include "base/arith.h"
#include "base/target.h"
#include "kind/bloom/bloom_layout.h"

#include <assert.h>
#include <string.h>

#define INLINE static inline __attribute__((always_inline))

/* ---- one key ---- */

static inline uint64_t probe(const struct array *array, struct digest *state, uint64_t i) {
    uint64_t word = probe_word(array->layout, state, i), cells = array->layout[BLOOM_CELLS];
    uint64_t at = (PROBE_MODULO ? word % cells : mul_high(word, cells)) ^ PROBE_FLIP;
    assert(at < cells);
    return at;
}

/* Marks the cells from number `from` on; 1 if all of them were marked before. */
INLINE unsigned mark_from(struct array *array, struct digest state, uint64_t from, bool shared) {
    unsigned had = 1;
    for (uint64_t i = from; i < array->layout[BLOOM_HASHES]; i++)
        had &= cell_mark(array->bytes, probe(array, &state, i), shared);
    return had;
}

/* Ends at the first empty cell. */
INLINE unsigned test_from(const struct array *array, struct digest state, uint64_t from, bool shared) {
    for (uint64_t i = from; i < array->layout[BLOOM_HASHES]; i++)
        if (!cell_used(array->bytes, probe(array, &state, i), shared)) return 0;
    return 1;
}

INLINE void prefetch_all(const struct array *array, struct digest digest) {
    struct digest state = probe_begin(digest);
    for (uint64_t i = 0; i < array->layout[BLOOM_HASHES]; i++)
        __builtin_prefetch(array->bytes + (probe(array, &state, i) >> PROBE_CELL_SHIFT));
}

/*
 * ---- batches ----
 *
 * Keys come in groups. The places of a group are computed in loops over its keys, which vector
 * units can do. Then each step prefetches the places of a key of the coming group, and visits those
 * of a key of the group that is here: memory accesses never stop, and no branch depends on a single
 * answer. Prefetches go to the second-level cache, which can wait for more cache lines at a time
 * than the first. Only the first PREFETCHED places of a key are prefetched; few filters have more.
 */
enum { GROUP = 32, PREFETCHED = 64, HAS_MORE = (int)PROBE_HASHES_MAX > 64 };

struct group {
    size_t n;
    uint64_t first[GROUP], second[PROBE_WORDS == 2 ? GROUP : 1]; /* the keys' states */
    uint8_t *answers[GROUP];
};

INLINE struct digest state_of(const struct group *group, size_t i) {
    return (struct digest){group->first[i], PROBE_WORDS == 2 ? group->second[PROBE_WORDS == 2 ? i : 0] : 0};
}

INLINE void put_state(struct group *group, size_t i, struct digest state) {
    group->first[i] = state.first;
    if (PROBE_WORDS == 2) group->second[PROBE_WORDS == 2 ? i : 0] = state.second;
}

/* Takes the keys from number `from` on, as many as there are and fit. Not inlined: it is short work
 * for a whole group, and the library is smaller. */
static __attribute__((noinline)) void take_group(struct group *group, const uint64_t *digests, size_t n, size_t from) {
    group->n = from >= n ? 0 : n - from < GROUP ? n - from : GROUP;
    for (size_t i = 0; i < group->n; i++) {
        const uint64_t *words = digests + PROBE_WORDS * (from + i);
        struct digest digest = {words[0], PROBE_WORDS == 2 ? words[PROBE_WORDS - 1] : 0};
        put_state(group, i, probe_begin(digest));
    }
}

/* Places `from` to `end` of the keys of a group: at[GROUP * j + i] is place from + j of key i.
 * `vector` is a constant in each caller: whether 64-bit multiplications come eight at a time, but
 * without an upper half. Vectors are whole; what stands behind the last key does no harm. */
INLINE void find_places(const uint64_t layout[LAYOUT_WORDS], struct divisor cells, struct group *restrict group,
                        uint64_t from, uint64_t end, uint64_t *restrict at, int vector) {
    size_t whole = (group->n + 7) / 8 * 8;
    for (uint64_t j = from; j < end; j++, at += GROUP) {
        for (size_t i = 0; i < whole; i++) {
            struct digest state = state_of(group, i);
            uint64_t word = probe_word(layout, &state, j);
            uint64_t place = PROBE_MODULO ? vector ? remainder_by_parts(word, &cells) : remainder_of(word, &cells)
                             : vector ? mul_high_by_parts(word, cells.n)
                                          : mul_high(word, cells.n);
            at[i] = place ^ PROBE_FLIP;
            group->first[i] = state.first;
        }
    }
}

/* `at` is one key's places here: at[0], at[GROUP], ... */
INLINE void prefetch_places(const struct array *array, const uint64_t *at, uint64_t count) {
    for (uint64_t j = 0; j < count; j++) __builtin_prefetch(array->bytes + (at[GROUP * j] >> PROBE_CELL_SHIFT), 0, 2);
}

/*
 * Most non-members fail at one of the first cells, so prefetching all k of every key would waste
 * memory accesses. A key goes through three stages, of two places, two more, and the rest. Keys
 * that pass a stage are copied to the next. In each turn every stage tests one group and prefetches
 * for the next:
 *
 *     turn     t              t + 1                t + 2                 t + 3
 *     group t  prefetch 0, 1  test; prefetch 2, 3  test; prefetch 4...   test, answer
 */
enum { STAGES = 3, EARLY = 2 };

/* First place of a stage; of stage STAGES, the number of places that are prefetched. */
INLINE uint64_t first_of(const struct array *array, unsigned stage) {
    uint64_t hashes = array->layout[BLOOM_HASHES];
    if (stage == STAGES && !HAS_MORE) return hashes;
    return smaller_of(stage == STAGES ? PREFETCHED : stage * EARLY, hashes);
}

/* Tests key i of a stage; if it passes, it waits for the next one. */
INLINE void test_and_pass(const struct array *array, const struct group *here, size_t i, const uint64_t *at,
                          uint64_t count, struct group *next, bool shared) {
    unsigned all = 1;
    for (uint64_t j = 0; j < count; j++) all &= cell_used(array->bytes, at[GROUP * j + i], shared);
    put_state(next, next->n, state_of(here, i));
    next->answers[next->n] = here->answers[i];
    next->n += all;
}

/* One turn of a stage: tests the keys that are here, whose places are `here_at`, while it
 * prefetches for those that come. */
INLINE void turn_stage(const struct array *array, struct divisor cells, unsigned stage, const struct group *here,
                       const uint64_t *here_at, struct group *coming, uint64_t *coming_at, struct group *next,
                       int vector, bool shared) {
    uint64_t from = first_of(array, stage), end = first_of(array, stage + 1), count = end - from;
    size_t both = here->n < coming->n ? here->n : coming->n;
    here_at += GROUP * from;
    coming_at += GROUP * from;
    find_places(array->layout, cells, coming, from, end, coming_at, vector);
    next->n = 0;
    for (size_t i = 0; i < both; i++) {
        prefetch_places(array, coming_at + i, count);
        test_and_pass(array, here, i, here_at, count, next, shared);
    }
    for (size_t i = both; i < coming->n; i++) prefetch_places(array, coming_at + i, count);
    for (size_t i = both; i < here->n; i++) test_and_pass(array, here, i, here_at, count, next, shared);
}

INLINE void query_many(const struct array *array, const uint64_t *digests, size_t n, uint8_t *answers, int vector,
                       bool shared) {
    uint64_t at[2][GROUP * PREFETCHED]; /* of the group that comes, and of the one that is here */
    struct group groups[2][STAGES + 1];
    struct divisor cells = divisor_of(array->layout[BLOOM_CELLS]);
    memset(groups, 0, sizeof groups);
    memset(answers, 0, n);
    for (size_t from = 0, turn = 0; from < n + STAGES * GROUP; from += GROUP, turn ^= 1) {
        struct group *coming = groups[turn], *here = groups[turn ^ 1], *passed = &coming[STAGES];
        take_group(coming, digests, n, from);
        for (size_t i = 0; i < coming->n; i++) coming->answers[i] = answers + from + i;
        for (unsigned s = 0; s < STAGES; s++)
            turn_stage(array, cells, s, &here[s], at[turn ^ 1], &coming[s], at[turn], &coming[s + 1], vector, shared);
        for (size_t i = 0; i < passed->n; i++)
            *passed->answers[i] = !HAS_MORE || test_from(array, state_of(passed, i), PREFETCHED, shared);
    }
}

/* Adding touches all k cells in any case, so there is one stage. */
INLINE unsigned mark_key(struct array *array, const struct group *here, size_t i, const uint64_t *at, uint64_t count,
                         bool shared) {
    unsigned had = 1;
    for (uint64_t j = 0; j < count; j++) had &= cell_mark(array->bytes, at[GROUP * j + i], shared);
    if (HAS_MORE) had &= mark_from(array, state_of(here, i), PREFETCHED, shared);
    return had;
}

INLINE void put_many(struct array *changed, const uint64_t *digests, size_t n, uint8_t *answers, int vector,
                     bool shared) {
    struct array copy = *changed, *array = &copy; /* stores to cells cannot alias it */
    uint64_t at[2][GROUP * PREFETCHED], count = first_of(array, STAGES);
    struct group groups[2];
    struct divisor cells = divisor_of(array->layout[BLOOM_CELLS]);
    memset(groups, 0, sizeof groups);
    for (size_t from = 0, turn = 0; from < n + GROUP; from += GROUP, turn ^= 1) {
        struct group *coming = &groups[turn], *here = &groups[turn ^ 1];
        take_group(coming, digests, n, from);
        find_places(array->layout, cells, coming, 0, count, at[turn], vector);
        const size_t keys_coming = coming->n, keys_here = here->n;
        for (size_t i = 0; i < GROUP; i++) {
            if (i < keys_coming) prefetch_places(array, at[turn] + i, count);
            if (i < keys_here) *answers++ = !mark_key(array, here, i, at[turn ^ 1], count, shared);
        }
    }
}

/*
 * ---- the operations ----
 *
 * The including file gives their names. With k cache lines a key, the stream of keys has time
 * enough: `ahead` is left to the hardware. AVX-512 has the 64-bit multiplications that find_places
 * is made of.
 */
#define PROBE_PREFETCH(prefetch_name)                                                                                  \
    static void prefetch_name(const struct array *array, struct digest digest) {                                       \
        prefetch_all(array, digest);                                                                                   \
    }
#define PROBE_SINGLES(add_name, contains_name, shared)                                                                 \
    static int add_name(struct array *array, struct digest digest) {                                                   \
        return !mark_from(array, probe_begin(digest), 0, shared);                                                      \
    }                                                                                                                  \
    static int contains_name(const struct array *array, struct digest digest) {                                        \
        return (int)test_from(array, probe_begin(digest), 0, shared);                                                  \
    }
#define PROBE_BATCHES(add_many_name, contains_many_name, target, vector, shared)                                       \
    target static size_t add_many_name(struct array *array, const uint64_t *digests, size_t n, uint8_t *answers,       \
                                       const char *ahead) {                                                            \
        (void)ahead;                                                                                                   \
        put_many(array, digests, n, answers, vector, shared);                                                          \
        return n;                                                                                                      \
    }                                                                                                                  \
    target static void contains_many_name(const struct array *array, const uint64_t *digests, size_t n,                \
                                          uint8_t *answers, const char *ahead) {                                       \
        (void)ahead;                                                                                                   \
        query_many(array, digests, n, answers, vector, shared);                                                        \
    }
