/*
 * The loops of multi_block.c, included once for each block size and instruction set, with these
 * defined:
 *
 *     LOOP_TARGET       the attribute that selects the instruction set
 *     LOOP_NAME(name)   the name with the set's ending
 *     LOOP_BYTES        in a block
 *     LOOP_TEST         a function (block, hash): are all bits of the hash set?
 *     LOOP_SET          a function (block, hash) that sets them
 *
 * In bulk, the blocks of 64 keys are prefetched while those of the 64 keys before are tested.
 */

static LOOP_TARGET void LOOP_NAME(contains)(struct rival_filter *r, const uint64_t *keys, size_t n, uint8_t *answers) {
    const struct rival_filter filter = *r;
    for (size_t i = 0; i < n; i++) {
        struct block_place place = prefetched_place_of(&filter, keys[i], LOOP_BYTES);
        answers[i] = (uint8_t)LOOP_TEST(place.block, place.hash);
    }
}

static LOOP_TARGET void LOOP_NAME(add)(struct rival_filter *r, const uint64_t *keys, size_t n, uint8_t *answers) {
    const struct rival_filter filter = *r;
    (void)answers;
    for (size_t i = 0; i < n; i++) {
        struct block_place place = place_of(&filter, keys[i], LOOP_BYTES);
        LOOP_SET(place.block, place.hash);
    }
}

static LOOP_TARGET void LOOP_NAME(contains_many)(struct rival_filter *r, const uint64_t *keys, size_t n,
                                                 uint8_t *answers) {
    const struct rival_filter filter = *r;
    struct block_place places[BULK];
    if (n >= BULK)
        for (size_t i = 0; i < BULK; i++) places[i] = prefetched_place_of(&filter, keys[i], LOOP_BYTES);
    for (; n >= 2 * BULK; n -= BULK, keys += BULK, answers += BULK)
        for (size_t i = 0; i < BULK; i++) {
            struct block_place due = places[i];
            places[i] = prefetched_place_of(&filter, keys[BULK + i], LOOP_BYTES);
            answers[i] = (uint8_t)LOOP_TEST(due.block, due.hash);
        }
    LOOP_NAME(contains)(r, keys, n, answers);
}

static LOOP_TARGET void LOOP_NAME(add_many)(struct rival_filter *r, const uint64_t *keys, size_t n, uint8_t *answers) {
    const struct rival_filter filter = *r;
    struct block_place places[BULK];
    if (n >= BULK)
        for (size_t i = 0; i < BULK; i++) places[i] = prefetched_place_of(&filter, keys[i], LOOP_BYTES);
    for (; n >= 2 * BULK; n -= BULK, keys += BULK)
        for (size_t i = 0; i < BULK; i++) {
            struct block_place due = places[i];
            places[i] = prefetched_place_of(&filter, keys[BULK + i], LOOP_BYTES);
            LOOP_SET(due.block, due.hash);
        }
    LOOP_NAME(add)(r, keys, n, answers);
}

#undef LOOP_TARGET
#undef LOOP_NAME
#undef LOOP_BYTES
#undef LOOP_TEST
#undef LOOP_SET
