/* The stages of dedup: blocks of lines are read and hashed, and then taken, in order. */
#ifndef CLI_DEDUP_PIPELINE_H
#define CLI_DEDUP_PIPELINE_H

#include "line_block.h"

struct pipeline {
    const struct input *input;
    const perhaps_hasher *hasher; /* makes the digests */
    bool with_keys;               /* jobs have `keys` */

    /* What is done with a job: FINE, STOP if no more is wanted, TROUBLE. The calls come in the
     * order of the input, one at a time, but not all from the same thread. May change the job's
     * `block`. */
    int (*take)(void *context, struct line_block *job);

    /* NULL, or called in the same way when no job has come for the seconds that `patience` says. */
    int (*pause)(void *context);
    double (*patience)(void *context);

    void *context;
};

/* Hands all lines on: FINE, STOP if `take` said so or the reading was interrupted, or TROUBLE. */
int pipeline_run(const struct pipeline *pipeline);

#endif
