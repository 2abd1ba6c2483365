/* Memory: the caller's allocator, or pages from the system, huge ones where it offers them. */
#ifndef PERHAPS_BASE_MEMORY_H
#define PERHAPS_BASE_MEMORY_H

#include "perhaps_embed.h"

#include <stdbool.h>

enum { MEMORY_PAGE = 4096 }; /* what counts as a page in memory and files that are to stay sparse */

/* The library's own allocator: aligned, and from 1 MiB on a mapping that asks for huge pages. */
extern const perhaps_allocator memory_default;

/* `size` zero bytes, or NULL. Untouched pages of large ones cost nothing under memory_default. */
void *memory_zeroed(const perhaps_allocator *allocator, uint64_t size);

/* `size` bytes of any content, or NULL. */
void *memory_get(const perhaps_allocator *allocator, uint64_t size);

/* Asks that each small page of zeroed memory cost only once it is touched; without it, a huge one may come at a time. */
void memory_keep_sparse(const perhaps_allocator *allocator, void *memory, uint64_t size);

/* Copies to memory of zeros; pages of zeros are not touched. */
void memory_copy_sparse(uint8_t *to, const uint8_t *from, uint64_t size);

/* Sets to zero; pages that are zero are not touched. */
void memory_clear(uint8_t *memory, uint64_t size);

/* Whether all bytes are zero. */
bool memory_is_zero(const uint8_t *memory, uint64_t size);

/* NULL is fine. */
void memory_release(const perhaps_allocator *allocator, void *memory, uint64_t size);

/* Bytes of memory this machine has. */
uint64_t memory_of_machine(void);

#endif
