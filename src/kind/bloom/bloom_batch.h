/*
 * Probes: what bloom and counting share.
 *
 * Both have an array of m cells, and a digest has k places in it. Adding a key marks the k cells; a key with an empty
 * cell among its k was definitely not added. Only what a cell is differs: a bit, or a counter.
 *
 *     digest ──▶ k fresh mixes ──▶ k cells 0..m-1
 *
 * This is a template. The file that includes it says first what a cell is:
 *
 *     CELL_SHIFT                    2^CELL_SHIFT cells lie in a byte
 *     cell_used(bytes, i, shared)   1 if cell i is not empty, otherwise 0
 *     cell_mark(bytes, i, shared)   marks cell i; 1 if it was marked already and nothing has changed, otherwise 0
 *
 * `shared`, whether other threads change the array at the same time, is a constant in each caller.
 *
 * Of threads that add one key at the same time, at least one finds it new: a cell of it that was empty before them was
 * marked by one of them first, and that one was told so; unless other keys have marked them all, as happens to a
 * single thread too.
 *
 * Every probe is a mix of its own. The usual shortcut, position a + i·b, makes two keys that agree in a and b (of which
 * there are only m² pairs) agree everywhere, and misses the planned rate by far where m is small or p is.
 */
#include "base/arith.h"
#include "kind/kind.h"
#include "base/target.h"

#include <assert.h>
#include <string.h>

enum { CELLS, HASHES }; /* the words of the layout */
enum { HASHES_MAX = 64 };

#define INLINE static inline __attribute__((always_inline))

static bool hashes_fit(const uint64_t layout[LAYOUT_WORDS], const char **reason) {
    *reason = "number of hashes is not 1 to 64";
    return layout[HASHES] >= 1 && layout[HASHES] <= HASHES_MAX;
}

/* Probe i of a digest: its own mix, to be reduced to 0..m-1. */
static inline uint64_t probe_mix(uint64_t digest, uint64_t i) {
    return mix64(digest + (i + 1) * UINT64_C(0x9E3779B97F4A7C15));
}

static inline uint64_t probe(uint64_t digest, uint64_t i, uint64_t cells) {
    return mul_high(probe_mix(digest, i), cells);
}

INLINE int add(struct array *array, struct digest digest, bool shared) {
    unsigned had = 1;
    for (uint64_t i = 0; i < array->layout[HASHES]; i++) {
        uint64_t at = probe(digest.first, i, array->layout[CELLS]);
        assert(at < array->layout[CELLS]);
        had &= cell_mark(array->bytes, at, shared);
    }
    return !had;
}

/* One at a time, a question ends at the first empty cell. */
INLINE int contains(const struct array *array, struct digest digest, bool shared) {
    for (uint64_t i = 0; i < array->layout[HASHES]; i++) {
        if (!cell_used(array->bytes, probe(digest.first, i, array->layout[CELLS]), shared)) return 0;
    }
    return 1;
}

static void fetch(const struct array *array, struct digest digest) {
    for (uint64_t i = 0; i < array->layout[HASHES]; i++)
        __builtin_prefetch(array->bytes + (probe(digest.first, i, array->layout[CELLS]) >> CELL_SHIFT));
}

/*
 * Batches.
 *
 * The places of a group of keys are worked out in loops over the keys, which vector units can do. Then each step fetches
 * the places of a key of the group that comes and looks at those of a key of the group that is here: memory accesses
 * never stop, and no branch depends on a single answer. They are fetched into the second-level cache, which can wait for
 * more of them at a time than the first.
 */
enum { GROUP = 32 };

/* Probes first..first+count-1 of n keys: at[p * GROUP + i] is probe first + p of key i. `vector` is a constant in each
 * caller: whether 64-bit multiplications come eight at a time, but without an upper half. */
INLINE void find_places(const uint64_t *restrict digests, size_t n, uint64_t first, uint64_t count, uint64_t cells,
                        uint64_t *restrict at, int vector) {
    for (uint64_t p = 0; p < count; p++) {
        for (size_t i = 0; i < n; i++) {
            uint64_t mix = probe_mix(digests[i], first + p);
            at[p * GROUP + i] = vector ? mul_high_by_parts(mix, cells) : mul_high(mix, cells);
        }
    }
}

/* The three below take one key's places: at[0], at[GROUP], ... */
INLINE void fetch_key(const struct array *array, const uint64_t *at, uint64_t count) {
    for (uint64_t p = 0; p < count; p++) __builtin_prefetch(array->bytes + (at[p * GROUP] >> CELL_SHIFT), 0, 2);
}

INLINE unsigned test_key(const struct array *array, const uint64_t *at, uint64_t count, bool shared) {
    unsigned all = 1;
    for (uint64_t p = 0; p < count; p++) all &= cell_used(array->bytes, at[p * GROUP], shared);
    return all;
}

INLINE unsigned mark_key(struct array *array, const uint64_t *at, uint64_t count, bool shared) {
    unsigned had = 1;
    for (uint64_t p = 0; p < count; p++) had &= cell_mark(array->bytes, at[p * GROUP], shared);
    return had;
}

INLINE size_t smaller(size_t a, size_t b) {
    return a < b ? a : b;
}

/*
 * Asking: most strangers fail at one of the first cells, so fetching all k of every key would waste memory accesses. A key
 * goes through three stages, of two probes, two more, and the rest; those that pass a stage are copied to the next. In
 * each turn every stage tests one group and fetches the next:
 *
 *     turn     t           t + 1             t + 2              t + 3
 *     group t  fetch 0, 1  test; fetch 2, 3  test; fetch 4...   test, answer
 */
enum { STAGES = 3, EARLY = 2 };

/* Keys at the door of a stage; behind the last stage, those that are perhaps in the set. */
struct keys {
    size_t n;
    uint64_t digests[GROUP];
    uint8_t *answers[GROUP];
};

/* The first probe of a stage; of stage STAGES, the number of probes. */
INLINE uint64_t first_of(unsigned stage, uint64_t hashes) {
    return stage == STAGES || hashes < stage * EARLY ? hashes : stage * EARLY;
}

/* Tests key i of a stage; if it passes, it stands at the next one's door. */
INLINE void test_and_pass(const struct array *array, const struct keys *keys, size_t i, const uint64_t *at,
                          uint64_t count, struct keys *next, bool shared) {
    next->digests[next->n] = keys->digests[i];
    next->answers[next->n] = keys->answers[i];
    next->n += test_key(array, at + i, count, shared);
}

/* One turn of a stage: tests the keys that are here, whose places lie at `here_at`, while it fetches for those that
 * come. */
INLINE void turn_stage(const struct array *array, unsigned stage, const struct keys *here, const uint64_t *here_at,
                       const struct keys *coming, uint64_t *coming_at, struct keys *next, int vector, bool shared) {
    uint64_t hashes = array->layout[HASHES], first = first_of(stage, hashes),
             count = first_of(stage + 1, hashes) - first;
    size_t whole = (coming->n + 7) / 8 * 8; /* vectors are whole; what stands behind the last key does no harm */
    here_at += first * GROUP;
    coming_at += first * GROUP;
    find_places(coming->digests, whole, first, count, array->layout[CELLS], coming_at, vector);
    size_t both = smaller(here->n, coming->n);
    next->n = 0;
    for (size_t i = 0; i < both; i++) {
        fetch_key(array, coming_at + i, count);
        test_and_pass(array, here, i, here_at, count, next, shared);
    }
    for (size_t i = both; i < coming->n; i++) fetch_key(array, coming_at + i, count);
    for (size_t i = both; i < here->n; i++) test_and_pass(array, here, i, here_at, count, next, shared);
}

INLINE void ask_many(const struct array *array, const uint64_t *digests, size_t n, uint8_t *answers, int vector,
                     bool shared) {
    uint64_t at[2][GROUP * HASHES_MAX]; /* probe p of the group that comes, and of the one that is here */
    struct keys keys[2][STAGES + 1];
    memset(keys, 0, sizeof keys);
    memset(answers, 0, n);
    for (size_t i = 0, turn = 0; i < n + STAGES * GROUP; i += GROUP, turn ^= 1) {
        struct keys *coming = keys[turn], *here = keys[turn ^ 1];
        coming->n = i < n ? smaller(n - i, GROUP) : 0;
        for (size_t j = 0; j < coming->n; j++) {
            coming->digests[j] = digests[i + j];
            coming->answers[j] = answers + i + j;
        }
        for (unsigned s = 0; s < STAGES; s++)
            turn_stage(array, s, &here[s], at[turn ^ 1], &coming[s], at[turn], &coming[s + 1], vector, shared);
        for (size_t j = 0; j < coming[STAGES].n; j++) *coming[STAGES].answers[j] = 1;
    }
}

/* Adding touches all k cells in any case, so there is one stage. */
INLINE void put_many(struct array *array, const uint64_t *digests, size_t n, uint8_t *answers, int vector,
                     bool shared) {
    uint64_t at[2][GROUP * HASHES_MAX], hashes = array->layout[HASHES];
    size_t here = 0;
    for (size_t i = 0, turn = 0; i < n + GROUP; i += GROUP, turn ^= 1) {
        size_t coming = i < n ? smaller(n - i, GROUP) : 0;
        find_places(digests + i, coming, 0, hashes, array->layout[CELLS], at[turn], vector);
        for (size_t j = 0; j < GROUP; j++) {
            if (j < coming) fetch_key(array, at[turn] + j, hashes);
            if (j < here) *answers++ = !mark_key(array, at[turn ^ 1] + j, hashes, shared);
        }
        here = coming;
    }
}

/*
 * The operations, for one thread (alone) and for many (shared). With k cache lines a key, the stream of keys has time
 * enough: `ahead` is left to the hardware.
 */
#define SINGLES(name, shared)                                                                                          \
    static int add_##name(struct array *array, struct digest digest) {                                                 \
        return add(array, digest, shared);                                                                             \
    }                                                                                                                  \
    static int contains_##name(const struct array *array, struct digest digest) {                                      \
        return contains(array, digest, shared);                                                                        \
    }
#define BATCHES(name, vector, shared)                                                                                  \
    TARGET static void contains_many_##name(const struct array *array, const uint64_t *digests, size_t n,              \
                                            uint8_t *answers, const char *ahead) {                                     \
        (void)ahead;                                                                                                   \
        ask_many(array, digests, n, answers, vector, shared);                                                          \
    }                                                                                                                  \
    TARGET static size_t add_many_##name(struct array *array, const uint64_t *digests, size_t n, uint8_t *answers,     \
                                         const char *ahead) {                                                          \
        (void)ahead;                                                                                                   \
        put_many(array, digests, n, answers, vector, shared);                                                          \
        return n;                                                                                                      \
    }

SINGLES(alone, false)
SINGLES(shared, true)

#define TARGET
BATCHES(alone, 0, false)
BATCHES(shared, 0, true)
#undef TARGET

#if defined(__x86_64__)
/* AVX-512 has the 64-bit multiplications that find_places is made of. */
#define TARGET TARGET_AVX512
BATCHES(alone_avx512, 1, false)
BATCHES(shared_avx512, 1, true)
#undef TARGET
#endif
