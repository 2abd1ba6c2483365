/*
 * Building a part of a fuse filter: peeling.
 *
 * Every key has `arity` places. A slot that only one key has among its places is that key's own:
 * whatever the other places come to hold, the slot can be set so that all of them together make the
 * key's fingerprint. So the key is taken away, put on a list, and what it leaves behind may give
 * other keys slots of their own. When all are on the list, slots are set from its end to its
 * beginning.
 *
 * Slots need to know how many keys they have, and which one if it is the only one: a word of 32
 * bits, in the upper bits their number and in the lower ones the exclusive or of their indices.
 * Keys come roughly in the order of their first place, so all this goes through memory from left to
 * right, within what the cache holds.
 *
 * Where peeling gets stuck, keys may be equal: all but one of those are left out, once. Then come
 * other seeds, and after every fourth a larger array. With the sizes below, the first seed failed
 * in at most one of six trials (some dozens of keys with four places; of large parts, in one of
 * fifty), and an array that is a few per cent larger hardly ever: that all FUSE_SEEDS of them fail
 * is less likely than 2^-60.
 *
 * Invariants
 *   I1  a slot's word has the number of keys with a place there that are not on the list, and the
 *       XOR of their indices: where the number is 1, that is the key's index.
 *   I2  a key is on the list at most once, with the slot that was its own when it was taken away.
 *   I3  no key behind another on the list has that one's own slot among its places. So a slot that
 *       is set, from the end of the list to its beginning, changes the sum of no key that has been
 *       set before.
 *   I4  peeling has succeeded if all keys are on the list; only then are slots set.
 */
#include "kind/fuse/fuse_layout.h"
#include "kind/trace.h"
#include "static/key_sort.h"

#include <string.h>

enum { INDEX_BITS = 22, BLOCK = 64, STRETCH = 4096 };
#define INDEX_MASK ((UINT32_C(1) << INDEX_BITS) - 1)
#define ONE_KEY    (UINT32_C(1) << INDEX_BITS)
#define CROWDED    (UINT32_C(1) << 31) /* a slot of 512 keys or more: some of them are equal */
#define KEYS_MAX   (UINT64_C(1) << INDEX_BITS)

/* ---- sizes, in integers ---- */

/* log2(n) in sixteenths, with straight lines between powers of two. */
static uint64_t log2_16(uint64_t n) {
    unsigned whole = 63 - (unsigned)__builtin_clzll(n);
    return 16 * whole + (n << (63 - whole) << 1 >> 60);
}

/* Segments are as long as the paper has them: log(n)/log(3.33) + 2.25 is the logarithm for three
 * places, log(n)/log(2.91) - 0.5 for four; but not so short that keys could not get out of each
 * other's way. */
static uint64_t segment_bits(uint64_t n, uint64_t arity) {
    uint64_t log = log2_16(n < 2 ? 2 : n) * 1000 / 16;
    uint64_t bits = arity == 3 ? (log * 1000 / 1736 + 2250) / 1000 : (log * 1000 / 1541 + 500) / 1000 - 1;
    return bits < FUSE_SEGMENT_MIN ? FUSE_SEGMENT_MIN : bits > FUSE_SEGMENT_MAX ? FUSE_SEGMENT_MAX : bits;
}

/* Slots for n keys, in 4096ths of n: large sets come near the limit of peeling, small ones do
 * not. */
static uint64_t size_factor(uint64_t n, uint64_t arity) {
    uint64_t log = log2_16(n < 2 ? 2 : n);
    uint64_t factor = arity == 3 ? 3584 + 20411 * 16 / log : 3154 + 23976 * 16 / log;
    uint64_t least = arity == 3 ? 4608 : 4403;
    return factor < least ? least : factor;
}

/* The starting places for n keys, in whole segments. */
static uint64_t range_for(uint64_t n, uint64_t arity, uint64_t segment, unsigned larger) {
    uint64_t slots = n * (size_factor(n, arity) + 64 * larger) / 4096, length = UINT64_C(1) << segment;
    uint64_t segments = (slots + length - 1) >> segment;
    segments = segments > arity - 1 + larger ? segments - (arity - 1) : 1 + larger;
    return segments << segment;
}

void fuse_settle(uint64_t layout[LAYOUT_WORDS], uint64_t keys) {
    layout[FUSE_SEGMENT] = segment_bits(keys, layout[FUSE_ARITY]);
}

uint64_t fuse_words_for(const uint64_t layout[LAYOUT_WORDS], uint64_t parts, uint64_t keys) {
    uint64_t arity = layout[FUSE_ARITY], segment = layout[FUSE_SEGMENT];
    return parts * fuse_words(fuse_slots(range_for(keys, arity, segment, 0), arity, segment), layout[FUSE_WIDTH]);
}

/* ---- solving ---- */

/* A part being solved. */
struct peeling {
    const uint64_t *keys;
    uint64_t n, bits, range, segment, factor, width, slots;
    uint32_t *slot;  /* of each slot: how many keys, and which */
    uint32_t *queue; /* slots that are some key's own; at last those that were used, in order */
    uint64_t *taken; /* and of the keys that were taken away from them */
    void *value;     /* of each slot: as many bytes as the width takes, 1, 2 or 4 */
};

static inline unsigned value_bytes(const struct peeling *p) {
    return p->width <= 8 ? 1 : p->width <= 16 ? 2 : 4;
}

static inline uint32_t get_value(const struct peeling *p, uint64_t slot, unsigned bytes) {
    return bytes == 1   ? ((const uint8_t *)p->value)[slot]
           : bytes == 2 ? ((const uint16_t *)p->value)[slot]
                        : ((const uint32_t *)p->value)[slot];
}

static inline void put_value(const struct peeling *p, uint64_t slot, unsigned bytes, uint32_t value) {
    if (bytes == 1)
        ((uint8_t *)p->value)[slot] = (uint8_t)value;
    else if (bytes == 2)
        ((uint16_t *)p->value)[slot] = (uint16_t)value;
    else
        ((uint32_t *)p->value)[slot] = value;
}

/* The places of a block of keys, and their fingerprints. */
struct fuse_cells {
    uint32_t place[4][BLOCK], fingerprint[BLOCK];
};

#define TEMPLATE "kind/fuse/fuse_peel.h"
#include "base/each_isa.h"

static bool try_seed(struct peeling *p, enum isa isa, uint64_t arity) {
#if defined(__x86_64__)
    if (isa == ISA_AVX512) return arity == 3 ? assign_3_avx512(p) : assign_4_avx512(p);
    if (isa == ISA_AVX2) return arity == 3 ? assign_3_avx2(p) : assign_4_avx2(p);
#endif
    (void)isa;
    return arity == 3 ? assign_3_scalar(p) : assign_4_scalar(p);
}

/* The largest array that is ever tried for n keys: the bound of what solving takes. */
static uint64_t slots_max(const uint64_t layout[LAYOUT_WORDS], uint64_t n) {
    uint64_t arity = layout[FUSE_ARITY], segment = layout[FUSE_SEGMENT];
    return fuse_slots(range_for(n, arity, segment, FUSE_SEEDS / 4), arity, segment);
}

/* Data; three words of 32 bits for each slot; keys that are taken away. */
uint64_t fuse_room(const uint64_t layout[LAYOUT_WORDS], uint64_t n) {
    uint64_t slots = slots_max(layout, n);
    return fuse_words(slots, layout[FUSE_WIDTH]) + 1 + (3 * slots + 1) / 2 + n;
}

/* Where in the room is what. */
static struct peeling peeling_in(const uint64_t layout[LAYOUT_WORDS], uint64_t *room, uint64_t n) {
    uint64_t all = slots_max(layout, n), *slots = room + fuse_words(all, layout[FUSE_WIDTH]) + 1;
    struct peeling p = {.n = n,
                        .bits = layout[PARTS_BITS],
                        .segment = layout[FUSE_SEGMENT],
                        .width = layout[FUSE_WIDTH],
                        .slot = (uint32_t *)(void *)slots};
    p.queue = p.slot + all;
    p.value = p.queue + all;
    p.taken = slots + (3 * all + 1) / 2;
    return p;
}

/* Slot after slot, bit after bit. */
static void pack(const struct peeling *p, uint64_t *data) {
    uint64_t word = 0, filled = 0;
    unsigned bytes = value_bytes(p);
    for (uint64_t i = 0; i < p->slots; i++) {
        uint64_t value = get_value(p, i, bytes);
        word |= value << filled;
        filled += p->width;
        if (filled < 64) continue;
        *data++ = word;
        filled -= 64;
        word = filled ? value >> (p->width - filled) : 0;
    }
    if (filled) *data = word;
}

bool fuse_solve(const uint64_t layout[LAYOUT_WORDS], enum isa isa, uint64_t *keys, uint64_t n, uint64_t *room,
                struct solution *solution) {
    uint64_t arity = layout[FUSE_ARITY], segment = layout[FUSE_SEGMENT];
    if (n > KEYS_MAX) return false;
    struct peeling p = peeling_in(layout, room, n);
    p.keys = keys;
    for (unsigned seed = 0; seed < FUSE_SEEDS; seed++) {
        p.range = range_for(p.n, arity, segment, seed / 4);
        p.slots = fuse_slots(p.range, arity, segment);
        p.factor = fuse_factor(seed);
        if (p.range > FUSE_RANGE_MAX) return false;
        if (try_seed(&p, isa, arity)) {
            pack(&p, room);
            *solution = (struct solution){.keys = p.n, .words = fuse_words(p.slots, p.width)};
            solution->entry[PART_KEYS] = p.n;
            solution->entry[FUSE_RANGE] = p.range;
            solution->entry[FUSE_SEED] = seed;
            return true;
        }
        if (seed == 0) p.n = unique_keys(keys, n, (uint64_t *)(void *)p.slot);
    }
    return false;
}

TRACED void fuse_trace_solved(const uint64_t layout[LAYOUT_WORDS], const uint64_t *room, uint64_t n,
                              const struct solution *solution, struct trace *trace) {
    struct peeling p = peeling_in(layout, (uint64_t *)(uintptr_t)room, n);
    unsigned bytes = value_bytes(&p);
    for (uint64_t i = 0; i < solution->keys; i++)
        trace_step(trace, PERHAPS_STEP_PEEL, "slot", false, p.queue[i], p.taken[i],
                   fuse_fingerprint(p.taken[i], p.width));
    for (uint64_t i = solution->keys; i-- > 0;) trace_store(trace, p.queue[i], 0, get_value(&p, p.queue[i], bytes));
    trace_answer(trace, false, PERHAPS_OK,
                 solution->keys ? "Each key left by a slot of its own; these are set in the reverse order."
                                : "There are no keys: all slots stay 0.");
}
