/* Moving a filter, piece by piece, to other memory of the same allocator. */
#include "core/filter.h"
#include "perhaps_embed.h"

struct mover {
    void *(*move)(void *context, void *memory, size_t size);
    void *context;
};

/* Where the piece is now. */
static void *moved(const struct mover *mover, void *memory, uint64_t size) {
    void *place = memory ? mover->move(mover->context, memory, (size_t)size) : NULL;
    return place ? place : memory;
}

static perhaps *relocate(perhaps *f, const struct mover *mover);

/* Locks stay where they are: the system may know them by their place. */
static struct family *relocate_family(struct family *old, const struct mover *mover) {
    struct family *family = moved(mover, old, sizeof *old);
    family->child = moved(mover, family->child, family->room * sizeof *family->child);
    family->image = moved(mover, family->image, family->image_bytes);
    for (unsigned i = 0; i < SCRATCHES; i++) {
        struct scratch *scratch = family->scratch[i];
        family->scratch[i] = moved(mover, scratch, scratch ? scratch->bytes : 0);
    }
    for (unsigned i = 0; i < family->count + family->spare; i++)
        family->child[i].filter = relocate(family->child[i].filter, mover);
    return family;
}

static perhaps *relocate(perhaps *old, const struct mover *mover) {
    perhaps *f = moved(mover, old, sizeof *old);
    f->header.recipe.bytes = moved(mover, (void *)(uintptr_t)f->header.recipe.bytes, f->header.recipe.length);
    f->tallies = moved(mover, f->tallies, TALLIES * sizeof *f->tallies);
    if (f->family)
        f->family = relocate_family(f->family, mover);
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
