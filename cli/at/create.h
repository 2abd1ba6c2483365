/* Making a set on servers, and taking one away. */
#ifndef CLI_AT_CREATE_H
#define CLI_AT_CREATE_H

#include "set.h"

/* Chooses what the set shall be made of: kind, rate, and from the number of keys (0 = nobody knows) the shards. */
int set_shape(struct set *set, const struct options *options, uint64_t items);

/* Makes the empty set. What stands in its place is refused, or with -f taken away first, if it is a set or filter. */
int set_create(struct set *set, const struct options *options);

#endif
