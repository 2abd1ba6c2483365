/*
 * The cuckoo filter (Fan, Andersen, Kaminsky, Mitzenmacher, "Cuckoo filter: practically better than Bloom", 2014), with
 * fingerprints that know where they belong, in windows of two slots.
 *
 * Idea: a key is a home, one of n, and a short fingerprint. The fingerprint is kept in one of the two slots at the home, or
 * in one of the two at a second home, a shift further, that follows from the fingerprint. When all four are taken, one
 * of those who sit there moves to another of its own places, and so on. Removing a key empties its slot again.
 *
 *     digest ─┬─▶ home 0..n-1
 *             └─▶ fingerprint 1..2^f-1 ─▶ shift 2..n-2
 *
 *     slot      h     h+1                       h+s   h+s+1                    n
 *     ┬───┬───┬─────┬─────┬───┬───┬───┬───┬───┬─────┬─────┬───┬───┬───┬───┬─────┐
 *     │   │   │ 0,0 │ 0,1 │   │   │   │   │   │ 1,0 │ 1,1 │   │   │   │   │     │   a slot: fingerprint, choice, offset
 *     ┴───┴───┴─────┴─────┴───┴───┴───┴───┴───┴─────┴─────┴───┴───┴───┴───┴─────┘
 *
 * A slot has, beside the fingerprint, which of the places it is: the number of the home (choice) and which of its two slots
 * (offset). So the home follows from the slot alone, whatever n is and however many homes a key has, and a question compares
 * those bits too: they pay for themselves. A stranger meets each of its places with the right choice and offset in
 * a quarter of the cases, so its four places give one chance of load / (2^f - 1).
 *
 * Example: a million keys at 1 % have f = 7: slots of 9 bits, 1.09 million of them, 92 % full, 9.8 bits a key, and a
 * rate of 0.92/127 = 0.72 %. Buckets of four with the usual XOR take 10.5 bits, or up to twice that after rounding up.
 *
 * To make room, places are searched breadth first until an empty one is found, and only then is anything moved, from the
 * end of the path to its beginning. Keys that find none go to the stash (stash.h), and so do copies of a key whose
 * places are all its own: a key may be added as often as a 63-bit number can count.
 *
 * Cost: a cache line a home and question. Layout: homes, fingerprint bits, choices (homes per key), cells of the stash, and by
 * how many bits fingerprints are longer than those of the first of several layers (places.h). The slots come first, then SLOTS_BEYOND bytes and zeros up to a multiple of eight, then the stash.
 *
 * Invariants
 *   I1  a slot is zero, or its fingerprint is not; its home lies in 0..n-1.
 *   I2  a key that was added n times and removed m times has n - m copies, in slots and stash together.
 *   I3  a key in the stash that is not marked placeless has a copy in a slot; removing takes from the stash first.
 */
#include "kind/places.h"
#include "simd/target.h"

static uint64_t slot_bytes(const uint64_t layout[LAYOUT_WORDS]) {
    uint64_t bits = (layout[HOMES] + 1) * (layout[FINGERPRINT] + low_bits(layout[CHOICES]));
    return ((bits + 7) / 8 + SLOTS_BEYOND + 7) / 8 * 8;
}

static uint64_t check(const uint64_t layout[LAYOUT_WORDS], const char **reason) {
    *reason = NULL;
    if (layout[HOMES] < HOMES_MIN || layout[HOMES] > HOMES_MAX) *reason = "number of homes out of range";
    if (layout[CHOICES] < 2 || layout[CHOICES] > CHOICES_MAX) *reason = "number of choices is not 2 to 4";
    if (layout[FINGERPRINT] < FINGERPRINT_MIN || layout[FINGERPRINT] > SLOT_WIDTH_MAX - low_bits(layout[CHOICES]))
        *reason = "fingerprint bits out of range";
    else if (layout[LONGER] > layout[FINGERPRINT] - FINGERPRINT_MIN)
        *reason = "fingerprints that are longer than they can be";
    if (layout[STASH] < 2 || layout[STASH] > STASH_MAX) *reason = "size of the stash out of range";
    return *reason ? 0 : slot_bytes(layout) + stash_length(layout[STASH]);
}

#include "kind/cuckoo_room.h"

/* ---- one key ---- */

/* Without a branch, which would be mispredicted half of the time in a filter that is half full. */
INLINE bool is_full(uint64_t window, unsigned width) {
    unsigned first = (window & slot_mask(width)) != 0, second = (window >> width & slot_mask(width)) != 0;
    return first & second;
}

/* Writes a key into the window at home `choice`, which has an empty slot. */
INLINE void fill_window(struct array *a, uint64_t home, uint64_t window, uint64_t fingerprint, uint64_t choice,
                        uint64_t choices) {
    uint64_t offset = (window & slot_mask(width_of(a))) != 0;
    slot_set(a->bytes, home + offset, width_of(a), code_of(fingerprint, choice, choices) | offset);
}

/* The first step of a search by itself, which needs no notes and is enough in most cases: one of those who sit in the key's
 * windows goes to its other home, and the key takes its slot. */
INLINE bool push_one(struct array *a, const struct places *places, uint64_t choices) {
    unsigned width = width_of(a);
    for (uint64_t place = 0; place < 2 * choices; place++) {
        uint64_t slot = places->home[place >> 1] + (place & 1), code = slot_get(a->bytes, slot, width);
        uint64_t other = other_home(a, slot, code, choices), window = window_at(a, other);
        if (is_full(window, width)) continue;
        fill_window(a, other, window, code >> low_bits(choices), !choice_in(code, choices), choices);
        slot_set(a->bytes, slot, width, code_of(places->fingerprint, 0, choices) | place);
        return true;
    }
    return false;
}

/* Puts a copy into an empty slot of its own, in the first window that has one. */
INLINE bool put(struct array *a, const struct places *places, uint64_t choices) {
    uint64_t home = 0, window = 0, first = choices;
    for (uint64_t choice = choices; choice-- > 0;) {
        uint64_t candidate = window_at(a, places->home[choice]);
        bool full = is_full(candidate, width_of(a));
        first = full ? first : choice;
        home = full ? home : places->home[choice];
        window = full ? window : candidate;
    }
    if (first == choices) return false;
    fill_window(a, home, window, places->fingerprint, first, choices);
    return true;
}

/* Bit 0 or 1 is set if that slot of the window has the code, with its offset. */
INLINE unsigned match(uint64_t window, uint64_t code, unsigned width) {
    uint64_t mask = slot_mask(width), other = window ^ (code | (code + 1) << width);
    return (unsigned)((other & mask) == 0) | (unsigned)((other >> width & mask) == 0) << 1;
}

INLINE unsigned match_at(const struct array *a, const struct places *places, uint64_t choice, uint64_t choices) {
    uint64_t code = code_of(places->fingerprint, choice, choices);
    return match(window_at(a, places->home[choice]), code, width_of(a));
}

INLINE unsigned copies_in_slots(const struct array *a, const struct places *places, uint64_t choices) {
    unsigned copies = 0;
    for (uint64_t choice = 0; choice < choices; choice++)
        copies += (unsigned)__builtin_popcount(match_at(a, places, choice, choices));
    return copies;
}

/* Where the stash has the key, or STASH_NOWHERE. */
INLINE uint64_t stashed_at(struct stash stash, const struct places *places) {
    if (__builtin_expect(stash_entries(stash) == 0, 1)) return STASH_NOWHERE;
    return stash_find(stash, who_is(places->home[0], places->fingerprint));
}

/* A key whose places are all taken: others make room, or it goes to the stash. */
INLINE int add_where_full(struct array *a, const struct places *places, uint64_t choices, int vector) {
    if (push_one(a, places, choices)) return 1;
    unsigned copies = copies_in_slots(a, places, choices);
    if (copies < 2 * choices && make_room(a, places, choices, vector)) return 1;
    uint64_t who = who_is(places->home[0], places->fingerprint);
    return stash_put(stash_of(a), who, copies ? 1 : STASH_PLACELESS | 1) ? 1 : FULL;
}

/* Kept apart, so that adding where there is room stays small. */
static __attribute__((noinline)) int add_full_plain(struct array *a, const struct places *places) {
    uint64_t choices = a->layout[CHOICES];
    return choices == 2 ? add_where_full(a, places, 2, 0) : add_where_full(a, places, choices, 0);
}

#if defined(__x86_64__)
TARGET_AVX512 static __attribute__((noinline)) int add_full_avx512(struct array *a, const struct places *places) {
    uint64_t choices = a->layout[CHOICES];
    return choices == 2 ? add_where_full(a, places, 2, 1) : add_where_full(a, places, choices, 1);
}
#else
#define add_full_avx512 add_full_plain
#endif

INLINE int add_places(struct array *a, const struct places *places, uint64_t choices, int vector) {
    struct stash stash = stash_of(a);
    uint64_t cell = stashed_at(stash, places);
    if (cell != STASH_NOWHERE) {
        stash_more(stash, cell, 1);
        return 1;
    }
    if (put(a, places, choices)) return 1;
    return vector ? add_full_avx512(a, places) : add_full_plain(a, places);
}

/* The same where the number of choices is not a constant. */
static int add_copy(struct array *a, const struct places *places) {
    return add_places(a, places, a->layout[CHOICES], 0);
}

/* A question that no slot has answered. */
INLINE int is_placeless(const struct array *a, uint64_t home, uint64_t fingerprint) {
    struct stash stash = stash_of(a);
    return stash_placeless(stash) && stash_find(stash, who_is(home, fingerprint)) != STASH_NOWHERE;
}

INLINE int contains_key(const struct array *a, uint64_t digest, uint64_t choices) {
    struct places places = places_of(a, key_of(a, digest), choices);
    unsigned found = 0;
    for (uint64_t choice = 0; choice < choices; choice++) found |= match_at(a, &places, choice, choices);
    return found || is_placeless(a, places.home[0], places.fingerprint);
}

INLINE uint64_t count_key(const struct array *a, uint64_t digest, uint64_t choices) {
    struct places places = places_of(a, key_of(a, digest), choices);
    struct stash stash = stash_of(a);
    uint64_t cell = stashed_at(stash, &places);
    return copies_in_slots(a, &places, choices) +
           (cell == STASH_NOWHERE ? 0 : stash_copies(stash, cell) & ~STASH_PLACELESS);
}

/* ---- forgetting ---- */

/* After a slot has become free: looks at some cells of the stash, from one that follows from the key, for a placeless
 * key, and gives it a slot. Over many removes all cells come round. */
static __attribute__((noinline)) void call_back(struct array *a, uint64_t who) {
    enum { CELLS_LOOKED_AT = 64 };
    struct stash stash = stash_of(a);
    uint64_t cell = stash_start(stash, who), choices = a->layout[CHOICES];
    for (uint64_t i = 0; i < CELLS_LOOKED_AT && i < stash.cells; i++, cell = stash_after(stash, cell)) {
        if (!(stash_copies(stash, cell) & STASH_PLACELESS)) continue;
        struct key key = key_from(a, stash_who(stash, cell));
        struct places places = places_of(a, key, choices);
        if (put(a, &places, choices) || make_room(a, &places, choices, 0)) stash_settle(stash, cell);
        return;
    }
}

INLINE int remove_key(struct array *a, uint64_t digest, uint64_t choices) {
    struct places places = places_of(a, key_of(a, digest), choices);
    struct stash stash = stash_of(a);
    uint64_t cell = stashed_at(stash, &places);
    if (cell != STASH_NOWHERE) {
        stash_take(stash, cell);
        return 1;
    }
    for (uint64_t choice = 0; choice < choices; choice++) {
        unsigned here = match_at(a, &places, choice, choices);
        if (!here) continue;
        slot_set(a->bytes, places.home[choice] + (here & 1 ? 0 : 1), width_of(a), 0);
        if (stash_placeless(stash)) call_back(a, who_is(places.home[0], places.fingerprint));
        return 1;
    }
    return 0;
}

static void fetch(const struct array *a, struct digest digest) {
    struct places places = places_of(a, key_of(a, digest.first), a->layout[CHOICES]);
    for (uint64_t choice = 0; choice < a->layout[CHOICES]; choice++) fetch_home(a, places.home[choice]);
}

/* ---- the operations, for each number of choices ---- */

#include "kind/cuckoo_many.h"

#define SHAPE(suffix, choices, vector)                                                                                 \
    TARGET static int add_##suffix(struct array *a, struct digest digest) {                                            \
        struct places places = places_of(a, key_of(a, digest.first), choices);                                         \
        return add_places(a, &places, choices, vector);                                                                \
    }                                                                                                                  \
    TARGET static size_t add_many_##suffix(struct array *a, const uint64_t *digests, size_t n, uint8_t *answers,       \
                                           const char *ahead) {                                                        \
        return put_many(a, digests, n, answers, ahead, choices, vector);                                               \
    }                                                                                                                  \
    TARGET static void contains_many_##suffix(const struct array *a, const uint64_t *digests, size_t n,                \
                                              uint8_t *answers, const char *ahead) {                                   \
        ask_many(a, digests, n, answers, ahead, choices, vector);                                                      \
    }                                                                                                                  \
    TARGET static int contains_##suffix(const struct array *a, struct digest digest) {                                 \
        return contains_key(a, digest.first, choices);                                                                 \
    }                                                                                                                  \
    TARGET static int remove_##suffix(struct array *a, struct digest digest) {                                         \
        return remove_key(a, digest.first, choices);                                                                   \
    }                                                                                                                  \
    TARGET static uint64_t count_##suffix(const struct array *a, struct digest digest) {                               \
        return count_key(a, digest.first, choices);                                                                    \
    }
#define OPS(suffix)                                                                                                    \
    {                                                                                                                  \
        .add = add_##suffix, .contains = contains_##suffix, .remove = remove_##suffix, .count = count_##suffix,        \
        .fetch = fetch, .add_many = add_many_##suffix, .contains_many = contains_many_##suffix                         \
    }

#define TARGET
SHAPE(2, 2, 0)
SHAPE(3, 3, 0)
SHAPE(4, 4, 0)
#undef TARGET
static const struct kind_ops plain[] = {OPS(2), OPS(3), OPS(4)};

#if defined(__x86_64__)
#define TARGET TARGET_AVX512
SHAPE(2_avx512, 2, 1)
SHAPE(3_avx512, 3, 1)
SHAPE(4_avx512, 4, 1)
#undef TARGET
static const struct kind_ops avx512[] = {OPS(2_avx512), OPS(3_avx512), OPS(4_avx512)};
#endif

static const struct kind_ops *ops(const uint64_t layout[LAYOUT_WORDS], enum isa isa, bool shared) {
    (void)shared;
#if defined(__x86_64__)
    if (isa == ISA_AVX512) return &avx512[layout[CHOICES] - 2];
#endif
    (void)isa;
    return &plain[layout[CHOICES] - 2];
}

/* ---- whole filters ---- */

/* Adds so many copies of a key; false if there is no room. */
static bool add_copies(struct array *a, struct key key, uint64_t copies) {
    struct stash stash = stash_of(a);
    struct places places = places_of(a, key, a->layout[CHOICES]);
    for (; copies; copies--) {
        uint64_t cell = stashed_at(stash, &places);
        if (cell != STASH_NOWHERE) {
            stash_more(stash, cell, copies);
            return true;
        }
        if (add_copy(a, &places) == FULL) return false;
    }
    return true;
}

static bool merge(struct array *into, const struct array *from) {
    struct stash stash = stash_of(from);
    for (uint64_t slot = 0; slot <= from->layout[HOMES]; slot++) {
        uint64_t code = slot_get(from->bytes, slot, width_of(from));
        struct places places = places_at(from, slot, code, from->layout[CHOICES]);
        if (code && add_copy(into, &places) == FULL) return false;
    }
    for (uint64_t cell = 0; cell < stash.cells; cell++) {
        uint64_t copies = stash_copies(stash, cell) & ~STASH_PLACELESS;
        if (!add_copies(into, key_from(from, stash_who(stash, cell)), copies)) return false;
    }
    return true;
}

/* Copies may take a larger stash; keys without a slot may not: when they fill one of the size that so many homes have, the
 * filter is full. */
static bool grow(const struct array *a, uint64_t digest, uint64_t layout[LAYOUT_WORDS], uint64_t *capacity) {
    (void)digest, (void)capacity;
    uint64_t planned = stash_cells_for(a->layout[HOMES]);
    if (stash_placeless(stash_of(a)) >= planned - planned / 4 || a->layout[STASH] > STASH_MAX / 2) return false;
    memcpy(layout, a->layout, sizeof a->layout);
    layout[STASH] *= 2;
    return true;
}

static bool rehash(struct array *into, const struct array *from) {
    struct stash old = stash_of(from), new = stash_of(into);
    memcpy(into->bytes, from->bytes, (size_t)slot_bytes(from->layout));
    for (uint64_t cell = 0; cell < old.cells; cell++) {
        uint64_t copies = stash_copies(old, cell);
        if (copies && !stash_put(new, stash_who(old, cell), copies)) return false;
    }
    return true;
}

static void ungrow(uint64_t layout[LAYOUT_WORDS]) {
    layout[STASH] = stash_cells_for(layout[HOMES]);
}

extern const struct model model_cuckoo;

const struct kind kind_cuckoo = {
    .row = {PERHAPS_CUCKOO, PERHAPS_ADD | PERHAPS_REMOVE | PERHAPS_COUNT | PERHAPS_MERGE, "cuckoo",
            "cuckoo filter: keys can be removed and counted; small"},
    .digest_words = 1,
    .hash = PERHAPS_XXH3,
    .check = check,
    .layout_names = {"homes", "fingerprint bits", "choices", "cells of the stash", "bits beyond the first layer's"},
    .ops = ops,
    .combine = {merge},
    .reinserts = true,
    .differing = 1 << STASH,
    .full = "the cuckoo filter has no room for another key",
    .grow = grow,
    .rehash = rehash,
    .ungrow = ungrow,
    .model = &model_cuckoo,
};
