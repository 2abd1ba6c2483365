/*
 * The classic Bloom filter, seven bits anywhere, with one multiplication for each: the hash grows
 * by a step, and the bit is the upper half of its product with the number of bits.
 *
 * Queries in bulk go in rounds, as in Boost.Bloom: of 64 keys the first bit is tested, then the
 * second of those that passed, and so on. A mask says which keys are still in play. The cache line
 * of the next bit is prefetched when a bit is tested.
 */
#include "rivals.h"

enum { BULK = 64, HASHES = 7 /* the best for 1 % */ };

static const uint64_t hash_factor = 0x9e3779b97f4a7c15u, step_factor = 0xd1342543de82ef95u;

/* Where a key's next bit is. */
struct probe {
    uint64_t hash, step, bit;
};

static inline struct probe first_probe(const struct rival_filter *r, uint64_t key) {
    uint64_t hash = multiply_fold(key, hash_factor);
    return (struct probe){hash, (hash | 1) * step_factor, multiply_high(hash, r->units)};
}

static inline void advance(const struct rival_filter *r, struct probe *probe) {
    probe->hash += probe->step;
    probe->bit = multiply_high(probe->hash, r->units);
}

static inline void prefetch(const struct rival_filter *r, const struct probe *probe) {
    __builtin_prefetch((const uint64_t *)r->memory + probe->bit / 64);
}

static inline uint64_t test(const struct rival_filter *r, const struct probe *probe) {
    return ((const uint64_t *)r->memory)[probe->bit / 64] >> probe->bit % 64 & 1;
}

static inline void set(const struct rival_filter *r, const struct probe *probe) {
    ((uint64_t *)r->memory)[probe->bit / 64] |= (uint64_t)1 << probe->bit % 64;
}

static int open_bits(struct rival_filter *r, uint64_t bytes, uint64_t members) {
    (void)members;
    r->bytes = bytes;
    r->units = bytes / 8 * 64;
    r->memory = machine_memory(bytes);
    return r->memory ? 0 : -1;
}

static inline uint8_t contains_one(const struct rival_filter *r, uint64_t key) {
    struct probe probe = first_probe(r, key);
    for (unsigned i = 0; i < HASHES; i++, advance(r, &probe))
        if (!test(r, &probe)) return 0;
    return 1;
}

static void contains(struct rival_filter *r, const uint64_t *keys, size_t n, uint8_t *answers) {
    const struct rival_filter filter = *r;
    for (size_t i = 0; i < n; i++) answers[i] = contains_one(&filter, keys[i]);
}

static void add(struct rival_filter *r, const uint64_t *keys, size_t n, uint8_t *answers) {
    const struct rival_filter filter = *r;
    (void)answers;
    for (size_t i = 0; i < n; i++) {
        struct probe probe = first_probe(&filter, keys[i]);
        for (unsigned j = 0; j < HASHES; j++, advance(&filter, &probe)) set(&filter, &probe);
    }
}

static void begin(const struct rival_filter *r, struct probe probes[BULK], const uint64_t *keys) {
    for (size_t i = 0; i < BULK; i++) {
        probes[i] = first_probe(r, keys[i]);
        prefetch(r, &probes[i]);
    }
}

/* Tests all bits of 64 keys. Bit i of the result: key i has them. */
static uint64_t test_in_rounds(const struct rival_filter *r, struct probe probes[BULK]) {
    uint64_t in_play = UINT64_MAX;
    for (unsigned round = 0; round < HASHES && in_play; round++)
        for (uint64_t rest = in_play; rest; rest &= rest - 1) {
            unsigned i = (unsigned)__builtin_ctzll(rest);
            in_play &= ~((test(r, &probes[i]) ^ 1) << i);
            advance(r, &probes[i]);
            prefetch(r, &probes[i]);
        }
    return in_play;
}

static void contains_many(struct rival_filter *r, const uint64_t *keys, size_t n, uint8_t *answers) {
    const struct rival_filter filter = *r;
    struct probe probes[BULK];
    if (n >= BULK) begin(&filter, probes, keys);
    for (; n >= 2 * BULK; n -= BULK, keys += BULK, answers += BULK) {
        uint64_t found = test_in_rounds(&filter, probes);
        begin(&filter, probes, keys + BULK);
        for (size_t i = 0; i < BULK; i++) answers[i] = found >> i & 1;
    }
    contains(r, keys, n, answers);
}

/* A key's next bit is prefetched a round of 64 keys before it is set. */
static void add_many(struct rival_filter *r, const uint64_t *keys, size_t n, uint8_t *answers) {
    const struct rival_filter filter = *r;
    struct probe probes[BULK];
    if (n >= BULK) begin(&filter, probes, keys);
    for (; n >= 2 * BULK; n -= BULK, keys += BULK) {
        for (unsigned round = 0; round < HASHES - 1; round++)
            for (size_t i = 0; i < BULK; i++) {
                struct probe due = probes[i];
                advance(&filter, &probes[i]);
                prefetch(&filter, &probes[i]);
                set(&filter, &due);
            }
        for (size_t i = 0; i < BULK; i++) {
            struct probe due = probes[i];
            probes[i] = first_probe(&filter, keys[BULK + i]);
            prefetch(&filter, &probes[i]);
            set(&filter, &due);
        }
    }
    add(r, keys, n, answers);
}

const struct rival bulk_bloom = {
    .name = "bulk Bloom",
    .open = open_bits,
    .calls = {[OP_CONTAINS_MANY] = contains_many, [OP_CONTAINS] = contains, [OP_ADD_MANY] = add_many, [OP_ADD] = add}};
