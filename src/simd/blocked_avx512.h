/* A line of the blocked filter in AVX-512: one register. The variable rotation takes its count modulo 64 by itself. */
#include <immintrin.h>

TARGET static inline __m512i ISA(lanes)(uint64_t b, uint64_t c, int two) {
    const __m512i one = _mm512_set1_epi64(1);
    const __m512i shifts = _mm512_setr_epi64(16, 22, 28, 34, 40, 46, 52, 58);
    __m512i bits = _mm512_rolv_epi64(one, _mm512_srlv_epi64(_mm512_set1_epi64((long long)b), shifts));
    if (!two) return bits;
    return _mm512_or_si512(bits, _mm512_rolv_epi64(one, _mm512_srlv_epi64(_mm512_set1_epi64((long long)c), shifts)));
}

TARGET static inline unsigned ISA(has)(const uint8_t *line, uint64_t b, uint64_t c, int two) {
    __m512i missing = _mm512_andnot_si512(_mm512_loadu_si512(line), ISA(lanes)(b, c, two));
    return _mm512_test_epi64_mask(missing, missing) == 0;
}

TARGET static inline unsigned ISA(put)(uint8_t *line, uint64_t b, uint64_t c, int two) {
    __m512i words = _mm512_loadu_si512(line), bits = ISA(lanes)(b, c, two);
    __m512i missing = _mm512_andnot_si512(words, bits);
    _mm512_storeu_si512(line, _mm512_or_si512(words, bits));
    return _mm512_test_epi64_mask(missing, missing) == 0;
}
