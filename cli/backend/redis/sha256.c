#include "sha256.h"

#include <string.h>

enum { BLOCK = 64 };

/* The bytes that do not fill a block yet, and how many there were in all. */
struct sha256_state {
    uint32_t h[8];
    uint8_t block[BLOCK];
    uint64_t length;
};

/* The first 32 bits of the fractional parts of the cube roots of the first 64 primes. */
static const uint32_t k[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

/* And of the square roots of the first eight. */
static const uint32_t beginning[8] = {
    0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
};

static uint32_t turn(uint32_t x, int n) {
    return x >> n | x << (32 - n);
}

/* The sixteen words of a block become 64. */
static void expand(const uint8_t *block, uint32_t w[64]) {
    for (size_t i = 0; i < 16; i++) {
        const uint8_t *b = block + 4 * i;
        w[i] = (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
    }
    for (size_t i = 16; i < 64; i++) {
        uint32_t a = w[i - 15], b = w[i - 2];
        w[i] = w[i - 16] + (turn(a, 7) ^ turn(a, 18) ^ a >> 3) + w[i - 7] + (turn(b, 17) ^ turn(b, 19) ^ b >> 10);
    }
}

static void mix(struct sha256_state *s) {
    uint32_t w[64], v[8];
    expand(s->block, w);
    memcpy(v, s->h, sizeof v);
    for (size_t i = 0; i < 64; i++) {
        uint32_t a = v[0], e = v[4];
        uint32_t choice = (e & v[5]) ^ (~e & v[6]), majority = (a & v[1]) ^ (a & v[2]) ^ (v[1] & v[2]);
        uint32_t one = v[7] + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + choice + k[i] + w[i];
        uint32_t two = (turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + majority;
        memmove(v + 1, v, 7 * sizeof *v);
        v[4] += one;
        v[0] = one + two;
    }
    for (size_t i = 0; i < 8; i++) s->h[i] += v[i];
}

static void take(struct sha256_state *s, const uint8_t *bytes, size_t length) {
    while (length) {
        size_t filled = s->length % BLOCK, n = BLOCK - filled < length ? BLOCK - filled : length;
        memcpy(s->block + filled, bytes, n);
        s->length += n;
        bytes += n;
        length -= n;
        if (filled + n == BLOCK) mix(s);
    }
}

/* A bit of 1, zeros, and the length in bits fill the last block. */
static void finish(struct sha256_state *s) {
    static const uint8_t padding[BLOCK] = {0x80};
    uint8_t length[8];
    uint64_t bits = s->length * 8;
    for (int i = 0; i < 8; i++) length[i] = (uint8_t)(bits >> (56 - 8 * i));
    take(s, padding, 1 + (2 * BLOCK - 9 - s->length % BLOCK) % BLOCK);
    take(s, length, sizeof length);
}

void sha256(const void *first, size_t first_length, const void *second, size_t second_length,
            uint8_t digest[SHA256_BYTES]) {
    struct sha256_state s = {.length = 0};
    memcpy(s.h, beginning, sizeof s.h);
    take(&s, first, first_length);
    take(&s, second, second_length);
    finish(&s);
    for (size_t i = 0; i < SHA256_BYTES; i++) digest[i] = (uint8_t)(s.h[i / 4] >> (24 - 8 * (i % 4)));
}
