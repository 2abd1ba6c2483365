/* The columns of a key in AVX2: four at a time. What is loaded beyond the last one is left out. */
#include <immintrin.h>

/* The parities of four words, a bit each: of each byte from a table, by its two halves together,
 * and of all bytes by their sum. */
INLINE uint32_t ISA(parities)(__m256i words) {
    const __m256i half = _mm256_set1_epi8(15);
    const __m256i table = _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 1, 1, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 1, 1, 0));
    __m256i halves = _mm256_and_si256(_mm256_xor_si256(words, _mm256_srli_epi64(words, 4)), half);
    __m256i sums = _mm256_sad_epu8(_mm256_shuffle_epi8(table, halves), _mm256_setzero_si256());
    return (uint32_t)_mm256_movemask_pd(_mm256_castsi256_pd(_mm256_slli_epi64(sums, 63)));
}

INLINE uint32_t ISA(parities_at)(const uint8_t *words, uint64_t here, uint64_t next, unsigned columns) {
    __m256i first = _mm256_loadu_si256((const __m256i *)words);
    __m256i second = _mm256_loadu_si256((const __m256i *)(words + 8 * columns));
    first = _mm256_and_si256(first, _mm256_set1_epi64x((long long)here));
    return ISA(parities)(_mm256_xor_si256(first, _mm256_and_si256(second, _mm256_set1_epi64x((long long)next))));
}

INLINE uint32_t ISA(differs)(const uint8_t *words, uint64_t here, uint64_t next, unsigned columns, uint32_t print,
                             unsigned most) {
    uint32_t parities = ISA(parities_at)(words, here, next, columns);
    parities |= ISA(parities_at)(words + 32, here, next, columns) << 4;
    for (unsigned i = 8; i < most && i < columns; i += 4)
        parities |= ISA(parities_at)(words + 8 * i, here, next, columns) << i;
    return (parities ^ print) & (uint32_t)((UINT64_C(1) << columns) - 1);
}
