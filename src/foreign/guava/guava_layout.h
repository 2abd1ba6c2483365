/* The words of the layout of Guava's filters. */
#ifndef PERHAPS_FOREIGN_GUAVA_GUAVA_LAYOUT_H
#define PERHAPS_FOREIGN_GUAVA_GUAVA_LAYOUT_H

#include "kind/bloom/bloom_layout.h"

enum { GUAVA_BITS = BLOOM_CELLS, GUAVA_HASHES = BLOOM_HASHES, GUAVA_STRATEGY = BLOOM_OWN };
enum { GUAVA_HASHES_MAX = UINT8_MAX };
enum { GUAVA_MITZ_32, GUAVA_MITZ_64, GUAVA_STRATEGIES }; /* how places follow from a hash */

extern const struct model model_guava;

#endif
