#include "base/memory.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { LINE = 64, LARGE = 1 << 20, HUGE = 2 << 20 };

/* From this size on, memory comes from mmap: zero, and on a huge-page boundary. */
static bool is_large(size_t size) {
    return size >= LARGE;
}

/* Maps too much, and unmaps both ends, so that the rest begins on a huge-page boundary. */
static void *map_aligned(size_t size) {
    size_t total;
    if (__builtin_add_overflow(size, (size_t)HUGE, &total)) return NULL;
    uint8_t *start = mmap(NULL, total, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (start == MAP_FAILED) return NULL;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t before = (HUGE - (uintptr_t)start % HUGE) % HUGE;
    size_t kept = (size + page - 1) / page * page;
    if (before) munmap(start, before);
    if (total > before + kept) munmap(start + before + kept, total - before - kept);
#ifdef MADV_HUGEPAGE
    madvise(start + before, kept, MADV_HUGEPAGE);
#endif
    return start + before;
}

static void *default_allocate(void *context, size_t size) {
    (void)context;
    if (is_large(size)) return map_aligned(size);
    return aligned_alloc(LINE, (size + LINE - 1) / LINE * LINE);
}

static void default_release(void *context, void *memory, size_t size) {
    (void)context;
    if (!is_large(size)) {
        free(memory);
        return;
    }
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    munmap(memory, (size + page - 1) / page * page);
}

const perhaps_allocator memory_default = {default_allocate, default_release, NULL};

static bool is_default(const perhaps_allocator *allocator) {
    return allocator->allocate == default_allocate;
}

void *memory_get(const perhaps_allocator *allocator, uint64_t size) {
    if (size > SIZE_MAX / 2) return NULL;
    return allocator->allocate(allocator->context, (size_t)size);
}

void *memory_zeroed(const perhaps_allocator *allocator, uint64_t size) {
    void *memory = memory_get(allocator, size);
    if (memory && !(is_default(allocator) && is_large((size_t)size))) memset(memory, 0, (size_t)size);
    return memory;
}

void memory_keep_sparse(const perhaps_allocator *allocator, void *memory, uint64_t size) {
#ifdef MADV_NOHUGEPAGE
    if (is_default(allocator) && is_large((size_t)size)) madvise(memory, (size_t)size, MADV_NOHUGEPAGE);
#else
    (void)allocator, (void)memory, (void)size;
#endif
}

bool memory_is_zero(const uint8_t *memory, uint64_t size) {
    return size == 0 || (memory[0] == 0 && memcmp(memory, memory + 1, (size_t)size - 1) == 0);
}

static size_t page_at(uint64_t at, uint64_t size) {
    return size - at < MEMORY_PAGE ? (size_t)(size - at) : MEMORY_PAGE;
}

void memory_copy_sparse(uint8_t *to, const uint8_t *from, uint64_t size) {
    for (uint64_t at = 0; at < size; at += MEMORY_PAGE) {
        size_t length = page_at(at, size);
        if (!memory_is_zero(from + at, length)) memcpy(to + at, from + at, length);
    }
}

void memory_clear(uint8_t *memory, uint64_t size) {
    for (uint64_t at = 0; at < size; at += MEMORY_PAGE) {
        size_t length = page_at(at, size);
        if (!memory_is_zero(memory + at, length)) memset(memory + at, 0, length);
    }
}

void memory_release(const perhaps_allocator *allocator, void *memory, uint64_t size) {
    if (memory) allocator->release(allocator->context, memory, (size_t)size);
}

uint64_t memory_of_machine(void) {
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    return pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : UINT64_MAX;
}
