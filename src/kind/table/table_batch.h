/*
 * The operations of the table, a template: table.c includes this once for each instruction set,
 * with ISA(name), TARGET and INLINE defined and matches() for one bucket.
 *
 * In a batch, the buckets of the next BLOCK keys are computed first. Then each step prefetches the
 * buckets of a key of the next block and works on a key of this block: prefetches are under way at
 * any time, and no branch depends on an answer. `adding` and `far` are constants in each caller.
 */

struct ISA(block) {
    uint64_t a[BLOCK], b[BLOCK];
};

/* The buckets of n digests; an instruction set may have its own way for tables of less than 2^32
 * buckets. */
INLINE void ISA(find_buckets)(const uint64_t *restrict digests, size_t n, uint64_t buckets, uint64_t *restrict a,
                              uint64_t *restrict b) {
#ifdef PAIRS
    if (buckets <= UINT32_MAX) {
        PAIRS(digests, n, buckets, a, b);
        return;
    }
#endif
    for (size_t i = 0; i < n; i++) {
        struct pair pair = buckets_of(digests[i], buckets);
        a[i] = pair.a;
        b[i] = pair.b;
    }
}

/* Into the second-level cache, which can wait for more lines at a time than the first. */
INLINE void ISA(prefetch_pair)(const struct array *array, uint64_t a, uint64_t b) {
    __builtin_prefetch(bucket_at(array, a), 0, 2);
    __builtin_prefetch(bucket_at(array, b), 0, 2);
}

#ifndef EITHER /* an instruction set may have a shorter way */
INLINE int ISA(either)(const uint8_t *first, const uint8_t *second, uint64_t word) {
    return (ISA(matches)(first, word) | ISA(matches)(second, word)) != 0;
}
#endif

INLINE int ISA(holds)(const struct array *array, uint64_t digest, uint64_t a, uint64_t b, int zero) {
    int found = ISA(either)(bucket_at(array, a), bucket_at(array, b), digest);
    return digest ? found : zero;
}

/*
 * Making room when both buckets are full: a search, level by level, for the shortest way to a free
 * slot. The buckets that it has reached are numbered:
 *
 *     0, 1               the two buckets of the new digest
 *     2 + 8p + s         the other bucket of the digest in slot s of the bucket with number p
 *
 * so the number alone tells the way back. Nothing moves before a free slot is found, so there is
 * nothing to take back when there is none. A shortest way never comes to the same slot twice: every
 * digest on it moves to its own other bucket.
 */
struct ISA(search) {
    uint64_t reached[2 + TABLE_SLOTS * SEARCHED];
};

/* Numbers the eight buckets that can be reached from bucket number p, and prefetches them. */
INLINE void ISA(spread)(const struct array *array, struct ISA(search) * search, unsigned p) {
    uint64_t digests[TABLE_SLOTS], a[TABLE_SLOTS], b[TABLE_SLOTS], here = search->reached[p];
    uint64_t *reached = search->reached + 2 + TABLE_SLOTS * p;
    for (int s = 0; s < TABLE_SLOTS; s++) digests[s] = load64(bucket_at(array, here) + 8 * s);
    ISA(find_buckets)(digests, TABLE_SLOTS, array->layout[TABLE_BUCKETS], a, b);
    for (int s = 0; s < TABLE_SLOTS; s++) {
        reached[s] = a[s] == here ? b[s] : a[s];
        __builtin_prefetch(bucket_at(array, reached[s]), 0, 3);
    }
}

/* Moves the digests on the way to a free slot of bucket number i, the last one first, and puts the
 * new one in. */
INLINE void ISA(move_along)(const struct array *array, const struct ISA(search) * search, unsigned i, unsigned slot,
                            uint64_t digest) {
    uint8_t *hole = bucket_at(array, search->reached[i]) + 8 * slot;
    while (i >= 2) {
        uint8_t *from = bucket_at(array, search->reached[(i - 2) / TABLE_SLOTS]) + 8 * ((i - 2) % TABLE_SLOTS);
        store64(hole, load64(from));
        hole = from;
        i = (i - 2) / TABLE_SLOTS;
    }
    store64(hole, digest);
}

/* The number of the nearest bucket with a free slot, and that slot; 0 if there is none. */
INLINE unsigned ISA(find_room)(const struct array *array, struct ISA(search) * search, uint64_t a, uint64_t b,
                               unsigned *slot) {
    search->reached[0] = a;
    search->reached[1] = b;
    for (unsigned p = 0, i = 2; p < SEARCHED; p++) {
        ISA(spread)(array, search, p);
        for (unsigned end = i + TABLE_SLOTS; i < end; i++) {
            unsigned empty = ISA(matches)(bucket_at(array, search->reached[i]), 0);
            if (!empty) continue;
            *slot = (unsigned)__builtin_ctz(empty);
            return i;
        }
    }
    return 0;
}

/* Kept out of the way of those that find a free slot at once. 1 or FULL. */
TARGET static __attribute__((noinline)) int ISA(make_room)(const struct array *array, uint64_t digest, uint64_t a,
                                                           uint64_t b) {
    struct ISA(search) search;
    unsigned slot, i = ISA(find_room)(array, &search, a, b, &slot);
    if (!i) return FULL;
    ISA(move_along)(array, &search, i, slot, digest);
    return 1;
}

/* Adds a digest to the emptier of its buckets. By I3 the one with more empty slots has the larger
 * mask of them. What is there already is written once more, to nowhere: picked from two addresses,
 * because compilers make a branch of a plain choice. */
INLINE int ISA(put)(const struct array *array, uint64_t digest, uint64_t a, uint64_t b) {
    uint8_t *first = bucket_at(array, a), *second = bucket_at(array, b), nowhere[8];
    if (__builtin_expect(digest == 0, 0)) return add_zero(array);
    int found = ISA(either)(first, second, digest);
    unsigned empty_first = ISA(matches)(first, 0), empty_second = ISA(matches)(second, 0);
    unsigned empty = empty_second > empty_first ? empty_second : empty_first;
    if (__builtin_expect(!empty, 0)) return found ? 0 : ISA(make_room)(array, digest, a, b);
    uint8_t *bucket = empty_second > empty_first ? second : first;
    uint8_t *const places[2] = {bucket + 8 * __builtin_ctz(empty), nowhere};
    store64(places[found], digest);
    return !found;
}

/* Queries or adds key i of a block. */
INLINE int ISA(step)(const struct array *array, const uint64_t *digests, const struct ISA(block) * block, size_t i,
                     int zero, int adding) {
    if (adding) return ISA(put)(array, digests[i], block->a[i], block->b[i]);
    return ISA(holds)(array, digests[i], block->a[i], block->b[i], zero);
}

/* The number of keys done: all, unless the table was full. */
INLINE size_t ISA(many)(const struct array *array, const uint64_t *digests, size_t n, uint8_t *answers,
                        const char *ahead, int adding, int far) {
    struct ISA(block) blocks[2];
    int zero = contains_zero(array);
    size_t ready = n < BLOCK ? n : BLOCK; /* keys of this block, whose buckets are on their way */
    ISA(find_buckets)(digests, ready, array->layout[TABLE_BUCKETS], blocks[0].a, blocks[0].b);
    for (size_t i = 0; far && i < ready; i++) ISA(prefetch_pair)(array, blocks[0].a[i], blocks[0].b[i]);
    for (size_t done = 0, turn = 0; done < n; turn ^= 1) {
        struct ISA(block) *now = &blocks[turn], *next = &blocks[turn ^ 1];
        size_t rest = n - done - ready, coming = rest < BLOCK ? rest : BLOCK;
        ISA(find_buckets)(digests + done + ready, coming, array->layout[TABLE_BUCKETS], next->a, next->b);
        for (size_t i = 0; i < ready; i++) {
            if (i % 8 == 0) __builtin_prefetch(ahead + 8 * (done + i), 0, 2);
            if (far && i < coming) ISA(prefetch_pair)(array, next->a[i], next->b[i]);
            int answer = ISA(step)(array, digests + done, now, i, zero, adding);
            if (adding && __builtin_expect(answer == FULL, 0)) return done + i;
            answers[done + i] = (uint8_t)answer;
        }
        done += ready;
        ready = coming;
    }
    return n;
}

INLINE size_t ISA(near_or_far)(const struct array *array, const uint64_t *digests, size_t n, uint8_t *answers,
                               const char *ahead, int adding) {
    return is_near(array) ? ISA(many)(array, digests, n, answers, ahead, adding, 0)
                          : ISA(many)(array, digests, n, answers, ahead, adding, 1);
}

INLINE int ISA(add_one)(const struct array *array, uint64_t digest) {
    struct pair pair = buckets_of(digest, array->layout[TABLE_BUCKETS]);
    return ISA(put)(array, digest, pair.a, pair.b);
}

INLINE int ISA(query_one)(const struct array *array, uint64_t digest) {
    struct pair pair = buckets_of(digest, array->layout[TABLE_BUCKETS]);
    return ISA(holds)(array, digest, pair.a, pair.b, contains_zero(array));
}

/* Empties a slot; the last digest of the bucket moves into it, to keep I3. */
INLINE void ISA(take_out)(uint8_t *bucket, unsigned slot) {
    unsigned in_use = ~ISA(matches)(bucket, 0) & 0xff, last = 31 - (unsigned)__builtin_clz(in_use);
    store64(bucket + 8 * slot, load64(bucket + 8 * last));
    store64(bucket + 8 * last, 0);
}

INLINE int ISA(remove_one)(const struct array *array, uint64_t digest) {
    if (digest == 0) return remove_zero(array);
    struct pair pair = buckets_of(digest, array->layout[TABLE_BUCKETS]);
    uint8_t *first = bucket_at(array, pair.a), *second = bucket_at(array, pair.b);
    unsigned in_first = ISA(matches)(first, digest), in_second = ISA(matches)(second, digest);
    if (!(in_first | in_second)) return 0;
    ISA(take_out)(in_first ? first : second, (unsigned)__builtin_ctz(in_first ? in_first : in_second));
    return 1;
}

/* ---- growing ---- */

/* All digests in the buckets of one table into a larger, empty one: each into its first bucket if
 * it can be. That is a cache line less than for adding, and since first buckets are in the order of
 * digests, the half of them that stand in theirs are poured from one end to the other. False if one
 * finds no place. */
TARGET static bool ISA(pour)(struct array *into, const struct array *from) {
    enum { EARLY = 24 };
    uint64_t slots = from->layout[TABLE_BUCKETS] * TABLE_SLOTS, buckets = into->layout[TABLE_BUCKETS];
    for (uint64_t at = 0; at < slots; at++) {
        uint64_t digest = load64(from->bytes + 8 * at);
        if (at + EARLY < slots)
            __builtin_prefetch(bucket_at(into, mul_high(load64(from->bytes + 8 * (at + EARLY)), buckets)), 1, 3);
        if (!digest) continue;
        uint8_t *first = bucket_at(into, mul_high(digest, buckets));
        unsigned empty = ISA(matches)(first, 0);
        if (empty)
            store64(first + 8 * __builtin_ctz(empty), digest);
        else if (table_add_stash(into, (struct digest){digest, 0}) == FULL)
            return false;
    }
    return true;
}

#undef PAIRS
#undef EITHER
