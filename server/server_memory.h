/* The server's memory, as the library wants it: aligned to 64 bytes, and with allocations that may fail. */
#ifndef PERHAPS_SERVER_MEMORY_H
#define PERHAPS_SERVER_MEMORY_H

#include <perhaps_embed.h>

#include "modapi.h"

/* Memory or NULL. An older server has only allocations that end it when they fail. */
void *try_alloc(size_t bytes);

/* For filters that live on. */
extern const perhaps_allocator server_memory;

/* For what is needed while saving or replicating, where there is no way to fail: a server without memory ends. */
extern const perhaps_allocator sure_memory;

/* For a handle that is opened and ended within one command: it gets the same place each time. */
extern const perhaps_allocator command_memory;

/* What the server really spends on all pieces of a filter. */
size_t memory_of(perhaps *filter);

/* Lets the server move them together. */
perhaps *defragment(RedisModuleDefragCtx *ctx, perhaps *filter);

#endif
