/*
 * A hash table of whole digests: cuckoo hashing (Pagh, Rodler, "Cuckoo hashing", 2001) in buckets
 * of one cache line (Dietzfelbinger, Weidling, "Balanced allocation and dictionaries with tightly
 * packed constant size bins", 2007).
 *
 * Idea: a digest has two buckets of eight slots and is in one of these sixteen slots, or not in the
 * table. A new one goes to the emptier bucket. If both are full, digests move to their other
 * buckets, one after the other, until a slot is free.
 *
 *     digest ─┬───────▶ bucket a      a bucket is one cache line, eight little-endian words
 *             └─ × odd ▶ bucket b
 *                                        slot 0  1  2  3  4  5  6  7
 *           ┌────────┬────────┬────┬────────────────────────────────────┬────┬────────┬──────┐
 *           │bucket 0│bucket 1│ .. │ d  d  d  d  d  0  0  0             │ .. │ last   │ zero │
 *           └────────┴────────┴────┴────────────────────────────────────┴────┴────────┴──────┘
 *
 * Zero marks an empty slot. The digest 0 itself lives in a word of its own behind the last bucket:
 * 1 if it is in the table. Behind that comes the stash, if there is one.
 *
 * Example: a million keys take 138,889 buckets, 90 % of whose slots are then in use: 8.9 MB, 71.1
 * bits per key. While it fills, 7,500 adds find both their buckets full, the first at 72 %, and
 * each moves a single digest. Beyond the plan, at 94 %, one finds no way to a free slot that is
 * short enough: longer ones would lead to 98 %, but take too long to find.
 *
 * A digest that is found was added: the table is as exact as digests are. Two keys of n share one
 * with chance n²/2^65.
 *
 * Whoever knows the hash can choose any number of keys whose digests share both buckets, in tables
 * of every size. A table that has no room for a digest although it is rather empty gets a stash
 * (table_stash.h) in place of more buckets, and from then on other operations, which look there
 * too. So any set of keys fits, in about twice the memory; only time suffers.
 *
 * Cost: two cache lines a query. Layout: buckets, any number of them; cells of the stash, mostly 0.
 *
 * Invariants
 *   I1  1 <= buckets <= 2^56, cells <= 2^56, and the payload has 8 · buckets + 1 + cells words.
 *   I2  a digest other than 0 stands in a slot of one of its two buckets or in the stash, and in no
 *       other place.
 *   I3  the slots of a bucket that are in use come first.
 *   I4  the word behind the buckets is 0 or 1.
 *   I5  the digests of the stash are in order, and empty cells come last.
 * A hostile payload may break I2 to I5: answers are then wrong, but nothing leaves the array or
 * runs forever.
 */
#include "base/arith.h"
#include "base/endian.h"
#include "kind/table/table_layout.h"
#include "kind/table/table_stash.h"

#include <assert.h>

enum {
    BLOCK = 64,  /* keys in flight at a time */
    SEARCHED = 4 /* buckets that a search expands, to eight others each, before FULL */
};

static uint64_t payload_bytes(const uint64_t layout[LAYOUT_WORDS], const char **reason) {
    if (layout[TABLE_BUCKETS] == 0 || layout[TABLE_BUCKETS] > TABLE_BUCKETS_MAX) {
        *reason = "a number of buckets out of range";
        return 0;
    }
    if (layout[TABLE_STASH] > TABLE_CELLS_MAX) {
        *reason = "a stash out of range";
        return 0;
    }
    return layout[TABLE_BUCKETS] * TABLE_BUCKET_BYTES + 8 + 8 * layout[TABLE_STASH];
}

/* What picks the second bucket: the digest times an odd number (the fraction of the square root of
 * 17). The first is picked by the digest itself. Only the upper bits count in both, so the two are
 * independent. */
static const uint64_t second_multiplier = UINT64_C(0x1F83D9ABFB41BD6B);

/* The two buckets of a digest. They differ, if there is more than one. */
struct pair {
    uint64_t a, b;
};

static inline struct pair buckets_of(uint64_t digest, uint64_t buckets) {
    struct pair pair = {mul_high(digest, buckets), mul_high(digest * second_multiplier, buckets)};
    if (pair.a == pair.b) pair.b = pair.a + 1 == buckets ? 0 : pair.a + 1;
    return pair;
}

static inline uint8_t *bucket_at(const struct array *array, uint64_t bucket) {
    assert(bucket < array->layout[TABLE_BUCKETS]);
    return array->bytes + bucket * TABLE_BUCKET_BYTES;
}

/* The word that says whether digest 0 is in. */
static inline uint8_t *zero_of(const struct array *array) {
    return array->bytes + array->layout[TABLE_BUCKETS] * TABLE_BUCKET_BYTES;
}

static inline struct table_stash stash_of(const struct array *array) {
    return (struct table_stash){zero_of(array) + 8, array->layout[TABLE_STASH]};
}

static inline int contains_zero(const struct array *array) {
    return load64(zero_of(array)) != 0;
}

static int add_zero(const struct array *array) {
    int is_new = !contains_zero(array);
    store64(zero_of(array), 1);
    return is_new;
}

static int remove_zero(const struct array *array) {
    int was_there = contains_zero(array);
    store64(zero_of(array), 0);
    return was_there;
}

static void table_prefetch(const struct array *array, struct digest digest) {
    struct pair pair = buckets_of(digest.first, array->layout[TABLE_BUCKETS]);
    __builtin_prefetch(bucket_at(array, pair.a), 0, 2);
    __builtin_prefetch(bucket_at(array, pair.b), 0, 2);
}

static int table_add_stash(struct array *array, struct digest digest);

/* A template: each instruction set brings matches() for a bucket, and table_batch.h makes the
 * operations of it. */
#define FOR_SCALAR "kind/table/table_scalar.h"
#define FOR_AVX2   "kind/table/table_avx2.h"
#define FOR_AVX512 "kind/table/table_avx512.h"
#define FOR_NEON   "kind/table/table_neon.h"
#define TEMPLATE   "kind/table/table_batch.h"
#include "base/each_isa.h"

#define TABLE_OPS(table, target, isa, add_name, contains_name, add_many_name, contains_many_name, remove_name)         \
    target static int add_name(struct array *array, struct digest digest) {                                            \
        return add_one_##isa(array, digest.first);                                                                     \
    }                                                                                                                  \
    target static int contains_name(const struct array *array, struct digest digest) {                                 \
        return query_one_##isa(array, digest.first);                                                                   \
    }                                                                                                                  \
    target static size_t add_many_name(struct array *array, const uint64_t *digests, size_t n, uint8_t *answers,       \
                                       const char *ahead) {                                                            \
        return near_or_far_##isa(array, digests, n, answers, ahead, 1);                                                \
    }                                                                                                                  \
    target static void contains_many_name(const struct array *array, const uint64_t *digests, size_t n,                \
                                          uint8_t *answers, const char *ahead) {                                       \
        near_or_far_##isa(array, digests, n, answers, ahead, 0);                                                       \
    }                                                                                                                  \
    target static int remove_name(struct array *array, struct digest digest) {                                         \
        return remove_one_##isa(array, digest.first);                                                                  \
    }                                                                                                                  \
    static const struct kind_ops table = {                                                                             \
        BASIC_OPS(add_name, contains_name, add_many_name, contains_many_name, table_prefetch), .remove = remove_name};

TABLE_OPS(table_ops_scalar, , scalar, table_add_scalar, table_contains_scalar, table_add_many_scalar,
          table_contains_many_scalar, table_remove_scalar)
#if defined(__x86_64__)
TABLE_OPS(table_ops_avx2, TARGET_AVX2, avx2, table_add_avx2, table_contains_avx2, table_add_many_avx2,
          table_contains_many_avx2, table_remove_avx2)
TABLE_OPS(table_ops_avx512, TARGET_AVX512, avx512, table_add_avx512, table_contains_avx512, table_add_many_avx512,
          table_contains_many_avx512, table_remove_avx512)
#endif
#if defined(__aarch64__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
TABLE_OPS(table_ops_neon, , neon, table_add_neon, table_contains_neon, table_add_many_neon, table_contains_many_neon,
          table_remove_neon)
#endif

static const struct kind_ops *ops_without_stash(enum isa isa) {
#if defined(__x86_64__)
    if (isa == ISA_AVX512) return &table_ops_avx512;
    if (isa == ISA_AVX2) return &table_ops_avx2;
#endif
#if defined(__aarch64__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    if (isa == ISA_NEON) return &table_ops_neon;
#endif
    (void)isa;
    return &table_ops_scalar;
}

/* ---- with a stash ----
 *
 * For tables with one only: it costs a search in the stash for every digest that the buckets do not
 * have. */

static bool is_stashed(const struct array *array, uint64_t digest) {
    return digest && table_stash_has(stash_of(array), digest);
}

static int table_add_stash(struct array *array, struct digest digest) {
    if (is_stashed(array, digest.first)) return 0;
    int answer = ops_without_stash(array->isa)->add(array, digest);
    return answer != FULL ? answer : table_stash_add(stash_of(array), digest.first) ? 1 : FULL;
}

static int table_contains_stash(const struct array *array, struct digest digest) {
    return ops_without_stash(array->isa)->contains(array, digest) || is_stashed(array, digest.first);
}

static size_t table_add_many_stash(struct array *array, const uint64_t *digests, size_t n, uint8_t *answers,
                                   const char *ahead) {
    enum { EARLY = 16 };
    (void)ahead;
    for (size_t i = 0; i < n; i++) {
        if (i + EARLY < n) table_prefetch(array, (struct digest){digests[i + EARLY], 0});
        int answer = table_add_stash(array, (struct digest){digests[i], 0});
        if (answer == FULL) return i;
        answers[i] = (uint8_t)answer;
    }
    return n;
}

static void table_contains_many_stash(const struct array *array, const uint64_t *digests, size_t n, uint8_t *answers,
                                      const char *ahead) {
    ops_without_stash(array->isa)->contains_many(array, digests, n, answers, ahead);
    for (size_t i = 0; i < n; i++)
        if (!answers[i]) answers[i] = is_stashed(array, digests[i]);
}

static int table_remove_stash(struct array *array, struct digest digest) {
    return ops_without_stash(array->isa)->remove(array, digest) ||
           (digest.first && table_stash_remove(stash_of(array), digest.first));
}

static const struct kind_ops *ops(const uint64_t layout[LAYOUT_WORDS], enum isa isa, bool shared) {
    static const struct kind_ops with_stash = {BASIC_OPS(table_add_stash, table_contains_stash, table_add_many_stash,
                                                         table_contains_many_stash, table_prefetch),
                                               .remove = table_remove_stash};
    (void)shared;
    return layout[TABLE_STASH] ? &with_stash : ops_without_stash(isa);
}

/* Whether so little of it is in use that more buckets are no cure: the keys were chosen to have the
 * same two. Other keys fill more than nine tenths of the slots, if there are not just a few. */
static bool is_strangely_empty(const struct array *array) {
    enum { FEW_BUCKETS = 64 };
    uint64_t slots = array->layout[TABLE_BUCKETS] * TABLE_SLOTS, used = 0;
    for (uint64_t i = 0; i < slots; i++) used += load64(array->bytes + 8 * i) != 0;
    return used < (array->layout[TABLE_BUCKETS] < FEW_BUCKETS ? slots / 8 * 3 : slots / 4 * 3);
}

/* Beside many buckets the first stash is not tiny, lest it be doubled often: that copies all of
 * them. */
static uint64_t more_cells(const struct array *array) {
    enum { FEWEST = 8, BUCKETS_PER_CELL = 64 };
    uint64_t first = array->layout[TABLE_BUCKETS] / BUCKETS_PER_CELL;
    return array->layout[TABLE_STASH] ? 2 * array->layout[TABLE_STASH] : first < FEWEST ? FEWEST : first;
}

/* How many buckets there are after growing: about half as many again, or twice as many while they
 * are few. The digest that found no room makes it a little more or less, so that tables with equal
 * shares of the keys, as shards have, come to grow at different times, not all in the same
 * moment. */
static uint64_t more_buckets(uint64_t buckets, uint64_t digest) {
    enum { FEW = 4096 };
    uint64_t chance = digest * second_multiplier >> 40 & 0xff; /* of 256 */
    if (buckets < FEW) return buckets + (buckets * (128 + chance) >> 8) + 1;
    return buckets + buckets / 1024 * (384 + chance);
}

static bool grow(const struct array *array, uint64_t digest, uint64_t layout[LAYOUT_WORDS], uint64_t *capacity) {
    bool chosen = is_strangely_empty(array);
    for (int i = 0; i < LAYOUT_WORDS; i++) layout[i] = 0;
    layout[TABLE_BUCKETS] = chosen ? array->layout[TABLE_BUCKETS] : more_buckets(array->layout[TABLE_BUCKETS], digest);
    layout[TABLE_STASH] = chosen ? more_cells(array) : array->layout[TABLE_STASH];
    if (layout[TABLE_BUCKETS] > TABLE_BUCKETS_MAX || layout[TABLE_STASH] > TABLE_CELLS_MAX) return false;
    *capacity = table_capacity(layout[TABLE_BUCKETS], layout[TABLE_STASH]);
    return true;
}

static bool rehash(struct array *into, const struct array *from) {
    static bool (*const pour[ISA_COUNT])(struct array * into, const struct array *from) = {
        [ISA_SCALAR] = pour_scalar,
#if defined(__x86_64__)
        [ISA_AVX2] = pour_avx2,
        [ISA_AVX512] = pour_avx512,
#endif
#if defined(__aarch64__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
        [ISA_NEON] = pour_neon,
#endif
    };
    if (contains_zero(from)) add_zero(into);
    if (!(pour[into->isa] ? pour[into->isa] : pour_scalar)(into, from)) return false;
    const struct kind_ops *best = ops(into->layout, into->isa, false);
    struct table_stash stash = stash_of(from);
    for (uint64_t cell = 0; cell < stash.cells; cell++) {
        uint64_t digest = load64(stash.bytes + 8 * cell);
        if (digest && best->add(into, (struct digest){digest, 0}) == FULL) return false;
    }
    return true;
}

/* Digests are read by the number of their word: slots, the word of the digest 0, cells. */
static inline uint64_t words_of(const struct array *array) {
    return array->layout[TABLE_BUCKETS] * TABLE_SLOTS + 1 + array->layout[TABLE_STASH];
}

/* The digest in a word, where there is one other than 0; else 0. */
static inline uint64_t digest_at(const struct array *array, uint64_t word) {
    return word == array->layout[TABLE_BUCKETS] * TABLE_SLOTS ? 0 : load64(array->bytes + 8 * word);
}

/* Adds all digests of one table to another, in whole batches: reading goes straight through the
 * array, and add_many prefetches. False if one found no place. */
static bool merge(struct array *into, const struct array *from) {
    enum { BATCH = 1024 };
    uint64_t digests[BATCH], words = words_of(from);
    uint8_t answers[BATCH];
    const struct kind_ops *best = ops(into->layout, into->isa, false);
    if (contains_zero(from)) add_zero(into);
    for (uint64_t at = 0; at < words;) {
        size_t n = 0;
        for (; at < words && n < BATCH; at++) {
            digests[n] = digest_at(from, at);
            n += digests[n] != 0;
        }
        const char *ahead = (const char *)from->bytes + 8 * at;
        if (best->add_many(into, digests, n, answers, ahead) < n) return false;
    }
    return true;
}

static bool next(const struct array *array, uint64_t *at, uint64_t *digest) {
    uint64_t words = words_of(array), zero = array->layout[TABLE_BUCKETS] * TABLE_SLOTS;
    while (*at < words) {
        uint64_t word = (*at)++;
        *digest = digest_at(array, word);
        if (*digest || (word == zero && contains_zero(array))) return true;
    }
    return false;
}

static const struct growable growable = {
    .full = "the table has no room for another key", .grow = grow, .rehash = rehash};

static const struct combinable combinable = {.combine = {[COMBINE_MERGE] = merge}, .reinserts = true};

#include "kind/table/table_trace.h"

const struct kind kind_table = {
    .row = {PERHAPS_TABLE, PERHAPS_ADD | PERHAPS_REMOVE | PERHAPS_MERGE | PERHAPS_GROW | PERHAPS_LIST, "table",
            "hash table of whole digests: practically exact, forgets, grows, and can be listed"},
    .hashing = {.hash = PERHAPS_XXH3, .words = 1},
    .words = {.name = {"buckets", "cells of the stash"}, .may_differ = 1u << TABLE_BUCKETS | 1u << TABLE_STASH},
    .payload_bytes = payload_bytes,
    .ops = ops,
    .model = &model_table,
    .growable = &growable,
    .combinable = &combinable,
    .next = next,
    .trace = table_trace,
    .cells = table_cells,
    .cell = "slot",
};
