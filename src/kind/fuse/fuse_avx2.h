/* Where the keys of a fuse filter look, for four keys at a time in AVX2. */
#include "base/four.h"

/* The guide's words of the keys' parts: all of one part, if there is only one. */
INLINE void ISA(guide_words)(const uint64_t *guide, __m256i key, uint64_t bits, __m256i words[GUIDE_WORDS]) {
    if (!bits) {
        UNROLLED for (unsigned i = 0; i < GUIDE_WORDS; i++) words[i] = same_four(guide[i]);
        return;
    }
    uint64_t part[4];
    __m256i of[4];
    store_words_four(part, _mm256_srl_epi64(key, _mm_cvtsi64_si128((long long)(64 - bits))));
    UNROLLED for (unsigned i = 0; i < 4; i++) of[i] = load_words_four(guide + GUIDE_WORDS * part[i]);
    __m256i low_1 = _mm256_unpacklo_epi64(of[0], of[1]), high_1 = _mm256_unpackhi_epi64(of[0], of[1]);
    __m256i low_2 = _mm256_unpacklo_epi64(of[2], of[3]), high_2 = _mm256_unpackhi_epi64(of[2], of[3]);
    words[0] = _mm256_permute2x128_si256(low_1, low_2, 0x20);
    words[1] = _mm256_permute2x128_si256(high_1, high_2, 0x20);
    words[2] = _mm256_permute2x128_si256(low_1, low_2, 0x31);
    words[3] = _mm256_permute2x128_si256(high_1, high_2, 0x31);
}

INLINE void ISA(prepare_four)(const struct array *array, const uint64_t *digests, size_t i, struct fuse_block *out,
                              unsigned arity, uint64_t width) {
    const uint64_t bits = array->layout[PARTS_BITS], segment = array->layout[FUSE_SEGMENT];
    __m256i key = load_words_four(digests + i), part[GUIDE_WORDS];
    ISA(guide_words)(array->guide, key, bits, part);
    __m256i within = _mm256_sll_epi64(key, _mm_cvtsi64_si128((long long)bits));
    __m256i first = mul_high_32_four(within, part[GUIDE_RANGE]);
    __m256i spread = times_four(key, part[GUIDE_FACTOR]), start = _mm256_slli_epi64(part[GUIDE_START], 3);
    const __m256i anywhere = same_four((UINT64_C(1) << segment) - 1);
    UNROLLED for (unsigned j = 0; j < arity; j++) {
        __m256i place = first;
        if (j) {
            __m256i offset = _mm256_and_si256(_mm256_srli_epi64(spread, (int)(64 - FUSE_SEGMENT_MAX * j)), anywhere);
            place = _mm256_xor_si256(_mm256_add_epi64(first, same_four((uint64_t)j << segment)), offset);
        }
        store_words_four(out->bit[j] + i, _mm256_add_epi64(start, _mm256_mul_epu32(place, same_four(width))));
    }
    __m256i print = _mm256_and_si256(key, same_four((UINT64_C(1) << width) - 1));
    store_words_four(out->fingerprint + i, _mm256_or_si256(print, part[GUIDE_EMPTY]));
}
#define PREPARES_FOUR
