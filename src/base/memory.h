/* Memory: the caller's allocator, or pages from the system, huge ones where it offers them. */
#ifndef PERHAPS_BASE_MEMORY_H
#define PERHAPS_BASE_MEMORY_H

#include "base/pages.h"
#include "perhaps_embed.h"

#include <stdbool.h>

enum { MEMORY_PAGE = 4096 }; /* the unit in which memory and files stay sparse */

/* Aligned to cache lines; from 1 MiB on, a mapping with huge pages. */
extern const perhaps_allocator memory_default;

/* Zero bytes, or NULL. Untouched pages of large ones take no memory, if the allocator has zeroed
 * memory itself, as memory_default has. */
void *memory_zeroed(const perhaps_allocator *allocator, uint64_t size);

/* Uninitialised bytes, or NULL. */
void *memory_get(const perhaps_allocator *allocator, uint64_t size);

/* Advises against huge pages: memory is then allocated one small page at a time. */
void memory_keep_sparse(const perhaps_allocator *allocator, void *memory, uint64_t size);

/* Copies to zeroed memory; pages of zeros are not touched. */
void memory_copy_sparse(uint8_t *to, const uint8_t *from, uint64_t size);

/* Sets to zero; pages that are zero are not written. */
void memory_clear(uint8_t *memory, uint64_t size);

bool memory_is_zero(const uint8_t *memory, uint64_t size);

/* Takes NULL. */
void memory_release(const perhaps_allocator *allocator, void *memory, uint64_t size);

#endif
