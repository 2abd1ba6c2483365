#include "bus.h"

#include <setjmp.h>
#include <signal.h>
#include <stddef.h>

/* The signal comes to the thread that did it, in the middle of its work. */
struct landing {
    sigjmp_buf place;
    const void *volatile touched;
};

static _Thread_local struct landing *landing;
static struct sigaction before;

static void on_bus_error(int number, siginfo_t *info, void *context) {
    (void)context;
    if (!landing) { /* it was not in a guarded call: the instruction is tried again, and ends the program */
        signal(number, SIG_DFL);
        return;
    }
    landing->touched = info->si_addr;
    siglongjmp(landing->place, 1);
}

void bus_errors_catch(void) {
    struct sigaction action = {.sa_sigaction = on_bus_error, .sa_flags = SA_SIGINFO | SA_NODEFER};
    sigaction(SIGBUS, &action, &before);
}

void bus_errors_leave(void) {
    sigaction(SIGBUS, &before, NULL);
}

bool bus_errors_guard(void (*function)(void *context), void *context, const void **touched) {
    struct landing here = {.touched = NULL};
    if (sigsetjmp(here.place, 0)) {
        landing = NULL;
        *touched = here.touched;
        return false;
    }
    landing = &here;
    function(context);
    landing = NULL;
    return true;
}
