#include "composite/composite_trace.h"

/* What filter_grow() would do, except with composite filters. A read-only one grows as its copy
 * would. */
TRACED static int trace_growth(const perhaps *f, struct digest digest, struct trace *trace) {
    uint64_t layout[LAYOUT_WORDS], capacity = f->header.capacity;
    const char *reason;
    const struct growable *growable = f->kind->growable;
    bool may_grow = !(f->header.flags & HEADER_FIXED) && !f->shared && (f->owned || f->state == READ_ONLY);
    if (!may_grow || !growable->grow(&f->array, digest.first, layout, &capacity))
        return trace_answer(trace, true, PERHAPS_EFULL, "The filter is full.");
    uint64_t wanted = f->kind->payload_bytes(layout, &reason);
    trace_step(trace, PERHAPS_STEP_ROOM, "array", false, 0, f->array.length, wanted);
    return trace_answer(trace, true, 1, "The array is full: it grows and takes the key.");
}

int trace_filter(const perhaps *f, struct digest digest, bool adding, struct trace *trace) {
    int answer = f->kind->trace(&f->array, digest, adding, trace);
    return answer == FULL ? trace_growth(f, digest, trace) : answer;
}

int trace_child(const perhaps *f, unsigned i, const char *name, struct digest digest, bool adding,
                struct trace *trace) {
    const perhaps *child = f->children->child[i].filter;
    size_t at = trace_step(trace, PERHAPS_STEP_CHILD, name, false, i, filter_items(child), filter_capacity(child));
    trace->depth++;
    int answer = trace_filter(child, digest, adding, trace);
    trace->depth--;
    trace_settle(trace, at, answer == !adding);
    return answer;
}

bool trace_children(const perhaps *f, unsigned from, unsigned to, const char *name, struct digest digest,
                    struct trace *trace) {
    while (to > from)
        if (trace_child(f, --to, name, digest, false, trace)) return true;
    return false;
}
