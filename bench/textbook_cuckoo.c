/*
 * The cuckoo filter of the textbook (Fan, Andersen, Kaminsky, Mitzenmacher: "Cuckoo Filter:
 * Practically Better Than Bloom", CoNEXT 2014): buckets of four slots, as many buckets as a power
 * of two, the second bucket of a fingerprint by exclusive or with its hash. A key that finds both
 * buckets full takes the place of another, which moves to its other bucket, up to 500 times; keys
 * come one at a time.
 *
 * It is a fair rival: fingerprints of 16 bits, so that a bucket is one aligned word and nothing has
 * to be packed; huge pages; no division. It is filled to 95 %, the load it was published with. What
 * has no place after 500 moves is lost.
 */
#include "rivals.h"

#include <string.h>

enum { SLOTS = 4, BUCKET_BYTES = 8, MOST_MOVES = 500 };

static const double full_load = 0.95;

static inline uint64_t mix(uint64_t x) {
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static int open_buckets(struct rival_filter *r, uint64_t bytes, uint64_t members) {
    (void)members;
    r->units = 1;
    while (2 * r->units * BUCKET_BYTES <= bytes) r->units *= 2;
    r->bytes = r->units * BUCKET_BYTES;
    r->capacity = (uint64_t)(full_load * SLOTS * (double)r->units);
    r->memory = machine_memory(r->bytes);
    return r->memory ? 0 : -1;
}

/* Where a key's fingerprint may be. */
struct key_buckets {
    uint64_t first, second;
    uint16_t fingerprint;
};

static inline uint64_t other_bucket(uint64_t mask, uint64_t bucket, uint16_t fingerprint) {
    return (bucket ^ mix(fingerprint)) & mask;
}

static inline struct key_buckets buckets_of(uint64_t mask, uint64_t key) {
    uint64_t hash = mix(key);
    uint16_t fingerprint = (uint16_t)hash;
    fingerprint = (uint16_t)(fingerprint + (fingerprint == 0));
    uint64_t first = hash >> 16 & mask;
    return (struct key_buckets){first, other_bucket(mask, first, fingerprint), fingerprint};
}

/* --- queries --- */

/* Is one of the four slots of the word this fingerprint? A word has a zero lane if taking one from
 * each lane borrows where no bit was set. */
static inline uint64_t has_fingerprint(uint64_t bucket, uint16_t fingerprint) {
    const uint64_t ones = 0x0001000100010001u;
    uint64_t lanes = bucket ^ ones * fingerprint;
    return (lanes - ones) & ~lanes & ones << 15;
}

static inline uint64_t bucket_at(const struct rival_filter *r, uint64_t number) {
    uint64_t bucket;
    memcpy(&bucket, (const uint16_t *)r->memory + number * SLOTS, sizeof bucket);
    return bucket;
}

static void contains(struct rival_filter *r, const uint64_t *keys, size_t n, uint8_t *answers) {
    const struct rival_filter filter = *r;
    for (size_t i = 0; i < n; i++) {
        struct key_buckets both = buckets_of(filter.units - 1, keys[i]);
        answers[i] = (has_fingerprint(bucket_at(&filter, both.first), both.fingerprint) |
                      has_fingerprint(bucket_at(&filter, both.second), both.fingerprint)) != 0;
    }
}

/* --- adding --- */

static inline int put(struct rival_filter *r, uint64_t bucket, uint16_t fingerprint) {
    uint16_t *slots = (uint16_t *)r->memory + bucket * SLOTS;
    for (unsigned i = 0; i < SLOTS; i++) {
        if (slots[i]) continue;
        slots[i] = fingerprint;
        return 1;
    }
    return 0;
}

static void move_others(struct rival_filter *r, uint64_t bucket, uint16_t fingerprint) {
    for (unsigned move = 0; move < MOST_MOVES; move++) {
        r->random = r->random * 0x5851f42d4c957f2du + 0x14057b7ef767814fu;
        uint16_t *slot = (uint16_t *)r->memory + bucket * SLOTS + (r->random >> 62);
        uint16_t victim = *slot;
        *slot = fingerprint;
        fingerprint = victim;
        bucket = other_bucket(r->units - 1, bucket, fingerprint);
        if (put(r, bucket, fingerprint)) return;
    }
}

static void add(struct rival_filter *r, const uint64_t *keys, size_t n, uint8_t *answers) {
    (void)answers;
    for (size_t i = 0; i < n; i++) {
        struct key_buckets both = buckets_of(r->units - 1, keys[i]);
        if (put(r, both.first, both.fingerprint) || put(r, both.second, both.fingerprint)) continue;
        move_others(r, both.fingerprint & 1 ? both.first : both.second, both.fingerprint);
    }
}

/* Beyond these bytes it takes minutes to fill. */
const struct rival textbook_cuckoo = {.name = "textbook",
                                      .most_bytes = 128 * MIB,
                                      .open = open_buckets,
                                      .calls = {[OP_CONTAINS] = contains, [OP_FILL_MANY] = add, [OP_FILL] = add}};
