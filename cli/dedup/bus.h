/* Files that are cut while they are mapped: touching a page that the file no longer has is a SIGBUS. */
#ifndef CLI_DEDUP_BUS_H
#define CLI_DEDUP_BUS_H

#include <stdbool.h>

/* From now on, guarded calls survive it. Elsewhere it still ends the program. */
void bus_errors_catch(void);

/* Calls the function. False if a SIGBUS ended it: its work is left undone. Any number of threads may do that. */
bool bus_errors_guard(void (*function)(void *context), void *context);

#endif
