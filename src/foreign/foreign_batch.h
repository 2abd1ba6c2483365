/*
 * The operations of other programs' classic Bloom filters, a template: each includes this once, and says first
 *
 *     struct probe begin(struct digest digest)
 *                           where a key's probing begins
 *     uint64_t number(uint64_t variant, struct probe *p, uint64_t i)
 *                           number i, counted from 0, in this order; modulo the bits, it is the place of a key's bit i. Only
 *                           the first word of the probe may change
 *     PROBE_VARIANT         the word of the layout that says which variant it is; any, if there is only one
 *     PROBE_BITS            the word of the layout that has the number of bits
 *     PROBE_HASHES          the one that has the number of places of a key
 *     PROBE_FLIP            what a place is xored with: 0, or 56 where words are big-endian. There a bit is found in a
 *                           little-endian word by counting its bytes from the other end
 *     PROBE_WORDS           words of a digest, 1 or 2
 */
#include "base/target.h"

#include <string.h>

static inline uint64_t place(const struct array *array, struct probe *p, uint64_t i) {
    return number(array->layout[PROBE_VARIANT], p, i) % array->layout[PROBE_BITS] ^ PROBE_FLIP;
}

/* In a file, the array begins anywhere: its words may lie across two cache lines, its bytes do not. */
static inline unsigned test(const struct array *array, uint64_t at) {
    return array->bytes[at / 8] >> at % 8 & 1u;
}

/* 1 if it was set before, and otherwise 0. */
static inline unsigned mark(struct array *array, uint64_t at) {
    unsigned had = test(array, at);
    array->bytes[at / 8] |= (uint8_t)(1u << at % 8);
    return had;
}

/* The places from number `from` on: are they all set? And sets them; were they? */
static unsigned test_from(const struct array *array, struct probe *p, uint64_t from) {
    for (uint64_t i = from; i < array->layout[PROBE_HASHES]; i++)
        if (!test(array, place(array, p, i))) return 0;
    return 1;
}

static unsigned mark_from(struct array *array, struct probe *p, uint64_t from) {
    unsigned had = 1;
    for (uint64_t i = from; i < array->layout[PROBE_HASHES]; i++) had &= mark(array, place(array, p, i));
    return had;
}

static int add(struct array *array, struct digest digest) {
    struct probe p = begin(digest);
    return !mark_from(array, &p, 0);
}

static int contains(const struct array *array, struct digest digest) {
    struct probe p = begin(digest);
    return (int)test_from(array, &p, 0);
}

static void fetch(const struct array *array, struct digest digest) {
    struct probe p = begin(digest);
    for (uint64_t i = 0; i < array->layout[PROBE_HASHES]; i++)
        __builtin_prefetch(array->bytes + place(array, &p, i) / 8);
}

/*
 * Batches. Keys come in groups: the places of one that comes are worked out, in loops over the keys, which vector units can do, and
 * fetched while those of the one before, which have arrived, are looked at. What few filters have, places beyond the first FETCHED, is
 * looked at without being fetched.
 */
#define INLINE static inline __attribute__((always_inline))

enum { GROUP = 32, FETCHED = 32 };

struct group {
    size_t n;
    uint64_t first[GROUP], second[GROUP]; /* the keys' probes */
    uint8_t *answers[GROUP];
};

INLINE void take_group(struct group *group, const uint64_t *digests, size_t n, size_t from, uint8_t *answers) {
    group->n = from >= n ? 0 : n - from < GROUP ? n - from : GROUP;
    for (size_t i = 0; i < group->n; i++) {
        const uint64_t *words = digests + PROBE_WORDS * (from + i);
        struct probe p = begin((struct digest){words[0], PROBE_WORDS == 2 ? words[PROBE_WORDS - 1] : 0});
        group->first[i] = p.first;
        group->second[i] = p.second;
        group->answers[i] = answers + from + i;
    }
}

/* Some of the places of the keys of a group: at[GROUP * j + i] is place `from` + j of key i. `vector` is a constant in each caller:
 * whether 64-bit multiplications come eight at a time, but without an upper half. What stands behind the last key does no harm. */
INLINE void find_places(const uint64_t layout[LAYOUT_WORDS], struct divisor bits, struct group *restrict group,
                        uint64_t from, uint64_t end, uint64_t *restrict at, int vector) {
    size_t whole = (group->n + 7) / 8 * 8;
    uint64_t variant = layout[PROBE_VARIANT];
    for (uint64_t j = from; j < end; j++, at += GROUP) {
        for (size_t i = 0; i < whole; i++) {
            struct probe p = {group->first[i], group->second[i]};
            uint64_t a = number(variant, &p, j);
            at[i] = (vector ? remainder_by_parts(a, &bits) : remainder_of(a, &bits)) ^ PROBE_FLIP;
            group->first[i] = p.first;
        }
    }
}

/* Into the second-level cache, which can wait for more of them at a time than the first. */
INLINE void fetch_places(const struct array *array, const uint64_t *at, uint64_t count) {
    for (uint64_t j = 0; j < count; j++) __builtin_prefetch(array->bytes + at[GROUP * j] / 8, 0, 2);
}

INLINE uint64_t fetched_of(const struct array *array) {
    return array->layout[PROBE_HASHES] < FETCHED ? array->layout[PROBE_HASHES] : FETCHED;
}

/*
 * Most strangers fail at one of the first places, so fetching all of every key would be a waste. A key goes through four stages, of
 * one place, one more, two, and the rest; those that pass a stage stand at the door of the next one:
 *
 *     turn     t        t + 1          t + 2             t + 3              t + 4
 *     group t  fetch 0  test; fetch 1  test; fetch 2, 3  test; fetch 4...   test, answer
 */
enum { STAGES = 4 };

/* The first place of a stage; of stage STAGES, how many are fetched. */
INLINE uint64_t first_of(const struct array *array, unsigned stage) {
    static const uint64_t first[STAGES + 1] = {0, 1, 2, 4, FETCHED};
    return smaller_of(first[stage], fetched_of(array));
}

INLINE void test_and_pass(const struct array *array, const struct group *here, size_t i, const uint64_t *at,
                          uint64_t count, struct group *next) {
    unsigned all = 1;
    for (uint64_t j = 0; j < count; j++) all &= test(array, at[GROUP * j + i]);
    next->first[next->n] = here->first[i];
    next->second[next->n] = here->second[i];
    next->answers[next->n] = here->answers[i];
    next->n += all;
}

/* Tests the keys that are here, whose places are `here_at`, while it fetches for those that come. */
INLINE void turn_stage(const struct array *array, struct divisor bits, unsigned stage, const struct group *here,
                       const uint64_t *here_at, struct group *coming, uint64_t *coming_at, struct group *next,
                       int vector) {
    uint64_t from = first_of(array, stage), end = first_of(array, stage + 1), count = end - from;
    size_t both = here->n < coming->n ? here->n : coming->n;
    here_at += GROUP * from;
    coming_at += GROUP * from;
    find_places(array->layout, bits, coming, from, end, coming_at, vector);
    next->n = 0;
    for (size_t i = 0; i < both; i++) {
        fetch_places(array, coming_at + i, count);
        test_and_pass(array, here, i, here_at, count, next);
    }
    for (size_t i = both; i < coming->n; i++) fetch_places(array, coming_at + i, count);
    for (size_t i = both; i < here->n; i++) test_and_pass(array, here, i, here_at, count, next);
}

static unsigned test_rest(const struct array *array, const struct group *group, size_t i) {
    struct probe p = {group->first[i], group->second[i]};
    return test_from(array, &p, FETCHED);
}

INLINE void ask_many(const struct array *array, const uint64_t *digests, size_t n, uint8_t *answers, int vector) {
    uint64_t at[2][GROUP * FETCHED]; /* of the group that comes, and of the one that is here */
    struct group groups[2][STAGES + 1];
    struct divisor bits = divisor_of(array->layout[PROBE_BITS]);
    memset(groups, 0, sizeof groups);
    memset(answers, 0, n);
    for (size_t from = 0, turn = 0; from < n + STAGES * GROUP; from += GROUP, turn ^= 1) {
        struct group *coming = groups[turn], *here = groups[turn ^ 1];
        take_group(coming, digests, n, from, answers);
        for (unsigned s = 0; s < STAGES; s++)
            turn_stage(array, bits, s, &here[s], at[turn ^ 1], &coming[s], at[turn], &coming[s + 1], vector);
        for (size_t i = 0; i < coming[STAGES].n; i++)
            *coming[STAGES].answers[i] = (uint8_t)test_rest(array, &coming[STAGES], i);
    }
}

/* Adding touches all places in any case, so there is one stage. */
INLINE void mark_key(struct array *array, const struct group *here, const uint64_t *at, uint64_t count, size_t i) {
    struct probe p = {here->first[i], here->second[i]};
    unsigned had = 1;
    for (uint64_t j = 0; j < count; j++) had &= mark(array, at[GROUP * j + i]);
    had &= mark_from(array, &p, FETCHED);
    *here->answers[i] = (uint8_t)!had;
}

INLINE void put_many(struct array *array, const uint64_t *digests, size_t n, uint8_t *answers, int vector) {
    uint64_t at[2][GROUP * FETCHED], count = fetched_of(array);
    struct group groups[2];
    struct divisor bits = divisor_of(array->layout[PROBE_BITS]);
    memset(groups, 0, sizeof groups);
    for (size_t from = 0, turn = 0; from < n + GROUP; from += GROUP, turn ^= 1) {
        struct group *coming = &groups[turn], *here = &groups[turn ^ 1];
        take_group(coming, digests, n, from, answers);
        find_places(array->layout, bits, coming, 0, count, at[turn], vector);
        for (size_t i = 0; i < GROUP; i++) {
            if (i < coming->n) fetch_places(array, at[turn] + i, count);
            if (i < here->n) mark_key(array, here, at[turn ^ 1], count, i);
        }
    }
}

#define BATCHES(name, vector)                                                                                          \
    TARGET static void contains_many_##name(const struct array *array, const uint64_t *digests, size_t n,              \
                                            uint8_t *answers, const char *ahead) {                                     \
        (void)ahead;                                                                                                   \
        ask_many(array, digests, n, answers, vector);                                                                  \
    }                                                                                                                  \
    TARGET static size_t add_many_##name(struct array *array, const uint64_t *digests, size_t n, uint8_t *answers,     \
                                         const char *ahead) {                                                          \
        (void)ahead;                                                                                                   \
        put_many(array, digests, n, answers, vector);                                                                  \
        return n;                                                                                                      \
    }

#define TARGET
BATCHES(plain, 0)
#undef TARGET

#if defined(__x86_64__)
/* AVX-512 has the 64-bit multiplications that find_places is made of. */
#define TARGET TARGET_AVX512
BATCHES(avx512, 1)
#undef TARGET
#endif

#define OPS(many)                                                                                                      \
    {                                                                                                                  \
        .add = add, .contains = contains, .add_many = add_many_##many, .contains_many = contains_many_##many,          \
        .fetch = fetch                                                                                                 \
    }

static const struct kind_ops *ops(const uint64_t layout[LAYOUT_WORDS], enum isa isa, bool shared) {
    static const struct kind_ops plain = OPS(plain);
    (void)layout, (void)shared;
#if defined(__x86_64__)
    static const struct kind_ops avx512 = OPS(avx512);
    if (isa == ISA_AVX512) return &avx512;
#endif
    (void)isa;
    return &plain;
}
