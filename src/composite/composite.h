/* What composite kinds share: queries of children from the newest to the oldest, and layers. */
#ifndef PERHAPS_COMPOSITE_COMPOSITE_H
#define PERHAPS_COMPOSITE_COMPOSITE_H

#include "core/children.h"

enum { CHILD_BLOCK = 2048 }; /* keys that go through all children at a time, on the stack */

/* Whether one of the oldest `children` has the key. */
bool any_child_has(const perhaps *f, unsigned children, struct digest digest);

/* The same for at most CHILD_BLOCK keys. */
void any_child_has_many(const perhaps *f, unsigned children, const uint64_t *digests, size_t n, uint8_t *answers);

/* The same for all children and a piece of a partition (api/partitioned.h); `next` is as in
 * batch_ops.contains_any. */
void any_child_has_partition(const perhaps *f, const uint64_t *digests, size_t n, uint8_t *answers,
                             const struct span *next);

/* The operations of growing filters and windows. */
int composite_contains(const struct array *array, struct digest digest);
void composite_contains_many(const struct array *array, const uint64_t *digests, size_t n, uint8_t *answers,
                             const char *ahead);
void composite_prefetch(const struct array *array, struct digest digest);

void composite_clear(perhaps *f);

/* An empty layer or generation: capacity, false-positive rate and layout are those of `like`, all
 * else is as in the newest child. */
int layers_make(const perhaps *f, const struct header *like, perhaps **made);

/* Whether layers of that kind grow by the rule of a foreign format: the false-positive rate of the
 * whole then follows from the first layer's. */
bool layers_have_rule(const struct kind *base);

/* Whether all layers and one for `more` keys have at most 2^63 - 1 keys, as foreign formats need
 * it. A layer counts as its capacity, or its items if it had more when it became a layer. */
bool layers_fit(const perhaps *f, uint64_t more);

/* For messages, before "max_bytes": a growing filter that is a shard has a part of it. */
static inline const char *layers_part(const perhaps *f) {
    return f->header.layout[SIBLINGS] ? "a shard's part of " : "";
}

/* perhaps_grow_layers and perhaps_ungrow_layers. */
int layers_start(perhaps **f, double fpr, double growth, uint64_t max_bytes);
int layers_end(perhaps **f);

/* perhaps_prepare_layer, whether a layer is due; and perhaps_make_layer. */
bool layers_prepare(perhaps *f, uint64_t added);
int layers_make_spare(perhaps *f);

/* Growing filters over sets: into = the union of both. See growing_merge.c. */
int layers_merge(perhaps *into, const perhaps *from);

#endif
