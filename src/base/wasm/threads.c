/* A WebAssembly module has one thread: locks have nothing to do. */
#include "base/threads.h"

struct locks *locks_make(const perhaps_allocator *allocator, unsigned count) {
    static char none; /* stands for them: NULL would be a lack of memory */
    (void)allocator, (void)count;
    return (struct locks *)&none;
}

void locks_free(const perhaps_allocator *allocator, struct locks *locks) {
    (void)allocator, (void)locks;
}

void lock_take(struct locks *locks, unsigned i) {
    (void)locks, (void)i;
}

void lock_leave(struct locks *locks, unsigned i) {
    (void)locks, (void)i;
}

unsigned processors(void) {
    return 1;
}

void run_in_threads(unsigned n, void (*work)(void *context, unsigned i), void *context) {
    for (unsigned i = 0; i < n; i++) work(context, i);
}
