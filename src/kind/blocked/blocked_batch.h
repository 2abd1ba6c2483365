/*
 * The operations of the blocked filter, a template: blocked.c includes this once for each
 * instruction set, with ISA(name), TARGET and INLINE defined and lacks() and put() for one line;
 * and ALONE(name), if single queries are faster with another instruction set.
 *
 * In a batch, the cache lines and lanes of the keys of the next block are computed first, in loops
 * that the compiler turns into vector code. Then each step prefetches the cache line of a key of
 * the next block and tests that of a key of this block: a whole block of prefetches is under way at
 * any time, and no branch depends on an answer.
 *
 * Several arrays of one shape can be queried together: a key's lanes are the same in all of them.
 * `sweep`: prefetch the cache lines of a later span of keys at a steady rate.
 *
 * `two` (bits in each lane), `pair` (lines per key), `count` (of arrays), `task` and `reach` are
 * constants in each caller, so that the compiler makes a tight version of each operation for each
 * shape.
 */

struct ISA(block) {
    uint64_t b[2][BLOCK], c[2][BLOCK];
    uint32_t line[ARRAYS_AT_ONCE][2][BLOCK]; /* in each of the arrays */
};

#ifndef LINE_NUMBERS /* what an instruction set may have for many keys at a time */
#define LINE_NUMBERS ISA(line_numbers)
INLINE void ISA(line_numbers)(const uint64_t *restrict digests, size_t n, int which, uint32_t lines,
                              uint32_t *restrict numbers) {
    for (size_t i = 0; i < n; i++) numbers[i] = (uint32_t)mul_high_32(line_hash(digests[i], which), lines);
}
#endif

/* Not INLINE: the compiler knows better where that pays, and the library is smaller. */
TARGET static void ISA(prepare)(const struct array *arrays, unsigned count, const uint64_t *restrict digests, size_t n,
                                struct ISA(block) *restrict block, int two, int pair) {
    for (int which = 0; which <= pair; which++) {
        for (unsigned a = 0; a < count; a++)
            LINE_NUMBERS(digests, n, which, (uint32_t)(arrays[a].layout[BLOCKED_LINES] >> pair), block->line[a][which]);
        for (size_t i = 0; i < n; i++) block->b[which][i] = lanes_of(digests[i], which, 0);
        if (!two) continue;
        for (size_t i = 0; i < n; i++) block->c[which][i] = lanes_of(digests[i], which, 1);
    }
}

INLINE void ISA(prefetch)(const struct array *arrays, unsigned count, const struct ISA(block) * block, size_t i,
                          int pair, enum reach reach) {
    for (unsigned a = 0; a < count; a++)
        for (int which = 0; which <= pair; which++) {
            const uint8_t *line = place_of(&arrays[a], block->line[a][which][i], which);
            if (reach == NEAR) __builtin_prefetch(line, 0, 3);
            if (reach == FAR) __builtin_prefetch(line, 0, 2);
        }
}

/* Adds to a line to which other threads add too. Lanes that have their bits are left alone. Of
 * threads that add one key at the same time, each hears of the bits that it was the first to set:
 * at least one of them finds the key new. */
INLINE uint8_t ISA(put_shared)(uint8_t *line, uint64_t b, uint64_t c, int two) {
    uint64_t missing = 0;
    if (!ISA(lacks)(line, b, c, two)) return 0;
    for (int i = 0; i < 8; i++) missing |= shared_set64(line + 8 * i, lane_scalar(i, b, c, two));
    return missing != 0;
}

/* Does the task for a key's bits in one line; not 0 if one was missing. */
INLINE uint8_t ISA(visit)(uint8_t *line, uint64_t b, uint64_t c, int two, enum task task) {
    if (task == ADD) return ISA(put)(line, b, c, two);
    if (task == ADD_SHARED) return ISA(put_shared)(line, b, c, two);
    return ISA(lacks)(line, b, c, two);
}

/* Queries or adds key i; for each of the arrays not 0 if a bit of the key was missing. */
INLINE void ISA(step)(const struct array *arrays, unsigned count, const struct ISA(block) * block, size_t i, int two,
                      int pair, enum task task, struct blocked_sweep *sweep, uint8_t lacked[ARRAYS_AT_ONCE][BLOCK]) {
    for (unsigned a = 0; a < count; a++) {
        uint8_t some = 0;
        if (sweep) {
            __builtin_prefetch(sweep[a].at, 0, 2);
            sweep[a].at += sweep[a].step;
        }
        for (int which = 0; which <= pair; which++) {
            uint8_t *line = place_of(&arrays[a], block->line[a][which][i], which);
            uint64_t b = block->b[which][i], c = two ? block->c[which][i] : 0;
            some |= ISA(visit)(line, b, c, two, task);
        }
        lacked[a][i] = some;
    }
}

/* A key is in none of the arrays if each lacks a bit of it. */
INLINE void ISA(answer)(uint8_t lacked[ARRAYS_AT_ONCE][BLOCK], unsigned count, size_t n, uint8_t *answers,
                        enum task task) {
    for (unsigned a = 1; a < count; a++)
        for (size_t i = 0; i < n; i++) lacked[0][i] = lacked[0][i] < lacked[a][i] ? lacked[0][i] : lacked[a][i];
    for (size_t i = 0; i < n; i++) answers[i] = task == QUERY ? lacked[0][i] == 0 : lacked[0][i] != 0;
}

/* Works on copies of what describes the arrays, so that compilers see that no answer written
 * changes it. */
INLINE void ISA(many)(const struct array *const *described, unsigned count, const uint64_t *digests, size_t n,
                      uint8_t *answers, const char *ahead, int two, int pair, enum task task, enum reach reach,
                      struct blocked_sweep *sweep) {
    const size_t some = LINES_AT_A_TIME / count; /* keys of a step */
    const size_t length = reach == NEAR ? NEAR_BLOCK : BLOCK;
    struct array arrays[ARRAYS_AT_ONCE];
    struct ISA(block) blocks[2];
    uint8_t of_several[ARRAYS_AT_ONCE][BLOCK]; /* what they lack; for one array, in `answers` */
    size_t ready = n < length ? n : length;    /* keys of this block, prefetched already */
    for (unsigned a = 0; a < count; a++) arrays[a] = *described[a];
    ISA(prepare)(arrays, count, digests, ready, &blocks[0], two, pair);
    for (size_t i = 0; i < ready; i++) ISA(prefetch)(arrays, count, &blocks[0], i, pair, reach);
    for (int turn = 0; ready; turn ^= 1) {
        const struct ISA(block) *now = &blocks[turn], *next = &blocks[turn ^ 1];
        size_t coming = n - ready < length ? n - ready : length, i = 0;
        uint8_t(*lacked)[BLOCK] = count == 1 ? (void *)answers : of_several;
        ISA(prepare)(arrays, count, digests + ready, coming, &blocks[turn ^ 1], two, pair);
        for (; i + some <= coming; i += some) {
            if (count == 1) __builtin_prefetch(ahead + 8 * i, 0, 2);
            for (size_t j = i; j < i + some; j++) {
                ISA(prefetch)(arrays, count, next, j, pair, reach);
                ISA(step)(arrays, count, now, j, two, pair, task, sweep, lacked);
            }
        }
        for (; i < ready; i++) {
            if (i < coming) ISA(prefetch)(arrays, count, next, i, pair, reach);
            ISA(step)(arrays, count, now, i, two, pair, task, sweep, lacked);
        }
        ISA(answer)(lacked, count, ready, answers, task);
        digests += ready;
        answers += ready;
        ahead += 8 * ready;
        n -= ready;
        ready = coming;
    }
}

/* Next to the cost of shared words, a needless prefetch does not matter. */
INLINE void ISA(many_within)(const struct array *array, const uint64_t *digests, size_t n, uint8_t *answers,
                             const char *ahead, int two, int pair, enum task task) {
    enum reach reach = task == ADD_SHARED ? FAR : reach_of(array);
    if (reach == HERE)
        ISA(many)(&array, 1, digests, n, answers, ahead, two, pair, task, HERE, NULL);
    else if (reach == NEAR)
        ISA(many)(&array, 1, digests, n, answers, ahead, two, pair, task, NEAR, NULL);
    else
        ISA(many)(&array, 1, digests, n, answers, ahead, two, pair, task, FAR, NULL);
}

/* One key at a time: the same, without a pipeline. */
INLINE int ISA(one)(const struct array *array, uint64_t digest, int two, int pair, enum task task) {
    uint64_t lines = array->layout[BLOCKED_LINES] >> pair;
    uint8_t lacked = 0;
    for (int which = 0; which <= pair; which++) {
        uint8_t *line = place_of(array, mul_high(line_hash(digest, which), lines), which);
        uint64_t b = lanes_of(digest, which, 0), c = two ? lanes_of(digest, which, 1) : 0;
        lacked |= ISA(visit)(line, b, c, two, task);
    }
    return task == QUERY ? lacked == 0 : lacked != 0;
}

/* Several arrays of one line per key. */
INLINE void ISA(query_any)(const struct array *const arrays[ARRAYS_AT_ONCE], const uint64_t *digests, size_t n,
                           uint8_t *answers, const struct span *next, int two) {
    struct blocked_sweep sweep[ARRAYS_AT_ONCE];
    const char *ahead = (const char *)digests;
    for (unsigned a = 0; next && a < ARRAYS_AT_ONCE; a++) sweep[a] = sweep_over(arrays[a], next, n);
    if (next)
        ISA(many)(arrays, ARRAYS_AT_ONCE, digests, n, answers, ahead, two, 0, QUERY, HERE, sweep);
    else
        ISA(many)(arrays, ARRAYS_AT_ONCE, digests, n, answers, ahead, two, 0, QUERY, FAR, NULL);
}

#undef LINE_NUMBERS
