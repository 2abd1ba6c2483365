#include "foreign/foreign_fpr.h"

#include "base/error.h"
#include "base/bits.h"
#include "kind/bloom/bloom_layout.h"

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

int foreign_level(const struct kind *kind, const perhaps_want *want, const uint64_t layout[LAYOUT_WORDS],
                  struct level *level) {
    const char *reason;
    *level = (struct level){.kind = kind, .fpr = want->fpr, .capacity = want->items};
    memcpy(level->layout, layout, sizeof level->layout);
    level->length = kind->payload_bytes(level->layout, &reason);
    if (level->length) return PERHAPS_OK;
    return fail(PERHAPS_ERANGE, "%s has no filter of that size and rate", kind->row.name);
}

int foreign_rule_of_guava(const struct kind *kind, const perhaps_want *want, uint64_t last_word, struct level *level) {
    int rc = foreign_check_want(want, kind->row.name);
    if (rc < 0) return rc;
    double n = (double)want->items, m = floor(-n * log(want->fpr) / (log(2) * log(2)));
    double words = ceil(m / 64), k = fmax(1, floor(m / n * log(2) + 0.5));
    uint64_t layout[LAYOUT_WORDS] = {[BLOOM_CELLS] = words < 0x1p31 ? (uint64_t)words * 64 : 0,
                                     [BLOOM_HASHES] = (uint64_t)k,
                                     [BLOOM_OWN] = last_word};
    return foreign_level(kind, want, layout, level);
}

void foreign_measure(const struct array *array, struct measures *sight) {
    bloom_estimate(array->layout, bits_count(array->bytes, array->length), sight);
}

void plan_guess(const struct kind *kind, const uint64_t layout[LAYOUT_WORDS], uint64_t *capacity, double *fpr) {
    const char *reason;
    double bits = 8 * (double)kind->payload_bytes(layout, &reason), hashes = kind->model->hashes(layout);
    if (*capacity == 0) *capacity = (uint64_t)fmax(1, fmin(floor(bits * log(2) / hashes), 0x1p62));
    if (*fpr == 0) *fpr = (kind->model->fpr ? kind->model->fpr : bloom_fpr)(layout, *capacity);
}
