/* How the reading of input is ended early: by Ctrl-C and its like, for commands that have something
 * to finish before they end, or because no more keys are wanted. */
#ifndef CLI_INPUT_INTERRUPT_H
#define CLI_INPUT_INTERRUPT_H

#include <stdbool.h>

/* Makes input_interrupt possible. FINE or TROUBLE. */
int input_make_interruptible(void);

/* If it is interruptible, reading also ends when nobody is left to read what is written to `fd`,
 * even while nothing is written. */
void input_watch_output(int fd);

/* Reading, in whichever thread, then ends as if the input ended, with STOP, however long the next
 * key takes to come. May be called by a signal handler. */
void input_interrupt(void);
bool input_was_interrupted(void);

/* If it is interruptible: waits until there is something to read from `fd`, or an interruption. */
void input_wait(int fd);

/* From now on, SIGINT, SIGTERM and SIGHUP end the reading of input and nothing else. FINE or
 * TROUBLE. */
int finish_on_interrupt(void);

/* Did one of them come? */
bool was_interrupted(void);

/* Ends as the signal would have ended it, if there was one. */
void die_of_interrupt(void);

/* After finish_on_interrupt, the calling thread gets none of them from now on, or gets them again:
 * so that they come to the one that reads. Before it they end the program, whichever thread gets
 * them. */
void leave_interrupts_to_others(bool leave);

#endif
