/* A bucket of the table in AVX2: two registers of four slots. */
#include <immintrin.h>

TARGET static inline unsigned ISA(matches)(const uint8_t *bucket, uint64_t word) {
    const __m256i *words = (const __m256i *)bucket, wanted = _mm256_set1_epi64x((long long)word);
    __m256i low = _mm256_cmpeq_epi64(_mm256_loadu_si256(words), wanted);
    __m256i high = _mm256_cmpeq_epi64(_mm256_loadu_si256(words + 1), wanted);
    int low_mask = _mm256_movemask_pd(_mm256_castsi256_pd(low)),
        high_mask = _mm256_movemask_pd(_mm256_castsi256_pd(high));
    return (unsigned)(low_mask | high_mask << 4);
}

/* Whether a bucket of two has the word: fewer instructions than two masks. */
TARGET static inline int ISA(either)(const uint8_t *first, const uint8_t *second, uint64_t word) {
    const __m256i *a = (const __m256i *)first, *b = (const __m256i *)second;
    const __m256i wanted = _mm256_set1_epi64x((long long)word);
    __m256i low = _mm256_or_si256(_mm256_cmpeq_epi64(_mm256_loadu_si256(a), wanted),
                                  _mm256_cmpeq_epi64(_mm256_loadu_si256(b), wanted));
    __m256i high = _mm256_or_si256(_mm256_cmpeq_epi64(_mm256_loadu_si256(a + 1), wanted),
                                   _mm256_cmpeq_epi64(_mm256_loadu_si256(b + 1), wanted));
    return _mm256_movemask_epi8(_mm256_or_si256(low, high)) != 0;
}
#define EITHER ISA(either)
