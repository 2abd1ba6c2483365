/*
 * Batches of the cuckoo filter; a part of cuckoo.c.
 *
 * The fingerprints and homes of a block of keys are worked out together, eight at a time with AVX-512, and their windows
 * fetched, a block ahead of their turn. For adding, the windows are looked at a block before their turn: where there is an
 * empty slot, it is noted; where there is none, the other homes of those who sit there are fetched. A noted slot may have
 * been taken when its turn comes, but none before it in the order of places can have become empty, so it is still the
 * one that a single call would take.
 */

/* A filter of CROWDED_NEAR_BYTES is in the second-level cache even if others are used in turn with it. */
enum { BLOCK = 32, CROWDED_NEAR_BYTES = 1 << 17 };

struct block {
    uint64_t fingerprint[BLOCK];
    uint64_t home[CHOICES_MAX][BLOCK];
    uint64_t slot[BLOCK]; /* the first empty one of its places, or NO_SLOT */
    uint64_t code[BLOCK]; /* what would stand there */
};

#define NO_SLOT UINT64_MAX

#if defined(__x86_64__)
#include "simd/cuckoo_avx512.h"
#endif

/* `vector` is a constant in each caller: whether there is AVX-512. */
INLINE void prepare(const struct array *a, const uint64_t *restrict digests, size_t n, struct block *restrict block,
                    uint64_t choices, int vector) {
#if defined(__x86_64__)
    if (vector) {
        for (size_t i = 0; i < n; i += 8) prepare_eight(a, digests + i, n - i, block, i, choices);
        return;
    }
#else
    (void)vector;
#endif
    for (size_t i = 0; i < n; i++) {
        struct places places = places_of(a, key_of(a, digests[i]), choices);
        block->fingerprint[i] = places.fingerprint;
        for (uint64_t choice = 0; choice < choices; choice++) block->home[choice][i] = places.home[choice];
    }
}

INLINE struct places block_places(const struct block *block, size_t i, uint64_t choices) {
    struct places places = {.fingerprint = block->fingerprint[i]};
    for (uint64_t choice = 0; choice < choices; choice++) places.home[choice] = block->home[choice][i];
    return places;
}

INLINE size_t smaller(size_t a, size_t b) {
    return a < b ? a : b;
}

/* Fetches the windows of the eight keys from i on, or of as many as there are. */
INLINE void fetch_some(const struct array *a, const struct block *block, size_t i, size_t n, uint64_t choices) {
    for (size_t j = i; j < smaller(i + 8, n); j++) {
        for (uint64_t choice = 0; choice < choices; choice++) fetch_home(a, block->home[choice][j]);
    }
}

/* ---- asking ---- */

INLINE uint8_t ask_one(const struct array *a, const struct block *block, size_t i, uint64_t choices) {
    struct places places = block_places(block, i, choices);
    unsigned found = 0;
    for (uint64_t choice = 0; choice < choices; choice++) found |= match_at(a, &places, choice, choices);
    return found != 0;
}

/* Eight keys from i on, or as many as there are. */
INLINE void ask_some(const struct array *a, const struct block *block, size_t i, size_t n, uint8_t *answers,
                     uint64_t choices, int vector) {
#if defined(__x86_64__)
    if (vector) {
        uint64_t eight = ask_eight(a, block, i, choices);
        if (i + 8 <= n)
            store64(answers + i, eight);
        else
            for (size_t j = i; j < n; j++) answers[j] = (uint8_t)(eight >> 8 * (j - i));
        return;
    }
#else
    (void)vector;
#endif
    for (size_t j = i; j < smaller(i + 8, n); j++) answers[j] = ask_one(a, block, j, choices);
}

/* What the cache holds is not fetched: processors look far enough ahead by themselves. */
INLINE void ask_near(const struct array *a, const uint64_t *digests, size_t n, uint8_t *answers, uint64_t choices,
                     int vector) {
    struct block block;
    for (size_t i = 0; i < n; i += BLOCK) {
        size_t here = smaller(n - i, BLOCK);
        prepare(a, digests + i, here, &block, choices, vector);
        for (size_t j = 0; j < here; j += 8) ask_some(a, &block, j, here, answers + i, choices, vector);
    }
}

INLINE void ask_far(const struct array *a, const uint64_t *digests, size_t n, uint8_t *answers, const char *ahead,
                    uint64_t choices, int vector) {
    struct block blocks[2];
    size_t here = 0;
    for (size_t i = 0, turn = 0; i < n + BLOCK; i += BLOCK, turn ^= 1) {
        size_t coming = i < n ? smaller(n - i, BLOCK) : 0;
        prepare(a, digests + smaller(i, n), coming, &blocks[turn], choices, vector);
        for (size_t j = 0; j < BLOCK; j += 8) {
            __builtin_prefetch(ahead + 8 * (i + j), 0, 2);
            fetch_some(a, &blocks[turn], j, coming, choices);
            if (j < here) ask_some(a, &blocks[turn ^ 1], j, here, answers + i - BLOCK, choices, vector);
        }
        here = coming;
    }
}

INLINE void ask_many(const struct array *asked, const uint64_t *digests, size_t n, uint8_t *answers, const char *ahead,
                     uint64_t choices, int vector) {
    const struct array copy = *asked, *a = &copy; /* which the compiler knows that writing answers cannot change */
    if (is_near(a) || a->length <= CROWDED_NEAR_BYTES)
        ask_near(a, digests, n, answers, choices, vector);
    else
        ask_far(a, digests, n, answers, ahead, choices, vector);
    if (!stash_placeless(stash_of(a))) return;
    for (size_t i = 0; i < n; i++) {
        struct key key = key_of(a, digests[i]);
        if (!answers[i]) answers[i] = (uint8_t)is_placeless(a, key.home, key.fingerprint);
    }
}

/* ---- adding ---- */

INLINE void look_at_one(const struct array *a, struct block *block, size_t i, uint64_t choices) {
    unsigned width = width_of(a);
    block->slot[i] = NO_SLOT;
    block->code[i] = 0;
    for (uint64_t place = 2 * choices; place-- > 0;) {
        uint64_t slot = block->home[place >> 1][i] + (place & 1);
        bool empty = slot_get(a->bytes, slot, width) == 0;
        block->slot[i] = empty ? slot : block->slot[i];
        block->code[i] = empty ? code_of(block->fingerprint[i], 0, choices) | place : block->code[i];
    }
}

INLINE void fetch_others(const struct array *a, const struct block *block, size_t i, uint64_t choices) {
    for (uint64_t place = 0; place < 2 * choices; place++) {
        uint64_t slot = block->home[place >> 1][i] + (place & 1);
        fetch_home(a, other_home(a, slot, slot_get(a->bytes, slot, width_of(a)), choices));
    }
}

/* Looks at the places of eight keys from i on, or of as many as there are. */
INLINE void look_at_some(const struct array *a, struct block *block, size_t i, size_t n, uint64_t choices, int vector) {
#if defined(__x86_64__)
    if (vector && i + 8 <= n)
        look_at_eight(a, block, i, choices);
    else
#else
    (void)vector;
#endif
        for (size_t j = i; j < smaller(i + 8, n); j++) look_at_one(a, block, j, choices);
    for (size_t j = i; j < smaller(i + 8, n); j++) {
        if (block->slot[j] == NO_SLOT) fetch_others(a, block, j, choices);
    }
}

/* Adds key i of a block: to the slot noted, if it is still empty; else as a single call would. */
INLINE int add_one(struct array *a, const struct block *block, size_t i, uint64_t choices, int vector) {
    uint64_t slot = block->slot[i];
    bool known = slot != NO_SLOT && !stash_entries(stash_of(a));
    if (known && slot_fill(a->bytes, slot, width_of(a), block->code[i])) return 1;
    struct places places = block_places(block, i, choices);
    return add_places(a, &places, choices, vector);
}

/* The block that comes is fetched, the next one looked at, and this one added. */
INLINE size_t put_many(struct array *changed, const uint64_t *digests, size_t n, uint8_t *answers, const char *ahead,
                       uint64_t choices, int vector) {
    struct block blocks[3];
    struct array copy = *changed, *a = &copy; /* which the compiler knows that writing slots cannot change */
    size_t next = 0, here = 0;
    for (size_t i = 0, turn = 0; i < n + 2 * BLOCK; i += BLOCK, turn = (turn + 1) % 3) {
        size_t coming = i < n ? smaller(n - i, BLOCK) : 0;
        prepare(a, digests + smaller(i, n), coming, &blocks[turn], choices, vector);
        for (size_t j = 0; j < BLOCK; j += 8) {
            __builtin_prefetch(ahead + 8 * (i + j), 0, 2);
            fetch_some(a, &blocks[turn], j, coming, choices);
            if (j < next) look_at_some(a, &blocks[(turn + 2) % 3], j, next, choices, vector);
            for (size_t k = j; k < smaller(j + 8, here); k++) {
                if (add_one(a, &blocks[(turn + 1) % 3], k, choices, vector) == FULL) return i - 2 * BLOCK + k;
                answers[i - 2 * BLOCK + k] = 1;
            }
        }
        here = next;
        next = coming;
    }
    return n;
}
