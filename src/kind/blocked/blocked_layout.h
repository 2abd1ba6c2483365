/* Layout of a blocked Bloom filter. blocked.c has the drawing. */
#ifndef PERHAPS_KIND_BLOCKED_BLOCKED_LAYOUT_H
#define PERHAPS_KIND_BLOCKED_BLOCKED_LAYOUT_H

#include "kind/kind.h"

enum { BLOCKED_LINES, BLOCKED_BITS_PER_LINE, BLOCKED_LINES_PER_KEY }; /* words of the layout */
enum { BLOCKED_LANES = 8, BLOCKED_LINE_SHIFT = 6 };
enum { BLOCKED_LINE_BYTES = 1 << BLOCKED_LINE_SHIFT, BLOCKED_LINE_BITS = 8 * BLOCKED_LINE_BYTES };

extern const struct model model_blocked;

#endif
