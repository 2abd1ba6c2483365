/* The cuckoo filter's batches in AVX-512: eight keys are prepared together; their windows are gathered, and both slots of each looked at at
 * once. */

/* The fingerprints and homes of eight keys, or of as many as there are; the other lanes are those of a digest of 0. */
TARGET_AVX512 static inline void prepare_eight(const struct array *a, const uint64_t *digests, size_t n,
                                               struct block *block, size_t i, uint64_t choices) {
    uint64_t homes = a->layout[HOMES];
    __mmask8 lanes = (__mmask8)(n < 8 ? (1U << n) - 1 : 0xff);
    __m512i digest = _mm512_maskz_loadu_epi64(lanes, digests);
    __m512i mixed = _mm512_srli_epi64(_mm512_mullo_epi64(digest, same_eight(FINGERPRINT_HASH)), 32);
    __m512i scaled = _mm512_mul_epu32(mixed, same_eight(fingerprints_of(a->layout)));
    __m512i fingerprint = _mm512_add_epi64(_mm512_srli_epi64(scaled, 32), same_eight(1));
    __m512i home = mul_high_eight(digest, homes);
    _mm512_storeu_si512(block->fingerprint + i, fingerprint);
    _mm512_storeu_si512(block->home[0] + i, home);
    for (uint64_t choice = 1; choice < choices; choice++) {
        __m512i shift = shifts_of_eight(homes, fingerprint, same_eight(choice));
        _mm512_storeu_si512(block->home[choice] + i, add_around_eight(home, shift, homes));
    }
}

/* Slots as they stand in the window at home `choice` of the keys i..i+7: the first in the lowest bits. */
TARGET_AVX512 static inline __m512i windows_of_eight(const struct array *a, const struct block *block, size_t i,
                                                     uint64_t choice) {
    return slots_at_eight(a, _mm512_loadu_si512(block->home[choice] + i), 0xff);
}

/* What stands in a slot of each key at home 0 with offset 0; the place is added to it. */
TARGET_AVX512 static inline __m512i codes_of_eight(const struct block *block, size_t i, uint64_t choices) {
    return _mm512_sll_epi64(_mm512_loadu_si512(block->fingerprint + i), _mm_cvtsi32_si128((int)low_bits(choices)));
}

/* One byte for each of the keys i..i+7 of the block. */
TARGET_AVX512 static inline uint64_t ask_eight(const struct array *a, const struct block *block, size_t i,
                                               uint64_t choices) {
    const __m512i width = _mm512_set1_epi64(width_of(a)), mask = _mm512_set1_epi64((long long)slot_mask(width_of(a)));
    __m512i code = codes_of_eight(block, i, choices);
    __mmask8 found = 0;
    for (uint64_t choice = 0; choice < choices; choice++) {
        __m512i window = windows_of_eight(a, block, i, choice);
        __m512i here = _mm512_or_si512(code, _mm512_set1_epi64((long long)choice << 1));
        __m512i next = _mm512_or_si512(here, _mm512_set1_epi64(1));
        found |= _mm512_testn_epi64_mask(_mm512_xor_si512(window, here), mask);
        found |= _mm512_testn_epi64_mask(_mm512_xor_si512(_mm512_srlv_epi64(window, width), next), mask);
    }
    return _pdep_u64(found, UINT64_C(0x0101010101010101));
}

/* look_at_one for the keys i..i+7. */
TARGET_AVX512 static inline void look_at_eight(const struct array *a, struct block *block, size_t i, uint64_t choices) {
    const __m512i width = _mm512_set1_epi64(width_of(a)), mask = _mm512_set1_epi64((long long)slot_mask(width_of(a)));
    __m512i slot = _mm512_set1_epi64(-1), place = _mm512_setzero_si512(), code = codes_of_eight(block, i, choices);
    for (uint64_t choice = choices; choice-- > 0;) {
        __m512i window = windows_of_eight(a, block, i, choice), home = _mm512_loadu_si512(block->home[choice] + i);
        __m512i first = _mm512_set1_epi64((long long)choice << 1), one = _mm512_set1_epi64(1);
        __mmask8 empty = _mm512_testn_epi64_mask(_mm512_srlv_epi64(window, width), mask);
        slot = _mm512_mask_add_epi64(slot, empty, home, one);
        place = _mm512_mask_or_epi64(place, empty, first, one);
        empty = _mm512_testn_epi64_mask(window, mask);
        slot = _mm512_mask_mov_epi64(slot, empty, home);
        place = _mm512_mask_mov_epi64(place, empty, first);
    }
    _mm512_storeu_si512(block->slot + i, slot);
    _mm512_storeu_si512(block->code + i, _mm512_or_si512(code, place));
}
