/* Bars for how full sets are. */
#ifndef CLI_OUTPUT_BARS_H
#define CLI_OUTPUT_BARS_H

#include <stdbool.h>
#include <stdint.h>

enum { BAR_WIDTH = 40 };

/* "[####....]", `width` characters between the brackets; of blocks where the locale has them. On a
 * terminal it is red if that much is too much. */
void print_bar(double share, int width, bool alarm);

/* The line of `info` with a bar for how much of its room a set has used. */
void print_used(uint64_t items, uint64_t capacity);

#endif
