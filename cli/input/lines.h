/* From lines in memory to batches of keys. A chunk of the input is some whole lines of it (or raw records); it knows
 * nothing of other chunks, so that threads can work on several at the same time. */
#ifndef CLI_INPUT_LINES_H
#define CLI_INPUT_LINES_H

#include "input.h"

/* How the reading of a chunk went. */
struct chunk_outcome {
    uint64_t lines;  /* that were handed on */
    int status;      /* FINE = all were; else why not */
    char fault[240]; /* what is wrong with the line after them; "" = nothing */
};

/* Says what is wrong with line `number`, if anything is, and returns the status. */
int outcome_tell(const struct chunk_outcome *outcome, const char *path, uint64_t number);

struct input_chunk {
    const struct input *input;
    batch_function *function;
    void *context;
    const char *path;
    size_t file;        /* number of that path */
    const char *origin; /* what stands there is at `offset` in the file */
    uint64_t offset;
    const char *at, *end;     /* what is not handed on yet; before `end` stands a line end */
    uint64_t read_before_end; /* bytes of all files that were read so far */
    uint64_t first_line;      /* the number of its first line */
    struct chunk_outcome outcome;
    size_t good;      /* lines before a wrong one in its batch */
    uint8_t *scratch; /* decoded keys of one batch */
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

/* Hands all keys of a chunk to its function; what comes of it is its outcome. */
void chunk_read(struct input_chunk *chunk);

#endif
