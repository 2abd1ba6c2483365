/* The commands that --at sends to servers, in place of a file. Each returns the exit status. Without hiredis, all of them
 * say that it is missing. */
#ifndef CLI_BACKEND_REDIS_AT_H
#define CLI_BACKEND_REDIS_AT_H

#include "options/options.h"

int at_build(const struct options *options);
int at_add(const struct options *options);
int at_remove(const struct options *options);
int at_check(const struct options *options);
int at_dedup(const struct options *options);
int at_info(const struct options *options);

#endif
