#include "base/threads.h"

#include "base/memory.h"

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

enum { LINES = 128 }; /* two cache lines: processors prefetch the neighbour */

union padded {
    pthread_mutex_t mutex;
    char bytes[LINES];
};

struct locks {
    unsigned count;
    union padded *lock;
};

static uint64_t bytes_of(unsigned count) {
    return (uint64_t)count * sizeof(union padded);
}

struct locks *locks_make(const perhaps_allocator *allocator, unsigned count) {
    struct locks *locks = memory_zeroed(allocator, sizeof *locks);
    if (!locks) return NULL;
    locks->count = count;
    locks->lock = memory_zeroed(allocator, bytes_of(count));
    if (!locks->lock) {
        memory_release(allocator, locks, sizeof *locks);
        return NULL;
    }
    for (unsigned i = 0; i < count; i++) pthread_mutex_init(&locks->lock[i].mutex, NULL);
    return locks;
}

void locks_free(const perhaps_allocator *allocator, struct locks *locks) {
    if (!locks) return;
    for (unsigned i = 0; i < locks->count; i++) pthread_mutex_destroy(&locks->lock[i].mutex);
    memory_release(allocator, locks->lock, bytes_of(locks->count));
    memory_release(allocator, locks, sizeof *locks);
}

void lock_take(struct locks *locks, unsigned i) {
    pthread_mutex_lock(&locks->lock[i].mutex);
}

void lock_leave(struct locks *locks, unsigned i) {
    pthread_mutex_unlock(&locks->lock[i].mutex);
}

unsigned processors(void) {
    long count = sysconf(_SC_NPROCESSORS_ONLN);
#ifdef CPU_COUNT
    cpu_set_t mine;
    if (sched_getaffinity(0, sizeof mine, &mine) == 0) count = CPU_COUNT(&mine);
#endif
    return count > 0 ? (unsigned)count : 1;
}

/* ---- work in threads ---- */

enum { STACK_BYTES = 1 << 20 }; /* some systems' default is too small for batches */

struct thread_job {
    void (*work)(void *context, unsigned i);
    void *context;
    unsigned i;
    bool started;
    pthread_t thread;
};

static void *run(void *argument) {
    struct thread_job *job = argument;
    job->work(job->context, job->i);
    return NULL;
}

void run_in_threads(unsigned n, void (*work)(void *context, unsigned i), void *context) {
    struct thread_job jobs[THREADS_MAX];
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    unsigned more = n - 1 < THREADS_MAX ? n - 1 : THREADS_MAX;
    for (unsigned i = 0; i < more; i++) {
        jobs[i] = (struct thread_job){.work = work, .context = context, .i = i};
        jobs[i].started = pthread_create(&jobs[i].thread, &attributes, run, &jobs[i]) == 0;
    }
    pthread_attr_destroy(&attributes);
    for (unsigned i = more; i < n; i++) work(context, i);
    for (unsigned i = 0; i < more; i++) {
        if (jobs[i].started)
            pthread_join(jobs[i].thread, NULL);
        else
            work(context, i);
    }
}
