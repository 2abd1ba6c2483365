/* Layout of a bitmap. */
#ifndef PERHAPS_KIND_BITMAP_BITMAP_LAYOUT_H
#define PERHAPS_KIND_BITMAP_BITMAP_LAYOUT_H

#include "kind/kind.h"

enum { BITMAP_RANGE }; /* word of the layout */
#define BITMAP_RANGE_MAX (UINT64_C(1) << 63)

extern const struct model model_bitmap;

#endif
