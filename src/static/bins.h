/*
 * The keys that a static filter collects: in 256 bins, by their top eight bits.
 *
 *     add ──▶ pending ──▶ bin 0   ▪▪▪▪▪▪▪ blocks in memory  ─┐ beyond max_bytes all blocks
 *                         bin 1   ▪▪▪▪▪▪                     ├▶ go to a file, bin after bin,
 *                         ...                                │  each as one extent
 *                         bin 255 ▪▪▪▪▪▪▪                   ─┘
 *
 * Keys are added to `pending`. When it is full, they all go to their bins: adds then write to one
 * place, and the scatter to few cache lines at a time.
 *
 * Invariants
 *   I1  every key added since the last clear is in `pending`, in a block or in an extent, once for
 *       each time it was added. A bin's keys are in the order of the adds: extents, then blocks.
 *   I2  all blocks of a bin are full except the last, whose free part is at[i]..end[i]-1.
 *   I3  every block is in one bin or in `spare`, which has room for all of them: returning a block
 *       cannot fail.
 *   I4  a failed flush or spill loses nothing: keys without room stay in `pending`, and a bin that
 *       was not written completely keeps its blocks.
 *   I5  in a batch that does not fit into `pending`, `mark` has the keys of each bin before it.
 *       Adding only appends, so bins_undo cuts each bin back to its mark.
 */
#ifndef PERHAPS_STATIC_BINS_H
#define PERHAPS_STATIC_BINS_H

#include "perhaps_embed.h"

#include <stdbool.h>
#include <stddef.h>

enum { BINS = 256, BIN_BITS = 8, PENDING = 16384 };
#define SCRATCH_MIN (UINT64_C(16) << 20) /* the smallest max_bytes; smaller ones are raised to it */

/* A piece of the file. */
struct extent {
    uint64_t offset, keys;
};

struct bin {
    uint64_t in_file; /* keys */
    struct extent *extent;
    uint64_t **block;
    size_t extents, extent_room, blocks, block_room;
};

struct bins {
    perhaps_allocator allocator;
    uint64_t *pending, pended;
    uint64_t *at[BINS], *end[BINS]; /* the free part of each bin's last block */
    struct bin bin[BINS];
    uint64_t **slab; /* memory of the blocks; kept until bins_free */
    size_t slabs, slab_room;
    uint64_t **spare; /* blocks that no bin has */
    size_t spares, spare_room;
    uint64_t max_bytes; /* of slabs; 0 = no limit */
    char *folder;       /* of the file */
    size_t folder_bytes;
    int fd;              /* -1 if there is none yet */
    uint64_t file_end;   /* bytes written */
    uint64_t mark[BINS]; /* keys of each bin when the last batch began */
    bool marked;
};

/* max_bytes 0: no limit. folder NULL: the current one. */
int bins_make(struct bins **made, const perhaps_allocator *allocator, uint64_t max_bytes, const char *folder);
void bins_free(struct bins *bins);

/* Moves pending keys to their bins; see I4. */
int bins_flush(struct bins *bins);

/* For several threads: reserves memory for n more keys, in whatever bins; false if there is none.
 * Then threads put up to n keys together, each into a bin whose lock it holds. */
bool bins_reserve(struct bins *bins, uint64_t n);
int bins_put(struct bins *bins, unsigned bin, const uint64_t *keys, size_t n);

/* A batch of n keys begins; it has failed, and its keys are removed. See I5. */
int bins_begin(struct bins *bins, uint64_t n);
void bins_undo(struct bins *bins);

void bins_clear(struct bins *bins);

/* Keys of a bin; of all bins and pending. */
uint64_t bin_keys(const struct bins *bins, unsigned bin);
uint64_t bins_keys(const struct bins *bins);

/* Copies keys from..from+n-1 of a bin. Any number of threads may call it. */
int bins_read(const struct bins *bins, unsigned bin, uint64_t from, uint64_t n, uint64_t *to);

#endif
