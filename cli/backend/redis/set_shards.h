/* How many shards a set has, and how large each is. */
#ifndef CLI_BACKEND_REDIS_SET_SHARDS_H
#define CLI_BACKEND_REDIS_SET_SHARDS_H

#include "server_set.h"

/* Chooses kind, false-positive rate (`fpr` as it is, unless -p is given) and, from the number of
 * keys (0 = unknown), the shards. */
int set_shape(struct set *set, const struct options *options, uint64_t items);

/* How many keys each shard has room for. */
uint64_t set_capacity(const struct set *set);

#endif
