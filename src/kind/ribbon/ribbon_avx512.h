/* Queries of a ribbon filter in AVX-512: eight keys at a time find their words, then each tests
 * eight columns at a time. */
#include <immintrin.h>

/* mul_high_32; what is above the lowest 32 bits of n does not matter. */
INLINE __m512i ISA(mul_high)(__m512i h, __m512i n) {
    __m512i high = _mm512_mul_epu32(_mm512_srli_epi64(h, 32), n), low = _mm512_mul_epu32(h, n);
    return _mm512_srli_epi64(_mm512_add_epi64(high, _mm512_srli_epi64(low, 32)), 32);
}

/* Which of the keys that start there are bumped; those of a part without a first level are not told
 * from others here. */
INLINE __mmask8 ISA(bumped)(const struct array *array, __m512i thresholds, __m512i start) {
    const __m512i limits = _mm512_set1_epi64((long long)RIBBON_LIMITS);
    __m512i place = _mm512_add_epi64(thresholds, _mm512_slli_epi64(_mm512_srli_epi64(start, 12), 3));
    __m512i word = _mm512_i64gather_epi64(place, array->bytes, 1);
    __m512i shift = _mm512_and_si512(_mm512_srli_epi64(start, 6), _mm512_set1_epi64(62));
    __m512i threshold = _mm512_and_si512(_mm512_srlv_epi64(word, shift), _mm512_set1_epi64(3));
    __m512i limit = _mm512_srlv_epi64(limits, _mm512_slli_epi64(threshold, 3));
    __m512i row = _mm512_and_si512(start, _mm512_set1_epi64(RIBBON_BUCKET_ROWS - 1));
    return _mm512_cmplt_epu64_mask(row, _mm512_and_si512(limit, _mm512_set1_epi64(255)));
}

/* Writes the spots in the first level of the keys i..i+7, and gives those that are bumped from
 * there. */
INLINE __mmask8 ISA(find_8)(const struct array *array, struct ribbon_block *block, size_t i, __mmask8 here) {
    const long long *guide = array->guide; /* four words for each part: struct ribbon_level */
    const __m128i bits = _mm_cvtsi64_si128((long long)array->layout[PARTS_BITS]);
    const __m128i rest = _mm_cvtsi64_si128(64 - (long long)array->layout[PARTS_BITS]);
    const __m512i columns = _mm512_set1_epi64(ribbon_columns(array->layout)), one = _mm512_set1_epi64(1);
    __m512i key = _mm512_maskz_loadu_epi64(here, block->key + i),
            rows = _mm512_maskz_loadu_epi64(here, block->rows + i);
    __m512i part = _mm512_slli_epi64(_mm512_srl_epi64(key, rest), 2);
    __m512i data = _mm512_i64gather_epi64(part, guide, 8), sizes = _mm512_i64gather_epi64(part, guide + 3, 8);
    __m512i start = ISA(mul_high)(_mm512_sll_epi64(key, bits), sizes), border = _mm512_srli_epi64(sizes, 32);
    __m512i at = _mm512_srli_epi64(start, 6), row = _mm512_and_si512(start, _mm512_set1_epi64(RIBBON_ROWS - 1));
    __m512i more = _mm512_max_epi64(_mm512_sub_epi64(at, border), _mm512_setzero_si512());
    __m512i word = _mm512_add_epi64(_mm512_mul_epu32(at, columns), more);
    __m512i begin = _mm512_add_epi64(data, _mm512_set1_epi64((long long)(uintptr_t)array->bytes));
    __mmask8 wider = _mm512_cmpge_epu64_mask(at, border), none = _mm512_testn_epi64_mask(sizes, sizes);
    _mm512_storeu_si512(block->words + i, _mm512_add_epi64(begin, _mm512_slli_epi64(word, 3)));
    _mm512_storeu_si512(block->here + i, _mm512_sllv_epi64(rows, row));
    _mm512_storeu_si512(block->next + i,
                        _mm512_srlv_epi64(rows, _mm512_sub_epi64(_mm512_set1_epi64(RIBBON_ROWS), row)));
    _mm512_storeu_si512(block->columns + i, _mm512_mask_add_epi64(columns, wider, columns, one));
    return none | ISA(bumped)(array, _mm512_i64gather_epi64(part, guide + 1, 8), start);
}

/* A block has room for whole vectors. */
INLINE void ISA(find)(const struct array *array, struct ribbon_block *block, size_t n) {
    for (size_t i = 0; i < n; i += 8) {
        __mmask8 here = (__mmask8)(n - i >= 8 ? 0xff : (1 << (n - i)) - 1);
        unsigned bumped = here & ISA(find_8)(array, block, i, here);
        for (; bumped; bumped &= bumped - 1) find_further(array, block, i + (unsigned)__builtin_ctz(bumped));
    }
}
#define FIND ISA(find)

/* What is loaded beyond the last column is left out. */
INLINE uint32_t ISA(differs_in_8)(const uint8_t *words, uint64_t here, uint64_t next, unsigned columns,
                                  uint32_t print) {
    __m512i first = _mm512_and_si512(_mm512_loadu_si512(words), _mm512_set1_epi64((long long)here));
    __m512i second = _mm512_loadu_si512(words + 8 * columns), rows = _mm512_set1_epi64((long long)next);
    /* first ^ (second & rows) */
    __m512i taken = _mm512_ternarylogic_epi64(first, second, rows, 0x78);
    return _mm512_test_epi64_mask(_mm512_popcnt_epi64(taken), _mm512_set1_epi64(1)) ^ (print & 255);
}

INLINE uint32_t ISA(differs)(const uint8_t *words, uint64_t here, uint64_t next, unsigned columns, uint32_t print,
                             unsigned most) {
    uint32_t differs = ISA(differs_in_8)(words, here, next, columns, print);
    for (unsigned i = 8; i < most && i < columns; i += 8)
        differs |= ISA(differs_in_8)(words + 8 * i, here, next, columns, print >> i) << i;
    return differs & (uint32_t)((UINT64_C(1) << columns) - 1);
}
