/* Tracing bitmaps; a part of bitmap.c. */
#include "kind/trace.h"

TRACED static int bitmap_trace(const struct array *array, struct digest digest, bool adding, struct trace *trace) {
    uint64_t id = digest.first;
    bool bit = trace_cell(trace, "bit", id, (unsigned)contains(array, id, false));
    if (id < array->layout[BITMAP_RANGE]) return trace_bits(trace, adding, bit);
    return adding ? FULL : trace_answer(trace, false, 0, "The integer lies beyond the range.");
}

TRACED static uint64_t bitmap_cells(const struct array *array, uint64_t i, uint64_t *value) {
    if (i < array->layout[BITMAP_RANGE]) *value = bit_get(array->bytes, i);
    return array->layout[BITMAP_RANGE];
}
