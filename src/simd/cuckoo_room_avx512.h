/* leave() of cuckoo_room.h for eight slots at a time. */
#include <immintrin.h>

TARGET_AVX512 static inline __m512i same_eight(uint64_t x) {
    return _mm512_set1_epi64((long long)x);
}

/* The upper halves of eight products, from four products of halves, of which two are 0 if n is below 2^32. */
TARGET_AVX512 static inline __m512i mul_high_eight(__m512i x, uint64_t n) {
    const __m512i low = same_eight(n & UINT32_MAX), high = same_eight(n >> 32), half = same_eight(UINT32_MAX);
    __m512i upper = _mm512_srli_epi64(x, 32);
    __m512i middle = _mm512_add_epi64(_mm512_mul_epu32(upper, low), _mm512_srli_epi64(_mm512_mul_epu32(x, low), 32));
    if (n <= UINT32_MAX) return _mm512_srli_epi64(middle, 32);
    __m512i carry = _mm512_add_epi64(_mm512_mul_epu32(x, high), _mm512_and_si512(middle, half));
    __m512i sum = _mm512_add_epi64(_mm512_mul_epu32(upper, high), _mm512_srli_epi64(middle, 32));
    return _mm512_add_epi64(sum, _mm512_srli_epi64(carry, 32));
}

/* shift_of for choices that are not 0. */
TARGET_AVX512 static inline __m512i shifts_of_eight(uint64_t homes, __m512i fingerprint, __m512i choice) {
    __m512i x = _mm512_add_epi64(fingerprint, _mm512_slli_epi64(choice, 32));
    x = _mm512_mullo_epi64(x, same_eight(SHIFT_HASH_FIRST));
    x = _mm512_mullo_epi64(_mm512_xor_si512(x, _mm512_srli_epi64(x, 32)), same_eight(SHIFT_HASH_SECOND));
    return _mm512_add_epi64(same_eight(2), mul_high_eight(x, homes - 3));
}

TARGET_AVX512 static inline __m512i add_around_eight(__m512i home, __m512i shift, uint64_t homes) {
    __m512i sum = _mm512_add_epi64(home, shift);
    return _mm512_min_epu64(sum,
                            _mm512_sub_epi64(sum, same_eight(homes))); /* the difference wraps where it is not due */
}

TARGET_AVX512 static inline __m512i choices_in_eight(__m512i code, uint64_t choices) {
    return _mm512_srli_epi64(_mm512_and_si512(code, same_eight(slot_mask(low_bits(choices)))), 1);
}

TARGET_AVX512 static inline __m512i fingerprints_in_eight(__m512i code, uint64_t choices) {
    return _mm512_srl_epi64(code, _mm_cvtsi32_si128((int)low_bits(choices)));
}

TARGET_AVX512 static inline __m512i homes_at_eight(const struct array *a, __m512i slot, __m512i code) {
    __m512i home = _mm512_sub_epi64(slot, _mm512_and_si512(code, same_eight(1)));
    return _mm512_min_epu64(home, same_eight(a->layout[HOMES] - 1));
}

/* other_home of eight slots. */
TARGET_AVX512 static inline __m512i others_of_eight(const struct array *a, __m512i slot, __m512i code,
                                                    uint64_t choices) {
    uint64_t homes = a->layout[HOMES];
    __m512i choice = choices_in_eight(code, choices), one = same_eight(1);
    __m512i shift = shifts_of_eight(homes, fingerprints_in_eight(code, choices),
                                    choices == 2 ? one : _mm512_max_epu64(choice, one));
    __mmask8 later = _mm512_test_epi64_mask(choice, choice);
    shift = _mm512_mask_sub_epi64(shift, later, same_eight(homes), shift);
    return add_around_eight(homes_at_eight(a, slot, code), shift, homes);
}

/* places_at of eight slots. */
TARGET_AVX512 static inline void places_at_eight(const struct array *a, __m512i slot, __m512i code, uint64_t choices,
                                                 __m512i *home) {
    __m512i here = homes_at_eight(a, slot, code), other = others_of_eight(a, slot, code, choices);
    __m512i choice = choices_in_eight(code, choices);
    __mmask8 later = _mm512_test_epi64_mask(choice, choice);
    home[0] = _mm512_mask_mov_epi64(here, later, other);
    home[1] = _mm512_mask_mov_epi64(other, later, here);
    for (uint64_t c = 1; choices > 2 && c < choices; c++) {
        __m512i shift = shifts_of_eight(a->layout[HOMES], fingerprints_in_eight(code, choices), same_eight(c));
        home[c] = add_around_eight(home[0], shift, a->layout[HOMES]);
    }
}

/* slots_at for those of eight that are in `lanes`. */
TARGET_AVX512 static inline __m512i slots_at_eight(const struct array *a, __m512i slot, __mmask8 lanes) {
    unsigned back = slot_word_back(width_of(a));
    __m512i width = same_eight(width_of(a));
    __m512i bit = a->layout[HOMES] <= UINT32_MAX ? _mm512_mul_epu32(slot, width) : _mm512_mullo_epi64(slot, width);
    __m512i byte = _mm512_srli_epi64(bit, 3);
    __mmask8 late = _mm512_cmpgt_epu64_mask(_mm512_and_si512(byte, same_eight(63)), same_eight(56));
    __m512i shift = _mm512_and_si512(bit, same_eight(7));
    byte = _mm512_mask_sub_epi64(byte, late, byte, same_eight(back));
    shift = _mm512_mask_add_epi64(shift, late, shift, same_eight(8 * back));
    __m512i word = _mm512_mask_i64gather_epi64(_mm512_setzero_si512(), lanes, byte, a->bytes, 1);
    return _mm512_srlv_epi64(word, shift);
}

/* note_slot for those of eight slots that are in `noted`. */
TARGET_AVX512 static inline void note_eight(struct search *s, __m512i slot, __m512i note, __mmask8 noted) {
    _mm512_storeu_si512(s->slot + s->count, _mm512_maskz_compress_epi64(noted, slot));
    _mm512_storeu_si512(s->note + s->count, _mm512_maskz_compress_epi64(noted, note));
    s->count += (unsigned)__builtin_popcount(noted);
}

TARGET_AVX512 static inline bool leave_avx512(const struct array *a, struct search *s, unsigned first,
                                              unsigned together, uint64_t choices) {
    const __m512i one = same_eight(1);
    __mmask8 lanes = (__mmask8)((1U << together) - 1);
    __m512i slot = _mm512_maskz_loadu_epi64(lanes, s->slot + first);
    __m512i note = _mm512_maskz_loadu_epi64(lanes, s->note + first);
    __m512i code = _mm512_and_si512(note, same_eight(slot_mask(SLOT_WIDTH_MAX)));
    __m512i window = _mm512_sub_epi64(slot, _mm512_and_si512(_mm512_srli_epi64(note, NOTE_PLACE), one));
    __m512i from = _mm512_add_epi64(_mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7), same_eight(first));
    __m512i own = _mm512_andnot_si512(same_eight(slot_mask(low_bits(choices))), code), home[CHOICES_MAX];
    places_at_eight(a, slot, code, choices, home);
    for (uint64_t place = 0; place < 2 * choices; place++) {
        __m512i next = _mm512_add_epi64(home[place >> 1], same_eight(place & 1)),
                there = slots_at_eight(a, next, lanes);
        there = _mm512_and_si512(there, same_eight(slot_mask(width_of(a))));
        __mmask8 twins = _mm512_mask_cmpeq_epi64_mask(lanes, there, _mm512_or_si512(own, same_eight(place)));
        twins = _mm512_mask_cmpneq_epi64_mask(twins, next, slot);
        __mmask8 noted = _mm512_mask_cmpgt_epu64_mask(lanes, _mm512_sub_epi64(next, window), one);
        __mmask8 empty = _mm512_mask_testn_epi64_mask(noted, there, there);
        if (empty) noted = (__mmask8)(empty & -empty); /* the first of them, alone */
        if (twins && s->twin == NO_NODE) s->twin = first + (unsigned)__builtin_ctz(twins);
        __m512i about = _mm512_or_si512(same_eight(place << NOTE_PLACE), _mm512_slli_epi64(from, NOTE_FROM));
        note_eight(s, next, _mm512_or_si512(about, there), noted);
        if (empty) return true;
    }
    return false;
}
