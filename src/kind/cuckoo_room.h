/*
 * Making room in a cuckoo filter; a part of cuckoo.c.
 *
 * The search goes breadth first, from the slots of the new key to those where the keys that sit there could go, and so on,
 * until one is empty. Eight slots are left at a time: first all their keys' first places are looked at, then all their
 * second ones, and so on, which is the order in which vector units do it. Nothing is moved before a path is found.
 *
 * A slot may be noted twice, but no path that is found goes through it twice: from the first time on, the search would
 * have come to the empty slot earlier. Only the window through which a slot was reached is passed over when it is left: both
 * its slots have just been noted.
 *
 * Copies of a key cannot go far: their places are the same. Many of them would leave no room for others long before
 * the slots are full. So a search that has gone on for long also ends at a slot whose key has a copy in another of its
 * places: that one goes to the stash.
 */
enum { NODES = 2048, NO_NODE = NODES, TOGETHER = 8, LONG = NODES / 2 };

/* A node: a slot, and in one word what stands in it, what its choice and offset would be for the key that would move here,
 * and the node of that key. Vectors write whole, so there is room for one behind the last. */
enum { NOTE_PLACE = SLOT_WIDTH_MAX, NOTE_FROM = 32 };

struct search {
    unsigned count;
    unsigned twin; /* a node whose key has a copy in another slot, or NO_NODE */
    uint64_t slot[NODES + TOGETHER];
    uint64_t note[NODES + TOGETHER];
};

INLINE uint64_t note_code(uint64_t note) {
    return note & slot_mask(SLOT_WIDTH_MAX);
}

INLINE uint64_t note_place(uint64_t note) {
    return note >> NOTE_PLACE & 7;
}

INLINE void note_slot(struct search *s, uint64_t slot, uint64_t code, uint64_t place, uint64_t from) {
    s->slot[s->count] = slot;
    s->note[s->count++] = code | place << NOTE_PLACE | from << NOTE_FROM;
}

/* Notes where the keys in `together` slots, from the first node on, could go; true if the last one noted is empty. */
INLINE bool leave(const struct array *a, struct search *s, unsigned first, unsigned together, uint64_t choices) {
    struct places places[TOGETHER];
    for (unsigned i = 0; i < together; i++)
        places[i] = places_at(a, s->slot[first + i], note_code(s->note[first + i]), choices);
    for (uint64_t place = 0; place < 2 * choices; place++) {
        for (unsigned i = 0; i < together; i++) {
            uint64_t window = s->slot[first + i] - (note_place(s->note[first + i]) & 1);
            uint64_t slot = places[i].home[place >> 1] + (place & 1), code = slot_get(a->bytes, slot, width_of(a));
            bool twin = slot != s->slot[first + i] && code == (code_of(places[i].fingerprint, 0, choices) | place);
            if (twin && s->twin == NO_NODE) s->twin = first + i;
            if (slot - window <= 1) continue;
            note_slot(s, slot, code, place, first + i);
            if (!code) return true;
        }
    }
    return false;
}

#if defined(__x86_64__)
#include "simd/cuckoo_room_avx512.h"
#endif

/* Moves every key on the path one step on, the last one first, into this node's slot. */
static void move_along(struct array *a, const struct search *s, unsigned node, uint64_t fingerprint) {
    unsigned width = width_of(a), low = low_bits(a->layout[CHOICES]);
    for (;;) {
        uint64_t note = s->note[node];
        unsigned from = (unsigned)(note >> NOTE_FROM);
        uint64_t mover = from == NO_NODE ? fingerprint : note_code(s->note[from]) >> low;
        slot_set(a->bytes, s->slot[node], width, mover << low | note_place(note));
        if (from == NO_NODE) return;
        node = from;
    }
}

/* Takes the key in a node's slot to the stash; false if there is no room. It has a copy in another slot. */
static bool stash_twin(struct array *a, const struct search *s, unsigned node) {
    uint64_t code = note_code(s->note[node]), choices = a->layout[CHOICES];
    struct places places = places_at(a, s->slot[node], code, choices);
    struct stash stash = stash_of(a);
    uint64_t who = who_is(places.home[0], places.fingerprint), cell = stash_find(stash, who);
    if (cell == STASH_NOWHERE) return stash_put(stash, who, 1);
    stash_more(stash, cell, 1);
    return true;
}

/* Puts a key whose places are all taken into one of them. False, with nothing changed, if that cannot be. */
INLINE bool make_room(struct array *a, const struct places *places, uint64_t choices, int vector) {
    struct search s;
    s.count = 0;
    s.twin = NO_NODE;
    for (uint64_t place = 0; place < 2 * choices; place++) {
        uint64_t slot = places->home[place >> 1] + (place & 1);
        note_slot(&s, slot, slot_get(a->bytes, slot, width_of(a)), place, NO_NODE);
    }
    bool found = false;
    for (unsigned first = 0, together; !found && first < s.count; first += together) {
        if (s.count + 2 * TOGETHER * choices > NODES || (s.count >= LONG && s.twin != NO_NODE)) break;
        together = s.count - first < TOGETHER ? s.count - first : TOGETHER;
#if defined(__x86_64__)
        if (vector)
            found = leave_avx512(a, &s, first, together, choices);
        else
#endif
            found = leave(a, &s, first, together, choices);
    }
    (void)vector;
    unsigned end = found ? s.count - 1 : s.twin;
    if (end == NO_NODE || (!found && !stash_twin(a, &s, end))) return false;
    move_along(a, &s, end, places->fingerprint);
    return true;
}
