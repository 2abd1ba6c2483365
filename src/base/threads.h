/* Threads and locks. */
#ifndef PERHAPS_BASE_THREADS_H
#define PERHAPS_BASE_THREADS_H

#include "perhaps.h"

/* So many locks, each on cache lines of its own, so that threads that hold different ones do not disturb one another. */
struct locks;

/* NULL when memory is short. */
struct locks *locks_make(const perhaps_allocator *allocator, unsigned count);
void locks_free(const perhaps_allocator *allocator, struct locks *locks);

void lock_take(struct locks *locks, unsigned i);
void lock_leave(struct locks *locks, unsigned i);

enum { THREADS_MAX = 256 }; /* more are of no use to anyone here */

/* Processors that this process may use. */
unsigned processors(void);

/* Calls work(context, i) for i = 0..n-1, each in a thread of its own but for the last, which the caller's does; where the
 * system gives no more threads, the caller's does theirs too. All have ended when it returns. */
void run_in_threads(unsigned n, void (*work)(void *context, unsigned i), void *context);

#endif
