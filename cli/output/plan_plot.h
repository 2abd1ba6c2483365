/* perhaps plan --plot: bits per key against the false-positive rate, for every kind. */
#ifndef CLI_OUTPUT_PLAN_PLOT_H
#define CLI_OUTPUT_PLAN_PLOT_H

#include "options/options.h"

#include <perhaps.h>

/* Can the picture be drawn? FINE, or TROUBLE after having said why not. */
int plan_plot_ready(const struct options *options);

/* Draws what `want`, which says how many keys there are, takes at all rates. */
int plan_plot(const perhaps_want *want, const struct options *options);

#endif
