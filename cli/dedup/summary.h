/* What dedup tells at its end. */
#ifndef CLI_DEDUP_SUMMARY_H
#define CLI_DEDUP_SUMMARY_H

#include <stdbool.h>
#include <stdint.h>

struct summary {
    uint64_t lines, unique;
    double seconds;
    double loss; /* the chance that any line was lost; with `fpr`, 0 */
    double fpr;  /* up to this share of the new lines was lost; 0 = none; NAN = unknown */
};

/* On standard error. */
void summary_print(const struct summary *summary);

/* On standard output. */
void summary_print_json(const struct summary *summary);

#endif
