/*
 * A batch of digests, ordered by part (base/scatter.h).
 *
 * A part is a shard, a range of cache lines, or a bin: what one lock guards, or one child holds.
 * The caller fills in the part of each key, and partition_scatter orders the digests.
 *
 *     part     2 0 1 0          first   0 2 3 4
 *     batch    a b c d   ──▶    digests b d c a   ── work ──▶ answers, back in the batch's order
 *
 * I1  Keys of part p are digests[first[p]..first[p+1]-1], in the order of the batch.
 * I2  first[0] = 0, and first[parts] = n.
 */
#ifndef PERHAPS_COMPOSITE_PARTITION_H
#define PERHAPS_COMPOSITE_PARTITION_H

#include "perhaps.h"

#include <stdbool.h>

/* On the stack: keys at a time, and the fewest for a part that are worth it. */
enum { PARTITION_SMALL = 2048, PARTITION_FEW = 4 };

struct sorted {
    size_t n;
    unsigned parts;
    uint64_t *digests;
    uint64_t *unsorted; /* room for digests in the batch's order; NULL on the stack */
    uint8_t *answers;   /* in the order of `digests` */
    uint32_t *first;    /* parts + 2 entries */
    uint16_t *part;     /* of each key, in the batch's order: filled in by the caller */
};

/* Room on the stack. */
struct partition_room {
    uint64_t digests[PARTITION_SMALL + 8]; /* kinds may prefetch a little ahead */
    uint32_t first[PARTITION_SMALL / PARTITION_FEW + 2];
    uint16_t part[PARTITION_SMALL];
    uint8_t answers[PARTITION_SMALL];
};
struct sorted partition_in_small_room(struct partition_room *room, unsigned parts);

/* The same for up to n keys in `memory` of partition_bytes. */
uint64_t partition_bytes(size_t n, unsigned parts);
struct sorted partition_in_memory(uint8_t *memory, size_t n, unsigned parts);

/* Orders n digests, given in the batch's order, by sorted->part. */
void partition_scatter(struct sorted *sorted, const uint64_t *digests, size_t n);

/* Writes the answers in the batch's order, once: `first` is used up. */
void partition_restore(struct sorted *sorted, uint8_t *answers);

#endif
