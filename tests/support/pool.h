/* Memory that fails on demand, and is counted: for tests of what a filter does without memory.
 * Several threads may use a pool. */
#ifndef PERHAPS_TESTS_POOL_H
#define PERHAPS_TESTS_POOL_H

#include <perhaps_embed.h>
#include <stdbool.h>

struct pool {
    int64_t blocks, bytes; /* in use */
    int64_t most;          /* bytes in use at a time */
    uint64_t calls;
    uint64_t fail_at; /* the call that fails, counted from 1; 0 = none */
    bool for_good;    /* all calls after it fail, too */
    uint64_t limit;   /* bytes: the test fails at a call for more; 0 = none */
};

perhaps_allocator pool_allocator(struct pool *pool);

#endif
