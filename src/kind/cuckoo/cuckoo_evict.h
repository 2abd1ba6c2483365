/*
 * Making room in a cuckoo filter; a part of cuckoo.c.
 *
 * The search goes breadth first, from the slots of the new key to those where the keys that sit
 * there could go, and so on, until one is empty. Eight slots are left at a time: first all their
 * keys' first places are looked at, then all their second ones, and so on, which is an order that
 * vector units can keep. Nothing is moved before a path is found.
 *
 * A slot may be noted twice, but no path that is found goes through it twice: from the first time
 * on, the search would have come to the empty slot earlier. Only the window through which a slot
 * was reached is passed over when it is left: all its slots have just been noted.
 *
 * Copies of a key cannot go far: their places are the same. Many of them would leave no room for
 * others long before the slots are full. So a search that has gone on for long also ends at a slot
 * whose key has a copy in another of its places: that one goes to the stash.
 */
enum { NODES = 2048, NO_NODE = NODES, TOGETHER = 8, LONG = NODES / 2 };

/* A node: a slot, and in one word what stands in it, which place it would be of the key that would
 * move here, and the node of that key. Vectors write whole, so there is room for one behind the
 * last. */
enum { NOTE_PLACE = CUCKOO_SLOT_WIDTH_MAX, NOTE_FROM = 32 };

struct search {
    unsigned count;
    unsigned twin; /* a node whose key has a copy in another slot, or NO_NODE */
    uint64_t slot[NODES + TOGETHER];
    uint64_t note[NODES + TOGETHER];
};

INLINE uint64_t note_code(uint64_t note) {
    return note & slot_mask(CUCKOO_SLOT_WIDTH_MAX);
}

INLINE uint64_t note_place(uint64_t note) {
    return note >> NOTE_PLACE & (CUCKOO_PLACES_MAX - 1);
}

INLINE void note_slot(struct search *s, uint64_t slot, uint64_t code, uint64_t place, uint64_t from) {
    s->slot[s->count] = slot;
    s->note[s->count++] = code | place << NOTE_PLACE | from << NOTE_FROM;
}

/* The window through which a slot was reached: its first slot, and how many it has. */
struct reached {
    uint64_t first;
    unsigned slots;
};

INLINE struct reached reached_through(uint64_t slot, uint64_t note, uint64_t places) {
    uint64_t place = note_place(note);
    return (struct reached){slot - offset_of(place, places), window_slots(choice_of(place, places), places)};
}

/* Notes the places of the key that is to be added. */
INLINE void begin(const struct array *a, struct search *s, const struct places *all, uint64_t places) {
    s->count = 0;
    s->twin = NO_NODE;
    UNROLLED for (uint64_t place = 0; place < places; place++) {
        uint64_t slot = slot_at(all, place, places);
        note_slot(s, slot, slot_get(a->bytes, slot, width_of(a)), place, NO_NODE);
    }
}

/* Notes where the keys in `together` slots, from the first node on, could go; true if the last one
 * noted is empty. */
INLINE bool leave(const struct array *a, struct search *s, unsigned first, unsigned together, uint64_t places) {
    struct places all[TOGETHER];
    for (unsigned i = 0; i < together; i++)
        all[i] = places_at(a, s->slot[first + i], note_code(s->note[first + i]), places);
    UNROLLED for (uint64_t place = 0; place < places; place++) {
        for (unsigned i = 0; i < together; i++) {
            struct reached reached = reached_through(s->slot[first + i], s->note[first + i], places);
            uint64_t slot = slot_at(&all[i], place, places), code = slot_get(a->bytes, slot, width_of(a));
            bool twin = slot != s->slot[first + i] && code == code_of(all[i].fingerprint, places) + place;
            if (twin && s->twin == NO_NODE) s->twin = first + i;
            if (slot - reached.first < reached.slots) continue;
            note_slot(s, slot, code, place, first + i);
            if (!code) return true;
        }
    }
    return false;
}

#if defined(__x86_64__)
#include "kind/cuckoo/cuckoo_evict_avx512.h"
#endif

/* Both of them, for all those who sit in the key's places: true if one of them has an empty slot to
 * go to. `isa` is a constant in each caller. Of what was found in
 * vain, notes are taken only if the search goes on. */
INLINE bool first_step(const struct array *a, struct search *s, const struct places *all, uint64_t places, bool goes_on,
                       enum isa isa) {
#if defined(__x86_64__)
    if (isa == ISA_AVX512) return first_step_avx512(a, s, all, places, goes_on);
#endif
    (void)isa, (void)goes_on;
    begin(a, s, all, places);
    return leave(a, s, 0, (unsigned)places, places);
}

/* Moves every key on the path one step on, the last one first, into this node's slot. */
INLINE void move_along(struct array *a, const struct search *s, unsigned node, uint64_t fingerprint, uint64_t places) {
    for (;;) {
        uint64_t note = s->note[node];
        unsigned from = (unsigned)(note >> NOTE_FROM);
        uint64_t mover = from == NO_NODE ? fingerprint : fingerprint_in(note_code(s->note[from]), places);
        slot_set(a->bytes, s->slot[node], width_of(a), code_of(mover, places) + note_place(note));
        if (from == NO_NODE) return;
        node = from;
    }
}

/* Takes the key in a node's slot to the stash; false if there is no room. It has a copy in another
 * slot. */
static bool stash_twin(struct array *a, const struct search *s, unsigned node) {
    struct places all = places_at(a, s->slot[node], note_code(s->note[node]), a->layout[CUCKOO_PLACES]);
    struct stash stash = stash_of(a);
    uint64_t who = who_is(all.home[0], all.fingerprint), cell = stash_find(stash, who);
    if (cell == STASH_NOWHERE) return stash_put(stash, who, 1);
    stash_more(stash, cell, 1);
    return true;
}

/* Searches for a path to an empty slot; false if there is none, or the search was long and met a
 * twin. */
INLINE bool find_path(const struct array *a, struct search *s, const struct places *all, uint64_t places,
                      enum isa isa) {
    bool found = first_step(a, s, all, places, true, isa);
    for (unsigned first = (unsigned)places, together; !found && first < s->count; first += together) {
        if (s->count + TOGETHER * places > NODES || (s->count >= LONG && s->twin != NO_NODE)) break;
        together = s->count - first < TOGETHER ? s->count - first : TOGETHER;
#if defined(__x86_64__)
        if (isa == ISA_AVX512)
            found = leave_avx512(a, s, first, together, places);
        else
#endif
            found = leave(a, s, first, together, places);
    }
    return found;
}

/* Puts a key whose places are all taken into one of them. False, with nothing changed, if that
 * cannot be. */
INLINE bool make_room(struct array *a, const struct places *all, uint64_t places, enum isa isa) {
    struct search s;
    bool found = find_path(a, &s, all, places, isa);
    unsigned end = found ? s.count - 1 : s.twin;
    if (end == NO_NODE || (!found && !stash_twin(a, &s, end))) return false;
    move_along(a, &s, end, all->fingerprint, places);
    return true;
}

/* ---- a search of one step, ahead of its time ---- */

/* Who sits at a place of the key goes to this slot, which is empty, as this code; or NO_SLOT. It is
 * what a search would find as long as the key's windows stay as they are and the slot stays empty,
 * since no other slot becomes empty while keys are added. */
struct push {
    uint64_t slot, code, place;
    uint64_t window[CUCKOO_CHOICES_MAX];
};

INLINE uint64_t window_of(const struct array *a, uint64_t home, uint64_t choice, uint64_t places) {
    return window_at(a, home, choice) & slot_mask(window_slots(choice, places) * width_of(a));
}

INLINE void find_push(const struct array *a, const struct places *all, struct push *push, uint64_t places,
                      enum isa isa) {
    struct search s;
    push->slot = NO_SLOT;
    if (!first_step(a, &s, all, places, false, isa)) return;
    uint64_t note = s.note[s.count - 1], from = note >> NOTE_FROM;
    push->slot = s.slot[s.count - 1];
    push->place = from;
    push->code = code_of(fingerprint_in(note_code(s.note[from]), places), places) + note_place(note);
    UNROLLED for (uint64_t choice = 0; choice < choices_of(places); choice++) push->window[choice] =
        window_of(a, all->home[choice], choice, places);
}

/* False, with nothing changed, if it is not what a search would find now. */
INLINE bool do_push(struct array *a, const struct places *all, const struct push *push, uint64_t places) {
    uint64_t differs = 0;
    if (push->slot == NO_SLOT) return false;
    UNROLLED for (uint64_t choice = 0; choice < choices_of(places); choice++) differs |=
        window_of(a, all->home[choice], choice, places) ^ push->window[choice];
    if (differs || !slot_fill(a->bytes, push->slot, width_of(a), push->code)) return false;
    uint64_t code = code_of(all->fingerprint, places) + push->place;
    slot_set(a->bytes, slot_at(all, push->place, places), width_of(a), code);
    return true;
}
