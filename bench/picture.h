/* Pictures drawn by gnuplot: of the benchmark, and of plans (cli/output/plan_plot.c). A picture is
 * SVG, appears complete or not at all, and takes the place of an earlier file only if `replace` is
 * set. */
#ifndef PERHAPS_PICTURE_H
#define PERHAPS_PICTURE_H

#include <stdio.h>

/* Can there be a picture at `path`? To be called before long work: it would be a pity to have
 * waited for nothing. NULL, or why not. */
const char *picture_ready(const char *path, int replace);

/* A stream for gnuplot's commands, which begin with the style that all pictures share: this many
 * pixels, white behind them, so that it can be read on dark pages too. NULL with errno. */
FILE *picture_script(unsigned width, unsigned height);

/* Colour number `i` for gnuplot: safe for colour-blind people, dark enough for text on white. */
const char *picture_colour(unsigned i);

/* Has gnuplot draw the script, and ends it. `title` has no characters that mean something in XML.
 * NULL, or why there is no picture. What is wrong with the script gnuplot has then said on
 * stderr. */
const char *picture_draw(FILE *script, const char *title, const char *path, int replace);

#endif
