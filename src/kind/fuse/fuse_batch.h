/* Queries of a fuse filter, a template: fuse.c includes this once for each instruction set, with
 * ISA(name), TARGET and INLINE. `arity` and `load` are constants in each caller. */

/* Slots of one byte are as wide as that. */
INLINE uint64_t ISA(width_of)(const struct array *array, uint64_t load) {
    return load == 1 ? 8 : array->layout[FUSE_WIDTH];
}

/* Laid out so that compilers make vector instructions of it. */
INLINE void ISA(prepare)(const struct array *array, const uint64_t *digests, size_t n, struct fuse_block *out,
                         unsigned arity, uint64_t width) {
    const uint64_t *guide = array->guide, bits = array->layout[PARTS_BITS], segment = array->layout[FUSE_SEGMENT];
    size_t done = 0;
#ifdef PREPARES_FOUR
    for (; done + 4 <= n; done += 4) ISA(prepare_four)(array, digests, done, out, arity, width);
#endif
    for (size_t i = done; i < n; i++) {
        struct fuse_key key = fuse_key_of(guide, bits, digests[i], width);
        UNROLLED for (unsigned j = 0; j < arity; j++) out->bit[j][i] = bit_of_place(key, j, segment, width);
        out->fingerprint[i] = key.print;
    }
}

INLINE void ISA(prefetch_all)(const struct array *array, const struct fuse_block *block, size_t i, unsigned arity) {
    UNROLLED for (unsigned j = 0; j < arity; j++) __builtin_prefetch(array->bytes + (block->bit[j][i] >> 3), 0, 2);
}

INLINE uint8_t ISA(test)(const struct array *array, const struct fuse_block *block, size_t i, unsigned arity,
                         uint64_t load, uint64_t width) {
    uint64_t sum = block->fingerprint[i];
    UNROLLED for (unsigned j = 0; j < arity; j++) sum ^= slot_at(array->bytes, block->bit[j][i], load);
    return (sum & ((UINT64_C(1) << width) - 1)) == 0;
}

/* While one block is tested, the slots of the next are prefetched. */
INLINE void ISA(query_many)(const struct array *array, const uint64_t *digests, size_t n, uint8_t *answers,
                            const char *ahead, unsigned arity, uint64_t load) {
    const uint64_t width = ISA(width_of)(array, load);
    struct fuse_block blocks[2];
    size_t ready = n < BLOCK ? n : BLOCK;
    ISA(prepare)(array, digests, ready, &blocks[0], arity, width);
    for (size_t i = 0; i < ready; i++) ISA(prefetch_all)(array, &blocks[0], i, arity);
    for (int turn = 0; ready; turn ^= 1) {
        const struct fuse_block *now = &blocks[turn], *next = &blocks[turn ^ 1];
        size_t coming = n - ready < BLOCK ? n - ready : BLOCK;
        ISA(prepare)(array, digests + ready, coming, &blocks[turn ^ 1], arity, width);
        for (size_t i = 0; i < coming; i++) {
            if (i % 8 == 0) __builtin_prefetch(ahead + 8 * i, 0, 2);
            ISA(prefetch_all)(array, next, i, arity);
            answers[i] = ISA(test)(array, now, i, arity, load, width);
        }
        for (size_t i = coming; i < ready; i++) answers[i] = ISA(test)(array, now, i, arity, load, width);
        digests += ready;
        answers += ready;
        ahead += 8 * ready;
        n -= ready;
        ready = coming;
    }
}

INLINE int ISA(query_one)(const struct array *array, uint64_t digest, unsigned arity, uint64_t load) {
    const uint64_t *guide = array->guide, bits = array->layout[PARTS_BITS], segment = array->layout[FUSE_SEGMENT];
    const uint64_t width = ISA(width_of)(array, load), *part = guide + GUIDE_WORDS * part_of(digest, bits);
    const uint8_t *data = array->bytes + part[GUIDE_START];
    uint64_t first = mul_high(place_in_part(digest, bits), part[GUIDE_RANGE]), spread = digest * part[GUIDE_FACTOR];
    uint64_t sum = digest | part[GUIDE_EMPTY];
    UNROLLED for (unsigned j = 0; j < arity; j++) sum ^=
        slot_at(data, fuse_place(first, spread, j, segment) * width, load);
    return fuse_fingerprint(sum, width) == 0;
}

#undef PREPARES_FOUR
