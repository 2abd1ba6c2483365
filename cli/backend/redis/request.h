/* Commands for servers, each about one key, in the text of their protocol (RESP), and the queues
 * they wait in. */
#ifndef CLI_BACKEND_REDIS_REQUEST_H
#define CLI_BACKEND_REDIS_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes that grow at their end. Begin with zeros; end with free(bytes). Once memory has run out it
 * stays `broken`. */
struct text {
    char *bytes;
    size_t length, room;
    bool broken;
};

void text_put(struct text *text, const void *bytes, size_t length);

/* Words of a command. */
void text_word(struct text *text, const void *bytes, size_t length);
void text_words(struct text *text, const char *words); /* separated by spaces */
void text_number(struct text *text, uint64_t number);

/* CRC-16/XMODEM, as Redis clusters use it: polynomial 0x1021, from 0, nothing reflected.
 * "123456789" gives 0x31c3. */
uint16_t crc16(const void *bytes, size_t length);

enum { SLOTS = 16384 };

/* One command. Its text stands in its list's; the last three fields are the caller's. */
struct request {
    struct request *next; /* in a queue */
    size_t at, length;    /* of its text */
    uint16_t slot;        /* of its key */
    /* ASKING goes before it, since its slot is being moved; false again after the reply to that */
    bool asking;
    bool once;            /* done twice it does harm */
    bool repeated;        /* a connection broke, or the run ended: it may be done already */
    uint8_t redirections; /* since the last pause */
    unsigned shard;
    size_t first, count; /* items */
};

struct requests {
    struct text text;
    struct request *list;
    size_t n, room;
};

/* Begins a command of `words` words, of which the second is its key; the others follow as text_
 * calls on `text`. NULL if memory has run out. Valid until the next call. */
struct request *request_begin(struct requests *requests, const char *name, const char *key, size_t words);

/* Makes room for n in all, so that none of them moves when the next is begun. */
void requests_reserve(struct requests *requests, size_t n);

/* Ends the command that was begun last. */
void request_end(struct requests *requests);

/* Forgets all, but keeps the memory. */
void requests_clear(struct requests *requests);
void requests_free(struct requests *requests);

struct queue {
    struct request *first, *last;
};

void queue_push(struct queue *queue, struct request *request);
struct request *queue_pop(struct queue *queue); /* NULL if it is empty */

#endif
