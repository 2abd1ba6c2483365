/*
 * The server's memory, as the library wants it: by allocations that may fail, and aligned to 64
 * bytes where it is large.
 *
 *     allocator        for                                  thread        without memory
 *     server_memory    filters of values                    main; freed   NULL, and the command
 *                                                           in any        fails
 *     command_memory   a parked filter, unpacked and        main          NULL, and the command
 *                      ended in one command                               fails
 *     sure_memory      a parked filter that is read as a    main, or      the server or its
 *                      whole, or has become too large       a child       child ends
 *
 * A piece of 1,024 bytes and more begins up to 64 bytes after what the server gave:
 *
 *     raw ... | huge pages? | bytes from raw | what the library gets, at a multiple of 64
 *                  [-2]           [-1]
 *
 * Byte -1 is how release and defragment find the raw piece; if it is 0, the distance is in four
 * bytes from -8 on. Byte -2 is set in large pieces only.
 *
 * What is counted. MEMORY USAGE, PERHAPS.INFO, and BF.INFO and CF.INFO of native filters say what
 * is really behind a value: its struct, and what the allocator gave for each piece, but of a large
 * piece only the pages up to its end. The server's used_memory counts all of a large piece, and so
 * is higher. A parked filter that is unpacked is not counted: it ends with the command.
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

/* The most that one more piece of a filter may have, while it may grow; UINT64_MAX: no limit.
 * `refused`: what a larger piece would have had. Small pieces may always be had: a filter needs
 * them for itself. */
extern struct piece_limit { uint64_t most, refused; } piece_limit;

/* How many pieces were taken from server_memory so far. */
extern uint64_t pieces_taken;

/* What the server spends on all pieces of a filter. */
size_t memory_of(perhaps *filter);

/* Lets the server move each piece of a filter to where memory is less fragmented; where the filter
 * is now. It must be from server_memory. */
perhaps *defragment(RedisModuleDefragCtx *ctx, perhaps *filter);

#endif
