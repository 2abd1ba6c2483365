/*
 * The union of growing filters: nothing is lost, the rate is at most twice the higher one, layers
 * are shared where they can be, and what has come of it grows on.
 */
#include "support.h"

#include <stdlib.h>

static const int bases[] = {PERHAPS_BLOOM, PERHAPS_BLOCKED};
enum { BASES = 2, QUERIES = 100000 };

static perhaps *make_growing(int kind, uint64_t items, double fpr, uint64_t first, uint64_t keys) {
    perhaps *f = make(&PERHAPS_WANT(.kind = kind, .items = items, .fpr = fpr, .grow = PERHAPS_GROW_LAYERS));
    add_members(f, first, keys);
    return f;
}

static void expect_rate(const perhaps *f, double most) {
    double seen = (double)count_false_positives(f, 0, QUERIES) / QUERIES, now = info_of(f).fpr_now;
    CHECK(seen <= 1.1 * most && now <= most, "%g of the non-members are found, fpr_now is %g, and at most %g is due",
          seen, now, most);
}

static struct perhaps_info child_of(const perhaps *f, unsigned i) {
    struct perhaps_info info = {.size = sizeof info};
    MUST(perhaps_child_facts(f, i, &info));
    return info;
}

static void nothing_is_lost_and_it_grows_on(void **state) {
    (void)state;
    static const struct {
        uint64_t items, keys;
        double fpr;
    } sides[] = {{100, 0, 0.01},      {100, 50, 0.01},    {100, 5000, 0.01},
                 {1000, 40000, 0.01}, {7000, 100, 0.001}, {50, 3000, 0.03}};
    enum { SIDES = sizeof sides / sizeof *sides };
    for (size_t k = 0; k < BASES * SIDES * SIDES; k++) {
        size_t a = k / BASES % SIDES, b = k / BASES / SIDES;
        double higher = sides[a].fpr > sides[b].fpr ? sides[a].fpr : sides[b].fpr;
        perhaps *f = make_growing(bases[k % BASES], sides[a].items, sides[a].fpr, 0, sides[a].keys);
        perhaps *g = make_growing(bases[k % BASES], sides[b].items, sides[b].fpr, sides[a].keys, sides[b].keys);
        struct bytes before = image_of(g);
        uint64_t both = sides[a].keys + sides[b].keys, newest = child_of(f, info_of(f).children - 1).capacity;
        MUST(perhaps_merge(f, g));
        expect_unchanged(g, before);
        expect_members(f, 0, both);
        expect_rate(f, 2 * higher);
        CHECK(info_of(f).fpr_target == higher, "a target of %g", info_of(f).fpr_target);
        CHECK(child_of(f, info_of(f).children - 1).capacity == newest, "another layer is the newest");
        CHECK(info_of(f).items <= both + both / 20 + 5, "%llu items of %llu", (unsigned long long)info_of(f).items,
              (unsigned long long)both);
        add_members(f, both, 60000);
        expect_members(f, 0, both + 60000);
        expect_rate(f, 2 * higher);
        free(before.data);
        perhaps_free(f);
        perhaps_free(g);
    }
}

/* Filters for many keys that have few of them share their layers. */
static void layers_that_have_room_are_shared(void **state) {
    (void)state;
    for (size_t k = 0; k < BASES; k++) {
        perhaps *f = make_growing(bases[k], 10000, 0.01, 0, 3000);
        for (uint64_t i = 1; i < 3; i++) {
            perhaps *g = make_growing(bases[k], 10000, 0.01, i * 3000, 3000);
            MUST(perhaps_merge(f, g));
            perhaps_free(g);
        }
        perhaps *all = make_growing(bases[k], 10000, 0.01, 0, 9000);
        CHECK(perhaps_equal(f, all) == 1 && info_of(f).children == 1, "%u layers", info_of(f).children);
        perhaps_free(all);
        perhaps *g = make_growing(bases[k], 10000, 0.01, 9000, 3000);
        MUST(perhaps_merge(f, g));
        CHECK(info_of(f).children == 2, "too many keys for a layer are in %u", info_of(f).children);
        expect_members(f, 0, 12000);
        perhaps_free(f);
        perhaps_free(g);
    }
}

static void merging_twice_is_merging_once(void **state) {
    (void)state;
    for (size_t k = 0; k < BASES; k++) {
        perhaps *f = make_growing(bases[k], 100, 0.01, 0, 30000);
        perhaps *g = make_growing(bases[k], 100, 0.01, 20000, 40000);
        MUST(perhaps_merge(f, g));
        struct bytes once = image_of(f);
        unsigned layers = info_of(f).children;
        for (int i = 0; i < 3; i++) MUST(perhaps_merge(f, g));
        MUST(perhaps_merge(f, f));
        expect_unchanged(f, once);
        add_members(g, 60000, 100);
        MUST(perhaps_merge(f, g));
        CHECK(info_of(f).children == layers, "%u layers became %u", layers, info_of(f).children);
        expect_members(f, 0, 60100);
        free(once.data);
        perhaps_free(f);
        perhaps_free(g);
    }
}

static void what_does_not_fit_is_refused(void **state) {
    (void)state;
    perhaps *f = make(&PERHAPS_WANT(.kind = PERHAPS_BLOOM, .items = 100, .fpr = 0.01, .grow = PERHAPS_GROW_LAYERS,
                                    .max_bytes = 20000));
    perhaps *large = make_growing(PERHAPS_BLOOM, 100, 0.01, 0, 50000),
            *other = make_growing(PERHAPS_BLOCKED, 100, 0.01, 0, 9),
            *seeded = make(&PERHAPS_WANT(.kind = PERHAPS_BLOOM, .items = 100, .fpr = 0.01, .seed = 1,
                                         .grow = PERHAPS_GROW_LAYERS)),
            *plain = make(&PERHAPS_WANT(.kind = PERHAPS_BLOOM, .items = 100, .fpr = 0.01));
    add_members(f, 0, 1000);
    struct bytes before = image_of(f);
    REFUSED(PERHAPS_EFULL, perhaps_merge(f, large));
    REFUSED(PERHAPS_EMISMATCH, perhaps_merge(f, other));
    REFUSED(PERHAPS_EMISMATCH, perhaps_merge(f, seeded));
    REFUSED(PERHAPS_EMISMATCH, perhaps_merge(f, plain));
    REFUSED(PERHAPS_EMISMATCH, perhaps_merge(plain, f));
    REFUSED(PERHAPS_ECANNOT, perhaps_intersect(f, f));
    expect_unchanged(f, before);
    free(before.data);
    perhaps_free(f), perhaps_free(large), perhaps_free(other), perhaps_free(seeded), perhaps_free(plain);
}

/* There is an end to layers, and before it nothing else breaks. */
static void too_many_layers_are_refused(void **state) {
    (void)state;
    perhaps *f = make_growing(PERHAPS_BLOOM, 1, 0.01, 0, 1);
    int rc = PERHAPS_OK;
    uint64_t i = 1;
    for (; rc == PERHAPS_OK && i < 300; i++) {
        perhaps *g = make_growing(PERHAPS_BLOOM, 1, 0.01, i, 1);
        rc = perhaps_merge(f, g);
        perhaps_free(g);
    }
    CHECK(rc == PERHAPS_EFULL || rc == PERHAPS_OK, "%d: %s", rc, perhaps_why());
    CHECK(info_of(f).children <= 256, "%u layers", info_of(f).children);
    expect_members(f, 0, rc < 0 ? i - 1 : i);
    struct bytes image = image_of(f);
    perhaps *copy = NULL;
    MUST(perhaps_open_memory(&copy, image.data, image.length, NULL));
    CHECK(perhaps_equal(f, copy) == 1, "the image is of another filter");
    free(image.data);
    perhaps_free(copy);
    perhaps_free(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_lost_and_it_grows_on), cmocka_unit_test(layers_that_have_room_are_shared),
        cmocka_unit_test(merging_twice_is_merging_once),   cmocka_unit_test(what_does_not_fit_is_refused),
        cmocka_unit_test(too_many_layers_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
