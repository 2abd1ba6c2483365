/* Programs compiled against another version of the structs, and other small promises. */
#include "support.h"

#include <perhaps_embed.h>

#include <stdio.h>
#include <string.h>

static void older_wants_are_read_as_far_as_they_go(const struct layout *layout) {
    perhaps_want want = layout->want;
    want.size = offsetof(perhaps_want, recipe);
    /* Beyond the struct's end: must not be looked at. */
    want.recipe = &PERHAPS_RECIPE(.form = PERHAPS_KEY_HEX);
    perhaps *f = make(&want);
    perhaps_recipe told = PERHAPS_RECIPE(.form = -1);
    MUST(perhaps_recipe_of(f, &told));
    CHECK(told.form == PERHAPS_KEY_BYTES, "a field beyond the want's size was read");
    perhaps_free(f);
    want.size = 0;
    REFUSED(PERHAPS_EINVAL, perhaps_create(&f, &want));
}

/* A newer program may have fields unknown here; while they are zero it wants nothing new. */
static void newer_wants_are_read_if_they_want_nothing_new(const struct layout *layout) {
    struct {
        perhaps_want want;
        uint64_t news;
    } newer = {layout->want, 0};
    newer.want.size = sizeof newer;
    struct perhaps_plan plan = {.size = sizeof plan};
    MUST(perhaps_plan(&newer.want, &plan));
    CHECK(plan.bytes == layout->plan.bytes, "%llu bytes", (unsigned long long)plan.bytes);
    newer.news = 1;
    REFUSED(PERHAPS_EINVAL, perhaps_plan(&newer.want, &plan));
}

/* Assignments after perhaps_want_init do what PERHAPS_WANT does. */
static void both_ways_to_want_are_one(const struct layout *layout) {
    perhaps_want want;
    memset(&want, 0xAA, sizeof want);
    perhaps_want_init(&want);
    want.kind = layout->want.kind;
    want.items = layout->want.items;
    want.fpr = layout->want.fpr;
    want.grow = layout->want.grow;
    want.generations = layout->want.generations;
    want.period = layout->want.period;
    want.clear_at = layout->want.clear_at;
    want.shards = layout->want.shards;
    perhaps *f = make(&want), *g = make(&layout->want);
    seal(f), seal(g);
    CHECK(perhaps_equal(f, g) == 1, "the two filters differ");
    perhaps_free(f);
    perhaps_free(g);
}

static void the_version_is_the_headers(void **state) {
    (void)state;
    char version[32];
    snprintf(version, sizeof version, "%d.%d.%d", PERHAPS_VERSION_MAJOR, PERHAPS_VERSION_MINOR, PERHAPS_VERSION_PATCH);
    CHECK(strcmp(perhaps_version(), version) == 0, "the library says %s, the header %s", perhaps_version(), version);
}

static void older_answers_are_written_as_far_as_they_go(const struct layout *layout) {
    struct perhaps_plan plan;
    memset(&plan, 0xAA, sizeof plan);
    plan.size = offsetof(struct perhaps_plan, limit_bits_per_key);
    MUST(perhaps_plan(&layout->want, &plan));
    CHECK(plan.fpr == layout->plan.fpr && plan.lines == 0xAAAAAAAA, "lines became %x", plan.lines);

    struct perhaps_info info;
    memset(&info, 0xAA, sizeof info);
    info.size = offsetof(struct perhaps_info, format_version);
    perhaps *f = make(&layout->want);
    MUST(perhaps_info(f, &info));
    CHECK(info.capacity == layout->plan.items && info.format_version == 0xAAAAAAAA, "version became %x",
          info.format_version);
    info.size = 0;
    REFUSED(PERHAPS_EINVAL, perhaps_info(f, &info));
    perhaps_free(f);
}

static void a_plan_says_what_the_filter_can_do(const struct layout *layout) {
    perhaps *f = make(&layout->want);
    struct perhaps_info info = {.size = sizeof info};
    MUST(perhaps_facts(f, &info));
    CHECK(layout->plan.can == info.can && layout->plan.traits == info.traits, "planned %x and %x, made %x and %x",
          layout->plan.can, layout->plan.traits, info.can, info.traits);
    perhaps_free(f);
}

static void errors_have_sentences(void **state) {
    (void)state;
    for (int error = PERHAPS_EUNSEALED; error <= PERHAPS_OK; error++) {
        CHECK(perhaps_strerror(error)[0], "error %d has no sentence", error);
        for (int other = PERHAPS_EUNSEALED; other < error; other++)
            CHECK(strcmp(perhaps_strerror(error), perhaps_strerror(other)) != 0, "errors %d and %d say the same", error,
                  other);
    }
    CHECK(perhaps_strerror(-9999)[0] && perhaps_strerror(12345)[0], "unknown numbers have no sentence");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        FOR_EACH_LAYOUT(older_wants_are_read_as_far_as_they_go, 1000),
        FOR_EACH_FILTER(newer_wants_are_read_if_they_want_nothing_new, 1000),
        FOR_EACH_FILTER(both_ways_to_want_are_one, 1000),
        FOR_EACH_COMPOSITE(older_wants_are_read_as_far_as_they_go, 1000),
        FOR_EACH_COMPOSITE(older_answers_are_written_as_far_as_they_go, 1000),
        FOR_EACH_COMPOSITE(a_plan_says_what_the_filter_can_do, 1000),
        FOR_EACH_LAYOUT(older_answers_are_written_as_far_as_they_go, 1000),
        FOR_EACH_LAYOUT(a_plan_says_what_the_filter_can_do, 1000),
        FOR_EACH_STATIC(older_wants_are_read_as_far_as_they_go, 1000),
        FOR_EACH_STATIC_KIND(newer_wants_are_read_if_they_want_nothing_new, 1000),
        FOR_EACH_STATIC_KIND(both_ways_to_want_are_one, 1000),
        FOR_EACH_STATIC(older_answers_are_written_as_far_as_they_go, 1000),
        FOR_EACH_STATIC(a_plan_says_what_the_filter_can_do, 1000),
        cmocka_unit_test(errors_have_sentences),
        cmocka_unit_test(the_version_is_the_headers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
