/* Tracing kinds that are bloom_batch.h with cells of one bit; a part of their .c files. */
#include "kind/trace.h"

TRACED static int probe_trace(const struct array *array, struct digest digest, bool adding, struct trace *trace) {
    struct digest state = probe_begin(digest);
    bool all = true;
    for (uint64_t i = 0; i < array->layout[BLOOM_HASHES]; i++) {
        uint64_t at = probe(array, &state, i);
        all &= trace_cell(trace, "bit", at, cell_used(array->bytes, at, false));
    }
    return trace_bits(trace, adding, all);
}

TRACED static uint64_t probe_cells(const struct array *array, uint64_t i, uint64_t *value) {
    if (i < array->layout[BLOOM_CELLS]) *value = bit_get(array->bytes, i);
    return array->layout[BLOOM_CELLS];
}
