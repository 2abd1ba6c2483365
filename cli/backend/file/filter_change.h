/* Keys into a filter, or out of it: what build, add and remove have in common. */
#ifndef CLI_BACKEND_FILE_FILTER_CHANGE_H
#define CLI_BACKEND_FILE_FILTER_CHANGE_H

#include "input/input.h"

#include <perhaps.h>

enum direction { ADDING, REMOVING };

/* The change of one filter, so far. */
struct change {
    perhaps *filter;
    enum direction direction;
    unsigned threads; /* that add; removing takes one */
    bool in_place;    /* an end without room ends the reading too: nothing will be built anew from it */
    uint64_t keys;    /* read */
    uint64_t changed; /* keys that were new, or that were taken out */

    /* The first key that found no room; after it keys are only counted, to say how much room they would have needed. */
    int error; /* PERHAPS_EFULL or PERHAPS_ENOMEM; 0 if all had room */
    const char *path;
    uint64_t line, number;
    uint64_t before;  /* keys read before it */
    uint64_t largest; /* of the numbers from there on */
};

/* Adds or removes all keys of the input. FINE, STOP or TROUBLE, as input_read; an end without room is in `error`. `path`
 * is the filter's, for messages. */
int change_all(struct change *change, const char *path, const struct input *input);

/* For a change that has an error: says what had no room in the filter `path`, and what to do. Returns TROUBLE. */
int change_failure(const struct change *change, const char *path);

#endif
