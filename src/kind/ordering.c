#include "kind/ordering.h"

#include <string.h>

void order_keys(const uint64_t *keys, uint64_t n, unsigned skip, unsigned bits, uint64_t *to) {
    uint64_t next[1 << ORDERING_BITS_MAX], sum = 0, mask = (UINT64_C(1) << bits) - 1;
    unsigned shift = 64 - skip - bits;
    memset(next, 0, (size_t)(mask + 1) * sizeof *next);
    for (uint64_t i = 0; i < n; i++) next[keys[i] >> shift & mask]++;
    for (uint64_t i = 0; i <= mask; i++) {
        uint64_t count = next[i];
        next[i] = sum;
        sum += count;
    }
    for (uint64_t i = 0; i < n; i++) to[next[keys[i] >> shift & mask]++] = keys[i];
}

/* From the lowest eleven bits to the highest; the last pass ends in `keys` again, as six are an even number. */
static void sort_keys(uint64_t *keys, uint64_t n, uint64_t *room) {
    for (unsigned low = 0; low < 64; low += 11) {
        unsigned bits = low + 11 < 64 ? 11 : 64 - low;
        order_keys(keys, n, 64 - low - bits, bits, room);
        uint64_t *swap = keys;
        keys = room;
        room = swap;
    }
}

uint64_t unique_keys(uint64_t *keys, uint64_t n, uint64_t *room) {
    uint64_t kept = 0;
    sort_keys(keys, n, room);
    for (uint64_t i = 0; i < n; i++) {
        if (!kept || keys[i] != keys[kept - 1]) keys[kept++] = keys[i];
    }
    return kept;
}
