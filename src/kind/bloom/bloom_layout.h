/* Layout of a filter with k probes in m cells: bloom, and the first words of all kinds that use its
 * template. */
#ifndef PERHAPS_KIND_BLOOM_BLOOM_LAYOUT_H
#define PERHAPS_KIND_BLOOM_BLOOM_LAYOUT_H

#include "kind/kind.h"

enum { BLOOM_CELLS, BLOOM_HASHES, BLOOM_OWN }; /* words of the layout: m, k; the kind's own */
enum { BLOOM_HASHES_MAX = 64 };

extern const struct model model_bloom;

#endif
