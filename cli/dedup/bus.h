/* Files that are cut while they are mapped: to touch a page that is gone is a SIGBUS. */
#ifndef CLI_DEDUP_BUS_H
#define CLI_DEDUP_BUS_H

#include <stdbool.h>

/* From now on, guarded calls survive it. Elsewhere it still ends the program. */
void bus_errors_catch(void);

/* Calls the function, in any number of threads. False if a SIGBUS ended it. */
bool bus_errors_guard(void (*function)(void *context), void *context);

#endif
