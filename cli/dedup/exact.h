/* A memory without false positives: keys are compared with the first copy that has their digest. */
#ifndef CLI_DEDUP_EXACT_H
#define CLI_DEDUP_EXACT_H

#include "line_block.h"

struct exact;

/* For the lines of this input, which must live as long. NULL after having said why not. */
struct exact *exact_create(const struct input *input);

/* Sets the answers of a job with keys. FINE, or TROUBLE after having said why. */
int exact_add(struct exact *exact, struct line_block *job);

void exact_free(struct exact *exact);

#endif
