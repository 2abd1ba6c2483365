/* What the plans of static kinds have in common: they are made as fine as the want says, and as
 * large as their keys then need. */
#ifndef PERHAPS_STATIC_STATIC_FPR_H
#define PERHAPS_STATIC_STATIC_FPR_H

#include "plan/plan.h"

/* How fine a kind can be made: in steps 1..steps, each with a smaller rate and more memory than the
 * one before. */
struct fineness {
    unsigned steps;
    void (*set)(uint64_t layout[LAYOUT_WORDS], unsigned step);

    /* The rate with so many keys, and without end of them for 0. */
    double (*rate)(const uint64_t layout[LAYOUT_WORDS], uint64_t keys);

    /* Words of data for so many parts of so many keys each, in a settled layout. */
    uint64_t (*words)(const uint64_t layout[LAYOUT_WORDS], uint64_t parts, uint64_t keys);
};

/* For struct model: finishes a layout that has all but its fineness, and what follows from the
 * number of keys. */
int static_rule(const struct kind *kind, const struct fineness *fineness, const perhaps_want *want,
                const uint64_t start[LAYOUT_WORDS], struct level *level);

/* What a sealed filter shows: its keys, and the rate of its layout. */
void static_measure(const struct kind *kind, const struct fineness *fineness, const struct array *array,
                    struct measures *sight);

#endif
