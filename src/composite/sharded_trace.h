/* Tracing sharded filters; a part of sharded.c. */
#include "composite/composite_trace.h"

TRACED static int sharded_trace(const struct array *array, struct digest digest, bool adding, struct trace *trace) {
    const perhaps *f = filter_of_const(array);
    unsigned shard = shard_of(digest.first, f->children->count);
    enter(f, shard);
    int answer = trace_child(f, shard, "shard", digest, adding, trace);
    leave(f, shard);
    return trace_answer(trace, adding, answer, "The key's shard answers for all.");
}
