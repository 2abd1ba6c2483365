/* Files that are cut while they are mapped: to touch what a map had, and the file has no more, is a SIGBUS. */
#ifndef CLI_DEDUP_BUS_H
#define CLI_DEDUP_BUS_H

#include <stdbool.h>

/* From here to there, guarded calls are. */
void bus_errors_catch(void);
void bus_errors_leave(void);

/* Calls the function. False if it touched what is no more, and *touched is where: what it was at is left undone. Any
 * number of threads may do that. */
bool bus_errors_guard(void (*function)(void *context), void *context, const void **touched);

#endif
