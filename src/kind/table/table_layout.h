/* Layout of a table. table.c has the drawing. */
#ifndef PERHAPS_KIND_TABLE_TABLE_LAYOUT_H
#define PERHAPS_KIND_TABLE_TABLE_LAYOUT_H

#include "kind/kind.h"

enum { TABLE_BUCKETS, TABLE_STASH };               /* words of the layout */
enum { TABLE_SLOTS = 8, TABLE_BUCKET_BYTES = 64 }; /* of a bucket */
#define TABLE_BUCKETS_MAX (UINT64_C(1) << 56)
#define TABLE_CELLS_MAX   (UINT64_C(1) << 56)

extern const struct model model_table;

/* Number of keys that a table is planned for: nine tenths of the slots. A few buckets are not sure
 * to take that many: in trials one table in 20,000 of ten buckets did not, and of 70 buckets none
 * was full before 93 %. The few are planned for three quarters. The cells of a stash come to it. */
static inline uint64_t table_capacity(uint64_t buckets, uint64_t stash) {
    return (buckets < 32 ? buckets * 6 : buckets * 36 / 5) + stash;
}

#endif
