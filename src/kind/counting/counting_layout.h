/* Layout of a counting Bloom filter: the words of a Bloom filter, with counters for cells. */
#ifndef PERHAPS_KIND_COUNTING_COUNTING_LAYOUT_H
#define PERHAPS_KIND_COUNTING_COUNTING_LAYOUT_H

#include "kind/bloom/bloom_layout.h"

enum { COUNTING_COUNTERS = BLOOM_CELLS, COUNTING_HASHES = BLOOM_HASHES }; /* words of the layout */
enum { COUNTING_BITS = 4 };                                               /* bits of a counter */

extern const struct model model_counting;

#endif
