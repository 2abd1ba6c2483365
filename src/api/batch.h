/* What batch.c, partitioned.c and parallel.c share. batch_check has accepted each batch. */
#ifndef PERHAPS_API_BATCH_H
#define PERHAPS_API_BATCH_H

#include "api/key_forms.h"
#include "core/children.h"

enum { CHUNK = 2048 }; /* keys hashed at a time: their digests stay in the first-level cache */

/* Whether the batch makes sense, and the filter takes keys of its form. */
int batch_check(const perhaps *f, const perhaps_keys *keys);

/* The digests of keys from..from+n-1: the caller's, or made in `room`. */
static inline const uint64_t *batch_digests(const perhaps *f, const perhaps_keys *keys, size_t from, size_t n,
                                            uint64_t *room) {
    return keys_digests(&f->hash, keys, from, n, room);
}

/* Removes those of the first n keys whose answer was "new", where the filter can. */
void batch_undo(perhaps *f, const perhaps_keys *keys, size_t n, const uint8_t *answers);

/* Makes room for the whole batch in composite filters whose children cannot remove keys: it must
 * not fail half-way. */
int batch_provide(perhaps *f, const perhaps_keys *keys);

/* Adds a batch to a filter that may be changed and was provided with room. `answers` may be NULL
 * only if nothing can fail. */
int64_t batch_put(perhaps *f, const perhaps_keys *keys, uint8_t *answers);

/* perhaps_add_many and perhaps_contains_many after batch_check. */
int64_t batch_add(perhaps *f, const perhaps_keys *keys, uint8_t *answers);
int64_t batch_contains(const perhaps *f, const perhaps_keys *keys, uint8_t *answers);

#endif
