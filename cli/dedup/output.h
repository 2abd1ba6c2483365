/* Where dedup's lines go. */
#ifndef CLI_DEDUP_OUTPUT_H
#define CLI_DEDUP_OUTPUT_H

#include "input/input.h"

/* Opens what -o names, or else standard output, or nothing (-1) where --json has that. FINE, or
 * TROUBLE after having said why not. */
int dedup_output_open(const struct options *options, const struct input *input, int *out);

/* Returns `status`, or TROUBLE if closing shows that not all was written. */
int dedup_output_close(const struct options *options, int out, int status);

#endif
