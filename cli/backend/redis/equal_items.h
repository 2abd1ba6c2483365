/* Items of a round with equal keys: bytes are compared, so that no item is taken for another's twin. */
#ifndef CLI_BACKEND_REDIS_EQUAL_ITEMS_H
#define CLI_BACKEND_REDIS_EQUAL_ITEMS_H

#include "item_batch.h"

struct twins;

/* For rounds of up to so many items, a power of two. NULL if there is not enough memory. */
struct twins *twins_make(size_t room);
void twins_free(struct twins *twins);

/* Sets `twin` of every item of the round. */
void twins_find(struct twins *twins, struct round *round);

#endif
