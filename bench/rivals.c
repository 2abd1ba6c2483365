#include "rivals.h"

#include "plain_fuse.h"

#include <stdlib.h>

/* --- the binary fuse filter of plain_fuse.c --- */

static int build_fuse(struct plain_fuse *fuse, size_t n) {
    const uint64_t bytes = (uint64_t)n * sizeof(uint64_t);
    uint64_t *keys = machine_memory(bytes);
    for (size_t i = 0; keys && i < n; i++) keys[i] = key_number(i);
    int done = keys ? plain_fuse_build(fuse, keys, n) : -1;
    machine_release(keys, bytes);
    return done;
}

/* Its loops do the same whatever they find, so a large one has random slots. */
static int open_fuse(struct rival_filter *r, uint64_t bytes, uint64_t members) {
    (void)bytes;
    struct plain_fuse *fuse = r->memory = malloc(sizeof *fuse);
    if (!fuse) return -1;
    int done = members > MOST_REAL_MEMBERS ? plain_fuse_random(fuse, members) : build_fuse(fuse, (size_t)members);
    if (done < 0) free(fuse);
    return done;
}

static void close_fuse(struct rival_filter *r) {
    plain_fuse_free(r->memory);
    free(r->memory);
}

static void fuse_contains_many(struct rival_filter *r, const uint64_t *keys, size_t n, uint8_t *answers) {
    plain_fuse_contains_many(r->memory, keys, n, answers);
}

static void fuse_contains(struct rival_filter *r, const uint64_t *keys, size_t n, uint8_t *answers) {
    plain_fuse_contains(r->memory, keys, n, answers);
}

const struct rival plain_fuse_rival = {
    .name = "plain fuse",
    .open = open_fuse,
    .close = close_fuse,
    .calls = {[OP_CONTAINS_MANY] = fuse_contains_many, [OP_CONTAINS] = fuse_contains}};

/* --- who meets whom --- */

/* Which rivals each kind has. The calls that a rival has say for which operations. */
static const struct {
    int kind;
    const struct rival *rivals[MOST_RIVALS];
} contests[] = {
#ifdef PERHAPS_WITH_BOOST
    {PERHAPS_BLOCKED, {&multi_block_32, &multi_block_64, &boost_multi_block_32, &boost_multi_block_64}},
    {PERHAPS_BLOOM, {&bulk_bloom, &textbook_bloom, &boost_bloom}},
#else
    {PERHAPS_BLOCKED, {&multi_block_32, &multi_block_64}},
    {PERHAPS_BLOOM, {&bulk_bloom, &textbook_bloom}},
#endif
    {PERHAPS_COUNTING, {&textbook_counting}},
    {PERHAPS_CUCKOO, {&textbook_cuckoo}},
    {PERHAPS_TABLE, {&flat_set}},
    {PERHAPS_FUSE, {&plain_fuse_rival}},
};

static int open_rival(struct rival_filter *r, const struct rival *rival, const struct cell *cell,
                      const struct pass *pass) {
    *r = (struct rival_filter){.rival = rival, .capacity = UINT64_MAX, .has_avx2 = pass->has_avx2};
    return rival->open(r, cell->bytes, cell->items);
}

int rivals_open(struct rival_filter rivals[MOST_RIVALS], int kind, const struct cell *cell, const struct pass *pass) {
    int count = 0;
    for (size_t i = 0; i < sizeof contests / sizeof *contests; i++)
        for (size_t j = 0; contests[i].kind == kind && j < MOST_RIVALS && contests[i].rivals[j]; j++) {
            const struct rival *rival = contests[i].rivals[j];
            if (rival->most_bytes && cell->bytes > rival->most_bytes) continue;
            if (rival->kept && !pass->has_avx2) continue; /* originals are built for AVX2 */
            if (open_rival(&rivals[count], rival, cell, pass) < 0) {
                rivals_close(rivals, (size_t)count);
                return -1;
            }
            count++;
        }
    return count;
}

void rivals_close(struct rival_filter rivals[MOST_RIVALS], size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (rivals[i].rival->close)
            rivals[i].rival->close(&rivals[i]);
        else
            machine_release(rivals[i].memory, rivals[i].bytes);
    }
}
