/*
 * The false-positive rate of a blocked Bloom filter.
 *
 * A line holds J keys, J binomial: n keys fall into `lines` lines. Given J, the lanes are
 * independent, and the chance that a non-member's bit (or two) of a lane is set is exact
 * arithmetic. The rate is the mean over J; with two lines a key, which lie in different halves, it
 * is the product of both means. Lines that happen to hold more than their share cause most false
 * positives: the classic formula, which uses only the mean of J, promises too much.
 */
#include "kind/blocked/blocked_fpr.h"
#include "kind/blocked/blocked_layout.h"
#include "base/bits.h"
#include "plan/plan.h"

#include <math.h>

enum { FEW_LINES = 1 << 16 };

/* Bits per line, lines per key. */
static const uint64_t variants[][2] = {{8, 1}, {16, 1}, {8, 2}, {16, 2}};

static bool variant(unsigned number, const perhaps_want *want, uint64_t layout[LAYOUT_WORDS]) {
    layout[BLOCKED_BITS_PER_LINE] = variants[number][0];
    layout[BLOCKED_LINES_PER_KEY] = variants[number][1];
    if (want->lines && layout[BLOCKED_LINES_PER_KEY] > want->lines) return false;
    return !want->hashes || want->hashes == layout[BLOCKED_BITS_PER_LINE] * layout[BLOCKED_LINES_PER_KEY];
}

static uint64_t step(const uint64_t layout[LAYOUT_WORDS]) {
    return BLOCKED_LINE_BITS * layout[BLOCKED_LINES_PER_KEY];
}

static bool resize(uint64_t layout[LAYOUT_WORDS], uint64_t bits) {
    layout[BLOCKED_LINES] = bits / step(layout) * layout[BLOCKED_LINES_PER_KEY];
    return layout[BLOCKED_LINES] > 0 && layout[BLOCKED_LINES] <= UINT32_MAX;
}

/* The chance that a non-member's bits, one a lane, are all set in a line of j keys. */
static double rate_of_one(double j) {
    return pow(1 - pow(63.0 / 64, j), BLOCKED_LANES);
}

/* Two independent bits a lane: they differ 63 times in 64, and each of 2j throws misses one, or
 * both, of them. */
static double rate_of_two(double j) {
    double misses_one = pow(63.0 / 64, 2 * j), misses_both = pow(62.0 / 64, 2 * j);
    double different = 1 - 2 * misses_one + misses_both, same = 1 - misses_one;
    return pow(different * 63 / 64 + same / 64, BLOCKED_LANES);
}

static double log_factorial(double x) {
    int sign;
    return lgamma_r(x + 1, &sign);
}

/* The chance that a given line of `lines` holds j of n keys; Poisson where lines are many. */
static double chance_of(double j, double n, double lines) {
    if (lines > FEW_LINES) return exp(j * log(n / lines) - n / lines - log_factorial(j));
    double ways = log_factorial(n) - log_factorial(j) - log_factorial(n - j);
    return exp(ways - j * log(lines) + (n - j) * log1p(-1 / lines));
}

/* How much likelier j + 1 keys are than j. */
static double ratio_of(double j, double n, double lines) {
    if (lines > FEW_LINES) return n / lines / (j + 1);
    return (n - j) / (j + 1) / (lines - 1);
}

/* From the likeliest number of keys in a line outwards. */
double blocked_mean(double n, double blocks, double (*rate_of)(double j)) {
    if (blocks == 1) return rate_of(n);
    if (n / blocks > 64 * BLOCKED_LINE_BITS) return 1;
    double middle = floor(n / blocks), at_middle = chance_of(middle, n, blocks);
    double sum = at_middle * rate_of(middle);
    double chance = at_middle;
    for (double j = middle; j < n && chance > 1e-30 && (chance > sum * 1e-14 || j < middle + 8); j++) {
        chance *= ratio_of(j, n, blocks);
        sum += chance * rate_of(j + 1);
    }
    chance = at_middle;
    for (double j = middle - 1; j >= 0 && chance > sum * 1e-14; j--) {
        chance /= ratio_of(j, n, blocks);
        sum += chance * rate_of(j);
    }
    return fmin(sum, 1);
}

/* The share of its block that a key takes. */
static double taken(const struct blocks *all) {
    return 1 - pow(1 - 1 / all->lane_bits, all->bits_per_lane);
}

double blocked_keys(const struct blocks *all, double fill) {
    return log1p(-fill) / log1p(-taken(all) / all->blocks);
}

double blocked_covariance(const struct blocks *all, double common) {
    double cells = BLOCKED_LANES * all->lane_bits * all->blocks, hashes = BLOCKED_LANES * all->bits_per_lane;
    double of_bits = plan_spread(cells, common * hashes / cells) / (hashes * hashes), share = taken(all);
    double of_keys = plan_spread(all->blocks - 1, common * share * share / all->blocks) / (share * share);
    return (of_bits + of_keys) / all->per_key;
}

static double fpr(const uint64_t layout[LAYOUT_WORDS], uint64_t items) {
    double lines = (double)(layout[BLOCKED_LINES] / layout[BLOCKED_LINES_PER_KEY]);
    double (*rate_of)(double) = layout[BLOCKED_BITS_PER_LINE] == 16 ? rate_of_two : rate_of_one;
    return pow(blocked_mean((double)items, lines, rate_of), (double)layout[BLOCKED_LINES_PER_KEY]);
}

/* A second line costs a memory access: worth it only where it saves more than a twentieth of the
 * memory. */
static double handicap(const uint64_t layout[LAYOUT_WORDS]) {
    return layout[BLOCKED_LINES_PER_KEY] == 2 ? 1.05 : 1;
}

static unsigned hashes_of(const uint64_t layout[LAYOUT_WORDS]) {
    return (unsigned)(layout[BLOCKED_BITS_PER_LINE] * layout[BLOCKED_LINES_PER_KEY]);
}

static unsigned lines_of(const uint64_t layout[LAYOUT_WORDS]) {
    return (unsigned)layout[BLOCKED_LINES_PER_KEY];
}

/* The mean rate of `count` lines: a non-member's bits are set in all lanes. */
static double rate_of_lines(const uint8_t *lines, uint64_t count, int bits_per_lane) {
    double sum = 0;
    for (uint64_t i = 0; i < count; i++) {
        double rate = 1;
        for (int lane = 0; lane < BLOCKED_LANES; lane++) {
            int set = __builtin_popcountll(load64(lines + i * BLOCKED_LINE_BYTES + 8 * (uint64_t)lane));
            rate *= bits_per_lane == 2 ? set * set : set;
        }
        sum += rate;
    }
    return sum / (pow(64, BLOCKED_LANES * bits_per_lane) * (double)count);
}

static struct blocks blocks_of(const uint64_t layout[LAYOUT_WORDS]) {
    return (struct blocks){.blocks = (double)(layout[BLOCKED_LINES] / layout[BLOCKED_LINES_PER_KEY]),
                           .per_key = (double)layout[BLOCKED_LINES_PER_KEY],
                           .lane_bits = (double)BLOCKED_LINE_BITS / BLOCKED_LANES,
                           .bits_per_lane = (double)layout[BLOCKED_BITS_PER_LINE] / BLOCKED_LANES};
}

static double bits_of(const uint64_t layout[LAYOUT_WORDS]) {
    return (double)layout[BLOCKED_LINES] * BLOCKED_LINE_BITS;
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

static void measure(const struct array *array, struct measures *measures) {
    uint64_t per_key = array->layout[BLOCKED_LINES_PER_KEY], part = array->layout[BLOCKED_LINES] / per_key;
    double used = (double)bits_count(array->bytes, array->length), bits = bits_of(array->layout);
    int bits_per_lane = (int)array->layout[BLOCKED_BITS_PER_LINE] / BLOCKED_LANES;
    measures->fill = used / bits;
    measures->distinct = keys(array->layout, plan_not_all(used, bits));
    measures->fpr = 1;
    for (uint64_t i = 0; i < per_key; i++)
        measures->fpr *= rate_of_lines(array->bytes + i * part * BLOCKED_LINE_BYTES, part, bits_per_lane);
}

const struct model model_blocked = {
    .fpr = BEYOND_QUERIES(fpr),
    .hashes = hashes_of,
    .cache_lines = lines_of,
    .measure = BEYOND_QUERIES(measure),
    .search = BEYOND_QUERIES(&(const struct layout_search){.variants = sizeof variants / sizeof variants[0],
                                                           .variant = variant,
                                                           .step = step,
                                                           .resize = resize,
                                                           .handicap = handicap}),
    .occupancy = BEYOND_QUERIES(&(const struct occupancy){.count = count, .keys = keys, .covariance = covariance}),
};
