/*
 * Static kinds: what fuse and ribbon have in common.
 *
 * The set is cut into 2^b parts by the top b bits of each digest, the `key` from here on. Each part
 * is solved alone, in memory that fits into the cache, and has an entry in a directory, so that a
 * query looks at its part only:
 *
 *     ┌───────────┬───────────┬─────┬────────────────┬──────────┬─────┬─────────┐
 *     │ entry 0   │ entry 1   │ ... │ data of part 0 │ of 1     │ ... │ padding │
 *     └───────────┴───────────┴─────┴────────────────┴──────────┴─────┴─────────┘
 *
 * The bits below the top b place the key within its part: both parts and places within a part are
 * monotone in the key. What else a kind needs (offsets, coefficients, prints) comes from products
 * of the key, or from its lowest bits. Some of them take a seed of the part: without a solution,
 * another seed is tried.
 */
#ifndef PERHAPS_STATIC_PARTS_H
#define PERHAPS_STATIC_PARTS_H

#include "base/arith.h"
#include "base/endian.h"
#include "kind/kind.h"

#include <stddef.h>

/* The first words of every static kind's layout, and of every entry. */
enum { PARTS_BITS, DATA_WORDS, PARTS_OWN };       /* PARTS_OWN on: the kind's */
enum { PART_START, PART_KEYS, PART_OWN };         /* first word in the data, keys; likewise */
enum { PARTS_BITS_MAX = 16, PARTS_PADDING = 64 }; /* bytes: queries may read past the data */
#define DATA_WORDS_MAX (UINT64_C(1) << 35)        /* 256 GiB */
#define PART_KEYS_MAX  (UINT64_C(1) << 31)

/* log2 of the number of parts for `keys` keys: small parts take more memory for a key, large ones
 * do not fit into the cache. */
enum { PART_LEAST = 700000 };
static inline uint64_t parts_bits_for(uint64_t keys) {
    uint64_t bits = 0;
    while (bits < PARTS_BITS_MAX && keys >> (bits + 1) >= PART_LEAST) bits++;
    return bits;
}

/* The part of a key, and a uniform word that places it within the part. Monotone in the key. */
static inline uint64_t part_of(uint64_t key, uint64_t bits) {
    return key >> 1 >> (63 - bits);
}

static inline uint64_t place_in_part(uint64_t key, uint64_t bits) {
    return key << bits;
}

/* A word of an entry of the directory. */
static inline uint64_t entry_word(const struct array *array, uint64_t part, unsigned entry_words, unsigned word) {
    return load64(array->bytes + 8 * (part * entry_words + word));
}

/* For payload_bytes: 0 and a reason if the number of parts or words is out of range. */
static inline uint64_t parts_length(const uint64_t layout[LAYOUT_WORDS], unsigned entry_words, const char **reason) {
    *reason = "a number of parts or words out of range";
    if (layout[PARTS_BITS] > PARTS_BITS_MAX || layout[DATA_WORDS] > DATA_WORDS_MAX) return 0;
    return ((entry_words * UINT64_C(8)) << layout[PARTS_BITS]) + 8 * layout[DATA_WORDS] + PARTS_PADDING;
}

/* Where the data begins. */
static inline uint64_t parts_data_start(const uint64_t layout[LAYOUT_WORDS], unsigned entry_words) {
    return (entry_words * UINT64_C(8)) << layout[PARTS_BITS];
}

/* A sealed filter takes no more keys. */
static inline int parts_add(struct array *array, struct digest digest) {
    (void)array, (void)digest;
    return FULL;
}

static inline size_t parts_add_many(struct array *array, const uint64_t *digests, size_t n, uint8_t *answers,
                                    const char *ahead) {
    (void)array, (void)digests, (void)n, (void)answers, (void)ahead;
    return 0;
}

#endif
