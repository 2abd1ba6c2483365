/* Checksums of images: XXH3-64 of megabytes, compiled apart from the hashes of keys, since its
 * loops are to be unrolled. */
#include "core/hash.h"

#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

enum { SHORT = 256 };

uint64_t hash_checksum(const void *bytes, size_t length) {
    return XXH3_64bits(bytes, length);
}

/* Copying two short pieces together is faster than the streaming calls. */
uint64_t hash_checksum_of_two(const void *a, size_t a_length, const void *b, size_t b_length) {
    uint8_t both[SHORT];
    if (a_length <= SHORT && b_length <= SHORT - a_length) {
        memcpy(both, a, a_length);
        memcpy(both + a_length, b, b_length);
        return XXH3_64bits(both, a_length + b_length);
    }
    XXH3_state_t state;
    XXH3_64bits_reset(&state);
    XXH3_64bits_update(&state, a, a_length);
    XXH3_64bits_update(&state, b, b_length);
    return XXH3_64bits_digest(&state);
}
