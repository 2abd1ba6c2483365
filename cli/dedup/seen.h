/* What dedup remembers lines in: a filter, or where each line came first. */
#ifndef CLI_DEDUP_SEEN_H
#define CLI_DEDUP_SEEN_H

#include "pipeline.h"

struct seen {
    perhaps_want want;
    perhaps *filter;
    perhaps_hasher hasher; /* of `filter`, and of what replaces it */
    const char *state;     /* the file that the filter is of; NULL = ours alone */
    bool table;            /* keeps whole digests forever: a query before the add changes nothing */
    bool small;            /* one table, that becomes shards when it has grown */
    uint64_t added;        /* lines, or N-grams */
    bool repeats;          /* nearly all lines of the last job were */
};

/* Makes a filter, or takes that of a state, which stays the caller's. FINE or TROUBLE. */
int seen_open(struct seen *seen, const perhaps_want *want);
int seen_of_state(struct seen *seen, const char *state, perhaps *filter);

/* Adds the lines of a job, and sets their answers. FINE or TROUBLE. */
int seen_add(struct seen *seen, struct line_block *job);

/* The same by N-grams: a line is new unless the share `overlap` of its N-grams was seen before. The
 * N-grams of new lines are added. Those of them that were not seen come to the front of the job's
 * digests; *fresh is their number. */
int seen_add_ngrams(struct seen *seen, struct line_block *job, double overlap, size_t *fresh);

void seen_close(struct seen *seen);

/* A memory without false positives: keys are compared with the first copy that has their digest. */
struct exact;

/* For the lines of this input, which must live as long; with two threads or more it uses two. NULL
 * after having said why not. */
struct exact *exact_create(const struct input *input, unsigned threads);

/* Sets the answers of a job with keys. FINE, or TROUBLE after having said why. */
int exact_add(struct exact *exact, struct line_block *job);

void exact_free(struct exact *exact);

#endif
