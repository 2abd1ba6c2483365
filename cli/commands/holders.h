/* For explain --keys: which keys of a file hold what speaks for "perhaps". */
#ifndef CLI_COMMANDS_HOLDERS_H
#define CLI_COMMANDS_HOLDERS_H

#include <perhaps_trace.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { NAMED_HOLDERS = 3 };

/* Of one step: the first keys that hold it, as they may be shown, and how many do. */
struct holders {
    char *names[NAMED_HOLDERS];
    uint64_t count;
};

/* Is it a bit, a counter or a slot that one key can hold? What static filters have there is of all
 * their keys together. */
bool step_has_holders(const perhaps_step *step);

/* Steps that are watched: which filter and cell each is of, and where its holders are noted. */
struct watch {
    uint64_t child; /* of which child, and of which of its children */
    const perhaps_step *step;
    struct holders *holders;
};

struct watches {
    struct watch *list;
    size_t n, room;
};

/* Watches the steps of a query that hold; holders[i] is for step i. False without memory. */
bool watch_steps(struct watches *watches, const perhaps_step *steps, size_t n, struct holders *holders);

/* To be called once all are watched. */
void watches_sort(struct watches *watches);

/* Notes a key, with its trace, wherever it holds what is watched. False without memory. */
bool watches_note(struct watches *watches, const char *name, const perhaps_step *steps, size_t n);

#endif
