/*
 * Where the keys of a cuckoo filter belong: from a digest to its homes, from a slot back to its key. cuckoo.c has the
 * drawing.
 */
#ifndef PERHAPS_KIND_PLACES_H
#define PERHAPS_KIND_PLACES_H

#include "base/arith.h"
#include "kind.h"
#include "kind/stash.h"
#include "store/slots.h"

enum { HOMES, FINGERPRINT, CHOICES, STASH, LONGER }; /* the words of the layout */
enum { HOMES_MIN = 8, FINGERPRINT_MIN = 2, CHOICES_MAX = 4 };

#define FINGERPRINT_HASH  UINT64_C(0xBB67AE8584CAA73B)
#define SHIFT_HASH_FIRST  UINT64_C(0x9E3779B97F4A7C15)
#define SHIFT_HASH_SECOND UINT64_C(0xD6E8FEB86659FD93)

#define HOMES_MAX (UINT64_C(1) << 37)
#define STASH_MAX (UINT64_C(1) << 37)

/* ---- the layout ---- */

/* Bits of a slot below its fingerprint: the choice and the offset. */
static inline unsigned low_bits(uint64_t choices) {
    return choices > 2 ? 3 : 2;
}

static inline unsigned width_of(const struct array *a) {
    return (unsigned)a->layout[FINGERPRINT] + low_bits(a->layout[CHOICES]);
}

static inline struct stash stash_of(const struct array *a) {
    uint64_t cells = a->layout[STASH];
    return (struct stash){a->bytes + (a->length - stash_length(cells)), cells};
}

/* Fingerprints are 1 and up to this. Those of a filter that is laid over others (growing.c) are longer than those of the first
 * one by some bits, and each of them is one of the shorter ones and those bits: keys that look the same here look the same
 * there. */
static inline uint64_t fingerprints_of(const uint64_t layout[LAYOUT_WORDS]) {
    return slot_mask((unsigned)(layout[FINGERPRINT] - layout[LONGER])) << layout[LONGER];
}

/* ---- keys and places ---- */

#define INLINE static inline __attribute__((always_inline))

/* A key as the filter knows it: one of homes · (2^f - 1). */
struct key {
    uint64_t home; /* the first */
    uint64_t fingerprint;
};

/* All its homes. In what follows `choices`, how many they are, is a constant in each caller. */
struct places {
    uint64_t fingerprint;
    uint64_t home[CHOICES_MAX];
};

/* The fingerprint takes its own mix of the digest; the digest itself picks the home. */
INLINE uint64_t fingerprint_of(uint64_t digest, uint64_t fingerprints) {
    uint64_t mixed = digest * FINGERPRINT_HASH >> 32;
    return 1 + (mixed * fingerprints >> 32);
}

INLINE struct key key_of(const struct array *a, uint64_t digest) {
    return (struct key){mul_high(digest, a->layout[HOMES]), fingerprint_of(digest, fingerprints_of(a->layout))};
}

/* How many homes further home `choice` lies: 0 for the first, else 2..homes-2, so that no two windows of a key share a
 * slot where there are two choices. */
INLINE uint64_t shift_hash(uint64_t fingerprint, uint64_t choice) {
    uint64_t x = (fingerprint + (choice << 32)) * SHIFT_HASH_FIRST;
    return (x ^ x >> 32) * SHIFT_HASH_SECOND;
}

INLINE uint64_t shift_of(uint64_t homes, uint64_t fingerprint, uint64_t choice) {
    return choice ? 2 + mul_high(shift_hash(fingerprint, choice), homes - 3) : 0;
}

INLINE uint64_t add_around(uint64_t home, uint64_t shift, uint64_t homes) {
    uint64_t sum = home + shift;
    return sum >= homes ? sum - homes : sum;
}

INLINE struct places places_of(const struct array *a, struct key key, uint64_t choices) {
    struct places places = {.fingerprint = key.fingerprint, .home = {key.home}};
    for (uint64_t choice = 1; choice < choices; choice++) {
        uint64_t shift = shift_of(a->layout[HOMES], key.fingerprint, choice);
        places.home[choice] = add_around(key.home, shift, a->layout[HOMES]);
    }
    return places;
}

INLINE uint64_t choice_in(uint64_t code, uint64_t choices) {
    return (code & slot_mask(low_bits(choices))) >> 1;
}

/* The home at which a slot's key sits there. A damaged slot gives some home within the array. */
INLINE uint64_t home_at(const struct array *a, uint64_t slot, uint64_t code) {
    uint64_t home = slot - (code & 1), last = a->layout[HOMES] - 1;
    return home > last ? last : home;
}

/* Another home of the key in a slot: the first one, or the second one for who sits at the first. */
INLINE uint64_t other_home(const struct array *a, uint64_t slot, uint64_t code, uint64_t choices) {
    uint64_t homes = a->layout[HOMES], home = home_at(a, slot, code), choice = choice_in(code, choices);
    uint64_t shift = shift_of(homes, code >> low_bits(choices), choices == 2 || !choice ? 1 : choice);
    return add_around(home, choice ? homes - shift : shift, homes);
}

/* Whose slot it is. */
INLINE struct places places_at(const struct array *a, uint64_t slot, uint64_t code, uint64_t choices) {
    uint64_t home = home_at(a, slot, code), other = other_home(a, slot, code, choices);
    uint64_t first = choice_in(code, choices) ? other : home, second = choice_in(code, choices) ? home : other;
    struct places places = {code >> low_bits(choices), {first, second}};
    return choices == 2 ? places : places_of(a, (struct key){first, places.fingerprint}, choices);
}

/* What stands in a key's slot at home `choice`, at an offset of 0; at 1 it is one more. */
INLINE uint64_t code_of(uint64_t fingerprint, uint64_t choice, uint64_t choices) {
    return fingerprint << low_bits(choices) | choice << 1;
}

INLINE uint64_t window_at(const struct array *a, uint64_t home) {
    return slots_at(a->bytes, home, width_of(a));
}

INLINE void fetch_home(const struct array *a, uint64_t home) {
    __builtin_prefetch(a->bytes + (home * width_of(a) >> 3), 0, 2);
}

/* A key in one word, for the stash. */
INLINE uint64_t who_is(uint64_t home, uint64_t fingerprint) {
    return home << (SLOT_WIDTH_MAX - 2) | fingerprint;
}

INLINE struct key key_from(const struct array *a, uint64_t who) {
    struct key key = {who >> (SLOT_WIDTH_MAX - 2), who & slot_mask((unsigned)a->layout[FINGERPRINT])};
    if (key.home >= a->layout[HOMES]) key.home = a->layout[HOMES] - 1;
    if (key.fingerprint == 0) key.fingerprint = 1; /* a damaged stash: no slot may be written empty */
    return key;
}

#endif
