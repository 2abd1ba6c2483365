/*
 * The false-positive rate of a counting Bloom filter is that of a classic one with as many bits as
 * it has counters: a query tests only whether they are zero. Stuck counters add to it after
 * removes; they are measured like any other.
 */
#include "kind/bloom/bloom_fpr.h"
#include "kind/counting/counting_cells.h"
#include "kind/counting/counting_layout.h"

static bool variant(unsigned number, const perhaps_want *want, uint64_t layout[LAYOUT_WORDS]) {
    return bloom_variant(number, want, COUNTING_BITS, layout);
}

static bool resize(uint64_t layout[LAYOUT_WORDS], uint64_t bits) {
    layout[COUNTING_COUNTERS] = bits / COUNTING_BITS;
    return layout[COUNTING_COUNTERS] > 0;
}

/* Every copy adds k to the sum of the counters, as long as none of them sticks. */
static void measure(const struct array *array, struct measures *measures) {
    struct counters_tally tally = counters_count(array->bytes, array->length);
    bloom_estimate(array->layout, tally.used, measures);
    measures->stuck = tally.stuck;
    measures->copies = (double)tally.sum / (double)array->layout[COUNTING_HASHES];
}

static void count(const struct array *a, const struct array *b, struct used_cells *used) {
    *used = (struct used_cells){.cells = (double)a->layout[COUNTING_COUNTERS]};
    for (uint64_t i = 0; i < a->length; i += 8) {
        uint64_t in_a = counters_used(load64(a->bytes + i)), in_b = counters_used(load64(b->bytes + i));
        used->a += (uint64_t)__builtin_popcountll(in_a);
        used->b += (uint64_t)__builtin_popcountll(in_b);
        used->either += (uint64_t)__builtin_popcountll(in_a | in_b);
    }
}

const struct model model_counting = {
    .fpr = bloom_fpr,
    .hashes = bloom_hashes,
    .cache_lines = bloom_hashes,
    .measure = measure,
    .search =
        &(const struct layout_search){
            .variants = BLOOM_VARIANTS, .variant = variant, .step = bloom_step, .resize = resize},
    .occupancy = &(const struct occupancy){.count = count, .keys = bloom_keys, .covariance = bloom_covariance},
};
