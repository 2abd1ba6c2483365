/* What the calls that open filters share. */
#ifndef PERHAPS_API_OPEN_H
#define PERHAPS_API_OPEN_H

#include "core/children.h"

/* The options of a call that knows these flags; `theirs` may be NULL. */
int take_open_options(perhaps_open_options *options, const perhaps_open_options *theirs, unsigned allowed);

#endif
