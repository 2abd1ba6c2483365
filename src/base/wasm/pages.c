/* Memory of a WebAssembly module: one piece that grows, up to 4 GiB, and never shrinks. */
#include "base/pages.h"

#include <stdlib.h>
#include <string.h>

enum { LINE = 64 };

void *pages_get(size_t size) {
    void *memory = aligned_alloc(LINE, (size + LINE - 1) / LINE * LINE);
    return memory ? memset(memory, 0, size) : NULL;
}

void pages_release(void *memory, size_t size) {
    (void)size;
    free(memory);
}

void pages_keep_sparse(void *memory, size_t size) {
    (void)memory, (void)size;
}

/* A page plans filters for other machines, too. */
static uint64_t other_machine;

void module_plan_for(uint64_t memory);
void module_plan_for(uint64_t memory) {
    other_machine = memory;
}

uint64_t memory_of_machine(void) {
    return other_machine ? other_machine : SIZE_MAX / 2;
}
