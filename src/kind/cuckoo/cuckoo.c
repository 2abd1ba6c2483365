/*
 * The cuckoo filter (Fan, Andersen, Kaminsky, Mitzenmacher, "Cuckoo filter: practically better than
 * Bloom", 2014), with fingerprints that know where they belong, in windows of two or three slots.
 *
 * Idea: a key is a home, one of n, and a short fingerprint. The fingerprint is kept in one of the
 * three slots at the home, or in one of the two at a second home, a shift further, that follows
 * from the fingerprint. When all five are taken, one of those who sit there moves to another of its
 * own places, and so on. Removing a key empties its slot again.
 *
 *     digest ─┬─▶ home 0..n-1
 *             └─▶ fingerprint 1..F ─▶ shift 3..n-2, at most 32,770
 *
 *     slot      h    h+1   h+2                  h+s   h+s+1                   n+1
 *     ┬───┬───┬─────┬─────┬─────┬───┬───┬───┬───┬─────┬─────┬───┬───┬───┬───┬─────┐
 *     │   │   │  0  │  1  │  2  │   │   │   │   │  3  │  4  │   │   │   │   │     │
 *     ┴───┴───┴─────┴─────┴─────┴───┴───┴───┴───┴─────┴─────┴───┴───┴───┴───┴─────┘
 *                                               a slot: fingerprint · 5 + place
 *
 * A slot has, beside the fingerprint, which of the places it is: so the home follows from the slot
 * alone, whatever n is and however many homes a key has, and a query compares the place too, which
 * pays for itself. A non-member meets each of its places with the right number in a fifth of the
 * cases, so its five places give one chance of load / F.
 *
 * There may also be four places, two at each home, and six or eight at three or four homes. Four
 * take the least of a slot, so that more fingerprints fit into it; five find room sooner. Which is
 * better depends on where the rate lies between two widths (cuckoo_fpr.c).
 *
 * Example: a million keys at 1 % have slots of 9 bits, which hold 101 fingerprints at five places:
 * 1.09 million slots, 92 % full, 9.8 bits per key, and a rate of 0.92/101 = 0.91 %. Buckets of four
 * with the usual XOR take 10.5 bits, or up to twice that after rounding up.
 *
 * Insertion, with numbers: 9 homes are 11 slots, here of 6 bits, which hold 11 fingerprints at five
 * places. Eight keys are in it, each written as its fingerprint and the place it has. Now comes a
 * key with home 3 and fingerprint 10. Its second home is 6, so that its places are the slots 3, 4,
 * 5 and 6, 7. All are taken:
 *
 *     slot       0     1     2     3     4     5     6     7     8     9     10
 *     before     -    1·0  11·4  11·4   6·1   5·1   6·1   2·1   9·1    -     -
 *     after      -    1·0  11·4  11·4   6·1   5·1   6·1  10·4   2·2   9·2    -
 *
 * The search looks where the keys in these five slots could go. All those places are taken too. One
 * of them is slot 8: the key in slot 7 (fingerprint 2, place 1) has home 6, and slot 8 is its place
 * 2. The key in slot 8 (fingerprint 9, place 1, so its home is 7) could go to its place 2, slot 9,
 * which is empty. That ends the search. The moves go from the end of the path to its beginning: 9
 * to slot 9, 2 to slot 8, and the new key to slot 7, as place 4: 10 · 5 + 4 = 54.
 *
 * To make room, places are searched breadth first until an empty one is found, and only then is
 * anything moved, from the end of the path to its beginning. Keys that find none go to the stash
 * (cuckoo_stash.h), and so do copies of a key whose places are all its own: a key may be added as
 * often as a 63-bit number can count.
 *
 * Cost: a cache line a home and query. Layout: homes, bits of a slot, places, cells of the stash,
 * and by how many bits fingerprints are longer than those of the first of several layers
 * (cuckoo_layout.h). The slots come first, then CUCKOO_SLOTS_BEYOND bytes and zeros up to a
 * multiple of eight, then the stash.
 *
 * Invariants
 *   I1  a slot is zero, or its fingerprint is not; its home lies in 0..n-1.
 *   I2  a key that was added n times and removed m times has n - m copies, in slots and stash
 *       together.
 *   I3  a key in the stash that is not marked placeless has a copy in a slot; removing takes from
 *       the stash first.
 */
#include "kind/cuckoo/cuckoo_layout.h"

static uint64_t payload_bytes(const uint64_t layout[LAYOUT_WORDS], const char **reason) {
    *reason = NULL;
    if (layout[CUCKOO_HOMES] < CUCKOO_HOMES_MIN || layout[CUCKOO_HOMES] > CUCKOO_HOMES_MAX)
        *reason = "a number of homes out of range";
    else if (!places_fit(layout[CUCKOO_PLACES]))
        *reason = "a number of places that is not 4, 5, 6 or 8";
    else if (!slots_fit(layout[CUCKOO_WIDTH], layout[CUCKOO_LONGER], layout[CUCKOO_PLACES]))
        *reason = "a number of bits per slot out of range";
    else if (layout[CUCKOO_STASH] < 2 || layout[CUCKOO_STASH] > CUCKOO_STASH_MAX)
        *reason = "a stash out of range";
    return *reason ? 0 : length_of(layout);
}

/* An empty slot of a key, and what the key would write there; NO_SLOT if there is none. */
#define NO_SLOT UINT64_MAX
struct opening {
    uint64_t slot, code;
};

/* The first place that is empty, but the last for every second fingerprint, so that slots fill
 * evenly. Were it the first for all, keys would stand in rows, and room would be harder to find.
 * Nothing branches on what is empty: it would be mispredicted half of the time. */
INLINE struct opening opening_of(const struct array *a, const struct places *all, uint64_t places) {
    const unsigned width = width_of(a);
    const bool last = all->fingerprint % 2;
    uint64_t home = 0, before = 0, empty = 0;
    UNROLLED for (uint64_t choice = 0; choice < choices_of(places); choice++) {
        uint64_t here = zeros_of(a, window_at(a, all->home[choice], choice), choice);
        bool taken = here && (last || !empty);
        home = taken ? all->home[choice] : home;
        before = taken ? first_place(choice, places) : before;
        empty = taken ? here : empty;
    }
    if (!empty) return (struct opening){.slot = NO_SLOT};
    uint64_t top = last ? (UINT64_C(1) << 63) >> __builtin_clzll(empty) : empty & (0 - empty);
    uint64_t number = slot_of_top(top, width);
    return (struct opening){home + number, code_of(all->fingerprint, places) + before + number};
}

#include "kind/cuckoo/cuckoo_evict.h"

/* ---- one key ---- */

/* Puts a copy into an empty slot of the key. */
INLINE bool put(struct array *a, const struct places *all, uint64_t places) {
    struct opening opening = opening_of(a, all, places);
    if (opening.slot == NO_SLOT) return false;
    slot_set(a->bytes, opening.slot, width_of(a), opening.code);
    return true;
}

/* The highest bit of each slot of the window at home `choice` that has a copy. For a single key the
 * word begins at the window's first byte: one in nine then reaches into the next cache line, which
 * costs less time than avoiding that (slot_word). */
INLINE uint64_t match_at(const struct array *a, const struct places *all, uint64_t choice, uint64_t places) {
    uint64_t bit = all->home[choice] * width_of(a), window = load64(a->bytes + (bit >> 3)) >> (bit & 7);
    return zeros_of(a, window ^ copies_of(a, code_of(all->fingerprint, places), choice, places), choice);
}

INLINE bool is_in_slots(const struct array *a, const struct places *all, uint64_t places) {
    uint64_t found = 0;
    UNROLLED for (uint64_t choice = 0; choice < choices_of(places); choice++) found |= match_at(a, all, choice, places);
    return found != 0;
}

INLINE unsigned copies_in_slots(const struct array *a, const struct places *all, uint64_t places) {
    unsigned copies = 0;
    UNROLLED for (uint64_t choice = 0; choice < choices_of(places); choice++) copies +=
        (unsigned)__builtin_popcountll(match_at(a, all, choice, places));
    return copies;
}

/* Where the stash has the key, or STASH_NOWHERE. */
INLINE uint64_t stashed_at(struct stash stash, const struct places *places) {
    if (__builtin_expect(stash_entries(stash) == 0, 1)) return STASH_NOWHERE;
    return stash_find(stash, who_is(places->home[0], places->fingerprint));
}

/* A key whose places are all taken: others make room, or it goes to the stash. */
INLINE int add_where_full(struct array *a, const struct places *all, uint64_t places, enum isa isa) {
    unsigned copies = copies_in_slots(a, all, places);
    if (copies < places && make_room(a, all, places, isa)) return 1;
    uint64_t who = who_is(all->home[0], all->fingerprint);
    return stash_put(stash_of(a), who, copies ? 1 : STASH_PLACELESS | 1) ? 1 : FULL;
}

/* Kept apart, so that adding where there is room stays small. Filters of five places are the most
 * common ones. */
static __attribute__((noinline)) int add_full_plain(struct array *a, const struct places *all) {
    uint64_t places = a->layout[CUCKOO_PLACES];
    return places == 5 ? add_where_full(a, all, 5, ISA_SCALAR) : add_where_full(a, all, places, ISA_SCALAR);
}

#if defined(__x86_64__)
TARGET_AVX512 static __attribute__((noinline)) int add_full_avx512(struct array *a, const struct places *all) {
    uint64_t places = a->layout[CUCKOO_PLACES];
    if (places == 5) return add_where_full(a, all, 5, ISA_AVX512);
    return places == 4 ? add_where_full(a, all, 4, ISA_AVX512) : add_where_full(a, all, places, ISA_AVX512);
}
#else
#define add_full_avx512 add_full_plain
#endif

INLINE int add_places(struct array *a, const struct places *all, uint64_t places, enum isa isa) {
    struct stash stash = stash_of(a);
    uint64_t cell = stashed_at(stash, all);
    if (cell != STASH_NOWHERE) {
        stash_more(stash, cell, 1);
        return 1;
    }
    if (put(a, all, places)) return 1;
    return isa == ISA_AVX512 ? add_full_avx512(a, all) : add_full_plain(a, all);
}

/* A query that no slot has answered, in a filter that has placeless keys. */
static __attribute__((noinline)) bool is_placeless(const struct array *a, uint64_t home, uint64_t fingerprint) {
    return stash_find(stash_of(a), who_is(home, fingerprint)) != STASH_NOWHERE;
}

/* No branch depends on the answer unless keys are placeless. */
INLINE int contains_key(const struct array *a, uint64_t digest, uint64_t places) {
    struct places all = places_of(a, key_of(a, digest), places);
    bool found = is_in_slots(a, &all, places);
    if (__builtin_expect(stash_placeless(stash_of(a)) == 0, 1)) return found;
    return found || is_placeless(a, all.home[0], all.fingerprint);
}

INLINE uint64_t count_key(const struct array *a, uint64_t digest, uint64_t places) {
    struct places all = places_of(a, key_of(a, digest), places);
    struct stash stash = stash_of(a);
    uint64_t cell = stashed_at(stash, &all);
    return copies_in_slots(a, &all, places) +
           (cell == STASH_NOWHERE ? 0 : stash_copies(stash, cell) & ~STASH_PLACELESS);
}

/* ---- forgetting ---- */

/* After a slot has become free: looks at some cells of the stash, from one that follows from the
 * key, for a placeless key, and gives it a slot. Over many removes all cells come round. */
static __attribute__((noinline)) void call_back(struct array *a, uint64_t who) {
    enum { CELLS_LOOKED_AT = 64 };
    struct stash stash = stash_of(a);
    uint64_t cell = stash_start(stash, who), places = a->layout[CUCKOO_PLACES];
    for (uint64_t i = 0; i < CELLS_LOOKED_AT && i < stash.cells; i++, cell = stash_after(stash, cell)) {
        if (!(stash_copies(stash, cell) & STASH_PLACELESS)) continue;
        struct key key = key_from(a, stash_who(stash, cell));
        struct places all = places_of(a, key, places);
        if (put(a, &all, places) || make_room(a, &all, places, ISA_SCALAR)) stash_settle(stash, cell);
        return;
    }
}

INLINE int remove_key(struct array *a, uint64_t digest, uint64_t places) {
    struct places all = places_of(a, key_of(a, digest), places);
    struct stash stash = stash_of(a);
    uint64_t cell = stashed_at(stash, &all);
    if (cell != STASH_NOWHERE) {
        stash_take(stash, cell);
        return 1;
    }
    struct slot_word word = {0, 0};
    uint64_t copies = 0, code = code_of(all.fingerprint, places);
    UNROLLED for (uint64_t choice = 0; choice < choices_of(places); choice++) {
        struct slot_word here = window_word(a, all.home[choice], choice);
        uint64_t found = zeros_of(a, window_in(a, here) ^ copies_of(a, code, choice, places), choice);
        word.byte = copies ? word.byte : here.byte;
        word.shift = copies ? word.shift : here.shift;
        copies = copies ? copies : found;
    }
    if (!copies) return 0;
    clear_slot(a->bytes, word, copies & (0 - copies), width_of(a));
    if (stash_placeless(stash)) call_back(a, who_is(all.home[0], all.fingerprint));
    return 1;
}

static void cuckoo_prefetch(const struct array *a, struct digest digest) {
    uint64_t places = a->layout[CUCKOO_PLACES];
    struct places all = places_of(a, key_of(a, digest.first), places);
    for (uint64_t choice = 0; choice < choices_of(places); choice++) prefetch_home(a, all.home[choice]);
}

/* ---- the operations, for each number of places ---- */

#include "kind/cuckoo/cuckoo_batch.h"

#define CUCKOO_OPS(table, target, number, isa, add_name, put_many_name, add_many_name, add_partition_name,             \
                   contains_name, contains_many_name, remove_name, count_name)                                         \
    target static int add_name(struct array *a, struct digest digest) {                                                \
        struct places all = places_of(a, key_of(a, digest.first), number);                                             \
        return add_places(a, &all, number, isa);                                                                       \
    }                                                                                                                  \
    target static __attribute__((noinline)) size_t put_many_name(struct array *a, const uint64_t *digests, size_t n,   \
                                                                 uint8_t *answers, const char *ahead,                  \
                                                                 const struct span *next) {                            \
        return put_many(a, digests, n, answers, ahead, next, number, isa);                                             \
    }                                                                                                                  \
    target static size_t add_many_name(struct array *a, const uint64_t *digests, size_t n, uint8_t *answers,           \
                                       const char *ahead) {                                                            \
        return put_many_name(a, digests, n, answers, ahead, NULL);                                                     \
    }                                                                                                                  \
    target static size_t add_partition_name(struct array *a, const uint64_t *digests, size_t n,                        \
                                            const struct span *next) {                                                 \
        return put_many_name(a, digests, n, NULL, NULL, next);                                                         \
    }                                                                                                                  \
    target static int contains_name(const struct array *a, struct digest digest) {                                     \
        return contains_key(a, digest.first, number);                                                                  \
    }                                                                                                                  \
    target static void contains_many_name(const struct array *a, const uint64_t *digests, size_t n, uint8_t *answers,  \
                                          const char *ahead) {                                                         \
        query_many(a, digests, n, answers, ahead, number, isa);                                                        \
    }                                                                                                                  \
    target static int remove_name(struct array *a, struct digest digest) {                                             \
        return remove_key(a, digest.first, number);                                                                    \
    }                                                                                                                  \
    target static uint64_t count_name(const struct array *a, struct digest digest) {                                   \
        return count_key(a, digest.first, number);                                                                     \
    }                                                                                                                  \
    static const struct kind_ops table = {                                                                             \
        BASIC_OPS(add_name, contains_name, add_many_name, contains_many_name, cuckoo_prefetch),                        \
        .remove = BEYOND_QUERIES(remove_name), .count = BEYOND_QUERIES(count_name),                                    \
        .batch = &(const struct batch_ops){.add_partition = BEYOND_QUERIES(add_partition_name)}};

CUCKOO_OPS(cuckoo_ops_4, , 4, ISA_SCALAR, cuckoo_add_4, cuckoo_put_many_4, cuckoo_add_many_4, cuckoo_add_partition_4,
           cuckoo_contains_4, cuckoo_contains_many_4, cuckoo_remove_4, cuckoo_count_4)
CUCKOO_OPS(cuckoo_ops_5, , 5, ISA_SCALAR, cuckoo_add_5, cuckoo_put_many_5, cuckoo_add_many_5, cuckoo_add_partition_5,
           cuckoo_contains_5, cuckoo_contains_many_5, cuckoo_remove_5, cuckoo_count_5)
CUCKOO_OPS(cuckoo_ops_6, , 6, ISA_SCALAR, cuckoo_add_6, cuckoo_put_many_6, cuckoo_add_many_6, cuckoo_add_partition_6,
           cuckoo_contains_6, cuckoo_contains_many_6, cuckoo_remove_6, cuckoo_count_6)
CUCKOO_OPS(cuckoo_ops_8, , 8, ISA_SCALAR, cuckoo_add_8, cuckoo_put_many_8, cuckoo_add_many_8, cuckoo_add_partition_8,
           cuckoo_contains_8, cuckoo_contains_many_8, cuckoo_remove_8, cuckoo_count_8)
#if defined(__x86_64__)
CUCKOO_OPS(cuckoo_ops_4_avx2, TARGET_AVX2, 4, ISA_AVX2, cuckoo_add_4_avx2, cuckoo_put_many_4_avx2,
           cuckoo_add_many_4_avx2, cuckoo_add_partition_4_avx2, cuckoo_contains_4_avx2, cuckoo_contains_many_4_avx2,
           cuckoo_remove_4_avx2, cuckoo_count_4_avx2)
CUCKOO_OPS(cuckoo_ops_5_avx2, TARGET_AVX2, 5, ISA_AVX2, cuckoo_add_5_avx2, cuckoo_put_many_5_avx2,
           cuckoo_add_many_5_avx2, cuckoo_add_partition_5_avx2, cuckoo_contains_5_avx2, cuckoo_contains_many_5_avx2,
           cuckoo_remove_5_avx2, cuckoo_count_5_avx2)
CUCKOO_OPS(cuckoo_ops_4_avx512, TARGET_AVX512, 4, ISA_AVX512, cuckoo_add_4_avx512, cuckoo_put_many_4_avx512,
           cuckoo_add_many_4_avx512, cuckoo_add_partition_4_avx512, cuckoo_contains_4_avx512,
           cuckoo_contains_many_4_avx512, cuckoo_remove_4_avx512, cuckoo_count_4_avx512)
CUCKOO_OPS(cuckoo_ops_5_avx512, TARGET_AVX512, 5, ISA_AVX512, cuckoo_add_5_avx512, cuckoo_put_many_5_avx512,
           cuckoo_add_many_5_avx512, cuckoo_add_partition_5_avx512, cuckoo_contains_5_avx512,
           cuckoo_contains_many_5_avx512, cuckoo_remove_5_avx512, cuckoo_count_5_avx512)
CUCKOO_OPS(cuckoo_ops_6_avx512, TARGET_AVX512, 6, ISA_AVX512, cuckoo_add_6_avx512, cuckoo_put_many_6_avx512,
           cuckoo_add_many_6_avx512, cuckoo_add_partition_6_avx512, cuckoo_contains_6_avx512,
           cuckoo_contains_many_6_avx512, cuckoo_remove_6_avx512, cuckoo_count_6_avx512)
CUCKOO_OPS(cuckoo_ops_8_avx512, TARGET_AVX512, 8, ISA_AVX512, cuckoo_add_8_avx512, cuckoo_put_many_8_avx512,
           cuckoo_add_many_8_avx512, cuckoo_add_partition_8_avx512, cuckoo_contains_8_avx512,
           cuckoo_contains_many_8_avx512, cuckoo_remove_8_avx512, cuckoo_count_8_avx512)
#endif

static const struct kind_ops *ops(const uint64_t layout[LAYOUT_WORDS], enum isa isa, bool shared) {
    static const struct kind_ops *const plain[CUCKOO_PLACES_MAX + 1] = {
        [4] = &cuckoo_ops_4, [5] = &cuckoo_ops_5, [6] = &cuckoo_ops_6, [8] = &cuckoo_ops_8};
    (void)isa, (void)shared;
#if defined(__x86_64__)
    static const struct kind_ops *const avx512[CUCKOO_PLACES_MAX + 1] = {
        [4] = &cuckoo_ops_4_avx512, [5] = &cuckoo_ops_5_avx512, [6] = &cuckoo_ops_6_avx512, [8] = &cuckoo_ops_8_avx512};
    static const struct kind_ops *const avx2[CUCKOO_PLACES_MAX + 1] = {
        [4] = &cuckoo_ops_4_avx2, [5] = &cuckoo_ops_5_avx2, [6] = &cuckoo_ops_6, [8] = &cuckoo_ops_8};
    if (isa == ISA_AVX512) return avx512[layout[CUCKOO_PLACES]];
    if (isa == ISA_AVX2) return avx2[layout[CUCKOO_PLACES]];
#endif
    return plain[layout[CUCKOO_PLACES]];
}

/* ---- whole filters ---- */

/* False if there is no room. */
static bool add_copies(struct array *a, struct key key, uint64_t copies) {
    struct stash stash = stash_of(a);
    struct places all = places_of(a, key, a->layout[CUCKOO_PLACES]);
    for (; copies; copies--) {
        uint64_t cell = stashed_at(stash, &all);
        if (cell != STASH_NOWHERE) {
            stash_more(stash, cell, copies);
            return true;
        }
        if (add_places(a, &all, a->layout[CUCKOO_PLACES], ISA_SCALAR) == FULL) return false;
    }
    return true;
}

static bool merge(struct array *into, const struct array *from) {
    struct stash stash = stash_of(from);
    for (uint64_t slot = 0; slot < slots_of(from->layout); slot++) {
        uint64_t code = slot_get(from->bytes, slot, width_of(from));
        struct places sits = places_at(from, slot, code, from->layout[CUCKOO_PLACES]);
        /* From a damaged slot it is still a possible key. */
        struct key key = key_from(from, who_is(sits.home[0], sits.fingerprint));
        if (code && !add_copies(into, key, 1)) return false;
    }
    for (uint64_t cell = 0; cell < stash.cells; cell++) {
        uint64_t copies = stash_copies(stash, cell) & ~STASH_PLACELESS;
        if (!add_copies(into, key_from(from, stash_who(stash, cell)), copies)) return false;
    }
    return true;
}

/* Copies may take a larger stash; keys without a slot may not: when they fill a stash of the
 * planned size, the filter is full. */
static bool grow(const struct array *a, uint64_t digest, uint64_t layout[LAYOUT_WORDS], uint64_t *capacity) {
    (void)digest, (void)capacity;
    uint64_t planned = stash_cells_for(a->layout[CUCKOO_HOMES]);
    if (stash_placeless(stash_of(a)) >= planned - planned / 4 || a->layout[CUCKOO_STASH] > CUCKOO_STASH_MAX / 2)
        return false;
    memcpy(layout, a->layout, sizeof a->layout);
    layout[CUCKOO_STASH] *= 2;
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
    layout[CUCKOO_STASH] = stash_cells_for(layout[CUCKOO_HOMES]);
}

static const struct growable growable = {
    .full = "the cuckoo filter has no room for another key", .grow = grow, .rehash = rehash, .ungrow = ungrow};

static const struct combinable combinable = {.combine = {merge}, .reinserts = true};

#include "kind/cuckoo/cuckoo_trace.h"

const struct kind kind_cuckoo = {
    .row = {PERHAPS_CUCKOO, PERHAPS_ADD | PERHAPS_REMOVE | PERHAPS_COUNT | PERHAPS_MERGE, "cuckoo",
            "cuckoo filter: keys can be removed and counted; small"},
    .hashing = {.hash = PERHAPS_XXH3, .words = 1},
    .words = {.name = {"homes", "bits of a slot", "places", "cells of the stash", "bits beyond the first layer's"},
              .may_differ = 1 << CUCKOO_STASH},
    .payload_bytes = payload_bytes,
    .ops = ops,
    .derive = cuckoo_derive,
    .model = &model_cuckoo,
    .growable = BEYOND_QUERIES(&growable),
    .combinable = BEYOND_QUERIES(&combinable),
    .trace = BEYOND_QUERIES(cuckoo_trace),
    .cells = BEYOND_QUERIES(cuckoo_cells),
    .cell = "slot",
};
