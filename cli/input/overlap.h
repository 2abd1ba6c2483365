/* No command writes a file that it also reads as input: compared as files, whatever names and links
 * lead to them. */
#ifndef CLI_INPUT_OVERLAP_H
#define CLI_INPUT_OVERLAP_H

#include "input.h"

/* FINE, or TROUBLE after having said that what -o, --state, FILTER or standard output names is also
 * a file of keys (`input`, which may be NULL), or that of --hash-key or --confirm; for dedup's
 * lines also that of --state and its journal. */
int refuse_overlap(const struct options *options, const struct input *input);

#endif
