/*
 * The plan of a table: it is for as many keys as fill nine tenths of its slots. It can be filled to
 * 94 %. Its only false positives are equal digests, which search.c adds.
 */
#include "plan/plan.h"
#include "base/endian.h"
#include "kind/table/table_layout.h"

#include <math.h>

enum { ZERO_BITS = 64 }; /* a word stands behind the buckets */

static bool variant(unsigned number, const perhaps_want *want, uint64_t layout[LAYOUT_WORDS]) {
    (void)number;
    (void)layout;
    return want->hashes == 0 && want->lines != 1;
}

/* The smallest table. */
static uint64_t step(const uint64_t layout[LAYOUT_WORDS]) {
    (void)layout;
    return 8 * TABLE_BUCKET_BYTES + ZERO_BITS;
}

static bool resize(uint64_t layout[LAYOUT_WORDS], uint64_t bits) {
    if (bits < 8 * TABLE_BUCKET_BYTES + ZERO_BITS) return false;
    layout[TABLE_BUCKETS] = (bits - ZERO_BITS) / (8 * TABLE_BUCKET_BYTES);
    return true;
}

static double fpr(const uint64_t layout[LAYOUT_WORDS], uint64_t items) {
    return items <= table_capacity(layout[TABLE_BUCKETS], layout[TABLE_STASH]) ? 0 : INFINITY;
}

static unsigned two(const uint64_t layout[LAYOUT_WORDS]) {
    (void)layout;
    return 2;
}

/* Of n words from this one on, those that are not 0. */
static uint64_t count_words(const struct array *array, uint64_t first, uint64_t n) {
    uint64_t used = 0;
    for (uint64_t i = first; i < first + n; i++) used += load64(array->bytes + 8 * i) != 0;
    return used;
}

static void measure(const struct array *array, struct measures *measures) {
    uint64_t slots = array->layout[TABLE_BUCKETS] * TABLE_SLOTS, cells = array->layout[TABLE_STASH];
    uint64_t zero = count_words(array, slots, 1); /* the digest 0 */
    measures->stashed = count_words(array, slots + 1, cells);
    uint64_t used = count_words(array, 0, slots) + measures->stashed;
    measures->fill = (double)used / (double)(slots + cells);
    measures->distinct = measures->copies = (double)(used + zero);
}

/* The next digests of a table, at most n; how many. */
static size_t next_digests(const struct array *array, uint64_t *at, uint64_t *digests, size_t n) {
    size_t found = 0;
    while (found < n && kind_table.next(array, at, &digests[found])) found++;
    return found;
}

/* Looks up each digest of the one in the other. */
static void count(const struct array *a, const struct array *b, struct used_cells *used) {
    enum { BATCH = 1024 };
    uint64_t digests[BATCH], at = 0, both = 0;
    uint8_t answers[BATCH];
    struct measures of_b;
    *used = (struct used_cells){0};
    for (size_t n = BATCH; n == BATCH;) {
        n = next_digests(a, &at, digests, BATCH);
        kind_table.ops(b->layout, b->isa, false)->contains_many(b, digests, n, answers, (const char *)digests);
        for (size_t i = 0; i < n; i++) both += answers[i];
        used->a += n;
    }
    measure(b, &of_b);
    used->b = (uint64_t)of_b.distinct;
    /* A damaged table may have digests twice. */
    used->either = used->a + (used->b > both ? used->b - both : 0);
}

const struct model model_table = {
    .fpr = fpr,
    .hashes = two,
    .cache_lines = two,
    .measure = measure,
    .exact = true,
    .lossy = true,
    .search = &(const struct layout_search){.variants = 1, .variant = variant, .step = step, .resize = resize},
    .occupancy = &(const struct occupancy){.count = count},
};
