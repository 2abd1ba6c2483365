/* Where the keys of a fuse filter look, for four keys at a time in AVX2. It multiplies halves of
 * words only, so compilers do not find the few products that are needed. */
#include <immintrin.h>

INLINE __m256i ISA(same)(uint64_t x) {
    return _mm256_set1_epi64x((long long)x);
}

/* The lower and the upper halves of x · factor, where x is a word, without what goes beyond 64
 * bits. */
INLINE __m256i ISA(product)(__m256i x, uint64_t factor) {
    __m256i upper = _mm256_mul_epu32(_mm256_srli_epi64(x, 32), ISA(same)(factor & UINT32_MAX));
    upper = _mm256_add_epi64(upper, _mm256_mul_epu32(x, ISA(same)(factor >> 32)));
    return _mm256_add_epi64(_mm256_mul_epu32(x, ISA(same)(factor & UINT32_MAX)), _mm256_slli_epi64(upper, 32));
}

/* mix64. */
INLINE __m256i ISA(mixed)(__m256i x) {
    x = ISA(product)(_mm256_xor_si256(x, _mm256_srli_epi64(x, 27)), MIX64_FIRST);
    x = ISA(product)(_mm256_xor_si256(x, _mm256_srli_epi64(x, 33)), MIX64_SECOND);
    return _mm256_xor_si256(x, _mm256_srli_epi64(x, 27));
}

/* The guide's words of the keys' parts: all of one part, if there is only one. */
INLINE void ISA(guide_words)(const uint64_t *guide, __m256i key, uint64_t bits, __m256i *first, __m256i *seed) {
    if (!bits) {
        *first = ISA(same)(guide[0]);
        *seed = ISA(same)(guide[1]);
        return;
    }
    uint64_t part[4];
    __m128i words[4];
    _mm256_storeu_si256((__m256i *)(void *)part, _mm256_srl_epi64(key, _mm_cvtsi64_si128((long long)(64 - bits))));
    UNROLLED for (unsigned i = 0; i < 4; i++) words[i] =
        _mm_loadu_si128((const __m128i *)(const void *)(guide + GUIDE_WORDS * part[i]));
    __m256i even = _mm256_inserti128_si256(_mm256_castsi128_si256(words[0]), words[2], 1);
    __m256i odd = _mm256_inserti128_si256(_mm256_castsi128_si256(words[1]), words[3], 1);
    *first = _mm256_unpacklo_epi64(even, odd);
    *seed = _mm256_unpackhi_epi64(even, odd);
}

/* load_of for slots that begin at these bits. */
INLINE __m256i ISA(loads_of)(__m256i bit, uint64_t over, uint64_t width) {
    __m256i byte = _mm256_srli_epi64(bit, 3);
    if (width == 8 || width == 16) return _mm256_slli_epi64(byte, 6);
    __m256i in_line = _mm256_and_si256(_mm256_add_epi64(byte, ISA(same)(over)), ISA(same)(63));
    __m256i back = _mm256_and_si256(_mm256_cmpgt_epi64(in_line, ISA(same)(56)), ISA(same)(8 - (width + 14) / 8));
    __m256i shift = _mm256_add_epi64(_mm256_and_si256(bit, ISA(same)(7)), _mm256_slli_epi64(back, 3));
    return _mm256_or_si256(_mm256_slli_epi64(_mm256_sub_epi64(byte, back), 6), shift);
}

INLINE void ISA(prepare_four)(const struct array *array, const uint64_t *digests, size_t i, struct fuse_block *out,
                              unsigned arity, uint64_t width) {
    const uint64_t bits = array->layout[PARTS_BITS], segment = array->layout[FUSE_SEGMENT];
    const uint64_t over = (uintptr_t)array->bytes & 63;
    const __m128i places_bits = _mm_cvtsi64_si128((long long)bits);
    __m256i digest = _mm256_loadu_si256((const __m256i *)(const void *)(digests + i)), word, seed;
    __m256i key = ISA(mixed)(_mm256_xor_si256(digest, ISA(same)(PART_KEY)));
    ISA(guide_words)(array->guide, key, bits, &word, &seed);
    __m256i spread = ISA(mixed)(_mm256_xor_si256(key, seed)), within = _mm256_sll_epi64(key, places_bits);
    __m256i range = _mm256_and_si256(word, ISA(same)(FUSE_RANGE_MAX));
    __m256i first = _mm256_mul_epu32(_mm256_srli_epi64(within, 32), range);
    first = _mm256_add_epi64(first, _mm256_srli_epi64(_mm256_mul_epu32(within, range), 32));
    first = _mm256_srli_epi64(first, 32);
    __m256i start = _mm256_slli_epi64(_mm256_srli_epi64(_mm256_slli_epi64(word, 1), RANGE_BITS + 1), 3);
    const __m256i anywhere = ISA(same)((UINT64_C(1) << segment) - 1);
    UNROLLED for (unsigned j = 0; j < arity; j++) {
        __m256i place = first;
        if (j) {
            __m256i offset = _mm256_and_si256(_mm256_srli_epi64(spread, (int)(FUSE_SEGMENT_MAX * (j - 1))), anywhere);
            place = _mm256_xor_si256(_mm256_add_epi64(first, ISA(same)((uint64_t)j << segment)), offset);
        }
        __m256i bit = _mm256_add_epi64(start, _mm256_mul_epu32(place, ISA(same)(width)));
        _mm256_storeu_si256((__m256i *)(void *)(out->load[j] + i), ISA(loads_of)(bit, over, width));
    }
    __m256i print = _mm256_srli_epi64(ISA(product)(spread, FUSE_FINGERPRINT_HASH), 32);
    print = _mm256_and_si256(print, ISA(same)((UINT64_C(1) << width) - 1));
    print = _mm256_or_si256(print, _mm256_srli_epi64(word, 63));
    _mm256_storeu_si256((__m256i *)(void *)(out->fingerprint + i), print);
}
#define PREPARES_FOUR
