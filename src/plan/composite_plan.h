/* Plans of filters of filters: between plan.c, which plans single filters, and combined.c. */
#ifndef PERHAPS_PLAN_COMPOSITE_PLAN_H
#define PERHAPS_PLAN_COMPOSITE_PLAN_H

#include "plan/plan.h"

/* A composite filter around others: its kind, and how its level follows from that of its children. */
struct wrapper {
    const struct kind *kind;
    void (*wrap)(const perhaps_want *want, struct perhaps_plan *shown, struct level *level);
};

/* What stands around a filter, from the outermost. */
struct outer {
    struct wrapper wrapper[LEVELS_MAX - 1];
    unsigned count;
};

/* Finds what the want puts around its filters, and turns it into a want for one of those. */
int combined_peel(perhaps_want *want, struct outer *outer);

/* Why it makes no sense over a kind: a sentence with one %s for the name of `kind`; NULL if it does. */
struct refusal {
    const char *sentence;
    const struct kind *kind;
};
struct refusal combined_refusal(const struct outer *outer, const struct kind *kind, const perhaps_want *want);

/* What it can over this kind. */
unsigned combined_can(const struct outer *outer, const struct kind *kind);

/* Puts the outer filters around the plan of an inner one. */
int combined_wrap(const perhaps_want *want, const struct outer *outer, struct plan *plan);

/* Whether filters of that kind are planned by the rule of another program. */
bool plan_has_rule(int kind);

/* How many of items, fpr and memory are given; PERHAPS_EINVAL, with a sentence, if that is too much. */
int plan_fixed(const perhaps_want *want);

/* 16 significant bits, rounded down: what libms of different machines agree on, so that images do too. */
double plan_without_noise(double x);

#endif
