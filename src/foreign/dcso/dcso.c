/*
 * The Bloom filters of DCSO's `bloom`, bit for bit, which CIRCL's hashlookup and MISP also publish.
 *
 * Idea: a classic Bloom filter whose k places come from a generator: each number is the one before
 * times a factor, modulo the largest prime below 2^64, and the first follows from FNV-1 of the key.
 *
 *     key ──FNV-1──▶ h mod P ──×G──▶ h1 ──×G──▶ h2 ──▶ ...     place i = hi mod m:
 *                                                              bit place%64 of word place/64
 *
 *     ┌───────┬─────┬─────┬─────┬─────┬───────┬──────────────────────┬─────────────────┐
 *     │flags 1│  n  │  p  │  k  │  m  │ items │ m bits in u64 words  │ data, if any    │
 *     └───────┴─────┴─────┴─────┴─────┴───────┴──────────────────────┴─────────────────┘
 *       all little-endian, 8 bytes each
 *
 * The lowest byte of the flags is the version, 1. The owner of a filter may append any data.
 *
 * Example: n = 1000 and p = 1 % make m = 9,586 bits in 150 words, and k = 7.
 *
 * Cost: k cache lines and k divisions a query; in a batch two multiplications replace a division.
 * Layout: bits, hashes, flags.
 *
 * Invariants
 *   I1  1 <= k <= 2048, 1 <= m <= 2^62.
 *   I2  every key that was added has all its k bits set.
 */
#include "base/arith.h"
#include "base/endian.h"
#include "foreign/format.h"
#include "foreign/foreign_layout.h"
#include "base/bits.h"

#include <string.h>

enum { AT_FLAGS = 0, AT_N = 8, AT_P = 16, AT_K = 24, AT_M = 32, AT_ITEMS = 40, HEAD_BYTES = 48 };

static const uint64_t prime = UINT64_C(18446744073709551557), factor = UINT64_C(18446744073709550147);

/* ---- keys ---- */

/* The prime is above 2^63: the quotient is 0 or 1. If it is 0, h - prime wraps around and is
 * larger. */
static inline uint64_t modulo_prime(uint64_t h) {
    return smaller_of(h, h - prime);
}

static inline struct digest probe_begin(struct digest digest) {
    return (struct digest){modulo_prime(digest.first), 0};
}

static inline uint64_t probe_word(const uint64_t layout[LAYOUT_WORDS], struct digest *state, uint64_t i) {
    (void)layout, (void)i;
    return state->first = modulo_prime(state->first * factor);
}

#define PROBE_WORDS      1
#define PROBE_FLIP       0
#define PROBE_HASHES_MAX 2048
#include "foreign/foreign_batch.h"

/* ---- bytes ---- */

static uint64_t payload_bytes(const uint64_t layout[LAYOUT_WORDS], const char **reason) {
    *reason = layout[BLOOM_CELLS] < 1 || layout[BLOOM_CELLS] > UINT64_C(1) << 62    ? "a number of bits out of range"
              : layout[BLOOM_HASHES] < 1 || layout[BLOOM_HASHES] > PROBE_HASHES_MAX ? "a number of hashes out of range"
              : (layout[DCSO_FLAGS] & 0xff) != DCSO_VERSION                         ? "a version that is not 1"
                                                                                    : NULL;
    return *reason ? 0 : (layout[BLOOM_CELLS] + 63) / 64 * 8;
}

static const char *check_facts(uint64_t capacity, double fpr, uint64_t length) {
    (void)length;
    if (!(fpr > 0 && fpr < 1)) return "a rate that is not between 0 and 1";
    return capacity && capacity <= INT64_MAX ? NULL : "an impossible number of keys";
}

static const char *read(const uint8_t *bytes, uint64_t given, uint64_t length, struct facts *facts) {
    (void)length;
    if (given < HEAD_BYTES) return "an incomplete header";
    *facts = (struct facts){.items = load64(bytes + AT_ITEMS), .capacity = load64(bytes + AT_N), .start = HEAD_BYTES};
    facts->fpr = load_double(bytes + AT_P);
    facts->layout[BLOOM_CELLS] = load64(bytes + AT_M);
    facts->layout[BLOOM_HASHES] = load64(bytes + AT_K);
    facts->layout[DCSO_FLAGS] = load64(bytes + AT_FLAGS);
    return NULL;
}

static size_t write(const struct facts *facts, uint8_t head[FORMAT_HEAD]) {
    store64(head + AT_FLAGS, facts->layout[DCSO_FLAGS]);
    store64(head + AT_N, facts->capacity);
    store_double(head + AT_P, facts->fpr);
    store64(head + AT_K, facts->layout[BLOOM_HASHES]);
    store64(head + AT_M, facts->layout[BLOOM_CELLS]);
    store64(head + AT_ITEMS, facts->items);
    return HEAD_BYTES;
}

/* Version 1 without other flags, a possible rate and numbers of keys, hashes and bits, and as many
 * bytes: no other file begins so. */
static bool recognise(const uint8_t *bytes, uint64_t given, uint64_t length) {
    struct facts facts;
    const char *reason = read(bytes, given, length, &facts);
    return !reason && facts.layout[DCSO_FLAGS] == DCSO_VERSION && payload_bytes(facts.layout, &reason) &&
           !check_facts(facts.capacity, facts.fpr, length) &&
           payload_bytes(facts.layout, &reason) <= length - HEAD_BYTES;
}

static const struct format format = {
    .read = read, .write = write, .recognise = recognise, .counts = true, .has_tail = true};

static const struct foreign_checks foreign_checks = {.check_facts = check_facts};

#include "kind/bloom/bloom_trace.h"

const struct kind kind_dcso = {
    .row = {PERHAPS_DCSO, PERHAPS_ADD | PERHAPS_MERGE | PERHAPS_INTERSECT, "dcso",
            "the files of DCSO's bloom: hashlookup, MISP and others"},
    .hashing = {.hash = PERHAPS_FNV, .words = 1, .own = true},
    .words = {.name = {"bits", "hashes", "flags"}},
    .payload_bytes = payload_bytes,
    .ops = ops,
    .model = &model_dcso,
    .combinable = &combinable_bits,
    .format = &format,
    .foreign = &foreign_checks,
    .trace = probe_trace,
    .cells = probe_cells,
};
