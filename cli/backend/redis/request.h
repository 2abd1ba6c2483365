/* Commands for servers, each about one key, and the queues that they wait in. */
#ifndef CLI_BACKEND_REDIS_REQUEST_H
#define CLI_BACKEND_REDIS_REQUEST_H

#include "resp_text.h"

/* One command. What it says stands in the text of its list; the last ones are its maker's. */
struct request {
    struct request *next; /* in a queue */
    size_t at, length;    /* where it stands */
    uint16_t slot;        /* of its key */
    bool asking;          /* a slot on the move: said by the server that is to be asked just this once */
    bool skip;            /* before its own reply comes another, which means nothing */
    bool once;            /* done twice it does harm */
    bool repeated;        /* a connection broke, or the run ended: it may be done already */
    uint8_t hops;         /* how often another server was named */
    unsigned shard;
    size_t first, count; /* items */
};

struct requests {
    struct text text;
    struct request *list;
    size_t n, room;
};

struct queue {
    struct request *first, *last;
};

/* Begins a command of so many words, about a key, which is its second word; the others follow as text_ calls on
 * `text`. NULL if memory has run out. Valid until the next call. */
struct request *request_begin(struct requests *requests, const char *name, const char *key, size_t words);

/* Makes room for so many in all, so that none of them moves when the next is begun. */
void requests_reserve(struct requests *requests, size_t n);

/* Ends the command that was begun last. */
void request_end(struct requests *requests);

/* Forgets all, but keeps the memory. */
void requests_clear(struct requests *requests);
void requests_free(struct requests *requests);

void queue_push(struct queue *queue, struct request *request);
struct request *queue_pop(struct queue *queue); /* NULL if it is empty */

#endif
