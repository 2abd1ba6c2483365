/* A line of the blocked filter in AVX-512: one register. The variable rotation takes its count
 * modulo 64 by itself. */
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

/* Which lanes lack a bit: of one bit a lane it is the and, of two the rest. */
TARGET static inline __mmask8 ISA(lacking)(__m512i words, __m512i bits, int two) {
    __m512i missing = _mm512_andnot_si512(words, bits);
    return two ? _mm512_test_epi64_mask(missing, missing) : _mm512_testn_epi64_mask(words, bits);
}

/* One bit a lane is quicker rotated down to bit 0 than built as a mask. The answer has a bit for
 * each lane. */
TARGET static inline uint8_t ISA(lacks)(const uint8_t *line, uint64_t b, uint64_t c, int two) {
    __m512i words = _mm512_loadu_si512(line);
    if (two) return ISA(lacking)(words, ISA(lanes)(b, c, two), two);
    return _mm512_testn_epi64_mask(_mm512_rorv_epi64(words, ISA(places)(b)), _mm512_set1_epi64(1));
}

/* Only lanes that lack a bit are stored: a line that has them all is not written, and need not go
 * back to memory. The line is loaded once: compilers like to load it again for the or, which is
 * slower. */
TARGET static inline uint8_t ISA(put)(uint8_t *line, uint64_t b, uint64_t c, int two) {
    __m512i words = _mm512_loadu_si512(line), bits = ISA(lanes)(b, c, two);
    __asm__("" : "+v"(words));
    __mmask8 lacking = ISA(lacking)(words, bits, two);
    _mm512_mask_storeu_epi64(line, lacking, _mm512_or_si512(words, bits));
    return lacking;
}

/* The product of 64 and 32 bits in two multiplications: its upper 32 bits are the line number. */
TARGET static inline size_t ISA(find_some)(const uint64_t *digests, size_t n, int which, uint32_t lines, uint64_t begin,
                                           uint64_t *offsets) {
    const __m512i all = _mm512_set1_epi64(lines), whole_lines = _mm512_set1_epi64(-BLOCKED_LINE_BYTES);
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        __m512i eight = _mm512_loadu_si512(digests + i);
        if (which) eight = _mm512_mullo_epi64(eight, _mm512_set1_epi64((long long)line_hash(1, 1)));
        __m512i low = _mm512_srli_epi64(_mm512_mul_epu32(eight, all), 32);
        __m512i high = _mm512_mul_epu32(_mm512_srli_epi64(eight, 32), all);
        __m512i at = _mm512_srli_epi64(_mm512_add_epi64(high, low), 32 - BLOCKED_LINE_SHIFT);
        at = _mm512_add_epi64(_mm512_and_si512(at, whole_lines), _mm512_set1_epi64((long long)begin));
        _mm512_storeu_si512(offsets + i, at);
    }
    return i;
}
#define FINDS_SOME
