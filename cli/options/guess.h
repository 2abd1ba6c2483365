/* What a misspelt name may have been meant to be. */
#ifndef CLI_OPTIONS_GUESS_H
#define CLI_OPTIONS_GUESS_H

#include <stddef.h>

struct guess {
    const char *name;   /* as it was written */
    const char *likely; /* the nearest so far; NULL = none is near */
    size_t distance;    /* of that; at first, one more than is near */
};

/* Begins a guess; `name` must live as long. */
struct guess guess_for(const char *name);

/* Takes `candidate` if it is nearer than those before. */
void guess_try(struct guess *guess, const char *candidate);

#endif
