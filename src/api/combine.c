/* Public calls on two filters. */
#include "base/error.h"
#include "core/children.h"
#include "plan/plan.h"

#include <string.h>

/* The first thing in which two filters differ, or NULL. Ignores layout words in `may_differ`. */
static const char *difference(const perhaps *a, const perhaps *b, unsigned may_differ) {
    if (a->kind != b->kind) return "kind";
    for (int i = 0; i < LAYOUT_WORDS; i++) {
        if (a->header.layout[i] != b->header.layout[i] && !(may_differ >> i & 1)) return a->kind->words.name[i];
    }
    if (a->header.hash != b->header.hash) return "hash";
    if (a->header.seed != b->header.seed) return a->header.hash == PERHAPS_SIPHASH ? "hash key" : "seed";
    bool integers = a->header.hash == PERHAPS_IDENTITY; /* equal however they are written */
    if (!integers && !recipe_same_keys(a->header.recipe, b->header.recipe)) return "transformation of keys";
    return NULL;
}

/* Combines in a copy of that layout, which then takes the filter's place: 1. If it runs out of
 * room, writes the layout and capacity to try next: 0. */
static int combine_in_copy(perhaps *into, const perhaps *from, enum combination what, uint64_t layout[LAYOUT_WORDS],
                           uint64_t *capacity) {
    perhaps *copy;
    int rc = filter_clone(into, &copy);
    if (rc == PERHAPS_OK && memcmp(layout, into->header.layout, sizeof into->header.layout) != 0)
        rc = filter_grow_to(copy, layout, *capacity);
    bool done = rc == PERHAPS_OK && into->kind->combinable->combine[what](&copy->array, &from->array);
    if (done && into->owned)
        filter_swap(into, copy);
    else if (done) /* borrowed bytes stay where they are */
        memcpy(into->array.bytes, copy->array.bytes, (size_t)into->array.length);
    else if (rc == PERHAPS_OK)
        rc = filter_grow(into->owned ? copy : into, 0);
    if (rc == PERHAPS_OK && !done) {
        memcpy(layout, copy->header.layout, sizeof copy->header.layout);
        *capacity = copy->header.capacity;
    }
    filter_free(copy);
    return rc < 0 ? rc : done;
}

/* For kinds that insert the keys of one into the other, and may run out of room half-way. */
static int combine_copy(perhaps *into, const perhaps *from, enum combination what) {
    uint64_t layout[LAYOUT_WORDS], capacity = into->header.capacity;
    memcpy(layout, into->header.layout, sizeof layout);
    int rc;
    do rc = combine_in_copy(into, from, what, layout, &capacity);
    while (rc == 0);
    return rc < 0 ? rc : PERHAPS_OK;
}

static int combine_in_place(perhaps *into, const perhaps *from, enum combination what) {
    int rc = PERHAPS_OK;
    while (rc == PERHAPS_OK && !into->kind->combinable->combine[what](&into->array, &from->array))
        rc = filter_grow_to(into, from->header.layout, from->header.capacity);
    return rc;
}

static int combine(perhaps *into, const perhaps *from, enum combination what);

/* Shard by shard, in a copy: a failure half-way changes nothing. */
static int combine_children(perhaps *into, const perhaps *from, enum combination what) {
    perhaps *copy;
    int rc = filter_clone(into, &copy);
    for (unsigned i = 0; rc == PERHAPS_OK && i < copy->children->count; i++)
        rc = combine(copy->children->child[i].filter, from->children->child[i].filter, what);
    if (rc == PERHAPS_OK) filter_swap(into, copy);
    filter_free(copy);
    return rc;
}

static double distinct_in(const perhaps *f) {
    struct measures measures;
    plan_measure(f->kind, &f->array, &measures);
    return filter_distinct(f, &measures);
}

/* The keys in common are estimated beforehand: common bits may come from different keys, so the
 * intersection's bits would say too many. */
static int intersect_arrays(perhaps *into, const perhaps *from) {
    uint64_t common = plan_common(into->kind, &into->array, distinct_in(into), &from->array, distinct_in(from));
    int rc = combine_in_place(into, from, COMBINE_INTERSECT);
    if (rc < 0) return rc;
    filter_set_items(into, common);
    into->header.flags |= HEADER_INTERSECTED;
    return PERHAPS_OK;
}

static int combine_arrays(perhaps *into, const perhaps *from, enum combination what) {
    uint64_t items = filter_items(into) + filter_items(from);
    if (what == COMBINE_INTERSECT && !into->kind->model->exact) return intersect_arrays(into, from);
    int rc = into->kind->combinable->reinserts ? combine_copy(into, from, what) : combine_in_place(into, from, what);
    if (rc < 0) return rc;
    filter_count_items(into);
    if (into->kind->row.can & PERHAPS_COUNT) into->header.items = items;
    return PERHAPS_OK;
}

/* PERHAPS_OK, or PERHAPS_EMISMATCH. */
static int check_same(const perhaps *a, const perhaps *b, const char *verb, unsigned may_differ) {
    const char *differs = difference(a, b, may_differ);
    if (!differs) return PERHAPS_OK;
    return fail(PERHAPS_EMISMATCH, "the two filters cannot %s: they differ in %s; make both with the same want", verb,
                differs);
}

static int combine(perhaps *into, const perhaps *from, enum combination what) {
    static const char *const verbs[COMBINATIONS] = {"be merged", "be intersected", "be subtracted from each other",
                                                    "give their symmetric difference"};
    static const unsigned abilities[COMBINATIONS] = {PERHAPS_MERGE, PERHAPS_INTERSECT, PERHAPS_SUBTRACT,
                                                     PERHAPS_SUBTRACT};
    if (!(filter_can(into) & abilities[what])) return filter_cannot(into, verbs[what]);
    int rc = check_same(into, from, verbs[what], into->kind->words.may_differ);
    if (rc == PERHAPS_OK) rc = filter_prepare_change(into);
    if (rc < 0) return rc;
    if (into->children && into->kind->composite->ops->merge) return into->kind->composite->ops->merge(into, from);
    return into->children ? combine_children(into, from, what) : combine_arrays(into, from, what);
}

int perhaps_merge(perhaps *into, const perhaps *from) {
    return combine(into, from, COMBINE_MERGE);
}

int perhaps_intersect(perhaps *into, const perhaps *from) {
    return combine(into, from, COMBINE_INTERSECT);
}

int perhaps_subtract(perhaps *into, const perhaps *from) {
    return combine(into, from, COMBINE_SUBTRACT);
}

int perhaps_differ(perhaps *into, const perhaps *from) {
    return combine(into, from, COMBINE_DIFFER);
}

/* ---- overlap ---- */

static int add_overlap(const perhaps *a, const perhaps *b, struct key_sums *sums);

/* Shards add up. A single layer or generation is like a filter alone; of several, a key may be in
 * another one in each filter. */
static int add_children(const perhaps *a, const perhaps *b, struct key_sums *sums) {
    int rc = PERHAPS_OK;
    if (!a->kind->composite->key_in_one_child && (a->children->count > 1 || b->children->count > 1))
        return fail(PERHAPS_ECANNOT,
                    "%s filters of several parts cannot be compared: a key may be in different parts of each; make "
                    "filters of a fixed number of items of the same keys",
                    a->kind->row.name);
    for (unsigned i = 0; rc == PERHAPS_OK && i < a->children->count; i++)
        rc = add_overlap(a->children->child[i].filter, b->children->child[i].filter, sums);
    return rc;
}

static int add_overlap(const perhaps *a, const perhaps *b, struct key_sums *sums) {
    if (!a->children && !a->kind->model->occupancy)
        return fail(PERHAPS_ECANNOT,
                    "%s filters do not tell how many keys two of them have in common; make filters of another kind, "
                    "such as bloom, of the same keys",
                    a->kind->row.name);
    unsigned parts = a->children && !a->kind->composite->key_in_one_child ? 1u << CHILDREN : 0;
    int rc = check_same(a, b, "be compared", a->kind->words.may_differ | parts);
    if (rc < 0) return rc;
    if (a->children) return add_children(a, b, sums);
    if ((a->header.flags | b->header.flags) & HEADER_INTERSECTED)
        return fail(PERHAPS_ECANNOT, "a filter that is an intersection has bits of keys that are not in it, and cannot "
                                     "be compared; compare the filters it was made from");
    plan_add_keys(a->kind, &a->array, &b->array, sums);
    return PERHAPS_OK;
}

/* The filter that an array belongs to, or the first of many. */
static const perhaps *first_leaf(const perhaps *f) {
    while (f->children) f = f->children->child[0].filter;
    return f;
}

int perhaps_overlap(const perhaps *a, const perhaps *b, struct perhaps_overlap *theirs) {
    struct perhaps_overlap overlap = {.exact = first_leaf(a)->kind->model->exact};
    struct key_sums sums = {0};
    int rc = add_overlap(a, b, &sums);
    if (rc < 0) return rc;
    plan_overlap(&sums, &overlap);
    return give_sized(theirs, &overlap, sizeof overlap, "overlap");
}

static bool equal_children(const struct children *a, const struct children *b) {
    bool equal = a->count == b->count;
    for (unsigned i = 0; equal && i < a->count; i++)
        equal = a->child[i].since == b->child[i].since && perhaps_equal(a->child[i].filter, b->child[i].filter);
    return equal;
}

int perhaps_equal(const perhaps *a, const perhaps *b) {
    if (a->bins || b->bins) return 0;
    if (difference(a, b, a->children ? 1 << CHILDREN : 0)) return 0;
    if (a->children) return equal_children(a->children, b->children);
    return memcmp(a->array.bytes, b->array.bytes, (size_t)a->array.length) == 0;
}
