/* The little floating point that reading RedisBloom's bytes takes. */
#ifndef PERHAPS_FOREIGN_REDIS_FPR_H
#define PERHAPS_FOREIGN_REDIS_FPR_H

#include "kind/kind.h"

/* The error that was asked for, from that of the first layer. */
double redis_error_of_chain(double error_of_first);

/* The rate of a cuckoo filter's sub-filter that is full. */
double redis_cuckoo_rate(const uint64_t layout[LAYOUT_WORDS]);

#endif
