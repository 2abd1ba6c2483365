/* Static filters: collecting keys, and making the filter of them. */
#ifndef PERHAPS_STATIC_SEAL_H
#define PERHAPS_STATIC_SEAL_H

#include "core/filter.h"

/* Makes a new handle of a static kind, or a sealed filter with memory of its own, collect keys; it has none then. */
int seal_collect(perhaps *f, uint64_t max_scratch, const char *folder);

/* Forgets all keys, and collects anew. */
int seal_restart(perhaps *f);

#endif
