/*
 * SipHash-1-3 (Aumasson & Bernstein) of LANES keys at a time, one in each lane of a vector. A
 * template: hash.c includes this once for each instruction set, with ISA(name), TARGET, INLINE, the
 * type ISA(lanes) and its rotation defined.
 *
 * Nothing beyond a key is read: its last bytes are cut from the word that ends with it, and a key
 * shorter than a word is copied to the end of one.
 */
struct ISA(sip) {
    ISA(lanes) a, b, c, d;
};

INLINE void ISA(sip_round)(struct ISA(sip) * v) {
    v->a += v->b;
    v->c += v->d;
    v->b = ISA(rotate)(v->b, 13) ^ v->a;
    v->d = ISA(rotate)(v->d, 16) ^ v->c;
    v->a = ISA(rotate)(v->a, 32) + v->d;
    v->c += v->b;
    v->b = ISA(rotate)(v->b, 17) ^ v->c;
    v->d = ISA(rotate)(v->d, 21) ^ v->a;
    v->c = ISA(rotate)(v->c, 32);
}

INLINE struct ISA(sip) ISA(sip_start)(const uint64_t key[2]) {
    const ISA(lanes) zero = {0};
    return (struct ISA(sip)){.a = zero + (key[0] ^ UINT64_C(0x736f6d6570736575)),
                             .b = zero + (key[1] ^ UINT64_C(0x646f72616e646f6d)),
                             .c = zero + (key[0] ^ UINT64_C(0x6c7967656e657261)),
                             .d = zero + (key[1] ^ UINT64_C(0x7465646279746573))};
}

INLINE void ISA(sip_word)(struct ISA(sip) * v, ISA(lanes) word) {
    v->d ^= word;
    ISA(sip_round)(v);
    v->a ^= word;
}

INLINE ISA(lanes) ISA(sip_end)(struct ISA(sip) * v) {
    v->c ^= 0xff;
    for (int i = 0; i < 3; i++) ISA(sip_round)(v);
    return v->a ^ v->b ^ v->c ^ v->d;
}

#if LANES > 1
_Static_assert(sizeof(size_t) == sizeof(uint64_t), "lengths are read as lanes");

INLINE ISA(lanes) ISA(load_lanes)(const void *numbers) {
    ISA(lanes) all;
    memcpy(&all, numbers, sizeof all);
    return all;
}

/* Integers, as their eight bytes. Hashes those that fill whole vectors, and gives their number. */
TARGET static size_t ISA(siphash13_many_u64)(const uint64_t key[2], const uint64_t *keys, size_t n, uint64_t *digests) {
    const ISA(lanes) zero = {0}, lengths = zero + 8;
    size_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        struct ISA(sip) v = ISA(sip_start)(key);
        ISA(sip_word)(&v, ISA(load_lanes)(keys + i));
        ISA(sip_word)(&v, lengths << 56);
        ISA(lanes) digest = ISA(sip_end)(&v);
        memcpy(digests + i, &digest, sizeof digest);
    }
    return i;
}

/* ---- bytes ---- */

/* The words at an offset that all keys have. */
INLINE ISA(lanes) ISA(words_at)(const void *const *keys, size_t at) {
#define WORD(i) load64((const uint8_t *)keys[i] + at)
    return (ISA(lanes))EACH_LANE(WORD);
#undef WORD
}

/* The words that end at this offset, or with the key if it is shorter. */
INLINE ISA(lanes) ISA(words_before)(const void *const *keys, const size_t *lengths, size_t end) {
#define WORD(i) load64((const uint8_t *)keys[i] + ((ptrdiff_t)(lengths[i] < end ? lengths[i] : end) - 8))
    return (ISA(lanes))EACH_LANE(WORD);
#undef WORD
}

INLINE ISA(lanes) ISA(sip_finish)(struct ISA(sip) * v, const void *const *keys, const size_t *lengths) {
    ISA(lanes) length = ISA(load_lanes)(lengths), last = ISA(words_before)(keys, lengths, SIZE_MAX);
    ISA(sip_word)(v, length << 56 | last >> 8 * (7 - length % 8) >> 8);
    return ISA(sip_end)(v);
}

/* Keys that have the same number of whole words. */
INLINE ISA(lanes) ISA(sip_alike)(const uint64_t key[2], const void *const *keys, const size_t *lengths) {
    struct ISA(sip) v = ISA(sip_start)(key);
    for (size_t at = 0, end = lengths[0] - lengths[0] % 8; at < end; at += 8)
        ISA(sip_word)(&v, ISA(words_at)(keys, at));
    return ISA(sip_finish)(&v, keys, lengths);
}

INLINE ISA(lanes) ISA(choose)(ISA(lanes) which, ISA(lanes) yes, ISA(lanes) no) {
    return (which & yes) | (~which & no);
}

/* Keys of different lengths: a lane without further words keeps its state. */
INLINE ISA(lanes)
    ISA(sip_unlike)(const uint64_t key[2], const void *const *keys, const size_t *lengths, size_t longest) {
    struct ISA(sip) v = ISA(sip_start)(key);
    ISA(lanes) length = ISA(load_lanes)(lengths);
    for (size_t end = 8; end <= longest; end += 8) {
        struct ISA(sip) next = v;
        ISA(lanes) goes_on = (ISA(lanes))(length >= end);
        ISA(sip_word)(&next, ISA(words_before)(keys, lengths, end));
        v.a = ISA(choose)(goes_on, next.a, v.a);
        v.b = ISA(choose)(goes_on, next.b, v.b);
        v.c = ISA(choose)(goes_on, next.c, v.c);
        v.d = ISA(choose)(goes_on, next.d, v.d);
    }
    return ISA(sip_finish)(&v, keys, lengths);
}

/* Keys shorter than a word are copied to the end of one: nothing beyond them is read. */
INLINE ISA(lanes) ISA(sip_any)(const uint64_t key[2], const void *const *keys, const size_t *lengths) {
#define DIGEST(i) siphash13(key, keys[i], lengths[i])
    const void *readable[LANES];
    uint64_t short_keys[LANES];
    size_t longest = 0;
    for (size_t i = 0; i < LANES; i++) {
        size_t length = lengths[i], missing = length < 8 ? 8 - length : 0;
        short_keys[i] = missing % 8 ? last_bytes(keys[i], length) << 8 * missing : 0;
        readable[i] = missing ? (const uint8_t *)&short_keys[i] + missing : keys[i];
        longest = length > longest ? length : longest;
    }
    return longest > SIP_LONG ? (ISA(lanes))EACH_LANE(DIGEST) : ISA(sip_unlike)(key, readable, lengths, longest);
#undef DIGEST
}

INLINE void ISA(sip_keys)(const uint64_t key[2], const void *const *keys, const size_t *lengths, uint64_t *digests) {
    size_t differing = 0;
    for (size_t i = 1; i < LANES; i++) differing |= lengths[i] ^ lengths[0];
    bool alike = differing < 8 && lengths[0] >= 8;
    ISA(lanes) digest = alike ? ISA(sip_alike)(key, keys, lengths) : ISA(sip_any)(key, keys, lengths);
    memcpy(digests, &digest, sizeof digest);
}

/* The last vector overlaps the one before: some keys are hashed twice. */
TARGET static void ISA(siphash13_many)(const uint64_t key[2], const void *const *keys, const size_t *lengths, size_t n,
                                       uint64_t *digests) {
    size_t whole = n - n % LANES, last = n - LANES;
    for (size_t i = 0; i < whole; i += LANES) ISA(sip_keys)(key, keys + i, lengths + i, digests + i);
    if (n > whole && whole) ISA(sip_keys)(key, keys + last, lengths + last, digests + last);
    for (size_t i = 0; !whole && i < n; i++) digests[i] = siphash13(key, keys[i], lengths[i]);
}
#endif
#undef LANES
#undef EACH_LANE
