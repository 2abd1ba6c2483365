/* SipHash of four keys in AVX2: rotations by whole bytes are shuffles, others two shifts. */
#include <immintrin.h>

#define LANES 4
#define EACH_LANE(WORD)                                                                                                \
    { WORD(0), WORD(1), WORD(2), WORD(3) }
typedef uint64_t ISA(lanes) __attribute__((vector_size(8 * LANES)));

INLINE ISA(lanes) ISA(rotate)(ISA(lanes) x, int bits) {
    const __m256i by_two_bytes =
        _mm256_set_epi64x(0x0d0c0b0a09080f0e, 0x0504030201000706, 0x0d0c0b0a09080f0e, 0x0504030201000706);
    if (bits == 32) return (ISA(lanes))_mm256_shuffle_epi32((__m256i)x, 0xb1);
    if (bits == 16) return (ISA(lanes))_mm256_shuffle_epi8((__m256i)x, by_two_bytes);
    return x << bits | x >> (64 - bits);
}
