/* Layout of RedisBloom's cuckoo filters: for the kind, its plan, and import and export. */
#ifndef PERHAPS_FOREIGN_REDIS_CUCKOO_REDIS_CUCKOO_LAYOUT_H
#define PERHAPS_FOREIGN_REDIS_CUCKOO_REDIS_CUCKOO_LAYOUT_H

#include "base/endian.h"
#include "kind/kind.h"

/* Words of the layout. LIMITS is the number of fingerprints that are moved for a new one, and in
 * the next 16 bits the number of sub-filters that there may be. */
enum { REDIS_CUCKOO_BUCKETS, REDIS_CUCKOO_BUCKET_SIZE, REDIS_CUCKOO_EXPANSION };
enum { REDIS_CUCKOO_FILTERS = REDIS_CUCKOO_EXPANSION + 1, REDIS_CUCKOO_LIMITS };
enum { REDIS_CUCKOO_BUCKET_SIZE_MAX = 255, REDIS_CUCKOO_EXPANSION_MAX = 32768, REDIS_CUCKOO_STEPS_MAX = 65535 };
enum { REDIS_CUCKOO_FILTERS_USUAL = 32, REDIS_CUCKOO_FILTERS_MAX = PERHAPS_LAYERS_MAX };
#define REDIS_CUCKOO_SLOTS_MAX (UINT64_C(1) << 32) /* of a sub-filter: indices have 32 bits */

/* What follows the slots: the number of items, of deletions since the last compaction, and of
 * sub-filters at the end that are there but not in use. */
enum { REDIS_CUCKOO_ITEMS = 0, REDIS_CUCKOO_DELETIONS = 8, REDIS_CUCKOO_IDLE = 16, REDIS_CUCKOO_TAIL_BYTES = 24 };

static inline unsigned redis_cuckoo_shift(const uint64_t layout[LAYOUT_WORDS]) {
    return layout[REDIS_CUCKOO_EXPANSION] > 1 ? (unsigned)__builtin_ctzll(layout[REDIS_CUCKOO_EXPANSION]) : 0;
}

static inline uint64_t redis_cuckoo_buckets(const uint64_t layout[LAYOUT_WORDS], uint64_t i) {
    return layout[REDIS_CUCKOO_BUCKETS] << i * redis_cuckoo_shift(layout);
}

static inline uint64_t redis_cuckoo_slots(const uint64_t layout[LAYOUT_WORDS], uint64_t i) {
    return redis_cuckoo_buckets(layout, i) * layout[REDIS_CUCKOO_BUCKET_SIZE];
}

/* Slots of the first n sub-filters: a geometric series. */
static inline uint64_t redis_cuckoo_slots_of(const uint64_t layout[LAYOUT_WORDS], uint64_t n) {
    uint64_t first = redis_cuckoo_slots(layout, 0);
    if (!redis_cuckoo_shift(layout)) return n * first;
    return (redis_cuckoo_slots(layout, n) - first) / (layout[REDIS_CUCKOO_EXPANSION] - 1);
}

/* How many of n slots are not empty. */
static inline uint64_t redis_cuckoo_used(const uint8_t *slots, uint64_t n) {
    uint64_t used = 0;
    for (uint64_t i = 0; i < n; i++) used += slots[i] != 0;
    return used;
}

static inline uint8_t *redis_cuckoo_tail(const struct array *array, unsigned at) {
    return array->bytes + array->length - REDIS_CUCKOO_TAIL_BYTES + at;
}

/* Sub-filters in use; at least 1, even in a damaged array. */
static inline uint64_t redis_cuckoo_in_use(const struct array *array) {
    uint64_t idle = load64(redis_cuckoo_tail(array, REDIS_CUCKOO_IDLE)), all = array->layout[REDIS_CUCKOO_FILTERS];
    return idle < all ? all - idle : 1;
}

/* The false-positive rate of a sub-filter that is full. */
double redis_cuckoo_fpr(const uint64_t layout[LAYOUT_WORDS]);

extern const struct model model_redis_cuckoo;

#endif
