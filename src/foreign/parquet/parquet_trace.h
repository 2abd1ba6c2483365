/* Tracing Parquet's filters; a part of parquet.c. */
#include "kind/trace.h"

TRACED static int parquet_trace(const struct array *array, struct digest digest, bool adding, struct trace *trace) {
    uint64_t block = (uint64_t)(block_of(array, digest.first) - array->bytes) / PARQUET_BLOCK_BYTES;
    size_t inside = trace_inside(trace, "block", block);
    bool all = true;
    words bits;
    bits_of(digest.first, &bits);
    for (int i = 0; i < PARQUET_WORDS; i++) {
        uint64_t at = block * PARQUET_BLOCK_BITS + 32 * (uint64_t)i + (uint64_t)__builtin_ctz(le32(bits[i]));
        all &= trace_cell(trace, "bit", at, bit_get(array->bytes, at));
    }
    trace_settle(trace, inside, all);
    return trace_bits(trace, adding, all);
}
