/* Tracing fuse filters; a part of fuse.c. */
#include "kind/trace.h"

/* Slots count only together: each holds if their exclusive or is the fingerprint. */
TRACED static int fuse_trace(const struct array *array, struct digest digest, bool adding, struct trace *trace) {
    const uint64_t *guide = array->guide, bits = array->layout[PARTS_BITS], width = array->layout[FUSE_WIDTH];
    uint64_t key = part_key(digest.first), part = part_of(key, bits), word = guide[GUIDE_WORDS * part], sum = 0;
    uint64_t spread = fuse_spread(key, guide[GUIDE_WORDS * part + 1]), mask = (UINT64_C(1) << width) - 1;
    uint64_t first = fuse_first(key, bits, word & FUSE_RANGE_MAX),
             wanted = fuse_fingerprint(spread, width) | word >> 63;
    size_t from = trace_inside(trace, "part", part), to;
    for (unsigned i = 0; i < array->layout[FUSE_ARITY]; i++) {
        uint64_t place = fuse_place(first, spread, i, array->layout[FUSE_SEGMENT]);
        uint64_t load = load_of(bit_of(word, place, width), (uintptr_t)array->bytes & 63, width);
        uint64_t slot = slot_at(array->bytes, load, width) & mask;
        trace_slot(trace, place, slot, 0);
        sum ^= slot;
    }
    to = trace_step(trace, PERHAPS_STEP_SLOT, "exclusive or of the slots", false, 0, sum, wanted);
    for (size_t at = from; at <= to; at++) trace_settle(trace, at, sum == wanted);
    (void)adding; /* what is sealed takes no keys */
    return trace_answer(trace, false, sum == wanted,
                        sum == wanted ? "The slots together are the key's fingerprint."
                                      : "The slots together are not the key's fingerprint.");
}
