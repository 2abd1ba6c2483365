/* A block of lines on its way through dedup: read, hashed, then looked up and printed. */
#ifndef CLI_DEDUP_LINE_BLOCK_H
#define CLI_DEDUP_LINE_BLOCK_H

#include "input/blocks.h"

struct line_block {
    struct buffer buffer; /* where the lines are */
    size_t block;         /* so large is the buffer to be when it is used again */
    size_t n, room;       /* lines; how many the arrays have room for */
    uint64_t *digests;
    const char **lines; /* lines[i] up to lines[i + 1] is line i with its line end */
    uint8_t *answers;   /* 1 = not seen before */
    size_t added;       /* how many are not */

    /* NULL unless keys are compared: where in the buffer each key is, before it is folded. */
    const char **keys;
    size_t *key_lengths;

    size_t file;     /* which of the input's paths the lines are from */
    uint64_t offset; /* of lines[0] in that file */

    bool hashed;                  /* all of it */
    uint64_t read_before_end;     /* bytes of all files, up to its end */
    struct chunk_outcome outcome; /* of reading its lines */
};

#endif
