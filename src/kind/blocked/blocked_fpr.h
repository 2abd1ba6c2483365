/* What filters have in common that keep all of a key in one block, of many: some blocks happen to
 * hold more keys than others. */
#ifndef PERHAPS_KIND_BLOCKED_BLOCKED_FPR_H
#define PERHAPS_KIND_BLOCKED_BLOCKED_FPR_H

/* The mean rate of a block, where n keys are thrown into `blocks` blocks and rate_of(j) is the rate
 * of one that holds j. */
double blocked_mean(double n, double blocks, double (*rate_of)(double j));

/* Blocks of BLOCKED_LANES lanes, each `lane_bits` wide, of which a key sets `bits_per_lane`. With
 * two blocks per key there are two such arrays of `blocks` each. */
struct blocks {
    double blocks, per_key, lane_bits, bits_per_lane;
};

/* Different keys that set this share of all bits. A given bit is still 0 after n keys with a chance
 * of (1 - s/blocks)^n, where s is the share of a block that a key takes. */
double blocked_keys(const struct blocks *all, double fill);

/* As `covariance` of struct occupancy: a term for where in their blocks the bits fall, as in a
 * Bloom filter, and one for how many keys each block gets. */
double blocked_covariance(const struct blocks *all, double common);

#endif
