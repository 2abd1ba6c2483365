/*
 * The server's memory, as the library wants it: aligned to 64 bytes, by allocations that may fail.
 *
 *     allocator        for                                  thread        without memory
 *     server_memory    filters of values                    main; freed   NULL, and the command
 *                                                           in any        fails
 *     command_memory   the handle of a parked filter,       main          NULL, and the command
 *                      opened and ended in one command                    fails
 *     sure_memory      a parked filter, rebuilt to be       main, or      the server or its
 *                      read as a whole (value_whole)        a child       child ends
 *
 * A piece of memory begins up to 64 bytes after what the server gave:
 *
 *     raw ... | huge pages? | bytes from raw | what the library gets, at a multiple of 64
 *                  [-2]           [-1]
 *
 * Byte -1 is how release and defragment find the raw piece. Byte -2 is set in large pieces only.
 *
 * What is counted. MEMORY USAGE, PERHAPS.INFO, and BF.INFO and CF.INFO of native filters say what
 * is really behind a value: its struct, and what the allocator gave for each piece, but of a large
 * piece only the pages up to its end. The server's used_memory counts all of a large piece, and so
 * is higher. The handle of a parked filter is not counted: it ends with the command.
 */
#ifndef PERHAPS_SERVER_MEMORY_H
#define PERHAPS_SERVER_MEMORY_H

#include <perhaps_embed.h>

#include "modapi.h"

/* Memory or NULL. An older server has only allocations that end it when they fail. */
void *try_alloc(size_t bytes);

extern const perhaps_allocator server_memory;
extern const perhaps_allocator sure_memory;
extern const perhaps_allocator command_memory;

/* What the server spends on all pieces of a filter. */
size_t memory_of(perhaps *filter);

/* Lets the server move each piece of a filter to where memory is less fragmented; where the filter
 * is now. It must be from server_memory. */
perhaps *defragment(RedisModuleDefragCtx *ctx, perhaps *filter);

#endif
