/* The stages of dedup: blocks of lines are read and hashed in threads, and then taken, in order
 * (input/work.c). */
#ifndef CLI_DEDUP_PIPELINE_H
#define CLI_DEDUP_PIPELINE_H

#include "input/input.h"
#include "ngrams.h"

/* A block of lines on its way: read, hashed, then looked up and printed. */
struct line_block {
    size_t n, room; /* lines; how many the arrays have room for */
    uint64_t *digests;
    const char **lines; /* lines[i] up to lines[i + 1] is line i with its line end */
    const char **ends;  /* or up to ends[i] if that is not NULL: records between may be left out */
    uint8_t *answers;   /* 1 = not seen before */
    size_t added;       /* how many are not */
    size_t next_size;   /* the least that the next blocks are to have, in bytes */

    /* NULL unless keys are compared: where in the input each key is, before it is folded; or in
     * `made`, behind its length and a colon, so that none is the beginning of another. */
    const char **keys;
    size_t *key_lengths;
    char *made;
    size_t made_length, made_room;

    struct ngrams ngrams; /* in place of `digests`, if lines are looked up by their N-grams */

    size_t file;     /* which of the input's paths the lines are from */
    uint64_t offset; /* of lines[0] in that file */
};

struct pipeline {
    const struct input *input;
    unsigned threads;
    const perhaps_hasher *hasher; /* makes the digests */
    bool with_keys;               /* jobs have `keys` */

    /* What is done with a job: FINE, STOP if no more is wanted, TROUBLE. The calls come in the
     * order of the input, one at a time, but not all from the same thread. May set the job's
     * `next_size`. */
    int (*take)(void *context, struct line_block *job);

    /* NULL, or called in the same way when no job has come for the seconds that `patience` says. */
    int (*pause)(void *context);
    double (*patience)(void *context);

    void *context;
};

/* Hands all lines on: FINE, STOP if `take` said so or the reading was interrupted, or TROUBLE. */
int pipeline_run(const struct pipeline *pipeline);

#endif
