/* Queries of a fuse filter, a template: fuse.c includes this once for each instruction set, with
 * ISA(name), TARGET and INLINE. */

/* Laid out so that compilers make vector instructions of it. */
INLINE void ISA(prepare)(const struct array *array, const uint64_t *digests, size_t n, struct fuse_block *out,
                         unsigned arity, uint64_t width) {
    const uint64_t *guide = array->guide, bits = array->layout[PARTS_BITS], segment = array->layout[FUSE_SEGMENT];
    uint64_t over = (uintptr_t)array->bytes & 63;
    size_t done = 0;
#ifdef PREPARES_FOUR
    for (; done + 4 <= n; done += 4) ISA(prepare_four)(array, digests, done, out, arity, width);
#endif
    for (size_t i = done; i < n; i++) {
        struct fuse_key key = fuse_key_of(guide, bits, digests[i]);
        UNROLLED for (unsigned j = 0; j < arity; j++) out->load[j][i] = load_of_place(key, j, segment, over, width);
        out->fingerprint[i] = print_of(key, width);
    }
}

INLINE void ISA(prefetch_all)(const struct array *array, const struct fuse_block *block, size_t i, unsigned arity) {
    UNROLLED for (unsigned j = 0; j < arity; j++) __builtin_prefetch(array->bytes + (block->load[j][i] >> 6), 0, 2);
}

INLINE uint8_t ISA(test)(const struct array *array, const struct fuse_block *block, size_t i, unsigned arity,
                         uint64_t width) {
    uint64_t sum = block->fingerprint[i];
    UNROLLED for (unsigned j = 0; j < arity; j++) sum ^= slot_at(array->bytes, block->load[j][i], width);
    return (sum & ((UINT64_C(1) << width) - 1)) == 0;
}

/* While one block is tested, the slots of the next are on their way. */
INLINE void ISA(query_many)(const struct array *array, const uint64_t *digests, size_t n, uint8_t *answers,
                            const char *ahead, unsigned arity, uint64_t width) {
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
            answers[i] = ISA(test)(array, now, i, arity, width);
        }
        for (size_t i = coming; i < ready; i++) answers[i] = ISA(test)(array, now, i, arity, width);
        digests += ready;
        answers += ready;
        ahead += 8 * ready;
        n -= ready;
        ready = coming;
    }
}

INLINE int ISA(query_one)(const struct array *array, uint64_t digest, unsigned arity, uint64_t width) {
    const uint64_t segment = array->layout[FUSE_SEGMENT], over = (uintptr_t)array->bytes & 63;
    struct fuse_key key = fuse_key_of(array->guide, array->layout[PARTS_BITS], digest);
    uint64_t sum = print_of(key, width);
    UNROLLED for (unsigned j = 0; j < arity; j++) sum ^=
        slot_at(array->bytes, load_of_place(key, j, segment, over, width), width);
    return (sum & ((UINT64_C(1) << width) - 1)) == 0;
}

#undef PREPARES_FOUR
