/* The layouts of both of RedisBloom's filters, under the names that import and export use. */
#ifndef PERHAPS_FOREIGN_REDIS_LAYOUT_H
#define PERHAPS_FOREIGN_REDIS_LAYOUT_H

#include "foreign/redis_bloom/redis_bloom_layout.h"
#include "foreign/redis_cuckoo/redis_cuckoo_layout.h"

#define BLOOM_BITS         REDIS_BLOOM_BITS
#define BLOOM_HASHES       REDIS_BLOOM_HASHES
#define BLOOM_N2           REDIS_BLOOM_N2
#define BLOOM_BPE          REDIS_BLOOM_BPE
#define BLOOM_OPTIONS      REDIS_BLOOM_OPTIONS
#define OPTION_NO_SCALING  REDIS_OPTION_NO_SCALING
#define EXPANSION_MAX      REDIS_BLOOM_GROWTH_MAX
#define CUCKOO_BUCKETS     REDIS_CUCKOO_BUCKETS
#define CUCKOO_BUCKET_SIZE REDIS_CUCKOO_BUCKET_SIZE
#define CUCKOO_EXPANSION   REDIS_CUCKOO_EXPANSION
#define CUCKOO_FILTERS     REDIS_CUCKOO_FILTERS
#define CUCKOO_LIMITS      REDIS_CUCKOO_LIMITS
#define STEPS_MAX          REDIS_CUCKOO_STEPS_MAX
#define FILTERS_USUAL      REDIS_CUCKOO_FILTERS_USUAL
#define FILTERS_MAX        REDIS_CUCKOO_FILTERS_MAX
#define TAIL_ITEMS         REDIS_CUCKOO_ITEMS
#define TAIL_DELETIONS     REDIS_CUCKOO_DELETIONS
#define TAIL_BYTES         REDIS_CUCKOO_TAIL_BYTES
#define cuckoo_slots       redis_cuckoo_slots
#define cuckoo_slots_of    redis_cuckoo_slots_of
#define cuckoo_used        redis_cuckoo_used
#define cuckoo_tail        redis_cuckoo_tail
#define cuckoo_in_use      redis_cuckoo_in_use
#define redis_cuckoo_rate  redis_cuckoo_fpr

#endif
