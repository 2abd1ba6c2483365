#include "pool.h"

#include "support.h"

#include <stdlib.h>

static bool fails(const struct pool *pool, uint64_t call) {
    return pool->fail_at && (call == pool->fail_at || (pool->for_good && call > pool->fail_at));
}

static void note_most(struct pool *pool, int64_t now) {
    int64_t most = __atomic_load_n(&pool->most, __ATOMIC_RELAXED);
    while (now > most &&
           !__atomic_compare_exchange_n(&pool->most, &most, now, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        continue;
}

static void *pool_allocate(void *context, size_t size) {
    struct pool *pool = context;
    CHECK(!pool->limit || size < pool->limit, "it allocates %zu bytes", size);
    uint64_t call = __atomic_add_fetch(&pool->calls, 1, __ATOMIC_RELAXED);
    void *memory = fails(pool, call) ? NULL : aligned_alloc(64, (size + 63) / 64 * 64);
    if (!memory) return NULL;
    __atomic_add_fetch(&pool->blocks, 1, __ATOMIC_RELAXED);
    note_most(pool, __atomic_add_fetch(&pool->bytes, (int64_t)size, __ATOMIC_RELAXED));
    return memory;
}

static void pool_release(void *context, void *memory, size_t size) {
    struct pool *pool = context;
    __atomic_sub_fetch(&pool->blocks, 1, __ATOMIC_RELAXED);
    __atomic_sub_fetch(&pool->bytes, (int64_t)size, __ATOMIC_RELAXED);
    free(memory);
}

perhaps_allocator pool_allocator(struct pool *pool) {
    return (perhaps_allocator){.allocate = pool_allocate, .release = pool_release, .context = pool};
}
