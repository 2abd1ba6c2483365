/* The probes of bloom_batch.h for foreign formats: places are words modulo the number of bits.
 * Before including this, define probe_begin(), probe_word(), PROBE_WORDS, PROBE_HASHES_MAX and
 * PROBE_FLIP: 0, or 56 where words are big-endian, to count bytes from the other end. No such kind
 * has shared operations. */
#include "kind/kind.h"

#define PROBE_MODULO     1
#define PROBE_CELL_SHIFT 3

/* Bytes, not words: in a file the array begins anywhere, and a word may span two cache lines. */
static inline unsigned cell_used(const uint8_t *bytes, uint64_t i, bool shared) {
    (void)shared;
    return bytes[i / 8] >> i % 8 & 1u;
}

static inline unsigned cell_mark(uint8_t *bytes, uint64_t i, bool shared) {
    unsigned had = cell_used(bytes, i, shared);
    bytes[i / 8] |= (uint8_t)(1u << i % 8);
    return had;
}

#include "kind/bloom/bloom_batch.h"
