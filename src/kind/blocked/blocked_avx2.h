/* A line of the blocked filter in AVX2: two registers of four lanes. */
#include "base/four.h"

TARGET static inline __m256i ISA(lanes)(int half, uint64_t b, uint64_t c, int two) {
    const __m256i one = _mm256_set1_epi64x(1), six_bits = _mm256_set1_epi64x(63);
    const __m256i shifts = half ? _mm256_setr_epi64x(40, 46, 52, 58) : _mm256_setr_epi64x(16, 22, 28, 34);
    __m256i at = _mm256_and_si256(_mm256_srlv_epi64(_mm256_set1_epi64x((long long)b), shifts), six_bits);
    __m256i bits = _mm256_sllv_epi64(one, at);
    if (!two) return bits;
    at = _mm256_and_si256(_mm256_srlv_epi64(_mm256_set1_epi64x((long long)c), shifts), six_bits);
    return _mm256_or_si256(bits, _mm256_sllv_epi64(one, at));
}

TARGET static inline uint8_t ISA(lacks)(const uint8_t *line, uint64_t b, uint64_t c, int two) {
    const __m256i *words = (const __m256i *)line;
    __m256i low = _mm256_andnot_si256(_mm256_loadu_si256(words), ISA(lanes)(0, b, c, two));
    __m256i high = _mm256_andnot_si256(_mm256_loadu_si256(words + 1), ISA(lanes)(1, b, c, two));
    __m256i missing = _mm256_or_si256(low, high);
    return !_mm256_testz_si256(missing, missing);
}

TARGET static inline uint8_t ISA(put)(uint8_t *line, uint64_t b, uint64_t c, int two) {
    __m256i *words = (__m256i *)line;
    __m256i low = _mm256_loadu_si256(words), high = _mm256_loadu_si256(words + 1);
    __m256i low_bits = ISA(lanes)(0, b, c, two), high_bits = ISA(lanes)(1, b, c, two);
    __m256i missing = _mm256_or_si256(_mm256_andnot_si256(low, low_bits), _mm256_andnot_si256(high, high_bits));
    _mm256_storeu_si256(words, _mm256_or_si256(low, low_bits));
    _mm256_storeu_si256(words + 1, _mm256_or_si256(high, high_bits));
    return !_mm256_testz_si256(missing, missing);
}

/* The product of 64 and 32 bits in two multiplications: its upper 32 bits are the line number. */
TARGET static inline size_t ISA(find_some)(const uint64_t *digests, size_t n, int which, uint32_t lines, uint64_t begin,
                                           uint64_t *offsets) {
    const __m256i all = _mm256_set1_epi64x(lines), whole_lines = _mm256_set1_epi64x(-BLOCKED_LINE_BYTES);
    size_t i = 0;
    for (; i + 4 <= n; i += 4) {
        __m256i four = load_words_four(digests + i);
        if (which) four = times_four(four, same_four(line_hash(1, 1)));
        __m256i low = _mm256_srli_epi64(_mm256_mul_epu32(four, all), 32);
        __m256i high = _mm256_mul_epu32(_mm256_srli_epi64(four, 32), all);
        __m256i at =
            _mm256_and_si256(_mm256_srli_epi64(_mm256_add_epi64(high, low), 32 - BLOCKED_LINE_SHIFT), whole_lines);
        store_words_four(offsets + i, _mm256_add_epi64(at, _mm256_set1_epi64x((long long)begin)));
    }
    return i;
}
#define FINDS_SOME
