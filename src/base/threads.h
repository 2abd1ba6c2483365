/* Threads and locks. */
#ifndef PERHAPS_BASE_THREADS_H
#define PERHAPS_BASE_THREADS_H

#include "perhaps.h"

/* An array of locks. Each fills whole cache lines: threads with different locks do not
 * interfere. */
struct locks;

/* NULL when memory is short. */
struct locks *locks_make(const perhaps_allocator *allocator, unsigned count);
void locks_free(const perhaps_allocator *allocator, struct locks *locks);

void lock_take(struct locks *locks, unsigned i);
void lock_leave(struct locks *locks, unsigned i);

enum { THREADS_MAX = 256 };

/* Processors that this process may use. */
unsigned processors(void);

/* Calls work(context, i) for i = 0..n-1, each in a thread; the last in the caller's, and those that
 * got no thread. All have ended when it returns. */
void run_in_threads(unsigned n, void (*work)(void *context, unsigned i), void *context);

#endif
