#include "holders.h"

#include <stdlib.h>
#include <string.h>

bool step_has_holders(const perhaps_step *step) {
    static const char *const cells[] = {"bit", "counter", "slot", "stash cell"};
    bool named = false;
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) named |= strcmp(step->name, cells[i]) == 0;
    return named && step->holds && step->wanted;
}

/* Calls the function for each step that holds; without `holders` only in the children that answer
 * "perhaps": the key is in one of those, and others have set what it would have elsewhere. */
static bool for_each_cell(const perhaps_step *steps, size_t n, bool (*function)(void *context, struct watch watch),
                          void *context, struct holders *holders) {
    uint64_t child = 0;
    bool inside = true;
    for (size_t i = 0; i < n; i++) {
        const perhaps_step *step = &steps[i];
        if (step->step == PERHAPS_STEP_CHILD) {
            child = step->depth == 0 ? (step->index + 1) << 32 : (child >> 32) << 32 | (step->index + 1);
            inside = holders || step->holds;
        } else if (inside && step_has_holders(step) &&
                   !function(context, (struct watch){child, step, holders ? &holders[i] : NULL})) {
            return false;
        }
    }
    return true;
}

static bool watch_one(void *context, struct watch watch) {
    struct watches *w = context;
    if (w->n == w->room) {
        size_t room = 2 * w->room + 64;
        struct watch *larger = realloc(w->list, room * sizeof *larger);
        if (!larger) return false;
        w->list = larger;
        w->room = room;
    }
    w->list[w->n++] = watch;
    return true;
}

bool watch_steps(struct watches *watches, const perhaps_step *steps, size_t n, struct holders *holders) {
    return for_each_cell(steps, n, watch_one, watches, holders);
}

/* The stash tells a key by its cell; its value is a number of copies, or a digest. */
static uint64_t held_value(const perhaps_step *step) {
    return step->step == PERHAPS_STEP_SLOT ? step->wanted : 0;
}

static int in_order(const void *a, const void *b) {
    const struct watch *x = a, *y = b;
    if (x->child != y->child) return x->child < y->child ? -1 : 1;
    if (x->step->step != y->step->step) return x->step->step < y->step->step ? -1 : 1;
    if (x->step->index != y->step->index) return x->step->index < y->step->index ? -1 : 1;
    uint64_t first = held_value(x->step), second = held_value(y->step);
    return (first > second) - (first < second);
}

void watches_sort(struct watches *watches) {
    if (watches->n) qsort(watches->list, watches->n, sizeof *watches->list, in_order);
}

struct note {
    struct watches *watches;
    const char *name;
};

/* A key may have a cell twice, and is named once. */
static bool add_holder(struct holders *holders, const char *name) {
    for (uint64_t i = 0; i < holders->count && i < NAMED_HOLDERS; i++)
        if (strcmp(holders->names[i], name) == 0) return true;
    if (holders->count < NAMED_HOLDERS && !(holders->names[holders->count] = strdup(name))) return false;
    holders->count++;
    return true;
}

static bool note_one(void *context, struct watch held) {
    const struct note *note = context;
    const struct watches *w = note->watches;
    size_t low = 0, high = w->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (in_order(&w->list[middle], &held) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < w->n && in_order(&w->list[low], &held) == 0; low++)
        if (!add_holder(w->list[low].holders, note->name)) return false;
    return true;
}

bool watches_note(struct watches *watches, const char *name, const perhaps_step *steps, size_t n) {
    struct note note = {watches, name};
    return for_each_cell(steps, n, note_one, &note, NULL);
}
