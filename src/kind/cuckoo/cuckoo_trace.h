/* Tracing cuckoo filters; a part of cuckoo.c. */
#include "kind/trace.h"

/* A cell of the stash and its number of copies, before an add and after it. */
TRACED static void trace_stash(struct trace *trace, uint64_t cell, uint64_t copies, uint64_t wanted, bool holds) {
    trace_step(trace, PERHAPS_STEP_STASH, "stash cell", holds, cell, copies & ~STASH_PLACELESS, wanted);
}

/* The slots of a key, in which copies of it are as many as this returns. */
static unsigned trace_slots(const struct array *a, const struct places *all, uint64_t places, struct trace *trace) {
    unsigned copies = 0;
    for (uint64_t choice = 0; choice < choices_of(places); choice++) {
        uint64_t code = code_of(all->fingerprint, places) + first_place(choice, places), home = all->home[choice];
        size_t at = trace_inside(trace, "home", home);
        unsigned before = copies;
        for (unsigned i = 0; i < window_slots(choice, places); i++)
            copies += trace_slot(trace, home + i, slot_get(a->bytes, home + i, width_of(a)), code + i);
        trace_settle(trace, at, copies > before);
    }
    return copies;
}

/* The moves of move_along(), from the last node of a path to its first. */
TRACED static void trace_path(const struct search *s, unsigned node, uint64_t fingerprint, uint64_t places,
                              struct trace *trace) {
    unsigned from = (unsigned)(s->note[node] >> NOTE_FROM);
    for (; from != NO_NODE; node = from, from = (unsigned)(s->note[node] >> NOTE_FROM)) {
        uint64_t code = note_code(s->note[from]), mover = code_of(fingerprint_in(code, places), places);
        trace_move(trace, s->slot[from], s->slot[node], code, mover + note_place(s->note[node]));
    }
    trace_store(trace, s->slot[node], note_code(s->note[node]),
                code_of(fingerprint, places) + note_place(s->note[node]));
}

/* Where stash_twin() would put the key of a node; false if nowhere. */
TRACED static bool trace_twin(const struct array *a, const struct search *s, unsigned node, struct trace *trace) {
    struct places all = places_at(a, s->slot[node], note_code(s->note[node]), a->layout[CUCKOO_PLACES]);
    struct stash stash = stash_of(a);
    uint64_t who = who_is(all.home[0], all.fingerprint), cell = stash_find(stash, who), copies = 0;
    if (cell != STASH_NOWHERE)
        copies = stash_copies(stash, cell);
    else
        cell = stash_vacant(stash, who);
    if (cell == STASH_NOWHERE) return false;
    trace_stash(trace, cell, copies, (copies & ~STASH_PLACELESS) + 1, false);
    return true;
}

/* What add_where_full() would do. */
TRACED static int trace_full(const struct array *a, const struct places *all, unsigned copies, struct trace *trace) {
    struct search s;
    uint64_t places = a->layout[CUCKOO_PLACES];
    bool found = copies < places && find_path(a, &s, all, places, 0);
    bool twin = copies < places && !found && s.twin != NO_NODE && trace_twin(a, &s, s.twin, trace);
    if (found || twin) {
        trace_path(&s, found ? s.count - 1 : s.twin, all->fingerprint, places, trace);
        return trace_answer(
            trace, true, 1,
            found ? "Other keys move to their other places, and the key takes the slot that is free then."
                  : "A copy of another key goes to the stash, and the key takes the slot that is free then.");
    }
    uint64_t cell = stash_vacant(stash_of(a), who_is(all->home[0], all->fingerprint));
    if (cell == STASH_NOWHERE) return FULL;
    trace_stash(trace, cell, 0, 1, false);
    return trace_answer(trace, true, 1, "All slots of the key are taken, and the stash takes it.");
}

TRACED static int cuckoo_trace(const struct array *a, struct digest digest, bool adding, struct trace *trace) {
    uint64_t places = a->layout[CUCKOO_PLACES];
    struct places all = places_of(a, key_of(a, digest.first), places);
    struct stash stash = stash_of(a);
    unsigned copies = trace_slots(a, &all, places, trace);
    struct opening opening = opening_of(a, &all, places);
    uint64_t cell = stashed_at(stash, &all), stashed = cell == STASH_NOWHERE ? 0 : stash_copies(stash, cell);
    if (stashed) trace_stash(trace, cell, stashed, (stashed & ~STASH_PLACELESS) + adding, true);
    if (!adding) {
        bool found = copies || is_placeless(a, all.home[0], all.fingerprint);
        return trace_answer(trace, false, found,
                            copies  ? "A slot has the key's fingerprint."
                            : found ? "The stash has the key."
                                    : "No slot has the key's fingerprint.");
    }
    if (stashed) return trace_answer(trace, true, 1, "The stash has copies of the key, and counts one more.");
    if (opening.slot == NO_SLOT) return trace_full(a, &all, copies, trace);
    trace_store(trace, opening.slot, 0, opening.code);
    return trace_answer(trace, true, 1, "The key takes an empty slot.");
}

TRACED static uint64_t cuckoo_cells(const struct array *a, uint64_t i, uint64_t *value) {
    if (i < slots_of(a->layout)) *value = slot_get(a->bytes, i, width_of(a));
    return slots_of(a->layout);
}
