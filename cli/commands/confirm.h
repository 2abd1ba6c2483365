/* The second look of check --confirm: lines that a filter takes for present are kept until the keys
 * that it was made from have said which of them are. */
#ifndef CLI_COMMANDS_CONFIRM_H
#define CLI_COMMANDS_CONFIRM_H

#include "backend/backend.h"

/* Before anything is read: can the file of --confirm be opened, and is it not the lines to
 * check? */
int confirm_possible(const char *path, const struct input *input);

/* Such lines, in order. Begin with zeros; end with free(bytes). */
struct hits {
    char *bytes;
    size_t filled, room;
    size_t n;
};

/* Keeps line i of a batch: its key, and all of it if it may have to be printed. */
int hits_put(struct hits *hits, const struct batch *batch, size_t i, bool printing);

/* Moves all that is in `from` behind the others. */
int hits_move(struct hits *hits, struct hits *from);

/* Reads the original keys once and finds out which hits are among them; with `one`, the first of
 * those is enough. FINE, STOP or TROUBLE, as input_read. */
int hits_confirm(struct hits *hits, const struct target *target, const struct input *keys, bool one);

/* How many of them are. */
uint64_t hits_confirmed(const struct hits *hits);

/* Prints those that are, or those that are not. */
int hits_print(const struct hits *hits, bool confirmed);

#endif
