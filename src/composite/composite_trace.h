/* Tracing filters: what growth adds to the trace of a kind, and what composite filters share. */
#ifndef PERHAPS_COMPOSITE_COMPOSITE_TRACE_H
#define PERHAPS_COMPOSITE_COMPOSITE_TRACE_H

#include "core/children.h"
#include "kind/trace.h"

/* Explains a query, or an add with the growth it may need: 1, 0, or the error of the add. */
int trace_filter(const perhaps *f, struct digest digest, bool adding, struct trace *trace);

/* The same for child i, which is called `name`. */
int trace_child(const perhaps *f, unsigned i, const char *name, struct digest digest, bool adding, struct trace *trace);

/* Queries the children from..to-1, newest first, up to one that has the key: whether one has it. */
bool trace_children(const perhaps *f, unsigned from, unsigned to, const char *name, struct digest digest,
                    struct trace *trace);

#endif
