/* Sorting the keys of a batch by the part of memory that they belong to: a shard, or a range of cache lines. */
#ifndef PERHAPS_COMPOSITE_PARTITION_H
#define PERHAPS_COMPOSITE_PARTITION_H

#include "perhaps.h"

#include <stdbool.h>

enum {
    PARTITION_SMALL = 2048,
    PARTITION_FEW = 4
}; /* without memory, so many keys at a time, with so many in each part */

/* Stores to many parts wait for each other, unless a part's next cache lines are fetched before: so many digests ahead. */
enum { PARTITION_AHEAD = 16 };

/* Keys in the order of their parts, and within a part in that of the batch. */
struct sorted {
    size_t n;
    unsigned parts;
    uint64_t *digests;
    uint64_t *unsorted; /* room for digests in the batch's order, for callers that make them; in memory only */
    uint8_t *answers;   /* to the sorted ones */
    uint32_t *first;    /* first[p]..first[p+1]-1 are the keys of part p; has parts + 1 entries */
    uint32_t *next;     /* for going through them */
    uint16_t *part;     /* of key i of the batch, in its own order: the caller's to fill in before sorting */
};

/* Room for sorting on the stack. */
struct partition_room {
    uint64_t digests[PARTITION_SMALL + 8]; /* kinds may fetch a little ahead */
    uint32_t first[PARTITION_SMALL / PARTITION_FEW + 1], next[PARTITION_SMALL / PARTITION_FEW];
    uint16_t part[PARTITION_SMALL];
    uint8_t answers[PARTITION_SMALL];
};
struct sorted partition_in_small_room(struct partition_room *room, unsigned parts);

/* The same for up to n keys in memory, which has so many bytes. */
uint64_t partition_bytes(size_t n, unsigned parts);
struct sorted partition_in_memory(uint8_t *memory, size_t n, unsigned parts);

/* From sorted->part, which has n entries, and the digests in the batch's order. */
void partition_scatter(struct sorted *sorted, const uint64_t *digests, size_t n);

/* Brings the answers into the batch's order. */
void partition_restore(struct sorted *sorted, uint8_t *answers);

#endif
