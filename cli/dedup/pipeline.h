/* Reading and hashing in one thread, what is done with it in another: the two stages of dedup. On a single processor, both in
 * turn, unless something is to be done in pauses. */
#ifndef CLI_DEDUP_PIPELINE_H
#define CLI_DEDUP_PIPELINE_H

#include "job.h"

struct pipeline {
    const struct input *input;
    const perhaps *filter; /* whose hash makes the digests */
    bool with_keys;        /* jobs have `keys` */

    /* What is done with a job: FINE, STOP if no more is wanted, TROUBLE. The calls come in the order of the input, from the
     * thread that calls pipeline_run. */
    int (*take)(void *context, struct job *job);

    /* NULL, or called from the same thread when no job has come for as many seconds as `patience` said then. */
    int (*pause)(void *context);
    double (*patience)(void *context);

    void *context;
};

/* Hands all lines on, and returns when that is done: FINE, STOP if `take` said so or the reading was interrupted, or TROUBLE. */
int pipeline_run(const struct pipeline *pipeline);

#endif
