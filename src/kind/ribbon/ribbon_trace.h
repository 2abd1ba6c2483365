/* Tracing ribbon filters; a part of ribbon.c. */
#include "kind/trace.h"

static unsigned parity_of(const struct spot *spot, unsigned column) {
    uint64_t here = load64(spot->words + 8 * column) & spot->here;
    return (unsigned)__builtin_parityll(here ^ (load64(spot->words + 8 * (spot->columns + column)) & spot->next));
}

TRACED static int ribbon_trace(const struct array *array, struct digest digest, bool adding, struct trace *trace) {
    uint64_t key = digest.first;
    struct spot spot = spot_from(array, key, 0);
    unsigned level = 0; /* the last one from which the search ends there */
    while (level < RIBBON_LAST && spot_from(array, key, level + 1).words == spot.words) level++;
    size_t from = trace_inside(trace, "part", part_of(key, array->layout[PARTS_BITS]));
    size_t to = trace_inside(trace, "level", level);
    bool all = true;
    for (unsigned i = 0; i < spot.columns; i++) {
        unsigned wanted = spot.print >> i & 1, parity = parity_of(&spot, i);
        trace_step(trace, PERHAPS_STEP_POSITION, "column", parity == wanted, i, parity, wanted);
        all &= parity == wanted;
    }
    for (size_t at = from; at <= to; at++) trace_settle(trace, at, all);
    (void)adding; /* what is sealed takes no keys */
    return trace_answer(trace, false, all, all ? "Each column has the key's parity." : "A column has another parity.");
}
