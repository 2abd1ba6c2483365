/*
 * The plans of RedisBloom's Bloom filters: not what is best, but what RedisBloom makes.
 *
 * Bits per entry are -ln(e) / ln(2)², where e is the layer's error rate. Bits are entries times
 * that, rounded down, and then up to whole words. Hashes are ln(2) times that, rounded up. The
 * constants and the order of operations are the same as there, so that the numbers are equal to the
 * last bit. The first layer has half of the wanted error rate, each further one `growth` times the
 * entries and half the error rate. A filter that does not scale has all of the wanted rate.
 */
#include "base/arith.h"
#include "base/bits.h"
#include "base/error.h"
#include "foreign/foreign_fpr.h"
#include "foreign/redis_bloom/redis_bloom_layout.h"
#include "plan/composite_plan.h"

#include <math.h>
#include <string.h>

static const double ln2 = 0.693147180559945, ln2_squared = 0.480453013918201;

static int no_such_layer(void) {
    return fail(PERHAPS_ERANGE, "redis_bloom has no layer of that size and rate");
}

/* Old versions: bits are the next power of two, and the entries that then fit are added. */
static bool round_bits(double exact, double bpe, uint64_t *entries, struct level *level, uint64_t *bits) {
    double n2 = logb(exact) + 1;
    if (!(n2 >= 0 && n2 <= 62)) return false;
    level->layout[REDIS_BLOOM_N2] = (uint64_t)n2;
    *bits = UINT64_C(1) << level->layout[REDIS_BLOOM_N2];
    uint64_t spare = (uint64_t)((double)*bits - exact);
    return add_fits(*entries, (uint64_t)((double)spare / bpe), entries);
}

static int layer_for(uint64_t entries, double error, uint64_t options, struct level *level) {
    double bpe = error > 0 && error < 1 ? -(log(error) / ln2_squared) : 0, exact = (double)entries * bpe;
    uint64_t bits;
    if (!(bpe > 0 && exact < 0x1p62) || options & REDIS_OPTION_ENTS_IS_BITS) return no_such_layer();
    *level = (struct level){.kind = &kind_redis_bloom, .fpr = error};
    if (options & REDIS_OPTION_NOROUND)
        bits = (uint64_t)exact;
    else if (!round_bits(exact, bpe, &entries, level, &bits))
        return no_such_layer();
    level->capacity = entries;
    level->layout[REDIS_BLOOM_BITS] = bits ? (bits + 63) / 64 * 64 : 64;
    level->layout[REDIS_BLOOM_HASHES] = (uint64_t)ceil(ln2 * bpe);
    memcpy(&level->layout[REDIS_BLOOM_BPE], &bpe, sizeof bpe);
    level->layout[REDIS_BLOOM_OPTIONS] = options;
    const char *reason;
    level->length = kind_redis_bloom.payload_bytes(level->layout, &reason);
    return level->length ? PERHAPS_OK : no_such_layer();
}

/* PERHAPS_GROW_NEVER has growth 0, as EXPANSION 0 makes it; else the growth is stored, though
 * unused. */
static uint64_t growth_without_layers(const perhaps_want *want) {
    if (want->grow == PERHAPS_GROW_NEVER) return 0;
    return want->growth == 0 ? 2 : (uint64_t)want->growth;
}

static int rule(const perhaps_want *want, struct level *level) {
    int rc = foreign_check_want(want, "redis_bloom");
    if (rc < 0) return rc;
    uint64_t options = REDIS_OPTION_NOROUND | REDIS_OPTION_FORCE64;
    if (want->grow == PERHAPS_GROW_LAYERS) return layer_for(want->items, want->fpr * 0.5, options, level);
    options |= REDIS_OPTION_NO_SCALING | growth_without_layers(want) << 32;
    return layer_for(want->items, want->fpr, options, level);
}

static int next_layer(const struct layers *layers, struct level *level) {
    uint64_t entries;
    if (layers->layout[REDIS_BLOOM_OPTIONS] & REDIS_OPTION_NO_SCALING)
        return fail(PERHAPS_EFULL, "it was made not to grow; nothing was added");
    if (!mul_fits(layers->newest, layers->growth / GROWTH_ONE, &entries)) return no_such_layer();
    return layer_for(entries, layers->newest_fpr * 0.5, layers->layout[REDIS_BLOOM_OPTIONS], level);
}

/* A filter that does not scale is not a layer. */
static bool nested(const uint64_t older[LAYOUT_WORDS], const uint64_t newer[LAYOUT_WORDS]) {
    return older[REDIS_BLOOM_OPTIONS] == newer[REDIS_BLOOM_OPTIONS] &&
           !(older[REDIS_BLOOM_OPTIONS] & REDIS_OPTION_NO_SCALING);
}

double redis_error_of_chain(double error_of_first) {
    return fmin(2 * error_of_first, 1);
}

/* The layout of a Bloom filter of as many bits as places reach. */
struct layer_reached {
    uint64_t layout[LAYOUT_WORDS];
};

static struct layer_reached reached_of(const uint64_t layout[LAYOUT_WORDS]) {
    uint64_t n2 = layout[REDIS_BLOOM_N2], bits = n2 ? UINT64_C(1) << n2 : layout[REDIS_BLOOM_BITS];
    return (struct layer_reached){{[BLOOM_CELLS] = bits, [BLOOM_HASHES] = layout[REDIS_BLOOM_HASHES]}};
}

static void measure(const struct array *array, struct measures *measures) {
    bloom_estimate(reached_of(array->layout).layout, bits_count(array->bytes, array->length), measures);
}

static void count(const struct array *a, const struct array *b, struct used_cells *used) {
    *used = plan_used_bits(a, b, (double)reached_of(a->layout).layout[BLOOM_CELLS]);
}

static double keys(const uint64_t layout[LAYOUT_WORDS], double used) {
    return bloom_keys(reached_of(layout).layout, used);
}

static double covariance(const uint64_t layout[LAYOUT_WORDS], double common) {
    return bloom_covariance(reached_of(layout).layout, common);
}

const struct model model_redis_bloom = {
    .hashes = bloom_hashes,
    .cache_lines = bloom_hashes,
    .measure = measure,
    .rule = rule,
    .layering = &(const struct layering){.nested = nested, .next_layer = next_layer},
    .occupancy = &(const struct occupancy){.count = count, .keys = keys, .covariance = covariance},
};
