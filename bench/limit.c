/*
 * The machine's limit: the least time in which a filter of a given size could answer.
 *
 * Whatever a filter does with a key, it must at least
 *
 *     1. read the key from the caller's array, which is too long for the caches near the core;
 *     2. mix it to a random number: here two multiplications, fewer would not be a hash;
 *     3. turn that into the number of a cache line: one more multiplication;
 *     4. load one word of that line (a query), or load, change and store it (an add).
 *
 * The limit does just this and nothing more: no mask, no test, no answer. A filter that touches two
 * or three lines is compared with the same loop over two or three random lines. Which way is the
 * fastest depends on the machine and on the size, so all of these are tried in turns, and the one
 * with the least median is taken:
 *
 *     depth           the line's number is worked out 0, 8, 16, 32 or 64 keys before it is used;
 *     line prefetch   the line is prefetched then, into the first-level cache, or into the
 *                     second-level one, which can wait for more lines at a time;
 *     key prefetch    the key array is left to the hardware, or prefetched 512 bytes ahead past
 *                     the caches, where its keys do not push out lines of the filter, or 1 KiB
 *                     ahead into the second-level cache.
 *
 * It is plain C, one program for all machines and instruction sets. In the second-level cache it
 * spends more on mixing than on loading, and vector instructions can be faster.
 *
 * All words loaded are summed and the sum is kept, so that no compiler can leave a load out.
 */
#include "measure.h"

#include <string.h>

enum {
    GROUP = 8,      /* keys per step: as many as share a cache line of the key array */
    RING = 16,      /* groups remembered: more than the greatest depth, and a power of two */
    LINE_WORDS = 8, /* 64-bit words in a line */
    NEAR_KEYS = 64, /* 512 bytes */
    FAR_KEYS = 128, /* 1 KiB */
    TRIALS = 5,     /* of each variant, */
    TRIAL_KEYS = 1 << 15,
    MOST_VARIANTS = 32
};
_Static_assert(KEYS_BEYOND >= 64 + GROUP, "the walk reads up to its greatest depth beyond the keys");

const char *const line_prefetch_names[LINE_PREFETCH_COUNT] = {"none", "l1", "l2"};
const char *const key_prefetch_names[KEY_PREFETCH_COUNT] = {"none", "past_caches", "l2"};
const char *const limit_op_names[LIMIT_OP_COUNT] = {"load", "rmw"};

/* --- the walk over the lines --- */

struct walk {
    const uint64_t *keys;
    size_t key_count;
    uint64_t *memory;
    uint64_t line_count;
    struct limit_variant variant;
};

#define INLINE static inline __attribute__((always_inline))

/* Further cache lines come from the same mix: its lower half, then one more multiplication. */
static const uint64_t mix_factor = 0xd6e8feb86659fd93u, third_factor = 0x9e3779b97f4a7c15u;

INLINE void index_words(const uint64_t *keys, uint64_t line_count, unsigned lines, uint64_t out[][GROUP]) {
    for (unsigned i = 0; i < GROUP; i++) {
        uint64_t x = keys[i];
        x = (x ^ x >> 32) * mix_factor;
        x = (x ^ x >> 32) * mix_factor;
        out[0][i] = ((x >> 32) * line_count >> 32) * LINE_WORDS;
        if (lines > 1) out[1][i] = ((x & UINT32_MAX) * line_count >> 32) * LINE_WORDS;
        if (lines > 2) out[2][i] = ((x * third_factor >> 32) * line_count >> 32) * LINE_WORDS;
    }
}

INLINE void prefetch_words(const struct walk *w, unsigned lines, uint64_t words[][GROUP]) {
    if (w->variant.line_prefetch == LINE_PREFETCH_L1)
        for (unsigned l = 0; l < lines; l++)
            for (unsigned i = 0; i < GROUP; i++) __builtin_prefetch(w->memory + words[l][i], 0, 3);
    if (w->variant.line_prefetch == LINE_PREFETCH_L2)
        for (unsigned l = 0; l < lines; l++)
            for (unsigned i = 0; i < GROUP; i++) __builtin_prefetch(w->memory + words[l][i], 0, 2);
}

INLINE uint64_t walk_lines(const struct walk *w, unsigned lines, int rmw) {
    _Alignas(64) uint64_t ring[RING][MOST_LIMIT_LINES][GROUP];
    const size_t groups = w->key_count / GROUP, ahead = w->variant.depth / GROUP;
    uint64_t sum = 0;
    for (size_t g = 0; g < ahead; g++) index_words(w->keys + g * GROUP, w->line_count, lines, ring[g % RING]);
    for (size_t g = 0; g < groups; g++) {
        const uint64_t *coming_keys = w->keys + (g + ahead) * GROUP;
        uint64_t(*coming)[GROUP] = ring[(g + ahead) % RING], (*due)[GROUP] = ring[g % RING];
        if (w->variant.key_prefetch == KEY_PREFETCH_PAST_CACHES) __builtin_prefetch(coming_keys + NEAR_KEYS, 0, 0);
        if (w->variant.key_prefetch == KEY_PREFETCH_L2) __builtin_prefetch(coming_keys + FAR_KEYS, 0, 2);
        index_words(coming_keys, w->line_count, lines, coming);
        prefetch_words(w, lines, coming);
        for (unsigned l = 0; l < lines; l++)
            for (unsigned i = 0; i < GROUP; i++) {
                if (rmw)
                    w->memory[due[l][i]] |= g;
                else
                    sum += w->memory[due[l][i]];
            }
    }
    return sum;
}

/* Constants for `lines` and `rmw` make six loops of one text. */
static __attribute__((noinline)) uint64_t walk(const struct walk *w, unsigned lines, enum limit_op op) {
    const int rmw = op == LIMIT_RMW;
    switch (lines) {
    case 1:
        return rmw ? walk_lines(w, 1, 1) : walk_lines(w, 1, 0);
    case 2:
        return rmw ? walk_lines(w, 2, 1) : walk_lines(w, 2, 0);
    default:
        return rmw ? walk_lines(w, 3, 1) : walk_lines(w, 3, 0);
    }
}

/* Nanoseconds per key. */
static double time_walk(struct limit *limit, struct limit_variant variant, enum limit_op op, unsigned lines,
                        const uint64_t *keys, size_t n) {
    struct walk w = {keys, n, limit->memory, limit->bytes / 64, variant};
    double start = machine_worked();
    limit->kept += walk(&w, lines, op);
    return (machine_worked() - start) / (double)n;
}

double limit_turn(struct limit *limit, enum limit_op op, unsigned lines, const uint64_t *keys, size_t n) {
    return time_walk(limit, limit->figures[op][lines - 1].best, op, lines, keys, n);
}

/* --- the best way to walk --- */

static size_t list_variants(struct limit_variant variants[MOST_VARIANTS]) {
    static const unsigned depths[] = {0, 8, 16, 32, 64};
    size_t count = 0;
    struct limit_variant v;
    for (size_t d = 0; d < sizeof depths / sizeof *depths; d++)
        for (v.line_prefetch = 0; v.line_prefetch < LINE_PREFETCH_COUNT; v.line_prefetch++)
            for (v.key_prefetch = 0; v.key_prefetch < KEY_PREFETCH_COUNT; v.key_prefetch++) {
                v.depth = depths[d];
                int prefetches = v.line_prefetch != LINE_PREFETCH_NONE;
                if (prefetches == (v.depth > 0)) variants[count++] = v;
            }
    return count;
}

static double median(double values[TRIALS]) {
    for (unsigned i = 1; i < TRIALS; i++)
        for (unsigned j = i; j > 0 && values[j] < values[j - 1]; j--) {
            double swapped = values[j];
            values[j] = values[j - 1];
            values[j - 1] = swapped;
        }
    return values[TRIALS / 2];
}

/* Each trial has other keys: the lines of the same ones would soon be in the caches. */
static void find_best(struct limit *limit, enum limit_op op, unsigned lines, const uint64_t *keys) {
    struct limit_figure *figure = &limit->figures[op][lines - 1];
    struct limit_variant variants[MOST_VARIANTS];
    double ns[MOST_VARIANTS][TRIALS];
    size_t count = list_variants(variants);
    for (unsigned trial = 0; trial < TRIALS; trial++)
        for (size_t i = 0; i < count; i++) {
            limit->trial_start = (limit->trial_start + TRIAL_KEYS) % PASS_KEYS;
            ns[i][trial] = time_walk(limit, variants[i], op, lines, keys + limit->trial_start, TRIAL_KEYS);
        }
    for (size_t i = 0; i < count; i++) {
        double middle = median(ns[i]);
        if (i && middle >= figure->ns) continue;
        figure->ns = middle;
        figure->best = variants[i];
    }
}

int limit_open(struct limit *limit, uint64_t bytes, const uint64_t *keys) {
    memset(limit, 0, sizeof *limit);
    limit->bytes = bytes;
    limit->memory = machine_memory(bytes);
    if (!limit->memory) return -1;
    for (enum limit_op op = 0; op < LIMIT_OP_COUNT; op++)
        for (unsigned lines = 1; lines <= MOST_LIMIT_LINES; lines++) find_best(limit, op, lines, keys);
    return 0;
}

void limit_close(struct limit *limit) {
    machine_release(limit->memory, limit->bytes);
    limit->memory = NULL;
}
