/*
 * The false-positive rate of a classic Bloom filter.
 *
 * n keys throw k·n times into m bits and leave X of them set. A query tests k independent bits, so
 * the rate is the mean of (X/m)^k. The textbook formula takes X at its mean, which is too
 * optimistic. For m below EXACT (and as few hashes as this library uses; foreign formats may have
 * more) the mean is computed throw by throw. Above it a term for the variance is added, with an
 * error below 0.2 % of the rate.
 */
#include "kind/bloom/bloom_fpr.h"
#include "kind/bloom/bloom_layout.h"
#include "base/bits.h"

#include <math.h>

enum { AROUND = BLOOM_VARIANTS / 2, EXACT = 1024 };

/* The number of hashes that is best for large filters, from whatever the want fixes. */
static double best_hashes(const perhaps_want *want, unsigned bits_per_cell) {
    if (want->fpr > 0) return log2(1 / want->fpr);
    double bits = want->bytes ? 8.0 * (double)want->bytes / (double)want->items : want->bits_per_key;
    return bits / bits_per_cell * log(2);
}

bool bloom_variant(unsigned number, const perhaps_want *want, unsigned bits_per_cell, uint64_t layout[LAYOUT_WORDS]) {
    double most = want->lines && want->lines < BLOOM_HASHES_MAX ? want->lines : BLOOM_HASHES_MAX;
    double hashes = fmin(fmax(round(best_hashes(want, bits_per_cell)), 1), most) + (double)number - AROUND;
    if (want->hashes) hashes = number == 0 ? want->hashes : 0;
    if (!(hashes >= 1 && hashes <= most)) return false;
    layout[BLOOM_HASHES] = (uint64_t)hashes;
    return true;
}

uint64_t bloom_step(const uint64_t layout[LAYOUT_WORDS]) {
    (void)layout;
    return 64;
}

/*
 * The mean of (X/m)^k without a rounding error to speak of, in k·throws steps. The k probes of a
 * query fall on j different bits; the rate is the sum over j of that chance times the chance that j
 * given bits are all set. Both grow throw by throw, from sums of positive terms:
 *
 *     j given bits are all set after a throw if they were before, or if the throw hit the only
 *     one that was not;
 *     a probe falls on one of the j bits that the earlier probes fell on, or on another.
 */
static double exact(double m, unsigned hashes, uint64_t throws) {
    double all_set[BLOOM_HASHES_MAX + 1] = {1}, different[BLOOM_HASHES_MAX + 1] = {1};
    unsigned most = hashes < m ? hashes : (unsigned)m;
    for (uint64_t t = 0; t < throws; t++) {
        for (unsigned j = most; j > 0; j--) all_set[j] += (all_set[j - 1] - all_set[j]) * j / m;
    }
    for (unsigned probe = 0; probe < hashes; probe++) {
        for (unsigned j = most; j > 0; j--) different[j] = (different[j] * j + different[j - 1] * (m - (j - 1))) / m;
        different[0] = 0;
    }
    double mean = 0;
    for (unsigned j = 1; j <= most; j++) mean += different[j] * all_set[j];
    return mean;
}

double bloom_fpr(const uint64_t layout[LAYOUT_WORDS], uint64_t items) {
    double m = (double)layout[BLOOM_CELLS], k = (double)layout[BLOOM_HASHES], throws = k * (double)items;
    if (m < EXACT && k <= BLOOM_HASHES_MAX && throws < 8 * m) return exact(m, (unsigned)k, (uint64_t)throws);
    double empty = m > 1 ? exp(throws * log1p(-1 / m)) : 0, set = 1 - empty;
    if (set <= 0) return 0;
    double variance = (empty - empty * empty * (1 + throws / m)) / m;
    return fmin(1, pow(set, k) * (1 + k * (k - 1) / 2 * variance / (set * set)));
}

unsigned bloom_hashes(const uint64_t layout[LAYOUT_WORDS]) {
    return (unsigned)layout[BLOOM_HASHES];
}

/* One cell is a case of its own. */
double bloom_keys(const uint64_t layout[LAYOUT_WORDS], double used) {
    double m = (double)layout[BLOOM_CELLS], k = (double)layout[BLOOM_HASHES];
    return m > 1 ? log1p(-used / m) / (k * log1p(-1 / m)) : used;
}

void bloom_estimate(const uint64_t layout[LAYOUT_WORDS], uint64_t used, struct measures *measures) {
    double m = (double)layout[BLOOM_CELLS];
    measures->fill = fmin((double)used / m, 1);
    measures->fpr = pow(measures->fill, (double)layout[BLOOM_HASHES]);
    measures->distinct = m > 1 ? bloom_keys(layout, plan_not_all((double)used, m)) : (double)used;
}

double bloom_covariance(const uint64_t layout[LAYOUT_WORDS], double common) {
    double m = (double)layout[BLOOM_CELLS], k = (double)layout[BLOOM_HASHES];
    return plan_spread(m, k * common / m) / (k * k);
}

/* ---- bloom's own ---- */

static bool variant(unsigned number, const perhaps_want *want, uint64_t layout[LAYOUT_WORDS]) {
    return bloom_variant(number, want, 1, layout);
}

static bool resize(uint64_t layout[LAYOUT_WORDS], uint64_t bits) {
    layout[BLOOM_CELLS] = bits;
    return bits > 0 && bits <= UINT64_MAX - 63;
}

static void count(const struct array *a, const struct array *b, struct used_cells *used) {
    *used = plan_used_bits(a, b, (double)a->layout[BLOOM_CELLS]);
}

const struct occupancy bloom_occupancy = {.count = count, .keys = bloom_keys, .covariance = bloom_covariance};

static void measure(const struct array *array, struct measures *measures) {
    bloom_estimate(array->layout, bits_count(array->bytes, array->length), measures);
}

const struct model model_bloom = {
    .fpr = BEYOND_QUERIES(bloom_fpr),
    .hashes = bloom_hashes,
    .cache_lines = bloom_hashes,
    .measure = BEYOND_QUERIES(measure),
    .search = BEYOND_QUERIES(&(const struct layout_search){
        .variants = BLOOM_VARIANTS, .variant = variant, .step = bloom_step, .resize = resize}),
    .occupancy = BEYOND_QUERIES(&bloom_occupancy),
};
