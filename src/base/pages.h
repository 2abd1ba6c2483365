/* Large pieces of memory from the system. */
#ifndef PERHAPS_BASE_PAGES_H
#define PERHAPS_BASE_PAGES_H

#include <stddef.h>
#include <stdint.h>

/* Zero bytes on a cache line, where the system can on a huge-page boundary; NULL when memory is
 * short. */
void *pages_get(size_t size);
void pages_release(void *memory, size_t size);

/* Advises against huge pages. */
void pages_keep_sparse(void *memory, size_t size);

/* The most bytes that a filter can have: the memory of this machine, and half of the addresses. */
uint64_t memory_of_machine(void);

#endif
