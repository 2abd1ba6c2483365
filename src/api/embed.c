/* Public calls for databases that keep filters as values: layers, clocks, recipes, smaller arrays,
 * relocation. */
#include "api/batch.h"
#include "base/error.h"
#include "composite/composite.h"
#include "perhaps_embed.h"

#include <string.h>

int perhaps_grow_layers(perhaps **f, double fpr, double growth, uint64_t max_bytes) {
    return layers_start(f, fpr, growth, max_bytes);
}

int perhaps_ungrow_layers(perhaps **f) {
    return layers_end(f);
}

unsigned perhaps_layers(const perhaps *f) {
    return f->children && f->kind->composite->has_layers ? f->children->count : 0;
}

int perhaps_prepare_layer(perhaps *f, uint64_t added) {
    return perhaps_layers(f) && f->state == CHANGEABLE ? layers_prepare(f, added) : 0;
}

int perhaps_make_layer(perhaps *f) {
    if (!perhaps_layers(f)) return filter_cannot(f, "take further layers");
    int rc = filter_prepare_change(f);
    return rc < 0 ? rc : layers_make_spare(f);
}

int perhaps_set_parts(perhaps *f, unsigned parts) {
    const struct growable *growable = f->kind->growable;
    if (!growable || !growable->set_parts) return filter_cannot(f, "be told how many parts to grow to");
    if (!parts || parts > LAYERS_MAX) return fail(PERHAPS_EINVAL, "parts may be 1 to %d", LAYERS_MAX);
    int rc = filter_prepare_change(f);
    if (rc < 0) return rc;
    growable->set_parts(f->header.layout, parts);
    growable->set_parts(f->array.layout, parts);
    return (int)growable->parts(&f->array);
}

int perhaps_set_clock(perhaps *f, uint64_t (*now)(void *context), void *context) {
    if (!is_timed(f)) return fail(PERHAPS_EINVAL, "only a window with a period takes a clock");
    f->children->clock = now;
    f->children->clock_context = context;
    return PERHAPS_OK;
}

/* ---- windows as of a time ---- */

/* A handle on the stack that shares what perhaps_advance would leave. It keeps its scratch memory
 * to itself. */
struct as_of {
    perhaps filter;
    struct children children;
};

static int look_as_of(const perhaps *f, uint64_t now, struct as_of *view) {
    if (!is_timed(f)) return fail(PERHAPS_EINVAL, "only a window with a period has a time");
    unsigned first = f->kind->composite->ops->forgotten_at(f, now);
    view->filter = *f;
    view->children = *f->children;
    view->filter.children = &view->children;
    view->children.count -= first;
    if (view->children.count) view->children.child += first;
    memset(view->children.scratch, 0, sizeof view->children.scratch);
    return PERHAPS_OK;
}

int64_t perhaps_contains_as_of(const perhaps *f, uint64_t now, const perhaps_keys *keys, uint8_t *answers) {
    struct as_of view;
    int rc = batch_check(f, keys);
    if (rc == PERHAPS_OK) rc = look_as_of(f, now, &view);
    if (rc < 0) return rc;
    if (!view.children.count) {
        if (answers) memset(answers, 0, keys->n);
        return 0;
    }
    int64_t members = perhaps_contains_many(&view.filter, keys, answers);
    children_free_scratch(&view.filter);
    return members;
}

int perhaps_facts_as_of(const perhaps *f, uint64_t now, struct perhaps_info *info) {
    struct as_of view;
    int rc = look_as_of(f, now, &view);
    return rc < 0 ? rc : perhaps_facts(&view.filter, info);
}

int perhaps_recipe_of(const perhaps *f, perhaps_recipe *theirs) {
    perhaps_recipe recipe;
    recipe_decode(f->header.recipe, &recipe);
    return give_sized(theirs, &recipe, sizeof recipe, "recipe");
}

/* Not failing is right: without memory for a smaller array, or where the array is borrowed, the
 * larger one stays. */
int perhaps_compact(perhaps *f) {
    uint64_t layout[LAYOUT_WORDS], capacity;
    if (!f->kind->shrinkable || !f->kind->shrinkable->compact) return PERHAPS_OK;
    int rc = filter_prepare_change(f);
    if (rc < 0) return rc;
    f->kind->shrinkable->compact(&f->array, layout, &capacity);
    if (memcmp(layout, f->header.layout, sizeof layout) != 0) filter_grow_to(f, layout, capacity);
    return PERHAPS_OK;
}

int perhaps_fold(perhaps *f, uint64_t bytes) {
    uint64_t layout[LAYOUT_WORDS];
    bool can = f->kind->shrinkable && f->kind->shrinkable->fold;
    int rc = can ? filter_prepare_change(f) : filter_cannot(f, "be folded to a smaller size"), halvings = 0;
    if (rc < 0) return rc;
    memcpy(layout, f->header.layout, sizeof layout);
    if (!f->kind->shrinkable->fold(layout, bytes))
        return fail(PERHAPS_ERANGE, "the filter's %llu bytes cannot be halved to %llu or fewer",
                    (unsigned long long)f->array.length, (unsigned long long)bytes);
    for (uint64_t length = f->array.length; length > bytes; length /= 2) halvings++;
    if (halvings && !f->owned) return fail(PERHAPS_ECANNOT, "what is changed in place keeps its size; open a copy");
    if (halvings) rc = filter_fold_to(f, layout);
    return rc < 0 ? rc : halvings;
}

/* ---- relocation ---- */

struct mover {
    void *(*move)(void *context, void *memory, size_t size);
    void *context;
};

/* Where the memory is now. */
static void *moved(const struct mover *mover, void *memory, uint64_t size) {
    void *place = memory ? mover->move(mover->context, memory, (size_t)size) : NULL;
    return place ? place : memory;
}

static perhaps *relocate(perhaps *f, const struct mover *mover);

/* Locks are not moved: the system may know them by their address. */
static struct children *relocate_children(struct children *old, const struct mover *mover) {
    struct children *children = moved(mover, old, sizeof *old);
    children->child = moved(mover, children->child, children->room * sizeof *children->child);
    children->image = moved(mover, children->image, children->image_bytes);
    for (unsigned i = 0; i < SCRATCHES; i++) {
        struct scratch *scratch = children->scratch[i];
        children->scratch[i] = moved(mover, scratch, scratch ? scratch->bytes : 0);
    }
    for (unsigned i = 0; i < children->count + children->spare; i++)
        children->child[i].filter = relocate(children->child[i].filter, mover);
    return children;
}

static perhaps *relocate(perhaps *old, const struct mover *mover) {
    perhaps *f = moved(mover, old, sizeof *old);
    f->header.recipe.bytes = moved(mover, (void *)(uintptr_t)f->header.recipe.bytes, f->header.recipe.length);
    f->tallies = moved(mover, f->tallies, TALLIES * sizeof *f->tallies);
    if (f->children)
        f->children = relocate_children(f->children, mover);
    else if (f->owned && f->image)
        filter_use_image(f, moved(mover, f->image, filter_image_bytes(f)), f->state);
    if (f->array.guide)
        f->array.guide =
            moved(mover, (void *)(uintptr_t)f->array.guide, f->kind->solver->guide_bytes(f->header.layout));
    if (f->owned) f->tail = moved(mover, f->tail, f->tail_length);
    return f;
}

perhaps *perhaps_relocate(perhaps *f, void *(*move)(void *context, void *memory, size_t size), void *context) {
    return relocate(f, &(struct mover){move, context});
}
