/* Planning static kinds: the want says how fine, and the keys then say how large. */
#ifndef PERHAPS_STATIC_STATIC_FPR_H
#define PERHAPS_STATIC_STATIC_FPR_H

#include "plan/plan.h"

/* How fine a kind can be: steps 1..steps, each with a smaller false-positive rate and more memory
 * than the one before. */
struct fineness {
    unsigned steps;
    void (*set)(uint64_t layout[LAYOUT_WORDS], unsigned step);

    /* The false-positive rate with that many keys; 0: the limit for any number. */
    double (*rate)(const uint64_t layout[LAYOUT_WORDS], uint64_t keys);

    /* Words of data for `parts` parts of `keys` keys each, in a settled layout. */
    uint64_t (*words)(const uint64_t layout[LAYOUT_WORDS], uint64_t parts, uint64_t keys);
};

/* model.rule: completes a layout that lacks only its fineness and what follows from the number of
 * keys. */
int static_rule(const struct kind *kind, const struct fineness *fineness, const perhaps_want *want,
                const uint64_t start[LAYOUT_WORDS], struct level *level);

/* model.measure of a sealed filter. */
void static_measure(const struct kind *kind, const struct fineness *fineness, const struct array *array,
                    struct measures *measures);

#endif
