/*
 * The false-positive rate of Parquet's split-block Bloom filters, and their sizes.
 *
 * A block holds J keys, J binomial, as a line of a blocked filter does. Given J, a non-member's bit
 * of each of the eight words is set with chance 1 - (31/32)^J. But all eight follow from 32 bits of
 * the digest: a non-member that shares those with a key in its block is a false positive, once in
 * 2^32, not in 2^40.
 *
 * Only sizes that are powers of two up to 128 MiB are made: some readers take no other.
 */
#include "base/bits.h"
#include "foreign/parquet/parquet_layout.h"
#include "plan/plan.h"
#include "kind/blocked/blocked_fpr.h"

#include <math.h>

enum { MADE_MAX = (128 << 20) / PARQUET_BLOCK_BYTES };

static bool variant(unsigned number, const perhaps_want *want, uint64_t layout[LAYOUT_WORDS]) {
    (void)number, (void)layout;
    return !want->hashes || want->hashes == PARQUET_WORDS;
}

static uint64_t step(const uint64_t layout[LAYOUT_WORDS]) {
    (void)layout;
    return PARQUET_BLOCK_BITS;
}

static bool resize(uint64_t layout[LAYOUT_WORDS], uint64_t bits) {
    uint64_t blocks = bits / PARQUET_BLOCK_BITS;
    if (blocks < 1 || blocks > MADE_MAX) return false;
    for (layout[PARQUET_BLOCKS] = 1; layout[PARQUET_BLOCKS] <= blocks / 2;) layout[PARQUET_BLOCKS] *= 2;
    return true;
}

/* The chance that a non-member's bits are all set in a block of j keys. */
static double rate_of_block(double j) {
    return pow(1 - pow(31.0 / 32, j), PARQUET_WORDS);
}

/* The chance that a non-member shares its block and the lower half of its digest with one of the
 * keys. */
static double rate_of_halves(double keys, double blocks) {
    return ldexp(keys / blocks, -32);
}

static double fpr(const uint64_t layout[LAYOUT_WORDS], uint64_t items) {
    double n = (double)items, blocks = (double)layout[PARQUET_BLOCKS];
    return fmin(1, blocked_mean(n, blocks, rate_of_block) + rate_of_halves(n, blocks));
}

static unsigned hashes_of(const uint64_t layout[LAYOUT_WORDS]) {
    (void)layout;
    return PARQUET_WORDS;
}

static unsigned lines_of(const uint64_t layout[LAYOUT_WORDS]) {
    (void)layout;
    return 1;
}

static struct blocks blocks_of(const uint64_t layout[LAYOUT_WORDS]) {
    return (struct blocks){.blocks = (double)layout[PARQUET_BLOCKS], .per_key = 1, .lane_bits = 32, .bits_per_lane = 1};
}

static double bits_of(const uint64_t layout[LAYOUT_WORDS]) {
    return (double)layout[PARQUET_BLOCKS] * PARQUET_BLOCK_BITS;
}

static void count(const struct array *a, const struct array *b, struct used_cells *used) {
    *used = plan_used_bits(a, b, bits_of(a->layout));
}

static double keys(const uint64_t layout[LAYOUT_WORDS], double used) {
    struct blocks all = blocks_of(layout);
    return blocked_keys(&all, used / bits_of(layout));
}

static double covariance(const uint64_t layout[LAYOUT_WORDS], double common) {
    struct blocks all = blocks_of(layout);
    return blocked_covariance(&all, common);
}

/* The rate of one block, from its bits. */
static double rate_of_bits(const uint8_t *block) {
    double rate = 1;
    for (int i = 0; i < PARQUET_WORDS; i++) rate *= __builtin_popcount(load32(block + 4 * i)) / 32.0;
    return rate;
}

static void measure(const struct array *array, struct measures *measures) {
    double used = (double)bits_count(array->bytes, array->length), bits = bits_of(array->layout), rates = 0;
    double blocks = (double)array->layout[PARQUET_BLOCKS];
    for (uint64_t i = 0; i < array->layout[PARQUET_BLOCKS]; i++)
        rates += rate_of_bits(array->bytes + i * PARQUET_BLOCK_BYTES);
    measures->fill = used / bits;
    measures->distinct = keys(array->layout, plan_not_all(used, bits));
    measures->fpr = fmin(1, rates / blocks + rate_of_halves(measures->distinct, blocks));
}

const struct model model_parquet = {
    .fpr = fpr,
    .hashes = hashes_of,
    .cache_lines = lines_of,
    .measure = measure,
    .search = &(const struct layout_search){.variants = 1,
                                            .variant = variant,
                                            .step = step,
                                            .resize = resize,
                                            .largest = "128 MiB, since some readers take no more"},
    .occupancy = &(const struct occupancy){.count = count, .keys = keys, .covariance = covariance},
};
