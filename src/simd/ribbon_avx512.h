/* The columns of a key in AVX-512: eight at a time. What is loaded beyond the last one is left out. */
#include <immintrin.h>

INLINE uint32_t ISA(differs_in_8)(const uint8_t *words, uint64_t here, uint64_t next, unsigned columns,
                                  uint32_t print) {
    const int either = 0x6A; /* first ^ (second & third) */
    __m512i taken = _mm512_and_si512(_mm512_loadu_si512(words), _mm512_set1_epi64((long long)here));
    taken = _mm512_ternarylogic_epi64(taken, _mm512_loadu_si512(words + 8 * columns),
                                      _mm512_set1_epi64((long long)next), 0x78);
    (void)either;
    return _mm512_test_epi64_mask(_mm512_popcnt_epi64(taken), _mm512_set1_epi64(1)) ^ (print & 255);
}

INLINE uint32_t ISA(differs)(const uint8_t *words, uint64_t here, uint64_t next, unsigned columns, uint32_t print,
                             unsigned most) {
    uint32_t differs = ISA(differs_in_8)(words, here, next, columns, print);
    for (unsigned i = 8; i < most && i < columns; i += 8)
        differs |= ISA(differs_in_8)(words + 8 * i, here, next, columns, print >> i) << i;
    return differs & (uint32_t)((UINT64_C(1) << columns) - 1);
}
