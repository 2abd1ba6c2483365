/*
 * The Bloom filters of Guava, as its BloomFilter.writeTo writes them, bit for bit.
 *
 * Idea: a classic Bloom filter whose k places come from MurmurHash3 of the key. There are two
 * strategies, and a file says which it has: the newer takes both words of the hash, the older the
 * two halves of the first.
 *
 *     MITZ_64    place i = (h1 + i·h2) mod 2^63 mod m                                   i from 0
 *     MITZ_32    place i = c mod m, c = low + i·high in 32 bits, inverted if negative    i from 1
 *
 *     ┌──────────┬────┬──────────────┬───────────────────────────────┐
 *     │ strategy │ k  │ words (u32)  │ bits in words of 8 bytes      │    all big-endian
 *     └─ 1 byte ─┴─ 1 ┴─ 4 ──────────┴───────────────────────────────┘
 *
 * A file stores neither the number of keys nor the false-positive rate, nor what the keys are:
 * Guava's reader must be given the same funnel. Funnels of numbers write the lowest byte first,
 * those of strings UTF-8 or, as unencodedChars, UTF-16.
 *
 * Example: n = 1,000,000 and p = 1 % make 9,585,058 bits, rounded up to 149,767 words, and k = 7.
 *
 * Cost: k cache lines and k divisions a query. Layout: bits, hashes, strategy.
 *
 * New filters have MITZ_64, as in Guava. A filter with MITZ_32 can only be opened from a file.
 *
 * Invariants
 *   I1  1 <= k <= 255; m is a multiple of 64, and 64 <= m < 2^37.
 *   I2  every key that was added has all its k bits set.
 */
#include "foreign/foreign_layout.h"

#include "base/arith.h"
#include "foreign/format.h"
#include "base/bits.h"

enum { AT_STRATEGY = 0, AT_HASHES = 1, AT_WORDS = 2, HEAD_BYTES = 6 };

/* ---- keys ---- */

static inline struct digest probe_begin(struct digest digest) {
    return digest;
}

static inline uint64_t number_64(const struct digest *state, uint64_t i) {
    return (state->first + i * state->second) & INT64_MAX;
}

static inline uint64_t number_32(const struct digest *state, uint64_t i) {
    uint32_t low = (uint32_t)state->first, high = (uint32_t)(state->first >> 32), c = low + ((uint32_t)i + 1) * high;
    return c >> 31 ? ~c : c;
}

static inline uint64_t probe_word(const uint64_t layout[LAYOUT_WORDS], struct digest *state, uint64_t i) {
    return layout[GUAVA_STRATEGY] == GUAVA_MITZ_64 ? number_64(state, i) : number_32(state, i);
}

#define PROBE_WORDS      2
#define PROBE_FLIP       56
#define PROBE_HASHES_MAX UINT8_MAX
#include "foreign/foreign_batch.h"

/* ---- bytes ---- */

static uint64_t payload_bytes(const uint64_t layout[LAYOUT_WORDS], const char **reason) {
    *reason = layout[BLOOM_CELLS] < 64 || layout[BLOOM_CELLS] % 64 || layout[BLOOM_CELLS] / 64 > INT32_MAX
                  ? "a number of words out of range"
              : layout[BLOOM_HASHES] < 1 || layout[BLOOM_HASHES] > PROBE_HASHES_MAX ? "a number of hashes out of range"
              : layout[GUAVA_STRATEGY] >= GUAVA_STRATEGIES                          ? "a strategy that is unknown"
                                                                                    : NULL;
    return *reason ? 0 : layout[BLOOM_CELLS] / 8;
}

static const char *read(const uint8_t *bytes, uint64_t given, uint64_t length, struct facts *facts) {
    (void)length;
    if (given < HEAD_BYTES) return "an incomplete header";
    *facts = (struct facts){.start = HEAD_BYTES};
    facts->layout[BLOOM_CELLS] = 64 * (uint64_t)load32_big(bytes + AT_WORDS);
    facts->layout[BLOOM_HASHES] = bytes[AT_HASHES];
    facts->layout[GUAVA_STRATEGY] = bytes[AT_STRATEGY];
    return NULL;
}

static size_t write(const struct facts *facts, uint8_t head[FORMAT_HEAD]) {
    head[AT_STRATEGY] = (uint8_t)facts->layout[GUAVA_STRATEGY];
    head[AT_HASHES] = (uint8_t)facts->layout[BLOOM_HASHES];
    store32_big(head + AT_WORDS, (uint32_t)(facts->layout[BLOOM_CELLS] / 64));
    return HEAD_BYTES;
}

/* There is no magic number. But the four bytes of the number of words must agree with the length of
 * the file, and the first byte must be 0 or 1. Of random files one in 2^39 is like that, and no
 * text. In the other formats that begin with such a byte, the second is 0, which is no number of
 * hashes. */
static const struct format format = {.read = read, .write = write, .told_by_length = true};

#include "kind/bloom/bloom_trace.h"

const struct kind kind_guava = {
    .row = {PERHAPS_GUAVA, PERHAPS_ADD | PERHAPS_MERGE | PERHAPS_INTERSECT, "guava",
            "the files of Guava's BloomFilter, for Java"},
    .hashing = {.hash = PERHAPS_MURMUR3, .words = 2, .own = true},
    .words = {.name = {"bits", "hashes", "strategy"}},
    .payload_bytes = payload_bytes,
    .ops = ops,
    .model = &model_guava,
    .combinable = &combinable_bits,
    .format = &format,
    .trace = probe_trace,
    .cells = probe_cells,
};
