/*
 * The plans of Guava's, Spark's and DCSO's filters: not what is best, but what those programs make,
 * in the same order of operations, so that the numbers are equal to the last bit.
 */
#include "foreign/foreign_fpr.h"

#include "base/error.h"
#include "base/bits.h"
#include "foreign/foreign_layout.h"

#include <math.h>
#include <string.h>

int foreign_check_unused(const perhaps_want *want, const char *name) {
    if (want->bits_per_key == 0 && !want->bytes && !want->hashes && !want->lines) return PERHAPS_OK;
    return fail(PERHAPS_EINVAL, "memory, hashes and lines of %s filters follow from the rest: do not give them", name);
}

int foreign_check_want(const perhaps_want *want, const char *name) {
    int rc = foreign_check_unused(want, name);
    if (rc < 0) return rc;
    if (!want->items || want->fpr == 0)
        return fail(PERHAPS_EINVAL, "too little is given: %s filters need items (above 0) and fpr", name);
    return PERHAPS_OK;
}

/* A level of this layout, if the kind can have it. */
static int level_of(const perhaps_want *want, const uint64_t layout[LAYOUT_WORDS], struct level *level) {
    const char *reason;
    level->fpr = want->fpr;
    level->capacity = want->items;
    memcpy(level->layout, layout, sizeof level->layout);
    level->length = level->kind->payload_bytes(level->layout, &reason);
    if (level->length) return PERHAPS_OK;
    return fail(PERHAPS_ERANGE, "%s has no filter of that size and rate", level->kind->row.name);
}

/* The rule of Guava, which Spark took over: -n·ln p / ln²2 bits, rounded down, from which the
 * number of hashes follows; then rounded up to whole words. `own` is the kind's own word. */
static int rule_of_words(const perhaps_want *want, struct level *level, uint64_t own) {
    int rc = foreign_check_want(want, level->kind->row.name);
    if (rc < 0) return rc;
    double n = (double)want->items, m = floor(-n * log(want->fpr) / (log(2) * log(2)));
    double words = ceil(m / 64), k = fmax(1, floor(m / n * log(2) + 0.5));
    uint64_t layout[LAYOUT_WORDS] = {
        [BLOOM_CELLS] = words < 0x1p31 ? (uint64_t)words * 64 : 0, [BLOOM_HASHES] = (uint64_t)k, [BLOOM_OWN] = own};
    return level_of(want, layout, level);
}

/* New filters have the newer strategy, as Guava's. */
static int rule_of_guava(const perhaps_want *want, struct level *level) {
    return rule_of_words(want, level, GUAVA_MITZ_64);
}

static int rule_of_spark(const perhaps_want *want, struct level *level) {
    return rule_of_words(want, level, 0);
}

/* m = |ceil(n·ln p / ln²2)| bits and k = ceil(ln 2 · m / n) hashes. */
static int rule_of_dcso(const perhaps_want *want, struct level *level) {
    int rc = foreign_check_want(want, "dcso");
    if (rc < 0) return rc;
    double n = (double)want->items, m = fabs(ceil(n * log(want->fpr) / pow(log(2), 2)));
    uint64_t layout[LAYOUT_WORDS] = {[BLOOM_CELLS] = m < 0x1p62 ? (uint64_t)m : 0,
                                     [BLOOM_HASHES] = (uint64_t)ceil(log(2) * m / n),
                                     [DCSO_FLAGS] = DCSO_VERSION};
    return level_of(want, layout, level);
}

static void measure(const struct array *array, struct measures *measures) {
    bloom_estimate(array->layout, bits_count(array->bytes, array->length), measures);
}

#define FOREIGN_MODEL(rule_name)                                                                                       \
    {                                                                                                                  \
        .hashes = bloom_hashes, .cache_lines = bloom_hashes, .measure = measure, .rule = (rule_name),                  \
        .occupancy = &bloom_occupancy                                                                                  \
    }
const struct model model_guava = FOREIGN_MODEL(rule_of_guava), model_spark = FOREIGN_MODEL(rule_of_spark),
                   model_dcso = FOREIGN_MODEL(rule_of_dcso);

void plan_guess(const struct kind *kind, const uint64_t layout[LAYOUT_WORDS], uint64_t *capacity, double *fpr) {
    const char *reason;
    double bits = 8 * (double)kind->payload_bytes(layout, &reason), hashes = kind->model->hashes(layout);
    if (*capacity == 0) *capacity = (uint64_t)fmax(1, fmin(floor(bits * log(2) / hashes), 0x1p62));
    if (*fpr == 0) *fpr = (kind->model->fpr ? kind->model->fpr : bloom_fpr)(layout, *capacity);
}
