/* Layouts of the Bloom filters of foreign files: bits, hashes, and a word of their own. */
#ifndef PERHAPS_FOREIGN_FOREIGN_LAYOUT_H
#define PERHAPS_FOREIGN_FOREIGN_LAYOUT_H

#include "kind/bloom/bloom_layout.h"

enum { GUAVA_STRATEGY = BLOOM_OWN, DCSO_FLAGS = BLOOM_OWN };
enum { GUAVA_MITZ_32, GUAVA_MITZ_64, GUAVA_STRATEGIES }; /* how places follow from a hash */
enum { DCSO_VERSION = 1 };                               /* the lowest byte of the flags */

extern const struct model model_guava, model_spark, model_dcso;

#endif
