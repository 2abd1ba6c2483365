/*
 * Batches of the cuckoo filter; a part of cuckoo.c.
 *
 * The fingerprints and homes of a block of keys are computed together, eight at a time with
 * AVX-512, and their windows are prefetched a block ahead. A block that is added goes through four
 * stages:
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

#if defined(__x86_64__)
#include "kind/cuckoo/cuckoo_avx512.h"
#endif

/* `vector` is a constant in each caller: whether there is AVX-512. */
INLINE void prepare(const struct array *a, const uint64_t *restrict digests, size_t n, struct block *restrict block,
                    uint64_t places, int vector) {
#if defined(__x86_64__)
    if (vector) {
        for (size_t i = 0; i < n; i += 8) prepare_eight(a, digests + i, n - i, block, i, places);
        return;
    }
#else
    (void)vector;
#endif
    for (size_t i = 0; i < n; i++) {
        struct places all = places_of(a, key_of(a, digests[i], places), places);
        block->fingerprint[i] = all.fingerprint;
        for (uint64_t choice = 0; choice < choices_of(places); choice++) block->home[choice][i] = all.home[choice];
    }
}

INLINE struct places block_places(const struct block *block, size_t i, uint64_t places) {
    struct places all = {.fingerprint = block->fingerprint[i]};
    for (uint64_t choice = 0; choice < choices_of(places); choice++) all.home[choice] = block->home[choice][i];
    return all;
}

INLINE size_t smaller(size_t a, size_t b) {
    return a < b ? a : b;
}

/* Prefetches the windows of the eight keys from i on, or of those that there are. */
INLINE void prefetch_some(const struct array *a, const struct block *block, size_t i, size_t n, uint64_t places) {
    for (size_t j = i; j < smaller(i + 8, n); j++) {
        for (uint64_t choice = 0; choice < choices_of(places); choice++) prefetch_home(a, block->home[choice][j]);
    }
}

/* ---- queries ---- */

/* Eight keys from i on, or as many as there are. */
INLINE void query_some(const struct array *a, const struct block *block, size_t i, size_t n, uint8_t *answers,
                       uint64_t places, int vector) {
#if defined(__x86_64__)
    if (vector) {
        uint64_t eight = query_eight(a, block, i, places);
        if (i + 8 <= n)
            store64(answers + i, eight);
        else
            for (size_t j = i; j < n; j++) answers[j] = (uint8_t)(eight >> 8 * (j - i));
        return;
    }
#else
    (void)vector;
#endif
    for (size_t j = i; j < smaller(i + 8, n); j++) {
        struct places all = block_places(block, j, places);
        answers[j] = is_in_slots(a, &all, places);
    }
}

/* No prefetches in the cache: out-of-order execution looks far enough ahead. */
INLINE void query_near(const struct array *a, const uint64_t *digests, size_t n, uint8_t *answers, uint64_t places,
                       int vector) {
    struct block block;
    for (size_t i = 0; i < n; i += BLOCK) {
        size_t here = smaller(n - i, BLOCK);
        prepare(a, digests + i, here, &block, places, vector);
        for (size_t j = 0; j < here; j += 8) query_some(a, &block, j, here, answers + i, places, vector);
    }
}

INLINE void query_far(const struct array *a, const uint64_t *digests, size_t n, uint8_t *answers, const char *ahead,
                      uint64_t places, int vector) {
    struct block blocks[2];
    size_t here = 0;
    for (size_t i = 0, turn = 0; i < n + BLOCK; i += BLOCK, turn ^= 1) {
        size_t coming = i < n ? smaller(n - i, BLOCK) : 0;
        prepare(a, digests + smaller(i, n), coming, &blocks[turn], places, vector);
        for (size_t j = 0; j < BLOCK; j += 8) {
            __builtin_prefetch(ahead + 8 * (i + j), 0, 2);
            prefetch_some(a, &blocks[turn], j, coming, places);
            if (j < here) query_some(a, &blocks[turn ^ 1], j, here, answers + i - BLOCK, places, vector);
        }
        here = coming;
    }
}

INLINE void query_many(const struct array *array, const uint64_t *digests, size_t n, uint8_t *answers,
                       const char *ahead, uint64_t places, int vector) {
    const struct array copy = *array, *a = &copy; /* stores to answers cannot alias it */
    if (is_near(a))
        query_near(a, digests, n, answers, places, vector);
    else
        query_far(a, digests, n, answers, ahead, places, vector);
    if (!stash_placeless(stash_of(a))) return;
    for (size_t i = 0; i < n; i++) {
        struct key key = key_of(a, digests[i], places);
        if (!answers[i]) answers[i] = (uint8_t)is_placeless(a, key.home, key.fingerprint);
    }
}

/* ---- adding ---- */

INLINE void look_at_one(const struct array *a, struct block *block, size_t i, uint64_t places) {
    struct places all = block_places(block, i, places);
    unsigned empty = empty_places(a, &all, places);
    block->slot[i] = NO_SLOT;
    if (!empty) return;
    uint64_t place = take_one(empty, all.fingerprint);
    block->slot[i] = slot_at(&all, place, places);
    block->code[i] = code_of(all.fingerprint, places) + place;
}

INLINE void prefetch_others(const struct array *a, const struct block *block, size_t i, uint64_t places) {
    struct places all = block_places(block, i, places);
    for (uint64_t place = 0; place < places; place++) {
        uint64_t slot = slot_at(&all, place, places);
        prefetch_home(a, other_home(a, slot, slot_get(a->bytes, slot, width_of(a)), places));
    }
}

/* Looks at the places of eight keys from i on, or of as many as there are. */
INLINE void look_at_some(const struct array *a, struct block *block, size_t i, uint64_t places, int vector) {
    size_t end = smaller(i + 8, block->n);
#if defined(__x86_64__)
    if (vector && end == i + 8)
        look_at_eight(a, block, i, places);
    else
#else
    (void)vector;
#endif
        for (size_t j = i; j < end; j++) look_at_one(a, block, j, places);
    for (size_t j = i; j < end; j++) {
        block->which[block->crowded] = (uint8_t)j;
        block->crowded += block->slot[j] == NO_SLOT;
    }
}

INLINE void find_pushes(const struct array *a, struct block *block, uint64_t places, int vector) {
    for (unsigned i = 0; i < block->crowded; i++) {
        struct places all = block_places(block, block->which[i], places);
        find_push(a, &all, &block->push[block->which[i]], places, vector);
    }
}

/* Adds key i of a block: as noted, if that still holds; else as a single call would. */
INLINE int add_one(struct array *a, const struct block *block, size_t i, uint64_t places, int vector) {
    uint64_t slot = block->slot[i];
    struct places all = block_places(block, i, places);
    bool holds = stashed_at(stash_of(a), &all) == STASH_NOWHERE;
    if (holds && slot != NO_SLOT && slot_fill(a->bytes, slot, width_of(a), block->code[i])) return 1;
    if (holds && slot == NO_SLOT && do_push(a, &all, &block->push[i], places)) return 1;
    return add_places(a, &all, places, vector);
}

/* The number of keys added: all, or those before one that found no room. */
INLINE size_t add_block(struct array *a, const struct block *block, uint8_t *answers, uint64_t places, int vector) {
    for (size_t i = 0; i < block->n; i++) {
        if (add_one(a, block, i, places, vector) == FULL) return i;
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
                       const struct span *span, uint64_t places, int vector) {
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
        prepare(a, digests + smaller(i, n), coming->n, coming, places, vector);
        for (size_t j = 0; j < BLOCK; j += 8) {
            if (span) sweep_on(&sweep);
            if (ahead) __builtin_prefetch(ahead + 8 * (i + j), 0, 2);
            if (far) prefetch_some(a, coming, j, coming->n, places);
            if (j < next->n) look_at_some(a, next, j, places, vector);
        }
        for (unsigned c = 0; far && c < next->crowded; c++) prefetch_others(a, next, next->which[c], places);
        find_pushes(a, after, places, vector);
        if (!here->n) continue;
        size_t before = i - (STAGES - 1) * BLOCK; /* keys in earlier blocks */
        size_t done = add_block(a, here, answers ? answers + before : NULL, places, vector);
        if (done < here->n) return before + done;
    }
    return n;
}
