/* Input files, one after another, in blocks of whole lines (or raw records). */
#ifndef CLI_INPUT_BLOCKS_H
#define CLI_INPUT_BLOCKS_H

#include "lines.h"
#include "source.h"

/* Where a block of the input is read to: `bytes` from malloc, one more of them than `size`. A long line enlarges it. */
struct buffer {
    char *bytes;
    size_t size;
};

/* More is not read at a time; and by no thread less than a few thousand lines. */
enum { LARGE_BLOCK = 8 << 20, LEAST_CHUNK = 64 << 10 };

/* How far the reading has come. Of the last buffer's bytes, [start..end) is not handed on yet, and [start..scanned) holds no
 * line end. One byte after the block is kept free for the terminator that a last line may lack. */
struct blocks {
    const struct input *input;
    unsigned threads; /* that read a block of a plain file together */
    bool wide;        /* pipes are to give much at a time */
    size_t file;      /* number of the path that is read, or is next */
    struct input_source source;
    bool open, ended; /* the source */
    const struct buffer *buffer;
    size_t start, scanned, end;
    uint64_t offset; /* of buffer[0] in the file */
    uint64_t bytes;  /* of all files so far */
};

/* Begins at the first byte of the first file. */
void blocks_begin(struct blocks *blocks, const struct input *input, unsigned threads, bool wide);

/* Reads the next block into a buffer, which may be the last one or another; what was handed on of the last one stays as it is,
 * if it is another. FINE: `chunk` is what came, to be cut and read; nothing (blocks_none) after the last block. STOP if it was
 * interrupted; TROUBLE after having said why. A line that is too long for the memory there is comes as a chunk with a fault. */
int blocks_next(struct blocks *blocks, struct buffer *buffer, struct input_chunk *chunk);
bool blocks_none(const struct input_chunk *chunk);

/* Wherever it is. */
void blocks_end(struct blocks *blocks);

#endif
