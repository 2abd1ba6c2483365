/*
 * The split-block Bloom filters of Apache Parquet, as they are in its files: a header and the bits.
 *
 * Idea: a key has one block of 256 bits, which is half a cache line, and in it one bit in each of
 * eight words. The upper half of XXH64 of the key chooses the block, the lower half, times eight
 * odd numbers, the bits.
 *
 *     key ──XXH64─┬─▶ high ──× blocks / 2^32──▶ block
 *                 └─▶ low ──× salt i──▶ the upper 5 bits are the bit of word i
 *
 *     ┌────────────────────────────────┬─────────┬─────────┬─────┐
 *     │ header, in Thrift's compact    │ block 0 │ block 1 │ ... │    a block is eight words of
 *     │ protocol: bytes, BLOCK,        │         │         │     │    32 bits, little-endian
 *     │ XXHASH, UNCOMPRESSED           │         │         │     │
 *     └────────────────────────────────┴─────────┴─────────┴─────┘
 *
 * Example: in 32 blocks a key with digest 0x8000000000000001 is in block 16, and its bit of word i
 * is the upper 5 bits of salt i.
 *
 * The block is monotone in the digest: a filter of half as many blocks has in block i what this one
 * has in blocks 2i and 2i + 1. So a filter can be folded, and is then equal to one made of that
 * size.
 *
 * Cost: one cache line a query. Layout: blocks.
 *
 * Invariants
 *   I1  1 <= blocks < 2^26, so that the number of bytes is one that the header can say.
 *   I2  every key that was added has all its eight bits set.
 */
#include "base/endian.h"
#include "foreign/format.h"
#include "foreign/parquet/parquet_layout.h"
#include "base/target.h"
#include "base/bits.h"
#include "kind/trace.h"

/* Eight words: one vector instruction where the machine has it. */
typedef uint32_t words __attribute__((vector_size(PARQUET_BLOCK_BYTES), aligned(1), may_alias));

static const words ones = {1, 1, 1, 1, 1, 1, 1, 1};
static const words salts = {0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d,
                            0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31};

/* ---- keys ---- */

#define INLINE static inline __attribute__((always_inline))

INLINE uint8_t *block_of(const struct array *array, uint64_t digest) {
    return array->bytes + ((digest >> 32) * array->layout[PARQUET_BLOCKS] >> 32) * PARQUET_BLOCK_BYTES;
}

/* The bits of a key, one in each word, as the words stand in memory. */
INLINE void bits_of(uint64_t digest, words *bits) {
    *bits = ones << ((uint32_t)digest * salts >> 27);
    for (int i = 0; i < PARQUET_WORDS; i++) (*bits)[i] = le32((*bits)[i]);
}

INLINE bool any(const words *bits) {
    uint64_t pairs[PARQUET_WORDS / 2];
    memcpy(pairs, bits, sizeof pairs);
    return pairs[0] | pairs[1] | pairs[2] | pairs[3];
}

/* Whether a bit of the key is missing. */
INLINE bool lacks(const uint8_t *block, uint64_t digest) {
    words missing;
    bits_of(digest, &missing);
    missing &= ~*(const words *)block;
    return any(&missing);
}

/* Sets them all; whether one was missing. */
INLINE bool put(uint8_t *block, uint64_t digest) {
    words missing;
    bits_of(digest, &missing);
    missing &= ~*(const words *)block;
    *(words *)block |= missing;
    return any(&missing);
}

static int parquet_add(struct array *array, struct digest digest) {
    return put(block_of(array, digest.first), digest.first);
}

static int parquet_contains(const struct array *array, struct digest digest) {
    return !lacks(block_of(array, digest.first), digest.first);
}

static void parquet_prefetch(const struct array *array, struct digest digest) {
    __builtin_prefetch(block_of(array, digest.first));
}

enum { AHEAD = 32 }; /* keys; how far ahead blocks are prefetched */

INLINE void many(const struct array *array, const uint64_t *digests, size_t n, uint8_t *answers, bool adding) {
    for (size_t i = 0; i < n && i < AHEAD; i++) __builtin_prefetch(block_of(array, digests[i]));
    for (size_t i = 0; i < n; i++) {
        uint8_t *block = block_of(array, digests[i]);
        if (i + AHEAD < n) __builtin_prefetch(block_of(array, digests[i + AHEAD]));
        answers[i] = adding ? put(block, digests[i]) : !lacks(block, digests[i]);
    }
}

/* Both batches, compiled for other instructions. */
#define PARQUET_BATCHES(add_name, contains_name, target)                                                               \
    target static size_t add_name(struct array *array, const uint64_t *digests, size_t n, uint8_t *answers,            \
                                  const char *ahead) {                                                                 \
        (void)ahead;                                                                                                   \
        many(array, digests, n, answers, true);                                                                        \
        return n;                                                                                                      \
    }                                                                                                                  \
    target static void contains_name(const struct array *array, const uint64_t *digests, size_t n, uint8_t *answers,   \
                                     const char *ahead) {                                                              \
        (void)ahead;                                                                                                   \
        many(array, digests, n, answers, false);                                                                       \
    }

PARQUET_BATCHES(parquet_add_many, parquet_contains_many, )
static const struct kind_ops ops_plain = {
    BASIC_OPS(parquet_add, parquet_contains, parquet_add_many, parquet_contains_many, parquet_prefetch)};

#if defined(__x86_64__)
PARQUET_BATCHES(parquet_add_many_avx2, parquet_contains_many_avx2, TARGET_AVX2)
static const struct kind_ops ops_avx2 = {
    BASIC_OPS(parquet_add, parquet_contains, parquet_add_many_avx2, parquet_contains_many_avx2, parquet_prefetch)};
#endif

static const struct kind_ops *ops(const uint64_t layout[LAYOUT_WORDS], enum isa isa, bool shared) {
    (void)layout, (void)shared;
#if defined(__x86_64__)
    if (isa != ISA_SCALAR) return &ops_avx2;
#endif
    (void)isa;
    return &ops_plain;
}

/* ---- whole filters ---- */

static bool fold(uint64_t layout[LAYOUT_WORDS], uint64_t bytes) {
    while (layout[PARQUET_BLOCKS] * PARQUET_BLOCK_BYTES > bytes) {
        if (layout[PARQUET_BLOCKS] % 2) return false;
        layout[PARQUET_BLOCKS] /= 2;
    }
    return true;
}

/* Into an array of fewer blocks: neighbouring blocks become one. */
static bool rehash(struct array *into, const struct array *from) {
    uint64_t times = from->layout[PARQUET_BLOCKS] / into->layout[PARQUET_BLOCKS];
    for (uint64_t i = 0; i < from->layout[PARQUET_BLOCKS]; i++)
        bits_or(into->bytes + i / times * PARQUET_BLOCK_BYTES, from->bytes + i * PARQUET_BLOCK_BYTES,
                PARQUET_BLOCK_BYTES);
    return true;
}

static uint64_t payload_bytes(const uint64_t layout[LAYOUT_WORDS], const char **reason) {
    *reason = layout[PARQUET_BLOCKS] < 1 || layout[PARQUET_BLOCKS] > PARQUET_BLOCKS_MAX
                  ? "a number of blocks out of range"
                  : NULL;
    return *reason ? 0 : layout[PARQUET_BLOCKS] * PARQUET_BLOCK_BYTES;
}

/* ---- the header: a struct of Thrift's compact protocol ---- */

/* A field is a byte and its value. The byte has the type and the difference of the field's number
 * from the one before; 0 means that the number follows. A byte 0 ends a struct. */
enum { STOP = 0, I32 = 5, STRUCT = 12 };
enum { NUM_BYTES = 1, ALGORITHM, HASH, COMPRESSION, ALL_FIELDS = 0x1e };

struct reading {
    const uint8_t *at, *end;
    bool bad; /* truncated, or a number was too large */
};

struct field {
    int64_t number;
    unsigned type;
};

/* 0 past the end: every struct ends there. */
static unsigned next_byte(struct reading *r) {
    if (r->at < r->end) return *r->at++;
    r->bad = true;
    return 0;
}

/* Seven bits a byte, the lowest first; the sign is the lowest bit. */
static int64_t next_number(struct reading *r) {
    uint64_t x = 0;
    unsigned byte = 0x80;
    for (unsigned shift = 0; shift < 35 && byte & 0x80; shift += 7) {
        byte = next_byte(r);
        x |= (uint64_t)(byte & 0x7f) << shift;
    }
    r->bad |= byte & 0x80 || x > UINT32_MAX;
    return x & 1 ? -(int64_t)(x >> 1) - 1 : (int64_t)(x >> 1);
}

/* The field after this one; false if it was the last. */
static bool next_field(struct reading *r, struct field *field) {
    unsigned byte = next_byte(r);
    if (byte == STOP) return false;
    field->type = byte & 15;
    field->number = byte >> 4 ? field->number + (byte >> 4) : next_number(r);
    return true;
}

/* A union of its first variant, a struct without fields: the header's unions have no other. */
static bool is_first_variant(struct reading *r) {
    struct field variant = {0, STOP}, inner = {0, STOP};
    return next_field(r, &variant) && variant.number == 1 && variant.type == STRUCT && !next_field(r, &inner) &&
           !next_field(r, &variant);
}

static const char *read(const uint8_t *bytes, uint64_t given, uint64_t length, struct facts *facts) {
    static const char *const others[] = {[ALGORITHM] = "an algorithm other than BLOCK",
                                         [HASH] = "a hash other than XXHASH",
                                         [COMPRESSION] = "a compression other than UNCOMPRESSED"};
    struct reading r = {.at = bytes, .end = bytes + (given < FORMAT_HEAD ? given : FORMAT_HEAD)};
    struct field field = {0, STOP};
    unsigned seen = 0;
    int64_t size = 0;
    (void)length;
    while (next_field(&r, &field) && !r.bad) {
        if (field.number < NUM_BYTES || field.number > COMPRESSION || seen >> field.number & 1 ||
            field.type != (field.number == NUM_BYTES ? I32 : STRUCT))
            return "fields in its header that are not those of a Bloom filter";
        seen |= 1u << field.number;
        if (field.number == NUM_BYTES) size = next_number(&r);
        if (field.number != NUM_BYTES && !is_first_variant(&r) && !r.bad) return others[field.number];
    }
    if (r.bad) return "an incomplete header";
    if (seen != ALL_FIELDS) return "a header that lacks fields";
    if (size <= 0 || size % PARQUET_BLOCK_BYTES) return "a number of bytes that does not make blocks of 32";
    *facts = (struct facts){.layout = {[PARQUET_BLOCKS] = (uint64_t)size / PARQUET_BLOCK_BYTES},
                            .start = (uint64_t)(r.at - bytes)};
    return NULL;
}

static size_t write(const struct facts *facts, uint8_t head[FORMAT_HEAD]) {
    enum { NEXT = 1 << 4 };
    size_t at = 0;
    head[at++] = NEXT | I32;
    for (uint64_t rest = 2 * facts->layout[PARQUET_BLOCKS] * PARQUET_BLOCK_BYTES; rest; rest >>= 7)
        head[at++] = (uint8_t)((rest & 0x7f) | (rest > 0x7f ? 0x80 : 0));
    for (int field = ALGORITHM; field <= COMPRESSION; field++) {
        head[at++] = NEXT | STRUCT; /* the union, */
        head[at++] = NEXT | STRUCT; /* its first variant, */
        head[at++] = STOP;          /* and the ends of both */
        head[at++] = STOP;
    }
    head[at++] = STOP;
    return at;
}

/* Four fields of these types and variants: no other file begins so. */
static bool recognise(const uint8_t *bytes, uint64_t given, uint64_t length) {
    struct facts facts;
    const char *reason = read(bytes, given, length, &facts);
    return !reason && payload_bytes(facts.layout, &reason);
}

static const struct format format = {.read = read, .write = write, .recognise = recognise};

static const struct shrinkable shrinkable = {.fold = fold, .rehash = rehash};

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

const struct kind kind_parquet = {
    .row = {PERHAPS_PARQUET, PERHAPS_ADD | PERHAPS_MERGE | PERHAPS_INTERSECT, "parquet",
            "the split-block filters of Parquet files"},
    .hashing = {.hash = PERHAPS_XXH64, .words = 1, .own = true},
    .words = {.name = {"blocks"}},
    .payload_bytes = payload_bytes,
    .ops = ops,
    .model = &model_parquet,
    .combinable = &combinable_bits,
    .shrinkable = &shrinkable,
    .format = &format,
    .trace = parquet_trace,
};
