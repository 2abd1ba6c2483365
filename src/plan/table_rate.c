/*
 * The plan of a table: it is for as many keys as fill nine tenths of its slots, and makes no mistakes but those of
 * equal digests, which plan.c adds. It can be filled to 94 %.
 */
#include "plan.h"
#include "base/endian.h"
#include "kind/table_capacity.h"

#include <math.h>

enum { BUCKETS };
enum { SLOTS = 8, BUCKET_BITS = 512, ZERO_BITS = 64 }; /* a word stands behind the buckets */

static bool shape(unsigned number, const perhaps_want *want, uint64_t layout[LAYOUT_WORDS]) {
    (void)number;
    (void)layout;
    return want->hashes == 0 && want->lines != 1;
}

/* The smallest table. */
static uint64_t step(const uint64_t layout[LAYOUT_WORDS]) {
    (void)layout;
    return BUCKET_BITS + ZERO_BITS;
}

static bool resize(uint64_t layout[LAYOUT_WORDS], uint64_t bits) {
    if (bits < BUCKET_BITS + ZERO_BITS) return false;
    layout[BUCKETS] = (bits - ZERO_BITS) / BUCKET_BITS;
    return true;
}

static double fpr(const uint64_t layout[LAYOUT_WORDS], uint64_t items) {
    return items <= table_capacity(layout[BUCKETS]) ? 0 : INFINITY;
}

static unsigned two(const uint64_t layout[LAYOUT_WORDS]) {
    (void)layout;
    return 2;
}

static void look(const struct array *array, struct sight *sight) {
    uint64_t slots = array->layout[BUCKETS] * SLOTS, used = 0;
    for (uint64_t i = 0; i < slots; i++) used += load64(array->bytes + 8 * i) != 0;
    sight->fill = (double)used / (double)slots;
    used += load64(array->bytes + 8 * slots) != 0; /* the digest 0 */
    sight->distinct = sight->copies = (double)used;
}

extern const struct model model_table;

const struct model model_table = {
    .shapes = 1,
    .shape = shape,
    .step = step,
    .resize = resize,
    .fpr = fpr,
    .exact = true,
    .lossy = true,
    .hashes = two,
    .lines = two,
    .look = look,
};
