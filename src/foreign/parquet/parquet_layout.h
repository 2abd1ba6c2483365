/* Layout of Parquet's split-block filters. parquet.c has the drawing. */
#ifndef PERHAPS_FOREIGN_PARQUET_PARQUET_LAYOUT_H
#define PERHAPS_FOREIGN_PARQUET_PARQUET_LAYOUT_H

#include "kind/kind.h"

enum { PARQUET_BLOCKS }; /* word of the layout */
enum { PARQUET_WORDS = 8, PARQUET_BLOCK_BYTES = 4 * PARQUET_WORDS, PARQUET_BLOCK_BITS = 8 * PARQUET_BLOCK_BYTES };
enum { PARQUET_BLOCKS_MAX = INT32_MAX / PARQUET_BLOCK_BYTES };

extern const struct model model_parquet;

#endif
