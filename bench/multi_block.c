/*
 * Multi-block Bloom filters: a key sets one bit in each of the eight lanes of a block, all with one
 * instruction where the processor has AVX2. Blocks have 256 bits in lanes of 32, or 512 bits in
 * lanes of 64. The idea is that of the split block Bloom filters of Parquet and Impala and of
 * Boost.Bloom's fast_multiblock32 and fast_multiblock64, which are the fastest we know.
 *
 * The hash is one multiplication whose halves are folded; the block is the upper half of the hash
 * times the number of blocks; one more multiplication gives the bits, 5 or 6 for each lane.
 */
#include "rivals.h"

#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#define INLINE static inline __attribute__((always_inline))

enum { BULK = 64, LANES = 8, BYTES_32 = 32, BYTES_64 = 64 };

static const uint64_t hash_factor = 0x9e3779b97f4a7c15u, bits_factor = 0xd1342543de82ef95u;

struct block_place {
    void *block;
    uint64_t hash; /* for the bits */
};

INLINE struct block_place place_of(const struct rival_filter *r, uint64_t key, size_t block_bytes) {
    uint64_t hash = multiply_fold(key, hash_factor);
    return (struct block_place){(char *)r->memory + multiply_high(hash, r->units) * block_bytes,
                                (hash | 1) * bits_factor};
}

/* Single queries prefetch, too, though they need the block at once: at 128 MiB they are 5 to 10 %
 * faster. Single adds do not: in the cache they would take several times as long. */
INLINE struct block_place prefetched_place_of(const struct rival_filter *r, uint64_t key, size_t block_bytes) {
    struct block_place place = place_of(r, key, block_bytes);
    __builtin_prefetch(place.block);
    return place;
}

/* --- plain C --- */

/* Lane 2j takes its bits from the lower half of the hash shifted by j pieces, lane 2j + 1 from the
 * upper one: what two vector shifts give. */
INLINE unsigned piece_of(uint64_t hash, unsigned lane, unsigned bits) {
    uint64_t shifted = hash << lane / 2 * bits;
    return (uint32_t)(lane % 2 ? shifted >> 32 : shifted) >> (32 - bits);
}

INLINE int test_32(const void *block, uint64_t hash) {
    const uint32_t *lanes = block;
    uint32_t missing = 0;
    for (unsigned lane = 0; lane < LANES; lane++) missing |= ~lanes[lane] & (uint32_t)1 << piece_of(hash, lane, 5);
    return !missing;
}

INLINE void set_32(void *block, uint64_t hash) {
    uint32_t *lanes = block;
    for (unsigned lane = 0; lane < LANES; lane++) lanes[lane] |= (uint32_t)1 << piece_of(hash, lane, 5);
}

INLINE int test_64(const void *block, uint64_t hash) {
    const uint64_t *lanes = block;
    uint64_t missing = 0;
    for (unsigned lane = 0; lane < LANES; lane++) missing |= ~lanes[lane] & (uint64_t)1 << piece_of(hash, lane, 6);
    return !missing;
}

INLINE void set_64(void *block, uint64_t hash) {
    uint64_t *lanes = block;
    for (unsigned lane = 0; lane < LANES; lane++) lanes[lane] |= (uint64_t)1 << piece_of(hash, lane, 6);
}

#define LOOP_TARGET
#define LOOP_NAME(name) name##_32_scalar
#define LOOP_BYTES      BYTES_32
#define LOOP_TEST       test_32
#define LOOP_SET        set_32
#include "block_loops.h"

#define LOOP_TARGET
#define LOOP_NAME(name) name##_64_scalar
#define LOOP_BYTES      BYTES_64
#define LOOP_TEST       test_64
#define LOOP_SET        set_64
#include "block_loops.h"

/* --- AVX2 --- */

#if defined(__x86_64__)
#define AVX2 __attribute__((target("avx2,bmi2")))

INLINE AVX2 __m256i pieces_avx2(uint64_t hash, int bits) {
    __m256i copies = _mm256_set1_epi64x((long long)hash);
    copies = _mm256_sllv_epi64(copies, _mm256_setr_epi64x(0, bits, 2 * bits, 3 * bits));
    return _mm256_srli_epi32(copies, 32 - bits);
}

INLINE AVX2 __m256i mask_32_avx2(uint64_t hash) {
    return _mm256_sllv_epi32(_mm256_set1_epi32(1), pieces_avx2(hash, 5));
}

INLINE AVX2 int test_32_avx2(const void *block, uint64_t hash) {
    return _mm256_testc_si256(_mm256_load_si256(block), mask_32_avx2(hash));
}

INLINE AVX2 void set_32_avx2(void *block, uint64_t hash) {
    _mm256_store_si256(block, _mm256_or_si256(_mm256_load_si256(block), mask_32_avx2(hash)));
}

/* The masks of four lanes each: lanes 0 to 3 in the first vector. */
struct masks_avx2 {
    __m256i low, high;
};

INLINE AVX2 struct masks_avx2 masks_64_avx2(uint64_t hash) {
    const __m256i pieces = pieces_avx2(hash, 6), one = _mm256_set1_epi64x(1);
    __m256i low = _mm256_cvtepu32_epi64(_mm256_castsi256_si128(pieces));
    __m256i high = _mm256_cvtepu32_epi64(_mm256_extracti128_si256(pieces, 1));
    return (struct masks_avx2){_mm256_sllv_epi64(one, low), _mm256_sllv_epi64(one, high)};
}

INLINE AVX2 int test_64_avx2(const void *block, uint64_t hash) {
    const __m256i *halves = block;
    struct masks_avx2 masks = masks_64_avx2(hash);
    return _mm256_testc_si256(_mm256_load_si256(&halves[0]), masks.low) &
           _mm256_testc_si256(_mm256_load_si256(&halves[1]), masks.high);
}

INLINE AVX2 void set_64_avx2(void *block, uint64_t hash) {
    __m256i *halves = block;
    struct masks_avx2 masks = masks_64_avx2(hash);
    _mm256_store_si256(&halves[0], _mm256_or_si256(_mm256_load_si256(&halves[0]), masks.low));
    _mm256_store_si256(&halves[1], _mm256_or_si256(_mm256_load_si256(&halves[1]), masks.high));
}

#define LOOP_TARGET     AVX2
#define LOOP_NAME(name) name##_32_avx2
#define LOOP_BYTES      BYTES_32
#define LOOP_TEST       test_32_avx2
#define LOOP_SET        set_32_avx2
#include "block_loops.h"

#define LOOP_TARGET     AVX2
#define LOOP_NAME(name) name##_64_avx2
#define LOOP_BYTES      BYTES_64
#define LOOP_TEST       test_64_avx2
#define LOOP_SET        set_64_avx2
#include "block_loops.h"

#define CHOICE(name) r->has_avx2 ? name##_avx2 : name##_scalar
#else
#define CHOICE(name) name##_scalar
#endif

/* --- the rivals --- */

static int open_blocks(struct rival_filter *r, uint64_t bytes, size_t block_bytes) {
    r->bytes = bytes;
    r->units = bytes / block_bytes;
    r->memory = machine_memory(bytes);
    return r->memory ? 0 : -1;
}

static int open_32(struct rival_filter *r, uint64_t bytes, uint64_t members) {
    (void)members;
    return open_blocks(r, bytes, BYTES_32);
}

static int open_64(struct rival_filter *r, uint64_t bytes, uint64_t members) {
    (void)members;
    return open_blocks(r, bytes, BYTES_64);
}

/* A call of each rival, in the best instruction set that it may use. */
#define CALL(name)                                                                                                     \
    static void name(struct rival_filter *r, const uint64_t *keys, size_t n, uint8_t *answers) {                       \
        (CHOICE(name))(r, keys, n, answers);                                                                           \
    }
CALL(contains_many_32)
CALL(contains_32)
CALL(add_many_32)
CALL(add_32)
CALL(contains_many_64)
CALL(contains_64)
CALL(add_many_64)
CALL(add_64)

const struct rival multi_block_32 = {.name = "multi-block 32",
                                     .open = open_32,
                                     .calls = {[OP_CONTAINS_MANY] = contains_many_32,
                                               [OP_CONTAINS] = contains_32,
                                               [OP_ADD_MANY] = add_many_32,
                                               [OP_ADD] = add_32}};
const struct rival multi_block_64 = {.name = "multi-block 64",
                                     .open = open_64,
                                     .calls = {[OP_CONTAINS_MANY] = contains_many_64,
                                               [OP_CONTAINS] = contains_64,
                                               [OP_ADD_MANY] = add_many_64,
                                               [OP_ADD] = add_64}};
