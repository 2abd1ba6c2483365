/* leave() of cuckoo_evict.h for eight slots at a time. */
#include <immintrin.h>

TARGET_AVX512 static inline __m512i same_eight(uint64_t x) {
    return _mm512_set1_epi64((long long)x);
}

/* The upper halves of eight products, from four products of halves, of which two are 0 if n is
 * below 2^32. */
TARGET_AVX512 static inline __m512i mul_high_eight(__m512i x, uint64_t n) {
    const __m512i low = same_eight(n & UINT32_MAX), high = same_eight(n >> 32), half = same_eight(UINT32_MAX);
    __m512i upper = _mm512_srli_epi64(x, 32);
    __m512i middle = _mm512_add_epi64(_mm512_mul_epu32(upper, low), _mm512_srli_epi64(_mm512_mul_epu32(x, low), 32));
    if (n <= UINT32_MAX) return _mm512_srli_epi64(middle, 32);
    __m512i carry = _mm512_add_epi64(_mm512_mul_epu32(x, high), _mm512_and_si512(middle, half));
    __m512i sum = _mm512_add_epi64(_mm512_mul_epu32(upper, high), _mm512_srli_epi64(middle, 32));
    return _mm512_add_epi64(sum, _mm512_srli_epi64(carry, 32));
}

/* shift_of for choices that are not 0, in products of 32 bits: what is in the upper halves of words
 * is no matter. */
TARGET_AVX512 static inline __m512i shifts_of_eight(const struct array *a, __m512i fingerprint, __m512i choice) {
    __m512i x = _mm512_add_epi64(fingerprint, _mm512_slli_epi64(choice, 28));
    x = _mm512_mul_epu32(x, same_eight(CUCKOO_SHIFT_HASH_FIRST));
    x = _mm512_mul_epu32(_mm512_xor_si512(x, _mm512_srli_epi32(x, 15)), same_eight(CUCKOO_SHIFT_HASH_SECOND));
    x = _mm512_srli_epi64(_mm512_mul_epu32(x, same_eight(a->derived[CUCKOO_SHIFTS])), 32);
    return _mm512_add_epi64(same_eight(CUCKOO_SHIFT_MIN), x);
}

TARGET_AVX512 static inline __m512i add_around_eight(__m512i home, __m512i shift, uint64_t homes) {
    __m512i sum = _mm512_add_epi64(home, shift);
    return _mm512_min_epu64(sum, _mm512_sub_epi64(sum, same_eight(homes)));
}

/* code_of and fingerprint_in of eight. */
TARGET_AVX512 static inline __m512i codes_of_eight(__m512i fingerprint, uint64_t places) {
    return places == 4 ? _mm512_slli_epi64(fingerprint, 2) : _mm512_mul_epu32(fingerprint, same_eight(places));
}

TARGET_AVX512 static inline __m512i fingerprints_in_eight(__m512i code, uint64_t places) {
    if (places % 4 == 0) return _mm512_srli_epi64(code, places == 4 ? 2 : 3);
    const uint64_t inverse = (UINT64_C(1) << 34) / places + 1; /* exact: slots have few bits */
    return _mm512_srli_epi64(_mm512_mul_epu32(code, same_eight(inverse)), 34);
}

/* A key that sits in a slot: what is known of it before its homes are. */
struct sitting {
    __m512i fingerprint, code, home; /* the code at its place 0; the home where it sits */
    __m512i choice;
};

TARGET_AVX512 static inline struct sitting sitting_eight(const struct array *a, __m512i slot, __m512i code,
                                                         uint64_t places) {
    struct sitting sits = {.fingerprint = fingerprints_in_eight(code, places)};
    sits.code = codes_of_eight(sits.fingerprint, places);
    __m512i place = _mm512_sub_epi64(code, sits.code), offset;
    if (places % 2) {
        __mmask8 later = _mm512_cmpge_epu64_mask(place, same_eight(first_place(1, places)));
        sits.choice = _mm512_maskz_mov_epi64(later, same_eight(1));
        offset = _mm512_mask_sub_epi64(place, later, place, same_eight(first_place(1, places)));
    } else {
        sits.choice = _mm512_srli_epi64(place, 1);
        offset = _mm512_and_si512(place, same_eight(1));
    }
    sits.home = _mm512_min_epu64(_mm512_sub_epi64(slot, offset), same_eight(a->layout[CUCKOO_HOMES] - 1));
    return sits;
}

/* places_at of eight slots. */
TARGET_AVX512 static inline void homes_of_eight(const struct array *a, const struct sitting *sits, uint64_t places,
                                                __m512i *home) {
    uint64_t homes = a->layout[CUCKOO_HOMES];
    __m512i one = same_eight(1), shift;
    shift = shifts_of_eight(a, sits->fingerprint, places < 6 ? one : _mm512_max_epu64(sits->choice, one));
    __mmask8 later = _mm512_test_epi64_mask(sits->choice, sits->choice);
    shift = _mm512_mask_sub_epi64(shift, later, same_eight(homes), shift);
    __m512i other = add_around_eight(sits->home, shift, homes);
    home[0] = _mm512_mask_mov_epi64(sits->home, later, other);
    home[1] = _mm512_mask_mov_epi64(other, later, sits->home);
    for (uint64_t c = 1; places >= 6 && c < choices_of(places); c++)
        home[c] = add_around_eight(home[0], shifts_of_eight(a, sits->fingerprint, same_eight(c)), homes);
}

/* Eight words from anywhere. Eight plain loads: on processors that had to be made safe against
 * spying on gathers, an instruction that gathers takes three times as long, and on others hardly
 * less. */
TARGET_AVX512 static inline __m512i load_eight(const uint8_t *bytes, __m512i at) {
    uint64_t from[8];
    __m128i two[4];
    _mm512_storeu_si512(from, at);
    UNROLLED for (unsigned i = 0; i < 4; i++) {
        __m128i low = _mm_loadl_epi64((const __m128i *)(const void *)(bytes + from[2 * i]));
        two[i] = _mm_insert_epi64(low, (long long)load64(bytes + from[2 * i + 1]), 1);
    }
    __m256i lower = _mm256_inserti128_si256(_mm256_castsi128_si256(two[0]), two[1], 1);
    __m256i upper = _mm256_inserti128_si256(_mm256_castsi128_si256(two[2]), two[3], 1);
    return _mm512_inserti64x4(_mm512_castsi256_si512(lower), upper, 1);
}

/* slot_word for eight slots. */
struct eight_words {
    __m512i byte, shift;
};

TARGET_AVX512 static inline struct eight_words words_of_eight(const struct array *a, __m512i slot, uint64_t back) {
    const __m512i width = same_eight(width_of(a)), most = same_eight(back);
    __m512i bit = slots_of(a->layout) <= UINT32_MAX ? _mm512_mul_epu32(slot, width) : _mm512_mullo_epi64(slot, width);
    __m512i byte = _mm512_srli_epi64(bit, 3);
    __mmask8 late = _mm512_cmpgt_epu64_mask(_mm512_and_si512(byte, same_eight(63)), same_eight(56));
    __m512i shift = _mm512_and_si512(bit, same_eight(7));
    byte = _mm512_mask_sub_epi64(byte, late, byte, most);
    return (struct eight_words){byte, _mm512_mask_add_epi64(shift, late, shift, _mm512_slli_epi64(most, 3))};
}

/* slots_at for eight slots. */
TARGET_AVX512 static inline __m512i slots_at_eight(const struct array *a, __m512i slot, unsigned slots) {
    struct eight_words words = words_of_eight(a, slot, slot_word_back(width_of(a), slots));
    return _mm512_srlv_epi64(load_eight(a->bytes, words.byte), words.shift);
}

/* note_slot for those of eight slots that are in `noted`. */
TARGET_AVX512 static inline void note_eight(struct search *s, __m512i slot, __m512i note, __mmask8 noted) {
    _mm512_storeu_si512(s->slot + s->count, _mm512_maskz_compress_epi64(noted, slot));
    _mm512_storeu_si512(s->note + s->count, _mm512_maskz_compress_epi64(noted, note));
    s->count += (unsigned)__builtin_popcount(noted);
}

/* The slots of a place of eight keys, what stands there, and which of them are to be noted. */
struct reachable {
    __m512i slot, code;
    __mmask8 noted;
};

/* All places of the eight; gives which are to be noted and empty: lane i of place j is bit 8 j +
 * i. */
TARGET_AVX512 static inline uint64_t look_around(const struct array *a, const __m512i *home, __m512i slot, __m512i note,
                                                 __mmask8 lanes, struct reachable *reach, uint64_t places) {
    const __m512i width = same_eight(width_of(a)), mask = same_eight(slot_mask(width_of(a)));
    __m512i through = _mm512_and_si512(_mm512_srli_epi64(note, NOTE_PLACE), same_eight(CUCKOO_PLACES_MAX - 1));
    __m512i offset = _mm512_and_si512(through, same_eight(1)), slots = same_eight(2);
    if (places % 2) {
        __mmask8 later = _mm512_cmpge_epu64_mask(through, same_eight(first_place(1, places)));
        offset = _mm512_mask_sub_epi64(through, later, through, same_eight(first_place(1, places)));
        slots = _mm512_mask_mov_epi64(same_eight(window_slots(0, places)), later, slots);
    }
    __m512i first = _mm512_sub_epi64(slot, offset);
    uint64_t empty = 0;
    UNROLLED for (uint64_t place = 0, choice = 0; choice < choices_of(places); choice++) {
        __m512i window = slots_at_eight(a, home[choice], window_slots(choice, places));
        UNROLLED for (unsigned i = 0; i < window_slots(choice, places); i++, place++) {
            struct reachable *r = &reach[place];
            r->slot = _mm512_add_epi64(home[choice], same_eight(i));
            r->code = _mm512_and_si512(window, mask);
            r->noted = _mm512_mask_cmpge_epu64_mask(lanes, _mm512_sub_epi64(r->slot, first), slots);
            empty |= (uint64_t)_mm512_mask_testn_epi64_mask(r->noted, window, mask) << 8 * place;
            window = _mm512_srlv_epi64(window, width);
        }
    }
    return empty;
}

/* Those who sit in eight slots, or in those of them that are in `lanes`, of which the first is node
 * `first`. */
TARGET_AVX512 static inline bool leave_eight(const struct array *a, struct search *s, __m512i slot, __m512i note,
                                             unsigned first, __mmask8 lanes, uint64_t places, bool goes_on) {
    struct sitting sits =
        sitting_eight(a, slot, _mm512_and_si512(note, same_eight(slot_mask(CUCKOO_SLOT_WIDTH_MAX))), places);
    __m512i home[CUCKOO_CHOICES_MAX];
    struct reachable reach[CUCKOO_PLACES_MAX];
    homes_of_eight(a, &sits, places, home);
    uint64_t empty = look_around(a, home, slot, note, lanes, reach, places);
    if (empty) {
        unsigned bit = (unsigned)__builtin_ctzll(empty), place = bit / 8, lane = bit % 8;
        uint64_t homes[CUCKOO_CHOICES_MAX][8];
        UNROLLED for (uint64_t choice = 0; choice < choices_of(places); choice++)
            _mm512_storeu_si512(homes[choice], home[choice]);
        uint64_t at = homes[choice_of(place, places)][lane] + offset_of(place, places);
        note_slot(s, at, 0, place, first + lane);
        return true;
    }
    if (!goes_on) return false;
    __m512i from = _mm512_add_epi64(_mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7), same_eight(first));
    from = _mm512_slli_epi64(from, NOTE_FROM);
    UNROLLED for (uint64_t place = 0; place < places; place++) {
        const struct reachable *r = &reach[place];
        __mmask8 twins = _mm512_mask_cmpeq_epi64_mask(lanes, r->code, _mm512_add_epi64(sits.code, same_eight(place)));
        twins = _mm512_mask_cmpneq_epi64_mask(twins, r->slot, slot);
        if (twins && s->twin == NO_NODE) s->twin = first + (unsigned)__builtin_ctz(twins);
        __m512i about = _mm512_or_si512(same_eight(place << NOTE_PLACE), from);
        note_eight(s, r->slot, _mm512_or_si512(about, r->code), r->noted);
    }
    return false;
}

TARGET_AVX512 static inline bool leave_avx512(const struct array *a, struct search *s, unsigned first,
                                              unsigned together, uint64_t places) {
    __mmask8 lanes = (__mmask8)((1U << together) - 1);
    __m512i slot = _mm512_maskz_loadu_epi64(lanes, s->slot + first);
    __m512i note = _mm512_maskz_loadu_epi64(lanes, s->note + first);
    return leave_eight(a, s, slot, note, first, lanes, places, true);
}

TARGET_AVX512 static inline bool first_step_avx512(const struct array *a, struct search *s, const struct places *all,
                                                   uint64_t places, bool goes_on) {
    __mmask8 lanes = (__mmask8)((1U << places) - 1);
    __m512i place = _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7), slot = _mm512_setzero_si512();
    UNROLLED for (uint64_t choice = 0; choice < choices_of(places); choice++) {
        uint64_t before = first_place(choice, places);
        __mmask8 from = (__mmask8)(lanes & 0xffU << before);
        slot = _mm512_mask_add_epi64(slot, from, place, same_eight(all->home[choice] - before));
    }
    __m512i code = _mm512_and_si512(slots_at_eight(a, slot, 1), same_eight(slot_mask(width_of(a))));
    __m512i note = _mm512_or_si512(code, same_eight((uint64_t)NO_NODE << NOTE_FROM));
    note = _mm512_or_si512(note, _mm512_slli_epi64(place, NOTE_PLACE));
    s->count = (unsigned)places;
    s->twin = NO_NODE;
    _mm512_storeu_si512(s->slot, slot);
    _mm512_storeu_si512(s->note, note);
    return leave_eight(a, s, slot, note, 0, lanes, places, goes_on);
}
