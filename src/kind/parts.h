/*
 * Static kinds: what fuse and ribbon have in common.
 *
 * The set is cut into 2^b parts by the top b bits of a mix of each digest, the `key` from here on. Each part is solved alone, in
 * memory that the cache holds, and has an entry in a directory, so that a question looks at its part only:
 *
 *     ┌───────────┬───────────┬─────┬────────────────┬──────────┬─────┬─────────┐
 *     │ entry 0   │ entry 1   │ ... │ data of part 0 │ of 1     │ ... │ padding │
 *     └───────────┴───────────┴─────┴────────────────┴──────────┴─────┴─────────┘
 *
 * The bits of a key below the top b are as good as any, so they go on to place the key within its part: parts in order, and places
 * within a part in order, are the order of the keys themselves. What else a kind needs (offsets, coefficients, fingerprints) comes
 * from further mixes, which a seed of the part enters.
 */
#ifndef PERHAPS_KIND_PARTS_H
#define PERHAPS_KIND_PARTS_H

#include "base/arith.h"
#include "base/endian.h"
#include "kind.h"

/* The first words of every static kind's layout, and of every entry. */
enum { PARTS_BITS, DATA_WORDS, PARTS_OWN }; /* 2^PARTS_BITS parts, DATA_WORDS of data; the rest is the kind's */
enum { PART_START, PART_KEYS, PART_OWN };   /* where in the data it begins, how many keys it has; the rest likewise */
enum {
    PARTS_BITS_MAX = 24,
    PARTS_PADDING = 64
}; /* bytes after the data, so that reading past a part's end is harmless */
#define PART_KEYS_MAX  (UINT64_C(1) << 31)
#define DATA_WORDS_MAX (UINT64_C(1) << 48)

/* The key of a digest: a mix that nobody else uses. It is a bijection. */
static inline uint64_t part_key(uint64_t digest) {
    return mix64(digest ^ UINT64_C(0x6A09E667F3BCC909));
}

/* The part of a key, and what places it within the part: a uniform word, in the order of the keys. */
static inline uint64_t part_of(uint64_t key, uint64_t bits) {
    return key >> 1 >> (63 - bits);
}

static inline uint64_t place_in_part(uint64_t key, uint64_t bits) {
    return key << bits;
}

/* A word of a directory's entry. */
static inline uint64_t entry_word(const struct array *array, uint64_t part, unsigned entry_words, unsigned word) {
    return load64(array->bytes + 8 * (part * entry_words + word));
}

/* Where the data begins. */
static inline uint64_t parts_data_start(const uint64_t layout[LAYOUT_WORDS], unsigned entry_words) {
    return (entry_words * UINT64_C(8)) << layout[PARTS_BITS];
}

#endif
