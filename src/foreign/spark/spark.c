/*
 * The Bloom filters of Apache Spark, as the first version of its BloomFilter.writeTo writes them,
 * bit for bit.
 *
 * Idea: a classic Bloom filter whose k places come from two numbers of 32 bits: h1 is MurmurHash3
 * of the key with seed 0, and h2 the same with seed h1.
 *
 *     place i = c mod m, c = h1 + i·h2 in 32 bits, inverted if negative    i from 1
 *
 *     ┌───────────┬─────────┬─────────────┬──────────────────────────────┐
 *     │ version 1 │    k    │    words    │ bits in words of 8 bytes     │    all big-endian
 *     └─ 4 bytes ─┴─ 4 ─────┴─ 4 ─────────┴──────────────────────────────┘
 *
 * A file stores neither the number of keys nor the false-positive rate. Integers of all sizes are
 * keys of 8 bytes, the lowest first; strings are UTF-8.
 *
 * Example: n = 1,000,000 and p = 1 % make 149,767 words and k = 7, as in Guava.
 *
 * Cost: k cache lines and k divisions a query. c is below 2^31: in a larger filter no key reaches
 * the bits beyond, in Spark too. Layout: bits, hashes.
 *
 * Invariants
 *   I1  1 <= k <= 2048; m is a multiple of 64, and 64 <= m < 2^37.
 *   I2  every key that was added has all its k bits set.
 */
#include "base/arith.h"
#include "foreign/format.h"
#include "foreign/foreign_layout.h"
#include "base/bits.h"

enum { AT_VERSION = 0, AT_HASHES = 4, AT_WORDS = 8, HEAD_BYTES = 12 };
enum { VERSION = 1 };

/* ---- keys ---- */

static inline struct digest probe_begin(struct digest digest) {
    return digest;
}

static inline uint64_t probe_word(const uint64_t layout[LAYOUT_WORDS], struct digest *state, uint64_t i) {
    uint32_t c = (uint32_t)state->first + ((uint32_t)i + 1) * (uint32_t)state->second;
    (void)layout;
    return c >> 31 ? ~c : c;
}

#define PROBE_WORDS      2
#define PROBE_FLIP       56
#define PROBE_HASHES_MAX 2048
#include "foreign/foreign_batch.h"

/* ---- bytes ---- */

static uint64_t payload_bytes(const uint64_t layout[LAYOUT_WORDS], const char **reason) {
    *reason = layout[BLOOM_CELLS] < 64 || layout[BLOOM_CELLS] % 64 || layout[BLOOM_CELLS] / 64 > INT32_MAX
                  ? "a number of words out of range"
              : layout[BLOOM_HASHES] < 1 || layout[BLOOM_HASHES] > PROBE_HASHES_MAX ? "a number of hashes out of range"
                                                                                    : NULL;
    return *reason ? 0 : layout[BLOOM_CELLS] / 8;
}

static const char *read(const uint8_t *bytes, uint64_t given, uint64_t length, struct facts *facts) {
    (void)length;
    if (given < HEAD_BYTES) return "an incomplete header";
    if (load32_big(bytes + AT_VERSION) != VERSION) return "a version that is not 1";
    *facts = (struct facts){.start = HEAD_BYTES};
    facts->layout[BLOOM_CELLS] = 64 * (uint64_t)load32_big(bytes + AT_WORDS);
    facts->layout[BLOOM_HASHES] = load32_big(bytes + AT_HASHES);
    return NULL;
}

static size_t write(const struct facts *facts, uint8_t head[FORMAT_HEAD]) {
    store32_big(head + AT_VERSION, VERSION);
    store32_big(head + AT_HASHES, (uint32_t)facts->layout[BLOOM_HASHES]);
    store32_big(head + AT_WORDS, (uint32_t)(facts->layout[BLOOM_CELLS] / 64));
    return HEAD_BYTES;
}

/* There is no magic number, but ten of twelve bytes are fixed, four of them by the length of the
 * file: no other file is like that. */
static const struct format format = {.read = read, .write = write, .told_by_length = true};

#include "kind/bloom/bloom_trace.h"

const struct kind kind_spark = {
    .row = {PERHAPS_SPARK, PERHAPS_ADD | PERHAPS_MERGE | PERHAPS_INTERSECT, "spark",
            "the files of Apache Spark's BloomFilter"},
    .hashing = {.hash = PERHAPS_MURMUR3_32, .words = 2, .own = true},
    .words = {.name = {"bits", "hashes"}},
    .payload_bytes = payload_bytes,
    .ops = ops,
    .model = &model_spark,
    .combinable = &combinable_bits,
    .format = &format,
    .trace = probe_trace,
    .cells = probe_cells,
};
