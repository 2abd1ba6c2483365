/* Growing filters whose next layer depends on the newest: their sizes, and that their rates sum to
 * less than that of the whole, however far they grow. */
#include "support.h"

#include <perhaps_embed.h>

#include <math.h>

static double sum_of_rates(const perhaps *f) {
    double sum = 0;
    for (unsigned i = 0; i < info_of(f).children; i++) {
        struct perhaps_info child = {.size = sizeof child};
        MUST(perhaps_child_facts(f, i, &child));
        sum += child.fpr_target;
    }
    return sum;
}

/* Each layer is `growth` times as large as the newest; of many of one size, as large as half of
 * all. Their rates are below that of the whole. */
static void grow_by_newest(int kind, double growth, unsigned most_layers) {
    enum { FIRST = 200 };
    perhaps *f =
        make(&PERHAPS_WANT(.kind = kind, .items = FIRST, .fpr = 0.005, .hashes = kind == PERHAPS_CUCKOO ? 4 : 0));
    MUST(perhaps_grow_layers(&f, 0.01, -growth, 0));
    CHECK(info_of(f).growth == -growth, "a growth of %g", info_of(f).growth);
    uint64_t capacity = info_of(f).capacity, all = 0;
    add_members(f, 0, 1000 * FIRST);
    unsigned layers = info_of(f).children;
    CHECK(perhaps_layers(f) == layers && layers <= most_layers, "%u layers", layers);
    for (unsigned i = 0; i < layers; i++) {
        struct perhaps_info layer = {.size = sizeof layer};
        MUST(perhaps_child(f, i, &layer));
        double least = i ? growth * (double)capacity : 0, half = (double)all / 2;
        CHECK((double)layer.capacity >= least && (double)layer.capacity <= 1.2 * fmax(fmax(least, half), FIRST),
              "layer %u has room for %llu, after %llu", i, (unsigned long long)layer.capacity,
              (unsigned long long)capacity);
        capacity = layer.capacity;
        all += capacity;
    }
    expect_members(f, 0, 1000 * FIRST);
    CHECK(sum_of_rates(f) <= 0.01, "rates sum to %g", sum_of_rates(f));
    perhaps_free(f);
}

static void growth_may_be_that_of_the_newest(void **state) {
    (void)state;
    static const int kinds[] = {PERHAPS_BLOOM, PERHAPS_BLOCKED, PERHAPS_CUCKOO};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        grow_by_newest(kinds[i], 1, 36);
        grow_by_newest(kinds[i], 2, 11);
        grow_by_newest(kinds[i], 16, 5);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(growth_may_be_that_of_the_newest)};
    return cmocka_run_group_tests(tests, NULL, remove_scratch);
}
