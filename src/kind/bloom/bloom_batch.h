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

/* Marks a key's cells; 1 if all of them were marked before. */
INLINE unsigned mark_all(const struct array *changed, struct digest digest, bool shared) {
    const struct array array = *changed; /* stores to cells cannot alias it */
    struct digest state = probe_begin(digest);
    unsigned had = 1;
    for (uint64_t i = 0, left = array.layout[BLOOM_HASHES]; left > 0; i++, left--)
        had &= cell_mark(array.bytes, probe(&array, &state, i), shared);
    return had;
}

/* Ends at the first empty cell. */
INLINE unsigned test_until_empty(const struct array *array, struct digest digest, bool shared) {
    struct digest state = probe_begin(digest);
    for (uint64_t i = 0; i < array->layout[BLOOM_HASHES]; i++)
        if (!cell_used(array->bytes, probe(array, &state, i), shared)) return 0;
    return 1;
}

/* Tests all cells: no branch depends on the answer. */
INLINE unsigned test_all(const struct array *array, struct digest digest, bool shared) {
    struct digest state = probe_begin(digest);
    unsigned all = 1;
    for (uint64_t i = 0, left = array->layout[BLOOM_HASHES]; left > 0; i++, left--)
        all &= cell_used(array->bytes, probe(array, &state, i), shared);
    return all;
}

/* Near the processor, up to ten tests take less time than a branch that is predicted wrongly, which
 * is one for almost every non-member. */
INLINE bool tests_all(const struct array *array) {
    enum { CHEAP = 10 };
    return !PROBE_MODULO && array->layout[BLOOM_HASHES] <= CHEAP && is_near(array);
}

INLINE unsigned test_key(const struct array *array, struct digest digest, bool shared) {
    return tests_all(array) ? test_all(array, digest, shared) : test_until_empty(array, digest, shared);
}

INLINE void prefetch_all(const struct array *array, struct digest digest) {
    struct digest state = probe_begin(digest);
    for (uint64_t i = 0; i < array->layout[BLOOM_HASHES]; i++)
        __builtin_prefetch(array->bytes + (probe(array, &state, i) >> PROBE_CELL_SHIFT));
}

/*
 * ---- batches ----
 *
 * Far from the processor, memory accesses must never stop, and no branch may depend on a single
 * answer. So keys go through stages. A stage visits `count` cells of every key. It computes the
 * places of a key, prefetches them, and keeps them in a ring until it visits them some keys later:
 *
 *     key      ... i - ahead ............................ i ...
 *                  visit its places, oldest in the ring    compute, prefetch, put into the ring
 *
 * Most non-members fail at one of the first cells, so prefetching all k of every key would waste
 * memory accesses. A query has early stages of one place each, and one of the rest. Keys that pass
 * a stage are moved together, in place, for the next. Adding visits all k cells in any case, in one
 * stage. Prefetches go to the second-level cache, which can wait for more cache lines at a time
 * than the first. The arithmetic is scalar: it takes less time than the memory accesses.
 *
 * A near array needs neither ring nor prefetches for queries. Adds have both, into the first-level
 * cache.
 *
 * Measured at 1, 16 and 128 MiB with 0, 50 and 100 % members (docs/choices.md): RING of 128 places
 * against 48 to 256; EARLY_FAR of 3 against 1 and 2; NEAR_COUNT of 2, twice, against 1 and 3.
 */
enum { GROUP = 1024, RING = 128, EARLY_FAR = 3, NEAR_COUNT = 2, FEW_FAR = 32, FEW_NEAR = 8, SINGLE = 2 };

/* The keys of a group that are left: their states, and their numbers in it. */
struct group {
    size_t n;
    uint64_t first[GROUP], second[PROBE_WORDS == 2 ? GROUP : 1];
    uint16_t number[GROUP];
};

INLINE struct digest digest_at(const uint64_t *digests, size_t i) {
    const uint64_t *words = digests + PROBE_WORDS * i;
    return (struct digest){words[0], PROBE_WORDS == 2 ? words[PROBE_WORDS - 1] : 0};
}

INLINE struct digest state_of(const struct group *group, size_t i) {
    return (struct digest){group->first[i], PROBE_WORDS == 2 ? group->second[PROBE_WORDS == 2 ? i : 0] : 0};
}

INLINE void put_key(struct group *group, size_t i, struct digest state, size_t number) {
    group->first[i] = state.first;
    if (PROBE_WORDS == 2) group->second[PROBE_WORDS == 2 ? i : 0] = state.second;
    group->number[i] = (uint16_t)number;
}

static void take_group(struct group *group, const uint64_t *digests, size_t n) {
    group->n = n;
    for (size_t i = 0; i < n; i++) put_key(group, i, probe_begin(digest_at(digests, i)), i);
}

/* `probe` without divisions. */
INLINE uint64_t probe_by(const uint64_t layout[LAYOUT_WORDS], const struct divisor *cells, struct digest *state,
                         uint64_t i) {
    uint64_t word = probe_word(layout, state, i);
    return (PROBE_MODULO ? remainder_of(word, cells) : mul_high(word, cells->n)) ^ PROBE_FLIP;
}

/* Keys between prefetching and visiting, where a stage has `count` places for each of n keys. */
INLINE size_t keys_ahead(uint64_t count, size_t n) {
    return (size_t)smaller_of(RING / count, n);
}

/* Computes and prefetches places from, from + 1, ... */
INLINE void send_places(const struct array *array, const struct divisor *cells, struct digest *state, uint64_t from,
                        uint64_t count, uint64_t *places, bool near) {
    for (uint64_t j = 0; j < count; j++) {
        places[j] = probe_by(array->layout, cells, state, from + j);
        const uint8_t *byte = array->bytes + (places[j] >> PROBE_CELL_SHIFT);
        if (near)
            __builtin_prefetch(byte, 0, 3);
        else
            __builtin_prefetch(byte, 0, 2);
    }
}

/* A stage of a query. In the last one a key that passes is answered. */
INLINE void test_far(const struct array *array, const struct divisor *cells, struct group *group, uint64_t from,
                     uint64_t count, uint8_t *answers, bool last, bool shared) {
    uint64_t ring[RING], *places = ring;
    const size_t n = group->n, ahead = keys_ahead(count, n);
    size_t passed = 0;
    for (size_t i = 0; i < n + ahead; i++) {
        if (i >= ahead) {
            unsigned all = 1;
            for (uint64_t j = 0; j < count; j++) all &= cell_used(array->bytes, places[j], shared);
            size_t number = group->number[i - ahead];
            if (last) answers[number] = (uint8_t)all;
            if (!last) put_key(group, passed, state_of(group, i - ahead), number);
            passed += all;
        }
        if (i < n) {
            struct digest state = state_of(group, i);
            send_places(array, cells, &state, from, count, places, false);
            group->first[i] = state.first;
        }
        places = places + count == ring + ahead * count ? ring : places + count;
    }
    group->n = passed;
}

/* The same for an array that is near. `first`: this stage takes the keys from the digests. */
INLINE void test_near(const struct array *array, const struct divisor *cells, const uint64_t *digests,
                      struct group *group, uint64_t from, uint64_t count, uint8_t *answers, bool first, bool last,
                      bool shared) {
    size_t passed = 0;
    for (size_t i = 0; i < group->n; i++) {
        struct digest state = first ? probe_begin(digest_at(digests, i)) : state_of(group, i);
        size_t number = first ? i : group->number[i];
        unsigned all = 1;
        for (uint64_t j = 0; j < count; j++)
            all &= cell_used(array->bytes, probe_by(array->layout, cells, &state, from + j), shared);
        if (last) answers[number] = (uint8_t)all;
        if (!last) put_key(group, passed, state, number);
        passed += all;
    }
    group->n = passed;
}

/* With few hashes there is only the last stage. Few keys also have only that: it waits for the
 * memory once. */
INLINE void query_far(const struct array *array, const struct divisor *cells, const uint64_t *digests, size_t n,
                      uint8_t *answers, bool shared) {
    const uint64_t hashes = array->layout[BLOOM_HASHES], early = hashes <= EARLY_FAR || n <= FEW_FAR ? 0 : EARLY_FAR;
    struct group group;
    take_group(&group, digests, n);
    for (uint64_t from = 0; from < early; from++) test_far(array, cells, &group, from, 1, answers, false, shared);
    test_far(array, cells, &group, early, hashes - early, answers, true, shared);
}

INLINE void query_near(const struct array *array, const struct divisor *cells, const uint64_t *digests, size_t n,
                       uint8_t *answers, bool shared) {
    const uint64_t hashes = array->layout[BLOOM_HASHES], two = NEAR_COUNT, four = 2 * NEAR_COUNT;
    struct group group;
    group.n = n;
    if (hashes <= four || n <= FEW_NEAR) {
        test_near(array, cells, digests, &group, 0, hashes, answers, true, true, shared);
        return;
    }
    test_near(array, cells, digests, &group, 0, two, answers, true, false, shared);
    test_near(array, cells, NULL, &group, two, two, answers, false, false, shared);
    test_near(array, cells, NULL, &group, four, hashes - four, answers, false, true, shared);
}

/* Whether a ring is of use: not with so few keys that the processor overlaps their memory accesses
 * without help, nor with more hashes than it has room for, as foreign files may have. */
INLINE bool fits_ring(const struct array *array, size_t n) {
    return n > SINGLE && ((int)PROBE_HASHES_MAX <= RING || array->layout[BLOOM_HASHES] <= RING);
}

INLINE void query_many(const struct array *array, const uint64_t *digests, size_t n, uint8_t *answers, bool shared) {
    const struct divisor cells = divisor_of(array->layout[BLOOM_CELLS]);
    const bool far = !is_near(array) && fits_ring(array, n);
    if (n <= SINGLE) {
        for (size_t i = 0; i < n; i++) answers[i] = (uint8_t)test_key(array, digest_at(digests, i), shared);
        return;
    }
    memset(answers, 0, n);
    for (size_t from = 0; from < n; from += GROUP) {
        const uint64_t *here = digests + PROBE_WORDS * from;
        size_t count = (size_t)smaller_of(n - from, GROUP);
        if (far)
            query_far(array, &cells, here, count, answers + from, shared);
        else
            query_near(array, &cells, here, count, answers + from, shared);
    }
}

/* Room in the ring goes from a key that is visited to the one that comes. */
INLINE void put_ahead(const struct array *array, const struct divisor *cells, const uint64_t *digests, size_t n,
                      uint8_t *answers, bool near, bool shared) {
    uint64_t ring[RING], *places = ring;
    const uint64_t hashes = array->layout[BLOOM_HASHES];
    const size_t ahead = keys_ahead(hashes, n);
    for (size_t i = 0; i < ahead; i++) {
        struct digest state = probe_begin(digest_at(digests, i));
        send_places(array, cells, &state, 0, hashes, ring + i * hashes, near);
    }
    for (size_t i = 0; i < n - ahead; i++) {
        struct digest state = probe_begin(digest_at(digests, i + ahead));
        unsigned had = 1;
        for (uint64_t j = 0; j < hashes; j++) {
            had &= cell_mark(array->bytes, places[j], shared);
            send_places(array, cells, &state, j, 1, &places[j], near);
        }
        answers[i] = !had;
        places = places + hashes == ring + ahead * hashes ? ring : places + hashes;
    }
    for (size_t i = n - ahead; i < n; i++) {
        unsigned had = 1;
        for (uint64_t j = 0; j < hashes; j++) had &= cell_mark(array->bytes, places[j], shared);
        answers[i] = !had;
        places = places + hashes == ring + ahead * hashes ? ring : places + hashes;
    }
}

INLINE void put_many(const struct array *changed, const uint64_t *digests, size_t n, uint8_t *answers, bool shared) {
    const struct array array = *changed; /* stores to cells cannot alias it */
    const struct divisor cells = divisor_of(array.layout[BLOOM_CELLS]);
    if (!fits_ring(&array, n))
        for (size_t i = 0; i < n; i++) answers[i] = !mark_all(&array, digest_at(digests, i), shared);
    else if (is_near(&array))
        put_ahead(&array, &cells, digests, n, answers, true, shared);
    else
        put_ahead(&array, &cells, digests, n, answers, false, shared);
}

/*
 * ---- the operations ----
 *
 * The including file gives their names. With k cache lines a key, the stream of keys has time
 * enough: `ahead` is left to the hardware. Every instruction set has the same operations.
 */
#define PROBE_PREFETCH(prefetch_name)                                                                                  \
    static void prefetch_name(const struct array *array, struct digest digest) {                                       \
        prefetch_all(array, digest);                                                                                   \
    }
#define PROBE_SINGLES(add_name, contains_name, shared)                                                                 \
    static int add_name(struct array *array, struct digest digest) {                                                   \
        return !mark_all(array, digest, shared);                                                                       \
    }                                                                                                                  \
    static int contains_name(const struct array *array, struct digest digest) {                                        \
        return (int)test_key(array, digest, shared);                                                                   \
    }
#define PROBE_BATCHES(add_many_name, contains_many_name, shared)                                                       \
    static size_t add_many_name(struct array *array, const uint64_t *digests, size_t n, uint8_t *answers,              \
                                const char *ahead) {                                                                   \
        (void)ahead;                                                                                                   \
        put_many(array, digests, n, answers, shared);                                                                  \
        return n;                                                                                                      \
    }                                                                                                                  \
    static void contains_many_name(const struct array *array, const uint64_t *digests, size_t n, uint8_t *answers,     \
                                   const char *ahead) {                                                                \
        (void)ahead;                                                                                                   \
        query_many(array, digests, n, answers, shared);                                                                \
    }
