/*
 * A flat hash set of 64-bit keys with open addressing: a power of two of slots, at most 7/8 of them
 * full. Each has a byte, apart from the keys: 0 for an empty slot, else 7 bits of the hash. Slots
 * are in groups of 16. A query compares all bytes of a group at once, and ends at the first group
 * with an empty slot. The idea is that of the "Swiss tables" of Abseil. It gets as many keys as the
 * filter, not as many bytes.
 */
#include "rivals.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

enum { GROUP = 16 };

static const uint64_t hash_factor = 0x9e3779b97f4a7c15u;

/* The tags of all groups, then the keys of all groups. */
struct slots {
    uint8_t *tags;
    uint64_t *keys;
    uint64_t mask; /* of group numbers */
};

static inline struct slots slots_of(const struct rival_filter *r) {
    return (struct slots){r->memory, (uint64_t *)r->memory + r->units * GROUP / sizeof(uint64_t), r->units - 1};
}

/* Which tags of a group are this one: a set of 16 bits. */
static inline unsigned matches(const struct slots *slots, uint64_t group, uint8_t tag) {
    const uint8_t *tags = slots->tags + group * GROUP;
#if defined(__SSE2__)
    __m128i equal = _mm_cmpeq_epi8(_mm_load_si128((const __m128i *)tags), _mm_set1_epi8((char)tag));
    return (unsigned)_mm_movemask_epi8(equal);
#else
    unsigned set = 0;
    for (unsigned i = 0; i < GROUP; i++) set |= (unsigned)(tags[i] == tag) << i;
    return set;
#endif
}

static inline uint8_t tag_of(uint64_t hash) {
    return (uint8_t)(hash & 127) | 128;
}

static int open_set(struct rival_filter *r, uint64_t bytes, uint64_t members) {
    (void)bytes;
    for (r->units = 1; r->units * GROUP * 7 / 8 < members; r->units *= 2) continue;
    r->capacity = members;
    r->bytes = r->units * GROUP * (1 + sizeof(uint64_t));
    r->memory = machine_memory(r->bytes);
    return r->memory ? 0 : -1;
}

static inline int has_key(const struct slots *slots, uint64_t group, uint64_t hash, uint64_t key) {
    for (unsigned some = matches(slots, group, tag_of(hash)); some; some &= some - 1)
        if (slots->keys[group * GROUP + (unsigned)__builtin_ctz(some)] == key) return 1;
    return 0;
}

static inline uint8_t contains_one(const struct slots *slots, uint64_t key) {
    uint64_t hash = multiply_fold(key, hash_factor);
    for (uint64_t group = hash >> 7 & slots->mask;; group = (group + 1) & slots->mask) {
        if (has_key(slots, group, hash, key)) return 1;
        if (matches(slots, group, 0)) return 0;
    }
}

static inline void add_one(const struct slots *slots, uint64_t key) {
    uint64_t hash = multiply_fold(key, hash_factor), group = hash >> 7 & slots->mask;
    while (!matches(slots, group, 0)) {
        if (has_key(slots, group, hash, key)) return;
        group = (group + 1) & slots->mask;
    }
    if (has_key(slots, group, hash, key)) return;
    uint64_t slot = group * GROUP + (unsigned)__builtin_ctz(matches(slots, group, 0));
    slots->tags[slot] = tag_of(hash);
    slots->keys[slot] = key;
}

static void contains(struct rival_filter *r, const uint64_t *keys, size_t n, uint8_t *answers) {
    const struct slots slots = slots_of(r);
    for (size_t i = 0; i < n; i++) answers[i] = contains_one(&slots, keys[i]);
}

static void add(struct rival_filter *r, const uint64_t *keys, size_t n, uint8_t *answers) {
    const struct slots slots = slots_of(r);
    (void)answers;
    for (size_t i = 0; i < n; i++) add_one(&slots, keys[i]);
}

const struct rival flat_set = {
    .name = "flat set", .open = open_set, .calls = {[OP_CONTAINS] = contains, [OP_FILL_MANY] = add, [OP_FILL] = add}};
