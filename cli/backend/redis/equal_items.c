#include "equal_items.h"

#include <perhaps_embed.h>

#include <stdlib.h>
#include <string.h>

struct equal_items {
    perhaps_hasher hasher;
    size_t places[]; /* a hash table, at least half empty: the number of an item and one, or 0 */
};

struct equal_items *equal_items_make(size_t room) {
    struct equal_items *t = malloc(sizeof *t + 2 * room * sizeof *t->places);
    if (t && perhaps_hasher_init(&t->hasher, PERHAPS_XXH3, 0, NULL) == PERHAPS_OK) return t;
    free(t);
    return NULL;
}

void equal_items_free(struct equal_items *t) {
    free(t);
}

void equal_items_find(struct equal_items *t, struct item_batch *r) {
    size_t size = 2;
    while (size < 2 * r->n) size *= 2;
    memset(t->places, 0, size * sizeof *t->places);
    for (size_t i = 0; i < r->n; i++) {
        struct server_item *item = &r->items[i];
        const char *bytes = r->bytes.bytes + item->at;
        size_t at = (size_t)perhaps_digest(&t->hasher, bytes, item->length) & (size - 1);
        for (; t->places[at]; at = (at + 1) & (size - 1)) {
            const struct server_item *other = &r->items[t->places[at] - 1];
            if (other->length == item->length && memcmp(r->bytes.bytes + other->at, bytes, item->length) == 0) break;
        }
        if (!t->places[at]) t->places[at] = i + 1;
        item->first_equal = t->places[at] - 1;
    }
}
