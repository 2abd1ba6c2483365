/* Tracing fuse filters; a part of fuse.c. */
#include "kind/trace.h"

/* Slots count only together: each holds if their exclusive or is the fingerprint. */
TRACED static int fuse_trace(const struct array *array, struct digest digest, bool adding, struct trace *trace) {
    const uint64_t bits = array->layout[PARTS_BITS], width = array->layout[FUSE_WIDTH];
    const uint64_t segment = array->layout[FUSE_SEGMENT], load = load_bytes(width);
    struct fuse_key key = fuse_key_of(array->guide, bits, digest.first, width);
    uint64_t part = part_of(digest.first, bits), wanted = key.print, sum = 0;
    size_t from = trace_inside(trace, "part", part), to;
    for (unsigned i = 0; i < array->layout[FUSE_ARITY]; i++) {
        uint64_t slot = slot_at(array->bytes, bit_of_place(key, i, segment, width), load);
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

/* The slots of part 0; small filters have no other. */
TRACED static uint64_t fuse_cells(const struct array *array, uint64_t i, uint64_t *value) {
    const uint64_t *layout = array->layout, width = layout[FUSE_WIDTH];
    const uint64_t *part = array->guide;
    uint64_t slots = fuse_slots(part[GUIDE_RANGE], layout[FUSE_ARITY], layout[FUSE_SEGMENT]);
    if (i < slots)
        *value =
            slot_at(array->bytes, 8 * part[GUIDE_START] + i * width, load_bytes(width)) & ((UINT64_C(1) << width) - 1);
    return slots;
}
