/* The operations of foreign Bloom filters, and their probes (bloom_batch.h): places are words
 * modulo the number of bits. Before including this, define probe_begin(), probe_word(),
 * PROBE_WORDS, PROBE_HASHES_MAX and PROBE_FLIP: 0, or 56 where words are big-endian, to count bytes
 * from the other end. No such kind has shared operations. */
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

PROBE_PREFETCH(foreign_prefetch)
PROBE_SINGLES(foreign_add, foreign_contains, false)
PROBE_BATCHES(foreign_add_many, foreign_contains_many, false)

static const struct kind_ops *ops(const uint64_t layout[LAYOUT_WORDS], enum isa isa, bool shared) {
    static const struct kind_ops all = {
        BASIC_OPS(foreign_add, foreign_contains, foreign_add_many, foreign_contains_many, foreign_prefetch)};
    (void)layout, (void)isa, (void)shared;
    return &all;
}
