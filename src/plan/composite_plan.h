/* Plans of composite filters, around the plan of a single filter by search.c. */
#ifndef PERHAPS_PLAN_COMPOSITE_PLAN_H
#define PERHAPS_PLAN_COMPOSITE_PLAN_H

#include "plan/plan.h"

/* A composite filter around others: its kind, and how its level follows from that of its
 * children. */
struct wrapper {
    const struct kind *kind;
    void (*wrap)(const perhaps_want *want, struct perhaps_plan *shown, struct level *level);
};

/* The composite filters around a filter, the outermost first. */
struct outer {
    struct wrapper wrapper[LEVELS_MAX - 1];
    unsigned count;
};

/* Finds the composite filters that the want asks for, and turns it into a want for one inner
 * filter. */
int combined_peel(perhaps_want *want, struct outer *outer);

/* Why it cannot be around a kind: a sentence with one %s for the name of `kind`; or NULL. */
struct refusal {
    const char *sentence;
    const struct kind *kind;
};
struct refusal combined_refusal(const struct outer *outer, const struct kind *kind, const perhaps_want *want);

/* What it can over this kind: set of enum perhaps_ability. */
unsigned combined_can(const struct outer *outer, const struct kind *kind);

/* Puts the outer filters around the plan of an inner one. */
int combined_wrap(const perhaps_want *want, const struct outer *outer, struct plan *plan);

/* Whether filters of that kind are planned by the rule of a foreign format. */
bool plan_has_rule(int kind);

/* How many of items, fpr and memory are given; PERHAPS_EINVAL if all are. */
int plan_fixed(const perhaps_want *want);

/* Rounds down to 16 significant bits, on which the libms of all machines agree: so images are
 * equal. */
double plan_without_noise(double x);

#endif
