/*
 * Keys that wait to be sealed: in 256 bins, by their top eight bits.
 *
 *     add ──▶ pending ──▶ bin 0   ▪▪▪▪▪▪▪ blocks in memory       ─┐ beyond max_bytes: all blocks go to a file,
 *                         bin 1   ▪▪▪▪▪▪                          ├▶ bin after bin, each in one piece
 *                         ...                                     │
 *                         bin 255 ▪▪▪▪▪▪▪                        ─┘
 *
 * Keys come one by one, or in batches, into `pending`; when that is full, they go to their bins, so that few cache lines are written
 * to at a time. A bin's keys stay in the order in which they came.
 */
#ifndef PERHAPS_STATIC_BINS_H
#define PERHAPS_STATIC_BINS_H

#include "perhaps_embed.h"

#include <stdbool.h>
#include <stddef.h>

enum { BINS = 256, BIN_BITS = 8, PENDING = 16384 };
#define SCRATCH_MIN (UINT64_C(16) << 20) /* less than this is taken as this */

/* A piece of the file. */
struct extent {
    uint64_t offset, keys;
};

/* Which keys are where: first those in the file, then those in memory. */
struct bin {
    uint64_t in_file; /* keys */
    struct extent *extent;
    uint64_t **block; /* all full but the last */
    size_t extents, extent_room, blocks, block_room;
};

struct bins {
    perhaps_allocator allocator;
    uint64_t *pending, pended;
    uint64_t *at[BINS], *end[BINS]; /* the free part of each bin's last block */
    struct bin bin[BINS];
    uint64_t **slab; /* blocks come from slabs, which stay */
    size_t slabs, slab_room;
    uint64_t **spare; /* blocks that no bin has; room for all that there are */
    size_t spares, spare_room;
    uint64_t max_bytes; /* of slabs; 0 = no limit */
    char *folder;       /* of the file */
    size_t folder_bytes;
    int fd;              /* -1 if there is none yet */
    uint64_t file_end;   /* bytes written */
    uint64_t mark[BINS]; /* keys of each bin when the last batch began */
    bool marked;
};

/* `max_bytes` 0 = no limit; `folder` NULL = the current one. */
int bins_make(struct bins **made, const perhaps_allocator *allocator, uint64_t max_bytes, const char *folder);
void bins_free(struct bins *bins);

/* Brings pending keys to their bins. On failure those that had no room wait on, and none is lost. */
int bins_flush(struct bins *bins);

/* For several threads at a time. Whether there is memory for n keys more, in whatever bins; and to put some into one of them, of which the
 * caller has a lock. Those n keys together are all that may be put. */
bool bins_reserve(struct bins *bins, uint64_t n);
int bins_put(struct bins *bins, unsigned bin, const uint64_t *keys, size_t n);

/* A batch begins, or has failed: then its keys are taken out. Between them nothing but the batch happens. */
int bins_begin(struct bins *bins, uint64_t n);
void bins_undo(struct bins *bins);

void bins_clear(struct bins *bins);

/* Keys of a bin, and of all bins and pending ones. */
uint64_t bin_keys(const struct bins *bins, unsigned bin);
uint64_t bins_keys(const struct bins *bins);

/* Copies keys from..from+n-1 of a bin. Any number of threads may do that. */
int bins_read(const struct bins *bins, unsigned bin, uint64_t from, uint64_t n, uint64_t *to);

#endif
