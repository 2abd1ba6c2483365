/*
 * The plans of RedisBloom's cuckoo filters: not what is best, but what RedisBloom makes.
 *
 * The number of buckets is the capacity over the bucket size, rounded down, and then up to a power
 * of two. There is no choice of false-positive rates: a non-member compares its byte with 2·b
 * others in each sub-filter.
 */
#include "base/error.h"
#include "foreign/foreign_fpr.h"
#include "foreign/redis_cuckoo/redis_cuckoo_layout.h"
#include "plan/composite_plan.h"

#include <math.h>

static uint64_t next_power_of_two(uint64_t x) {
    uint64_t power = 1;
    while (power < x && power <= REDIS_CUCKOO_SLOTS_MAX) power *= 2;
    return power;
}

/* The false-positive rate of a sub-filter at this fill. */
static double fpr_at(const uint64_t layout[LAYOUT_WORDS], double fill) {
    return 1 - pow(1 - fill / 255, 2 * (double)layout[REDIS_CUCKOO_BUCKET_SIZE]);
}

double redis_cuckoo_fpr(const uint64_t layout[LAYOUT_WORDS]) {
    return plan_without_noise(fpr_at(layout, 1));
}

static int check_want(const perhaps_want *want) {
    int rc = foreign_check_unused(want, "redis_cuckoo");
    if (rc < 0) return rc;
    if (!want->items || want->fpr != 0)
        return fail(PERHAPS_EINVAL, "redis_cuckoo filters need items (above 0), and have no choice of fpr");
    if (want->bucket > REDIS_CUCKOO_BUCKET_SIZE_MAX || want->steps > REDIS_CUCKOO_STEPS_MAX)
        return fail(PERHAPS_EINVAL, "bucket may be 1 to %d, and steps 1 to %d", REDIS_CUCKOO_BUCKET_SIZE_MAX,
                    REDIS_CUCKOO_STEPS_MAX);
    return PERHAPS_OK;
}

static int rule(const perhaps_want *want, struct level *level) {
    int rc = check_want(want);
    if (rc < 0) return rc;
    uint64_t size = want->bucket ? want->bucket : 2, steps = want->steps ? want->steps : 20;
    bool fixed = want->grow == PERHAPS_GROW_NEVER;
    uint64_t *layout = level->layout;
    layout[REDIS_CUCKOO_BUCKETS] = next_power_of_two(want->items / size);
    layout[REDIS_CUCKOO_BUCKET_SIZE] = size;
    layout[REDIS_CUCKOO_EXPANSION] = fixed ? 0 : next_power_of_two((uint64_t)want->growth);
    layout[REDIS_CUCKOO_FILTERS] = 1;
    layout[REDIS_CUCKOO_LIMITS] = steps | REDIS_CUCKOO_FILTERS_USUAL << 16;
    level->capacity = redis_cuckoo_slots(layout, 0);
    level->fpr = redis_cuckoo_fpr(layout);
    return PERHAPS_OK;
}

static unsigned hashes(const uint64_t layout[LAYOUT_WORDS]) {
    (void)layout;
    return 1;
}

static unsigned lines(const uint64_t layout[LAYOUT_WORDS]) {
    return 2 * (unsigned)layout[REDIS_CUCKOO_FILTERS];
}

static void measure(const struct array *array, struct measures *measures) {
    const uint64_t *layout = array->layout;
    uint64_t all = 0;
    double not_found = 1;
    for (uint64_t i = 0; i < redis_cuckoo_in_use(array); i++) {
        uint64_t slots = redis_cuckoo_slots(layout, i),
                 used = redis_cuckoo_used(array->bytes + redis_cuckoo_slots_of(layout, i), slots);
        not_found *= 1 - fpr_at(layout, (double)used / (double)slots);
        all += used;
    }
    measures->fill = (double)all / (double)redis_cuckoo_slots_of(layout, layout[REDIS_CUCKOO_FILTERS]);
    measures->distinct = (double)all;
    measures->fpr = 1 - not_found;
}

const struct model model_redis_cuckoo = {
    .hashes = hashes,
    .cache_lines = lines,
    .measure = measure,
    .rule = rule,
    .takes_bucket = true,
};
