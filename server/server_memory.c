#include "server_memory.h"

#include "settings.h"

#include <stdalign.h>
#include <string.h>
#include <sys/mman.h>

void *try_alloc(size_t bytes) {
    return RedisModule_TryAlloc ? RedisModule_TryAlloc(bytes) : RedisModule_Alloc(bytes);
}

/* ---- memory aligned to 64 bytes ---- */

enum { ALIGNMENT = 64 };

static uint8_t *align(void *raw) {
    uint8_t *bytes = raw;
    size_t skip = ALIGNMENT - (uintptr_t)raw % ALIGNMENT;
    bytes[skip - 1] = (uint8_t)skip;
    return bytes + skip;
}

static void *raw_of(void *memory) {
    uint8_t *bytes = memory;
    return bytes - bytes[-1];
}

/* ---- huge pages ---- */

enum { HUGE_PAGE = 2 << 20 };

/* Requests huge pages for the part of some memory that can be such, or takes that back. The system
 * may refuse: nothing is lost then. */
static void advise(uint8_t *memory, size_t size, bool huge) {
#ifdef MADV_HUGEPAGE
    size_t before = (HUGE_PAGE - (uintptr_t)memory % HUGE_PAGE) % HUGE_PAGE;
    if (size < before + HUGE_PAGE) return;
    madvise(memory + before, (size - before) / HUGE_PAGE * HUGE_PAGE, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
#else
    (void)memory, (void)size, (void)huge;
#endif
}

/* Whether huge pages were requested. Allocators give multiples of 16, so there is room for both
 * bytes before the memory. */
static bool *is_huge(void *memory) {
    return (bool *)memory - 2;
}

static void *make_ready(void *raw, size_t size) {
    uint8_t *memory = align(raw);
    if (size < HUGE_PAGE) return memory;
    *is_huge(memory) = settings.huge_pages;
    if (settings.huge_pages) advise(memory, size, true);
    return memory;
}

static void *allocate(void *context, size_t size) {
    (void)context;
    void *raw = size <= SIZE_MAX - ALIGNMENT ? try_alloc(size + ALIGNMENT) : NULL;
    return raw ? make_ready(raw, size) : NULL;
}

/* Whoever gets this memory next did not request huge pages. */
static void release(void *context, void *memory, size_t size) {
    (void)context;
    if (size >= HUGE_PAGE && *is_huge(memory)) advise(memory, size, false);
    RedisModule_Free(raw_of(memory));
}

const perhaps_allocator server_memory = {.allocate = allocate, .release = release};

static void *allocate_surely(void *context, size_t size) {
    (void)context;
    return make_ready(RedisModule_Alloc(size + ALIGNMENT), size);
}

const perhaps_allocator sure_memory = {.allocate = allocate_surely, .release = release};

/* ---- one handle at a time ---- */

/* The main thread opens parked filters, one at a time as a rule: that one gets the same place each
 * time. */

static alignas(ALIGNMENT) uint8_t handle[1024];
static int handle_in_use;

static void *allocate_handle(void *context, size_t size) {
    if (handle_in_use || size > sizeof handle) return allocate(context, size);
    handle_in_use = 1;
    return handle;
}

static void release_handle(void *context, void *memory, size_t size) {
    if (memory == handle)
        handle_in_use = 0;
    else
        release(context, memory, size);
}

const perhaps_allocator command_memory = {.allocate = allocate_handle, .release = release_handle};

/* ---- the pieces of a filter ---- */

/* Of large pieces the server's allocator keeps up to a fourth more in reserve, but only as
 * addresses: the pages behind the end are never touched, and take no memory. */
enum { PAGE = 4096, LARGE_PIECE = 16384 };

static void *count_piece(void *context, void *memory, size_t size) {
    size_t whole = RedisModule_MallocSize(raw_of(memory)), used = (size + ALIGNMENT + PAGE - 1) / PAGE * PAGE;
    *(size_t *)context += whole > LARGE_PIECE && used < whole ? used : whole;
    return NULL;
}

size_t memory_of(perhaps *filter) {
    size_t sum = 0;
    perhaps_relocate(filter, count_piece, &sum);
    return sum;
}

/* The server copies the bytes as they lie. If the new place begins elsewhere within 64 bytes, the
 * content moves to the next multiple of 64. Huge pages are not requested again: large memory is
 * hardly ever moved. */
static void *move_piece(void *context, void *memory, size_t size) {
    size_t skip = ((uint8_t *)memory)[-1];
    uint8_t *raw = RedisModule_DefragAlloc(context, raw_of(memory));
    if (!raw) return NULL;
    uint8_t *aligned = align(raw);
    if (aligned != raw + skip) memmove(aligned, raw + skip, size);
    if (size >= HUGE_PAGE) *is_huge(aligned) = false;
    return aligned;
}

perhaps *defragment(RedisModuleDefragCtx *ctx, perhaps *filter) {
    return perhaps_relocate(filter, move_piece, ctx);
}
