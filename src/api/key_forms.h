/*
 * The five forms of a batch of keys (perhaps_keys), and how each becomes digests.
 *
 * Contiguous integers and digests are used in place. All others are gathered on the stack, GATHER
 * keys at a time.
 */
#ifndef PERHAPS_API_KEY_FORMS_H
#define PERHAPS_API_KEY_FORMS_H

#include "core/hash.h"

#include <stdbool.h>

enum { GATHER = 256 }; /* keys whose pointers and lengths are gathered at a time */

/* PERHAPS_EINVAL with a sentence for a batch that makes no sense. The other calls rely on it. */
int keys_check(const perhaps_keys *keys);

/* Keys from..from+n-1 as a batch. */
perhaps_keys keys_slice(const perhaps_keys *keys, size_t from, size_t n);

/* The keys from number `from` on as an aligned array; NULL unless they are contiguous integers or
 * digests. */
const uint64_t *keys_words(const perhaps_keys *keys, size_t from);

/* The digests of keys from..from+n-1, of one word or two: the caller's, or made in `room`. */
const uint64_t *keys_digests(const struct hash *hash, bool two_words, const perhaps_keys *keys, size_t from, size_t n,
                             uint64_t *room);

#endif
