/*
 * The Bloom filter that everybody writes first: k hashes worked out one after the other, a bit
 * tested for each, and out at the first that is zero. It is a fair rival: good hashes, no division,
 * huge pages; it only takes its cache misses one by one, and the processor guesses wrong about once
 * a key where to stop.
 *
 * With cells of 4 bits instead of one it is the counting filter that everybody writes: out at the
 * first counter that is zero.
 */
#include "rivals.h"

enum { HASHES = 7 /* the best for 1 % */, COUNTER_BITS = 4, COUNTER_MASK = 15 };

/* A hash function for each probe: the key and the probe's number, mixed well. */
static inline uint64_t probe_hash(uint64_t key, unsigned probe) {
    uint64_t x = key + (probe + 1) * 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

/* The upper half of a hash says which word, its lowest bits which cell of it. */
static inline uint64_t word_of(uint64_t units, uint64_t hash) {
    return (hash >> 32) * units >> 32;
}

static inline unsigned shift_of(uint64_t hash, unsigned cell_bits) {
    return (unsigned)(hash & (64 / cell_bits - 1)) * cell_bits;
}

static int open_words(struct rival_filter *r, uint64_t bytes, uint64_t members) {
    (void)members;
    r->bytes = bytes;
    r->units = bytes / sizeof(uint64_t);
    r->memory = machine_memory(bytes);
    return r->memory ? 0 : -1;
}

/* --- the Bloom filter --- */

static void add_bits(struct rival_filter *r, const uint64_t *keys, size_t n, uint8_t *answers) {
    uint64_t *words = r->memory, units = r->units;
    (void)answers;
    for (size_t i = 0; i < n; i++)
        for (unsigned probe = 0; probe < HASHES; probe++) {
            uint64_t hash = probe_hash(keys[i], probe);
            words[word_of(units, hash)] |= (uint64_t)1 << shift_of(hash, 1);
        }
}

static inline __attribute__((always_inline)) uint8_t contains_one(const uint64_t *words, uint64_t units, uint64_t key,
                                                                  unsigned cell_bits) {
    const uint64_t cell_mask = ((uint64_t)1 << cell_bits) - 1;
    for (unsigned probe = 0; probe < HASHES; probe++) {
        uint64_t hash = probe_hash(key, probe);
        if (!(words[word_of(units, hash)] >> shift_of(hash, cell_bits) & cell_mask)) return 0;
    }
    return 1;
}

static void contains_bits(struct rival_filter *r, const uint64_t *keys, size_t n, uint8_t *answers) {
    const uint64_t *words = r->memory, units = r->units;
    for (size_t i = 0; i < n; i++) answers[i] = contains_one(words, units, keys[i], 1);
}

const struct rival textbook_bloom = {
    .name = "textbook", .open = open_words, .calls = {[OP_CONTAINS] = contains_bits, [OP_ADD] = add_bits}};

/* --- the counting filter --- */

/* A counter that is full stays so. */
static void add_counts(struct rival_filter *r, const uint64_t *keys, size_t n, uint8_t *answers) {
    uint64_t *words = r->memory, units = r->units;
    (void)answers;
    for (size_t i = 0; i < n; i++)
        for (unsigned probe = 0; probe < HASHES; probe++) {
            uint64_t hash = probe_hash(keys[i], probe), word = word_of(units, hash);
            unsigned shift = shift_of(hash, COUNTER_BITS);
            if ((words[word] >> shift & COUNTER_MASK) != COUNTER_MASK) words[word] += (uint64_t)1 << shift;
        }
}

static void contains_counts(struct rival_filter *r, const uint64_t *keys, size_t n, uint8_t *answers) {
    const uint64_t *words = r->memory, units = r->units;
    for (size_t i = 0; i < n; i++) answers[i] = contains_one(words, units, keys[i], COUNTER_BITS);
}

const struct rival textbook_counting = {
    .name = "textbook",
    .open = open_words,
    .calls = {[OP_CONTAINS] = contains_counts, [OP_FILL_MANY] = add_counts, [OP_FILL] = add_counts}};
