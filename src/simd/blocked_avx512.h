/* A line of the blocked filter in AVX-512: one register. The variable rotation takes its count modulo 64 by itself. */
#include <immintrin.h>

/* Which bit of each lane, in its lowest six bits. */
TARGET static inline __m512i ISA(places)(uint64_t b) {
    return _mm512_srlv_epi64(_mm512_set1_epi64((long long)b), _mm512_setr_epi64(16, 22, 28, 34, 40, 46, 52, 58));
}

TARGET static inline __m512i ISA(lanes)(uint64_t b, uint64_t c, int two) {
    const __m512i one = _mm512_set1_epi64(1);
    __m512i bits = _mm512_rolv_epi64(one, ISA(places)(b));
    return two ? _mm512_or_si512(bits, _mm512_rolv_epi64(one, ISA(places)(c))) : bits;
}

/* One bit a lane is quicker rotated down to bit 0 than built as a mask. */
TARGET static inline unsigned ISA(has)(const uint8_t *line, uint64_t b, uint64_t c, int two) {
    __m512i words = _mm512_loadu_si512(line);
    if (two) {
        __m512i missing = _mm512_andnot_si512(words, ISA(lanes)(b, c, two));
        return _mm512_test_epi64_mask(missing, missing) == 0;
    }
    return _mm512_testn_epi64_mask(_mm512_rorv_epi64(words, ISA(places)(b)), _mm512_set1_epi64(1)) == 0;
}

TARGET static inline unsigned ISA(put)(uint8_t *line, uint64_t b, uint64_t c, int two) {
    __m512i words = _mm512_loadu_si512(line), bits = ISA(lanes)(b, c, two);
    __m512i missing = _mm512_andnot_si512(words, bits);
    _mm512_storeu_si512(line, _mm512_or_si512(words, bits));
    return _mm512_test_epi64_mask(missing, missing) == 0;
}
