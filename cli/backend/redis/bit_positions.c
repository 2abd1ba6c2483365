#include "bit_positions.h"

#include <math.h>
#include <string.h>

/* ---- SHA-256 (FIPS 180-4) ---- */

enum { SHA256_BLOCK = 64 };

struct sha256 {
    uint32_t h[8];
    uint8_t block[SHA256_BLOCK]; /* the last bytes, which do not fill it yet */
    uint64_t length;             /* of all */
};

/* The first 32 bits of the fractional parts of the cube roots of the first 64 primes. */
static const uint32_t sha256_k[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t rotate(uint32_t x, int n) {
    return x >> n | x << (32 - n);
}

static void sha256_mix(struct sha256 *s) {
    uint32_t w[64], v[8];
    for (size_t i = 0; i < 16; i++) {
        const uint8_t *b = s->block + 4 * i;
        w[i] = (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
    }
    for (size_t i = 16; i < 64; i++) {
        uint32_t a = w[i - 15], b = w[i - 2];
        w[i] =
            w[i - 16] + (rotate(a, 7) ^ rotate(a, 18) ^ a >> 3) + w[i - 7] + (rotate(b, 17) ^ rotate(b, 19) ^ b >> 10);
    }
    memcpy(v, s->h, sizeof v);
    for (size_t i = 0; i < 64; i++) {
        uint32_t a = v[0], e = v[4];
        uint32_t choice = (e & v[5]) ^ (~e & v[6]), majority = (a & v[1]) ^ (a & v[2]) ^ (v[1] & v[2]);
        uint32_t one = v[7] + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + choice + sha256_k[i] + w[i];
        uint32_t two = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + majority;
        memmove(v + 1, v, 7 * sizeof *v);
        v[4] += one;
        v[0] = one + two;
    }
    for (size_t i = 0; i < 8; i++) s->h[i] += v[i];
}

static void sha256_take(struct sha256 *s, const uint8_t *bytes, size_t length) {
    while (length) {
        size_t filled = s->length % SHA256_BLOCK, n = SHA256_BLOCK - filled < length ? SHA256_BLOCK - filled : length;
        memcpy(s->block + filled, bytes, n);
        s->length += n;
        bytes += n;
        length -= n;
        if (filled + n == SHA256_BLOCK) sha256_mix(s);
    }
}

/* The digest of one text followed by another, as eight words. */
static struct sha256 sha256(const void *first, size_t first_length, const void *second, size_t second_length) {
    static const uint8_t padding[SHA256_BLOCK] = {0x80};
    /* the same of the square roots */
    struct sha256 s = {
        .h = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19}};
    sha256_take(&s, first, first_length);
    sha256_take(&s, second, second_length);
    /* A bit of 1, zeros, and the length in bits fill the last block. */
    uint8_t length[8];
    for (int i = 0; i < 8; i++) length[i] = (uint8_t)(s.length * 8 >> (56 - 8 * i));
    sha256_take(&s, padding, 1 + (2 * SHA256_BLOCK - 9 - s.length % SHA256_BLOCK) % SHA256_BLOCK);
    sha256_take(&s, length, sizeof length);
    return s;
}

/* ---- positions ---- */

void bits_of(const struct set *set, const void *item, size_t length, uint64_t bits[MOST_HASHES]) {
    struct sha256 digest = sha256(set->seed, strlen(set->seed), item, length);
    uint64_t x = (uint64_t)digest.h[0] << 16 | digest.h[1] >> 16;
    uint64_t y = (uint64_t)(digest.h[1] & 0xffff) << 32 | digest.h[2];
    x %= set->bits;
    y %= set->bits;
    for (unsigned i = 1; i <= set->hashes; i++) {
        bits[i - 1] = x;
        x = (x + y) % set->bits;
        y = (y + i) % set->bits;
    }
}

uint64_t bits_needed(uint64_t n, double fpr, unsigned *hashes) {
    double per_item = -log(fpr) / (log(2) * log(2));
    double k = fmin(fmax(round(per_item * log(2)), 1), MOST_HASHES);
    /* With k a whole number, the share of bits set at which an item that was never added has all
     * of its k. */
    double bits = -k * (double)n / log1p(-pow(fpr, 1 / k));
    *hashes = (unsigned)k;
    return bits < 1e18 ? (uint64_t)ceil(bits / 64) * 64 : UINT64_MAX;
}
