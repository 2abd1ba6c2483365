/* From -n, -p, -k and their like to a perhaps_want: what plan and build have in common. */
#ifndef CLI_OPTIONS_WANT_H
#define CLI_OPTIONS_WANT_H

#include "options.h"

#include <perhaps.h>

/* Sizes, kind and needs. If neither a rate nor a size is given, the rate is 0.01. Says so if no kind can do what is
 * needed. */
int want_from_options(perhaps_want *want, const struct options *options);

/* How many keys a filter of unknown size begins with. */
enum { FIRST_GUESS = 1000 };

#endif
