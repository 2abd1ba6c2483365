/* Batches, as many.c, arranging.c and parallel.c share them. */
#ifndef PERHAPS_API_BATCH_H
#define PERHAPS_API_BATCH_H

#include "core/children.h"

enum { CHUNK = 2048 }; /* keys hashed at a time: their digests stay in the first-level cache */

/* Where the keys of a batch come from: one of the three forms. */
struct keys {
    const void *const *bytes;
    const size_t *lengths;
    const uint64_t *integers;
    const uint64_t *digests;
};

/* Whether the filter takes keys of that form. */
int many_takes(const perhaps *f, const struct keys *keys);

/* The digests of keys from..from+n-1: the caller's own, or made in `room`. */
const uint64_t *many_digests(const perhaps *f, const struct keys *keys, size_t from, size_t n, uint64_t *room);

/* Takes the first n keys out again, those that were new, where the filter can. */
void many_undo(perhaps *f, const struct keys *keys, size_t n, const uint8_t *answers);

/* Makes sure that a batch for children that cannot take keys out again will not fail half-way. */
int many_provide(perhaps *f, const struct keys *keys, size_t n);

/* Adds n keys to a filter that may be changed and has room for them, as far as it can be known. `answers` may be NULL only if
 * nothing can fail. */
int64_t many_put(perhaps *f, const struct keys *keys, size_t n, uint8_t *answers);

/* What perhaps_add_many is. */
int64_t many_add(perhaps *f, const struct keys *keys, size_t n, uint8_t *answers);

/* What perhaps_contains_many is. */
int64_t many_contains(const perhaps *f, const struct keys *keys, size_t n, uint8_t *answers);

#endif
