/* Where the facts stand in the header chunks of RedisBloom's layout; all are little-endian. */
#ifndef PERHAPS_SERVER_REDISBLOOM_HEADER_H
#define PERHAPS_SERVER_REDISBLOOM_HEADER_H

#include "little_endian.h"

/* Bloom: size 8, layers 4, options 4, growth 4 bytes; then for each layer its bytes 8, bits 8, size
 * 8, error rate 8, bits per entry 8, hashes 4, entries 8 and the logarithm of the bits 1. */
enum { BLOOM_HEAD = 20, BLOOM_LAYER = 53 };

/* Cuckoo: the position of each fact; the first four have 8 bytes, the others 2. */
enum {
    CUCKOO_ITEMS_AT = 0,
    CUCKOO_BUCKETS_AT = 8,
    CUCKOO_DELETIONS_AT = 16,
    CUCKOO_FILTERS_AT = 24,
    CUCKOO_BUCKET_SIZE_AT = 32,
    CUCKOO_ITERATIONS_AT = 34,
    CUCKOO_EXPANSION_AT = 36,
    CUCKOO_HEAD = 38
};

#endif
