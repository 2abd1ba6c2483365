/*
 * The rate of a classic Bloom filter.
 *
 * n keys throw k·n times into m bits and leave X of them set; a question asks k independent bits, so the rate is the mean
 * of (X/m)^k. The textbook formula takes X at its mean, which is too kind: for m below EXACT the distribution of X is
 * worked out throw by throw, above it the variance's part is added, which leaves an error below 0.2 % of the rate.
 */
#include "plan.h"
#include "store/bits.h"

#include <math.h>

enum { BITS, HASHES };
enum { AROUND = 3, EXACT = 1024, HASHES_MAX = 64 };

/* The number of hashes that is best for large filters, from whatever the want fixes. */
static double best_hashes(const perhaps_want *want) {
    if (want->fpr > 0) return log2(1 / want->fpr);
    double bits = want->bytes ? 8.0 * (double)want->bytes / (double)want->items : want->bits_per_key;
    return bits * log(2);
}

static bool shape(unsigned number, const perhaps_want *want, uint64_t layout[LAYOUT_WORDS]) {
    double most = want->lines && want->lines < HASHES_MAX ? want->lines : HASHES_MAX;
    double hashes = fmin(fmax(round(best_hashes(want)), 1), most) + (double)number - AROUND;
    if (want->hashes) hashes = number == 0 ? want->hashes : 0;
    if (!(hashes >= 1 && hashes <= most)) return false;
    layout[HASHES] = (uint64_t)hashes;
    return true;
}

static uint64_t step(const uint64_t layout[LAYOUT_WORDS]) {
    (void)layout;
    return 64;
}

static bool resize(uint64_t layout[LAYOUT_WORDS], uint64_t bits) {
    layout[BITS] = bits;
    return bits > 0 && bits <= UINT64_MAX - 63;
}

/* The mean of (X/m)^k, from the distribution of X after each throw: a throw hits a set bit with chance X/m, else X
 * grows by one. Chances below 1e-18 are dropped at both ends. */
static double exact(unsigned m, unsigned hashes, uint64_t throws) {
    double chance[EXACT + 1] = {1};
    unsigned low = 0, high = 0;
    for (uint64_t t = 0; t < throws && low < m; t++) {
        if (high < m) chance[++high] = 0;
        for (unsigned x = high; x > low; x--) {
            chance[x] = chance[x] * x / m + chance[x - 1] * (m - (x - 1)) / m;
        }
        chance[low] = chance[low] * low / m;
        while (low < high && chance[low] < 1e-18) low++;
        while (high > low && chance[high] < 1e-18) high--;
    }
    double mean = 0;
    for (unsigned x = low; x <= high; x++) mean += chance[x] * pow((double)x / m, hashes);
    return mean;
}

static double fpr(const uint64_t layout[LAYOUT_WORDS], uint64_t items) {
    double m = (double)layout[BITS], k = (double)layout[HASHES], throws = k * (double)items;
    if (m < EXACT && throws < 8 * m) return exact((unsigned)m, (unsigned)k, (uint64_t)throws);
    double empty = m > 1 ? exp(throws * log1p(-1 / m)) : 0, set = 1 - empty;
    if (set <= 0) return 0;
    double variance = (empty - empty * empty * (1 + throws / m)) / m;
    return fmin(1, pow(set, k) * (1 + k * (k - 1) / 2 * variance / (set * set)));
}

static double handicap(const uint64_t layout[LAYOUT_WORDS]) {
    (void)layout;
    return 1;
}

static unsigned hashes_of(const uint64_t layout[LAYOUT_WORDS]) {
    return (unsigned)layout[HASHES];
}

static void look(const struct array *array, struct sight *sight) {
    double m = (double)array->layout[BITS], k = (double)array->layout[HASHES];
    double set = (double)bits_count(array->bytes, array->length);
    sight->fill = fmin(set / m, 1);
    sight->fpr = pow(sight->fill, k);
    /* A full array says only "many": as many as leave half a bit empty. One bit is a case of its own. */
    double empty = fmax(1 - sight->fill, 0.5 / m);
    sight->distinct = m > 1 ? log(empty) / (k * log1p(-1 / m)) : set;
}

extern const struct model model_bloom;

const struct model model_bloom = {
    .shapes = 2 * AROUND + 1,
    .shape = shape,
    .step = step,
    .resize = resize,
    .fpr = fpr,
    .handicap = handicap,
    .hashes = hashes_of,
    .lines = hashes_of,
    .look = look,
};
