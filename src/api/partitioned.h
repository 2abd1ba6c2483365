/*
 * Large batches, partitioned by digest: queries of composite filters, and adds to kinds whose home
 * position is monotone in the digest.
 *
 * Where cache lines are monotone in the digest (batch_ops.cache_line), they are in every child, whatever
 * its size. A batch is partitioned by the upper bits of the digests, and each partition then goes
 * through all children:
 *
 *     keys -> digests -> partition 0     ...... -> newest child, ..., oldest -> answers, in order
 *                        partition 1     .......
 *                        ...
 *                        partition 1023  ......
 *
 * The cache lines of a partition stay in the cache for all children, and a line is read from memory
 * once for all keys of the batch that need it.
 */
#ifndef PERHAPS_API_PARTITIONED_H
#define PERHAPS_API_PARTITIONED_H

#include "api/batch.h"

/* Whether it pays for a query of n keys. */
bool partitioned_query_pays(const perhaps *f, size_t n);

/* Queries a batch; `answers` may be NULL. *ones becomes the number of keys found. False without
 * memory for it: nothing has happened then. */
bool partitioned_query(const perhaps *f, const perhaps_keys *keys, uint8_t *answers, uint64_t *ones);

/* The same for adds, where the kind has add_partition: the places of a key, and those of the keys that
 * make room for it, are near each other. Copies are all alike, so the answers do not depend on the
 * order. */
bool partitioned_add_pays(const perhaps *f, size_t n);

/* Adds a batch, or nothing; `answers` may be NULL. */
int64_t partitioned_add(perhaps *f, const perhaps_keys *keys, uint8_t *answers);

#endif
