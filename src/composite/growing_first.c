/*
 * A plain filter becomes the first layer of a growing one, and back. A filter that may stay small
 * can so be kept plain until it is full.
 */
#include "base/error.h"
#include "composite/composite.h"
#include "plan/plan.h"

#include <string.h>

/* Whether a plain filter can become the first layer. */
static int check_first(const perhaps *f, double fpr) {
    const char *sentence = kind_find(PERHAPS_GROWING)->composite->refuses(f->kind);
    if (sentence) return fail(PERHAPS_ECANNOT, sentence, f->kind->row.name);
    const struct model *model = f->kind->model;
    if (model->layering && !model->layering->nested(f->header.layout, f->header.layout))
        return fail(PERHAPS_ECANNOT, "the filter was made not to be a layer of others");
    if (!f->owned || f->shared)
        return fail(PERHAPS_ECANNOT, "a filter that is changed in place or shared cannot be a layer; open a copy");
    if (!(fpr > f->header.fpr && fpr < 1))
        return fail(PERHAPS_EINVAL, "an fpr of %g leaves nothing for later layers: the first is planned for %g", fpr,
                    f->header.fpr);
    return PERHAPS_OK;
}

/* An image has the recipe before the array: another recipe takes a copy. */
static int change_recipe(perhaps **f, struct recipe recipe) {
    perhaps *copy;
    if (!recipe.length && !(*f)->header.recipe.length) return PERHAPS_OK;
    int rc = filter_clone_with(*f, recipe, &copy);
    if (rc < 0) return rc;
    filter_free(*f);
    *f = copy;
    return PERHAPS_OK;
}

int layers_start(perhaps **f, double fpr, double growth, uint64_t max_bytes) {
    perhaps *first = *f, *made = NULL;
    struct header header = first->header;
    int rc = check_first(first, fpr);
    memset(header.layout, 0, sizeof header.layout);
    if (rc == PERHAPS_OK) rc = plan_growth((*f)->header.kind, growth, &header.layout[GROWTH]);
    if (rc < 0) return rc;
    header.kind = PERHAPS_GROWING;
    header.flags &= (unsigned)~(HEADER_FIXED | HEADER_INTERSECTED);
    header.fpr = fpr;
    header.layout[BASE] = (uint64_t)first->kind->row.kind;
    header.layout[CHILDREN] = 1;
    header.layout[MAX_BYTES] = max_bytes;
    header.length = ENTRY_BYTES;
    rc = filter_make(&made, &first->allocator, &header, &first->hash, &first->isa, false);
    if (rc < 0) return rc;
    made->children->child[made->children->count++].filter = first;
    const char *reason = made->kind->composite->ops->check(made);
    if (reason) rc = fail(PERHAPS_ECANNOT, "the filter cannot be a layer: no image may have %s", reason);
    if (rc == PERHAPS_OK) rc = change_recipe(&made->children->child[0].filter, (struct recipe){NULL, 0});
    if (rc < 0) {
        made->children->child[0].filter = NULL; /* still the caller's */
        filter_free(made);
        return rc;
    }
    made->children->child[0].filter->header.flags &= (unsigned)~HEADER_FIXED;
    children_settle(made);
    *f = made;
    return PERHAPS_OK;
}

int layers_end(perhaps **f) {
    struct children *children = (*f)->children;
    if (!(*f)->kind->composite || !(*f)->kind->composite->has_layers)
        return fail(PERHAPS_ECANNOT, "%s filters have no layers to undo", (*f)->kind->row.name);
    if (children->count > 1)
        return fail(PERHAPS_ECANNOT, "a filter that has grown to %u layers cannot become one of them", children->count);
    int rc = filter_prepare_change(*f);
    if (rc < 0) return rc;
    perhaps *first = children->child[0].filter;
    if (check_first(first, (*f)->header.fpr) < 0)
        return fail(PERHAPS_ECANNOT, "its only layer could not become the first layer again");
    rc = change_recipe(&children->child[0].filter, (*f)->header.recipe);
    if (rc < 0) return rc;
    first = children->child[0].filter;
    children->child[0].filter = NULL; /* not to be freed with its parent */
    filter_free(*f);
    *f = first;
    return PERHAPS_OK;
}
