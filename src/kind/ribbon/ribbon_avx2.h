/* Queries of a ribbon filter in AVX2: four keys at a time find their words, then each tests four
 * columns at a time. What is loaded beyond the last one is left out. */
#include "base/four.h"

/* The levels of four parts, a word of each in a vector: see struct ribbon_level. */
struct ISA(levels) {
    __m256i data, thresholds, sizes;
};

INLINE struct ISA(levels) ISA(levels_of)(const struct array *array, __m256i key, uint64_t bits) {
    const uint64_t *guide = array->guide;
    uint64_t part[4];
    if (!bits) return (struct ISA(levels)){same_four(guide[0]), same_four(guide[1]), same_four(guide[3])};
    store_words_four(part, _mm256_srl_epi64(key, _mm_cvtsi64_si128((long long)(64 - bits))));
    __m256i level[4];
    UNROLLED for (unsigned i = 0; i < 4; i++) level[i] = load_words_four(guide + 4 * part[i]);
    __m256i first = _mm256_unpacklo_epi64(level[0], level[1]), second = _mm256_unpacklo_epi64(level[2], level[3]);
    __m256i odd = _mm256_unpackhi_epi64(level[0], level[1]), even = _mm256_unpackhi_epi64(level[2], level[3]);
    return (struct ISA(levels)){_mm256_permute2x128_si256(first, second, 0x20),
                                _mm256_permute2x128_si256(odd, even, 0x20), _mm256_permute2x128_si256(odd, even, 0x31)};
}

/* Which of the keys that start there are bumped; those of a part without a first level are not told
 * from others here. */
INLINE __m256i ISA(bumped)(const struct array *array, __m256i thresholds, __m256i start) {
    uint64_t place[4];
    __m256i at = _mm256_add_epi64(thresholds, _mm256_slli_epi64(_mm256_srli_epi64(start, 12), 3));
    store_words_four(place, at);
    __m256i word =
        _mm256_setr_epi64x((long long)load64(array->bytes + place[0]), (long long)load64(array->bytes + place[1]),
                           (long long)load64(array->bytes + place[2]), (long long)load64(array->bytes + place[3]));
    __m256i shift = _mm256_and_si256(_mm256_srli_epi64(start, 6), same_four(62));
    __m256i threshold = _mm256_and_si256(_mm256_srlv_epi64(word, shift), same_four(3));
    __m256i limit = _mm256_srlv_epi64(same_four(RIBBON_LIMITS), _mm256_slli_epi64(threshold, 3));
    __m256i row = _mm256_and_si256(start, same_four(RIBBON_BUCKET_ROWS - 1));
    return _mm256_cmpgt_epi64(_mm256_and_si256(limit, same_four(255)), row);
}

/* Writes the spots in the first level of the keys i..i+3, and gives those that are bumped from
 * there, a bit each. */
INLINE unsigned ISA(find_4)(const struct array *array, struct ribbon_block *block, size_t i) {
    const uint64_t bits = array->layout[PARTS_BITS];
    const __m256i columns = same_four(ribbon_columns(array->layout)), zero = _mm256_setzero_si256();
    __m256i key = load_words_four(block->key + i);
    __m256i rows = load_words_four(block->rows + i);
    struct ISA(levels) level = ISA(levels_of)(array, key, bits);
    __m256i start = mul_high_32_four(_mm256_sll_epi64(key, _mm_cvtsi64_si128((long long)bits)), level.sizes);
    __m256i border = _mm256_srli_epi64(level.sizes, 32), at = _mm256_srli_epi64(start, 6);
    __m256i narrow = _mm256_cmpgt_epi64(border, at), row = _mm256_and_si256(start, same_four(RIBBON_ROWS - 1));
    __m256i word =
        _mm256_add_epi64(_mm256_mul_epu32(at, columns), _mm256_andnot_si256(narrow, _mm256_sub_epi64(at, border)));
    __m256i begin = _mm256_add_epi64(level.data, same_four((uintptr_t)array->bytes));
    __m256i left = _mm256_sub_epi64(same_four(RIBBON_ROWS), row);
    _mm256_storeu_si256((__m256i *)(void *)(block->words + i), _mm256_add_epi64(begin, _mm256_slli_epi64(word, 3)));
    store_words_four(block->here + i, _mm256_sllv_epi64(rows, row));
    store_words_four(block->next + i, _mm256_srlv_epi64(rows, left));
    __m256i wider = _mm256_sub_epi64(columns, _mm256_xor_si256(narrow, same_four(UINT64_MAX)));
    store_words_four(block->columns + i, wider);
    __m256i none = _mm256_cmpeq_epi64(level.sizes, zero), bumped = ISA(bumped)(array, level.thresholds, start);
    return (unsigned)_mm256_movemask_pd(_mm256_castsi256_pd(_mm256_or_si256(none, bumped)));
}

/* A block has room for whole vectors. What is found for keys beyond the last one is not used. */
INLINE void ISA(find)(const struct array *array, struct ribbon_block *block, size_t n) {
    for (size_t i = n; i % 4; i++) block->key[i] = block->rows[i] = 0;
    for (size_t i = 0; i < n; i += 4) {
        unsigned bumped = ISA(find_4)(array, block, i) & (n - i >= 4 ? 15 : (1U << (n - i)) - 1);
        for (; bumped; bumped &= bumped - 1) find_further(array, block, i + (unsigned)__builtin_ctz(bumped));
    }
}
#define FIND ISA(find)

/* The parities of four words, a bit each: of each byte from a table, by its two halves together,
 * and of all bytes by their sum. */
INLINE uint32_t ISA(parities)(__m256i words) {
    const __m256i half = _mm256_set1_epi8(15);
    const __m256i table = _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 1, 1, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 1, 1, 0));
    __m256i halves = _mm256_and_si256(_mm256_xor_si256(words, _mm256_srli_epi64(words, 4)), half);
    __m256i sums = _mm256_sad_epu8(_mm256_shuffle_epi8(table, halves), _mm256_setzero_si256());
    return (uint32_t)_mm256_movemask_pd(_mm256_castsi256_pd(_mm256_slli_epi64(sums, 63)));
}

INLINE uint32_t ISA(parities_at)(const uint8_t *words, uint64_t here, uint64_t next, unsigned columns) {
    __m256i first = _mm256_loadu_si256((const __m256i *)words);
    __m256i second = _mm256_loadu_si256((const __m256i *)(words + 8 * columns));
    first = _mm256_and_si256(first, _mm256_set1_epi64x((long long)here));
    return ISA(parities)(_mm256_xor_si256(first, _mm256_and_si256(second, _mm256_set1_epi64x((long long)next))));
}

INLINE uint32_t ISA(differs)(const uint8_t *words, uint64_t here, uint64_t next, unsigned columns, uint32_t print,
                             unsigned most) {
    uint32_t parities = ISA(parities_at)(words, here, next, columns);
    parities |= ISA(parities_at)(words + 32, here, next, columns) << 4;
    for (unsigned i = 8; i < most && i < columns; i += 4)
        parities |= ISA(parities_at)(words + 8 * i, here, next, columns) << i;
    return (parities ^ print) & (uint32_t)((UINT64_C(1) << columns) - 1);
}
