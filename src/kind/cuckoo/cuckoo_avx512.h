/* The cuckoo filter's batches in AVX-512: eight keys are prepared together; their windows are
 * looked at together. */

/* fingerprint_of. */
TARGET_AVX512 static inline __m512i fingerprints_of_eight(const struct array *a, __m512i digest) {
    __m512i mixed = _mm512_srli_epi64(_mm512_mullo_epi64(digest, same_eight(CUCKOO_FINGERPRINT_HASH)), 32);
    __m512i scaled = _mm512_mul_epu32(mixed, same_eight(a->derived[CUCKOO_FINGERPRINTS]));
    return _mm512_add_epi64(_mm512_srli_epi64(scaled, 32), same_eight(1));
}

/* The fingerprints and homes of eight keys, or of as many as there are; the other lanes are those
 * of a digest of 0. */
TARGET_AVX512 static inline void prepare_eight(const struct array *a, const uint64_t *digests, size_t n,
                                               struct block *block, size_t i, uint64_t places) {
    uint64_t homes = a->layout[CUCKOO_HOMES];
    __mmask8 lanes = (__mmask8)(n < 8 ? (1U << n) - 1 : 0xff);
    __m512i digest = _mm512_maskz_loadu_epi64(lanes, digests);
    __m512i fingerprint = fingerprints_of_eight(a, digest);
    __m512i home = mul_high_eight(digest, homes);
    _mm512_storeu_si512(block->fingerprint + i, fingerprint);
    _mm512_storeu_si512(block->home[0] + i, home);
    UNROLLED for (uint64_t choice = 1; choice < choices_of(places); choice++) {
        __m512i shift = shifts_of_eight(a, fingerprint, same_eight(choice));
        _mm512_storeu_si512(block->home[choice] + i, add_around_eight(home, shift, homes));
    }
}

/* Which place each of the keys i..i+7 would take; which have one is in *found. */
TARGET_AVX512 static inline __m512i take_one_of_eight(const struct array *a, const struct block *block, size_t i,
                                                      __m512i fingerprint, uint64_t places, __mmask8 *found) {
    const __m512i width = same_eight(width_of(a)), mask = same_eight(slot_mask(width_of(a)));
    __m512i taken = _mm512_setzero_si512();
    __mmask8 backward = _mm512_test_epi64_mask(fingerprint, same_eight(1));
    *found = 0;
    UNROLLED for (uint64_t place = 0, choice = 0; choice < choices_of(places); choice++) {
        __m512i window = slots_at_eight(a, _mm512_loadu_si512(block->home[choice] + i), window_slots(choice, places));
        UNROLLED for (unsigned slot = 0; slot < window_slots(choice, places); slot++, place++) {
            __mmask8 empty = _mm512_testn_epi64_mask(window, mask);
            taken = _mm512_mask_mov_epi64(taken, (__mmask8)(empty & (backward | ~*found)), same_eight(place));
            *found |= empty;
            window = _mm512_srlv_epi64(window, width);
        }
    }
    return taken;
}

/* look_at_one for the keys i..i+7; gives those that have NO_SLOT. */
TARGET_AVX512 static inline unsigned look_at_eight(const struct array *a, struct block *block, size_t i,
                                                   uint64_t places) {
    __m512i fingerprint = _mm512_loadu_si512(block->fingerprint + i);
    __mmask8 found;
    __m512i place = take_one_of_eight(a, block, i, fingerprint, places, &found);
    __m512i home = _mm512_loadu_si512(block->home[0] + i), before = _mm512_setzero_si512();
    UNROLLED for (uint64_t choice = 1; choice < choices_of(places); choice++) {
        __m512i first = same_eight(first_place(choice, places));
        __mmask8 later = _mm512_cmpge_epu64_mask(place, first);
        home = _mm512_mask_loadu_epi64(home, later, block->home[choice] + i);
        before = _mm512_mask_mov_epi64(before, later, first);
    }
    __m512i slot = _mm512_add_epi64(home, _mm512_sub_epi64(place, before));
    _mm512_storeu_si512(block->slot + i, _mm512_mask_mov_epi64(same_eight(NO_SLOT), found, slot));
    _mm512_storeu_si512(block->code + i, _mm512_add_epi64(codes_of_eight(fingerprint, places), place));
    return (__mmask8)~found;
}

/* Those who sit in the slots of two keys with four places each: lanes 0..3 and 4..7. */
struct sitters {
    struct sitting sits;
    __m512i slot, note, home[CUCKOO_CHOICES_MAX];
};

TARGET_AVX512 static inline struct sitters sitters_of_two(const struct array *a, const struct block *block, size_t i,
                                                          size_t j) {
    const __m512i place = _mm512_setr_epi64(0, 1, 2, 3, 0, 1, 2, 3);
    const long long first = (long long)block->home[0][i], second = (long long)block->home[1][i];
    const long long third = (long long)block->home[0][j], fourth = (long long)block->home[1][j];
    struct sitters two;
    two.slot = _mm512_setr_epi64(first, first + 1, second, second + 1, third, third + 1, fourth, fourth + 1);
    __m512i code = _mm512_and_si512(slots_at_eight(a, two.slot, 1), same_eight(slot_mask(width_of(a))));
    two.note = _mm512_or_si512(code, _mm512_slli_epi64(place, NOTE_PLACE));
    two.sits = sitting_eight(a, two.slot, code, 4);
    homes_of_eight(a, &two.sits, 4, two.home);
    return two;
}

/* prefetch_others for two keys. */
TARGET_AVX512 static inline void prefetch_others_of_two(const struct array *a, const struct block *block, size_t i,
                                                        size_t j) {
    struct sitters two = sitters_of_two(a, block, i, j);
    __mmask8 later = _mm512_test_epi64_mask(two.sits.choice, two.sits.choice);
    uint64_t other[8];
    _mm512_storeu_si512(other, _mm512_mask_mov_epi64(two.home[1], later, two.home[0]));
    for (unsigned lane = 0; lane < 8; lane++) prefetch_home(a, other[lane]);
}

/* find_push for two keys. */
TARGET_AVX512 static inline void find_two_pushes(const struct array *a, struct block *block, size_t i, size_t j) {
    struct sitters two = sitters_of_two(a, block, i, j);
    struct reachable reach[CUCKOO_PLACES_MAX];
    uint64_t homes[2][8], codes[8], empty = look_around(a, two.home, two.slot, two.note, 0xff, reach, 4);
    _mm512_storeu_si512(homes[0], two.home[0]);
    _mm512_storeu_si512(homes[1], two.home[1]);
    _mm512_storeu_si512(codes, two.sits.code);
    for (unsigned half = 0; half < 2; half++) {
        size_t key = half ? j : i;
        struct push *push = &block->push[key];
        uint64_t here = empty & UINT64_C(0x0f0f0f0f0f0f0f0f) << 4 * half;
        push->slot = NO_SLOT;
        if (!here) continue;
        unsigned bit = (unsigned)__builtin_ctzll(here), place = bit / 8, lane = bit % 8;
        push->slot = homes[choice_of(place, 4)][lane] + offset_of(place, 4);
        push->place = lane % 4;
        push->code = codes[lane] + place;
        UNROLLED for (uint64_t choice = 0; choice < 2; choice++) push->window[choice] =
            window_of(a, block->home[choice][key], choice, 4);
    }
}

/* window_word, as `struct windows` has it. */
TARGET_AVX512 static inline __m512i windows_of_eight(const struct array *a, __m512i home, uint64_t choice) {
    struct eight_words words = words_of_eight(a, home, a->derived[choice ? CUCKOO_BACK_LATER : CUCKOO_BACK_FIRST]);
    return _mm512_or_si512(_mm512_slli_epi64(words.byte, 6), words.shift);
}

/* find_one for the keys i..i+7. */
TARGET_AVX512 static inline void find_eight(const struct array *a, const uint64_t *digests, size_t i,
                                            struct windows *out, uint64_t places) {
    __m512i digest = _mm512_loadu_si512(digests), fingerprint = fingerprints_of_eight(a, digest);
    __m512i home = mul_high_eight(digest, a->layout[CUCKOO_HOMES]);
    _mm512_storeu_si512(out->code + i, codes_of_eight(fingerprint, places));
    _mm512_storeu_si512(out->at[0] + i, windows_of_eight(a, home, 0));
    for (uint64_t choice = 1; choice < choices_of(places); choice++) {
        __m512i shift = shifts_of_eight(a, fingerprint, same_eight(choice));
        __m512i other = add_around_eight(home, shift, a->layout[CUCKOO_HOMES]);
        _mm512_storeu_si512(out->at[choice] + i, windows_of_eight(a, other, choice));
    }
}

/* `test` for the keys i..i+7: one byte for each. */
TARGET_AVX512 static inline uint64_t test_eight(const struct array *a, const struct windows *windows, size_t i,
                                                uint64_t places) {
    const __m512i below = same_eight(a->derived[CUCKOO_TOPS_FIRST] - a->derived[CUCKOO_ONES]);
    const unsigned width = width_of(a);
    __m512i code = _mm512_loadu_si512(windows->code + i),
            copies = _mm512_add_epi64(code, _mm512_slli_epi64(code, width));
    if (places % 2) copies = _mm512_add_epi64(code, _mm512_slli_epi64(copies, width));
    copies = _mm512_add_epi64(copies, same_eight(a->derived[CUCKOO_NUMBERS]));
    __m512i found = _mm512_setzero_si512();
    UNROLLED for (uint64_t choice = 0; choice < choices_of(places); choice++) {
        __m512i at = _mm512_loadu_si512(windows->at[choice] + i);
        __m512i window =
            _mm512_srlv_epi64(load_eight(a->bytes, _mm512_srli_epi64(at, 6)), _mm512_and_si512(at, same_eight(63)));
        __m512i before = same_eight(first_place(choice, places) * a->derived[CUCKOO_ONES]);
        __m512i x = _mm512_xor_si512(window, _mm512_add_epi64(copies, before));
        __m512i full = _mm512_or_si512(_mm512_add_epi64(_mm512_and_si512(x, below), below), x);
        found = _mm512_or_si512(
            found, _mm512_andnot_si512(full, same_eight(a->derived[choice ? CUCKOO_TOPS_LATER : CUCKOO_TOPS_FIRST])));
    }
    return _pdep_u64(_mm512_test_epi64_mask(found, found), UINT64_C(0x0101010101010101));
}
