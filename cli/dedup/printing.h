/* Lines that were chosen, written straight from where they were read to. */
#ifndef CLI_DEDUP_PRINTING_H
#define CLI_DEDUP_PRINTING_H

#include "line_block.h"

/* Writes the lines of a job whose answer is `wanted` to `fd`. FINE, or TROUBLE and a message. */
int print_chosen(int fd, const char *name, const struct line_block *job, uint8_t wanted);

#endif
