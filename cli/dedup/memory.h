/* What dedup remembers lines in. */
#ifndef CLI_DEDUP_MEMORY_H
#define CLI_DEDUP_MEMORY_H

#include "job.h"

struct memory {
    perhaps_want want;
    perhaps *filter;
    perhaps *hasher;   /* has the hash of `filter`, and stays when that is replaced */
    const char *state; /* the file that the filter is of; NULL = ours alone */
    bool table;        /* whole digests, for ever: to ask for one first changes nothing */
    bool small;        /* one table, that becomes shards when it has grown */
    uint64_t added;    /* lines */
    bool repeats;      /* nearly all lines of the last job were */
};

/* Makes a filter, or takes that of a state, which stays the caller's. FINE or TROUBLE. */
int memory_open(struct memory *memory, const perhaps_want *want);
int memory_of_state(struct memory *memory, const char *state, perhaps *filter);

/* Adds the lines of a job, and sets their answers. FINE or TROUBLE. */
int memory_add(struct memory *memory, struct job *job);

void memory_close(struct memory *memory);

#endif
