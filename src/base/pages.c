#include "base/pages.h"

#include <sys/mman.h>
#include <unistd.h>

enum { HUGE = 2 << 20 };

static size_t in_pages(size_t size) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    return (size + page - 1) / page * page;
}

/* Maps too much, and unmaps both ends, so that the rest begins on a huge-page boundary. */
void *pages_get(size_t size) {
    size_t total;
    if (__builtin_add_overflow(size, (size_t)HUGE, &total)) return NULL;
    uint8_t *start = mmap(NULL, total, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (start == MAP_FAILED) return NULL;
    size_t before = (HUGE - (uintptr_t)start % HUGE) % HUGE;
    size_t kept = in_pages(size);
    if (before) munmap(start, before);
    if (total > before + kept) munmap(start + before + kept, total - before - kept);
#ifdef MADV_HUGEPAGE
    madvise(start + before, kept, MADV_HUGEPAGE);
#endif
    return start + before;
}

void pages_release(void *memory, size_t size) {
    munmap(memory, in_pages(size));
}

void pages_keep_sparse(void *memory, size_t size) {
#ifdef MADV_NOHUGEPAGE
    madvise(memory, size, MADV_NOHUGEPAGE);
#else
    (void)memory, (void)size;
#endif
}

uint64_t memory_of_machine(void) {
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    uint64_t memory = pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : UINT64_MAX;
    return memory < SIZE_MAX / 2 ? memory : SIZE_MAX / 2;
}
