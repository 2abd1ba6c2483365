/*
 * The binary fuse filter of plain_fuse.h.
 *
 * The array is a row of segments. A key has its first place anywhere but in the last two of them,
 * and one place in each of the two segments that follow; the three fingerprints there, combined by
 * exclusive or, are the key's own. To build it, every slot gets the number of keys that have a
 * place there and the exclusive or of their hashes. In a slot with one key that is the key's hash:
 * the key is taken out of its other two slots, which may leave others alone, and so on. In the
 * reverse order each key finds its slot not yet in use by any that came before, and sets it.
 *
 * It is a fair rival, written as the paper describes it: keys are partitioned by segment first, so
 * that neighbours in time are neighbours in memory; huge pages; no division; nothing that depends
 * on chance is branched on when it can be added instead. Keys are taken to be different, so it need
 * not look for duplicates. Its memory, 24 bytes for each key, comes from the system within the
 * build, as that of the library does.
 */
#include "plain_fuse.h"
#include "measure.h"

#include <math.h>
#include <string.h>

enum {
    PLACES = 3,
    MOST_SEEDS = 100,
    LONGEST_SEGMENT_BITS = 18,
    BLOCK_BITS_MAX = 14,
    BATCH = 128 /* keys; of several lengths the best here */
};

/* What only building takes. */
struct plain_fuse_scratch {
    size_t keys;
    uint64_t slot_count;
    uint64_t *order; /* hashes by segment; later, in the order in which they were taken out */
    uint8_t *which;  /* in which of its places a key was alone */
    uint64_t *sums;  /* of each slot: the hashes, by exclusive or; */
    /* Four times how many there are, and which of their places it is, by exclusive or. */
    uint8_t *counts;
    uint32_t *alone; /* and those that have one key only */
};

/* --- where a key is --- */

static inline uint64_t hash_of(const struct plain_fuse *fuse, uint64_t key) {
    uint64_t x = key + fuse->seed;
    x = (x ^ x >> 33) * 0xff51afd7ed558ccdu;
    x = (x ^ x >> 33) * 0xc4ceb9fe1a85ec53u;
    return x ^ x >> 33;
}

static inline uint8_t fingerprint_of(uint64_t hash) {
    return (uint8_t)(hash ^ hash >> 32);
}

/* hash * n / 2^64, for n below 2^32. */
static inline uint64_t scale(uint64_t hash, uint64_t n) {
#ifdef __SIZEOF_INT128__
    __extension__ typedef unsigned __int128 wide;
    return (uint64_t)((wide)hash * n >> 64);
#else
    return ((hash >> 32) * n + ((hash & UINT32_MAX) * n >> 32)) >> 32;
#endif
}

struct plain_fuse_places {
    uint32_t at[PLACES];
};

static inline struct plain_fuse_places places_of(const struct plain_fuse *fuse, uint64_t hash) {
    const uint64_t length = fuse->segment_length, first = scale(hash, fuse->segment_count * length);
    return (struct plain_fuse_places){{(uint32_t)first, (uint32_t)((first + length) ^ (hash >> 18 & (length - 1))),
                                       (uint32_t)((first + 2 * length) ^ (hash & (length - 1)))}};
}

/* Of the three slots, by exclusive or. */
static inline uint8_t sum_of(const struct plain_fuse *fuse, const struct plain_fuse_places *places) {
    return fuse->slots[places->at[0]] ^ fuse->slots[places->at[1]] ^ fuse->slots[places->at[2]];
}

/* --- building --- */

/* The paper's formulas for three places. */
static void choose_sizes(struct plain_fuse *fuse, size_t n) {
    double keys = n > 2 ? (double)n : 2, bits = floor(log(keys) / log(3.33) + 2.25);
    double factor = fmax(1.125, 0.875 + 0.25 * log(1e6) / log(keys));
    fuse->segment_length = (uint64_t)1 << (bits < LONGEST_SEGMENT_BITS ? (unsigned)bits : LONGEST_SEGMENT_BITS);
    uint64_t segments = (uint64_t)ceil(keys * factor / (double)fuse->segment_length);
    fuse->segment_count = segments > PLACES ? segments - (PLACES - 1) : 1;
    fuse->slot_count = (fuse->segment_count + PLACES - 1) * fuse->segment_length;
}

static void free_scratch(struct plain_fuse_scratch *s) {
    machine_release(s->order, ((uint64_t)s->keys + 1) * sizeof *s->order);
    machine_release(s->which, s->keys);
    machine_release(s->sums, s->slot_count * sizeof *s->sums);
    machine_release(s->counts, s->slot_count);
    machine_release(s->alone, s->slot_count * sizeof *s->alone);
}

static int take_scratch(struct plain_fuse_scratch *s, size_t keys, uint64_t slot_count) {
    *s = (struct plain_fuse_scratch){.keys = keys, .slot_count = slot_count};
    s->order = machine_fresh_memory(((uint64_t)keys + 1) * sizeof *s->order);
    s->which = machine_fresh_memory(keys);
    s->sums = machine_fresh_memory(slot_count * sizeof *s->sums);
    s->counts = machine_fresh_memory(slot_count);
    s->alone = machine_fresh_memory(slot_count * sizeof *s->alone);
    return s->order && s->which && s->sums && s->counts && s->alone ? 0 : -1;
}

/* Sorts hashes into as many blocks as there are segments, or some more. A block has room for as
 * many as will fall into it on average; what finds its room taken goes to the next block that has
 * some, which is near enough. Zero is a free place: a hash of zero would be lost, one in 2^64. */
static void partition(const struct plain_fuse *fuse, struct plain_fuse_scratch *s, const uint64_t *keys) {
    uint64_t next[1 << BLOCK_BITS_MAX];
    unsigned bits = 1;
    while (bits < BLOCK_BITS_MAX && (uint64_t)1 << bits < fuse->segment_count) bits++;
    const uint64_t mask = ((uint64_t)1 << bits) - 1;
    for (uint64_t block = 0; block <= mask; block++) next[block] = block * s->keys >> bits;
    s->order[s->keys] = 1; /* the last block's room ends here */
    for (size_t i = 0; i < s->keys; i++) {
        uint64_t hash = hash_of(fuse, keys[i]), block = hash >> (64 - bits);
        while (s->order[next[block]]) block = (block + 1) & mask;
        s->order[next[block]++] = hash;
    }
}

static void enter_all(const struct plain_fuse *fuse, struct plain_fuse_scratch *s) {
    for (size_t i = 0; i < s->keys; i++) {
        struct plain_fuse_places places = places_of(fuse, s->order[i]);
        for (unsigned j = 0; j < PLACES; j++) {
            uint32_t slot = places.at[j];
            s->counts[slot] = (uint8_t)((s->counts[slot] + 4) ^ j);
            s->sums[slot] ^= s->order[i];
        }
    }
}

static inline size_t take_out(struct plain_fuse_scratch *s, uint32_t slot, unsigned which, uint64_t hash,
                              size_t alone) {
    s->alone[alone] = slot;
    alone += s->counts[slot] >> 2 == 2;
    s->counts[slot] = (uint8_t)((s->counts[slot] - 4) ^ which);
    s->sums[slot] ^= hash;
    return alone;
}

/* Takes out keys that are alone in a slot, as long as there are any; how many. */
static size_t peel(const struct plain_fuse *fuse, struct plain_fuse_scratch *s) {
    static const unsigned others[PLACES][PLACES - 1] = {{1, 2}, {2, 0}, {0, 1}};
    size_t alone = 0, peeled = 0;
    for (uint32_t slot = 0; slot < s->slot_count; slot++) {
        s->alone[alone] = slot;
        alone += s->counts[slot] >> 2 == 1;
    }
    while (alone) {
        uint32_t slot = s->alone[--alone];
        if (s->counts[slot] >> 2 != 1) continue; /* its key was alone elsewhere, too */
        uint64_t hash = s->sums[slot];
        unsigned which = s->counts[slot] & 3;
        s->order[peeled] = hash;
        s->which[peeled++] = (uint8_t)which;
        struct plain_fuse_places places = places_of(fuse, hash);
        for (unsigned j = 0; j < PLACES - 1; j++) {
            unsigned other = others[which][j];
            alone = take_out(s, places.at[other], other, hash, alone);
        }
    }
    return peeled;
}

/* A slot that is yet to be set is zero, so all three can be combined. */
static void assign(struct plain_fuse *fuse, const struct plain_fuse_scratch *s) {
    for (size_t i = s->keys; i-- > 0;) {
        struct plain_fuse_places places = places_of(fuse, s->order[i]);
        fuse->slots[places.at[s->which[i]]] = fingerprint_of(s->order[i]) ^ sum_of(fuse, &places);
    }
}

/* 1 = done, 0 = this seed will not do, -1 = no memory. */
static int try_seed(struct plain_fuse *fuse, const uint64_t *keys, size_t n) {
    struct plain_fuse_scratch s;
    int done = take_scratch(&s, n, fuse->slot_count);
    if (!done) {
        partition(fuse, &s, keys);
        enter_all(fuse, &s);
        done = peel(fuse, &s) == n;
    }
    if (done > 0) assign(fuse, &s);
    free_scratch(&s);
    return done;
}

int plain_fuse_build(struct plain_fuse *fuse, const uint64_t *keys, size_t n) {
    *fuse = (struct plain_fuse){0};
    choose_sizes(fuse, n);
    if (n >> 31) return -1;
    fuse->slots = machine_fresh_memory(fuse->slot_count);
    int done = fuse->slots ? 0 : -1;
    for (uint64_t seed = 1; !done && seed <= MOST_SEEDS; seed++) {
        fuse->seed = key_number(seed);
        done = try_seed(fuse, keys, n);
    }
    if (done <= 0) plain_fuse_free(fuse);
    return done > 0 ? 0 : -1;
}

int plain_fuse_random(struct plain_fuse *fuse, size_t n) {
    *fuse = (struct plain_fuse){.seed = key_number(1)};
    choose_sizes(fuse, n);
    fuse->slots = machine_fresh_memory(fuse->slot_count);
    for (uint64_t i = 0; fuse->slots && i < fuse->slot_count; i += sizeof(uint64_t)) {
        uint64_t word = key_number(~i);
        memcpy(fuse->slots + i, &word, sizeof word);
    }
    return fuse->slots ? 0 : -1;
}

void plain_fuse_free(struct plain_fuse *fuse) {
    machine_release(fuse->slots, fuse->slot_count);
    fuse->slots = NULL;
}

/* --- queries --- */

size_t plain_fuse_contains(const struct plain_fuse *fuse, const uint64_t *keys, size_t n, uint8_t *answers) {
    size_t found = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t hash = hash_of(fuse, keys[i]);
        struct plain_fuse_places places = places_of(fuse, hash);
        found += answers[i] = fingerprint_of(hash) == sum_of(fuse, &places);
    }
    return found;
}

/* What a batch of keys looks at. */
struct plain_fuse_batch {
    struct plain_fuse_places places[BATCH];
    uint8_t fingerprints[BATCH];
};

static void hash_batch(const struct plain_fuse *fuse, const uint64_t *keys, size_t n, struct plain_fuse_batch *batch) {
    for (size_t i = 0; i < n; i++) {
        uint64_t hash = hash_of(fuse, keys[i]);
        batch->places[i] = places_of(fuse, hash);
        batch->fingerprints[i] = fingerprint_of(hash);
    }
}

static inline void prefetch(const struct plain_fuse *fuse, const struct plain_fuse_batch *batch, size_t i) {
    for (unsigned j = 0; j < PLACES; j++) __builtin_prefetch(fuse->slots + batch->places[i].at[j], 0, 2);
}

static inline uint8_t test(const struct plain_fuse *fuse, const struct plain_fuse_batch *batch, size_t i) {
    return batch->fingerprints[i] == sum_of(fuse, &batch->places[i]);
}

static size_t batch_length(size_t rest) {
    return rest < BATCH ? rest : BATCH;
}

size_t plain_fuse_contains_many(const struct plain_fuse *fuse, const uint64_t *keys, size_t n, uint8_t *answers) {
    struct plain_fuse_batch batches[2];
    size_t found = 0, ready = batch_length(n);
    hash_batch(fuse, keys, ready, &batches[0]);
    for (size_t i = 0; i < ready; i++) prefetch(fuse, &batches[0], i);
    for (size_t done = 0, turn = 0; done < n; turn ^= 1) {
        size_t coming = batch_length(n - done - ready);
        hash_batch(fuse, keys + done + ready, coming, &batches[turn ^ 1]);
        for (size_t i = 0; i < ready; i++) {
            if (i < coming) prefetch(fuse, &batches[turn ^ 1], i);
            found += answers[done + i] = test(fuse, &batches[turn], i);
        }
        done += ready;
        ready = coming;
    }
    return found;
}
