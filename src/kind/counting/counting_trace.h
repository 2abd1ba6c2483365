/* Tracing counting filters; a part of counting.c. */
#include "kind/trace.h"

TRACED static int counting_trace(const struct array *array, struct digest digest, bool adding, struct trace *trace) {
    struct digest state = probe_begin(digest);
    bool all = true;
    for (uint64_t i = 0; i < array->layout[COUNTING_HASHES]; i++) {
        uint64_t at = probe(array, &state, i);
        all &= trace_cell(trace, "counter", at, cell_get(array->bytes, at, false));
    }
    if (adding) return trace_answer(trace, true, 1, "A copy is added: each counter below 15 goes up by 1.");
    return trace_answer(trace, false, all, all ? "No counter is 0." : "A counter is 0.");
}

TRACED static uint64_t counting_cells(const struct array *array, uint64_t i, uint64_t *value) {
    if (i < array->layout[COUNTING_COUNTERS]) *value = cell_get(array->bytes, i, false);
    return array->layout[COUNTING_COUNTERS];
}
