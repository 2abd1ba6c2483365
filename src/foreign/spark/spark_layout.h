/* Layout of Spark's filters. */
#ifndef PERHAPS_FOREIGN_SPARK_SPARK_LAYOUT_H
#define PERHAPS_FOREIGN_SPARK_SPARK_LAYOUT_H

#include "kind/bloom/bloom_layout.h"

enum { SPARK_BITS = BLOOM_CELLS, SPARK_HASHES = BLOOM_HASHES }; /* words of the layout */
enum { SPARK_HASHES_MAX = 2048 };

extern const struct model model_spark;

#endif
