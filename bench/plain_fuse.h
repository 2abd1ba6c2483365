/*
 * The binary fuse filter as it was published (Graefe, Lemire: "Binary Fuse Filters: Fast and
 * Smaller Than Xor Filters", ACM Journal of Experimental Algorithmics, 2022): three places for each
 * key, fingerprints of 8 bits, one array for the whole set. What the library's static filters are
 * measured with.
 */
#ifndef PERHAPS_BENCH_PLAIN_FUSE_H
#define PERHAPS_BENCH_PLAIN_FUSE_H

#include <stddef.h>
#include <stdint.h>

struct plain_fuse {
    uint8_t *slots;
    uint64_t slot_count;
    uint64_t segment_length; /* a power of two */
    uint64_t segment_count;  /* in which a key's first place can be; two more follow */
    uint64_t seed;
};

/* Makes the filter of n different keys, fewer than 2^31. 0, or -1 without memory or a seed. */
int plain_fuse_build(struct plain_fuse *fuse, const uint64_t *keys, size_t n);
/* A filter of that shape with random slots: it only takes as long as a real one. */
int plain_fuse_random(struct plain_fuse *fuse, size_t n);
/* One key after the other; returns how many were found. */
size_t plain_fuse_contains(const struct plain_fuse *fuse, const uint64_t *keys, size_t n, uint8_t *answers);
/* The same in batches: the slots of the next batch are prefetched while one is tested. */
size_t plain_fuse_contains_many(const struct plain_fuse *fuse, const uint64_t *keys, size_t n, uint8_t *answers);
void plain_fuse_free(struct plain_fuse *fuse);

#endif
