/* Tracing fuse filters; a part of fuse.c. */
#include "kind/trace.h"

/* Slots count only together: each holds if their exclusive or is the fingerprint. */
TRACED static int fuse_trace(const struct array *array, struct digest digest, bool adding, struct trace *trace) {
    const uint64_t bits = array->layout[PARTS_BITS], width = array->layout[FUSE_WIDTH];
    const uint64_t segment = array->layout[FUSE_SEGMENT], over = (uintptr_t)array->bytes & 63;
    struct fuse_key key = fuse_key_of(array->guide, bits, digest.first);
    uint64_t part = part_of(part_key(digest.first), bits), wanted = print_of(key, width), sum = 0;
    size_t from = trace_inside(trace, "part", part), to;
    for (unsigned i = 0; i < array->layout[FUSE_ARITY]; i++) {
        uint64_t slot = slot_at(array->bytes, load_of_place(key, i, segment, over, width), width);
        slot &= (UINT64_C(1) << width) - 1;
        trace_slot(trace, fuse_place(key.first, key.spread, i, segment), slot, 0);
        sum ^= slot;
    }
    to = trace_step(trace, PERHAPS_STEP_SLOT, "exclusive or of the slots", false, 0, sum, wanted);
    for (size_t at = from; at <= to; at++) trace_settle(trace, at, sum == wanted);
    (void)adding; /* what is sealed takes no keys */
    return trace_answer(trace, false, sum == wanted,
                        sum == wanted ? "The slots together are the key's fingerprint."
                                      : "The slots together are not the key's fingerprint.");
}
