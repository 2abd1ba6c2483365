/*
 * The Bloom filter that everybody writes first: k hashes worked out one after the other, a bit
 * tested for each, and out at the first that is zero. It is a fair rival: good hashes, no division,
 * huge pages; it only takes its cache misses one by one, and the processor guesses wrong about once
 * a key where to stop.
 *
 * With cells of 4 bits instead of one it is the counting filter that everybody writes: out at the
 * first counter that is zero.
 *
 * Its array is not made by adding keys, which takes longer than the rest of the benchmark. A Bloom
 * filter filled for its best rate has every cell in use with a chance of one half, independently;
 * random words have just that, and the loop's time depends on nothing else. Only keys that must be
 * found are really added.
 */
#include "measure.h"

enum { HASHES = 7 }; /* the best for 1 % */

/* A hash function for each probe: the key and the probe's number, mixed well. */
static inline uint64_t probe_hash(uint64_t key, unsigned probe) {
    uint64_t x = key + (probe + 1) * 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

/* The upper half of a hash says which word, its lowest bits which cell of it. */
static inline uint64_t word_of(const struct textbook *book, uint64_t hash) {
    return (hash >> 32) * book->word_count >> 32;
}

static inline unsigned shift_of(uint64_t hash, unsigned cell_bits) {
    return (unsigned)(hash & (64 / cell_bits - 1)) * cell_bits;
}

int textbook_open(struct textbook *book, uint64_t bytes, unsigned cell_bits) {
    *book = (struct textbook){.word_count = bytes / sizeof *book->words, .cell_bits = cell_bits};
    book->words = machine_memory(bytes);
    if (!book->words) return -1;
    const uint64_t lowest_bits = cell_bits == 1 ? UINT64_MAX : 0x1111111111111111u;
    for (uint64_t i = 0; i < book->word_count; i++) book->words[i] = key_number(~i) & lowest_bits;
    return 0;
}

void textbook_add(struct textbook *book, const uint64_t *keys, size_t n) {
    for (size_t i = 0; i < n; i++)
        for (unsigned probe = 0; probe < HASHES; probe++) {
            uint64_t hash = probe_hash(keys[i], probe);
            book->words[word_of(book, hash)] |= (uint64_t)1 << shift_of(hash, book->cell_bits);
        }
}

static inline __attribute__((always_inline)) uint8_t contains(const struct textbook *book, uint64_t key,
                                                              unsigned cell_bits) {
    const uint64_t cell_mask = ((uint64_t)1 << cell_bits) - 1;
    for (unsigned probe = 0; probe < HASHES; probe++) {
        uint64_t hash = probe_hash(key, probe);
        if (!(book->words[word_of(book, hash)] >> shift_of(hash, cell_bits) & cell_mask)) return 0;
    }
    return 1;
}

/* A constant for `cell_bits` makes two loops of one text. */
size_t textbook_contains(const struct textbook *book, const uint64_t *keys, size_t n, uint8_t *answers) {
    size_t found = 0;
    if (book->cell_bits == 1)
        for (size_t i = 0; i < n; i++) found += answers[i] = contains(book, keys[i], 1);
    else
        for (size_t i = 0; i < n; i++) found += answers[i] = contains(book, keys[i], 4);
    return found;
}

void textbook_close(struct textbook *book) {
    machine_release(book->words, book->word_count * sizeof *book->words);
}
