/* Merge, intersect, clear, clone, equal, and what info says. */
#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ITEMS = 3000, HALF = ITEMS / 2 };

static void merge_is_adding_both(const struct layout *layout) {
    if (!(layout->row->can & PERHAPS_MERGE)) return;
    perhaps *a = make(&layout->want), *b = make(&layout->want), *both = make(&layout->want);
    add_members(a, 0, 2 * HALF / 3);
    add_members(b, HALF / 3, HALF);
    add_members(both, 0, HALF + HALF / 3);
    struct bytes before = image_of(b);
    MUST(perhaps_merge(a, b));
    CHECK(perhaps_equal(a, both) == 1, "merged filters are not the filter of both");
    expect_unchanged(b, before);
    expect_members(a, 0, HALF + HALF / 3);
    double items = (double)info_of(a).items;
    CHECK(fabs(items / (HALF + HALF / 3) - 1) < 0.05, "items became %g of %d", items, HALF + HALF / 3);
    free(before.data);
    perhaps_free(a);
    perhaps_free(b);
    perhaps_free(both);
}

static void merge_with_itself_or_nothing_changes_no_answer(const struct layout *layout) {
    if (!(layout->row->can & PERHAPS_MERGE)) return;
    perhaps *a = make_with_members(layout, HALF), *twin = make_with_members(layout, HALF), *empty = make(&layout->want);
    MUST(perhaps_merge(a, empty));
    CHECK(perhaps_equal(a, twin) == 1, "merging an empty filter changed the bits");
    MUST(perhaps_merge(a, a));
    CHECK(perhaps_equal(a, twin) == 1, "merging a filter with itself changed the bits");
    perhaps_free(a);
    perhaps_free(twin);
    perhaps_free(empty);
}

static void intersect_keeps_common_keys(const struct layout *layout) {
    if (!(layout->row->can & PERHAPS_INTERSECT)) return;
    perhaps *a = make(&layout->want), *b = make(&layout->want), *empty = make(&layout->want);
    add_members(a, 0, 2 * HALF);
    add_members(b, HALF, 2 * HALF);
    uint64_t before = count_strangers(a, 0, 100000);
    MUST(perhaps_intersect(a, b));
    expect_members(a, HALF, HALF);
    CHECK(count_strangers(a, 0, 100000) <= before, "an intersection has more false positives than one of its parts");
    MUST(perhaps_intersect(a, empty));
    CHECK(perhaps_equal(a, empty) == 1, "the intersection with nothing is not empty");
    perhaps_free(a);
    perhaps_free(b);
    perhaps_free(empty);
}

/* ---- filters that do not fit ---- */

static void expect_mismatch(const struct layout *layout, const perhaps_want *other_want, const char *field) {
    perhaps *a = make_with_members(layout, HALF), *b = make(other_want);
    add_members(b, 0, HALF);
    struct bytes before = image_of(a);
    REFUSED(PERHAPS_EMISMATCH, perhaps_merge(a, b));
    CHECK(strstr(perhaps_why(), field), "the reason does not name the %s: %s", field, perhaps_why());
    REFUSED(PERHAPS_EMISMATCH, perhaps_intersect(a, b));
    CHECK(strstr(perhaps_why(), field), "the reason does not name the %s: %s", field, perhaps_why());
    CHECK(perhaps_equal(a, b) == 0, "filters of different %s are called equal", field);
    expect_unchanged(a, before);
    free(before.data);
    perhaps_free(a);
    perhaps_free(b);
}

static void misfits_are_refused_by_name(const struct layout *layout) {
    if (!(layout->row->can & PERHAPS_MERGE) || !(layout->row->can & PERHAPS_INTERSECT)) return;
    static const uint8_t key[16] = "0123456789abcde";
    perhaps_want want = layout->want;
    want.seed = 5;
    expect_mismatch(layout, &want, "seed");
    want = layout->want;
    want.hash = PERHAPS_SIPHASH;
    want.hash_key = key;
    expect_mismatch(layout, &want, "hash");
    want = layout->want;
    want.items *= 10;
    expect_mismatch(layout, &want, ""); /* the layout's words have the kind's own names */
    const struct perhaps_kind_row *other;
    for (size_t r = 0; (other = perhaps_kind(r)); r++) {
        if (other == layout->row || !(other->can & PERHAPS_ADD)) continue;
        want = PERHAPS_WANT(.kind = other->kind, .items = ITEMS, .fpr = 0.01);
        expect_mismatch(layout, &want, "kind");
    }
}

/* ---- clear, clone, equal ---- */

static void clear_forgets_everything(const struct layout *layout) {
    perhaps *f = make_with_members(layout, ITEMS), *fresh = make(&layout->want);
    MUST(perhaps_clear(f));
    CHECK(perhaps_equal(f, fresh) == 1, "a cleared filter is not an empty one");
    CHECK(info_of(f).items == 0 && info_of(f).fill == 0, "a cleared filter has %llu items",
          (unsigned long long)info_of(f).items);
    add_members(f, 0, 10);
    expect_members(f, 0, 10);
    perhaps_free(f);
    perhaps_free(fresh);
}

static void clones_go_their_own_way(const struct layout *layout) {
    perhaps *f = make_with_members(layout, HALF), *copy = NULL;
    struct bytes before = image_of(f);
    MUST(perhaps_clone(f, &copy));
    expect_unchanged(copy, before);
    CHECK(perhaps_equal(f, copy) == 1, "a clone is not equal");
    add_members(copy, HALF, HALF);
    CHECK(perhaps_equal(f, copy) == 0, "a changed clone is still called equal");
    expect_unchanged(f, before);
    perhaps_free(f);
    expect_members(copy, 0, ITEMS);
    perhaps_free(copy);
    free(before.data);
}

static void a_clone_of_a_borrowed_filter_can_change(const struct layout *layout) {
    perhaps *f = make_with_members(layout, HALF), *borrowed = NULL, *copy = NULL;
    struct bytes image = image_of(f);
    MUST(perhaps_open_memory(&borrowed, image.data, image.length, NULL));
    MUST(perhaps_clone(borrowed, &copy));
    perhaps_free(borrowed);
    memset(image.data, 0xFF, image.length);
    free(image.data);
    CHECK(info_of(copy).read_only == 0, "a clone is read-only");
    CHECK(perhaps_equal(f, copy) == 1, "a clone depends on the memory of its original");
    add_members(copy, HALF, HALF);
    expect_members(copy, 0, ITEMS);
    perhaps_free(copy);
    perhaps_free(f);
}

/* ---- info ---- */

static void info_tells_the_truth(const struct layout *layout) {
    perhaps_want want = layout->want;
    want.seed = 99;
    want.tag = 200;
    perhaps *f = make(&want);
    struct perhaps_info info = info_of(f);
    CHECK(info.items == 0 && info.distinct == 0 && info.fill == 0, "an empty filter has %g keys, fill %g",
          info.distinct, info.fill);
    for (int part = 1; part <= 4; part++) {
        uint64_t n = want.items * (uint64_t)part / 4;
        add_members(f, n - want.items / 4, want.items / 4);
        info = info_of(f);
        CHECK(fabs(info.distinct / (double)n - 1) < 0.05, "%llu keys are estimated as %g", (unsigned long long)n,
              info.distinct);
        CHECK(info.items <= n && (double)info.items >= (double)n * (1 - 2 * info.fpr_target) - 1,
              "items is %llu of %llu", (unsigned long long)info.items, (unsigned long long)n);
        CHECK(info.fill > 0 && info.fill < 1, "fill is %g", info.fill);
    }
    CHECK(info.kind == layout->row->kind && strcmp(info.kind_name, layout->row->name) == 0, "kind %d %s", info.kind,
          info.kind_name);
    CHECK(perhaps_tag(f) == 200, "the tag is %u", perhaps_tag(f));
    CHECK(info.can == layout->row->can, "can %x", info.can);
    CHECK(info.hash == PERHAPS_XXH3 && strcmp(info.hash_name, "xxh3") == 0, "hash %d %s", info.hash, info.hash_name);
    CHECK(info.seed == 99 && info.tag == 200 && info.read_only == 0, "seed %llu, tag %u", (unsigned long long)info.seed,
          info.tag);
    CHECK(info.format_version >= 1 && info.isa[0], "version %u, isa %s", info.format_version, info.isa);
    CHECK(fabs(info.bits_per_key - layout->plan.bits_per_key) < 1e-9, "bits per key %g", info.bits_per_key);
    perhaps_free(f);
}

/* Past its capacity a filter says that it is: the live rate rises above the target. */
static void overfull_filters_say_so(const struct layout *layout) {
    perhaps *f = make_with_members(layout, 2 * layout->want.items);
    struct perhaps_info info = info_of(f);
    CHECK(info.fpr_now > 1.3 * info.fpr_target || info.fpr_now > 0.5, "twice too full, the rate is %g of %g",
          info.fpr_now, info.fpr_target);
    perhaps_free(f);
}

/* Keys that look alike (numbers in a row, by the 2^32, one bit each) are as good as random ones. */
static void regular_keys_do_no_harm(const struct layout *layout) {
    static const int shifts[] = {0, 12, 32, 44};
    for (size_t s = 0; s < sizeof shifts / sizeof *shifts; s++) {
        perhaps *f = make(&layout->want);
        for (uint64_t i = 0; i < layout->want.items; i++) MUST(perhaps_add_u64(f, i << shifts[s]));
        struct perhaps_info info = info_of(f);
        CHECK(fabs(info.distinct / (double)layout->want.items - 1) < 0.05, "numbers times 2^%d: %g keys seen",
              shifts[s], info.distinct);
        uint64_t found = 0, asked = 200000;
        for (uint64_t i = 0; i < asked; i++)
            found += (uint64_t)perhaps_contains_u64(f, (layout->want.items + i) << shifts[s]);
        double expected = info.fpr_now * (double)asked;
        CHECK(fabs((double)found - expected) <= 6 * sqrt(expected) + 6,
              "numbers times 2^%d: %llu false positives, %g expected", shifts[s], (unsigned long long)found, expected);
        perhaps_free(f);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        FOR_EACH_LAYOUT(merge_is_adding_both, ITEMS),
        FOR_EACH_LAYOUT(merge_with_itself_or_nothing_changes_no_answer, ITEMS),
        FOR_EACH_LAYOUT(intersect_keeps_common_keys, ITEMS),
        FOR_EACH_KIND(misfits_are_refused_by_name, ITEMS),
        FOR_EACH_LAYOUT(clear_forgets_everything, ITEMS),
        FOR_EACH_LAYOUT(clones_go_their_own_way, ITEMS),
        FOR_EACH_LAYOUT(a_clone_of_a_borrowed_filter_can_change, ITEMS),
        FOR_EACH_LAYOUT(info_tells_the_truth, 40000),
        FOR_EACH_LAYOUT(overfull_filters_say_so, ITEMS),
        FOR_EACH_KIND(regular_keys_do_no_harm, 20000),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
