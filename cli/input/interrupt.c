#include "input.h"
#include "output/report.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

static atomic_bool interrupted;
static int interruptions[2] = {-1, -1}; /* a pipe that has a byte when there was one */
static int watched_output = -1;

int input_make_interruptible(void) {
    if (interruptions[0] >= 0 || pipe2(interruptions, O_CLOEXEC | O_NONBLOCK) == 0) return FINE;
    return failure(NULL, "a pipe cannot be created: %s", strerror(errno));
}

bool input_is_interruptible(void) {
    return interruptions[0] >= 0;
}

void input_watch_output(int fd) {
    watched_output = fd;
}

void input_interrupt(void) {
    int before = errno;
    interrupted = true;
    /* A pipe that is full has a byte already. */
    if (interruptions[1] >= 0 && write(interruptions[1], "", 1) < 0) errno = before;
}

bool input_was_interrupted(void) {
    return interrupted;
}

void input_wait(int fd) {
    struct pollfd any[3] = {
        {.fd = fd, .events = POLLIN}, {.fd = interruptions[0], .events = POLLIN}, {.fd = watched_output}};
    if (interruptions[0] < 0) return;
    if (poll(any, 3, -1) > 0 && any[2].revents & (POLLERR | POLLHUP)) input_interrupt();
}

/* ---- signals ---- */

static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
enum { SIGNALS = sizeof signals / sizeof *signals };

static atomic_int interrupting_signal;
static bool finishing; /* they are caught */

static void on_interrupt(int number) {
    interrupting_signal = number;
    input_interrupt();
}

int finish_on_interrupt(void) {
    if (input_make_interruptible() != FINE) return TROUBLE;
    finishing = true;
    for (size_t i = 0; i < SIGNALS; i++) {
        struct sigaction before, action = {.sa_handler = on_interrupt};
        sigaction(signals[i], NULL, &before);
        if (before.sa_handler != SIG_IGN) sigaction(signals[i], &action, NULL);
    }
    return FINE;
}

bool was_interrupted(void) {
    return interrupting_signal != 0;
}

void die_of_interrupt(void) {
    if (!interrupting_signal) return;
    signal(interrupting_signal, SIG_DFL);
    raise(interrupting_signal);
}

void leave_interrupts_to_others(bool leave) {
    sigset_t set;
    if (!finishing) return;
    sigemptyset(&set);
    for (size_t i = 0; i < SIGNALS; i++) sigaddset(&set, signals[i]);
    pthread_sigmask(leave ? SIG_BLOCK : SIG_UNBLOCK, &set, NULL);
}
