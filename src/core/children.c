#include "core/children.h"

#include "base/error.h"
#include "base/memory.h"

#include <string.h>

/* Locks are for children that many threads cannot change alone. */
static int start_locks(perhaps *f, unsigned count) {
    if (!f->shared || kind_find((int)f->header.layout[BASE])->lock_free) return PERHAPS_OK;
    f->family->locks = locks_make(&f->allocator, count);
    return f->family->locks ? PERHAPS_OK : fail(PERHAPS_ENOMEM, "no memory for %u locks", count);
}

int children_start(perhaps *f, unsigned room) {
    f->items_in = ITEMS_IN_CHILDREN;
    f->owned = true;
    f->state = CHANGEABLE;
    f->family = memory_zeroed(&f->allocator, sizeof *f->family);
    if (!f->family) return fail(PERHAPS_ENOMEM, "no memory for a composite filter");
    f->family->child = memory_zeroed(&f->allocator, room * sizeof *f->family->child);
    if (!f->family->child) return fail(PERHAPS_ENOMEM, "no memory for %u filters", room);
    f->family->room = room;
    f->family->now = NEVER;
    return start_locks(f, room);
}

void children_settle(perhaps *f) {
    const perhaps *child = f->family->child[0].filter;
    unsigned can = f->kind->composite->can(child->kind) & (child->family ? filter_can(child) : ~0u);
    f->family->can = can;
    f->family->may_be_full = filter_may_be_full(child);
    if (!(can & PERHAPS_REMOVE)) f->ops.remove = NULL;
    if (!(can & PERHAPS_COUNT)) f->ops.count = NULL;
    for (unsigned i = 0; f->kind->composite->key_in_one_child && i < f->family->count; i++)
        f->family->child[i].filter->array.crowded = f->family->count > 1;
}

int children_reserve(perhaps *f) {
    struct family *family = f->family;
    unsigned used = family->count + family->spare, room = 2 * family->room;
    if (used < family->room) return PERHAPS_OK;
    struct child *larger = memory_zeroed(&f->allocator, room * sizeof *larger);
    if (!larger) return fail(PERHAPS_ENOMEM, "no memory for a list of %u filters", room);
    memcpy(larger, family->child, used * sizeof *larger);
    memory_release(&f->allocator, family->child, family->room * sizeof *larger);
    family->child = larger;
    family->room = room;
    return PERHAPS_OK;
}

static void release_scratch(const perhaps *f, struct scratch *scratch) {
    if (scratch) memory_release(&f->allocator, scratch, scratch->bytes);
}

struct scratch *scratch_take(const perhaps *f, uint64_t bytes) {
    struct scratch *scratch = NULL;
    for (unsigned i = 0; i < SCRATCHES && !scratch; i++)
        scratch = __atomic_exchange_n(&f->family->scratch[i], NULL, __ATOMIC_ACQUIRE);
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

/* One that is large is kept only in the first place: several would be much beside the filter. */
void scratch_leave(const perhaps *f, struct scratch *scratch) {
    unsigned places = scratch && scratch->bytes > SCRATCH_BYTES + sizeof *scratch ? 1 : SCRATCHES;
    for (unsigned i = 0; scratch && i < places; i++) {
        struct scratch *none = NULL;
        if (__atomic_compare_exchange_n(&f->family->scratch[i], &none, scratch, false, __ATOMIC_RELEASE,
                                        __ATOMIC_RELAXED))
            return;
    }
    release_scratch(f, scratch);
}

void children_free(perhaps *f) {
    struct family *family = f->family;
    for (unsigned i = 0; i < SCRATCHES; i++) release_scratch(f, family->scratch[i]);
    for (unsigned i = 0; family->child && i < family->count + family->spare; i++) filter_free(family->child[i].filter);
    memory_release(&f->allocator, family->child, family->room * sizeof *family->child);
    memory_release(&f->allocator, family->image, family->image_bytes);
    locks_free(&f->allocator, family->locks);
    memory_release(&f->allocator, family, sizeof *family);
}

int children_clone(const perhaps *f, perhaps *made) {
    int rc = children_start(made, f->family->count);
    for (unsigned i = 0; rc == PERHAPS_OK && i < f->family->count; i++) {
        struct child *child = &made->family->child[i];
        rc = filter_clone(f->family->child[i].filter, &child->filter);
        child->since = f->family->child[i].since;
        made->family->count += rc == PERHAPS_OK;
    }
    if (rc < 0) return rc;
    children_settle(made);
    made->family->clock = f->family->clock;
    made->family->clock_context = f->family->clock_context;
    made->family->look_again = f->family->look_again;
    made->family->now = f->family->now;
    return PERHAPS_OK;
}

/* A child has what its parent has, and the header that the directory vouches for. */
const char *children_check(const struct header *parent, const struct header *child) {
    if (child->kind != (int)parent->layout[BASE]) return "a part of another kind than it should be";
    if (child->hash != parent->hash || child->seed != parent->seed) return "a part with another hash or seed";
    if (child->recipe.length) return "a part with a recipe, which only the whole has";
    if (child->flags & HEADER_DIRTY) return "a part that is being changed in place";
    return NULL;
}
