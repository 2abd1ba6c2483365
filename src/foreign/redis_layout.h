/* Filters of RedisBloom: the words of their layouts, which the kinds, their plans and their bytes have in common. */
#ifndef PERHAPS_FOREIGN_REDIS_LAYOUT_H
#define PERHAPS_FOREIGN_REDIS_LAYOUT_H

#include "base/endian.h"
#include "kind/kind.h"

/* ---- Bloom ---- */

/* BPE is the bits of a double; OPTIONS has the growth of a filter that does not scale in its upper half. */
enum { BLOOM_BITS, BLOOM_HASHES, BLOOM_N2, BLOOM_BPE, BLOOM_OPTIONS };

enum bloom_option {
    OPTION_NOROUND = 1,      /* as many bits as there must be, not a power of two */
    OPTION_ENTS_IS_BITS = 2, /* the number of entries was a power of two of bits */
    OPTION_FORCE64 = 4,      /* hashes of 64 bits */
    OPTION_NO_SCALING = 8,   /* one layer, for ever */
    OPTIONS_ALL = 15
};

enum { EXPANSION_MAX = 32768 }; /* by what a layer or sub-filter is larger than the one before */

/* ---- cuckoo ---- */

/* LIMITS is how many fingerprints are moved for a new one, and in the next 16 bits how many sub-filters there may be. */
enum { CUCKOO_BUCKETS, CUCKOO_BUCKET_SIZE, CUCKOO_EXPANSION, CUCKOO_FILTERS, CUCKOO_LIMITS };
enum { BUCKET_SIZE_MAX = 255, STEPS_MAX = 65535, FILTERS_USUAL = 32, FILTERS_MAX = PERHAPS_LAYERS_MAX };
#define SLOTS_MAX (UINT64_C(1) << 32) /* of a sub-filter: indices there have 32 bits */

/* What follows the slots: the number of items, of deletions since the last compaction, and of sub-filters at the end that are
 * there but not in use. */
enum { TAIL_ITEMS = 0, TAIL_DELETIONS = 8, TAIL_IDLE = 16, TAIL_BYTES = 24 };

static inline unsigned cuckoo_shift(const uint64_t layout[LAYOUT_WORDS]) {
    return layout[CUCKOO_EXPANSION] > 1 ? (unsigned)__builtin_ctzll(layout[CUCKOO_EXPANSION]) : 0;
}

static inline uint64_t cuckoo_buckets(const uint64_t layout[LAYOUT_WORDS], uint64_t i) {
    return layout[CUCKOO_BUCKETS] << i * cuckoo_shift(layout);
}

static inline uint64_t cuckoo_slots(const uint64_t layout[LAYOUT_WORDS], uint64_t i) {
    return cuckoo_buckets(layout, i) * layout[CUCKOO_BUCKET_SIZE];
}

/* Slots of the first n sub-filters: a geometric series. */
static inline uint64_t cuckoo_slots_of(const uint64_t layout[LAYOUT_WORDS], uint64_t n) {
    uint64_t first = cuckoo_slots(layout, 0);
    if (!cuckoo_shift(layout)) return n * first;
    return (cuckoo_slots(layout, n) - first) / (layout[CUCKOO_EXPANSION] - 1);
}

/* How many of n slots are not empty. */
static inline uint64_t cuckoo_used(const uint8_t *slots, uint64_t n) {
    uint64_t used = 0;
    for (uint64_t i = 0; i < n; i++) used += slots[i] != 0;
    return used;
}

static inline uint8_t *cuckoo_tail(const struct array *array, unsigned at) {
    return array->bytes + array->length - TAIL_BYTES + at;
}

/* Sub-filters in use. In a damaged array the word may be anything. */
static inline uint64_t cuckoo_in_use(const struct array *array) {
    uint64_t idle = load64(cuckoo_tail(array, TAIL_IDLE)), all = array->layout[CUCKOO_FILTERS];
    return idle < all ? all - idle : 1;
}

#endif
