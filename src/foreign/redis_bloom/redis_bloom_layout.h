/* Layout of a layer of RedisBloom's Bloom filters: for the kind, its plan, import and export. */
#ifndef PERHAPS_FOREIGN_REDIS_BLOOM_REDIS_BLOOM_LAYOUT_H
#define PERHAPS_FOREIGN_REDIS_BLOOM_REDIS_BLOOM_LAYOUT_H

#include "kind/bloom/bloom_layout.h"

/* Words of the layout. BPE is the bits of a double. OPTIONS has in its upper half the growth of a
 * filter that does not scale. */
enum { REDIS_BLOOM_BITS = BLOOM_CELLS, REDIS_BLOOM_HASHES = BLOOM_HASHES };
enum { REDIS_BLOOM_N2 = BLOOM_OWN, REDIS_BLOOM_BPE, REDIS_BLOOM_OPTIONS };

enum redis_option {
    REDIS_OPTION_NOROUND = 1,      /* the number of bits is not rounded to a power of two */
    REDIS_OPTION_ENTS_IS_BITS = 2, /* the number of entries was a power of two of bits */
    REDIS_OPTION_FORCE64 = 4,      /* hashes of 64 bits */
    REDIS_OPTION_NO_SCALING = 8,   /* one layer, forever */
    REDIS_OPTIONS_ALL = 15
};

enum { REDIS_BLOOM_GROWTH_MAX = 32768 };

/* The error rate that the whole filter was made for, from that of its first layer. */
double redis_error_of_chain(double error_of_first);

extern const struct model model_redis_bloom;

#endif
