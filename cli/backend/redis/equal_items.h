/* Items of a batch with equal keys. Their bytes are compared, so that no two keys are taken for
 * one. */
#ifndef CLI_BACKEND_REDIS_EQUAL_ITEMS_H
#define CLI_BACKEND_REDIS_EQUAL_ITEMS_H

#include "item_batch.h"

struct equal_items;

/* For batches of up to `room` items, a power of two. NULL if there is not enough memory. */
struct equal_items *equal_items_make(size_t room);
void equal_items_free(struct equal_items *equal_items);

/* Sets `first_equal` of every item of the batch. */
void equal_items_find(struct equal_items *equal_items, struct item_batch *batch);

#endif
