#include "static/static_fpr.h"

#include "base/arith.h"
#include "base/error.h"
#include "static/parts.h"
#include "plan/composite_plan.h"

#include <math.h>
#include <string.h>

enum { A_GUESS = 1000000 }; /* keys to plan for when the want does not say */

static int check_want(const char *name, const perhaps_want *want) {
    int fixed = plan_fixed(want);
    if (fixed < 0) return fixed;
    if (want->fpr == 0 && want->bits_per_key == 0 && !want->bytes)
        return fail(PERHAPS_EINVAL, "too little is given: %s filters need fpr, or bits_per_key, or items and bytes",
                    name);
    if (want->fpr != 0 && want->bits_per_key != 0)
        return fail(PERHAPS_EINVAL, "%s filters take fpr or bits_per_key, not both", name);
    if (want->bytes && fixed < 2)
        return fail(PERHAPS_EINVAL, "too little is given: with bytes, %s filters need items (above 0) or fpr", name);
    return PERHAPS_OK;
}

/* Bytes that a layout takes for that many keys; 0 if no array is that large. */
static uint64_t length_for(const struct kind *kind, const struct fineness *fineness, uint64_t layout[LAYOUT_WORDS],
                           uint64_t keys) {
    const char *reason;
    uint64_t bits = parts_bits_for(keys), parts = UINT64_C(1) << bits;
    if (keys >> bits > UINT32_MAX) return 0;
    layout[PARTS_BITS] = bits;
    kind->solver->settle(layout, keys >> bits);
    layout[DATA_WORDS] = fineness->words(layout, parts, (keys + parts - 1) >> bits);
    return kind->payload_bytes(layout, &reason);
}

/* The coarsest step that keeps the false-positive rate with any number of keys: filters of one want
 * then have the same layout; 0 if none does. Rounded, so that the little that equal digests add
 * does not cost a step where the want is a power of two. */
static unsigned step_for_rate(const struct fineness *fineness, uint64_t layout[LAYOUT_WORDS], double of_digests,
                              double fpr) {
    unsigned low = 0, high = fineness->steps;
    fineness->set(layout, high);
    if (plan_without_noise(fineness->rate(layout, 0) + of_digests) > fpr) return 0;
    while (high - low > 1) {
        unsigned middle = low + (high - low) / 2;
        fineness->set(layout, middle);
        if (plan_without_noise(fineness->rate(layout, 0) + of_digests) <= fpr)
            high = middle;
        else
            low = middle;
    }
    return high;
}

/* The finest step that fits into the memory; 0 if none does. */
static unsigned step_for_bytes(const struct kind *kind, const struct fineness *fineness, uint64_t layout[LAYOUT_WORDS],
                               uint64_t keys, double bytes) {
    unsigned low = 0, high = fineness->steps + 1;
    while (high - low > 1) {
        unsigned middle = low + (high - low) / 2;
        fineness->set(layout, middle);
        uint64_t length = length_for(kind, fineness, layout, keys);
        if (length && (double)length <= bytes)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* The most keys that fit into the memory. */
static uint64_t keys_for_bytes(const struct kind *kind, const struct fineness *fineness, uint64_t layout[LAYOUT_WORDS],
                               uint64_t bytes) {
    uint64_t low = 0, high = UINT64_C(1) << 40;
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2, length = length_for(kind, fineness, layout, middle);
        if (length && length <= bytes)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static int none_fits(const char *name) {
    return fail(
        PERHAPS_ERANGE,
        "%s has no layout for this: the smallest rate is 2^-32, and memory must be enough for a bit a key and 200 "
        "bytes more",
        name);
}

int static_rule(const struct kind *kind, const struct fineness *fineness, const perhaps_want *want,
                const uint64_t start[LAYOUT_WORDS], struct level *level) {
    uint64_t *layout = level->layout, keys = want->items ? want->items : A_GUESS;
    int rc = check_want(kind->row.name, want);
    if (rc < 0) return rc;
    memcpy(layout, start, sizeof level->layout);
    double bytes = want->bytes ? (double)want->bytes : want->bits_per_key * (double)keys / 8;
    unsigned step = want->fpr != 0 ? step_for_rate(fineness, layout, plan_digest_fpr((double)keys), want->fpr)
                                   : step_for_bytes(kind, fineness, layout, keys, bytes);
    if (!step) return none_fits(kind->row.name);
    fineness->set(layout, step);
    if (want->fpr != 0 && want->bytes) keys = keys_for_bytes(kind, fineness, layout, want->bytes);
    level->capacity = keys;
    level->length = keys ? length_for(kind, fineness, layout, keys) : 0;
    level->fpr = plan_rate(kind, layout, keys);
    return level->length ? PERHAPS_OK : none_fits(kind->row.name);
}

void static_measure(const struct kind *kind, const struct fineness *fineness, const struct array *array,
                    struct measures *measures) {
    double keys = 0;
    for (uint64_t i = 0; i < UINT64_C(1) << array->layout[PARTS_BITS]; i++)
        keys += (double)entry_word(array, i, kind->solver->entry_words, PART_KEYS);
    double rate = fineness->rate(array->layout, (uint64_t)keys), bits = 64 * (double)array->layout[DATA_WORDS];
    *measures = (struct measures){.distinct = keys, .fpr = keys > 0 ? rate : 0};
    measures->fill = bits > 0 ? fmin(1, keys * log2(1 / rate) / bits) : 0;
}
