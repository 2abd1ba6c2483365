/* The hash functions of foreign formats. */
#ifndef PERHAPS_FOREIGN_FOREIGN_HASHES_H
#define PERHAPS_FOREIGN_FOREIGN_HASHES_H

#include <stddef.h>
#include <stdint.h>

/* FNV-1 of 64 bits (Fowler, Noll, Vo): multiply, then xor. */
uint64_t fnv1(const void *bytes, size_t length);

/* MurmurHash3 (Appleby) of 128 bits for 64-bit machines, with seed 0. */
void murmur3_128(const void *bytes, size_t length, uint64_t words[2]);

/* MurmurHash3 of 32 bits as Spark has it: each byte after the last whole word is a word too, with
 * its sign. Keys of whole words have the usual hash. */
uint32_t murmur3_32_spark(uint32_t seed, const void *bytes, size_t length);

/* ---- the same for the eight bytes of an integer, the lowest first; for loops ---- */

static inline uint64_t fnv1_u64(uint64_t key) {
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    for (unsigned i = 0; i < 64; i += 8) h = h * UINT64_C(0x100000001b3) ^ (key >> i & 0xff);
    return h;
}

#define MURMUR3_FIRST  UINT64_C(0x87c37b91114253d5)
#define MURMUR3_SECOND UINT64_C(0x4cf5ad432745937f)

static inline uint64_t murmur3_rotate(uint64_t x, int bits) {
    return x << bits | x >> (64 - bits);
}

static inline uint64_t murmur3_stir(uint64_t word) {
    return murmur3_rotate(word * MURMUR3_FIRST, 31) * MURMUR3_SECOND;
}

static inline uint64_t murmur3_finish(uint64_t h) {
    h = (h ^ h >> 33) * UINT64_C(0xff51afd7ed558ccd);
    h = (h ^ h >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
    return h ^ h >> 33;
}

static inline void murmur3_128_u64(uint64_t key, uint64_t words[2]) {
    uint64_t a = (murmur3_stir(key) ^ 8) + 8, b = murmur3_finish(a + 8);
    a = murmur3_finish(a);
    words[0] = a + b;
    words[1] = a + b + b;
}

#endif
