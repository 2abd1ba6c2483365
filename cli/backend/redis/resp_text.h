/* Bytes that grow at their end, and commands of the server's protocol in them. */
#ifndef CLI_BACKEND_REDIS_RESP_TEXT_H
#define CLI_BACKEND_REDIS_RESP_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Begin with zeros; end with free(bytes). Once memory has run out it stays `broken`, and nothing is put in any more. */
struct text {
    char *bytes;
    size_t length, room;
    bool broken;
};

void text_put(struct text *text, const void *bytes, size_t length);

/* A command of n words begins; its words follow. */
void text_command(struct text *text, size_t n);
void text_word(struct text *text, const void *bytes, size_t length);
void text_words(struct text *text, const char *word); /* several, separated by spaces */
void text_number(struct text *text, uint64_t number);

#endif
