/* What open.c and foreign.c share. */
#ifndef PERHAPS_API_OPEN_H
#define PERHAPS_API_OPEN_H

#include "core/children.h"

/* Takes the options of a call that knows the flags `allowed`; `theirs` may be NULL. */
int take_open_options(perhaps_open_options *options, const perhaps_open_options *theirs, unsigned allowed);

#endif
