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

/* The shorter one has none of the integers beyond its range. */
static void count(const struct array *a, const struct array *b, struct used_cells *used) {
    uint64_t shorter = a->length < b->length ? a->length : b->length;
    struct array a_begin = *a, b_begin = *b;
    a_begin.length = b_begin.length = shorter;
    *used = plan_used_bits(&a_begin, &b_begin, 0);
    uint64_t a_rest = bits_count(a->bytes + shorter, a->length - shorter);
    uint64_t b_rest = bits_count(b->bytes + shorter, b->length - shorter);
    used->a += a_rest;
    used->b += b_rest;
    used->either += a_rest + b_rest;
}

const struct model model_bitmap = {
    .fpr = fpr,
    .hashes = one,
    .cache_lines = one,
    .measure = measure,
    .exact = true,
    .search = &(const struct layout_search){.variants = 1, .variant = variant, .step = step, .resize = resize},
    .occupancy = &(const struct occupancy){.count = count},
};
