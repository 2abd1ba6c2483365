/* Static filters: their keys wait until all are read, and then become the filter. */
#ifndef CLI_BACKEND_FILE_SEALING_H
#define CLI_BACKEND_FILE_SEALING_H

#include "options/options.h"

#include <perhaps.h>

/* Makes one that collects keys: in as much memory as --scratch says, and beyond it in the folder of -o. */
int sealing_create(perhaps **filter, const perhaps_want *want, const struct options *options);

/* Makes the filter of all that it has collected. */
int sealing_finish(perhaps *filter, unsigned threads);

#endif
