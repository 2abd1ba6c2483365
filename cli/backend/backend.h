/* What the commands work on. A target is a set of keys: a filter in a file (file/), a Roaring
 * bitmap in a file (roaring/), or a set on servers (redis/). Each of the three is a struct
 * backend. The program chooses one before the command runs (backend_choose); the command calls its
 * operations and does not ask which backend it has:
 *
 *   check          open, target_input, query, close
 *   count          open, target_input, count_batch for each batch, close
 *   explain        open, target_input_of, trace for each key, close
 *   list           open, list until it is at the end, close
 *   info           open, print_info, close; of two sets open, overlap, close
 *   verify         open, verify, facts; with --keys target_input_of, query_batch; close
 *   add, remove    open, target_input, change, finish, close
 *   build          create, change, finish, close
 *   merge ...      open the first; for each other open, combine, close; finish, close
 *   dedup          join, target_input, add_absent, finish, close; without add_absent, which only
 *                  sets on servers have, dedup has a memory of its own
 *
 * What a backend cannot do is refused before the command runs, in the words of the backend: other
 * commands than its `commands`, and the options that it lists in `refused`. An operation that none
 * of its commands calls is NULL.
 *
 * Operations return FINE, or TROUBLE after having said why. Those that read the input, and finish,
 * may also return STOP: a signal, or a callback, ended the reading. */
#ifndef CLI_BACKEND_BACKEND_H
#define CLI_BACKEND_BACKEND_H

#include "input/input.h"

#include <perhaps_embed.h>
#include <perhaps_trace.h>

/* For -k, beside the library's enum perhaps_kind: Roaring bitmaps of 32-bit and of 64-bit ids. */
enum { KIND_ROARING = 1000, KIND_ROARING64 = 1001 };

/* The kind of that name, or -1. */
int roaring_kind(const char *name);

/* An open set. The struct of each backend begins with one. */
struct target {
    const struct backend *backend;
    const struct options *options;
    const char *name;      /* its path or URL */
    double opened;         /* when, for clock_now() */
    bool integers;         /* its keys are integers; they are listed as such, in rising order */
    bool tells_recipe;     /* it knows how its keys are made */
    perhaps_recipe recipe; /* where its keys stand in records and, if it tells, how they are made */
    uint64_t keys;         /* read by change or add_absent */
    uint64_t changed;      /* of these, how many were new or were removed */
};

enum access {
    TO_INSPECT, /* as it was saved */
    TO_QUERY,   /* as of now: a window by time has forgotten what is too old */
    TO_CHANGE,  /* finish puts the result in its place */
    TO_COMBINE  /* a copy; finish writes it to what -o names */
};

enum direction { ADDING, REMOVING };

enum set_operation { MERGE, INTERSECT, SUBTRACT, DIFFER };

/* A query for all keys of the input. */
struct query {
    unsigned threads;
    bool records; /* the answers need the lines */
    bool prompt;  /* answer whenever the input pauses, not only when many keys are there */

    /* In each thread: the answers for a batch, 1 or 0 for each key, and how many are 1. From
     * add_absent, 1 = it was new, and 2 = unknown: the servers gave no answer. Of a batch from
     * servers only n and, with `records`, the lines may be used. FINE, STOP or TROUBLE. */
    int (*answered)(void *context, const struct batch *batch, uint8_t *answers, uint64_t present);

    /* In the order of the input, after some batches of a thread: to print what it has gathered.
     * NULL for add_absent, if there is nothing to do. */
    int (*in_order)(void *context);
    void *const *contexts; /* one for each of the blocks on their way */
};

/* What commands say about any set. */
struct target_facts {
    uint64_t items, bytes; /* of the file, or of all filters on servers */
    bool planned;          /* for a number of keys and a rate; if not, what follows means nothing */
    uint64_t capacity;
    double fpr_target, fpr_now; /* NAN = unknown */
    bool guessed;               /* the target is only what the layout suggests */
};

/* What opening a set has verified. */
struct verdict {
    char sentence[240];
    uint64_t bytes_checked;
    const char *if_missing; /* what it means that a key is missing */
};

struct backend {
    const char *missing;           /* a sentence, if this program was built without it; else NULL */
    unsigned commands;             /* set of 1 << enum command_id */
    const char *not_its_commands;  /* what is wrong with other commands, after their name */
    const enum option_id *refused; /* options that mean nothing to it, up to OPTIONS */
    const char *why_refused;
    bool by_operand; /* the set is named by the command's first operand, not by --at */

    /* `needs`: set of enum perhaps_ability that it must have. Also after a failure *target, if
     * it is not NULL, must be closed. */
    int (*open)(struct target **target, const struct options *options, const char *name, enum access access,
                unsigned needs);
    /* Creates it, and fills `input`: how keys are made is part of the set. */
    int (*create)(struct target **target, const struct options *options, struct input *input);
    /* Opens it, or creates it. */
    int (*join)(struct target **target, const struct options *options, struct input *input);

    void (*close)(struct target *target);

    int (*query)(struct target *target, const struct input *input, const struct query *query);
    int (*add_absent)(struct target *target, const struct input *input, const struct query *query);
    int (*change)(struct target *target, const struct input *input, enum direction direction);
    int (*combine)(struct target *into, struct target *from, enum set_operation how);

    /* Ends a change of any sort: saves it, if `status` is FINE, and warns of what users should
     * know. In place, what was changed is saved whatever the status. */
    int (*finish)(struct target *target, int status);

    /* One batch; may be called from several threads. */
    int (*query_batch)(const struct target *target, const struct batch *batch, uint8_t *answers, uint64_t *present);
    int (*count_batch)(const struct target *target, const struct batch *batch, uint64_t *counts, uint64_t *present);

    /* The steps of a query for key i of a batch, as perhaps_trace lists them: *n of them, of which
     * at most `room` are written. */
    int (*trace)(const struct target *target, const struct batch *batch, size_t i, perhaps_step *steps, size_t room,
                 size_t *n);

    /* The next members, from *at on, which begins with --from; how many. They are the last if they
     * are fewer than n, or if *at is 0 afterwards. */
    size_t (*list)(const struct target *target, uint64_t *at, uint64_t *members, size_t n);

    int (*facts)(struct target *target, struct target_facts *facts);
    int (*verify)(struct target *target, struct verdict *verdict);
    int (*print_info)(struct target *target, bool as_json);

    /* How many keys it and another set, which is opened by its name, have in common. NULL for sets
     * on servers. */
    int (*overlap)(struct target *a, const char *b, struct perhaps_overlap *overlap);
};

extern const struct backend file_backend, roaring_backend, redis_backend;

/* Chooses options->backend: by -k, by --at, or by how the file begins. TROUBLE if it is not in this
 * program, or has no use for the command or one of its options. */
int backend_choose(struct options *options);

/* Opens what the command names, calls the function, and closes it. */
int with_target(const struct options *options, enum access access, unsigned needs,
                int (*function)(struct target *target));
void target_close(struct target *target); /* NULL is fine */

/* For backends: the struct of a target, of `size` bytes, all zeros except these. NULL if there is
 * not enough memory, after having said so. */
void *target_new(struct target **target, size_t size, const struct backend *backend, const struct options *options,
                 const char *name);

/* Ends a command that made or changed the target: on a terminal, tells how many keys it holds or
 * were " added" or " removed", and its size and rate now. */
int target_tell(struct target *target, uint64_t keys, const char *changed);

/* The files of keys that the command names, read as the target's keys are made. Options that
 * contradict the target's recipe are refused. */
int target_input(const struct target *target, struct input *input);

/* The same for other files than the operands. */
int target_input_of(const struct target *target, struct input *input, char *const *paths, size_t path_count);

/* The lines of `info` about how its keys are made. */
struct json;
void target_print_recipe(const struct target *target, const char *if_unknown);
void target_print_recipe_json(const struct target *target, struct json *json);

/* The operation `query` of backends that have query_batch. */
int query_in_threads(struct target *target, const struct input *input, const struct query *query);

#endif
