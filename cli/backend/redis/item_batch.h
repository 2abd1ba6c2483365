/* Keys on their way to the servers: gathered, sorted by shard, sent as large commands, answered in the order they came. */
#ifndef CLI_BACKEND_REDIS_ITEM_BATCH_H
#define CLI_BACKEND_REDIS_ITEM_BATCH_H

#include "server_set.h"

/* ADD_ABSENT adds like ADD_ITEMS, but no second copies to cuckoo filters, and must know for each item whether it was new: of items
 * with equal keys only the first can be, and one whose answer was lost with a connection is taken for new. */
enum verb { ADD_ITEMS, ADD_ABSENT, REMOVE_ITEMS, CHECK_ITEMS };

/* In place of an answer, if a round of ADD_ABSENT was broken off: the item was not added. */
enum { UNANSWERED = 2 };

struct item {
    size_t at, length;  /* in `bytes` of the round */
    size_t line_length; /* of its line in `lines`, the terminator included; lines follow one another */
    unsigned shard;
    size_t
        twin; /* itself; or, of ADD_ABSENT, the first item of the round with the same key, which is sent for all of them */
};

/* The keys of one round. Begin with the fields up to `done`, and zeros. */
struct round {
    struct set *set;
    enum verb verb;
    bool eager;                       /* answer whenever the input pauses, not only when enough keys are there */
    bool keep_lines;                  /* they are to be printed */
    int (*done)(struct round *round); /* after each round, with the answers: FINE, STOP or TROUBLE; see UNANSWERED */
    void *context;

    size_t n, room;
    struct item *items;
    struct text bytes, lines;
    uint8_t *answers; /* 1 = it was new, was taken out, is perhaps there */
    size_t *order;    /* the items, shard by shard */
    size_t *starts;   /* where each shard begins there */
    struct twins *twins;
    struct requests requests;
    uint64_t keys;    /* of all rounds */
    uint64_t doubled; /* of these may be in a cuckoo filter twice, since a connection broke */
    uint64_t doubted; /* ADD_ABSENT: of these were taken for new, since a connection broke */
};

/* Sends all keys of the input through rounds. FINE, STOP or TROUBLE. */
int round_read(struct round *round, const struct input *input);
void round_free(struct round *round);

#endif
