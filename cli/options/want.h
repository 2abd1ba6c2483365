/* From -n, -p, -k and their like to a perhaps_want: what plan and build have in common. */
#ifndef CLI_OPTIONS_WANT_H
#define CLI_OPTIONS_WANT_H

#include "options.h"

#include <perhaps.h>

/* Sizes, kind and needs. The rate is 0.01 if neither a rate nor a size is given. */
int want_from_options(perhaps_want *want, const struct options *options);

/* How many keys a filter of unknown size begins with. */
enum { FIRST_GUESS = 1000 };

#endif
