/* Waiting for another process that has a file locked. */
#ifndef CLI_INPUT_WAITING_H
#define CLI_INPUT_WAITING_H

#include "options/options.h"

struct waiting {
    const char *path;
    double patience, began, pause; /* seconds */
    bool told;
};

/* Begins to wait for `path`, as long as --patience says; a minute without it. */
struct waiting waiting_for(const struct options *options, const char *path);

/* Waits a moment, and says so on a terminal if it gets long. False when patience has ended, or a
 * signal says stop. */
bool keep_waiting(struct waiting *waiting);

/* Says that patience has ended, unless a signal ended it. Returns TROUBLE. */
int waited_in_vain(const struct waiting *waiting);

#endif
