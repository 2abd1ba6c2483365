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
#include "store/bits.h"

#include <assert.h>

enum { BITS, HASHES };                /* the words of the layout */
enum { HASHES_MAX = 64, GROUP = 16 }; /* GROUP keys are in flight at a time */

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

/* Probe i of a digest: its own mix, reduced to 0..m-1. */
static inline uint64_t probe(uint64_t digest, uint64_t i, uint64_t bits) {
    return mul_high(mix64(digest + (i + 1) * UINT64_C(0x9E3779B97F4A7C15)), bits);
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

/* In a batch, the probes of the next group are worked out and fetched while those of this group are tested. */
struct group {
    uint64_t at[GROUP * HASHES_MAX];
};

static void fetch(const struct array *array, const uint64_t *digests, size_t n, struct group *group) {
    uint64_t bits = array->layout[BITS], hashes = array->layout[HASHES];
    uint64_t *at = group->at;
    for (size_t key = 0; key < n; key++) {
        for (uint64_t i = 0; i < hashes; i++) {
            *at = probe(digests[key], i, bits);
            __builtin_prefetch(array->bytes + (*at >> 3));
            at++;
        }
    }
}

static void test(const struct array *array, const struct group *group, size_t n, uint8_t *answers) {
    uint64_t hashes = array->layout[HASHES];
    const uint64_t *at = group->at;
    for (size_t key = 0; key < n; key++, at += hashes) {
        unsigned all = 1;
        for (uint64_t i = 0; i < hashes; i++) all &= bit_get(array->bytes, at[i]);
        answers[key] = (uint8_t)all;
    }
}

static void set(struct array *array, const struct group *group, size_t n, uint8_t *answers) {
    uint64_t hashes = array->layout[HASHES];
    const uint64_t *at = group->at;
    for (size_t key = 0; key < n; key++, at += hashes) {
        unsigned had = 1;
        for (uint64_t i = 0; i < hashes; i++) {
            had &= bit_get(array->bytes, at[i]);
            bit_set(array->bytes, at[i]);
        }
        answers[key] = !had;
    }
}

static inline size_t smaller(size_t a, size_t b) {
    return a < b ? a : b;
}

static void contains_many(const struct array *array, const uint64_t *digests, size_t n, uint8_t *answers,
                          const char *ahead) {
    (void)ahead; /* k cache lines a key leave the stream of keys time enough */
    struct group groups[2];
    fetch(array, digests, smaller(n, GROUP), &groups[0]);
    for (size_t i = 0, turn = 0; i < n; i += GROUP, turn ^= 1) {
        size_t next = smaller(i + GROUP, n);
        fetch(array, digests + next, smaller(n - next, GROUP), &groups[turn ^ 1]);
        test(array, &groups[turn], smaller(n - i, GROUP), answers + i);
    }
}

static void add_many(struct array *array, const uint64_t *digests, size_t n, uint8_t *answers, const char *ahead) {
    (void)ahead;
    struct group groups[2];
    fetch(array, digests, smaller(n, GROUP), &groups[0]);
    for (size_t i = 0, turn = 0; i < n; i += GROUP, turn ^= 1) {
        size_t next = smaller(i + GROUP, n);
        fetch(array, digests + next, smaller(n - next, GROUP), &groups[turn ^ 1]);
        set(array, &groups[turn], smaller(n - i, GROUP), answers + i);
    }
}

static void merge(struct array *into, const struct array *from) {
    bits_or(into->bytes, from->bytes, into->length);
}

static void intersect(struct array *into, const struct array *from) {
    bits_and(into->bytes, from->bytes, into->length);
}

static const struct kind_ops *ops(const uint64_t layout[LAYOUT_WORDS], enum isa isa) {
    static const struct kind_ops plain = {add, contains, add_many, contains_many};
    (void)layout;
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
