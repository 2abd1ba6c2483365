/* Work in several threads at the same time. */
#ifndef CLI_INPUT_THREADS_H
#define CLI_INPUT_THREADS_H

enum { MOST_THREADS = 256 };

/* Calls function(context, i) for i = 0 .. n-1, each in a thread of its own (the last one in this
 * thread), and returns when all have returned. Where no thread is to be had, the calls come one
 * after another. */
void call_in_threads(unsigned n, void (*function)(void *context, unsigned i), void *context);

/* How many processors this process may use. */
unsigned processor_count(void);

#endif
