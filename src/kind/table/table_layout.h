/* How many keys a table is planned for: what the planner and the growing of a table must agree on. */
#ifndef PERHAPS_KIND_TABLE_TABLE_LAYOUT_H
#define PERHAPS_KIND_TABLE_TABLE_LAYOUT_H

#include <stdint.h>

/* Nine tenths of the slots. A few buckets are not sure to take that many: in trials one table in 20,000 of ten buckets did
 * not, and of 70 buckets none was full before 93 %. The few are planned for three quarters. The cells of a stash come
 * to it. */
static inline uint64_t table_capacity(uint64_t buckets, uint64_t stash) {
    return (buckets < 32 ? buckets * 6 : buckets * 36 / 5) + stash;
}

#endif
