#include "foreign/foreign_hashes.h"

#include "base/endian.h"

uint64_t fnv1(const void *bytes, size_t length) {
    const uint8_t *p = bytes;
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < length; i++) h = h * UINT64_C(0x100000001b3) ^ p[i];
    return h;
}

/* ---- MurmurHash3 of 128 bits ---- */

static inline uint64_t stir_second(uint64_t word) {
    return murmur3_rotate(word * MURMUR3_SECOND, 33) * MURMUR3_FIRST;
}

/* A tail of up to 15 bytes, padded with zeros, which change nothing. */
static inline void stir_tail(const uint8_t *p, size_t length, uint64_t *a, uint64_t *b) {
    uint8_t tail[16] = {0};
    memcpy(tail, p, length);
    *a ^= murmur3_stir(load64(tail));
    *b ^= stir_second(load64(tail + 8));
}

void murmur3_128(const void *bytes, size_t length, uint64_t words[2]) {
    const uint8_t *p = bytes;
    size_t rest = length % 16;
    uint64_t a = 0, b = 0;
    for (const uint8_t *end = p + (length - rest); p < end; p += 16) {
        a = (murmur3_rotate(a ^ murmur3_stir(load64(p)), 27) + b) * 5 + 0x52dce729;
        b = (murmur3_rotate(b ^ stir_second(load64(p + 8)), 31) + a) * 5 + 0x38495ab5;
    }
    if (rest) stir_tail(p, rest, &a, &b);
    a ^= length;
    b ^= length;
    a += b;
    b += a;
    a = murmur3_finish(a);
    b = murmur3_finish(b);
    words[0] = a + b;
    words[1] = a + b + b;
}

/* ---- MurmurHash3 of 32 bits, Spark's ---- */

static inline uint32_t rotate32(uint32_t x, int bits) {
    return x << bits | x >> (32 - bits);
}

static inline uint32_t stir32(uint32_t h, uint32_t word) {
    h ^= rotate32(word * 0xcc9e2d51, 15) * 0x1b873593;
    return rotate32(h, 13) * 5 + 0xe6546b64;
}

uint32_t murmur3_32_spark(uint32_t seed, const void *bytes, size_t length) {
    const uint8_t *p = bytes;
    size_t whole = length - length % 4;
    uint32_t h = seed;
    for (size_t i = 0; i < whole; i += 4) h = stir32(h, load32(p + i));
    for (size_t i = whole; i < length; i++) h = stir32(h, (uint32_t)(int8_t)p[i]);
    h ^= (uint32_t)length;
    h = (h ^ h >> 16) * 0x85ebca6b;
    h = (h ^ h >> 13) * 0xc2b2ae35;
    return h ^ h >> 16;
}
