/* A filter in a file, as the target of a command. */
#ifndef CLI_BACKEND_FILE_FILTER_TARGET_H
#define CLI_BACKEND_FILE_FILTER_TARGET_H

#include "backend/backend.h"
#include "filter_file.h"
#include "output/output_file.h"

#include <perhaps_trace.h>

struct filter_target {
    struct target target;
    perhaps *filter;
    enum access access;
    bool created, in_place;
    enum direction direction; /* of the last change */
    unsigned threads;         /* that read keys, and seal */
    struct output output;     /* of a filter that is created or combined */
    perhaps_lock *lock;       /* of a file that is changed and replaced */

    /* The first key that found no room. Keys after it are only counted, to say how much room they
     * need; in place they are not read. */
    struct no_room {
        int error; /* PERHAPS_EFULL or PERHAPS_ENOMEM; 0 if all had room */
        const char *path;
        uint64_t line, number;
        uint64_t before;  /* keys read before it */
        uint64_t largest; /* of the numbers from there on */
    } no_room;
};

static inline struct filter_target *filter_target_of(struct target *target) {
    return (struct filter_target *)(void *)target;
}

static inline perhaps *filter_of(const struct target *target) {
    return ((const struct filter_target *)(const void *)target)->filter;
}

/* Operations of the backend that have files of their own. */
int filter_create(struct target **target, const struct options *options, struct input *input);
int filter_change(struct target *target, const struct input *input, enum direction direction);
int filter_print_info(struct target *target, bool as_json);

/* info --bits (filter_bits.c). Can it be drawn? FINE, or TROUBLE after having said why not. Then it
 * is, with `children` for what its children are called. */
struct json;
int filter_bits_ready(const struct filter_target *t);
void filter_draw_bits(const struct filter_target *t, const char *children);
void filter_bits_json(const struct filter_target *t, struct json *json);

/* Fills in what all filters have, once `filter` is there. */
void filter_describe(struct filter_target *t);

/* Makes a static filter of all the keys that it has collected. */
int filter_seal(struct filter_target *t);

/* For a change that had no room: says so, and what to do. Returns TROUBLE. */
int no_room_failure(const struct filter_target *t);

#endif
