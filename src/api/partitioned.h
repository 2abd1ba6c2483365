/*
 * Large batches, partitioned by digest: queries of composite filters, and adds to kinds whose home
 * position is monotone in the digest.
 *
 * A partition is all keys of a batch whose digests share their upper bits. Where the cache line of
 * a key is monotone in its digest (batch_ops.cache_line), a partition is one range of cache lines
 * in every child, whatever its size. Each partition goes through all children before the next:
 *
 *     keys -> digests -> partition 0     ...... -> newest child, ..., oldest -> answers, in order
 *                        partition 1     .......
 *                        ...
 *                        partition 1023  ......
 *
 * So the digests of a partition stay in the cache, and a cache line of a child is read from memory
 * once for all keys of the batch that need it.
 */
#ifndef PERHAPS_API_PARTITIONED_H
#define PERHAPS_API_PARTITIONED_H

#include "api/batch.h"

/* Whether it pays for a query of n keys. */
bool partitioned_query_pays(const perhaps *f, size_t n);

/* Queries a batch; `answers` may be NULL. *ones becomes the number of keys found. False, and
 * nothing done, when memory is short. */
bool partitioned_query(const perhaps *f, const perhaps_keys *keys, uint8_t *answers, uint64_t *ones);

/* The same for adds, where the kind has add_partition. That is for multisets, whose answers are
 * always "new", so they do not depend on the order of the keys. */
bool partitioned_add_pays(const perhaps *f, size_t n);

/* Adds a batch, or nothing; `answers` may be NULL. */
int64_t partitioned_add(perhaps *f, const perhaps_keys *keys, uint8_t *answers);

#endif
