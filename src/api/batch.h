/* What batch.c, partitioned.c and parallel.c share. All but batch_check rely on batch_check. */
#ifndef PERHAPS_API_BATCH_H
#define PERHAPS_API_BATCH_H

#include "api/key_forms.h"
#include "core/children.h"

enum { CHUNK = 2048 }; /* keys hashed at a time: their digests stay in the first-level cache */

/* Whether the batch makes sense, and the filter takes keys of its form. */
int batch_check(const perhaps *f, const perhaps_keys *keys);

/* A part of a batch, and its digests. It begins as {0}. */
struct chunk {
    size_t from, n;
    const uint64_t *digests; /* of one word or two, as the filter's are */
};

/* The next part, whose digests fit into `room` of that many words. False after the last. */
bool next_chunk(const perhaps *f, const perhaps_keys *keys, uint64_t *room, size_t words, struct chunk *chunk);

/* filter_undo for the first n keys of a batch. */
void batch_undo(perhaps *f, const perhaps_keys *keys, size_t n, const uint8_t *answers);

/* Makes room for the whole batch in composite filters whose children cannot remove keys: there a
 * batch that fails half-way could not be undone. */
int batch_provide(perhaps *f, const perhaps_keys *keys);

/* Adds a batch after filter_prepare_change and batch_provide. `answers` may be NULL only if nothing
 * can fail. */
int64_t batch_put(perhaps *f, const perhaps_keys *keys, uint8_t *answers);

/* perhaps_add_many and perhaps_contains_many after batch_check. */
int64_t batch_add(perhaps *f, const perhaps_keys *keys, uint8_t *answers);
int64_t batch_contains(const perhaps *f, const perhaps_keys *keys, uint8_t *answers);

/* Before a batch that changes the filter. */
int batch_begin(perhaps *f, const perhaps_keys *keys);

#endif
