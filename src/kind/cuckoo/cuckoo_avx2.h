/* The cuckoo filter's batches in AVX2: where four keys are; and whether they are there. */
#include "base/four.h"

/* mul_high for n below 2^38. */
TARGET_AVX2 static inline __m256i mul_high_four(__m256i x, uint64_t n) {
    const __m256i low = same_four(n & UINT32_MAX), high = same_four(n >> 32), half = same_four(UINT32_MAX);
    __m256i upper = _mm256_srli_epi64(x, 32);
    __m256i middle = _mm256_add_epi64(_mm256_mul_epu32(upper, low), _mm256_srli_epi64(_mm256_mul_epu32(x, low), 32));
    if (n <= UINT32_MAX) return _mm256_srli_epi64(middle, 32);
    __m256i carry = _mm256_add_epi64(_mm256_mul_epu32(x, high), _mm256_and_si256(middle, half));
    __m256i sum = _mm256_add_epi64(_mm256_mul_epu32(upper, high), _mm256_srli_epi64(middle, 32));
    return _mm256_add_epi64(sum, _mm256_srli_epi64(carry, 32));
}

/* fingerprint_of. Bits 32 and up of the product, of which only 32 are wanted. */
TARGET_AVX2 static inline __m256i fingerprints_of_four(const struct array *a, __m256i digest) {
    const __m256i low = same_four(CUCKOO_FINGERPRINT_HASH & UINT32_MAX),
                  high = same_four(CUCKOO_FINGERPRINT_HASH >> 32);
    __m256i mixed =
        _mm256_add_epi64(_mm256_mul_epu32(digest, high), _mm256_mul_epu32(_mm256_srli_epi64(digest, 32), low));
    mixed = _mm256_add_epi64(mixed, _mm256_srli_epi64(_mm256_mul_epu32(digest, low), 32));
    __m256i scaled = _mm256_mul_epu32(mixed, same_four(a->derived[CUCKOO_FINGERPRINTS]));
    return _mm256_add_epi64(_mm256_srli_epi64(scaled, 32), same_four(1));
}

/* add_around(home, shift_of(...)) for choices that are not 0. */
TARGET_AVX2 static inline __m256i other_homes_of_four(const struct array *a, __m256i home, __m256i fingerprint,
                                                      uint64_t choice) {
    const __m256i homes = same_four(a->layout[CUCKOO_HOMES]);
    __m256i x = _mm256_add_epi64(fingerprint, same_four(choice << 28));
    x = _mm256_mul_epu32(x, same_four(CUCKOO_SHIFT_HASH_FIRST));
    x = _mm256_mul_epu32(_mm256_xor_si256(x, _mm256_srli_epi32(x, 15)), same_four(CUCKOO_SHIFT_HASH_SECOND));
    x = _mm256_srli_epi64(_mm256_mul_epu32(x, same_four(a->derived[CUCKOO_SHIFTS])), 32);
    __m256i sum = _mm256_add_epi64(home, _mm256_add_epi64(x, same_four(CUCKOO_SHIFT_MIN)));
    return _mm256_sub_epi64(sum, _mm256_andnot_si256(_mm256_cmpgt_epi64(homes, sum), homes));
}

/* window_word, as `struct windows` has it. */
TARGET_AVX2 static inline __m256i windows_of_four(const struct array *a, __m256i home, uint64_t choice) {
    const __m256i width = same_four(a->layout[CUCKOO_WIDTH]);
    const __m256i most = same_four(a->derived[choice ? CUCKOO_BACK_LATER : CUCKOO_BACK_FIRST]);
    __m256i bit = _mm256_mul_epu32(home, width);
    if (a->layout[CUCKOO_HOMES] > UINT32_MAX)
        bit = _mm256_add_epi64(bit, _mm256_slli_epi64(_mm256_mul_epu32(_mm256_srli_epi64(home, 32), width), 32));
    __m256i byte = _mm256_srli_epi64(bit, 3);
    __m256i late = _mm256_cmpgt_epi64(_mm256_and_si256(byte, same_four(63)), same_four(56));
    __m256i back = _mm256_and_si256(late, most);
    __m256i shift = _mm256_add_epi64(_mm256_and_si256(bit, same_four(7)), _mm256_slli_epi64(back, 3));
    return _mm256_or_si256(_mm256_slli_epi64(_mm256_sub_epi64(byte, back), 6), shift);
}

TARGET_AVX2 static inline __m256i codes_of_four(__m256i fingerprint, uint64_t places) {
    return places == 4 ? _mm256_slli_epi64(fingerprint, 2) : _mm256_mul_epu32(fingerprint, same_four(places));
}

/* The fingerprints and homes of the keys i..i+3 of a block. */
TARGET_AVX2 static inline void prepare_four(const struct array *a, const uint64_t *digests, struct block *block,
                                            size_t i, uint64_t places) {
    __m256i digest = load_words_four(digests);
    __m256i fingerprint = fingerprints_of_four(a, digest), home = mul_high_four(digest, a->layout[CUCKOO_HOMES]);
    store_words_four(block->fingerprint + i, fingerprint);
    store_words_four(block->home[0] + i, home);
    UNROLLED for (uint64_t choice = 1; choice < choices_of(places); choice++) {
        __m256i other = other_homes_of_four(a, home, fingerprint, choice);
        store_words_four(block->home[choice] + i, other);
    }
}

/* find_one for the keys i..i+3. */
TARGET_AVX2 static inline void find_four(const struct array *a, const uint64_t *digests, size_t i, struct windows *out,
                                         uint64_t places) {
    __m256i digest = load_words_four(digests);
    __m256i fingerprint = fingerprints_of_four(a, digest), home = mul_high_four(digest, a->layout[CUCKOO_HOMES]);
    store_words_four(out->code + i, codes_of_four(fingerprint, places));
    store_words_four(out->at[0] + i, windows_of_four(a, home, 0));
    for (uint64_t choice = 1; choice < choices_of(places); choice++) {
        __m256i other = other_homes_of_four(a, home, fingerprint, choice);
        store_words_four(out->at[choice] + i, windows_of_four(a, other, choice));
    }
}

TARGET_AVX2 static inline __m256i load_four(const uint8_t *bytes, const uint64_t *at) {
    __m128i low = _mm_loadl_epi64((const __m128i *)(const void *)(bytes + (at[0] >> 6)));
    __m128i high = _mm_loadl_epi64((const __m128i *)(const void *)(bytes + (at[2] >> 6)));
    low = _mm_insert_epi64(low, (long long)load64(bytes + (at[1] >> 6)), 1);
    high = _mm_insert_epi64(high, (long long)load64(bytes + (at[3] >> 6)), 1);
    return _mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1);
}

/* `test` for the keys i..i+3: one byte for each. */
TARGET_AVX2 static inline uint32_t test_four(const struct array *a, const struct windows *windows, size_t i,
                                             uint64_t places) {
    const __m256i below = same_four(a->derived[CUCKOO_TOPS_FIRST] - a->derived[CUCKOO_ONES]);
    const __m128i width = _mm_cvtsi64_si128((long long)a->layout[CUCKOO_WIDTH]);
    __m256i code = load_words_four(windows->code + i), found = same_four(0);
    __m256i copies = _mm256_add_epi64(code, _mm256_sll_epi64(code, width));
    if (places % 2) copies = _mm256_add_epi64(code, _mm256_sll_epi64(copies, width));
    copies = _mm256_add_epi64(copies, same_four(a->derived[CUCKOO_NUMBERS]));
    UNROLLED for (uint64_t choice = 0; choice < choices_of(places); choice++) {
        const __m256i tops = same_four(a->derived[choice ? CUCKOO_TOPS_LATER : CUCKOO_TOPS_FIRST]);
        __m256i at = load_words_four(windows->at[choice] + i);
        __m256i window =
            _mm256_srlv_epi64(load_four(a->bytes, windows->at[choice] + i), _mm256_and_si256(at, same_four(63)));
        __m256i before = same_four(first_place(choice, places) * a->derived[CUCKOO_ONES]);
        __m256i x = _mm256_xor_si256(window, _mm256_add_epi64(copies, before));
        __m256i full = _mm256_or_si256(_mm256_add_epi64(_mm256_and_si256(x, below), below), x);
        found = _mm256_or_si256(found, _mm256_andnot_si256(full, tops));
    }
    __m256i none = _mm256_cmpeq_epi64(found, same_four(0));
    unsigned mask = 15 ^ (unsigned)_mm256_movemask_pd(_mm256_castsi256_pd(none));
    return mask * 0x00204081u & 0x01010101u;
}
