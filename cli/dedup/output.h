/* What dedup writes: the lines that are chosen, and what it tells at its end. */
#ifndef CLI_DEDUP_OUTPUT_H
#define CLI_DEDUP_OUTPUT_H

#include "pipeline.h"

/* Opens what -o names, or else standard output, or nothing (-1) where --json has that. FINE, or
 * TROUBLE after having said why not. */
int dedup_output_open(const struct options *options, const struct input *input, int *out);

/* Returns `status`, or TROUBLE if closing shows that not all was written. */
int dedup_output_close(const struct options *options, int out, int status);

/* Writes the lines of a job whose answer is `wanted` to `fd`, straight from where they were read
 * to. FINE, or TROUBLE and a message. */
int print_chosen(int fd, const char *name, const struct line_block *job, uint8_t wanted);

struct summary {
    uint64_t lines, unique;
    double seconds;
    double loss;    /* the chance that any line was lost; with `fpr`, 0 */
    double fpr;     /* up to this share of the new lines was lost; 0 = none; NAN = unknown */
    unsigned ngram; /* not 0: the last two are about N-grams of this many words */
};

/* On standard error. */
void summary_print(const struct summary *summary);

/* On standard output. */
void summary_print_json(const struct summary *summary);

#endif
