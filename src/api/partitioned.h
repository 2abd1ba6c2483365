/*
 * Large batches in the order of places: asking a filter of filters, and adding to a kind in which that order is the order of digests.
 *
 * Where the order of digests is the order of cache lines (batch_ops.cache_line), it is so in every child, however large. The keys of a batch are
 * brought to parts by the upper bits of their digests, and each part then goes through all children:
 *
 *     keys ──▶ digests ──▶ part 0     ▪▪▪▪▪▪ ──▶ newest child, ..., oldest ──▶ answers ──▶ in the order of the keys
 *                          part 1     ▪▪▪▪▪▪▪
 *                          ...
 *                          part 1023  ▪▪▪▪▪▪
 *
 * A part's lines of all children together stay in the cache while it is asked for, and a line is fetched from memory once for all keys of the
 * batch that are in it: the larger the batch, the less of that there is for each key.
 */
#ifndef PERHAPS_API_PARTITIONED_H
#define PERHAPS_API_PARTITIONED_H

#include "api/batch.h"

/* Whether that is the way to ask for n keys. */
bool partitioned_query_pays(const perhaps *f, size_t n);

/* Asks for n keys; `answers` may be NULL. *ones becomes how many are there. False without memory for it: nothing has happened then. */
bool partitioned_query(const perhaps *f, const perhaps_keys *keys, uint8_t *answers, uint64_t *ones);

/* The same for adding, where the kind has add_partition. A key's places are near each other, and so are those of the keys that have to make room
 * for it: what is fetched for one key is there for the next. Copies are all alike, so nobody can tell from the answers in which order
 * they came. */
bool partitioned_add_pays(const perhaps *f, size_t n);

/* Adds n keys, or none; `answers` may be NULL. */
int64_t partitioned_add(perhaps *f, const perhaps_keys *keys, uint8_t *answers);

#endif
