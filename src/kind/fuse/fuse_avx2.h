/* Where the keys of a fuse filter look, for four keys at a time in AVX2. */
#include "base/four.h"

/* The guide's words of the keys' parts: all of one part, if there is only one. */
INLINE void ISA(guide_words)(const uint64_t *guide, __m256i key, uint64_t bits, __m256i *first, __m256i *seed) {
    if (!bits) {
        *first = same_four(guide[0]);
        *seed = same_four(guide[1]);
        return;
    }
    uint64_t part[4];
    __m128i words[4];
    store_words_four(part, _mm256_srl_epi64(key, _mm_cvtsi64_si128((long long)(64 - bits))));
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
    __m256i in_line = _mm256_and_si256(_mm256_add_epi64(byte, same_four(over)), same_four(63));
    __m256i back = _mm256_and_si256(_mm256_cmpgt_epi64(in_line, same_four(56)), same_four(8 - (width + 14) / 8));
    __m256i shift = _mm256_add_epi64(_mm256_and_si256(bit, same_four(7)), _mm256_slli_epi64(back, 3));
    return _mm256_or_si256(_mm256_slli_epi64(_mm256_sub_epi64(byte, back), 6), shift);
}

INLINE void ISA(prepare_four)(const struct array *array, const uint64_t *digests, size_t i, struct fuse_block *out,
                              unsigned arity, uint64_t width) {
    const uint64_t bits = array->layout[PARTS_BITS], segment = array->layout[FUSE_SEGMENT];
    const uint64_t over = (uintptr_t)array->bytes & 63;
    const __m128i places_bits = _mm_cvtsi64_si128((long long)bits);
    __m256i digest = load_words_four(digests + i), word, seed;
    __m256i key = mix64_four(_mm256_xor_si256(digest, same_four(PART_KEY)));
    ISA(guide_words)(array->guide, key, bits, &word, &seed);
    __m256i spread = mix64_four(_mm256_xor_si256(key, seed)), within = _mm256_sll_epi64(key, places_bits);
    __m256i range = _mm256_and_si256(word, same_four(FUSE_RANGE_MAX));
    __m256i first = mul_high_32_four(within, range);
    __m256i start = _mm256_slli_epi64(_mm256_srli_epi64(_mm256_slli_epi64(word, 1), RANGE_BITS + 1), 3);
    const __m256i anywhere = same_four((UINT64_C(1) << segment) - 1);
    UNROLLED for (unsigned j = 0; j < arity; j++) {
        __m256i place = first;
        if (j) {
            __m256i offset = _mm256_and_si256(_mm256_srli_epi64(spread, (int)(FUSE_SEGMENT_MAX * (j - 1))), anywhere);
            place = _mm256_xor_si256(_mm256_add_epi64(first, same_four((uint64_t)j << segment)), offset);
        }
        __m256i bit = _mm256_add_epi64(start, _mm256_mul_epu32(place, same_four(width)));
        store_words_four(out->load[j] + i, ISA(loads_of)(bit, over, width));
    }
    __m256i print = _mm256_srli_epi64(times_four(spread, FUSE_FINGERPRINT_HASH), 32);
    print = _mm256_and_si256(print, same_four((UINT64_C(1) << width) - 1));
    print = _mm256_or_si256(print, _mm256_srli_epi64(word, 63));
    store_words_four(out->fingerprint + i, print);
}
#define PREPARES_FOUR
