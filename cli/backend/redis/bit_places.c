#include "bit_places.h"
#include "sha256.h"

#include <math.h>
#include <string.h>

static uint64_t six_bytes(const uint8_t *bytes) {
    uint64_t number = 0;
    for (int i = 0; i < 6; i++) number = number << 8 | bytes[i];
    return number;
}

void bits_of(const struct set *set, const void *item, size_t length, uint64_t bits[MOST_HASHES]) {
    uint8_t digest[SHA256_BYTES];
    sha256(set->seed, strlen(set->seed), item, length, digest);
    uint64_t x = six_bytes(digest) % set->bits, y = six_bytes(digest + 6) % set->bits;
    for (unsigned i = 1; i <= set->hashes; i++) {
        bits[i - 1] = x;
        x = (x + y) % set->bits;
        y = (y + i) % set->bits;
    }
}

uint64_t bits_needed(uint64_t n, double fpr, unsigned *hashes) {
    double per_item = -log(fpr) / (log(2) * log(2));
    double k = fmin(fmax(round(per_item * log(2)), 1), MOST_HASHES);
    /* With k a whole number, the share of bits set at which an item that was never added has all of its k. */
    double bits = -k * (double)n / log1p(-pow(fpr, 1 / k));
    *hashes = (unsigned)k;
    return bits < 1e18 ? (uint64_t)ceil(bits / 64) * 64 : UINT64_MAX;
}
