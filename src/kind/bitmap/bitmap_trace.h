/* Tracing bitmaps; a part of bitmap.c. */
#include "kind/trace.h"

TRACED static int bitmap_trace(const struct array *array, struct digest digest, bool adding, struct trace *trace) {
    uint64_t id = digest.first;
    int bit = contains(array, id, false);
    trace_position(trace, "bit", id, (uint64_t)bit, bit);
    if (id < array->layout[BITMAP_RANGE]) return trace_bits(trace, adding, bit);
    return adding ? FULL : trace_answer(trace, false, 0, "The integer lies beyond the range.");
}
