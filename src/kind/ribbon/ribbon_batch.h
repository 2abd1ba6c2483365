/*
 * Queries of a ribbon filter, a template: ribbon.c includes this once for each instruction set,
 * with ISA(name), TARGET, INLINE and differs() defined.
 *
 * A block of keys is hashed in loops that the compiler turns into vector code. The thresholds,
 * which are few enough to be in the cache, say which keys were bumped; for those the further levels
 * are searched at once. So each key's words are known, and prefetched, a block ahead.
 *
 * `most` is a constant in each caller: no key has more columns.
 */

#ifndef FIND /* what an instruction set may have for many keys at a time */
#define FIND ISA(find)
INLINE void ISA(find)(const struct array *array, struct ribbon_block *block, size_t n) {
    uint64_t bits = array->layout[PARTS_BITS];
    for (size_t i = 0; i < n; i++) {
        const struct ribbon_level *at = level_of(array, part_of(block->key[i], bits), 0);
        uint64_t start = mul_high_32(place_in_part(block->key[i], bits), at->starts);
        if (__builtin_expect(!at->starts || is_bumped(array, at, start), 0))
            find_further(array, block, i);
        else
            put_spot(block, i, spot_in(array, at, start, block->rows[i], block->print[i]));
    }
}
#endif

INLINE void ISA(prepare)(const struct array *array, const uint64_t *restrict digests, size_t n,
                         struct ribbon_block *restrict block) {
    memcpy(block->key, digests, n * sizeof *digests);
    for (size_t i = 0; i < n; i++) block->rows[i] = ribbon_rows(digests[i]);
    for (size_t i = 0; i < n; i++) block->print[i] = ribbon_print(digests[i]);
    FIND(array, block, n);
}

INLINE uint8_t ISA(query)(const struct ribbon_block *block, size_t i, unsigned most) {
    return !ISA(differs)(block->words[i], block->here[i], block->next[i], (unsigned)block->columns[i], block->print[i],
                         most);
}

INLINE void ISA(query_many)(const struct array *given, const uint64_t *digests, size_t n, uint8_t *answers,
                            const char *ahead, unsigned most) {
    struct ribbon_block blocks[2];
    const struct array copy = *given, *array = &copy; /* stores to answers cannot alias it */
    size_t ready = n < BLOCK ? n : BLOCK;
    unsigned last = 16 * ribbon_columns_max(array->layout) - 8; /* of a key's words, in bytes */
    ISA(prepare)(array, digests, ready, &blocks[0]);
    for (size_t i = 0; i < ready; i++) prefetch_words(blocks[0].words[i], last);
    for (int turn = 0; ready; turn ^= 1) {
        const struct ribbon_block *now = &blocks[turn], *next = &blocks[turn ^ 1];
        size_t coming = n - ready < BLOCK ? n - ready : BLOCK;
        ISA(prepare)(array, digests + ready, coming, &blocks[turn ^ 1]);
        for (size_t i = 0; i < coming; i++) {
            if (i % 8 == 0) __builtin_prefetch(ahead + 8 * i, 0, 2);
            prefetch_words(next->words[i], last);
            answers[i] = ISA(query)(now, i, most);
        }
        for (size_t i = coming; i < ready; i++) answers[i] = ISA(query)(now, i, most);
        digests += ready;
        answers += ready;
        ahead += 8 * ready;
        n -= ready;
        ready = coming;
    }
}

#undef FIND
