/* What the tests of foreign formats share: some of each sort, and their bytes. */
#ifndef PERHAPS_TESTS_FOREIGN_H
#define PERHAPS_TESTS_FOREIGN_H

#include "support.h"

#include <perhaps_embed.h>

enum { SORTS = 15 };

/* Filters that grow by 1, 2 and 4, and not; in buckets of 1, 2 and 4. */
perhaps_want sort_of_filter(unsigned i);

static inline int kind_of(const perhaps *f) {
    struct perhaps_info info = info_of(f);
    return info.base ? info.base : info.kind;
}

/* What perhaps_write_foreign gives. Free data with free(). */
struct bytes foreign_bytes_of(const perhaps *f);

/* A filter of that sort with that many members, or as many as have room. */
perhaps *filled(unsigned sort, uint64_t n);

/* The digest of a key as the filter has it. */
static inline uint64_t digest_of(const perhaps *f, const void *key, size_t length) {
    return perhaps_digest(perhaps_hasher_of(f), key, length);
}

#endif
