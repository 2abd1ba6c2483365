/* What filters have in common that keep all of a key in one block, of many: some blocks happen to
 * hold more keys than others. */
#ifndef PERHAPS_KIND_BLOCKED_BLOCKED_FPR_H
#define PERHAPS_KIND_BLOCKED_BLOCKED_FPR_H

/* The mean rate of a block, where n keys are thrown into `blocks` blocks and rate_of(j) is the rate
 * of one that holds j. */
double blocked_mean(double n, double blocks, double (*rate_of)(double j));

#endif
