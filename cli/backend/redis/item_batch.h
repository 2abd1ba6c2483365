/* Keys for servers: gathered, sorted by shard, sent as large commands, answered in their order. */
#ifndef CLI_BACKEND_REDIS_ITEM_BATCH_H
#define CLI_BACKEND_REDIS_ITEM_BATCH_H

#include "backend/backend.h"
#include "server_set.h"

/* ADD_ABSENT adds like ADD_ITEMS, but no second copies to cuckoo filters, and must know for each
 * item whether it was new: of items with equal keys only the first can be, and one whose answer was
 * lost with a connection is taken for new. */
enum verb { ADD_ITEMS, ADD_ABSENT, REMOVE_ITEMS, CHECK_ITEMS, VERBS };

/* In place of an answer, if a batch of ADD_ABSENT was broken off: the item was not added. */
enum { UNANSWERED = 2 };

struct server_item {
    size_t at, length;  /* in `bytes` of the batch */
    size_t line_length; /* of its line in `lines`, with its terminator; lines follow one another */
    unsigned shard;
    size_t first_equal; /* itself; of ADD_ABSENT the first item with the same key, sent for all */
};

/* The keys of one batch. Begin with the fields up to `query`, and zeros. */
struct item_batch {
    struct set *set;
    enum verb verb;
    const struct query *query; /* who takes the answers */

    size_t n, room;
    struct server_item *items;
    struct text bytes, lines;
    size_t terminator_length; /* of the lines */
    uint8_t *answers;         /* 1 = it was new, was taken out, is perhaps there */
    size_t *order;            /* the items, shard by shard */
    size_t *starts;           /* where each shard begins there */
    struct equal_items *equal_items;
    struct requests requests;
    uint64_t keys;    /* of all batches */
    uint64_t doubled; /* of these may be in a cuckoo filter twice, since a connection broke */
    uint64_t doubted; /* ADD_ABSENT: of these were taken for new, since a connection broke */
};

/* Sends all keys of the input through batches. FINE, STOP or TROUBLE. */
int item_batch_read(struct item_batch *batch, const struct input *input);

#endif
