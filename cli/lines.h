/* From lines in memory to batches of keys. A piece of the input is some whole lines of it (or raw records); it knows
 * nothing of other pieces, so that threads can work on several at the same time. */
#ifndef CLI_LINES_H
#define CLI_LINES_H

#include "input.h"

struct piece {
    const struct input *input;
    batch_function *function;
    void *context;
    const char *path;
    size_t file;        /* number of that path */
    const char *origin; /* what stands there is at `offset` in the file */
    uint64_t offset;
    const char *at, *end; /* what is not handed on yet; before `end` stands a line end */
    uint64_t first_line;  /* the number of its first line */
    uint64_t lines;       /* handed on so far */
    int status;           /* FINE = all lines were handed on; else why not */
    char fault[240];      /* what is wrong with the line `first_line + lines`; "" = nothing */
    size_t good;          /* lines before that one in its batch */
    uint8_t *scratch;     /* decoded keys of one batch */
    size_t scratch_size;
    size_t n; /* lines waiting in the arrays below */
    const char *texts[BATCH];
    size_t text_lengths[BATCH];
    const void *keys[BATCH];
    size_t lengths[BATCH];
    uint64_t numbers[BATCH];
    const char *key_texts[BATCH];
    size_t key_text_lengths[BATCH];
};

/* Hands all keys of a piece to its function, and sets `status`; a line that is no key is described in `fault`. */
void piece_read(struct piece *piece);

#endif
