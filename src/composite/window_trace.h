/* Tracing windows; a part of window.c. */
#include "composite/composite_trace.h"

/* What read_clock() would make of a window. */
struct window_view {
    unsigned first; /* generations before this one would be forgotten */
    bool fresh;     /* an empty generation would be the newest */
};

/* Whether begin_next() would find an empty generation, or may append one, after `forgotten`
 * ones. */
TRACED static bool can_begin(const perhaps *f, unsigned forgotten) {
    unsigned count = f->children->count, planned = (unsigned)f->header.layout[GENERATIONS];
    unsigned freed = count > planned ? count - planned : 0;
    if (!filter_items(f->children->child[0].filter)) return true;
    return forgotten > freed || count - (forgotten < freed ? forgotten : freed) < 2 * planned;
}

/* What advance() would do. */
static struct window_view view_at(const perhaps *f, uint64_t now) {
    struct window_view view = {forgotten_at(f, now), false};
    uint64_t age = time_since(time_not_before(f, now), newest_entry(f)->since);
    if (view.first == f->children->count)
        view.fresh = true;
    else if (filter_items(newest_of(f)) && age >= time_of_one(f))
        view.fresh = can_begin(f, view.first);
    return view;
}

static struct window_view view_of(const perhaps *f) {
    const struct children *children = f->children;
    if (children->clock) return view_at(f, children->clock(children->clock_context));
    bool untold = is_timed(f) && children->now == NEVER && newest_entry(f)->since != NEVER;
    return (struct window_view){0, untold && filter_items(newest_of(f)) && can_begin(f, 0)};
}

/* Whether the newest generation takes another key: room_in_newest() without its notes. */
TRACED static bool has_room(const perhaps *f, unsigned first) {
    uint64_t items = filter_items(newest_of(f)), quota = f->header.layout[QUOTA];
    if (quota) return items < quota || (is_timed(f) && is_flooded(f, first));
    return items < f->children->look_again || room_to_fill(f) > 0;
}

TRACED static void trace_forgotten(const perhaps *f, unsigned first, struct trace *trace) {
    for (unsigned i = 0; i < first; i++) {
        uint64_t items = filter_items(f->children->child[i].filter);
        if (items) trace_step(trace, PERHAPS_STEP_ROOM, "forgotten generation", false, i, items, 0);
    }
}

/* An add of a key that the newest generation does not have. */
TRACED static int trace_new(const perhaps *f, struct window_view view, bool known, struct digest digest,
                            struct trace *trace) {
    unsigned last = f->children->count - 1;
    const char *why =
        known ? "An older generation has the key: the newest takes it too." : "The newest generation takes the key.";
    bool room = view.fresh || has_room(f, view.first), begins = !room && is_timed(f) && can_begin(f, view.first);
    if (begins) trace_step(trace, PERHAPS_STEP_ROOM, "generation", false, last + 1, 0, 0);
    if (!room && !is_timed(f)) {
        trace_forgotten(f, 1, trace);
        why = "The newest generation is full: the oldest is forgotten, and takes the key as the newest.";
    }
    if (!view.fresh && !begins && (room || is_timed(f))) {
        int rc = trace_child(f, last, "generation", digest, true, trace);
        if (rc < 0) return trace_answer(trace, true, rc, "The newest generation is full.");
    }
    return trace_answer(trace, true, !known, why);
}

TRACED static int window_trace(const struct array *array, struct digest digest, bool adding, struct trace *trace) {
    const perhaps *f = filter_of_const(array);
    unsigned count = f->children->count;
    if (!adding) {
        bool found = trace_children(f, 0, count, "generation", digest, trace);
        return trace_answer(trace, false, found, found ? "A generation has the key." : "No generation has the key.");
    }
    struct window_view view = view_of(f);
    trace_forgotten(f, view.first, trace);
    if (view.fresh) trace_step(trace, PERHAPS_STEP_ROOM, "generation", false, count, 0, 0);
    if (!view.fresh && trace_child(f, count - 1, "generation", digest, false, trace))
        return trace_answer(trace, true, 0, "The newest generation has the key already.");
    bool known = trace_children(f, view.first, count - !view.fresh, "generation", digest, trace);
    return trace_new(f, view, known, digest, trace);
}
