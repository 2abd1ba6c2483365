/* Four 64-bit words at a time in AVX2, which multiplies only halves of words: what needs several of
 * its products. Each is the function of base/arith.h with the same name, or says what it is. */
#ifndef PERHAPS_BASE_FOUR_H
#define PERHAPS_BASE_FOUR_H

#if defined(__x86_64__)
#include "base/arith.h"
#include "base/target.h"

#include <immintrin.h>

#define FOUR TARGET_AVX2 static inline __attribute__((always_inline))

FOUR __m256i same_four(uint64_t x) {
    return _mm256_set1_epi64x((long long)x);
}

FOUR __m256i load_words_four(const uint64_t *words) {
    return _mm256_loadu_si256((const __m256i *)(const void *)words);
}

FOUR void store_words_four(uint64_t *words, __m256i four) {
    _mm256_storeu_si256((__m256i *)(void *)words, four);
}

/* The lower halves of x · factor. */
FOUR __m256i times_four(__m256i x, __m256i factor) {
    __m256i upper = _mm256_add_epi64(_mm256_mul_epu32(_mm256_srli_epi64(x, 32), factor),
                                     _mm256_mul_epu32(x, _mm256_srli_epi64(factor, 32)));
    return _mm256_add_epi64(_mm256_mul_epu32(x, factor), _mm256_slli_epi64(upper, 32));
}

FOUR __m256i mix64_four(__m256i x) {
    x = times_four(_mm256_xor_si256(x, _mm256_srli_epi64(x, 27)), same_four(MIX64_FIRST));
    x = times_four(_mm256_xor_si256(x, _mm256_srli_epi64(x, 33)), same_four(MIX64_SECOND));
    return _mm256_xor_si256(x, _mm256_srli_epi64(x, 27));
}

/* What is above the lowest 32 bits of n does not matter. */
FOUR __m256i mul_high_32_four(__m256i h, __m256i n) {
    __m256i high = _mm256_mul_epu32(_mm256_srli_epi64(h, 32), n), low = _mm256_mul_epu32(h, n);
    return _mm256_srli_epi64(_mm256_add_epi64(high, _mm256_srli_epi64(low, 32)), 32);
}

#endif
#endif
