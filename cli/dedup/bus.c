#include "bus.h"

#include <setjmp.h>
#include <signal.h>
#include <stddef.h>

/* Where a thread goes on after a SIGBUS, which comes to the thread that caused it. */
static _Thread_local sigjmp_buf *landing;

static void on_bus_error(int number) {
    if (landing) siglongjmp(*landing, 1);
    signal(number, SIG_DFL); /* the instruction is tried again, and ends the program */
}

void bus_errors_catch(void) {
    sigaction(SIGBUS, &(struct sigaction){.sa_handler = on_bus_error, .sa_flags = SA_NODEFER}, NULL);
}

bool bus_errors_guard(void (*function)(void *context), void *context) {
    sigjmp_buf here;
    if (sigsetjmp(here, 0)) {
        landing = NULL;
        return false;
    }
    landing = &here;
    function(context);
    landing = NULL;
    return true;
}
