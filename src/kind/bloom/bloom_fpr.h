/* The rate of filters with k probes in m cells, whatever a cell is: what bloom_fpr.c and
 * counting_fpr.c share. The layout is m, k. */
#ifndef PERHAPS_KIND_BLOOM_BLOOM_FPR_H
#define PERHAPS_KIND_BLOOM_BLOOM_FPR_H

#include "plan/plan.h"

/* Variants are numbers of hashes: the best one for large filters, and three to each side. */
enum { BLOOM_VARIANTS = 7 };

bool bloom_variant(unsigned number, const perhaps_want *want, unsigned bits_per_cell, uint64_t layout[LAYOUT_WORDS]);
uint64_t bloom_step(const uint64_t layout[LAYOUT_WORDS]);
double bloom_fpr(const uint64_t layout[LAYOUT_WORDS], uint64_t items);
unsigned bloom_hashes(const uint64_t layout[LAYOUT_WORDS]);

/* The same operations of struct occupancy for all of them; and all three where cells are bits. */
double bloom_keys(const uint64_t layout[LAYOUT_WORDS], double used);
double bloom_covariance(const uint64_t layout[LAYOUT_WORDS], double common);
extern const struct occupancy bloom_occupancy;

/* What `used` cells say of fill, rate and number of different keys. */
void bloom_estimate(const uint64_t layout[LAYOUT_WORDS], uint64_t used, struct measures *measures);

#endif
