/*
 * The gate of a filter: a lock for readers and writers, whose state is guarded by the GIL. Calls
 * with one key hold the GIL until they end, so they only look whether the gate is open. Calls that
 * release the GIL enter and leave. Who is inside creates no object that the collector of garbage
 * knows: it would run, and what dies could call the filter and wait for its own thread.
 *
 * After a fork the child has one thread: calls that were inside belong to threads which it does not
 * have. Readers have left nothing behind. A writer may have left a filter half changed, and any
 * call on a shared filter a lock: these filters are refused.
 */
#include "binding.h"

#include <time.h>
#include <unistd.h>

/* How long a waiting thread sleeps before it looks for signals. */
enum { NAP_NANOSECONDS = 50000000 };

bool gate_start(struct gate *gate) {
    pthread_condattr_t monotonic;
    if (pthread_mutex_init(&gate->mutex, NULL) != 0) return false;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    bool started = pthread_cond_init(&gate->changed, &monotonic) == 0;
    pthread_condattr_destroy(&monotonic);
    if (!started) pthread_mutex_destroy(&gate->mutex);
    return started;
}

void gate_end(struct gate *gate) {
    pthread_cond_destroy(&gate->changed);
    pthread_mutex_destroy(&gate->mutex);
}

bool gate_is_ours(const struct gate *gate) {
    return gate->process == getpid();
}

/* In a child of the process whose calls are inside. */
static bool adopt(struct py_filter *f) {
    struct gate *gate = &f->gate;
    if (gate_is_ours(gate)) return true;
    if (gate->writer || (f->shared && gate->readers)) {
        PyErr_SetString(PyExc_RuntimeError, "the process was forked while another thread used this filter: the "
                                            "child cannot use it; fork first, or open a file in the child");
        return false;
    }
    gate->process = getpid();
    gate->wanted = 0;
    if (!gate->readers && !gate->waiting) return true;
    gate->readers = 0;
    gate->waiting = 0;
    return gate_start(gate);
}

/* Sleeps until someone has left, or for a moment. */
static void nap(struct gate *gate, uint64_t left) {
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += NAP_NANOSECONDS;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_mutex_lock(&gate->mutex);
    if (gate->left == left) pthread_cond_timedwait(&gate->changed, &gate->mutex, &until);
    pthread_mutex_unlock(&gate->mutex);
}

/* Who waits to be alone stands in the way of others only while it sleeps: handlers of signals run
 * when it wakes, and may call the filter, too. */
static bool gate_wait(struct py_filter *f, bool alone) {
    struct gate *gate = &f->gate;
    if (!adopt(f)) return false;
    if (!gate->readers && !gate->writer && !gate->wanted) return true;
    uint64_t left = gate->left;
    gate->waiting++;
    gate->wanted += alone;
    Py_BEGIN_ALLOW_THREADS
    nap(gate, left);
    Py_END_ALLOW_THREADS
    gate->waiting--;
    gate->wanted -= alone;
    return PyErr_CheckSignals() == 0;
}

/* Waits until the gate is open. */
static bool wait_for(struct py_filter *f, enum gate_access access) {
    while (!gate_open(f, access)) {
        if (!f->handle) {
            PyErr_SetString(PyExc_ValueError, "the filter is closed");
            return false;
        }
        if ((access & 1) && f->exports) {
            PyErr_SetString(PyExc_BufferError, "a memoryview shows the bytes of the filter: release it before the "
                                               "filter is changed");
            return false;
        }
        if (!gate_wait(f, gate_alone(f, access))) return false;
    }
    return true;
}

bool gate_pass(struct py_filter *f, enum gate_access access) {
    return gate_open(f, access) || wait_for(f, access);
}

static void step_inside(struct py_filter *f, bool alone) {
    if (alone)
        f->gate.writer = true;
    else
        f->gate.readers++;
}

/* Those who wait to be alone go first, since they would wait forever. But each call lets only one
 * of them go first: others would come without end. */
bool gate_enter(struct py_filter *f, enum gate_access access) {
    bool alone = gate_alone(f, access);
    if (!adopt(f)) return false;
    uint64_t turns = f->gate.turns;
    if (alone && f->handle && f->gate.wanted && !gate_wait(f, true)) return false;
    while (!alone && f->handle && f->gate.wanted && f->gate.turns == turns)
        if (!gate_wait(f, false)) return false;
    if (!gate_pass(f, access)) return false;
    step_inside(f, alone);
    return true;
}

bool gate_try(struct py_filter *f, enum gate_access access) {
    if (!gate_open(f, access) || !adopt(f)) return false;
    step_inside(f, gate_alone(f, access));
    return true;
}

void gate_leave(struct py_filter *f, enum gate_access access) {
    struct gate *gate = &f->gate;
    if (gate_alone(f, access)) {
        gate->writer = false;
        gate->turns++;
    } else {
        gate->readers--;
    }
    if (!gate->waiting) return;
    pthread_mutex_lock(&gate->mutex);
    gate->left++;
    pthread_cond_broadcast(&gate->changed);
    pthread_mutex_unlock(&gate->mutex);
}
