/* Windows: what they must remember and must have forgotten, whatever time and images do. */
#include "support.h"

#include <stdlib.h>
#include <string.h>

enum { ITEMS = 3000, GENERATIONS = 4, QUOTA = ITEMS / (GENERATIONS - 1) };

static bool counts_keys(const struct layout *layout) {
    return forgets(layout) && layout->remembers > 1;
}

static bool found(const perhaps *f, uint64_t i) {
    return perhaps_contains_u64(f, member_of(f, i)) == 1;
}

/* By chance a forgotten key is found as often as a non-member. */
static void expect_forgotten(const perhaps *f, const struct layout *layout, uint64_t first, uint64_t n) {
    uint64_t still = 0;
    for (uint64_t i = first; i < first + n; i++) still += found(f, i);
    double most = layout->exact ? 0 : 2 * layout->want.fpr * (double)n + 5;
    CHECK((double)still <= most, "%llu of %llu old keys are remembered", (unsigned long long)still,
          (unsigned long long)n);
}

/* ---- the last N keys ---- */

/* One by one, or in batches of all sizes. */
static void add_some(perhaps *f, uint64_t first, uint64_t n, bool one_by_one) {
    for (uint64_t i = 0; one_by_one && i < n; i++) MUST(perhaps_add_u64(f, member_of(f, first + i)));
    if (!one_by_one) add_members(f, first, n);
}

static void the_last_keys_are_found_and_old_ones_are_not(const struct layout *layout) {
    if (!counts_keys(layout)) return;
    perhaps *f = make(&layout->want);
    uint64_t added = 0, longest = ITEMS / (GENERATIONS - 1) * GENERATIONS;
    for (uint64_t step = 1; added < 10 * ITEMS; added += step, step = step * 2 % 1999) {
        add_some(f, added, step, step % 3 == 0);
        uint64_t all = added + step, last = all < ITEMS ? all : ITEMS;
        expect_members(f, all - last, last);
        if (all > longest)
            expect_forgotten(f, layout, all > longest + 500 ? all - longest - 500 : 0,
                             500 < all - longest ? 500 : all - longest);
    }
    perhaps_free(f);
}

/* A key that comes again is known, and stays for as long as a new one. */
static void a_key_that_comes_again_is_young_again(const struct layout *layout) {
    if (!counts_keys(layout)) return;
    perhaps *f = make(&layout->want);
    MUST(perhaps_add_u64(f, member_of(f, 0)));
    for (uint64_t i = 1; i < 5 * ITEMS; i++) {
        MUST(perhaps_add_u64(f, member_of(f, i)));
        if (i % QUOTA == 0) CHECK(MUST(perhaps_add_u64(f, member_of(f, 0))) == 0, "a key that is there is new");
    }
    CHECK(found(f, 0), "a key that came again and again is forgotten");
    perhaps_free(f);
}

/* ---- the last so much time ---- */

/* Key number i comes at time START + i. */
static const uint64_t start = 1700000000;

static uint64_t time_of_next(void *context) {
    return start + *(uint64_t *)context;
}

static void expect_right_at(const perhaps *f, const struct layout *layout, uint64_t now) {
    uint64_t period = layout->want.period, longest = period / (GENERATIONS - 1) * GENERATIONS;
    for (uint64_t i = now < period ? 0 : now - period + 1; i <= now; i++)
        CHECK(found(f, i), "at time %llu, key %llu is forgotten", (unsigned long long)now, (unsigned long long)i);
    if (now > longest + 1) expect_forgotten(f, layout, 0, now - longest - 1);
}

/* Told the time, or with its clock, and in batches within one moment: the same filter. */
static void keys_are_found_for_a_period(const struct layout *layout) {
    if (!layout->want.period) return;
    perhaps *told = make(&layout->want), *reads = make(&layout->want), *batches = make(&layout->want);
    uint64_t now = 0, period = layout->want.period;
    MUST(perhaps_set_clock(reads, time_of_next, &now));
    MUST(perhaps_set_clock(batches, time_of_next, &now));
    for (now = 0; now < 4 * period; now++) {
        MUST(perhaps_advance(told, start + now));
        uint64_t key = member_of(told, now);
        int answer = (int)MUST(perhaps_add_u64(told, key));
        CHECK(perhaps_add_u64(reads, key) == answer, "a clock makes a difference");
        CHECK(perhaps_add_many(batches, &PERHAPS_KEYS_U64(&key, 0, 1), NULL) == answer, "a batch makes a difference");
        if (now % 500 == 0) expect_right_at(told, layout, now);
    }
    CHECK(perhaps_equal(told, reads) == 1 && perhaps_equal(told, batches) == 1, "the filters differ");
    perhaps_free(told);
    perhaps_free(reads);
    perhaps_free(batches);
}

static uint64_t count_readings(void *context) {
    return start + ++*(uint64_t *)context;
}

/* Once in a call, however many keys that has. */
static void a_clock_is_read_once(const struct layout *layout) {
    if (!layout->want.period) return;
    perhaps *f = make(&layout->want);
    uint64_t readings = 0, keys[5000];
    for (uint64_t i = 0; i < 5000; i++) keys[i] = member_of(f, i);
    MUST(perhaps_set_clock(f, count_readings, &readings));
    MUST(perhaps_add_u64(f, keys[0]));
    MUST(perhaps_add_absent_u64(f, keys[1]));
    MUST(perhaps_add_many(f, &PERHAPS_KEYS_U64(keys, 0, 3), NULL));
    CHECK(readings == 3, "a clock was read %llu times in three calls", (unsigned long long)readings);
    MUST(perhaps_add_many(f, &PERHAPS_KEYS_U64(keys, 0, 5000), NULL));
    CHECK(readings == 4, "a clock was read %llu times in one call", (unsigned long long)readings - 3);
    perhaps_free(f);
}

/* A generation is forgotten a period after its end; time never goes back. */
static void time_goes_on(const struct layout *layout) {
    if (!layout->want.period) return;
    perhaps *f = make(&layout->want);
    uint64_t part = layout->want.period / (GENERATIONS - 1);
    MUST(perhaps_advance(f, start));
    MUST(perhaps_add_u64(f, member_of(f, 0)));
    CHECK(MUST(perhaps_advance(f, start)) == 0, "a moment was no time, and something is forgotten");
    CHECK(MUST(perhaps_advance(f, start + part - 1)) == 0, "too early");
    CHECK(MUST(perhaps_advance(f, start + part)) == 0, "an empty one counts");
    CHECK(MUST(perhaps_advance(f, 5)) == 0, "time went back");
    CHECK(MUST(perhaps_advance(f, start + 4 * part - 1)) == 0 && found(f, 0), "less than four parts of a period");
    CHECK(MUST(perhaps_advance(f, start + 4 * part)) == 1 && !found(f, 0), "four parts of a period");
    MUST(perhaps_add_u64(f, member_of(f, 0)));
    CHECK(MUST(perhaps_advance(f, UINT64_MAX)) == 1 && !found(f, 0), "the end of time");
    MUST(perhaps_add_u64(f, member_of(f, 0)));
    CHECK(MUST(perhaps_advance(f, UINT64_MAX)) == 0 && found(f, 0), "after the end of time");
    perhaps_free(f);
}

/* An image has the times of the generations: what is opened goes on as if nothing had been. */
/* Keys that come before any time was told are as old as the first time. */
static void the_first_time_forgets_nothing(const struct layout *layout) {
    if (!layout->want.period) return;
    perhaps *f = make_with_members(layout, 10);
    CHECK(MUST(perhaps_advance(f, 1700000000)) == 0, "something was forgotten");
    expect_members(f, 0, 10);
    MUST(perhaps_advance(f, 1700000000 + layout->want.period - 1));
    expect_members(f, 0, 10);
    MUST(perhaps_advance(f, 1700000000 + 3 * layout->want.period));
    expect_forgotten(f, layout, 0, 10);
    perhaps_free(f);
}

static void images_keep_the_time(const struct layout *layout) {
    if (!layout->want.period) return;
    perhaps *straight = make(&layout->want), *f = make(&layout->want);
    for (uint64_t now = 0; now < 3 * layout->want.period; now += 7) {
        struct bytes image = image_of(f);
        perhaps_free(f);
        MUST(perhaps_open_memory(&f, image.data, image.length, &PERHAPS_OPEN(.flags = PERHAPS_OPEN_COPY)));
        free(image.data);
        CHECK(perhaps_advance(f, start + now) == perhaps_advance(straight, start + now), "time differs");
        MUST(perhaps_add_u64(f, member_of(f, now)));
        MUST(perhaps_add_u64(straight, member_of(f, now)));
        CHECK(perhaps_equal(f, straight) == 1, "at %llu the two differ", (unsigned long long)now);
    }
    perhaps_free(f);
    perhaps_free(straight);
}

static void a_filter_that_is_read_only_knows_no_time(const struct layout *layout) {
    if (!layout->want.period) return;
    perhaps *f = make(&layout->want), *g = NULL;
    struct bytes image = image_of(f);
    MUST(perhaps_open_memory(&g, image.data, image.length, NULL));
    REFUSED(PERHAPS_EREADONLY, perhaps_advance(g, start));
    expect_unchanged(g, image);
    perhaps_free(f);
    perhaps_free(g);
    free(image.data);
}

/* Others know no time at all. */
static void time_is_for_windows_with_a_period(const struct layout *layout) {
    if (layout->want.period) return;
    perhaps *f = make_with_members(layout, layout->items);
    struct bytes before = image_of(f);
    CHECK(MUST(perhaps_advance(f, start)) == 0, "time means something");
    REFUSED(PERHAPS_EINVAL, perhaps_set_clock(f, time_of_next, &f));
    REFUSED(PERHAPS_EINVAL, perhaps_contains_as_of(f, start, &PERHAPS_KEYS_U64(&start, 0, 1), NULL));
    REFUSED(PERHAPS_EINVAL, perhaps_facts_as_of(f, start, &(struct perhaps_info){.size = sizeof(struct perhaps_info)}));
    expect_unchanged(f, before);
    free(before.data);
    perhaps_free(f);
}

/* ---- up to a fill ---- */

static void it_clears_itself_at_its_fill(const struct layout *layout) {
    if (!(layout->want.clear_at > 0)) return;
    perhaps *f = make(&layout->want);
    unsigned cleared = 0;
    uint64_t before = 0, items = 0;
    for (uint64_t i = 0; i < 12 * ITEMS; i++, before = items) {
        MUST(perhaps_add_u64(f, member_of(f, i)));
        CHECK(found(f, i), "key %llu is missed at once", (unsigned long long)i);
        if (i % 50) continue;
        struct perhaps_info info = info_of(f);
        items = info.items;
        CHECK(info.fill < layout->want.clear_at + 0.01, "the fill is %g", info.fill);
        CHECK(items >= before || before > ITEMS, "cleared with %llu keys", (unsigned long long)before);
        cleared += items < before;
    }
    CHECK(cleared >= 3, "cleared %u times", cleared);
    perhaps_free(f);
}

/* ---- looking in ---- */

/* The children are what the filter is made of. */
static void children_add_up(const struct layout *layout) {
    perhaps *f = make_with_members(layout, layout->items);
    struct perhaps_info info = info_of(f), child = {.size = sizeof child};
    uint64_t items = 0, bytes = 0;
    CHECK(info.children >= 1 && info.base > 0, "%u children", info.children);
    for (unsigned i = 0; i < info.children; i++) {
        MUST(perhaps_child(f, i, &child));
        CHECK(child.kind == info.base && child.seed == info.seed, "child %u is another", i);
        items += child.items;
        bytes += child.bytes;
    }
    CHECK(items == info.items && bytes == info.bytes, "%llu of %llu items, %llu of %llu bytes",
          (unsigned long long)items, (unsigned long long)info.items, (unsigned long long)bytes,
          (unsigned long long)info.bytes);
    REFUSED(PERHAPS_EINVAL, perhaps_child(f, info.children, &child));
    CHECK(info.period == layout->want.period, "period %llu", (unsigned long long)info.period);
    CHECK(info.clear_at - layout->want.clear_at < 1e-9 && layout->want.clear_at - info.clear_at < 1e-9, "clear_at %g",
          info.clear_at);
    perhaps_free(f);
}

static void kinds_have_no_children(const struct layout *layout) {
    perhaps *f = make(&layout->want);
    struct perhaps_info child = {.size = sizeof child};
    CHECK(info_of(f).children == 0 && info_of(f).base == 0, "a single filter has children");
    REFUSED(PERHAPS_EINVAL, perhaps_child(f, 0, &child));
    perhaps_free(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        FOR_EACH_COMPOSITE(the_last_keys_are_found_and_old_ones_are_not, ITEMS),
        FOR_EACH_COMPOSITE(a_key_that_comes_again_is_young_again, ITEMS),
        FOR_EACH_COMPOSITE(keys_are_found_for_a_period, ITEMS),
        FOR_EACH_COMPOSITE(a_clock_is_read_once, ITEMS),
        FOR_EACH_COMPOSITE(time_goes_on, ITEMS),
        FOR_EACH_COMPOSITE(the_first_time_forgets_nothing, ITEMS),
        FOR_EACH_COMPOSITE(images_keep_the_time, ITEMS),
        FOR_EACH_COMPOSITE(a_filter_that_is_read_only_knows_no_time, ITEMS),
        FOR_EACH_FILTER(time_is_for_windows_with_a_period, ITEMS),
        FOR_EACH_COMPOSITE(it_clears_itself_at_its_fill, ITEMS),
        FOR_EACH_COMPOSITE(children_add_up, ITEMS),
        FOR_EACH_KIND(kinds_have_no_children, ITEMS),
        FOR_EACH_STATIC_KIND(kinds_have_no_children, ITEMS),
        FOR_EACH_STATIC_KIND(time_is_for_windows_with_a_period, ITEMS),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
