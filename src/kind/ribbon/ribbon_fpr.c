/* The plan of a ribbon filter: c columns make a rate of 2^-c, and a fraction of blocks with one
 * more halves it for their share of keys. */
#include "base/error.h"
#include "kind/ribbon/ribbon_layout.h"
#include "static/static_fpr.h"

#include <math.h>

static void set(uint64_t layout[LAYOUT_WORDS], unsigned step) {
    layout[RIBBON_COLUMNS] = RIBBON_COLUMNS_ONE - 1 + step;
}

/* Of few blocks, the share that has one column more may be well above the fraction. */
static double rate(const uint64_t layout[LAYOUT_WORDS], uint64_t keys) {
    uint64_t fraction = layout[RIBBON_COLUMNS] % RIBBON_COLUMNS_ONE,
             blocks = ribbon_start_blocks(keys >> layout[PARTS_BITS]);
    double wide =
        blocks ? (double)ribbon_wide_blocks(blocks, fraction) / (double)blocks : (double)fraction / RIBBON_COLUMNS_ONE;
    return ldexp(1 - wide / 2, -(int)ribbon_columns(layout));
}

static const struct fineness fineness = {(RIBBON_COLUMNS_MAX - 1) * RIBBON_COLUMNS_ONE + 1, set, rate,
                                         ribbon_words_for};

/* The lines of two blocks next to each other, wherever they begin. */
static unsigned lines(const uint64_t layout[LAYOUT_WORDS]) {
    return (2 * ribbon_columns_max(layout) + 6) / 8 + 1;
}

static int rule(const perhaps_want *want, struct level *level) {
    uint64_t start[LAYOUT_WORDS] = {0};
    if (want->hashes) return fail(PERHAPS_ERANGE, "ribbon filters have no choice of hashes: leave them open");
    int rc = static_rule(&kind_ribbon, &fineness, want, start, level);
    if (rc == PERHAPS_OK && want->lines && want->lines < lines(level->layout))
        return fail(PERHAPS_ERANGE, "a ribbon filter with this rate looks at up to %u lines", lines(level->layout));
    return rc;
}

static unsigned hashes(const uint64_t layout[LAYOUT_WORDS]) {
    (void)layout;
    return 1;
}

static void measure(const struct array *array, struct measures *measures) {
    static_measure(&kind_ribbon, &fineness, array, measures);
}

const struct model model_ribbon = {
    .fpr = BEYOND_QUERIES(rate),
    .hashes = hashes,
    .cache_lines = lines,
    .measure = BEYOND_QUERIES(measure),
    .rule = BEYOND_QUERIES(rule),
};
