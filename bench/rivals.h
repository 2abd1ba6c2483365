/*
 * The filters that ours are compared with: published ideas, written by us in plain C as well as we
 * can. Each loop over keys has its filter inlined, as a C++ template would. They get the same keys,
 * as many bytes and huge pages.
 */
#ifndef PERHAPS_BENCH_RIVALS_H
#define PERHAPS_BENCH_RIVALS_H

#include "measure.h"

enum {
    MOST_RIVALS = MOST_VERSUS - 1,
    /* With more members, arrays of bits begin with random words, and only hits are really added: a
     * Bloom filter at its best rate has every bit set with a chance of one half, and no loop sees
     * the difference. */
    MOST_REAL_MEMBERS = 1 << 24
};

struct rival;

/* One filter of a rival. */
struct rival_filter {
    const struct rival *rival;
    void *memory;
    uint64_t bytes;    /* of the memory */
    uint64_t units;    /* blocks, bits, buckets or groups in it */
    uint64_t capacity; /* keys that it can have; UINT64_MAX = any number */
    uint64_t random;   /* the textbook's cuckoo filter: which slot is to move */
    int has_avx2;      /* and may use it */
};

typedef void rival_call(struct rival_filter *r, const uint64_t *keys, size_t n, uint8_t *answers);

struct rival {
    const char *name;
    const struct rival *kept; /* this is the original of that one, from another library; or NULL */
    uint64_t most_bytes;      /* beyond, it takes too long to fill; 0 = never */
    /* An empty filter of that many bytes; of static kinds, full. 0, or -1 without memory. */
    int (*open)(struct rival_filter *r, uint64_t bytes, uint64_t members);
    void (*close)(struct rival_filter *r); /* NULL = release the memory */
    rival_call *calls[OP_COUNT];           /* NULL = it has none */
};

extern const struct rival multi_block_32, multi_block_64, bulk_bloom, textbook_bloom, textbook_counting,
    textbook_cuckoo, plain_fuse_rival, flat_set;
#ifdef PERHAPS_WITH_BOOST
extern const struct rival boost_multi_block_32, boost_multi_block_64, boost_bloom;
#endif

/* Opens all rivals of a kind; how many, or -1 without memory. */
int rivals_open(struct rival_filter rivals[MOST_RIVALS], int kind, const struct cell *cell, const struct pass *pass);
void rivals_close(struct rival_filter rivals[MOST_RIVALS], size_t count);

/* The upper half of a product, and both halves folded into one: one multiplication each. */
__extension__ typedef unsigned __int128 wide;

static inline uint64_t multiply_high(uint64_t a, uint64_t b) {
    return (uint64_t)((wide)a * b >> 64);
}

static inline uint64_t multiply_fold(uint64_t a, uint64_t b) {
    wide product = (wide)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

#endif
