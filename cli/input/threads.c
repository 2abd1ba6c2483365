#include "input.h"

#include <pthread.h>
#include <sched.h>

struct call {
    void (*function)(void *context, unsigned i);
    void *context;
    pthread_t thread;
    unsigned i;
    bool started;
};

static void *make_call(void *argument) {
    const struct call *call = argument;
    call->function(call->context, call->i);
    return NULL;
}

/* Signals may come to any of these threads: a handler only sets a flag, which is looked at when
 * they have ended. */
void call_in_threads(unsigned n, void (*function)(void *context, unsigned i), void *context) {
    struct call calls[MOST_THREADS];
    for (unsigned i = 0; i + 1 < n; i++) {
        calls[i] = (struct call){.function = function, .context = context, .i = i};
        calls[i].started = pthread_create(&calls[i].thread, NULL, make_call, &calls[i]) == 0;
    }
    if (n) function(context, n - 1);
    for (unsigned i = 0; i + 1 < n; i++) {
        if (calls[i].started)
            pthread_join(calls[i].thread, NULL);
        else
            make_call(&calls[i]);
    }
}

unsigned processor_count(void) {
    cpu_set_t mine;
    int count = sched_getaffinity(0, sizeof mine, &mine) == 0 ? CPU_COUNT(&mine) : 1;
    return count > 0 ? (unsigned)count : 1;
}
