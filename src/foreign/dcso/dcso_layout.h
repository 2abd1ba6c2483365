/* The words of the layout of DCSO's filters. */
#ifndef PERHAPS_FOREIGN_DCSO_DCSO_LAYOUT_H
#define PERHAPS_FOREIGN_DCSO_DCSO_LAYOUT_H

#include "kind/bloom/bloom_layout.h"

enum { DCSO_BITS = BLOOM_CELLS, DCSO_HASHES = BLOOM_HASHES, DCSO_FLAGS = BLOOM_OWN };
enum { DCSO_HASHES_MAX = 2048, DCSO_VERSION = 1 };

extern const struct model model_dcso;

#endif
