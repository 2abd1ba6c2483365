/* Memory: the caller's allocator, or pages from the system, huge ones where it offers them. */
#ifndef PERHAPS_BASE_MEMORY_H
#define PERHAPS_BASE_MEMORY_H

#include "perhaps.h"

/* The library's own allocator: aligned, and from 1 MiB on a mapping that asks for huge pages. */
extern const perhaps_allocator memory_default;

/* `size` zero bytes, or NULL. Untouched pages of large ones cost nothing under memory_default. */
void *memory_zeroed(const perhaps_allocator *allocator, uint64_t size);

/* `size` bytes of any content, or NULL. */
void *memory_get(const perhaps_allocator *allocator, uint64_t size);

/* NULL is fine. */
void memory_release(const perhaps_allocator *allocator, void *memory, uint64_t size);

/* Bytes of memory this machine has. */
uint64_t memory_of_machine(void);

#endif
