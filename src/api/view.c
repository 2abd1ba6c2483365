/* The view of a filter for perhaps_inline.h: what its inline functions read. A filter that needs
 * more than they know keeps the form PERHAPS_VIEW_CALL. */
#include "perhaps_inline.h"

#include "core/children.h"

_Static_assert(PERHAPS_VIEW_MIX_1 == MIX64_FIRST && PERHAPS_VIEW_MIX_2 == MIX64_SECOND, "both mix integers alike");

/* Only a filter in memory, and of one thread: a call marks a file dirty, and counts for
 * several threads. */
static uint64_t *items_of(perhaps *f) {
    bool simple = f->owned && f->state == CHANGEABLE && !f->shared && f->items_in == ITEMS_IN_HEADER;
    return simple ? &f->header.items : NULL;
}

void perhaps_view_fill(perhaps *f, perhaps_view *view) {
    if (view->size != sizeof *view || f->hash.id != PERHAPS_XXH3 || f->bins || !f->kind->view) return;
    view->bytes = f->array.bytes;
    view->stir = f->hash.stir;
    view->items = items_of(f);
    f->kind->view(&f->array, view);
}
