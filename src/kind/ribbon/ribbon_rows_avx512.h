/* Rows of a block in AVX-512, a column in each lane. */
#include <immintrin.h>

INLINE void ISA(solve_block)(const uint64_t *rows, const uint32_t *prints, uint64_t *solved, unsigned first) {
    const __m512i one = _mm512_set1_epi64(1), lanes = _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7);
    const __m512i column = _mm512_add_epi64(lanes, _mm512_set1_epi64(first));
    __m512i here = _mm512_loadu_si512(solved);
    for (unsigned row = RIBBON_ROWS; row-- > 0;) {
        __m512i ahead = _mm512_add_epi64(here, here);
        __m512i ones = _mm512_popcnt_epi64(_mm512_and_si512(ahead, _mm512_set1_epi64((long long)rows[row])));
        __m512i print = _mm512_srlv_epi64(_mm512_set1_epi64(prints[row]), column);
        __m512i bit = _mm512_ternarylogic_epi64(ones, print, one, 0x28); /* (ones ^ print) & one */
        here = _mm512_or_si512(ahead, bit);
    }
    _mm512_storeu_si512(solved, here);
}
