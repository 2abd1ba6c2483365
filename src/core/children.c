#include "core/children.h"

#include "base/error.h"
#include "base/memory.h"

#include <string.h>

int children_start(perhaps *f, unsigned room) {
    f->items_in = ITEMS_IN_CHILDREN;
    f->owned = true;
    f->state = CHANGEABLE;
    f->children = memory_zeroed(&f->allocator, sizeof *f->children);
    if (!f->children) return fail(PERHAPS_ENOMEM, "no memory for a composite filter");
    f->children->child = memory_zeroed(&f->allocator, room * sizeof *f->children->child);
    if (!f->children->child) return fail(PERHAPS_ENOMEM, "no memory for %u filters", room);
    f->children->room = room;
    f->children->now = NEVER;
    if (!f->shared || kind_find((int)f->header.layout[BASE])->lock_free) return PERHAPS_OK;
    f->children->locks = locks_make(&f->allocator, room);
    return f->children->locks ? PERHAPS_OK : fail(PERHAPS_ENOMEM, "no memory for %u locks", room);
}

void children_settle(perhaps *f) {
    const perhaps *child = f->children->child[0].filter;
    unsigned can = f->kind->composite->can(child->kind) & (child->children ? filter_can(child) : ~0u);
    f->children->can = can;
    f->children->may_be_full = filter_may_be_full(child);
    if (!(can & PERHAPS_REMOVE)) f->ops.remove = NULL;
    if (!(can & PERHAPS_COUNT)) f->ops.count = NULL;
    for (unsigned i = 0; f->kind->composite->key_in_one_child && i < f->children->count; i++)
        f->children->child[i].filter->array.near_bytes = f->children->count > 1 ? 0 : cpu_near_bytes();
}

int children_reserve(perhaps *f) {
    struct children *children = f->children;
    unsigned used = children->count + children->spare, room = 2 * children->room;
    if (used < children->room) return PERHAPS_OK;
    struct child *larger = memory_zeroed(&f->allocator, room * sizeof *larger);
    if (!larger) return fail(PERHAPS_ENOMEM, "no memory for a list of %u filters", room);
    memcpy(larger, children->child, used * sizeof *larger);
    memory_release(&f->allocator, children->child, children->room * sizeof *larger);
    children->child = larger;
    children->room = room;
    return PERHAPS_OK;
}

static void release_scratch(const perhaps *f, struct scratch *scratch) {
    if (scratch) memory_release(&f->allocator, scratch, scratch->bytes);
}

struct scratch *scratch_take(const perhaps *f, uint64_t bytes) {
    struct scratch *scratch = NULL;
    for (unsigned i = 0; i < SCRATCHES && !scratch; i++)
        scratch = __atomic_exchange_n(&f->children->scratch[i], NULL, __ATOMIC_ACQUIRE);
    bytes += sizeof *scratch;
    if (scratch && scratch->bytes >= bytes) return scratch;
    struct scratch *larger = memory_get(&f->allocator, bytes);
    if (larger) larger->bytes = bytes;
    if (larger)
        release_scratch(f, scratch);
    else
        scratch_leave(f, scratch);
    return larger;
}

/* Only one large scratch is kept, in the first place: several would take as much as the filter. */
void scratch_leave(const perhaps *f, struct scratch *scratch) {
    unsigned places = scratch && scratch->bytes > SCRATCH_BYTES + sizeof *scratch ? 1 : SCRATCHES;
    for (unsigned i = 0; scratch && i < places; i++) {
        struct scratch *none = NULL;
        if (__atomic_compare_exchange_n(&f->children->scratch[i], &none, scratch, false, __ATOMIC_RELEASE,
                                        __ATOMIC_RELAXED))
            return;
    }
    release_scratch(f, scratch);
}

void children_free_scratch(const perhaps *f) {
    for (unsigned i = 0; i < SCRATCHES; i++) release_scratch(f, f->children->scratch[i]);
}

void children_free(perhaps *f) {
    struct children *children = f->children;
    children_free_scratch(f);
    for (unsigned i = 0; children->child && i < children->count + children->spare; i++)
        filter_free(children->child[i].filter);
    memory_release(&f->allocator, children->child, children->room * sizeof *children->child);
    memory_release(&f->allocator, children->image, children->image_bytes);
    locks_free(&f->allocator, children->locks);
    memory_release(&f->allocator, children, sizeof *children);
}

int children_clone(const perhaps *f, perhaps *made) {
    int rc = children_start(made, f->children->count);
    for (unsigned i = 0; rc == PERHAPS_OK && i < f->children->count; i++) {
        struct child *child = &made->children->child[i];
        rc = filter_clone(f->children->child[i].filter, &child->filter);
        child->since = f->children->child[i].since;
        made->children->count += rc == PERHAPS_OK;
    }
    if (rc < 0) return rc;
    children_settle(made);
    made->children->clock = f->children->clock;
    made->children->clock_context = f->children->clock_context;
    made->children->look_again = f->children->look_again;
    made->children->now = f->children->now;
    return PERHAPS_OK;
}

const char *children_check(const struct header *parent, const struct header *child) {
    if (child->kind != (int)parent->layout[BASE]) return "a part of another kind than it should be";
    if (child->hash != parent->hash || child->seed != parent->seed) return "a part with another hash or seed";
    if (child->recipe.length) return "a part with a recipe, which only the whole has";
    if (child->flags & HEADER_DIRTY) return "a part that is being changed in place";
    return NULL;
}
