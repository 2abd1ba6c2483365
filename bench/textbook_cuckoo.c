/*
 * The cuckoo filter of the textbook (Fan, Andersen, Kaminsky, Mitzenmacher: "Cuckoo Filter:
 * Practically Better Than Bloom", CoNEXT 2014): buckets of four slots, as many buckets as a power
 * of two, the second bucket of a fingerprint by exclusive or with its hash. A key that finds both
 * buckets full takes the place of another, which moves to its other bucket, up to 500 times; keys
 * come one at a time.
 *
 * It is a fair rival: fingerprints of 16 bits, so that a bucket is one aligned word and nothing has
 * to be packed; huge pages; no division. It is filled to 95 %, the load it was published with. What
 * has no place after 500 moves is lost and counted.
 */
#include "measure.h"

enum { SLOTS = 4, MOST_MOVES = 500 };

static const double full_load = 0.95;

static inline uint64_t mix(uint64_t x) {
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

int textbook_cuckoo_open(struct textbook_cuckoo *book, uint64_t bytes) {
    uint64_t buckets = 1;
    while (2 * buckets * SLOTS * sizeof *book->slots <= bytes) buckets *= 2;
    *book = (struct textbook_cuckoo){.bucket_mask = buckets - 1, .bytes = buckets * SLOTS * sizeof *book->slots};
    book->capacity = (uint64_t)(full_load * SLOTS * (double)buckets);
    book->slots = machine_memory(book->bytes);
    return book->slots ? 0 : -1;
}

static inline int put(struct textbook_cuckoo *book, uint64_t bucket, uint16_t fingerprint) {
    uint16_t *slots = book->slots + bucket * SLOTS;
    for (unsigned i = 0; i < SLOTS; i++) {
        if (slots[i]) continue;
        slots[i] = fingerprint;
        return 1;
    }
    return 0;
}

static inline uint64_t other_bucket(const struct textbook_cuckoo *book, uint64_t bucket, uint16_t fingerprint) {
    return (bucket ^ mix(fingerprint)) & book->bucket_mask;
}

static void move_others(struct textbook_cuckoo *book, uint64_t bucket, uint16_t fingerprint) {
    for (unsigned move = 0; move < MOST_MOVES; move++) {
        book->random = book->random * 0x5851f42d4c957f2du + 0x14057b7ef767814fu;
        uint16_t *slot = book->slots + bucket * SLOTS + (book->random >> 62);
        uint16_t victim = *slot;
        *slot = fingerprint;
        fingerprint = victim;
        bucket = other_bucket(book, bucket, fingerprint);
        if (put(book, bucket, fingerprint)) return;
    }
    book->lost++;
}

static void add(struct textbook_cuckoo *book, uint64_t key) {
    uint64_t hash = mix(key);
    uint16_t fingerprint = (uint16_t)hash;
    fingerprint = (uint16_t)(fingerprint + (fingerprint == 0));
    uint64_t first = hash >> 16 & book->bucket_mask, second = other_bucket(book, first, fingerprint);
    if (put(book, first, fingerprint) || put(book, second, fingerprint)) return;
    move_others(book, hash >> 63 ? first : second, fingerprint);
}

void textbook_cuckoo_add(struct textbook_cuckoo *book, const uint64_t *keys, size_t n) {
    for (size_t i = 0; i < n; i++) add(book, keys[i]);
}

void textbook_cuckoo_close(struct textbook_cuckoo *book) {
    machine_release(book->slots, book->bytes);
}
