#include "equal_items.h"

#include <perhaps.h>

#include <stdlib.h>
#include <string.h>

/* A hash table that is half empty: in each place the number of an item and one, or 0. */
struct twins {
    perhaps_hasher hasher;
    size_t *places;
};

struct twins *twins_make(size_t room) {
    struct twins *t = calloc(1, sizeof *t);
    if (!t) return NULL;
    t->places = malloc(2 * room * sizeof *t->places);
    if (t->places && perhaps_hasher_init(&t->hasher, PERHAPS_XXH3, 0, NULL) == PERHAPS_OK) return t;
    twins_free(t);
    return NULL;
}

void twins_free(struct twins *t) {
    if (!t) return;
    free(t->places);
    free(t);
}

static bool equal(const struct round *r, size_t i, size_t j) {
    const struct item *one = &r->items[i], *other = &r->items[j];
    return one->length == other->length &&
           memcmp(r->bytes.bytes + one->at, r->bytes.bytes + other->at, one->length) == 0;
}

void twins_find(struct twins *t, struct round *r) {
    size_t size = 2;
    while (size < 2 * r->n) size *= 2;
    memset(t->places, 0, size * sizeof *t->places);
    for (size_t i = 0; i < r->n; i++) {
        struct item *item = &r->items[i];
        size_t at = (size_t)perhaps_digest(&t->hasher, r->bytes.bytes + item->at, item->length) & (size - 1);
        while (t->places[at] && !equal(r, i, t->places[at] - 1)) at = (at + 1) & (size - 1);
        if (!t->places[at]) t->places[at] = i + 1;
        item->twin = t->places[at] - 1;
    }
}
