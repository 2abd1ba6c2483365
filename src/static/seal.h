/* Static filters: collecting keys, then sealing. */
#ifndef PERHAPS_STATIC_SEAL_H
#define PERHAPS_STATIC_SEAL_H

#include "core/filter.h"
#include "kind/trace.h"

/* Makes a new handle of a static kind, or a sealed filter that owns its array, collect keys; it has
 * none then. */
int seal_collect(perhaps *f, uint64_t max_scratch, const char *folder);

/* Builds the filter from the collected keys. On failure it still collects, and has them all. */
int seal_filter(perhaps *f, const perhaps_seal_options *options);

/* Explains what seal_filter would do; for few keys. */
int seal_trace(const perhaps *f, struct trace *trace);

/* Forgets all keys, and collects again. */
int seal_restart(perhaps *f);

#endif
