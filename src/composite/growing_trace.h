/* Tracing growing filters; a part of growing.c. */
#include "composite/composite_trace.h"

/* What append_layer() would do. */
TRACED static int trace_append(const perhaps *f, struct trace *trace) {
    const struct children *children = f->children;
    struct level level = {.length = children->spare ? children->child[children->count].filter->array.length : 0};
    int rc = children->spare ? PERHAPS_OK : plan_layer(f, &level);
    if (rc == PERHAPS_OK && !children->spare) rc = check_size(f, &level);
    if (rc < 0) return trace_answer(trace, true, rc, "The newest layer is full, and no layer can be appended.");
    trace_step(trace, PERHAPS_STEP_ROOM, "layer", false, children->count, 0, level.length);
    return trace_answer(trace, true, 1, "The newest layer is full: a layer is appended and takes the key.");
}

TRACED static int growing_trace(const struct array *array, struct digest digest, bool adding, struct trace *trace) {
    const perhaps *f = filter_of_const(array);
    unsigned layers = f->children->count;
    bool found = (!adding || !is_multiset(f)) && trace_children(f, 0, layers, "layer", digest, trace);
    if (!adding) return trace_answer(trace, false, found, found ? "A layer has the key." : "No layer has the key.");
    if (found) return trace_answer(trace, true, 0, "A layer has the key already.");
    int is_new = room_in(newest_of(f)) ? trace_child(f, layers - 1, "layer", digest, true, trace) : PERHAPS_EFULL;
    if (is_new == PERHAPS_EFULL) return trace_append(f, trace);
    return trace_answer(trace, true, is_new, "The key goes to the newest layer.");
}
