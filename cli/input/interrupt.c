#include "interrupt.h"
#include "input.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
enum { SIGNALS = sizeof signals / sizeof *signals };

static atomic_int interrupting_signal;
static bool finishing; /* they are caught */

static void on_interrupt(int number) {
    interrupting_signal = number;
    input_interrupt();
}

int finish_on_interrupt(void) {
    int status = input_make_interruptible();
    finishing = status == 0;
    for (size_t i = 0; i < SIGNALS && status == 0; i++) {
        struct sigaction before, action = {.sa_handler = on_interrupt};
        sigaction(signals[i], NULL, &before);
        if (before.sa_handler != SIG_IGN) sigaction(signals[i], &action, NULL);
    }
    return status;
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
