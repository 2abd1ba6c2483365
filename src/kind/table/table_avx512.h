/* A bucket of the table in AVX-512: one register. */
#include <immintrin.h>

TARGET static inline unsigned ISA(matches)(const uint8_t *bucket, uint64_t word) {
    return _mm512_cmpeq_epi64_mask(_mm512_loadu_si512(bucket), _mm512_set1_epi64((long long)word));
}

/* mul_high_32 of eight words, in the multiplication of halves that compilers do not find by
 * themselves. */
TARGET static inline __m512i ISA(mul_high_8)(__m512i words, __m512i buckets) {
    __m512i high = _mm512_mul_epu32(_mm512_srli_epi64(words, 32), buckets);
    __m512i low = _mm512_srli_epi64(_mm512_mul_epu32(words, buckets), 32);
    return _mm512_srli_epi64(_mm512_add_epi64(high, low), 32);
}

/* The buckets of eight digests, for tables of less than 2^32. */
TARGET static inline void ISA(pairs_8)(__m512i digests, __m512i buckets, uint64_t *a, uint64_t *b) {
    __m512i one = _mm512_set1_epi64(1), multiplier = _mm512_set1_epi64((long long)second_multiplier);
    __m512i first = ISA(mul_high_8)(digests, buckets);
    __m512i second = ISA(mul_high_8)(_mm512_mullo_epi64(digests, multiplier), buckets);
    second = _mm512_mask_add_epi64(second, _mm512_cmpeq_epi64_mask(first, second), second, one);
    second = _mm512_mask_sub_epi64(second, _mm512_cmpeq_epi64_mask(second, buckets), second, second);
    _mm512_storeu_si512(a, first);
    _mm512_storeu_si512(b, second);
}

/* `a` and `b` have room for whole vectors. */
TARGET static inline void ISA(pairs)(const uint64_t *digests, size_t n, uint64_t buckets, uint64_t *a, uint64_t *b) {
    __m512i all = _mm512_set1_epi64((long long)buckets);
    for (size_t i = 0; i < n; i += 8) {
        __mmask8 here = (__mmask8)(n - i >= 8 ? 0xff : (1 << (n - i)) - 1);
        ISA(pairs_8)(_mm512_maskz_loadu_epi64(here, digests + i), all, a + i, b + i);
    }
}
#define PAIRS ISA(pairs)
