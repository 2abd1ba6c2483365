/* Making a set on servers, and taking one away. */
#ifndef CLI_BACKEND_REDIS_SET_CREATE_H
#define CLI_BACKEND_REDIS_SET_CREATE_H

#include "server_set.h"

/* Makes the empty set. What stands in its place is refused, or with -f taken away first, if it
 * is a set or filter. */
int set_create(struct set *set, const struct options *options);

/* Connects; opens the set, or makes it if there is none, with keys of this recipe and this rate.
 * Others may do the same at the same time: the hash begins with the single field `making`, which
 * the first of them has set and which says all about the set. Everyone makes the shards that are
 * not there yet, and puts the other fields in when all are. So it is finished even if the first
 * was broken off. */
int set_join(struct set *set, const struct options *options, double fpr, perhaps_recipe recipe);

#endif
