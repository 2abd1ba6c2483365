/* Tracing RedisBloom's Bloom filters; a part of redis_bloom.c. */
#include "kind/trace.h"

TRACED static int redis_bloom_trace(const struct array *array, struct digest digest, bool adding, struct trace *trace) {
    uint64_t word = digest.first;
    bool all = true;
    for (uint64_t i = 0; i < array->layout[REDIS_BLOOM_HASHES]; i++, word += digest.second) {
        uint64_t at = place(array, word);
        all &= trace_cell(trace, "bit", at, bit_get(array->bytes, at));
    }
    return trace_bits(trace, adding, all);
}
