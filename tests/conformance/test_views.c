/* perhaps_inline.h: every filter has a view, and through it the same answers, bytes and counts as
 * through the calls. Compiled as the compiler's default has it, and once more with AVX2. */
#include "support.h"

#include <perhaps_inline.h>
#include <stdlib.h>

enum { ITEMS = 1000 };

#if defined(__AVX2__)
static bool runs_here(void) {
    return __builtin_cpu_supports("avx2");
}
#else
static bool runs_here(void) {
    return true;
}
#endif

static void same_answers(perhaps *f, perhaps_view *view) {
    for (uint64_t i = 0; i < 4 * ITEMS; i++) {
        uint64_t key = i % 2 ? member_of(f, i / 2) : non_member_of(f, i / 2);
        CHECK(perhaps_view_contains_u64(view, key) == perhaps_contains_u64(f, key), "view and call differ in key %llu",
              (unsigned long long)i);
    }
}

/* `viewed` gets through its view what `called` gets by calls. */
static void same_adds(perhaps *called, perhaps *viewed) {
    perhaps_view view;
    perhaps_view_of(viewed, &view);
    for (uint64_t i = 0; i < ITEMS; i++) {
        uint64_t key = member_of(called, i - i % 3); /* each comes three times */
        CHECK(perhaps_view_add_u64(&view, key) == perhaps_add_u64(called, key), "view and call differ in add %llu",
              (unsigned long long)i);
    }
    CHECK(info_of(viewed).items == info_of(called).items, "view and calls differ in the count");
    if (info_of(viewed).traits & PERHAPS_STATIC) return;
    struct bytes image = image_of(called);
    expect_unchanged(viewed, image); /* that is, the same */
    free(image.data);
}

static unsigned forms_seen; /* set of enum perhaps_view_form */

/* Leaves out what no filter can be. */
static void check_want(const perhaps_want *want) {
    perhaps *called = NULL, *viewed = NULL;
    perhaps_view view;
    if (perhaps_create(&called, want) < 0) return;
    viewed = make(want);
    same_adds(called, viewed);
    MUST(perhaps_seal(viewed, NULL));
    perhaps_view_of(viewed, &view);
    same_answers(viewed, &view);
    forms_seen |= 1U << view.form;
    perhaps_free(called);
    perhaps_free(viewed);
}

/* Over kinds, shapes, hashes, composites, and filters that threads share. */
static void test_every_filter(void **state) {
    static const uint8_t secret[16] = {1, 2, 3};
    static const double rates[] = {0.3, 0.01, 0.001, 0.00390625, 1e-5, 1e-9};
    const struct perhaps_kind_row *row;
    (void)state;
    if (!runs_here()) return;
    for (size_t k = 0; (row = perhaps_kind(k)); k++)
        for (size_t r = 0; r < sizeof rates / sizeof *rates; r++) {
            perhaps_want want = PERHAPS_WANT(.kind = row->kind, .items = ITEMS, .fpr = rates[r]);
            perhaps_want seeded = want, shared = want, keyed = want, grown = want, sharded = want, near = want;
            check_want(&want);
            seeded.seed = 7;
            check_want(&seeded);
            shared.shared = 1;
            check_want(&shared);
            keyed.hash = PERHAPS_SIPHASH;
            keyed.hash_key = secret;
            check_want(&keyed);
            grown.grow = PERHAPS_GROW_LAYERS;
            check_want(&grown);
            sharded.shards = 4;
            check_want(&sharded);
            near.lines = 1;
            check_want(&near);
        }
    CHECK(forms_seen == (1U << PERHAPS_VIEW_FORMS) - 1, "forms %x of views were seen", forms_seen);
}

static perhaps *open_file(const char *path, unsigned flags) {
    perhaps *f = NULL;
    MUST(perhaps_open(&f, path, &PERHAPS_OPEN(.flags = flags)));
    return f;
}

/* What adds through a view to a file that is changed in place is there afterwards, and counted; one
 * that is only read refuses them. */
static void test_files(void **state) {
    const char *path = scratch("view.ph");
    perhaps_want want = PERHAPS_WANT(.kind = PERHAPS_BLOCKED, .items = ITEMS, .fpr = 0.01);
    perhaps *f = make(&want);
    perhaps_view view;
    (void)state;
    if (!runs_here()) return;
    MUST(perhaps_save(f, path));
    perhaps_free(f);
    f = open_file(path, PERHAPS_OPEN_WRITE);
    perhaps_view_of(f, &view);
    for (uint64_t i = 0; i < ITEMS; i++) MUST(perhaps_view_add_u64(&view, member(i)));
    uint64_t items = info_of(f).items;
    MUST(perhaps_sync(f));
    perhaps_free(f);
    f = open_file(path, 0);
    perhaps_view_of(f, &view);
    CHECK(info_of(f).items == items, "the file has another count");
    for (uint64_t i = 0; i < ITEMS; i++)
        CHECK(perhaps_view_contains_u64(&view, member(i)) == 1, "key %llu is missed", (unsigned long long)i);
    REFUSED(PERHAPS_EREADONLY, perhaps_view_add_u64(&view, member(0)));
    perhaps_free(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_filter), cmocka_unit_test(test_files)};
    return cmocka_run_group_tests(tests, NULL, remove_scratch);
}
