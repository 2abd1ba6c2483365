/* A memory that outlasts the run: a filter in a file, and a journal beside it, FILE.journal, of the
 * digests that have come since the file was saved. The journal is also the lock: the process that
 * has it locked may change the two. */
#ifndef CLI_DEDUP_STATE_H
#define CLI_DEDUP_STATE_H

#include "pipeline.h"

struct dedup_state;

/* Opens the filter that --state names, or makes one as wanted; adds what the journal has; matches
 * the input's keys. The caller adds to the filter, but does not free it. */
int state_open(struct dedup_state **state, const struct options *options, const perhaps_want *want, struct input *input,
               perhaps **filter);

/* These digests were looked up, and lines printed that are to be; their answers say which were not
 * seen before, NULL that none was. Saves, if it is time. */
int state_note(struct dedup_state *state, const uint64_t *digests, const uint8_t *answers, size_t n);

/* Saves, if it is time: asked when nothing has come for a while. */
int state_save_if_due(struct dedup_state *state);

/* How many seconds until it is time to save. */
double state_patience(const struct dedup_state *state);

/* Saves all that was noted, and ends the state and its filter. With TROUBLE for `status`, a job may
 * be looked up but not noted, since its lines could not be printed: the saved filter does not have
 * it. Returns `status`, or TROUBLE. */
int state_close(struct dedup_state *state, int status);

#endif
