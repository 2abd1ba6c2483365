/*
 * What perhaps_plan and perhaps_info promise together, for thousands of wants of every sort: what
 * is planned is what is made and saved, what was requested holds, shares are shares, and what
 * cannot be made is not planned. The wants are random, always the same ones; PERHAPS_TEST_SIZE=long
 * takes twenty times as many.
 */
#include "support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KINDS_MAX = 32, MOST_MADE = 1 << 20 };

/* ---- wants ---- */

static int kinds[KINDS_MAX];
static unsigned kind_count;

static void find_kinds(void) {
    kind_count = 0;
    kinds[kind_count++] = PERHAPS_ANY;
    for (size_t r = 0; perhaps_kind(r); r++) kinds[kind_count++] = perhaps_kind(r)->kind;
    for (size_t r = 0; perhaps_file_kind(r); r++) kinds[kind_count++] = perhaps_file_kind(r)->kind;
    kinds[kind_count++] = PERHAPS_REDIS_BLOOM;
    kinds[kind_count++] = PERHAPS_REDIS_CUCKOO;
}

static uint64_t below(uint64_t *random, uint64_t n) {
    return next_random(random) % n;
}

/* Between two numbers, evenly in their logarithms. */
static double between(uint64_t *random, double low, double high) {
    double share = (double)(next_random(random) >> 11) / 0x1p53;
    return low * pow(high / low, share);
}

static uint64_t random_items(uint64_t *random) {
    static const uint64_t special[] = {0, 1, 2, 3, 63, 64, 65, 1000, UINT64_C(1) << 32, UINT64_C(1) << 33, UINT64_MAX};
    uint64_t choice = below(random, 24);
    if (choice < sizeof special / sizeof *special) return special[choice];
    return (uint64_t)between(random, 1, choice < 20 ? 1e4 : 1e11);
}

static double random_rate(uint64_t *random) {
    static const double special[] = {0.5, 0.9, 0.999, 0.01, 1e-9, 1e-18};
    uint64_t choice = below(random, 16);
    return choice < sizeof special / sizeof *special ? special[choice] : between(random, 1e-12, 0.9);
}

static void random_amounts(uint64_t *random, perhaps_want *want) {
    unsigned given = (unsigned)below(random, 8);
    if (given != 5) want->items = random_items(random);
    if (given < 4 || given == 5) want->fpr = random_rate(random);
    if (given == 4) want->bits_per_key = between(random, 0.3, 100);
    if (given == 5 || given == 6)
        want->bytes = below(random, 4) ? (uint64_t)between(random, 1, 1e6) : (uint64_t)between(random, 1, 1e13);
    if (given == 7 && below(random, 2)) want->bits_per_key = between(random, 0.3, 100);
}

static void random_composite(uint64_t *random, perhaps_want *want) {
    static const unsigned shards[] = {1, 2, 3, 9, 16, 64, 256, 1000};
    if (below(random, 3) == 0) want->shards = shards[below(random, 8)];
    if (below(random, 3) == 0) want->grow = PERHAPS_GROW_LAYERS;
    if (below(random, 8) == 0) want->grow = PERHAPS_GROW_NEVER;
    if (want->grow == PERHAPS_GROW_LAYERS && below(random, 3) == 0) want->growth = between(random, 1.5, 16);
    if (want->grow == PERHAPS_GROW_LAYERS && below(random, 3) == 0) want->max_bytes = (uint64_t)between(random, 1, 1e7);
    if (below(random, 6) == 0) want->generations = 1 + (unsigned)below(random, 10);
    if (below(random, 12) == 0) want->period = 1 + below(random, 10000);
    if (below(random, 12) == 0) want->clear_at = between(random, 0.1, 0.95);
    want->shared = below(random, 6) == 0;
}

static perhaps_want random_want(uint64_t *random) {
    perhaps_want want = PERHAPS_WANT(.kind = kinds[below(random, kind_count)]);
    random_amounts(random, &want);
    if (below(random, 2)) random_composite(random, &want);
    if (below(random, 10) == 0) want.hashes = (unsigned)below(random, 33);
    if (below(random, 10) == 0) want.lines = 1 + (unsigned)below(random, 3);
    if (below(random, 10) == 0) want.needs = 1u << below(random, 9);
    return want;
}

static void name_want(const perhaps_want *want) {
    name_subject("kind %d, %llu items, fpr %g, %g bits, %llu bytes, grow %d, %u shards, %u gens", want->kind,
                 (unsigned long long)want->items, want->fpr, want->bits_per_key, (unsigned long long)want->bytes,
                 want->grow, want->shards, want->generations);
}

/* ---- plans ---- */

static bool is_exact_kind(int kind) {
    struct perhaps_plan plan = {.size = sizeof plan};
    return kind == PERHAPS_BITMAP ||
           (kind && perhaps_plan(&PERHAPS_WANT(.kind = kind, .items = 1000), &plan) == PERHAPS_OK);
}

static void expect_plan(const perhaps_want *want, const struct perhaps_plan *plan) {
    bool sure = is_exact_kind(want->kind);
    CHECK(plan->items > 0, "it is planned for no keys");
    CHECK((plan->fpr > 0 || sure) && plan->fpr < 1 && plan->fpr >= 0, "planned at a rate of %.17g", plan->fpr);
    CHECK(want->fpr == 0 || plan->fpr <= want->fpr || sure || plan->kind >= PERHAPS_REDIS_BLOOM,
          "planned at %.17g where %.17g is wanted", plan->fpr, want->fpr);
    CHECK(!want->items || plan->items >= want->items || want->kind == PERHAPS_REDIS_CUCKOO, "planned for %llu keys",
          (unsigned long long)plan->items);
    CHECK(!want->bytes || plan->bytes <= (want->bytes + 7) / 8 * 8, "planned with %llu bytes",
          (unsigned long long)plan->bytes);
    CHECK(plan->image_bytes > plan->bytes, "an image of %llu bytes with an array of %llu",
          (unsigned long long)plan->image_bytes, (unsigned long long)plan->bytes);
    double bits = 8 * (double)plan->bytes / (double)plan->items;
    CHECK(fabs(plan->bits_per_key - bits) <= 1e-9 * bits, "%g bits per key, not %g", plan->bits_per_key, bits);
    CHECK(plan->limit_bits_per_key >= 0 && isfinite(plan->limit_bits_per_key), "a limit of %g",
          plan->limit_bits_per_key);
    CHECK(plan->loss >= 0 && plan->loss <= 1, "a loss of %g", plan->loss);
    CHECK(plan->hashes > 0 && plan->lines > 0, "%u hashes in %u lines", plan->hashes, plan->lines);
}

/* ---- filters ---- */

static void expect_shares(const struct perhaps_info *info, const char *when) {
    CHECK(info->fill >= 0 && info->fill <= 1, "%s: a fill of %.17g", when, info->fill);
    CHECK(info->fpr_now >= 0 && info->fpr_now <= 1, "%s: a live rate of %.17g", when, info->fpr_now);
    CHECK(info->loss >= 0 && info->loss <= 1, "%s: a loss of %.17g", when, info->loss);
    CHECK(info->distinct >= 0 && isfinite(info->distinct), "%s: %g distinct keys", when, info->distinct);
    CHECK(info->fpr_target >= 0 && info->fpr_target < 1, "%s: a planned rate of %.17g", when, info->fpr_target);
    CHECK(info->capacity > 0 && info->bytes > 0, "%s: for %llu keys in %llu bytes", when,
          (unsigned long long)info->capacity, (unsigned long long)info->bytes);
}

static void expect_children(const perhaps *f, const struct perhaps_info *info) {
    uint64_t items = 0, bytes = 0;
    for (unsigned i = 0; i < info->children; i++) {
        struct perhaps_info child = {.size = sizeof child};
        MUST(perhaps_child(f, i, &child));
        expect_shares(&child, "child");
        items += child.items;
        bytes += child.bytes;
    }
    CHECK(!info->children || (items == info->items && bytes == info->bytes), "children have %llu items in %llu bytes",
          (unsigned long long)items, (unsigned long long)bytes);
}

/* What is saved is as long as is said, and can be opened. */
static void expect_image(perhaps *f, const struct perhaps_info *info) {
    struct bytes image = image_of(f);
    perhaps *again = NULL;
    bool foreign = info->kind >= PERHAPS_GUAVA && info->kind <= PERHAPS_SPARK;
    CHECK(image.length == info->image_bytes, "%zu bytes are saved where %llu are told", image.length,
          (unsigned long long)info->image_bytes);
    perhaps_open_options options = PERHAPS_OPEN(.kind = foreign ? info->kind : PERHAPS_ANY);
    MUST(perhaps_open_memory(&again, image.data, image.length, &options));
    CHECK(perhaps_equal(f, again) == 1, "what is opened is another filter");
    struct perhaps_info opened = info_of(again);
    expect_shares(&opened, "opened");
    CHECK(foreign || (opened.capacity == info->capacity && opened.items == info->items &&
                      opened.fpr_target == info->fpr_target && opened.fpr_now == info->fpr_now &&
                      opened.fill == info->fill && opened.image_bytes == info->image_bytes),
          "what is opened has other facts");
    perhaps_free(again);
    free(image.data);
}

static void expect_same(const struct perhaps_plan *plan, const struct perhaps_info *info) {
    CHECK(info->kind == plan->kind && info->bytes == plan->bytes, "planned with %llu bytes, made with %llu",
          (unsigned long long)plan->bytes, (unsigned long long)info->bytes);
    CHECK(info->capacity == plan->items, "planned for %llu keys, made for %llu", (unsigned long long)plan->items,
          (unsigned long long)info->capacity);
    CHECK(info->image_bytes == plan->image_bytes, "an image of %llu bytes is planned, and has %llu",
          (unsigned long long)plan->image_bytes, (unsigned long long)info->image_bytes);
    CHECK(info->fpr_target == plan->fpr, "a rate of %.17g is planned, and told as %.17g", plan->fpr, info->fpr_target);
    CHECK(info->hashes == plan->hashes && info->lines == plan->lines, "%u hashes in %u lines", info->hashes,
          info->lines);
    CHECK(fabs(info->bits_per_key - plan->bits_per_key) <= 1e-9 * plan->bits_per_key, "%g bits per key",
          info->bits_per_key);
}

/* As long as there is room; strict layers may find no larger one (PERHAPS_ERANGE). */
static uint64_t add_some(perhaps *f, uint64_t first, uint64_t n) {
    for (uint64_t i = 0; i < n; i++) {
        int answer = perhaps_add_u64(f, member_of(f, first + i));
        if (answer == PERHAPS_EFULL || answer == PERHAPS_ERANGE) return i;
        MUST(answer);
    }
    return n;
}

/* Half full, full, and with far too many keys. */
static void expect_filled(perhaps *f, const struct perhaps_plan *plan) {
    uint64_t first = 0, items = plan->items, steps[] = {items / 2 + 1, items, 20 * items + 1000};
    for (size_t i = 0; i < sizeof steps / sizeof *steps && steps[i] <= 20000; i++) {
        first += add_some(f, first, steps[i] - first);
        struct perhaps_info info = info_of(f);
        expect_shares(&info, "filled");
        /* Its bits are not nearly all set. */
        bool tells = i < 2 && plan->fpr < 0.2 && info.kind != PERHAPS_WINDOW;
        CHECK(!tells || fabs(info.distinct - (double)first) <= 0.2 * (double)first + 20,
              "%g distinct keys where there are %llu", info.distinct, (unsigned long long)first);
        CHECK(info.items <= first, "%llu items where %llu were added", (unsigned long long)info.items,
              (unsigned long long)first);
        expect_children(f, &info);
        expect_image(f, &info);
    }
}

static void expect_made(perhaps *f, const struct perhaps_plan *plan) {
    struct perhaps_info info = info_of(f);
    bool collecting = info.collecting;
    if (!collecting) {
        expect_same(plan, &info);
        CHECK(info.items == 0 && info.distinct == 0 && info.fill == 0, "it is not empty");
    }
    expect_shares(&info, "new");
    seal(f);
    info = info_of(f);
    expect_children(f, &info);
    expect_image(f, &info);
    if (!collecting) expect_filled(f, plan);
}

/* ---- all of it ---- */

/* Whether there is such a filter. */
static bool plan_and_make(const perhaps_want *want) {
    struct perhaps_plan plan = {.size = sizeof plan};
    perhaps *f = NULL;
    int planned = perhaps_plan(want, &plan);
    name_want(want);
    if (planned == PERHAPS_OK) expect_plan(want, &plan);
    if (planned == PERHAPS_OK && plan.image_bytes > MOST_MADE) return true;
    int made = perhaps_create(&f, want);
    CHECK(made == planned, "planning says %d, and making %d: %s", planned, made, perhaps_why());
    if (made == PERHAPS_OK) expect_made(f, &plan);
    perhaps_free(f);
    return made == PERHAPS_OK;
}

static void plans_and_filters_agree(void **state) {
    uint64_t random = 1, wants = time_is_short() ? 500 : test_size() == TEST_SMALL ? 6000 : 20000;
    (void)state;
    find_kinds();
    if (test_everything()) wants *= 20;
    uint64_t done = 0;
    for (uint64_t i = 0; i < wants; i++) {
        perhaps_want want = random_want(&random);
        done += plan_and_make(&want);
    }
    CHECK(done > wants / 5, "only %llu of %llu wants can be had", (unsigned long long)done, (unsigned long long)wants);
}

/* Those that once went wrong. */
static void wants_of_old(void **state) {
    static const perhaps_want olds[] = {
        {.items = 1, .bits_per_key = 17.37, .shards = 9},
        {.kind = PERHAPS_GUAVA, .items = 10, .fpr = 0.01},
        {.kind = PERHAPS_SPARK, .items = 10, .fpr = 0.01},
        {.kind = PERHAPS_DCSO, .items = 10, .fpr = 0.01},
        {.kind = PERHAPS_PARQUET, .items = 10, .fpr = 0.01},
        {.kind = PERHAPS_BLOOM, .items = 30, .fpr = 0.5, .shards = 9},
    };
    (void)state;
    for (size_t i = 0; i < sizeof olds / sizeof *olds; i++) {
        perhaps_want want = olds[i];
        want.size = sizeof want;
        plan_and_make(&want);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wants_of_old),
        cmocka_unit_test(plans_and_filters_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
