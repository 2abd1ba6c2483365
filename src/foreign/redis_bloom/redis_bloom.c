/*
 * A layer of RedisBloom's Bloom filters, bit for bit (the libbloom of J. Virkki, with the hashing
 * of Kirsch & Mitzenmacher, "Less hashing, same performance", 2006).
 *
 * Idea: a classic Bloom filter whose k places follow from two words: place i is (a + i·b mod 2^64)
 * mod m, where a is MurmurHash64A of the key under a fixed seed, and b is the same under the seed
 * a.
 *
 *     key ─┬─▶ a ──┐
 *          └─▶ b ──┴─▶ a, a + b, a + 2b, ...  mod m ──▶ bit p%8 of byte p/8
 *
 * What RedisBloom calls a scaling filter is a growing filter over these: each layer has `growth`
 * times the entries of the one before and half its error rate; the first has half of the wanted
 * one. A filter that does not scale is a single layer.
 *
 * Example: 100 entries at 1 % that scale begin with a layer at 0.5 %: 11.03 bits each, 1,102 bits,
 * rounded up to 1,152, and k = 8.
 *
 * Cost: k cache lines and k divisions a query. Layout: bits, hashes, n2 (if not 0, places are
 * modulo 2^n2, as in old versions), bits per entry (as the bits of a double), options and growth
 * (redis_bloom_layout.h).
 *
 * Invariants
 *   I1  1 <= k <= 2048; the bits are whole words of 64, and if n2 is not 0, at least 2^n2.
 *   I2  every key that was added has all its k bits set.
 */
#include "foreign/redis_bloom/redis_bloom_layout.h"
#include "base/bits.h"
#include "kind/trace.h"

enum { HASHES_MAX = 2048, N2_MAX = 62 };

#define SEED UINT64_C(0xc6a4a7935bd1e995)

static inline uint64_t place(const struct array *array, uint64_t word) {
    uint64_t n2 = array->layout[REDIS_BLOOM_N2];
    return n2 ? word & ((UINT64_C(1) << n2) - 1) : word % array->layout[REDIS_BLOOM_BITS];
}

static int redis_bloom_add(struct array *array, struct digest digest) {
    uint64_t word = digest.first;
    int is_new = 0;
    for (uint64_t i = 0; i < array->layout[REDIS_BLOOM_HASHES]; i++, word += digest.second) {
        uint64_t at = place(array, word);
        is_new |= !bit_get(array->bytes, at);
        bit_set(array->bytes, at);
    }
    return is_new;
}

static int redis_bloom_contains(const struct array *array, struct digest digest) {
    uint64_t word = digest.first;
    for (uint64_t i = 0; i < array->layout[REDIS_BLOOM_HASHES]; i++, word += digest.second) {
        if (!bit_get(array->bytes, place(array, word))) return 0;
    }
    return 1;
}

static void redis_bloom_prefetch(const struct array *array, struct digest digest) {
    __builtin_prefetch(array->bytes + place(array, digest.first) / 8);
}

/* Whether these are the bits of a finite double above 0. */
static bool is_positive(uint64_t bits) {
    return bits > 0 && bits >> 52 < 0x7ff;
}

static const char *check_layout(const uint64_t layout[LAYOUT_WORDS]) {
    uint64_t bits = layout[REDIS_BLOOM_BITS], n2 = layout[REDIS_BLOOM_N2];
    uint64_t options = (uint32_t)layout[REDIS_BLOOM_OPTIONS], growth = layout[REDIS_BLOOM_OPTIONS] >> 32;
    if (bits == 0 || bits % 64 || bits > INT64_MAX) return "a number of bits out of range, or not of whole words";
    if (layout[REDIS_BLOOM_HASHES] < 1 || layout[REDIS_BLOOM_HASHES] > HASHES_MAX)
        return "a number of hashes out of range";
    if (n2 > N2_MAX || (n2 && bits >> n2 == 0)) return "fewer bits than its places need";
    if (!is_positive(layout[REDIS_BLOOM_BPE])) return "an impossible number of bits per entry";
    if (options & ~(unsigned)REDIS_OPTIONS_ALL) return "unknown options";
    if (!(options & REDIS_OPTION_FORCE64)) return "hashes of 32 bits, as early versions had, which are not supported";
    if (growth > REDIS_BLOOM_GROWTH_MAX || (growth && !(options & REDIS_OPTION_NO_SCALING)))
        return "a growth out of range";
    return NULL;
}

static uint64_t payload_bytes(const uint64_t layout[LAYOUT_WORDS], const char **reason) {
    *reason = check_layout(layout);
    return *reason ? 0 : layout[REDIS_BLOOM_BITS] / 8;
}

static const char *check_facts(uint64_t entries, double error, uint64_t length) {
    if (entries / KEYS_PER_BYTE_MAX > length) return "a layer with far less memory than its entries need";
    if (!(error > 0 && error < 1)) return "an error rate that is not between 0 and 1";
    return entries && entries <= INT64_MAX ? NULL : "an impossible number of entries";
}

/* Batches of digests of two words are made of single calls. */
static const struct kind_ops *ops(const uint64_t layout[LAYOUT_WORDS], enum isa isa, bool shared) {
    static const struct kind_ops all = {
        .add = redis_bloom_add, .contains = redis_bloom_contains, .prefetch = redis_bloom_prefetch};
    (void)layout, (void)isa, (void)shared;
    return &all;
}

static const struct foreign_checks foreign_checks = {.check_facts = check_facts};

TRACED static int redis_bloom_trace(const struct array *array, struct digest digest, bool adding, struct trace *trace) {
    uint64_t word = digest.first;
    bool all = true;
    for (uint64_t i = 0; i < array->layout[REDIS_BLOOM_HASHES]; i++, word += digest.second) {
        uint64_t at = place(array, word);
        all &= trace_cell(trace, "bit", at, bit_get(array->bytes, at));
    }
    return trace_bits(trace, adding, all);
}

const struct kind kind_redis_bloom = {
    .row = {PERHAPS_REDIS_BLOOM, PERHAPS_ADD | PERHAPS_MERGE | PERHAPS_IN_PLACE, "redis_bloom",
            "what RedisBloom's BF commands keep, bit for bit"},
    .hashing = {.hash = PERHAPS_MURMUR, .words = 2, .own = true, .seed = SEED},
    .words = {.name = {"bits", "hashes", "n2", "bits per entry", "options"}},
    .payload_bytes = payload_bytes,
    .ops = ops,
    .model = &model_redis_bloom,
    .combinable = &combinable_bits_merge,
    .foreign = &foreign_checks,
    .trace = redis_bloom_trace,
};
