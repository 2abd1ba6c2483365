/*
 * The operations of the blocked filter, a template: blocked.c includes this once for each instruction set, with
 * ISA(name) and TARGET defined and has() and put() for one line.
 *
 * In a batch, the lines and lanes of the next BLOCK keys are worked out first, in loops that the compiler turns into
 * vector code. Then each step fetches the line of a key of the next block and tests that of a key of this block: BLOCK
 * fetches are under way at any time, and no branch depends on an answer.
 *
 * `two` (bits in each lane) and `pair` (lines per key) are constants in each caller, so that the compiler makes four
 * tight versions of each loop.
 */

struct ISA(block) {
    uint32_t line[2][BLOCK];
    uint64_t b[2][BLOCK], c[2][BLOCK];
};

TARGET static inline __attribute__((always_inline)) void ISA(prepare)(const struct array *array,
                                                                      const uint64_t *restrict digests, size_t n,
                                                                      struct ISA(block) *restrict block, int two,
                                                                      int pair) {
    uint32_t lines = (uint32_t)(array->layout[LINES] >> pair);
    for (int which = 0; which <= pair; which++) {
        for (size_t i = 0; i < n; i++) block->line[which][i] = line_of(digests[i], which, lines);
        for (size_t i = 0; i < n; i++) block->b[which][i] = lanes_of(digests[i], which, 0);
        if (!two) continue;
        for (size_t i = 0; i < n; i++) block->c[which][i] = lanes_of(digests[i], which, 1);
    }
}

/* Where line i of the key's first (or second) half is. */
static inline uint8_t *ISA(place)(const struct array *array, uint32_t line, int which) {
    return array->bytes + (uint64_t)line * LINE_BYTES + (which ? array->length / 2 : 0);
}

TARGET static inline __attribute__((always_inline)) unsigned
ISA(step)(const struct array *array, const struct ISA(block) * block, size_t i, int two, int pair, int adding) {
    unsigned had = 1;
    for (int which = 0; which <= pair; which++) {
        uint8_t *line = ISA(place)(array, block->line[which][i], which);
        uint64_t b = block->b[which][i], c = two ? block->c[which][i] : 0;
        had &= adding ? ISA(put)(line, b, c, two) : ISA(has)(line, b, c, two);
    }
    return had ^ (unsigned)adding;
}

TARGET static inline __attribute__((always_inline)) void
ISA(fetch)(const struct array *array, const struct ISA(block) * block, size_t i, int pair, int adding) {
    for (int which = 0; which <= pair; which++) {
        const uint8_t *line = ISA(place)(array, block->line[which][i], which);
        if (adding)
            __builtin_prefetch(line, 1);
        else
            __builtin_prefetch(line, 0);
    }
}

TARGET static inline __attribute__((always_inline)) void ISA(many)(const struct array *array, const uint64_t *digests,
                                                                   size_t n, uint8_t *answers, int two, int pair,
                                                                   int adding) {
    struct ISA(block) blocks[2];
    const struct ISA(block) *now = &blocks[1];
    size_t before = 0; /* keys in `now` */
    for (size_t done = 0, turn = 0; done < n || before; turn ^= 1) {
        struct ISA(block) *next = &blocks[turn];
        size_t count = n - done < BLOCK ? n - done : BLOCK;
        ISA(prepare)(array, digests + done, count, next, two, pair);
        size_t both = before < count ? before : count;
        for (size_t i = 0; i < both; i++) {
            ISA(fetch)(array, next, i, pair, adding);
            *answers++ = (uint8_t)ISA(step)(array, now, i, two, pair, adding);
        }
        for (size_t i = both; i < count; i++) ISA(fetch)(array, next, i, pair, adding);
        for (size_t i = both; i < before; i++) *answers++ = (uint8_t)ISA(step)(array, now, i, two, pair, adding);
        now = next;
        before = count;
        done += count;
    }
}

TARGET static inline __attribute__((always_inline)) void
ISA(many_of_shape)(const struct array *array, const uint64_t *digests, size_t n, uint8_t *answers, int adding) {
    int shape = (array->layout[LINES_PER_KEY] == 2) * 2 + (array->layout[BITS_PER_LINE] == 16);
    switch (shape) {
    case 0:
        ISA(many)(array, digests, n, answers, 0, 0, adding);
        break;
    case 1:
        ISA(many)(array, digests, n, answers, 1, 0, adding);
        break;
    case 2:
        ISA(many)(array, digests, n, answers, 0, 1, adding);
        break;
    default:
        ISA(many)(array, digests, n, answers, 1, 1, adding);
    }
}

TARGET static void ISA(contains_many)(const struct array *array, const uint64_t *digests, size_t n, uint8_t *answers) {
    ISA(many_of_shape)(array, digests, n, answers, 0);
}

TARGET static void ISA(add_many)(struct array *array, const uint64_t *digests, size_t n, uint8_t *answers) {
    ISA(many_of_shape)(array, digests, n, answers, 1);
}

/* One key at a time: the same, without a pipeline. */
TARGET static inline __attribute__((always_inline)) unsigned ISA(single)(const struct array *array, uint64_t digest,
                                                                         int adding) {
    int two = array->layout[BITS_PER_LINE] == 16, pair = array->layout[LINES_PER_KEY] == 2;
    uint32_t lines = (uint32_t)(array->layout[LINES] >> pair);
    unsigned had = 1;
    for (int which = 0; which <= pair; which++) {
        uint8_t *line = ISA(place)(array, line_of(digest, which, lines), which);
        uint64_t b = lanes_of(digest, which, 0);
        if (two) {
            uint64_t c = lanes_of(digest, which, 1);
            had &= adding ? ISA(put)(line, b, c, 1) : ISA(has)(line, b, c, 1);
        } else {
            had &= adding ? ISA(put)(line, b, 0, 0) : ISA(has)(line, b, 0, 0);
        }
    }
    return had ^ (unsigned)adding;
}

TARGET static int ISA(contains)(const struct array *array, const uint64_t *digest) {
    return (int)ISA(single)(array, *digest, 0);
}

TARGET static int ISA(add)(struct array *array, const uint64_t *digest) {
    return (int)ISA(single)(array, *digest, 1);
}

static const struct kind_ops ISA(ops) = {ISA(add), ISA(contains), ISA(add_many), ISA(contains_many)};
