/* Keys on their way to the servers: gathered, sorted by shard, sent as large commands, answered in the order they came. */
#ifndef CLI_AT_ROUND_H
#define CLI_AT_ROUND_H

#include "set.h"

enum verb { ADD_ITEMS, REMOVE_ITEMS, CHECK_ITEMS };

struct item {
    size_t at, length;  /* in `bytes` of the round */
    size_t line_length; /* of its line in `lines`, the terminator included; lines follow one another */
    unsigned shard;
};

/* The keys of one round. Begin with the fields up to `done`, and zeros. */
struct round {
    struct set *set;
    enum verb verb;
    bool eager;                       /* answer whenever the input pauses, not only when enough keys are there */
    bool keep_lines;                  /* they are to be printed */
    int (*done)(struct round *round); /* after each round, with the answers: FINE, STOP or TROUBLE */
    void *context;

    size_t n, room;
    struct item *items;
    struct text bytes, lines;
    uint8_t *answers; /* 1 = it was new, was taken out, is perhaps there */
    size_t *order;    /* the items, shard by shard */
    size_t *starts;   /* where each shard begins there */
    struct requests requests;
    uint64_t keys;    /* of all rounds */
    uint64_t doubled; /* of these may be in a cuckoo filter twice, since a connection broke */
};

/* Sends all keys of the input through rounds. FINE, STOP or TROUBLE. */
int round_read(struct round *round, const struct input *input);
void round_free(struct round *round);

#endif
