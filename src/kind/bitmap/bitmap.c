/*
 * The bitmap: an exact set of integers.
 *
 * Idea: one bit for each of the integers 0..range-1. The digest is the integer itself, and the bit
 * says whether it is in the set: no hashing, no false positives, and sets combine a word at a time.
 * (No paper: it is as old as the computer word.)
 *
 *     integer ──▶ bit integer%64 of word integer/64
 *
 *          0 1 2 3 4 5 6 7 8 ...                  range-1
 *         ┌─┬─┬─┬─┬─┬─┬─┬─┬─┬───────────────────────┬─┐
 *         │0│0│0│0│0│1│0│0│1│          ...          │1│   padded with zeros to whole 64-bit words
 *         └─┴─┴─┴─┴─┴─┴─┴─┴─┴───────────────────────┴─┘
 *
 * Example: 100 million user ids, 0 to 99,999,999, take 12.5 million bytes, however many of them are
 * in the set. Two ids, 5 and 10,000,000,000, take an array of 1.25 GB, of which two pages of 4096
 * bytes are touched: the rest costs neither memory nor disk.
 *
 * Cost: one cache line a query; a walk or a combination reads the whole array.
 *
 * Layout: range.
 *
 * Invariants
 *   I1  1 <= range <= 2^63, and the payload has exactly ceil(range/64) words.
 *   I2  bits range and above are zero.
 *   I3  nothing writes to a page that is zero and stays zero.
 */
#include "base/memory.h"
#include "kind/bitmap/bitmap_layout.h"
#include "base/bits.h"

enum { AHEAD = 32 };    /* keys; how far ahead cache lines are prefetched */
enum { PIECE = 8 * 8 }; /* bytes that are tested together */

#define INLINE static inline __attribute__((always_inline))

static uint64_t payload_bytes(const uint64_t layout[LAYOUT_WORDS], const char **reason) {
    *reason = "a range that is not 1 to 2^63";
    return layout[BITMAP_RANGE] >= 1 && layout[BITMAP_RANGE] <= BITMAP_RANGE_MAX ? (layout[BITMAP_RANGE] + 63) / 64 * 8
                                                                                 : 0;
}

/* ---- single keys ---- */

/* `shared`, whether other threads change the array at the same time, is a constant in each
 * caller. */
INLINE int add(struct array *array, uint64_t id, bool shared) {
    if (id >= array->layout[BITMAP_RANGE]) return FULL;
    if (shared) return (int)shared_bit_set(array->bytes, id);
    unsigned had = bit_get(array->bytes, id);
    bit_set(array->bytes, id);
    return !had;
}

INLINE int contains(const struct array *array, uint64_t id, bool shared) {
    return id < array->layout[BITMAP_RANGE] && (shared ? shared_bit_get(array->bytes, id) : bit_get(array->bytes, id));
}

INLINE int remove_id(struct array *array, uint64_t id, bool shared) {
    if (!contains(array, id, shared)) return 0;
    if (shared) return (int)shared_bit_clear(array->bytes, id);
    bit_flip(array->bytes, id);
    return 1;
}

static inline void bitmap_prefetch(const struct array *array, struct digest digest) {
    if (digest.first < array->layout[BITMAP_RANGE]) __builtin_prefetch(array->bytes + (digest.first >> 3));
}

/* ---- batches ---- */

/* The line of the key that comes AHEAD keys later, or of the last one. */
static inline void prefetch_ahead(const struct array *array, const uint64_t *digests, size_t i, size_t n) {
    bitmap_prefetch(array, (struct digest){digests[n - i > AHEAD ? i + AHEAD : n - 1], 0});
}

/* Both work on a copy of the struct: a store to `answers` cannot change that, so it stays in
 * registers. */
INLINE size_t put_many(const struct array *array, const uint64_t *digests, size_t n, uint8_t *answers, bool shared) {
    struct array here = *array;
    for (size_t i = 0; i < n; i++) {
        prefetch_ahead(&here, digests, i, n);
        int is_new = add(&here, digests[i], shared);
        if (is_new == FULL) return i;
        answers[i] = (uint8_t)is_new;
    }
    return n;
}

INLINE void query_many(const struct array *array, const uint64_t *digests, size_t n, uint8_t *answers, bool shared) {
    const struct array here = *array;
    for (size_t i = 0; i < n; i++) {
        prefetch_ahead(&here, digests, i, n);
        answers[i] = (uint8_t)contains(&here, digests[i], shared);
    }
}

/* ---- the operations, for one thread and for many ---- */

#define BITMAP_OPS(table, shared, add_name, contains_name, remove_name, add_many_name, contains_many_name)             \
    static int add_name(struct array *array, struct digest digest) {                                                   \
        return add(array, digest.first, shared);                                                                       \
    }                                                                                                                  \
    static int contains_name(const struct array *array, struct digest digest) {                                        \
        return contains(array, digest.first, shared);                                                                  \
    }                                                                                                                  \
    static int remove_name(struct array *array, struct digest digest) {                                                \
        return remove_id(array, digest.first, shared);                                                                 \
    }                                                                                                                  \
    static size_t add_many_name(struct array *array, const uint64_t *digests, size_t n, uint8_t *answers,              \
                                const char *ahead) {                                                                   \
        (void)ahead;                                                                                                   \
        return put_many(array, digests, n, answers, shared);                                                           \
    }                                                                                                                  \
    static void contains_many_name(const struct array *array, const uint64_t *digests, size_t n, uint8_t *answers,     \
                                   const char *ahead) {                                                                \
        (void)ahead;                                                                                                   \
        query_many(array, digests, n, answers, shared);                                                                \
    }                                                                                                                  \
    static const struct kind_ops table = {                                                                             \
        BASIC_OPS(add_name, contains_name, add_many_name, contains_many_name, bitmap_prefetch),                        \
        .remove = remove_name};

BITMAP_OPS(ops_alone, false, bitmap_add, bitmap_contains, bitmap_remove, bitmap_add_many, bitmap_contains_many)
BITMAP_OPS(ops_shared, true, bitmap_add_shared, bitmap_contains_shared, bitmap_remove_shared, bitmap_add_many_shared,
           bitmap_contains_many_shared)

/* ---- whole sets ---- */

static inline uint64_t combined(uint64_t a, uint64_t b, enum combination what) {
    switch (what) {
    case COMBINE_MERGE:
        return a | b;
    case COMBINE_INTERSECT:
        return a & b;
    case COMBINE_SUBTRACT:
        return a & ~b;
    default:
        return a ^ b;
    }
}

/* Combines one piece. It is written only if it changes, which keeps I3. */
static inline void combine_piece(uint8_t *into, const uint8_t *from, uint64_t length, enum combination what) {
    uint64_t change = 0;
    for (uint64_t i = 0; i < length; i += 8) {
        uint64_t word = load64(into + i);
        change |= word ^ combined(word, load64(from + i), what);
    }
    if (!change) return;
    for (uint64_t i = 0; i < length; i += 8) store64(into + i, combined(load64(into + i), load64(from + i), what));
}

static inline __attribute__((always_inline)) void combine_bytes(uint8_t *into, const uint8_t *from, uint64_t length,
                                                                enum combination what) {
    uint64_t whole = length - length % PIECE;
    for (uint64_t i = 0; i < whole; i += PIECE) combine_piece(into + i, from + i, PIECE, what);
    combine_piece(into + whole, from + whole, length - whole, what);
}

static uint64_t common_length(const struct array *a, const struct array *b) {
    return a->length < b->length ? a->length : b->length;
}

static bool merge(struct array *into, const struct array *from) {
    if (from->layout[BITMAP_RANGE] > into->layout[BITMAP_RANGE]) return false;
    combine_bytes(into->bytes, from->bytes, from->length, COMBINE_MERGE);
    return true;
}

static bool differ(struct array *into, const struct array *from) {
    if (from->layout[BITMAP_RANGE] > into->layout[BITMAP_RANGE]) return false;
    combine_bytes(into->bytes, from->bytes, from->length, COMBINE_DIFFER);
    return true;
}

static bool intersect(struct array *into, const struct array *from) {
    uint64_t common = common_length(into, from);
    combine_bytes(into->bytes, from->bytes, common, COMBINE_INTERSECT);
    memory_clear(into->bytes + common, into->length - common);
    return true;
}

static bool subtract(struct array *into, const struct array *from) {
    combine_bytes(into->bytes, from->bytes, common_length(into, from), COMBINE_SUBTRACT);
    return true;
}

/* Twice the range, so that ids that come in rising order seldom cause a growth; more if one lies
 * far out. */
static bool grow(const struct array *array, uint64_t digest, uint64_t layout[LAYOUT_WORDS], uint64_t *capacity) {
    uint64_t range = array->layout[BITMAP_RANGE];
    if (range == BITMAP_RANGE_MAX || digest >= BITMAP_RANGE_MAX) return false;
    uint64_t wanted = range > BITMAP_RANGE_MAX / 2 ? BITMAP_RANGE_MAX : 2 * range;
    if (wanted <= digest) wanted = digest + 1;
    memset(layout, 0, LAYOUT_WORDS * sizeof *layout);
    layout[BITMAP_RANGE] = (wanted + 63) / 64 * 64;
    *capacity = layout[BITMAP_RANGE];
    return true;
}

static uint64_t range(const struct array *array) {
    return array->layout[BITMAP_RANGE];
}

static bool rehash(struct array *into, const struct array *from) {
    memory_copy_sparse(into->bytes, from->bytes, from->length);
    return true;
}

/* The first byte at or after `at` (a multiple of eight) whose word is not zero, or the length. */
static uint64_t skip_zeros(const uint8_t *bytes, uint64_t at, uint64_t length) {
    for (; length - at >= PIECE; at += PIECE) {
        uint64_t any = 0;
        for (uint64_t i = 0; i < PIECE; i += 8) any |= load64(bytes + at + i);
        if (any) break;
    }
    while (at < length && load64(bytes + at) == 0) at += 8;
    return at;
}

/* The array may be hostile and break I2: what lies beyond the range is not in the set. */
static bool next(const struct array *array, uint64_t *at, uint64_t *digest) {
    uint64_t range = array->layout[BITMAP_RANGE], found = range;
    if (*at < range) {
        uint64_t byte = *at / 64 * 8, word = load64(array->bytes + byte) & UINT64_MAX << *at % 64;
        if (!word) {
            byte = skip_zeros(array->bytes, byte + 8, array->length);
            if (byte < array->length) word = load64(array->bytes + byte);
        }
        if (word) found = byte * 8 + (uint64_t)__builtin_ctzll(word);
    }
    if (found >= range) {
        *at = *at < range ? range : *at;
        return false;
    }
    *digest = found;
    *at = found + 1;
    return true;
}

static const struct kind_ops *ops(const uint64_t layout[LAYOUT_WORDS], enum isa isa, bool shared) {
    (void)layout, (void)isa;
    return shared ? &ops_shared : &ops_alone;
}

static const struct growable growable = {
    .full = "the integer lies beyond the bitmap's range", .grow = grow, .rehash = rehash, .range = range};

static const struct combinable combinable = {.combine = {merge, intersect, subtract, differ}};

#include "kind/bitmap/bitmap_trace.h"

const struct kind kind_bitmap = {
    .row = {PERHAPS_BITMAP,
            PERHAPS_ADD | PERHAPS_REMOVE | PERHAPS_MERGE | PERHAPS_INTERSECT | PERHAPS_SUBTRACT | PERHAPS_GROW |
                PERHAPS_LIST | PERHAPS_IN_PLACE,
            "bitmap", "one bit for each integer of a range: exact, and it grows; integers only"},
    .hashing = {.hash = PERHAPS_IDENTITY, .words = 1, .own = true},
    .words = {.name = {"range"}, .may_differ = 1u << BITMAP_RANGE},
    .payload_bytes = payload_bytes,
    .ops = ops,
    .lock_free = true,
    .sparse = true,
    .model = &model_bitmap,
    .growable = &growable,
    .combinable = &combinable,
    .next = next,
    .trace = bitmap_trace,
    .cells = bitmap_cells,
};
