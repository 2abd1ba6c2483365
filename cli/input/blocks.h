/* What the reader of input.h is made of. Input files are read one after another in blocks of whole
 * lines (or raw records); a block is a chunk, which is handed on as batches of keys. A chunk knows
 * nothing of others, so that threads can work on several (work.c). */
#ifndef CLI_INPUT_BLOCKS_H
#define CLI_INPUT_BLOCKS_H

#include "input.h"
#include "records.h"
#include "source.h"

/* -- Chunks (chunks.c) -- */

/* How the reading of a chunk went. */
struct chunk_outcome {
    uint64_t lines;            /* that were read, up to a fault */
    uint64_t keys;             /* that were handed on */
    uint64_t missing, invalid; /* records without a key; and those that were skipped as not valid */
    int status;                /* FINE = all were handed on; else why not */
    char fault[320];           /* what is wrong with the line after them; "" = nothing */
};

/* Says what is wrong with line `number`, if anything is, and returns the status. */
int outcome_tell(const struct chunk_outcome *outcome, const char *path, uint64_t number);

struct input_chunk {
    const struct input *input;
    batch_function *function;
    void *context;
    size_t file;              /* which of the input's paths it is from */
    const char *at, *end;     /* its records; before `end` one ends, unless the file does */
    bool marked;              /* they begin with the mark of UTF-8 */
    struct columns columns;   /* where the fields of --field are in this file */
    uint64_t offset;          /* of `at` in the file */
    uint64_t read_before_end; /* bytes of all files so far; of compressed ones, as they are */
    uint64_t first_line;      /* the number of its first line */
    struct chunk_outcome outcome;
    const char *counted;  /* lines up to here are in the outcome */
    const char *fault_at; /* what is wrong, if anything is, is on the line here */
    char *found;          /* keys of one batch that do not stand in the input */
    uint8_t *scratch;     /* decoded keys of one batch */
    size_t found_size, scratch_size;

    /* The batch that is made. Which arrays are used depends on the input. */
    const char *lines[BATCH], *texts[BATCH];
    size_t line_lengths[BATCH], text_lengths[BATCH];
    const void *keys[BATCH];
    size_t lengths[BATCH];
    uint64_t numbers[BATCH];
};

/* Hands all keys of a chunk to its function; what comes of it is its outcome. */
void chunk_read(struct input_chunk *chunk);

/* Frees what it has allocated. */
void chunk_free(struct input_chunk *chunk);

/* -- Blocks (blocks.c) -- */

/* Where a block is read to: `bytes` from malloc, one more of them than `size`, for the terminator
 * that a last line may lack. A long line enlarges it. */
struct buffer {
    char *bytes;
    size_t size;
};

enum { LARGE_BLOCK = 8 << 20 }; /* more is not read at a time */

/* How far the reading has come; it begins with the input set and the rest 0. Of the last
 * buffer's bytes, [start..end) is not handed on yet, and no record ends in [start..scanned). */
struct block_reader {
    const struct input *input;
    size_t file; /* number of the path that is read, or is next */
    struct input_source source;
    bool open; /* the source */
    const struct buffer *buffer;
    size_t start, scanned, end;
    uint64_t offset;             /* of buffer[0] in the file */
    uint64_t bytes;              /* of all files so far; of compressed ones, once they are read */
    struct record_search search; /* as of `scanned` */
    bool at_first;               /* nothing of the file was handed on yet */
    bool header_due;             /* its first record is a header, and still to come */
    bool header_taken;           /* that of some file was handed on */
    uint64_t header_lines;       /* before the first record of the next chunk */
    struct columns columns;      /* of the file */
};

/* Reads the next block into a buffer, which may be the last one or another; if it is another, what
 * was handed on of the last one stays as it is. FINE: `chunk` is what came, to be cut and read;
 * nothing (blocks_none) after the last block. STOP if it was interrupted; TROUBLE after having said
 * why. A line that is too long for the memory there is comes as a chunk with a fault. */
int blocks_next(struct block_reader *blocks, struct buffer *buffer, struct input_chunk *chunk);
bool blocks_none(const struct input_chunk *chunk);

/* Wherever it is. */
void blocks_end(struct block_reader *blocks);

#endif
