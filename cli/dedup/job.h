/* A block of lines on its way through dedup: read and hashed by one thread, looked up and printed by the other. */
#ifndef CLI_DEDUP_JOB_H
#define CLI_DEDUP_JOB_H

#include "../input.h"

struct job {
    struct buffer buffer; /* where the lines are */
    size_t n, room;       /* lines; how many the arrays have room for */
    uint64_t *digests;
    const char **lines; /* lines[i] up to lines[i + 1] is line i with its line end */
    uint8_t *answers;   /* 1 = not seen before */

    /* Only for those who compare keys themselves, else NULL: where in the buffer each key is, before it is folded. */
    const char **keys;
    size_t *key_lengths;

    size_t file;     /* which of the input's paths the lines are from */
    uint64_t offset; /* of lines[0] in that file */
};

#endif
