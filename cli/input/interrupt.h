/* Ctrl-C and its like, for commands that have something to finish before they end. */
#ifndef CLI_INPUT_INTERRUPT_H
#define CLI_INPUT_INTERRUPT_H

#include <stdbool.h>

/* From now on, SIGINT, SIGTERM and SIGHUP end the reading of input and nothing else. FINE or TROUBLE. */
int finish_on_interrupt(void);

/* Did one of them come? */
bool was_interrupted(void);

/* Ends as the signal would have ended it, if there was one. */
void die_of_interrupt(void);

/* After finish_on_interrupt, the calling thread gets none of them from now on, or gets them again: so that they come to the one
 * that reads. Without it they end the program whichever thread gets them, also when there is no other one left. */
void leave_interrupts_to_others(bool leave);

#endif
