/*
 * The operations of the blocked filter, a template: blocked.c includes this once for each
 * instruction set, with ISA(name), TARGET and INLINE defined, and lacks() and put() for one line.
 *
 * A batch goes in parts. First the numbers of all cache lines of a part are computed, several at a
 * time where the instruction set can. Then each step prefetches the cache line of a later key and
 * tests that of this key: many prefetches are under way at any time, and no branch depends on an
 * answer.
 *
 * Several arrays of one shape can be queried together: a key's lanes are the same in all of them.
 * `sweep`: prefetch the cache lines of a later span of keys at a steady rate.
 *
 * `two` (bits in each lane), `pair` (lines per key), `count` (of arrays), `task` and `reach` are
 * constants in each caller, so that the compiler makes a tight version of each operation for each
 * shape.
 */

/* Where the lines of a key are; where `which` is 1, in the second half of the array. */
INLINE uint64_t ISA(offset_of)(uint64_t digest, int which, uint64_t lines, uint64_t half) {
    return mul_high(line_hash(digest, which), lines) * BLOCKED_LINE_BYTES + (which ? half : 0);
}

#ifndef FINDS_SOME /* an instruction set may find the lines of many keys at a time */
INLINE size_t ISA(find_some)(const uint64_t *digests, size_t n, int which, uint32_t lines, uint64_t begin,
                             uint64_t *offsets) {
    (void)digests, (void)n, (void)which, (void)lines, (void)begin, (void)offsets;
    return 0;
}
#endif

INLINE void ISA(find)(const struct array *array, const uint64_t *digests, size_t n, int which, int pair,
                      uint64_t *offsets) {
    uint64_t lines = array->layout[BLOCKED_LINES] >> pair;
    size_t done = ISA(find_some)(digests, n, which, (uint32_t)lines, which ? array->length / 2 : 0, offsets);
    for (size_t i = done; i < n; i++) offsets[i] = ISA(offset_of)(digests[i], which, lines, array->length / 2);
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

/* Does the task for key i of a part; not 0 if a bit of it was missing. */
INLINE uint8_t ISA(step)(const struct array *array, uint64_t at[2][PART], uint64_t digest, size_t i, int two, int pair,
                         enum task task) {
    uint8_t lacked = 0;
    for (int which = 0; which <= pair; which++) {
        uint64_t b = lanes_of(digest, which, 0), c = two ? lanes_of(digest, which, 1) : 0;
        lacked |= ISA(visit)(array->bytes + at[which][i], b, c, two, task);
    }
    return lacked;
}

/* From what keys lacked, to answers. */
TARGET static void ISA(answer)(uint8_t *lacked, size_t n, enum task task) {
    for (size_t i = 0; i < n; i++) lacked[i] = (lacked[i] == 0) == (task == QUERY);
}

INLINE void ISA(prefetch)(const struct array *array, uint64_t at[2][PART], size_t i, int pair, enum reach reach) {
    for (int which = 0; which <= pair; which++) {
        const uint8_t *line = array->bytes + at[which][i];
        if (reach == NEAR) __builtin_prefetch(line, 0, 3);
        if (reach == FAR) __builtin_prefetch(line, 0, 2);
    }
}

/* Works on a copy of what describes the array, so that compilers see that no answer written changes
 * it. */
INLINE void ISA(many)(const struct array *described, const uint64_t *digests, size_t n, uint8_t *answers,
                      const char *ahead, int two, int pair, enum task task, enum reach reach) {
    const struct array array = *described;
    const size_t distance = reach == HERE ? 0 : reach == NEAR ? NEAR_DISTANCE : FAR_DISTANCE;
    uint64_t at[2][PART];
    for (size_t part = 0; n; digests += part, answers += part, ahead += 8 * part, n -= part) {
        part = n < PART ? n : PART;
        for (int which = 0; which <= pair; which++) ISA(find)(&array, digests, part, which, pair, at[which]);
        size_t steady = part > distance ? part - distance : 0;
        for (size_t i = 0; i < part - steady; i++) ISA(prefetch)(&array, at, i, pair, reach);
        for (size_t i = 0; i < steady; i++) {
            __builtin_prefetch(ahead + 8 * i, 0, 2);
            ISA(prefetch)(&array, at, i + distance, pair, reach);
            if (reach == FAR) ISA(prefetch)(&array, at, i + SOON, pair, NEAR);
            answers[i] = ISA(step)(&array, at, digests[i], i, two, pair, task);
        }
        for (size_t i = steady; i < part; i++) answers[i] = ISA(step)(&array, at, digests[i], i, two, pair, task);
        ISA(answer)(answers, part, task);
    }
}

/* Next to the cost of shared words, a needless prefetch does not matter. */
INLINE void ISA(many_within)(const struct array *array, const uint64_t *digests, size_t n, uint8_t *answers,
                             const char *ahead, int two, int pair, enum task task) {
    enum reach reach = task == ADD_SHARED && PREFETCHES ? FAR : reach_of(array);
    if (reach == HERE)
        ISA(many)(array, digests, n, answers, ahead, two, pair, task, HERE);
    else if (reach == NEAR)
        ISA(many)(array, digests, n, answers, ahead, two, pair, task, NEAR);
    else
        ISA(many)(array, digests, n, answers, ahead, two, pair, task, FAR);
}

/* One key at a time: the same, without a pipeline. */
INLINE int ISA(one)(const struct array *array, uint64_t digest, int two, int pair, enum task task) {
    uint64_t lines = array->layout[BLOCKED_LINES] >> pair;
    uint8_t lacked = 0;
    for (int which = 0; which <= pair; which++) {
        uint8_t *line = array->bytes + ISA(offset_of)(digest, which, lines, array->length / 2);
        uint64_t b = lanes_of(digest, which, 0), c = two ? lanes_of(digest, which, 1) : 0;
        lacked |= ISA(visit)(line, b, c, two, task);
    }
    return task == QUERY ? lacked == 0 : lacked != 0;
}

/* Several arrays of one line per key. If `sweep` is not NULL, the lines of these keys are in the
 * cache, and those of later keys are prefetched at a steady rate. */
INLINE void ISA(query_arrays)(const struct array *const described[ARRAYS_AT_ONCE], const uint64_t *digests, size_t n,
                              uint8_t *answers, struct blocked_sweep *sweep, int two) {
    enum { KEYS = PART / ARRAYS_AT_ONCE, DISTANCE = FAR_DISTANCE / ARRAYS_AT_ONCE };
    struct array arrays[ARRAYS_AT_ONCE];
    uint64_t at[ARRAYS_AT_ONCE][KEYS];
    for (unsigned a = 0; a < ARRAYS_AT_ONCE; a++) arrays[a] = *described[a];
    for (size_t part = 0; n; digests += part, answers += part, n -= part) {
        part = n < KEYS ? n : KEYS;
        for (unsigned a = 0; a < ARRAYS_AT_ONCE; a++) ISA(find)(&arrays[a], digests, part, 0, 0, at[a]);
        for (size_t i = 0; i < part; i++) {
            uint64_t b = lanes_of(digests[i], 0, 0), c = two ? lanes_of(digests[i], 0, 1) : 0;
            uint8_t found = 0;
            for (unsigned a = 0; a < ARRAYS_AT_ONCE; a++) {
                if (sweep) {
                    __builtin_prefetch(sweep[a].at, 0, 2);
                    sweep[a].at += sweep[a].step;
                } else if (i + DISTANCE < part) {
                    __builtin_prefetch(arrays[a].bytes + at[a][i + DISTANCE], 0, 2);
                }
                found |= ISA(lacks)(arrays[a].bytes + at[a][i], b, c, two) == 0;
            }
            answers[i] = found;
        }
    }
}

INLINE void ISA(query_any)(const struct array *const arrays[ARRAYS_AT_ONCE], const uint64_t *digests, size_t n,
                           uint8_t *answers, const struct span *next, int two) {
    struct blocked_sweep sweep[ARRAYS_AT_ONCE];
    for (unsigned a = 0; next && a < ARRAYS_AT_ONCE; a++) sweep[a] = sweep_over(arrays[a], next, n);
    if (next)
        ISA(query_arrays)(arrays, digests, n, answers, sweep, two);
    else
        ISA(query_arrays)(arrays, digests, n, answers, NULL, two);
}

#undef FINDS_SOME
