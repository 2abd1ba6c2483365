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
 * Every probe is a mix of its own. The usual shortcut, position a + i·b, makes two keys that agree in a and b (of which
 * there are only m² pairs) agree everywhere, and misses the planned rate by far where m is small or p is.
 *
 * Cost: k cache lines a question. Layout: m, k.
 *
 * Invariants
 *   I1  1 <= m, 1 <= k <= 64, and the payload has exactly ceil(m/64) words.
 *   I2  bits m and above are zero.
 *   I3  every key that was added has all its k bits set.
 */
#include "kind.h"
#include "base/arith.h"
#include "simd/target.h"
#include "store/bits.h"

#include <assert.h>

enum { BITS, HASHES }; /* the words of the layout */
enum { HASHES_MAX = 64 };

static uint64_t check(const uint64_t layout[LAYOUT_WORDS], const char **reason) {
    if (layout[BITS] == 0 || layout[BITS] > UINT64_MAX - 63) {
        *reason = "number of bits out of range";
        return 0;
    }
    if (layout[HASHES] == 0 || layout[HASHES] > HASHES_MAX) {
        *reason = "number of hashes is not 1 to 64";
        return 0;
    }
    return (layout[BITS] + 63) / 64 * 8;
}

/* Probe i of a digest: its own mix, to be reduced to 0..m-1. */
static inline uint64_t probe_mix(uint64_t digest, uint64_t i) {
    return mix64(digest + (i + 1) * UINT64_C(0x9E3779B97F4A7C15));
}

static inline uint64_t probe(uint64_t digest, uint64_t i, uint64_t bits) {
    return mul_high(probe_mix(digest, i), bits);
}

static int add(struct array *array, const uint64_t *digest) {
    unsigned had = 1;
    for (uint64_t i = 0; i < array->layout[HASHES]; i++) {
        uint64_t at = probe(*digest, i, array->layout[BITS]);
        assert(at < array->layout[BITS]);
        had &= bit_get(array->bytes, at);
        bit_set(array->bytes, at);
    }
    return !had;
}

/* One at a time, a question ends at the first zero bit. */
static int contains(const struct array *array, const uint64_t *digest) {
    for (uint64_t i = 0; i < array->layout[HASHES]; i++) {
        if (!bit_get(array->bytes, probe(*digest, i, array->layout[BITS]))) return 0;
    }
    return 1;
}

/*
 * Batches.
 *
 * The places of a group of keys are worked out in loops over the keys, which vector units can do, and fetched; they are
 * looked at only when the places of the next group are on their way too.
 */
enum { GROUP = 32 };

#define INLINE static inline __attribute__((always_inline))

/* Probes first..first+count-1 of n keys: at[p * GROUP + i] is probe first + p of key i. `vector` is a constant in each
 * caller: whether 64-bit multiplications come eight at a time, but without an upper half. */
INLINE void find_places(const uint64_t *restrict digests, size_t n, uint64_t first, uint64_t count, uint64_t bits,
                        uint64_t *restrict at, int vector) {
    for (uint64_t p = 0; p < count; p++) {
        for (size_t i = 0; i < n; i++) {
            uint64_t mix = probe_mix(digests[i], first + p);
            at[p * GROUP + i] = vector ? mul_high_by_parts(mix, bits) : mul_high(mix, bits);
        }
    }
}

static inline void fetch_places(const struct array *array, const uint64_t *at, size_t n, uint64_t count) {
    for (size_t i = 0; i < n; i++) {
        for (uint64_t p = 0; p < count; p++) __builtin_prefetch(array->bytes + (at[p * GROUP + i] >> 3));
    }
}

static inline unsigned all_set(const struct array *array, const uint64_t *at, uint64_t count) {
    unsigned all = 1;
    for (uint64_t p = 0; p < count; p++) all &= bit_get(array->bytes, at[p * GROUP]);
    return all;
}

static inline size_t smaller(size_t a, size_t b) {
    return a < b ? a : b;
}

/*
 * Asking: most strangers fail at one of the first bits, so fetching all k of every key would waste memory accesses. A key
 * goes through three stages, of two probes, two more, and the rest. Those that pass a stage are copied to the next one,
 * without a branch that depends on the answer. In each turn every stage works on another group:
 *
 *     turn     t          t + 1      t + 2      t + 3
 *     group t  fetch 0,1  test, 2,3  test, 4..  test, answer
 */
enum { STAGES = 3, EARLY = 2 };

struct stage {
    size_t n;
    uint64_t digests[GROUP];
    uint8_t *answers[GROUP];
    uint64_t at[GROUP * HASHES_MAX];
};

/* The first probe of a stage; of stage STAGES, the number of probes. */
static inline uint64_t first_of(unsigned stage, uint64_t hashes) {
    return stage == STAGES ? hashes : smaller(stage * EARLY, hashes);
}

/* Works out and fetches the places that a stage will test. */
INLINE void begin_stage(const struct array *array, struct stage *stages, unsigned s, int vector) {
    uint64_t hashes = array->layout[HASHES], first = first_of(s, hashes), count = first_of(s + 1, hashes) - first;
    find_places(stages[s].digests, stages[s].n, first, count, array->layout[BITS], stages[s].at, vector);
    fetch_places(array, stages[s].at, stages[s].n, count);
}

/* Tests a stage's keys; those that pass go on. */
INLINE void pass_stage(const struct array *array, struct stage *stages, unsigned s, int vector) {
    struct stage *from = &stages[s], *to = &stages[s + 1];
    uint64_t hashes = array->layout[HASHES], count = first_of(s + 1, hashes) - first_of(s, hashes);
    size_t passed = 0;
    for (size_t i = 0; i < from->n; i++) {
        to->digests[passed] = from->digests[i];
        to->answers[passed] = from->answers[i];
        passed += all_set(array, from->at + i, count);
    }
    to->n = passed;
    begin_stage(array, stages, s + 1, vector);
}

static inline void answer_stage(const struct array *array, const struct stage *last) {
    uint64_t hashes = array->layout[HASHES], count = hashes - first_of(STAGES - 1, hashes);
    for (size_t i = 0; i < last->n; i++) *last->answers[i] = (uint8_t)all_set(array, last->at + i, count);
}

INLINE void ask_many(const struct array *array, const uint64_t *digests, size_t n, uint8_t *answers, int vector) {
    struct stage stages[STAGES];
    for (int s = 0; s < STAGES; s++) stages[s].n = 0;
    memset(answers, 0, n);
    for (size_t i = 0; i < n + STAGES * GROUP; i += GROUP) {
        answer_stage(array, &stages[2]);
        pass_stage(array, stages, 1, vector);
        pass_stage(array, stages, 0, vector);
        stages[0].n = i < n ? smaller(n - i, GROUP) : 0;
        for (size_t j = 0; j < stages[0].n; j++) {
            stages[0].digests[j] = digests[i + j];
            stages[0].answers[j] = answers + i + j;
        }
        begin_stage(array, stages, 0, vector);
    }
}

/* Adding touches all k bits in any case: two groups, one on its way and one being set, in order. */
static inline void set_group(struct array *array, const uint64_t *at, size_t n, uint8_t *answers) {
    for (size_t i = 0; i < n; i++) {
        unsigned had = 1;
        for (uint64_t p = 0; p < array->layout[HASHES]; p++) {
            had &= bit_get(array->bytes, at[p * GROUP + i]);
            bit_set(array->bytes, at[p * GROUP + i]);
        }
        answers[i] = !had;
    }
}

INLINE void put_many(struct array *array, const uint64_t *digests, size_t n, uint8_t *answers, int vector) {
    uint64_t at[2][GROUP * HASHES_MAX], hashes = array->layout[HASHES];
    for (size_t i = 0, turn = 0; i < n + GROUP; i += GROUP, turn ^= 1) {
        size_t coming = i < n ? smaller(n - i, GROUP) : 0;
        find_places(digests + i, coming, 0, hashes, array->layout[BITS], at[turn], vector);
        fetch_places(array, at[turn], coming, hashes);
        if (i) set_group(array, at[turn ^ 1], smaller(n - (i - GROUP), GROUP), answers + i - GROUP);
    }
}

/* With k cache lines a key, the stream of keys has time enough: `ahead` is left to the hardware. */
static void contains_many(const struct array *array, const uint64_t *digests, size_t n, uint8_t *answers,
                          const char *ahead) {
    (void)ahead;
    ask_many(array, digests, n, answers, 0);
}

static void add_many(struct array *array, const uint64_t *digests, size_t n, uint8_t *answers, const char *ahead) {
    (void)ahead;
    put_many(array, digests, n, answers, 0);
}

#if defined(__x86_64__)
/* AVX-512 has the 64-bit multiplications that find_places is made of. */
TARGET_AVX512 static void contains_many_avx512(const struct array *array, const uint64_t *digests, size_t n,
                                               uint8_t *answers, const char *ahead) {
    (void)ahead;
    ask_many(array, digests, n, answers, 1);
}

TARGET_AVX512 static void add_many_avx512(struct array *array, const uint64_t *digests, size_t n, uint8_t *answers,
                                          const char *ahead) {
    (void)ahead;
    put_many(array, digests, n, answers, 1);
}
#endif

static void merge(struct array *into, const struct array *from) {
    bits_or(into->bytes, from->bytes, into->length);
}

static void intersect(struct array *into, const struct array *from) {
    bits_and(into->bytes, from->bytes, into->length);
}

static const struct kind_ops *ops(const uint64_t layout[LAYOUT_WORDS], enum isa isa) {
    static const struct kind_ops plain = {add, contains, add_many, contains_many};
    (void)layout;
#if defined(__x86_64__)
    static const struct kind_ops avx512 = {add, contains, add_many_avx512, contains_many_avx512};
    if (isa == ISA_AVX512) return &avx512;
#endif
    (void)isa;
    return &plain;
}

extern const struct model model_bloom;

const struct kind kind_bloom = {
    .row = {PERHAPS_BLOOM, PERHAPS_ADD | PERHAPS_MERGE | PERHAPS_INTERSECT, "bloom",
            "classic Bloom filter: k bits anywhere; small, and any rate"},
    .digest_words = 1,
    .hash = PERHAPS_XXH3,
    .check = check,
    .layout_names = {"bits", "hashes"},
    .ops = ops,
    .merge = merge,
    .intersect = intersect,
    .model = &model_bloom,
};
