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

/* look_at_one for the keys i..i+7. */
TARGET_AVX512 static inline void look_at_eight(const struct array *a, struct block *block, size_t i, uint64_t places) {
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
}
