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
#include "base/endian.h"
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

/* Adds what the bits of one block say, or those of two together. */
static void look_at_block(const uint8_t *block, const uint8_t *other, struct measures *sums) {
    double rate = 1;
    int bits = 0;
    for (int i = 0; i < PARQUET_WORDS; i++) {
        int set = __builtin_popcount(load32(block + 4 * i) | load32(other + 4 * i));
        rate *= set / 32.0;
        bits += set;
    }
    sums->fill += bits;
    sums->fpr += rate;
    if (bits)
        sums->distinct += log(fmax(1 - (double)bits / PARQUET_BLOCK_BITS, 0.5 / PARQUET_BLOCK_BITS)) / log(31.0 / 32);
}

static void look_at_blocks(const struct array *array, const uint8_t *other, struct measures *measures) {
    *measures = (struct measures){0};
    for (uint64_t i = 0; i < array->layout[PARQUET_BLOCKS]; i++)
        look_at_block(array->bytes + i * PARQUET_BLOCK_BYTES, other + i * PARQUET_BLOCK_BYTES, measures);
}

static double either(const struct array *a, const struct array *b) {
    struct measures measures;
    look_at_blocks(a, b->bytes, &measures);
    return measures.distinct;
}

static void measure(const struct array *array, struct measures *measures) {
    double blocks = (double)array->layout[PARQUET_BLOCKS];
    look_at_blocks(array, array->bytes, measures);
    measures->fill /= blocks * PARQUET_BLOCK_BITS;
    measures->fpr = fmin(1, measures->fpr / blocks + rate_of_halves(measures->distinct, blocks));
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
    .distinct_in_either = either,
};
