#include "base/memory.h"

#include "base/pages.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 64, LARGE = 1 << 20 };

/* From this size on, memory is whole pages of the system. */
static bool is_large(size_t size) {
    return size >= LARGE;
}

static void *default_allocate(void *context, size_t size) {
    (void)context;
    if (is_large(size)) return pages_get(size);
    return aligned_alloc(LINE, (size + LINE - 1) / LINE * LINE);
}

static void default_release(void *context, void *memory, size_t size) {
    (void)context;
    if (is_large(size))
        pages_release(memory, size);
    else
        free(memory);
}

static void *default_allocate_zeroed(void *context, size_t size) {
    void *memory = default_allocate(context, size);
    if (memory && !is_large(size)) memset(memory, 0, size);
    return memory;
}

const perhaps_allocator memory_default = {
    .allocate = default_allocate, .release = default_release, .allocate_zeroed = default_allocate_zeroed};

static bool is_default(const perhaps_allocator *allocator) {
    return allocator->allocate == default_allocate;
}

void *memory_get(const perhaps_allocator *allocator, uint64_t size) {
    if (size > SIZE_MAX / 2) return NULL;
    return allocator->allocate(allocator->context, (size_t)size);
}

void *memory_zeroed(const perhaps_allocator *allocator, uint64_t size) {
    if (allocator->allocate_zeroed && size <= SIZE_MAX / 2)
        return allocator->allocate_zeroed(allocator->context, (size_t)size);
    void *memory = memory_get(allocator, size);
    if (memory) memset(memory, 0, (size_t)size);
    return memory;
}

void memory_keep_sparse(const perhaps_allocator *allocator, void *memory, uint64_t size) {
    if (is_default(allocator) && is_large((size_t)size)) pages_keep_sparse(memory, (size_t)size);
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
