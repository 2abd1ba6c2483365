/*
 * Where the keys of a cuckoo filter belong: from a digest to its homes, from a slot back to its
 * key. cuckoo.c has the drawing.
 */
#ifndef PERHAPS_KIND_CUCKOO_CUCKOO_LAYOUT_H
#define PERHAPS_KIND_CUCKOO_CUCKOO_LAYOUT_H

#include "base/arith.h"
#include "base/target.h"
#include "kind/kind.h"
#include "kind/cuckoo/cuckoo_stash.h"
#include "kind/cuckoo/cuckoo_slots.h"

enum { CUCKOO_HOMES, CUCKOO_WIDTH, CUCKOO_PLACES, CUCKOO_STASH, CUCKOO_LONGER }; /* layout words */
/* What is derived from it. Windows of the first home may have three slots, those of later ones have
 * two. ONES and TOPS: the lowest and the highest bits of a window's slots. NUMBERS: 0, 1, 2 in
 * these slots. BACK: slot_word_back. */
enum {
    CUCKOO_FINGERPRINTS,
    CUCKOO_SHIFTS,
    CUCKOO_ONES,
    CUCKOO_NUMBERS,
    CUCKOO_TOPS_FIRST,
    CUCKOO_TOPS_LATER,
    CUCKOO_BACK_FIRST,
    CUCKOO_BACK_LATER
};
enum { CUCKOO_HOMES_MIN = 8, CUCKOO_FINGERPRINTS_MIN = 3, CUCKOO_CHOICES_MAX = 4, CUCKOO_PLACES_MAX = 8 };

#define CUCKOO_FINGERPRINT_HASH  UINT64_C(0xBB67AE8584CAA73B)
#define CUCKOO_SHIFT_HASH_FIRST  UINT32_C(0x9E3779B1)
#define CUCKOO_SHIFT_HASH_SECOND UINT32_C(0x85EBCA6B)

#define CUCKOO_HOMES_MAX (UINT64_C(1) << 37)
#define CUCKOO_STASH_MAX (UINT64_C(1) << 37)

extern const struct model model_cuckoo;

/* Shifts are CUCKOO_SHIFT_MIN and up, at most CUCKOO_SHIFTS_MAX of them: no home of a key is far
 * after the first (except around the end). All that an add reads is then near the first home, and
 * keys added in the order of their homes find it in the cache (api/partitioned.h). They are enough
 * for a crowded region to move keys to its neighbours. */
enum { CUCKOO_SHIFT_MIN = 3, CUCKOO_SHIFTS_MAX = 1 << 15 };

#define INLINE static inline __attribute__((always_inline))

/* ---- the layout ---- */

/* In what follows `places`, how many a key has, is a constant wherever it matters for speed: 4, 6
 * or 8, two at each of its homes; or 5, three of them at its first home. Place 0 is the first slot
 * at the first home. */
static inline bool places_fit(uint64_t places) {
    return places == 4 || places == 5 || places == 6 || places == 8;
}

/* Whether slots of `width` bits hold fingerprints that are `longer` bits longer than the shortest
 * allowed. A window is read with one load, so three slots have fewer bits. */
static inline bool slots_fit(uint64_t width, uint64_t longer, uint64_t places) {
    if (width > (places % 2 ? CUCKOO_SLOT_WIDTH_THREE : CUCKOO_SLOT_WIDTH_MAX) || longer > width) return false;
    return (UINT64_C(1) << (width - longer)) / places > CUCKOO_FINGERPRINTS_MIN;
}

INLINE uint64_t choices_of(uint64_t places) {
    return places / 2;
}

/* How many slots a home's window has. */
INLINE unsigned window_slots(uint64_t choice, uint64_t places) {
    return choice == 0 && places % 2 ? 3 : 2;
}

/* The place that is the first slot of a home's window. */
INLINE uint64_t first_place(uint64_t choice, uint64_t places) {
    return choice ? 2 * choice + places % 2 : 0;
}

INLINE uint64_t choice_of(uint64_t place, uint64_t places) {
    return places % 2 ? place >= 3 : place / 2;
}

INLINE uint64_t offset_of(uint64_t place, uint64_t places) {
    return place - first_place(choice_of(place, places), places);
}

INLINE unsigned width_of(const struct array *a) {
    return (unsigned)a->layout[CUCKOO_WIDTH];
}

static inline uint64_t slots_of(const uint64_t layout[LAYOUT_WORDS]) {
    return layout[CUCKOO_HOMES] - 1 + window_slots(0, layout[CUCKOO_PLACES]);
}

/* In bytes: the slots, up to the stash; and the whole array. */
static inline uint64_t slot_bytes(const uint64_t layout[LAYOUT_WORDS]) {
    uint64_t bits = slots_of(layout) * layout[CUCKOO_WIDTH];
    return ((bits + 7) / 8 + CUCKOO_SLOTS_BEYOND + 7) / 8 * 8;
}

static inline uint64_t length_of(const uint64_t layout[LAYOUT_WORDS]) {
    return slot_bytes(layout) + stash_length(layout[CUCKOO_STASH]);
}

static inline struct stash stash_of(const struct array *a) {
    uint64_t cells = a->layout[CUCKOO_STASH];
    return (struct stash){a->bytes + (a->length - stash_length(cells)), cells};
}

/* Fingerprints are 1 and up to this: as many as a slot can tell apart, each with any of its places.
 * In a newer layer of a growing filter (growing.c) they are some bits longer than in the first, and
 * each begins with one of the shorter ones: keys that match here match there. */
static inline uint64_t fingerprints_of(const uint64_t layout[LAYOUT_WORDS]) {
    uint64_t shortest = layout[CUCKOO_WIDTH] - layout[CUCKOO_LONGER];
    return ((UINT64_C(1) << shortest) / layout[CUCKOO_PLACES] - 1) << layout[CUCKOO_LONGER];
}

/* How many different shifts there are: fewer in small filters, so that no two windows of a key
 * share a slot where there are two choices. */
static inline uint64_t shifts_of(uint64_t homes) {
    return homes - 1 - CUCKOO_SHIFT_MIN < CUCKOO_SHIFTS_MAX ? homes - 1 - CUCKOO_SHIFT_MIN : CUCKOO_SHIFTS_MAX;
}

static inline void cuckoo_derive(struct array *a) {
    const unsigned width = width_of(a), first = window_slots(0, a->layout[CUCKOO_PLACES]), later = 2;
    a->derived[CUCKOO_FINGERPRINTS] = fingerprints_of(a->layout);
    a->derived[CUCKOO_SHIFTS] = shifts_of(a->layout[CUCKOO_HOMES]);
    a->derived[CUCKOO_ONES] = slot_ones(width, first);
    a->derived[CUCKOO_NUMBERS] = 0;
    for (unsigned i = 1; i < first; i++) a->derived[CUCKOO_NUMBERS] |= (uint64_t)i << i * width;
    a->derived[CUCKOO_TOPS_FIRST] = slot_ones(width, first) << (width - 1);
    a->derived[CUCKOO_TOPS_LATER] = slot_ones(width, later) << (width - 1);
    a->derived[CUCKOO_BACK_FIRST] = slot_word_back(width, first);
    a->derived[CUCKOO_BACK_LATER] = slot_word_back(width, later);
}

/* ---- keys and places ---- */

/* A key as the filter knows it: one of homes · fingerprints. */
struct key {
    uint64_t home; /* the first */
    uint64_t fingerprint;
};

/* All its homes. */
struct places {
    uint64_t fingerprint;
    uint64_t home[CUCKOO_CHOICES_MAX];
};

/* The fingerprint takes its own mix of the digest; the digest itself picks the home. */
INLINE uint64_t fingerprint_of(uint64_t digest, uint64_t fingerprints) {
    uint64_t mixed = digest * CUCKOO_FINGERPRINT_HASH >> 32;
    return 1 + (mixed * fingerprints >> 32);
}

INLINE struct key key_of(const struct array *a, uint64_t digest) {
    return (struct key){mul_high(digest, a->layout[CUCKOO_HOMES]),
                        fingerprint_of(digest, a->derived[CUCKOO_FINGERPRINTS])};
}

/* How many homes further home `choice` lies: 0 for the first. */
INLINE uint64_t shift_of(const struct array *a, uint64_t fingerprint, uint64_t choice) {
    uint32_t x = (uint32_t)(fingerprint + (choice << 28)) * CUCKOO_SHIFT_HASH_FIRST;
    x = (x ^ x >> 15) * CUCKOO_SHIFT_HASH_SECOND;
    return choice ? CUCKOO_SHIFT_MIN + (x * a->derived[CUCKOO_SHIFTS] >> 32) : 0;
}

INLINE uint64_t add_around(uint64_t home, uint64_t shift, uint64_t homes) {
    uint64_t sum = home + shift;
    return sum >= homes ? sum - homes : sum;
}

INLINE struct places places_of(const struct array *a, struct key key, uint64_t places) {
    struct places all = {.fingerprint = key.fingerprint, .home = {key.home}};
    UNROLLED for (uint64_t choice = 1; choice < choices_of(places); choice++) {
        uint64_t shift = shift_of(a, key.fingerprint, choice);
        all.home[choice] = add_around(key.home, shift, a->layout[CUCKOO_HOMES]);
    }
    return all;
}

/* What stands in a key's slot at its place 0; at the others it is more by the number of the
 * place. */
INLINE uint64_t code_of(uint64_t fingerprint, uint64_t places) {
    return fingerprint * places;
}

INLINE uint64_t fingerprint_in(uint64_t code, uint64_t places) {
    return (uint32_t)code / (uint32_t)places;
}

INLINE uint64_t place_in(uint64_t code, uint64_t places) {
    return code - code_of(fingerprint_in(code, places), places);
}

/* The home at which a key that sits in this slot, as its place of that number, is there. A damaged
 * slot gives some home within the array. */
INLINE uint64_t home_at(const struct array *a, uint64_t slot, uint64_t place, uint64_t places) {
    uint64_t home = slot - offset_of(place, places), last = a->layout[CUCKOO_HOMES] - 1;
    return home > last ? last : home;
}

/* Another home of the key in a slot: the first one, or the second one for who sits at the first. */
INLINE uint64_t other_home(const struct array *a, uint64_t slot, uint64_t code, uint64_t places) {
    uint64_t homes = a->layout[CUCKOO_HOMES], place = place_in(code, places), choice = choice_of(place, places);
    uint64_t shift = shift_of(a, fingerprint_in(code, places), choices_of(places) == 2 || !choice ? 1 : choice);
    return add_around(home_at(a, slot, place, places), choice ? homes - shift : shift, homes);
}

/* Whose slot it is. */
INLINE struct places places_at(const struct array *a, uint64_t slot, uint64_t code, uint64_t places) {
    uint64_t place = place_in(code, places), home = home_at(a, slot, place, places);
    uint64_t other = other_home(a, slot, code, places), later = choice_of(place, places);
    struct places all = {fingerprint_in(code, places), {later ? other : home, later ? home : other}};
    return choices_of(places) == 2 ? all : places_of(a, (struct key){all.home[0], all.fingerprint}, places);
}

INLINE uint64_t slot_at(const struct places *all, uint64_t place, uint64_t places) {
    return all->home[choice_of(place, places)] + offset_of(place, places);
}

/* Where the slots at a home are, its home number `choice`; and these slots, the first in the lowest
 * bits. */
INLINE struct slot_word window_word(const struct array *a, uint64_t home, uint64_t choice) {
    return slot_word(home, width_of(a), a->derived[choice ? CUCKOO_BACK_LATER : CUCKOO_BACK_FIRST]);
}

INLINE uint64_t window_in(const struct array *a, struct slot_word word) {
    return load64(a->bytes + word.byte) >> word.shift;
}

INLINE uint64_t window_at(const struct array *a, uint64_t home, uint64_t choice) {
    return window_in(a, window_word(a, home, choice));
}

/* The highest bit of each slot of such a window that is zero. */
INLINE uint64_t zeros_of(const struct array *a, uint64_t window, uint64_t choice) {
    uint64_t below = a->derived[CUCKOO_TOPS_FIRST] - a->derived[CUCKOO_ONES];
    return zero_slots(window, below, a->derived[choice ? CUCKOO_TOPS_LATER : CUCKOO_TOPS_FIRST]);
}

/* What stands in the slots of such a window if all are the key's. */
INLINE uint64_t copies_of(const struct array *a, uint64_t code, uint64_t choice, uint64_t places) {
    uint64_t ones = a->derived[CUCKOO_ONES];
    return code * ones + first_place(choice, places) * ones + a->derived[CUCKOO_NUMBERS];
}

INLINE void prefetch_home(const struct array *a, uint64_t home) {
    __builtin_prefetch(a->bytes + (home * width_of(a) >> 3), 0, 2);
}

/* A key in one word, for the stash. */
enum { CUCKOO_WHO_FINGERPRINT = CUCKOO_SLOT_WIDTH_MAX - 2 };

INLINE uint64_t who_is(uint64_t home, uint64_t fingerprint) {
    return home << CUCKOO_WHO_FINGERPRINT | fingerprint;
}

/* A damaged stash gives some key: no slot may be written empty, or with more bits than it has. */
INLINE struct key key_from(const struct array *a, uint64_t who) {
    struct key key = {who >> CUCKOO_WHO_FINGERPRINT, who & slot_mask(CUCKOO_WHO_FINGERPRINT)};
    if (key.home >= a->layout[CUCKOO_HOMES]) key.home = a->layout[CUCKOO_HOMES] - 1;
    if (key.fingerprint > a->derived[CUCKOO_FINGERPRINTS]) key.fingerprint = a->derived[CUCKOO_FINGERPRINTS];
    if (key.fingerprint == 0) key.fingerprint = 1;
    return key;
}

#endif
