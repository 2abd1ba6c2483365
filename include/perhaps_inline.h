/*
 * perhaps_inline.h: single calls for integer keys, compiled into the caller.
 *
 * A loop of single calls is as fast as the processor can look ahead, and it looks ahead a number of
 * instructions, not of keys. A call costs half as many as the query itself. So this header has the
 * arithmetic of the commonest kinds, on a view of a filter: what a query needs of it, in one small
 * struct. Batches (perhaps_contains_many) are faster still, where several keys are known at a time.
 *
 *     perhaps_view view;
 *     perhaps_view_of(f, &view);
 *     if (perhaps_view_contains_u64(&view, key)) ...
 *
 * Every filter has a view: where a kind, hash or composite has no arithmetic here, the functions
 * make the call. Answers, bytes and counts are those of the calls. Compile with -mavx2 or
 * -march=native on x86-64; without it, `blocked` takes about as long as a call.
 *
 * A view is valid as long as keys are only added and queried. After any other call that changes the
 * filter, take a new one.
 */
#ifndef PERHAPS_INLINE_H
#define PERHAPS_INLINE_H

#include <perhaps.h>
#include <string.h>

#if defined(__AVX2__)
#include <immintrin.h>
#elif defined(__ARM_NEON) && defined(__aarch64__)
#include <arm_neon.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Which arithmetic a view needs; of `blocked`, one or two bits in a lane and lines per key; of
 * `fuse`, how many bytes are loaded for a slot, and whether a key may have more than three. */
enum perhaps_view_form {
    PERHAPS_VIEW_CALL,
    PERHAPS_VIEW_BLOCKED_8X1,
    PERHAPS_VIEW_BLOCKED_16X1,
    PERHAPS_VIEW_BLOCKED_8X2,
    PERHAPS_VIEW_BLOCKED_16X2,
    PERHAPS_VIEW_BLOOM,
    PERHAPS_VIEW_FUSE_1,
    PERHAPS_VIEW_FUSE_2,
    PERHAPS_VIEW_FUSE_4,
    PERHAPS_VIEW_FUSE_ANY,
    PERHAPS_VIEW_FORMS /* how many there are */
};

/* Fields are for the functions below. */
typedef struct perhaps_view {
    size_t size; /* of this struct: the library fills no view that it does not know */
    int form;    /* enum perhaps_view_form */
    perhaps *filter;
    unsigned char *bytes;  /* the array */
    uint64_t stir;         /* what integer keys are XORed with before the mix */
    uint64_t cells;        /* blocked: cache lines that a key chooses from; bloom: bits */
    uint64_t second_half;  /* blocked: offset of the second lines */
    unsigned hashes;       /* bloom: bits of a key; fuse: slots */
    int test_all;          /* bloom: testing all bits is faster than stopping at a zero bit */
    uint64_t *items;       /* counts added keys; NULL: adds make the call */
    const uint64_t *guide; /* fuse: four words for each part */
    unsigned part_bits;    /* fuse: the number of parts, its logarithm */
    unsigned segment;      /* fuse: the slots of a segment, their logarithm */
    unsigned width;        /* fuse: bits of a slot */
} perhaps_view;

/* perhaps_view_of without the size. (reads) */
PERHAPS_API void perhaps_view_fill(perhaps *f, perhaps_view *view);

/* The view of a filter, whatever it is. (reads) */
static inline void perhaps_view_of(perhaps *f, perhaps_view *view) {
    memset(view, 0, sizeof *view);
    view->size = sizeof *view;
    view->filter = f;
    perhaps_view_fill(f, view);
}

/* ---------------------------------------------------------------------------- arithmetic --- */

/* The constants of the kinds, in this one place: of the mix; of blocked's five further functions of
 * a digest, and where in a word the bit of lane i stands; of bloom's places. */
#define PERHAPS_VIEW_MIX_1       UINT64_C(0x3C79AC492BA7B653)
#define PERHAPS_VIEW_MIX_2       UINT64_C(0x1C69B3F74AC4AE35)
#define PERHAPS_VIEW_LANES_1     UINT64_C(0xBB67AE8584CAA73B)
#define PERHAPS_VIEW_LANES_2     UINT64_C(0x3C6EF372FE94F82B)
#define PERHAPS_VIEW_PAIR        UINT64_C(0xA54FF53A5F1D36F1)
#define PERHAPS_VIEW_PAIR_1      UINT64_C(0x510E527FADE682D1)
#define PERHAPS_VIEW_PAIR_2      UINT64_C(0x9B05688C2B3E6C1F)
#define PERHAPS_VIEW_LANE_BIT(i) (16 + 6 * (i))
#define PERHAPS_VIEW_FACTOR      UINT64_C(0xF1357AEA2E62A9C5)

static inline uint64_t perhaps_view_digest(const perhaps_view *view, uint64_t key) {
    uint64_t x = key ^ view->stir;
    x = (x ^ x >> 27) * PERHAPS_VIEW_MIX_1;
    x = (x ^ x >> 33) * PERHAPS_VIEW_MIX_2;
    return x ^ x >> 27;
}

/* The upper half of the product. */
static inline uint64_t perhaps_view_reduce(uint64_t a, uint64_t b) {
#ifdef __SIZEOF_INT128__
    __extension__ typedef unsigned __int128 perhaps_wide;
    return (uint64_t)((perhaps_wide)a * b >> 64);
#else
    uint64_t a0 = (uint32_t)a, a1 = a >> 32, b0 = (uint32_t)b, b1 = b >> 32;
    uint64_t middle = a1 * b0 + (a0 * b0 >> 32), carry = a0 * b1 + (uint32_t)middle;
    return a1 * b1 + (middle >> 32) + (carry >> 32);
#endif
}

/* Little-endian words, at any alignment. */
static inline uint64_t perhaps_view_load(const unsigned char *at) {
    uint64_t word;
    memcpy(&word, at, sizeof word);
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word;
}

static inline void perhaps_view_store(unsigned char *at, uint64_t word) {
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    memcpy(at, &word, sizeof word);
}

/* ------------------------------------------------------------------------------- blocked --- */

/* A bit in each of the eight 64-bit lanes of a line; `b` and, if `two`, `c` say which. The first
 * function is 1 if all are set. The second sets them, and is 1 if they were not all set. */
#if defined(__AVX2__)

static inline __m256i perhaps_view_lanes(uint64_t b, __m256i shifts) {
    __m256i at = _mm256_srlv_epi64(_mm256_set1_epi64x((long long)b), shifts);
    return _mm256_sllv_epi64(_mm256_set1_epi64x(1), _mm256_and_si256(at, _mm256_set1_epi64x(63)));
}

static inline void perhaps_view_bits(uint64_t b, uint64_t c, int two, __m256i bits[2]) {
    const __m256i low = _mm256_setr_epi64x(PERHAPS_VIEW_LANE_BIT(0), PERHAPS_VIEW_LANE_BIT(1), PERHAPS_VIEW_LANE_BIT(2),
                                           PERHAPS_VIEW_LANE_BIT(3)),
                  high = _mm256_setr_epi64x(PERHAPS_VIEW_LANE_BIT(4), PERHAPS_VIEW_LANE_BIT(5),
                                            PERHAPS_VIEW_LANE_BIT(6), PERHAPS_VIEW_LANE_BIT(7));
    bits[0] = perhaps_view_lanes(b, low);
    bits[1] = perhaps_view_lanes(b, high);
    if (!two) return;
    bits[0] = _mm256_or_si256(bits[0], perhaps_view_lanes(c, low));
    bits[1] = _mm256_or_si256(bits[1], perhaps_view_lanes(c, high));
}

static inline int perhaps_view_line_has(const unsigned char *line, uint64_t b, uint64_t c, int two) {
    __m256i bits[2], low = _mm256_loadu_si256((const __m256i *)line),
                     high = _mm256_loadu_si256((const __m256i *)line + 1);
    perhaps_view_bits(b, c, two, bits);
    __m256i missing = _mm256_or_si256(_mm256_andnot_si256(low, bits[0]), _mm256_andnot_si256(high, bits[1]));
    return _mm256_testz_si256(missing, missing);
}

static inline int perhaps_view_line_add(unsigned char *line, uint64_t b, uint64_t c, int two) {
    __m256i bits[2], low = _mm256_loadu_si256((const __m256i *)line),
                     high = _mm256_loadu_si256((const __m256i *)line + 1);
    perhaps_view_bits(b, c, two, bits);
    __m256i missing = _mm256_or_si256(_mm256_andnot_si256(low, bits[0]), _mm256_andnot_si256(high, bits[1]));
    _mm256_storeu_si256((__m256i *)line, _mm256_or_si256(low, bits[0]));
    _mm256_storeu_si256((__m256i *)line + 1, _mm256_or_si256(high, bits[1]));
    return !_mm256_testz_si256(missing, missing);
}

#elif defined(__ARM_NEON) && defined(__aarch64__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__

static inline uint64x2_t perhaps_view_lanes(uint64_t b, int first) {
    const int64x2_t shifts = {-PERHAPS_VIEW_LANE_BIT(first), -PERHAPS_VIEW_LANE_BIT(first + 1)};
    uint64x2_t at = vandq_u64(vshlq_u64(vdupq_n_u64(b), shifts), vdupq_n_u64(63));
    return vshlq_u64(vdupq_n_u64(1), vreinterpretq_s64_u64(at));
}

static inline uint64x2_t perhaps_view_bits(uint64_t b, uint64_t c, int two, int first) {
    uint64x2_t bits = perhaps_view_lanes(b, first);
    return two ? vorrq_u64(bits, perhaps_view_lanes(c, first)) : bits;
}

static inline int perhaps_view_line_has(const unsigned char *line, uint64_t b, uint64_t c, int two) {
    uint64x2_t missing = vdupq_n_u64(0);
    for (int i = 0; i < 8; i += 2) {
        uint64x2_t words = vreinterpretq_u64_u8(vld1q_u8(line + 8 * i));
        missing = vorrq_u64(missing, vbicq_u64(perhaps_view_bits(b, c, two, i), words));
    }
    return vmaxvq_u32(vreinterpretq_u32_u64(missing)) == 0;
}

static inline int perhaps_view_line_add(unsigned char *line, uint64_t b, uint64_t c, int two) {
    uint64x2_t missing = vdupq_n_u64(0);
    for (int i = 0; i < 8; i += 2) {
        uint64x2_t words = vreinterpretq_u64_u8(vld1q_u8(line + 8 * i)), bits = perhaps_view_bits(b, c, two, i);
        missing = vorrq_u64(missing, vbicq_u64(bits, words));
        vst1q_u8(line + 8 * i, vreinterpretq_u8_u64(vorrq_u64(words, bits)));
    }
    return vmaxvq_u32(vreinterpretq_u32_u64(missing)) != 0;
}

#else

static inline uint64_t perhaps_view_lane(int i, uint64_t b, uint64_t c, int two) {
    uint64_t bits = UINT64_C(1) << (b >> PERHAPS_VIEW_LANE_BIT(i) & 63);
    return two ? bits | UINT64_C(1) << (c >> PERHAPS_VIEW_LANE_BIT(i) & 63) : bits;
}

static inline int perhaps_view_line_has(const unsigned char *line, uint64_t b, uint64_t c, int two) {
    uint64_t all = 1;
    for (int i = 0; i < 8; i++) {
        uint64_t word = perhaps_view_load(line + 8 * i);
        all &= word >> (b >> PERHAPS_VIEW_LANE_BIT(i) & 63);
        if (two) all &= word >> (c >> PERHAPS_VIEW_LANE_BIT(i) & 63);
    }
    return (int)all;
}

static inline int perhaps_view_line_add(unsigned char *line, uint64_t b, uint64_t c, int two) {
    uint64_t missing = 0;
    for (int i = 0; i < 8; i++) {
        uint64_t word = perhaps_view_load(line + 8 * i), bits = perhaps_view_lane(i, b, c, two);
        missing |= bits & ~word;
        perhaps_view_store(line + 8 * i, word | bits);
    }
    return missing != 0;
}

#endif

/* The second line of a key, for filters that have two. */
static inline unsigned char *perhaps_view_second_line(const perhaps_view *view, uint64_t digest) {
    uint64_t line = perhaps_view_reduce(digest * PERHAPS_VIEW_PAIR, view->cells);
    return view->bytes + view->second_half + 64 * line;
}

static inline int perhaps_view_blocked_contains(const perhaps_view *view, uint64_t digest, int two, int pair) {
    const unsigned char *line = view->bytes + 64 * perhaps_view_reduce(digest, view->cells);
    uint64_t b = digest * PERHAPS_VIEW_LANES_1, c = digest * PERHAPS_VIEW_LANES_2;
    int has = perhaps_view_line_has(line, b, c, two);
    if (!pair) return has;
    b = digest * PERHAPS_VIEW_PAIR_1;
    c = digest * PERHAPS_VIEW_PAIR_2;
    return has & perhaps_view_line_has(perhaps_view_second_line(view, digest), b, c, two);
}

static inline int perhaps_view_blocked_add(const perhaps_view *view, uint64_t digest, int two, int pair) {
    unsigned char *line = view->bytes + 64 * perhaps_view_reduce(digest, view->cells);
    uint64_t b = digest * PERHAPS_VIEW_LANES_1, c = digest * PERHAPS_VIEW_LANES_2;
    int is_new = perhaps_view_line_add(line, b, c, two);
    if (!pair) return is_new;
    b = digest * PERHAPS_VIEW_PAIR_1;
    c = digest * PERHAPS_VIEW_PAIR_2;
    return is_new | perhaps_view_line_add(perhaps_view_second_line(view, digest), b, c, two);
}

/* --------------------------------------------------------------------------------- bloom --- */

static inline unsigned perhaps_view_bit(const perhaps_view *view, uint64_t word) {
    uint64_t at = perhaps_view_reduce(word, view->cells);
    return (unsigned)view->bytes[at / 8] >> at % 8 & 1;
}

static inline int perhaps_view_bloom_contains(const perhaps_view *view, uint64_t digest) {
    uint64_t word = (digest + PERHAPS_VIEW_FACTOR) * PERHAPS_VIEW_FACTOR;
    unsigned all = 1, left = view->hashes;
    if (view->test_all) {
        for (; left > 0; left--, word *= PERHAPS_VIEW_FACTOR) all &= perhaps_view_bit(view, word);
        return (int)all;
    }
    for (; left > 0; left--, word *= PERHAPS_VIEW_FACTOR)
        if (!perhaps_view_bit(view, word)) return 0;
    return 1;
}

static inline int perhaps_view_bloom_add(const perhaps_view *view, uint64_t digest) {
    uint64_t word = digest + PERHAPS_VIEW_FACTOR;
    unsigned char *bytes = view->bytes;
    const uint64_t cells = view->cells;
    unsigned missing = 0;
    for (unsigned left = view->hashes; left > 0; left--) {
        uint64_t at = perhaps_view_reduce(word *= PERHAPS_VIEW_FACTOR, cells);
        unsigned byte = bytes[at / 8], bit = 1U << at % 8;
        missing |= ~byte & bit;
        bytes[at / 8] = (unsigned char)(byte | bit);
    }
    return missing != 0;
}

/* ---------------------------------------------------------------------------------- fuse --- */

/* The slot at this bit, and above it whatever its neighbours are. */
static inline uint64_t perhaps_view_slot(const unsigned char *data, uint64_t bit, int load) {
    const unsigned char *from = data + bit / 8;
    if (load == 1) return from[0];
    if (load == 2) return ((unsigned)from[0] | (unsigned)from[1] << 8) >> bit % 8;
    if (load == 8) return perhaps_view_load(from) >> bit % 8;
    return ((uint64_t)from[0] | (uint64_t)from[1] << 8 | (uint64_t)from[2] << 16 | (uint64_t)from[3] << 24) >> bit % 8;
}

/* A part has four words: where its data is, its starting places, what offsets come from, and 1 if
 * it has no keys, so that no slots are the fingerprint. `load` bytes have all of a slot. */
static inline int perhaps_view_fuse_contains(const perhaps_view *view, uint64_t digest, unsigned slots, int load) {
    const uint64_t *part = view->guide + 4 * (digest >> 1 >> (63 - view->part_bits));
    const unsigned char *data = view->bytes + part[0];
    uint64_t first = perhaps_view_reduce(digest << view->part_bits, part[1]), spread = digest * part[2];
    uint64_t width = load == 1 ? 8 : view->width, sum = digest | part[3];
    uint64_t segment = (uint64_t)1 << view->segment, anywhere = segment - 1;
    sum ^= perhaps_view_slot(data, first * width, load);
    sum ^= perhaps_view_slot(data, ((first + segment) ^ (spread >> 46 & anywhere)) * width, load);
    sum ^= perhaps_view_slot(data, ((first + 2 * segment) ^ (spread >> 28 & anywhere)) * width, load);
    if (slots > 3) sum ^= perhaps_view_slot(data, ((first + 3 * segment) ^ (spread >> 10 & anywhere)) * width, load);
    return (sum & (((uint64_t)1 << width) - 1)) == 0;
}

/* ------------------------------------------------------------------------------ the calls --- */

/* The forms that are not the commonest ones. */
static inline int perhaps_view_contains_other(const perhaps_view *view, uint64_t key) {
    uint64_t digest = perhaps_view_digest(view, key);
    switch (view->form) {
    case PERHAPS_VIEW_BLOCKED_16X1:
        return perhaps_view_blocked_contains(view, digest, 1, 0);
    case PERHAPS_VIEW_BLOCKED_8X2:
        return perhaps_view_blocked_contains(view, digest, 0, 1);
    case PERHAPS_VIEW_BLOCKED_16X2:
        return perhaps_view_blocked_contains(view, digest, 1, 1);
    case PERHAPS_VIEW_BLOOM:
        return perhaps_view_bloom_contains(view, digest);
    case PERHAPS_VIEW_FUSE_1:
        return perhaps_view_fuse_contains(view, digest, 3, 1);
    case PERHAPS_VIEW_FUSE_2:
        return perhaps_view_fuse_contains(view, digest, 3, 2);
    case PERHAPS_VIEW_FUSE_4:
        return perhaps_view_fuse_contains(view, digest, 3, 4);
    case PERHAPS_VIEW_FUSE_ANY:
        return perhaps_view_fuse_contains(view, digest, view->hashes, 8);
    default:
        return perhaps_contains_u64(view->filter, key);
    }
}

static inline int perhaps_view_add_other(const perhaps_view *view, uint64_t digest) {
    switch (view->form) {
    case PERHAPS_VIEW_BLOCKED_16X1:
        return perhaps_view_blocked_add(view, digest, 1, 0);
    case PERHAPS_VIEW_BLOCKED_8X2:
        return perhaps_view_blocked_add(view, digest, 0, 1);
    case PERHAPS_VIEW_BLOOM:
        return perhaps_view_bloom_add(view, digest);
    default:
        return perhaps_view_blocked_add(view, digest, 1, 1);
    }
}

/* perhaps_contains_u64. */
static inline int perhaps_view_contains_u64(const perhaps_view *view, uint64_t key) {
    if (view->form == PERHAPS_VIEW_BLOCKED_8X1)
        return perhaps_view_blocked_contains(view, perhaps_view_digest(view, key), 0, 0);
    return perhaps_view_contains_other(view, key);
}

/* perhaps_add_u64. */
static inline int perhaps_view_add_u64(const perhaps_view *view, uint64_t key) {
    uint64_t digest = perhaps_view_digest(view, key);
    if (!view->items) return perhaps_add_u64(view->filter, key);
    int is_new = view->form == PERHAPS_VIEW_BLOCKED_8X1 ? perhaps_view_blocked_add(view, digest, 0, 0)
                                                        : perhaps_view_add_other(view, digest);
    *view->items += (uint64_t)is_new;
    return is_new;
}

#ifdef __cplusplus
}
#endif

#endif
