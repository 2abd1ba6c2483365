/* A bitmap has no false positives: its items are the integers of its range, with a bit for each. */
#include "plan/plan.h"
#include "base/bits.h"
#include "kind/bitmap/bitmap_layout.h"

#include <math.h>

static bool variant(unsigned number, const perhaps_want *want, uint64_t layout[LAYOUT_WORDS]) {
    (void)number, (void)layout;
    return want->hashes <= 1;
}

static uint64_t step(const uint64_t layout[LAYOUT_WORDS]) {
    (void)layout;
    return 1;
}

static bool resize(uint64_t layout[LAYOUT_WORDS], uint64_t bits) {
    layout[BITMAP_RANGE] = bits;
    return bits >= 1 && bits <= BITMAP_RANGE_MAX;
}

static double fpr(const uint64_t layout[LAYOUT_WORDS], uint64_t items) {
    return items <= layout[BITMAP_RANGE] ? 0 : INFINITY;
}

static unsigned one(const uint64_t layout[LAYOUT_WORDS]) {
    (void)layout;
    return 1;
}

static void measure(const struct array *array, struct measures *measures) {
    double in_it = (double)bits_count(array->bytes, array->length);
    measures->fill = fmin(in_it / (double)array->layout[BITMAP_RANGE], 1);
    measures->distinct = measures->copies = in_it;
}

const struct model model_bitmap = {
    .fpr = fpr,
    .hashes = one,
    .cache_lines = one,
    .measure = measure,
    .exact = true,
    .search = &(const struct layout_search){.variants = 1, .variant = variant, .step = step, .resize = resize},
};
