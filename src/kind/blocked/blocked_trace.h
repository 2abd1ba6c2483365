/* Tracing blocked filters; a part of blocked.c. Cold, so that inlining in the operations stays as
 * it is without it. */
#include "kind/trace.h"

/* The bit of each lane that `lanes` chooses. */
static __attribute__((cold)) bool trace_lanes(const struct array *array, uint64_t line, uint64_t lanes,
                                              struct trace *trace) {
    bool all = true;
    for (int i = 0; i < BLOCKED_LANES; i++) {
        uint64_t at =
            line * BLOCKED_LINE_BITS + 64 * (uint64_t)i + (uint64_t)__builtin_ctzll(lane_scalar(i, lanes, 0, 0));
        all &= trace_cell(trace, "bit", at, bit_get(array->bytes, at));
    }
    return all;
}

static __attribute__((cold)) int blocked_trace(const struct array *array, struct digest digest, bool adding,
                                               struct trace *trace) {
    int pair = array->layout[BLOCKED_LINES_PER_KEY] == 2, two = array->layout[BLOCKED_BITS_PER_LINE] == 16;
    bool all = true;
    for (int which = 0; which <= pair; which++) {
        uint64_t line = mul_high(line_hash(digest.first, which), array->layout[BLOCKED_LINES] >> pair);
        line = (uint64_t)(place_of(array, line, which) - array->bytes) / BLOCKED_LINE_BYTES;
        size_t at = trace_inside(trace, "cache line", line);
        bool here = true;
        for (int second = 0; second <= two; second++)
            here &= trace_lanes(array, line, lanes_of(digest.first, which, second), trace);
        trace_settle(trace, at, here);
        all &= here;
    }
    return trace_bits(trace, adding, all);
}
