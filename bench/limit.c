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
 * or three lines is compared with the same loop over two or three random lines (or four, for one
 * that looks at four places). Which way is the fastest depends on the machine and on the
 * size, so all of these are tried and the best is taken:
 *
 *     depth           the line's number is worked out 0, 8, 16, 32 or 64 keys before it is used;
 *     line prefetch   the line is prefetched then, into the first-level cache, or into the
 *                     second-level one, which can wait for more lines at a time;
 *     key prefetch    the key array is left to the hardware, or prefetched 512 bytes ahead past
 *                     the caches, where its keys do not push out lines of the filter, or 1 KiB
 *                     ahead into the second-level cache.
 *
 * Where the CPU has AVX-512, the same is measured once more with line numbers worked out for 8 keys
 * at a time ("vector"). From some 16 MiB on the memory decides and both are equal. In the
 * second-level cache the plain loop spends more on mixing than on loading, and the vector loop
 * shows what is left. Ratios are to the plain loop, which is one program for all machines.
 *
 * All words loaded are summed and the sum is kept, so that no compiler can leave a load out.
 */
#include "measure.h"

#include <math.h>
#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

enum {
    GROUP = 8,      /* keys per step: as many as share a cache line of the key array */
    RING = 16,      /* groups remembered: more than the greatest depth, and a power of two */
    LINE_WORDS = 8, /* 64-bit words in a line */
    NEAR_KEYS = 64, /* 512 bytes */
    FAR_KEYS = 128, /* 1 KiB */
    TRIALS = 3,     /* of each variant */
    TRIAL_KEYS = 1 << 16
};
_Static_assert(KEYS_BEYOND >= 64 + GROUP, "the walk reads up to its greatest depth beyond the keys");

const char *const line_prefetch_names[LINE_PREFETCH_COUNT] = {"none", "l1", "l2"};
const char *const key_prefetch_names[KEY_PREFETCH_COUNT] = {"none", "past_caches", "l2"};

struct walk {
    const uint64_t *keys;
    size_t key_count;
    uint64_t *memory;
    uint64_t line_count;
    struct limit_variant variant;
};

/* Further cache lines come from the same mix: its lower half, then one more multiplication. */
static const uint64_t mix_factor = 0xd6e8feb86659fd93u, third_factor = 0x9e3779b97f4a7c15u;

static inline __attribute__((always_inline)) void index_scalar(const uint64_t *keys, uint64_t line_count,
                                                               unsigned lines, uint64_t out[][GROUP]) {
    for (unsigned i = 0; i < GROUP; i++) {
        uint64_t x = keys[i];
        x = (x ^ x >> 32) * mix_factor;
        x = (x ^ x >> 32) * mix_factor;
        out[0][i] = ((x >> 32) * line_count >> 32) * LINE_WORDS;
        if (lines > 1) out[1][i] = ((x & UINT32_MAX) * line_count >> 32) * LINE_WORDS;
        x *= third_factor;
        if (lines > 2) out[2][i] = ((x >> 32) * line_count >> 32) * LINE_WORDS;
        if (lines > 3) out[3][i] = ((x & UINT32_MAX) * line_count >> 32) * LINE_WORDS;
    }
}

#define WALK_TARGET
#define WALK_NAME(name) name##_scalar
#define WALK_INDEX      index_scalar
#include "limit_walk.h"

#if defined(__x86_64__)
#define AVX512 __attribute__((target("avx512f,avx512dq")))

static inline __attribute__((always_inline)) AVX512 __m512i reduce_avx512(__m512i high_halves, __m512i line_count) {
    __m512i product = _mm512_mul_epu32(high_halves, line_count);
    return _mm512_slli_epi64(_mm512_srli_epi64(product, 32), 3); /* 3: a line has 2^3 words */
}

static inline __attribute__((always_inline)) AVX512 void index_avx512(const uint64_t *keys, uint64_t line_count,
                                                                      unsigned lines, uint64_t out[][GROUP]) {
    const __m512i factor = _mm512_set1_epi64((long long)mix_factor), count = _mm512_set1_epi64((long long)line_count);
    __m512i x = _mm512_loadu_si512(keys);
    x = _mm512_mullo_epi64(_mm512_xor_si512(x, _mm512_srli_epi64(x, 32)), factor);
    x = _mm512_mullo_epi64(_mm512_xor_si512(x, _mm512_srli_epi64(x, 32)), factor);
    _mm512_store_si512(out[0], reduce_avx512(_mm512_srli_epi64(x, 32), count));
    /* mul_epu32 takes the lower halves */
    if (lines > 1) _mm512_store_si512(out[1], reduce_avx512(x, count));
    if (lines > 2) {
        x = _mm512_mullo_epi64(x, _mm512_set1_epi64((long long)third_factor));
        _mm512_store_si512(out[2], reduce_avx512(_mm512_srli_epi64(x, 32), count));
    }
    if (lines > 3) _mm512_store_si512(out[3], reduce_avx512(x, count));
}

#define WALK_TARGET     AVX512
#define WALK_NAME(name) name##_avx512
#define WALK_INDEX      index_avx512
#include "limit_walk.h"

static int has_vector(void) {
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq");
}
#else
static int has_vector(void) {
    return 0;
}
#endif

static uint64_t walk(const struct walk *w, unsigned lines, enum limit_op op) {
#if defined(__x86_64__)
    if (w->variant.vector) return walk_lines_avx512(w, lines, op);
#endif
    return walk_lines_scalar(w, lines, op);
}

static struct limit_figure *limit_figure(struct limit *limit, enum limit_op op, unsigned lines, int vector) {
    return &limit->figures[vector][op][lines - 1];
}

/* Nanoseconds per key. */
static double time_walk(struct limit *limit, struct limit_variant variant, enum limit_op op, unsigned lines,
                        const uint64_t *keys, size_t n) {
    struct walk w = {keys, n, limit->memory, limit->bytes / 64, variant};
    double start = machine_worked();
    limit->kept += walk(&w, lines, op);
    return (machine_worked() - start) / (double)n;
}

/* Keeps the fastest variants in order. */
static void enter_trial(struct limit_figure *figure, double *times, struct limit_variant variant, double time) {
    for (size_t place = 0; place < LIMIT_FINALISTS; place++) {
        if (time >= times[place]) continue;
        for (size_t i = LIMIT_FINALISTS - 1; i > place; i--) {
            times[i] = times[i - 1];
            figure->finalists[i] = figure->finalists[i - 1];
        }
        times[place] = time;
        figure->finalists[place] = variant;
        return;
    }
}

/* Depth 0 prefetches nothing. Vector code may also index ahead and leave memory to the loads. */
static int is_worth_a_trial(const struct limit_variant *v) {
    return v->vector ? v->depth >= 32 : (v->line_prefetch != LINE_PREFETCH_NONE) == (v->depth > 0);
}

/* The best of some short runs, each over other keys: the same ones would soon be in the caches. */
static double try_variant(struct limit *limit, struct limit_variant v, enum limit_op op, unsigned lines,
                          const uint64_t *keys) {
    double best = INFINITY;
    for (int trial = 0; trial < TRIALS; trial++) {
        limit->trial_start = (limit->trial_start + TRIAL_KEYS) % PASS_KEYS;
        double time = time_walk(limit, v, op, lines, keys + limit->trial_start, TRIAL_KEYS);
        if (time < best) best = time;
    }
    return best;
}

static void find_finalists(struct limit *limit, enum limit_op op, unsigned lines, int vector, const uint64_t *keys) {
    static const unsigned depths[] = {0, 8, 16, 32, 64};
    struct limit_figure *figure = limit_figure(limit, op, lines, vector);
    double times[LIMIT_FINALISTS];
    for (size_t i = 0; i < LIMIT_FINALISTS; i++) times[i] = INFINITY;
    struct limit_variant v = {.vector = vector};
    for (size_t d = 0; d < sizeof depths / sizeof *depths; d++)
        for (v.line_prefetch = 0; v.line_prefetch < LINE_PREFETCH_COUNT; v.line_prefetch++)
            for (v.key_prefetch = 0; v.key_prefetch < KEY_PREFETCH_COUNT; v.key_prefetch++) {
                v.depth = depths[d];
                if (!is_worth_a_trial(&v)) continue;
                enter_trial(figure, times, v, try_variant(limit, v, op, lines, keys));
            }
}

int limit_take_memory(struct limit *limit, uint64_t bytes) {
    memset(limit, 0, sizeof *limit);
    limit->bytes = bytes;
    limit->has_vector = has_vector();
    limit->memory = machine_memory(bytes);
    return limit->memory ? 0 : -1;
}

void limit_find(struct limit *limit, enum limit_op op, unsigned lines, const uint64_t *keys) {
    for (int vector = 0; vector <= limit->has_vector; vector++) {
        limit_figure(limit, op, lines, vector)->ns = INFINITY;
        find_finalists(limit, op, lines, vector, keys);
    }
    limit_round(limit, op, lines, keys, lines == 1 ? PASS_KEYS : PASS_KEYS / 4);
}

int limit_open(struct limit *limit, uint64_t bytes, const uint64_t *keys) {
    if (limit_take_memory(limit, bytes) < 0) return -1;
    for (enum limit_op op = 0; op < LIMIT_OP_COUNT; op++)
        for (unsigned lines = 1; lines <= USUAL_LIMIT_LINES; lines++) limit_find(limit, op, lines, keys);
    return 0;
}

void limit_round(struct limit *limit, enum limit_op op, unsigned lines, const uint64_t *keys, size_t n) {
    for (int vector = 0; vector <= limit->has_vector; vector++) {
        struct limit_figure *figure = limit_figure(limit, op, lines, vector);
        for (size_t i = 0; i < LIMIT_FINALISTS; i++) {
            double time = time_walk(limit, figure->finalists[i], op, lines, keys, n);
            if (time >= figure->ns) continue;
            figure->ns = time;
            figure->best = figure->finalists[i];
        }
    }
}

void limit_close(struct limit *limit) {
    machine_release(limit->memory, limit->bytes);
    limit->memory = NULL;
}
