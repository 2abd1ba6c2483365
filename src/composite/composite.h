/* What composite kinds share: queries of children, from the newest to the oldest. */
#ifndef PERHAPS_COMPOSITE_COMPOSITE_H
#define PERHAPS_COMPOSITE_COMPOSITE_H

#include "core/children.h"

enum { CHILD_BLOCK = 2048 }; /* keys that go through all children together, in room on the stack; else LARGE_BATCH */

/* Whether one of the oldest `children` has the key. */
bool any_child_has(const perhaps *f, unsigned children, struct digest digest);

/* The same for at most CHILD_BLOCK keys: 1 or 0 for each. */
void any_child_has_many(const perhaps *f, unsigned children, const uint64_t *digests, size_t n, uint8_t *answers);

/* The same for all children and keys that are near each other; `next` is as in batch_ops.contains_any. See api/partitioned.h. */
void any_child_has_partition(const perhaps *f, const uint64_t *digests, size_t n, uint8_t *answers,
                             const struct span *next);

/* The operations that follow from it. */
int composite_contains(const struct array *array, struct digest digest);
void composite_contains_many(const struct array *array, const uint64_t *digests, size_t n, uint8_t *answers,
                             const char *ahead);
void composite_prefetch(const struct array *array, struct digest digest);

/* Clears all children. */
void composite_clear(perhaps *f);

/* An empty child for layers or generations, with capacity, rate and layout of another, and all else as the newest
 * child has it. */
int layers_make(const perhaps *f, const struct header *like, perhaps **made);

/* Whether layers of that kind grow by the rule of another program: the rate of the whole then follows from the first layer's. */
bool layers_have_rule(const struct kind *base);

/* Whether layers, and one for so many keys `more`, are few enough keys together for the bytes of another program, whose numbers
 * have 63 bits. A layer has no more keys than it is for, unless it had them before. */
bool layers_fit(const perhaps *f, uint64_t more);

/* What perhaps_embed.h says of a plain filter that becomes the first layer of a growing one, and of the way back. */
int layers_start(perhaps **f, double fpr, double growth, uint64_t max_bytes);
int layers_end(perhaps **f);

/* Layers over sets: into = the union of both. See combine/merging.c. */
int layers_merge(perhaps *into, const perhaps *from);

/* Some of at most CHILD_BLOCK keys, in order, and which ones they are. */
struct some_keys {
    size_t n;
    uint64_t digests[CHILD_BLOCK];
    uint16_t at[CHILD_BLOCK];
};

/* Drops those that are answered 1, from key `from` on: the rest moves up to the beginning. */
void keep_unanswered(struct some_keys *keys, size_t from, const uint8_t *answers);

#endif
