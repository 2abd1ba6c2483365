#include "equal_items.h"

#include <perhaps.h>

#include <stdlib.h>
#include <string.h>

/* A hash table that is half empty: in each place the number of an item and one, or 0. */
struct equal_items {
    perhaps_hasher hasher;
    size_t *slots;
};

struct equal_items *equal_items_make(size_t room) {
    struct equal_items *t = calloc(1, sizeof *t);
    if (!t) return NULL;
    t->slots = malloc(2 * room * sizeof *t->slots);
    if (t->slots && perhaps_hasher_init(&t->hasher, PERHAPS_XXH3, 0, NULL) == PERHAPS_OK) return t;
    equal_items_free(t);
    return NULL;
}

void equal_items_free(struct equal_items *t) {
    if (!t) return;
    free(t->slots);
    free(t);
}

static bool equal(const struct item_batch *r, size_t i, size_t j) {
    const struct server_item *one = &r->items[i], *other = &r->items[j];
    return one->length == other->length &&
           memcmp(r->bytes.bytes + one->at, r->bytes.bytes + other->at, one->length) == 0;
}

void equal_items_find(struct equal_items *t, struct item_batch *r) {
    size_t size = 2;
    while (size < 2 * r->n) size *= 2;
    memset(t->slots, 0, size * sizeof *t->slots);
    for (size_t i = 0; i < r->n; i++) {
        struct server_item *item = &r->items[i];
        size_t at = (size_t)perhaps_digest(&t->hasher, r->bytes.bytes + item->at, item->length) & (size - 1);
        while (t->slots[at] && !equal(r, i, t->slots[at] - 1)) at = (at + 1) & (size - 1);
        if (!t->slots[at]) t->slots[at] = i + 1;
        item->first_equal = t->slots[at] - 1;
    }
}
