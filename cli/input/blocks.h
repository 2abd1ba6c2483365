/* What the reader of input.h is made of. Input files are read one after another in blocks of whole
 * lines (or raw records); a block is a chunk, which is handed on as batches of keys. A chunk knows
 * nothing of others, so that threads can work on several (work.c). */
#ifndef CLI_INPUT_BLOCKS_H
#define CLI_INPUT_BLOCKS_H

#include "input.h"
#include "source.h"

/* -- Chunks (chunks.c) -- */

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
    size_t file;              /* which of the input's paths it is from */
    const char *at, *end;     /* its lines; before `end` stands a line end */
    uint64_t offset;          /* of `at` in the file */
    uint64_t read_before_end; /* bytes of all files that were read so far */
    uint64_t first_line;      /* the number of its first line */
    struct chunk_outcome outcome;
    uint8_t *scratch; /* decoded keys of one batch */
    size_t scratch_size;

    /* The batch that is made. Which arrays are used depends on the input. */
    const char *lines[BATCH], *fields[BATCH];
    size_t line_lengths[BATCH], field_lengths[BATCH];
    const void *keys[BATCH];
    size_t lengths[BATCH];
    uint64_t numbers[BATCH];
};

/* Hands all keys of a chunk to its function; what comes of it is its outcome. */
void chunk_read(struct input_chunk *chunk);

/* -- Blocks (blocks.c) -- */

/* Where a block is read to: `bytes` from malloc, one more of them than `size`, for the terminator
 * that a last line may lack. A long line enlarges it. */
struct buffer {
    char *bytes;
    size_t size;
};

enum { LARGE_BLOCK = 8 << 20 }; /* more is not read at a time */

/* How far the reading has come; it begins with the input set and the rest 0. Of the last
 * buffer's bytes, [start..end) is not handed on yet, and [start..scanned) holds no line end. */
struct blocks {
    const struct input *input;
    size_t file; /* number of the path that is read, or is next */
    struct input_source source;
    bool open; /* the source */
    const struct buffer *buffer;
    size_t start, scanned, end;
    uint64_t offset; /* of buffer[0] in the file */
    uint64_t bytes;  /* of all files so far */
};

/* Reads the next block into a buffer, which may be the last one or another; if it is another, what
 * was handed on of the last one stays as it is. FINE: `chunk` is what came, to be cut and read;
 * nothing (blocks_none) after the last block. STOP if it was interrupted; TROUBLE after having said
 * why. A line that is too long for the memory there is comes as a chunk with a fault. */
int blocks_next(struct blocks *blocks, struct buffer *buffer, struct input_chunk *chunk);
bool blocks_none(const struct input_chunk *chunk);

/* Wherever it is. */
void blocks_end(struct blocks *blocks);

#endif
