/*
 * The plans of RedisBloom's filters: not what is best, but what it would make.
 *
 * Bloom: bits per entry are -ln(e) / ln(2)², where e is the layer's error; bits are entries times that, rounded down, and then up to
 * whole words; hashes are ln(2) times that, rounded up. The constants have as many digits as there, and the order of the
 * operations is the same, so that the numbers are equal to the last bit. A layer over another has `growth` times its entries
 * and half its error; the first has half of the error that was asked for, and a filter that does not scale all of it.
 *
 * Cuckoo: capacity over bucket size, rounded down, and then up to a power of two. It has no choice of rates: a stranger
 * compares its byte with 2·b others in each sub-filter.
 */
#include "base/arith.h"
#include "base/error.h"
#include "foreign/redis_layout.h"
#include "kind/bloom/bloom_fpr.h"
#include "plan/composite_plan.h"
#include "foreign/redis_fpr.h"
#include "base/bits.h"

#include <math.h>

static const double ln2 = 0.693147180559945, ln2_squared = 0.480453013918201;

/* ---- Bloom ---- */

static int no_such_layer(void) {
    return fail(PERHAPS_ERANGE, "redis_bloom has no layer of that size and rate");
}

/* Old versions: the next power of two, and as many more entries as then have room. */
static bool round_bits(double exact, double bpe, uint64_t *entries, struct level *level, uint64_t *bits) {
    double n2 = logb(exact) + 1;
    if (!(n2 >= 0 && n2 <= 62)) return false;
    level->layout[BLOOM_N2] = (uint64_t)n2;
    *bits = UINT64_C(1) << level->layout[BLOOM_N2];
    uint64_t spare = (uint64_t)((double)*bits - exact);
    return add_fits(*entries, (uint64_t)((double)spare / bpe), entries);
}

static int layer_for(uint64_t entries, double error, uint64_t options, struct level *level) {
    double bpe = error > 0 && error < 1 ? -(log(error) / ln2_squared) : 0, exact = (double)entries * bpe;
    uint64_t bits;
    if (!(bpe > 0 && exact < 0x1p62) || options & OPTION_ENTS_IS_BITS) return no_such_layer();
    *level = (struct level){.kind = &kind_redis_bloom, .fpr = error};
    if (options & OPTION_NOROUND)
        bits = (uint64_t)exact;
    else if (!round_bits(exact, bpe, &entries, level, &bits))
        return no_such_layer();
    level->capacity = entries;
    level->layout[BLOOM_BITS] = bits ? (bits + 63) / 64 * 64 : 64;
    level->layout[BLOOM_HASHES] = (uint64_t)ceil(ln2 * bpe);
    memcpy(&level->layout[BLOOM_BPE], &bpe, sizeof bpe);
    level->layout[BLOOM_OPTIONS] = options;
    const char *reason;
    level->length = kind_redis_bloom.payload_bytes(level->layout, &reason);
    return level->length ? PERHAPS_OK : no_such_layer();
}

static int check_unused(const perhaps_want *want, const char *name) {
    if (want->bits_per_key == 0 && !want->bytes && !want->hashes && !want->lines) return PERHAPS_OK;
    return fail(PERHAPS_EINVAL, "memory, hashes and lines of %s filters follow from the rest: do not give them", name);
}

/* What is asked for not to grow has growth 0, as EXPANSION 0 makes it; else it is noted, though it means nothing. */
static uint64_t growth_without_layers(const perhaps_want *want) {
    if (want->grow == PERHAPS_GROW_NEVER) return 0;
    return want->growth == 0 ? 2 : (uint64_t)want->growth;
}

static int bloom_rule(const perhaps_want *want, struct level *level) {
    int rc = check_unused(want, "redis_bloom");
    if (rc < 0) return rc;
    if (!want->items || want->fpr == 0)
        return fail(PERHAPS_EINVAL, "too little is given: redis_bloom filters need items (above 0) and fpr");
    uint64_t options = OPTION_NOROUND | OPTION_FORCE64;
    if (want->grow == PERHAPS_GROW_LAYERS) return layer_for(want->items, want->fpr * 0.5, options, level);
    options |= OPTION_NO_SCALING | growth_without_layers(want) << 32;
    return layer_for(want->items, want->fpr, options, level);
}

static int bloom_next_layer(const struct layers *layers, struct level *level) {
    uint64_t entries;
    if (layers->layout[BLOOM_OPTIONS] & OPTION_NO_SCALING)
        return fail(PERHAPS_EFULL, "it was made not to grow; nothing was added");
    if (!mul_fits(layers->newest, layers->growth / GROWTH_ONE, &entries)) return no_such_layer();
    return layer_for(entries, layers->newest_fpr * 0.5, layers->layout[BLOOM_OPTIONS], level);
}

/* One that does not scale is over and under no other. */
static bool bloom_nested(const uint64_t older[LAYOUT_WORDS], const uint64_t newer[LAYOUT_WORDS]) {
    return older[BLOOM_OPTIONS] == newer[BLOOM_OPTIONS] && !(older[BLOOM_OPTIONS] & OPTION_NO_SCALING);
}

double redis_error_of_chain(double error_of_first) {
    return fmin(2 * error_of_first, 1);
}

static void bloom_look(const struct array *array, struct sight *sight) {
    uint64_t layout[LAYOUT_WORDS] = {array->layout[BLOOM_BITS], array->layout[BLOOM_HASHES]};
    if (array->layout[BLOOM_N2]) layout[BLOOM_BITS] = UINT64_C(1) << array->layout[BLOOM_N2];
    bloom_estimate(layout, bits_count(array->bytes, array->length), sight);
}

extern const struct model model_redis_bloom;

const struct model model_redis_bloom = {
    .rule = bloom_rule,
    .next_layer = bloom_next_layer,
    .nested = bloom_nested,
    .hashes = bloom_hashes,
    .lines = bloom_hashes,
    .look = bloom_look,
};

/* ---- cuckoo ---- */

static uint64_t next_power_of_two(uint64_t x) {
    uint64_t power = 1;
    while (power < x && power <= SLOTS_MAX) power *= 2;
    return power;
}

/* That of a stranger in a sub-filter whose slots are used to this share. */
static double cuckoo_rate(const uint64_t layout[LAYOUT_WORDS], double fill) {
    return 1 - pow(1 - fill / 255, 2 * (double)layout[CUCKOO_BUCKET_SIZE]);
}

double redis_cuckoo_rate(const uint64_t layout[LAYOUT_WORDS]) {
    return plan_without_noise(cuckoo_rate(layout, 1));
}

static int check_cuckoo(const perhaps_want *want) {
    int rc = check_unused(want, "redis_cuckoo");
    if (rc < 0) return rc;
    if (!want->items || want->fpr != 0)
        return fail(PERHAPS_EINVAL, "redis_cuckoo filters need items (above 0), and have no choice of fpr");
    if (want->bucket > BUCKET_SIZE_MAX || want->steps > STEPS_MAX)
        return fail(PERHAPS_EINVAL, "bucket may be 1 to %d, and steps 1 to %d", BUCKET_SIZE_MAX, STEPS_MAX);
    return PERHAPS_OK;
}

static int cuckoo_rule(const perhaps_want *want, struct level *level) {
    int rc = check_cuckoo(want);
    if (rc < 0) return rc;
    uint64_t size = want->bucket ? want->bucket : 2, steps = want->steps ? want->steps : 20;
    bool fixed = want->grow == PERHAPS_GROW_NEVER;
    uint64_t *layout = level->layout;
    layout[CUCKOO_BUCKETS] = next_power_of_two(want->items / size);
    layout[CUCKOO_BUCKET_SIZE] = size;
    layout[CUCKOO_EXPANSION] = fixed ? 0 : next_power_of_two((uint64_t)want->growth);
    layout[CUCKOO_FILTERS] = 1;
    layout[CUCKOO_LIMITS] = steps | FILTERS_USUAL << 16;
    level->capacity = cuckoo_slots(layout, 0);
    level->fpr = redis_cuckoo_rate(layout);
    return PERHAPS_OK;
}

static unsigned cuckoo_hashes(const uint64_t layout[LAYOUT_WORDS]) {
    (void)layout;
    return 1;
}

static unsigned cuckoo_lines(const uint64_t layout[LAYOUT_WORDS]) {
    return 2 * (unsigned)layout[CUCKOO_FILTERS];
}

static void cuckoo_look(const struct array *array, struct sight *sight) {
    const uint64_t *layout = array->layout;
    uint64_t all = 0;
    double not_found = 1;
    for (uint64_t i = 0; i < cuckoo_in_use(array); i++) {
        uint64_t slots = cuckoo_slots(layout, i), used = cuckoo_used(array->bytes + cuckoo_slots_of(layout, i), slots);
        not_found *= 1 - cuckoo_rate(layout, (double)used / (double)slots);
        all += used;
    }
    sight->fill = (double)all / (double)cuckoo_slots_of(layout, layout[CUCKOO_FILTERS]);
    sight->distinct = (double)all;
    sight->fpr = 1 - not_found;
}

extern const struct model model_redis_cuckoo;

const struct model model_redis_cuckoo = {
    .rule = cuckoo_rule,
    .hashes = cuckoo_hashes,
    .lines = cuckoo_lines,
    .look = cuckoo_look,
};
