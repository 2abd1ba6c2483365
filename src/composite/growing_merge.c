/*
 * The union of two growing filters over sets.
 *
 * Idea: where both have a layer of the same layout, the two become one, unless that would have more
 * keys than it was made for. All other layers of the second filter become layers of the first, and
 * a query then looks in more layers.
 *
 *     into   1,000   3,000              12,000         from   1,000   3,000
 *            ▓▓▓▓▓   ▓▓▓▓▓▓▓            ▓▓▓                   ░░░     ░░░░░░░
 *
 *     both   ▒▒▒▒▒   ▓▓▓▓▓▓▓  ░░░░░░░   ▓▓▓                   (the first layers share many keys)
 *
 * The newest layer stays the newest, since it has room. A layer whose keys are all there already is
 * skipped, so merging twice is the same as merging once.
 */
#include "base/memory.h"
#include "base/error.h"
#include "composite/composite.h"

#include <string.h>

static int make_union(const perhaps *layer, const perhaps *other, perhaps **made) {
    int rc = filter_clone(layer, made);
    if (rc < 0) return rc;
    layer->kind->combinable->combine[COMBINE_MERGE](&(*made)->array, &other->array);
    filter_count_items(*made);
    return PERHAPS_OK;
}

/* Merges a layer into one that has, or can take, all its keys: 1 = done, 0 = there is none. */
static int unite(perhaps *f, const perhaps *layer) {
    perhaps **place = NULL, *best = NULL, *both;
    bool known = false;
    int rc = PERHAPS_OK;
    for (unsigned i = 0; rc == PERHAPS_OK && !known && i < f->children->count; i++) {
        perhaps **ours = &f->children->child[i].filter;
        if (memcmp((*ours)->header.layout, layer->header.layout, sizeof layer->header.layout) != 0) continue;
        rc = make_union(*ours, layer, &both);
        if (rc < 0) continue;
        known = memcmp((*ours)->array.bytes, both->array.bytes, (size_t)both->array.length) == 0;
        bool fits = !known && !best && both->header.items <= both->header.capacity;
        if (fits) place = ours, best = both;
        if (!fits) filter_free(both);
    }
    if (rc == PERHAPS_OK && best && !known) filter_swap(*place, best);
    bool done = known || best;
    filter_free(best);
    return rc < 0 ? rc : done;
}

/* Inserts a copy of the layer, before the first larger one. */
static int insert(perhaps *f, const perhaps *layer) {
    struct children *children = f->children;
    perhaps *made;
    if (children->count >= LAYERS_MAX)
        return fail(PERHAPS_EFULL, "the union would have more than %d layers", LAYERS_MAX);
    if (!layers_fit(f, layer->header.capacity)) return fail(PERHAPS_EFULL, "the union would be for too many keys");
    int rc = children_reserve(f);
    if (rc < 0) return rc;
    rc = layers_make(f, &layer->header, &made);
    if (rc < 0) return rc;
    made->header.items = filter_items(layer);
    memcpy(made->array.bytes, layer->array.bytes, (size_t)layer->array.length);
    unsigned at = children->count > 1; /* the others share the fpr that the first leaves */
    while (at + 1 < children->count && children->child[at].filter->header.capacity <= made->header.capacity) at++;
    memmove(children->child + at + 1, children->child + at, (children->count - at) * sizeof *children->child);
    children->child[at] = (struct child){made, 0};
    children->count++;
    return PERHAPS_OK;
}

static int merge_layers(perhaps *f, const perhaps *from) {
    uint64_t most = f->header.layout[MAX_BYTES];
    int rc = PERHAPS_OK;
    for (unsigned i = 0; rc >= 0 && i < from->children->count; i++) {
        const perhaps *layer = from->children->child[i].filter;
        rc = memory_is_zero(layer->array.bytes, layer->array.length) ? 1 : unite(f, layer);
        if (rc == 0) rc = insert(f, layer);
    }
    if (rc >= 0 && most && filter_bytes(f) > most)
        return fail(PERHAPS_EFULL, "the union would be %llu bytes large, and %smax_bytes is %llu",
                    (unsigned long long)filter_bytes(f), layers_part(f), (unsigned long long)most);
    return rc < 0 ? rc : PERHAPS_OK;
}

/* In a copy: a failure half-way changes nothing. */
int layers_merge(perhaps *into, const perhaps *from) {
    perhaps *copy;
    int rc = filter_clone(into, &copy);
    if (rc == PERHAPS_OK) rc = merge_layers(copy, from);
    if (rc == PERHAPS_OK) {
        if (from->header.fpr > copy->header.fpr && !layers_have_rule(newest_of(copy)->kind))
            copy->header.fpr = from->header.fpr;
        filter_swap(into, copy);
    }
    filter_free(copy);
    return rc;
}
