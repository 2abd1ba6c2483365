/*
 * Batches of the cuckoo filter; a part of cuckoo.c.
 *
 * The fingerprints and homes of many keys are computed together, eight at a time with AVX-512 and
 * four with AVX2, and their windows are prefetched. Keys that are added go in blocks, each through
 * four stages:
 *
 *     coming   its windows are prefetched
 *     next     an empty slot is noted; without one, the other homes of the keys in the window are
 *              prefetched
 *     after    without an empty slot, the first step of a search is made, and noted if it is enough
 *     here     the keys are added, as noted
 *
 * A noted slot may be taken meanwhile, but no slot that the key would prefer can become empty: if
 * it is still free, a single call would take it too. The same holds for a step of a search as long
 * as the key's places hold the same keys. In all other cases the key is added as by a single call.
 */

enum { BLOCK = 32, STAGES = 4 };

struct block {
    size_t n; /* keys */
    uint64_t fingerprint[BLOCK];
    uint64_t home[CUCKOO_CHOICES_MAX][BLOCK];
    uint64_t slot[BLOCK];     /* the empty one that a key would take, or NO_SLOT */
    uint64_t code[BLOCK];     /* what would stand there */
    unsigned crowded;         /* keys with NO_SLOT: how many, */
    uint8_t which[BLOCK + 1]; /* which ones, */
    struct push push[BLOCK];  /* and what makes room for them */
};

/* A batch of queries goes in parts. First the windows of all keys of a part are found; then each
 * step prefetches those of a later key and tests those of this one. The distance is in keys. */
enum { PART = 512, FAR_DISTANCE = 64 };

/* Where the windows of a key are: their words' bytes, and in the lower 6 bits how far to shift. */
struct windows {
    uint64_t at[CUCKOO_CHOICES_MAX][PART];
    uint64_t code[PART];
};

#if defined(__x86_64__)
#include "kind/cuckoo/cuckoo_avx2.h"
#include "kind/cuckoo/cuckoo_avx512.h"
#endif

/* `isa` is a constant in each caller. */
INLINE void prepare(const struct array *a, const uint64_t *restrict digests, size_t n, struct block *restrict block,
                    uint64_t places, enum isa isa) {
#if defined(__x86_64__)
    if (isa == ISA_AVX512) {
        for (size_t i = 0; i < n; i += 8) prepare_eight(a, digests + i, n - i, block, i, places);
        return;
    }
    size_t done = isa == ISA_AVX2 ? n & ~(size_t)3 : 0;
    for (size_t i = 0; i < done; i += 4) prepare_four(a, digests + i, block, i, places);
#else
    const size_t done = 0;
    (void)isa;
#endif
    for (size_t i = done; i < n; i++) {
        struct places all = places_of(a, key_of(a, digests[i]), places);
        block->fingerprint[i] = all.fingerprint;
        UNROLLED for (uint64_t choice = 0; choice < choices_of(places); choice++) block->home[choice][i] =
            all.home[choice];
    }
}

INLINE struct places block_places(const struct block *block, size_t i, uint64_t places) {
    struct places all = {.fingerprint = block->fingerprint[i]};
    UNROLLED for (uint64_t choice = 0; choice < choices_of(places); choice++) all.home[choice] = block->home[choice][i];
    return all;
}

INLINE size_t smaller(size_t a, size_t b) {
    return a < b ? a : b;
}

/* Prefetches the windows of the eight keys from i on, or of those that there are. */
INLINE void prefetch_some(const struct array *a, const struct block *block, size_t i, size_t n, uint64_t places) {
    for (size_t j = i; j < smaller(i + 8, n); j++) {
        UNROLLED for (uint64_t choice = 0; choice < choices_of(places); choice++)
            prefetch_home(a, block->home[choice][j]);
    }
}

/* ---- queries ---- */

INLINE void find_one(const struct array *a, uint64_t digest, size_t i, struct windows *out, uint64_t places) {
    struct places all = places_of(a, key_of(a, digest), places);
    out->code[i] = code_of(all.fingerprint, places);
    UNROLLED for (uint64_t choice = 0; choice < choices_of(places); choice++) {
        struct slot_word word = window_word(a, all.home[choice], choice);
        out->at[choice][i] = word.byte << 6 | word.shift;
    }
}

INLINE void find(const struct array *a, const uint64_t *digests, size_t n, struct windows *out, uint64_t places,
                 enum isa isa) {
    size_t i = 0;
#if defined(__x86_64__)
    if (isa == ISA_AVX512)
        for (; i + 8 <= n; i += 8) find_eight(a, digests + i, i, out, places);
    if (isa != ISA_SCALAR)
        for (; i + 4 <= n; i += 4) find_four(a, digests + i, i, out, places);
#endif
    (void)isa;
    for (; i < n; i++) find_one(a, digests[i], i, out, places);
}

INLINE uint8_t test(const struct array *a, const struct windows *windows, size_t i, uint64_t places) {
    uint64_t found = 0;
    UNROLLED for (uint64_t choice = 0; choice < choices_of(places); choice++) {
        uint64_t at = windows->at[choice][i], window = load64(a->bytes + (at >> 6)) >> (at & 63);
        found |= zeros_of(a, window ^ copies_of(a, windows->code[i], choice, places), choice);
    }
    return found != 0;
}

/* Tests the eight keys from i on, or those of them that there are. */
INLINE void test_some(const struct array *a, const struct windows *windows, size_t i, size_t n, uint8_t *answers,
                      uint64_t places, enum isa isa) {
#if defined(__x86_64__)
    if (isa == ISA_AVX512 && i + 8 <= n) {
        store64(answers + i, test_eight(a, windows, i, places));
        return;
    }
    if (isa == ISA_AVX2 && i + 8 <= n) {
        store32(answers + i, test_four(a, windows, i, places));
        store32(answers + i + 4, test_four(a, windows, i + 4, places));
        return;
    }
#endif
    (void)isa;
    for (size_t j = i; j < smaller(i + 8, n); j++) answers[j] = test(a, windows, j, places);
}

INLINE void prefetch_windows(const struct array *a, const struct windows *windows, size_t i, size_t end,
                             uint64_t places) {
    for (; i < end; i++) {
        UNROLLED for (uint64_t choice = 0; choice < choices_of(places); choice++)
            __builtin_prefetch(a->bytes + (windows->at[choice][i] >> 6), 0, 2);
    }
}

/* No prefetches in the cache: out-of-order execution looks far enough ahead. */
INLINE void query_part(const struct array *a, const struct windows *windows, size_t n, uint8_t *answers,
                       const char *ahead, bool far, uint64_t places, enum isa isa) {
    if (far) prefetch_windows(a, windows, 0, smaller(n, FAR_DISTANCE), places);
    for (size_t i = 0; i < n; i += 8) {
        if (far) {
            __builtin_prefetch(ahead + 8 * i, 0, 2);
            prefetch_windows(a, windows, i + FAR_DISTANCE, smaller(i + FAR_DISTANCE + 8, n), places);
        }
        test_some(a, windows, i, n, answers, places, isa);
    }
}

INLINE void query_many(const struct array *array, const uint64_t *digests, size_t n, uint8_t *answers,
                       const char *ahead, uint64_t places, enum isa isa) {
    const struct array copy = *array, *a = &copy; /* stores to answers cannot alias it */
    struct windows windows;
    for (size_t from = 0; from < n; from += PART) {
        size_t part = smaller(n - from, PART);
        find(a, digests + from, part, &windows, places, isa);
        if (is_near(a))
            query_part(a, &windows, part, answers + from, ahead, false, places, isa);
        else
            query_part(a, &windows, part, answers + from, ahead + 8 * from, true, places, isa);
    }
    if (!stash_placeless(stash_of(a))) return;
    for (size_t i = 0; i < n; i++) {
        struct key key = key_of(a, digests[i]);
        if (!answers[i]) answers[i] = is_placeless(a, key.home, key.fingerprint);
    }
}

/* ---- adding ---- */

INLINE void look_at_one(const struct array *a, struct block *block, size_t i, uint64_t places) {
    struct places all = block_places(block, i, places);
    struct opening opening = opening_of(a, &all, places);
    block->slot[i] = opening.slot;
    block->code[i] = opening.code;
}

INLINE void prefetch_others(const struct array *a, const struct block *block, size_t i, uint64_t places) {
    struct places all = block_places(block, i, places);
    UNROLLED for (uint64_t place = 0; place < places; place++) {
        uint64_t slot = slot_at(&all, place, places);
        prefetch_home(a, other_home(a, slot, slot_get(a->bytes, slot, width_of(a)), places));
    }
}

/* Looks at the places of eight keys from i on, or of as many as there are. */
INLINE void look_at_some(const struct array *a, struct block *block, size_t i, uint64_t places, enum isa isa) {
    size_t end = smaller(i + 8, block->n);
    unsigned crowded = block->crowded;
#if defined(__x86_64__)
    if (isa == ISA_AVX512 && end == i + 8) {
        unsigned full = look_at_eight(a, block, i, places);
        for (; full; full &= full - 1) block->which[crowded++] = (uint8_t)(i + (unsigned)__builtin_ctz(full));
        block->crowded = crowded;
        return;
    }
#endif
    (void)isa;
    for (size_t j = i; j < end; j++) {
        look_at_one(a, block, j, places);
        block->which[crowded] = (uint8_t)j;
        crowded += block->slot[j] == NO_SLOT;
    }
    block->crowded = crowded;
}

/* Two at a time; an odd one is its own neighbour. */
INLINE size_t neighbour_of(const struct block *block, unsigned i) {
    return block->which[i + 1 < block->crowded ? i + 1 : i];
}

INLINE void prefetch_crowded(const struct array *a, const struct block *block, uint64_t places, enum isa isa) {
#if defined(__x86_64__)
    if (isa == ISA_AVX512 && places == 4) {
        for (unsigned i = 0; i < block->crowded; i += 2)
            prefetch_others_of_two(a, block, block->which[i], neighbour_of(block, i));
        return;
    }
#endif
    (void)isa;
    for (unsigned i = 0; i < block->crowded; i++) prefetch_others(a, block, block->which[i], places);
}

INLINE void find_pushes(const struct array *a, struct block *block, uint64_t places, enum isa isa) {
#if defined(__x86_64__)
    if (isa == ISA_AVX512 && places == 4) {
        for (unsigned i = 0; i < block->crowded; i += 2)
            find_two_pushes(a, block, block->which[i], neighbour_of(block, i));
        return;
    }
#endif
    for (unsigned i = 0; i < block->crowded; i++) {
        struct places all = block_places(block, block->which[i], places);
        find_push(a, &all, &block->push[block->which[i]], places, isa);
    }
}

/* Adds key i of a block: as noted, if that still holds; else as a single call would. */
INLINE int add_one(struct array *a, const struct block *block, size_t i, uint64_t places, enum isa isa) {
    uint64_t slot = block->slot[i];
    bool simple = stash_entries(stash_of(a)) == 0 && slot != NO_SLOT;
    if (__builtin_expect(simple, 1) && slot_fill(a->bytes, slot, width_of(a), block->code[i])) return 1;
    struct places all = block_places(block, i, places);
    bool holds = stashed_at(stash_of(a), &all) == STASH_NOWHERE;
    if (holds && slot != NO_SLOT && slot_fill(a->bytes, slot, width_of(a), block->code[i])) return 1;
    if (holds && slot == NO_SLOT && do_push(a, &all, &block->push[i], places)) return 1;
    return add_places(a, &all, places, isa);
}

/* The number of keys added: all, or those before one that found no room. */
INLINE size_t add_block(struct array *a, const struct block *block, uint8_t *answers, uint64_t places, enum isa isa) {
    for (size_t i = 0; i < block->n; i++) {
        if (add_one(a, block, i, places, isa) == FULL) return i;
        if (answers) answers[i] = 1;
    }
    return block->n;
}

/* Cache lines that are prefetched in order while keys are added. */
struct sweep {
    const uint8_t *at, *end;
    size_t for_eight; /* bytes for every eight keys */
};

/* What the keys of the span will read and those before them do not: it begins as far after their
 * homes as a second home may be. */
INLINE struct sweep sweep_of(const struct array *a, const struct span *next, size_t n) {
    uint64_t homes = a->layout[CUCKOO_HOMES];
    uint64_t first = smaller_of(mul_high(next->first, homes) + CUCKOO_SHIFTS_MAX, homes);
    uint64_t last = smaller_of(mul_high(next->last, homes) + CUCKOO_SHIFTS_MAX, homes);
    const uint8_t *at = a->bytes + (first * width_of(a) >> 3), *end = a->bytes + (last * width_of(a) >> 3);
    return (struct sweep){at, end, (size_t)(end - at) / (n / 8 + 1) + 64};
}

INLINE void sweep_on(struct sweep *sweep) {
    size_t rest = (size_t)(sweep->end - sweep->at);
    const uint8_t *end = sweep->at + smaller(rest, sweep->for_eight);
    for (const uint8_t *line = sweep->at; line < end; line += 64) __builtin_prefetch(line, 0, 2);
    sweep->at = end;
}

/* `span` is NULL unless these keys are near each other; `ahead` and `answers` may be. */
INLINE size_t put_many(struct array *changed, const uint64_t *digests, size_t n, uint8_t *answers, const char *ahead,
                       const struct span *span, uint64_t places, enum isa isa) {
    struct block blocks[STAGES];
    struct array copy = *changed, *a = &copy; /* stores to slots cannot alias it */
    struct sweep sweep = span ? sweep_of(a, span, n) : (struct sweep){NULL, NULL, 0};
    bool far = !is_near(a) && !span;
    for (unsigned i = 0; i < STAGES; i++) blocks[i].n = blocks[i].crowded = 0;
    for (size_t i = 0, turn = 0; i < n + (STAGES - 1) * BLOCK; i += BLOCK, turn++) {
        struct block *coming = &blocks[turn % STAGES], *next = &blocks[(turn + 3) % STAGES];
        struct block *after = &blocks[(turn + 2) % STAGES], *here = &blocks[(turn + 1) % STAGES];
        coming->n = i < n ? smaller(n - i, BLOCK) : 0;
        coming->crowded = 0;
        prepare(a, digests + smaller(i, n), coming->n, coming, places, isa);
        for (size_t j = 0; j < BLOCK; j += 8) {
            if (span) sweep_on(&sweep);
            if (ahead) __builtin_prefetch(ahead + 8 * (i + j), 0, 2);
            if (far) prefetch_some(a, coming, j, coming->n, places);
            if (j < next->n) look_at_some(a, next, j, places, isa);
        }
        if (far) prefetch_crowded(a, next, places, isa);
        find_pushes(a, after, places, isa);
        if (!here->n) continue;
        size_t before = i - (STAGES - 1) * BLOCK; /* keys in earlier blocks */
        size_t done = add_block(a, here, answers ? answers + before : NULL, places, isa);
        if (done < here->n) return before + done;
    }
    return n;
}
