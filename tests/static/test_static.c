/* Static filters: they collect keys first and answer queries later, never both. */
#include "support.h"

#include <perhaps_embed.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ITEMS = 1000, TWO_PARTS = 1500000 };

/* ---- keys ---- */

static void expect_items(const perhaps *f, uint64_t items) {
    struct perhaps_info info = info_of(f);
    CHECK(info.items == items && info.distinct == (double)items, "%llu items, %g distinct, of %llu",
          (unsigned long long)info.items, info.distinct, (unsigned long long)items);
    CHECK(info.collecting == 0, "a sealed filter says that it collects");
}

static void no_key_is_missed(const struct layout *layout) {
    static const uint64_t counts[] = {0, 1, 2, 3, 10, 63, 64, 65, 1000, 4099};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        perhaps *f = make_with_members(layout, counts[i]);
        expect_members(f, 0, counts[i]);
        expect_items(f, counts[i]);
        if (!counts[i]) CHECK(count_false_positives(f, 0, 10000) == 0, "an empty filter finds something");
        perhaps_free(f);
    }
}

/* The planned size is the size made, and the false-positive rate holds, from that many keys on. */
static void many_keys_are_as_planned(const struct layout *layout) {
    perhaps *f = make_with_members(layout, layout->items);
    expect_members(f, 0, layout->items);
    expect_items(f, layout->items);
    struct perhaps_info info = info_of(f);
    CHECK(fabs((double)info.bytes / (double)layout->plan.bytes - 1) < 0.01 || layout->items < 100000,
          "%llu bytes were planned, and it has %llu", (unsigned long long)layout->plan.bytes,
          (unsigned long long)info.bytes);
    CHECK(info.capacity == layout->items && info.fpr_target == layout->plan.fpr, "capacity %llu, target %g",
          (unsigned long long)info.capacity, info.fpr_target);
    double queries = 300000, due = layout->plan.fpr * queries, found = (double)count_false_positives(f, 0, 300000);
    CHECK(fabs(found - due) <= 4 * sqrt(due) + 1, "%g non-members of %g are found, %g are due", found, queries, due);
    perhaps_free(f);
}

/* Digests of all sorts; and batches, alone and together, whatever they begin with. */
static void special_digests_are_found(const struct layout *layout) {
    static const uint64_t special[] = {0, 1, UINT64_MAX, UINT32_MAX, (uint64_t)UINT32_MAX << 32, (uint64_t)1 << 63};
    enum { SPECIAL = sizeof special / sizeof *special };
    for (size_t n = 1; n <= SPECIAL; n++) {
        perhaps *f = make(&layout->want);
        for (size_t i = 0; i < n; i++) CHECK(perhaps_add_digest(f, special[i]) == 1, "digest %zu", i);
        seal(f);
        CHECK(MUST(perhaps_contains_many(f, &PERHAPS_KEYS_DIGEST(special, n), NULL)) == (int64_t)n,
              "one of %zu is missed", n);
        perhaps_free(f);
    }
}

/* ---- keys that come more than once ---- */

static void equal_keys_are_one(const struct layout *layout) {
    perhaps *f = make(&layout->want);
    uint64_t *keys = calloc((size_t)layout->items, sizeof *keys);
    CHECK(keys, "no memory");
    for (uint64_t i = 0; i < layout->items; i++) keys[i] = member(7);
    CHECK(MUST(perhaps_add_many(f, &PERHAPS_KEYS_U64(keys, 0, (size_t)layout->items), NULL)) == (int64_t)layout->items,
          "adding answers 1");
    CHECK(info_of(f).items == layout->items, "%llu wait", (unsigned long long)info_of(f).items);
    seal(f);
    expect_members(f, 7, 1);
    expect_items(f, 1);
    CHECK(info_of(f).bytes < 4096, "one key takes %llu bytes", (unsigned long long)info_of(f).bytes);
    perhaps_free(f);
    free(keys);
}

/* So few distinct keys that the bins which are looked at beforehand may have none of them. */
static void few_keys_many_times(const struct layout *layout) {
    uint64_t *keys = calloc((size_t)layout->items, sizeof *keys);
    CHECK(keys, "no memory");
    for (uint64_t different = 2; different < 500; different = different * 3 / 2) {
        for (uint64_t i = 0; i < layout->items; i++) keys[i] = member(different * 1000 + i % different);
        perhaps *f = make(&layout->want);
        MUST(perhaps_add_many(f, &PERHAPS_KEYS_U64(keys, 0, (size_t)layout->items), NULL));
        seal(f);
        expect_members(f, different * 1000, different);
        expect_items(f, different);
        perhaps_free(f);
    }
    free(keys);
}

/* Half of them twice, some a third time. The size is that of a filter of the distinct keys. */
static void repeated_keys_take_no_room(const struct layout *layout) {
    perhaps *once = make_with_members(layout, layout->items), *f = make(&layout->want);
    add_members(f, 0, layout->items);
    add_members(f, layout->items / 2, layout->items / 2);
    add_members(f, 0, layout->items / 3);
    seal(f);
    expect_members(f, 0, layout->items);
    expect_items(f, layout->items);
    double size = (double)info_of(f).bytes, due = (double)info_of(once).bytes;
    CHECK(fabs(size / due - 1) < 0.05 || fabs(size - due) < 256, "%g bytes where %g are due", size, due);
    perhaps_free(f);
    perhaps_free(once);
}

/* ---- too early, too late ---- */

static void expect_no_queries(const perhaps *f) {
    const void *keys[] = {"a"};
    size_t lengths[] = {1};
    uint64_t key = member(0);
    uint8_t answer = 7;
    REFUSED(PERHAPS_EUNSEALED, perhaps_contains(f, "a", 1));
    REFUSED(PERHAPS_EUNSEALED, perhaps_contains_u64(f, key));
    REFUSED(PERHAPS_EUNSEALED, perhaps_contains_digest(f, key));
    REFUSED(PERHAPS_EUNSEALED, perhaps_contains_many(f, &PERHAPS_KEYS_BYTES(keys, lengths, 1), &answer));
    REFUSED(PERHAPS_EUNSEALED, perhaps_contains_many(f, &PERHAPS_KEYS_U64(&key, 0, 1), &answer));
    REFUSED(PERHAPS_EUNSEALED, perhaps_contains_many(f, &PERHAPS_KEYS_DIGEST(&key, 1), NULL));
    REFUSED(PERHAPS_EUNSEALED, perhaps_contains_parallel(f, &PERHAPS_KEYS_BYTES(keys, lengths, 1), &answer, 2));
    REFUSED(PERHAPS_EUNSEALED, perhaps_contains_parallel(f, &PERHAPS_KEYS_U64(&key, 0, 1), NULL, 2));
    REFUSED(PERHAPS_EUNSEALED, perhaps_contains_parallel(f, &PERHAPS_KEYS_DIGEST(&key, 1), &answer, 0));
    CHECK(answer == 7, "a refused query was answered");
}

/* Nor is there an image of it, and requesting one does not seal it. */
static int count_calls(void *context, const void *bytes, size_t length) {
    (void)bytes, (void)length;
    return ++*(int *)context;
}

static void expect_no_image(perhaps *f) {
    const char *path = scratch("unsealed.ph");
    const void *bytes = NULL;
    uint64_t length = 0;
    int calls = 0;
    REFUSED(PERHAPS_EUNSEALED, perhaps_save(f, path));
    REFUSED(PERHAPS_EUNSEALED, perhaps_write(f, count_calls, &calls));
    REFUSED(PERHAPS_EUNSEALED, perhaps_image(f, &bytes, &length));
    CHECK(calls == 0 && !bytes && access(path, F_OK) != 0, "a refused call wrote something");
    CHECK(info_of(f).collecting == 1, "a refused call sealed the filter");
}

static void no_queries_before_sealing(const struct layout *layout) {
    perhaps *f = make(&layout->want);
    expect_no_queries(f);
    add_members(f, 0, ITEMS);
    expect_no_queries(f);
    expect_no_image(f);
    CHECK(info_of(f).collecting == 1 && info_of(f).items == ITEMS, "%llu keys wait",
          (unsigned long long)info_of(f).items);
    seal(f);
    expect_members(f, 0, ITEMS);
    seal(f); /* once more does nothing */
    expect_members(f, 0, ITEMS);
    perhaps_free(f);
}

static void expect_closed(perhaps *f) {
    struct bytes before = image_of(f);
    const void *keys[] = {"a"};
    size_t lengths[] = {1};
    uint64_t key = non_member(0);
    REFUSED(PERHAPS_ESEALED, perhaps_add(f, "a", 1));
    REFUSED(PERHAPS_ESEALED, perhaps_add_u64(f, key));
    REFUSED(PERHAPS_ESEALED, perhaps_add_digest(f, key));
    REFUSED(PERHAPS_ESEALED, perhaps_add_absent(f, "a", 1));
    REFUSED(PERHAPS_ESEALED, perhaps_add_absent_u64(f, key));
    REFUSED(PERHAPS_ESEALED, perhaps_add_absent_digest(f, key));
    REFUSED(PERHAPS_ESEALED, perhaps_add_many(f, &PERHAPS_KEYS_BYTES(keys, lengths, 1), NULL));
    REFUSED(PERHAPS_ESEALED, perhaps_add_many(f, &PERHAPS_KEYS_U64(&key, 0, 1), NULL));
    REFUSED(PERHAPS_ESEALED, perhaps_add_many(f, &PERHAPS_KEYS_DIGEST(&key, 1), NULL));
    REFUSED(PERHAPS_ESEALED, perhaps_add_parallel(f, &PERHAPS_KEYS_BYTES(keys, lengths, 1), NULL, 2));
    REFUSED(PERHAPS_ESEALED, perhaps_add_parallel(f, &PERHAPS_KEYS_U64(&key, 0, 1), NULL, 2));
    REFUSED(PERHAPS_ESEALED, perhaps_add_parallel(f, &PERHAPS_KEYS_DIGEST(&key, 1), NULL, 0));
    CHECK(perhaps_add_many(f, &PERHAPS_KEYS_U64(&key, 0, 0), NULL) == 0 &&
              perhaps_add_parallel(f, &PERHAPS_KEYS_U64(&key, 0, 0), NULL, 2) == 0,
          "no keys are refused");
    expect_unchanged(f, before);
    free(before.data);
}

/* In memory, in a file, in a copy; neither files nor bytes can be opened for it. */
static void nothing_is_added_after_sealing(const struct layout *layout) {
    static const unsigned flags[] = {0, PERHAPS_OPEN_COPY, PERHAPS_OPEN_NO_VERIFY};
    perhaps_open_options writing = PERHAPS_OPEN(.flags = PERHAPS_OPEN_WRITE);
    const char *path = scratch("closed.ph");
    perhaps *f = make_with_members(layout, ITEMS), *g = NULL, *copy = NULL;
    struct bytes image = image_of(f);
    expect_closed(f);
    MUST(perhaps_clone(f, &copy));
    expect_closed(copy);
    MUST(perhaps_save(f, path));
    for (size_t i = 0; i < 6; i++) {
        perhaps_open_options options = PERHAPS_OPEN(.flags = flags[i / 2]);
        MUST(i % 2 ? perhaps_open_memory(&g, image.data, image.length, &options) : perhaps_open(&g, path, &options));
        expect_closed(g);
        expect_members(g, 0, ITEMS);
        seal(g); /* it is */
        perhaps_free(g);
    }
    REFUSED(PERHAPS_ESEALED, perhaps_open(&g, path, &writing));
    REFUSED(PERHAPS_ESEALED, perhaps_open_memory(&g, image.data, image.length, &writing));
    CHECK(g == NULL, "a refused call made a filter");
    unlink(path);
    free(image.data);
    perhaps_free(f);
    perhaps_free(copy);
}

/* What adds absent keys cannot know which are: it collects, too. All forms of adding are one. */
static void all_ways_of_adding_collect(const struct layout *layout) {
    struct byte_keys bytes = make_byte_keys(50, 3);
    perhaps *f = make(&layout->want), *g = make(&layout->want);
    uint64_t key = member(1);
    for (size_t i = 0; i < bytes.n; i++) CHECK(perhaps_add(f, bytes.keys[i], bytes.lengths[i]) == 1, "key %zu", i);
    CHECK(perhaps_add_u64(f, key) == 1 && perhaps_add_digest(f, 17) == 1, "single keys");
    CHECK(perhaps_add_parallel(g, &PERHAPS_KEYS_BYTES(bytes.keys, bytes.lengths, bytes.n), NULL, 3) == 50,
          "many keys of bytes");
    CHECK(perhaps_add_absent_u64(g, key) == 1 && perhaps_add_absent_digest(g, 17) == 1, "absent ones");
    seal(f), seal(g);
    CHECK(perhaps_equal(f, g) == 1, "two ways of adding make two filters");
    for (size_t i = 0; i < bytes.n; i++)
        CHECK(perhaps_contains(g, bytes.keys[i], bytes.lengths[i]) == 1, "key %zu is missed", i);
    perhaps_free(f);
    perhaps_free(g);
    free_byte_keys(&bytes);
}

/* ---- queries ---- */

static void batches_agree_with_singles(const struct layout *layout) {
    static const size_t more[] = {255, 256, 257, 511, 513, 1023, 1025, 4097};
    static uint64_t keys[4097];
    static uint8_t answers[4098];
    perhaps *f = make_with_members(layout, ITEMS);
    for (size_t i = 0; i < 4097; i++) keys[i] = i % 3 ? member(i) : non_member(i);
    for (size_t round = 0; round < 131 + sizeof more / sizeof *more; round++) {
        size_t n = round < 131 ? round : more[round - 131];
        const uint64_t *start = keys + (4097 - n) / 2;
        int64_t ones = 0;
        memset(answers, 7, sizeof answers);
        int64_t found = MUST(perhaps_contains_many(f, &PERHAPS_KEYS_U64(start, 0, n), answers));
        for (size_t i = 0; i < n; ones += answers[i++])
            CHECK(answers[i] == perhaps_contains_u64(f, start[i]), "answer %zu of %zu is %d", i, n, answers[i]);
        CHECK(found == ones && answers[n] == 7, "%lld found, %lld counted of %zu", (long long)found, (long long)ones,
              n);
        CHECK(MUST(perhaps_contains_many(f, &PERHAPS_KEYS_DIGEST(start, n), answers)) >= 0, "digests");
        for (size_t i = 0; i < n; i++)
            CHECK(answers[i] == perhaps_contains_digest(f, start[i]), "digest %zu of %zu is %d", i, n, answers[i]);
    }
    perhaps_free(f);
}

/* ---- whole filters ---- */

/* A filter that collects has no array: as a whole it can only be cleared, moved and described. */
static void what_collects_is_not_combined(const struct layout *layout) {
    perhaps *f = make(&layout->want), *sealed = make_with_members(layout, ITEMS), *copy = f;
    uint8_t shape[4096];
    add_members(f, 0, ITEMS);
    REFUSED(PERHAPS_EUNSEALED, perhaps_clone(f, &copy));
    CHECK(copy == NULL, "a refused clone left a pointer");
    CHECK(!perhaps_equal(f, sealed) && !perhaps_equal(sealed, f), "what collects is equal to nothing");
    for (int turn = 0; turn < 2; turn++) {
        perhaps *into = turn ? f : sealed, *from = turn ? sealed : f, *same = into;
        REFUSED(PERHAPS_ECANNOT, perhaps_merge(into, from));
        REFUSED(PERHAPS_ECANNOT, perhaps_intersect(into, from));
        REFUSED(PERHAPS_ECANNOT, perhaps_subtract(into, from));
        REFUSED(PERHAPS_ECANNOT, perhaps_differ(into, from));
        REFUSED(PERHAPS_ECANNOT, perhaps_shape(into, shape, sizeof shape));
        REFUSED(PERHAPS_ECANNOT, perhaps_shape(into, NULL, 0));
        REFUSED(PERHAPS_ECANNOT, perhaps_grow_layers(&same, 0.5, 0, 0));
        REFUSED(PERHAPS_ECANNOT, perhaps_ungrow_layers(&same));
        REFUSED(PERHAPS_ECANNOT, perhaps_fold(into, 64));
        REFUSED(PERHAPS_ECANNOT, perhaps_remove_u64(into, member(1)));
        REFUSED(PERHAPS_ECANNOT, perhaps_count_u64(into, member(1)));
        REFUSED(PERHAPS_ECANNOT, perhaps_write_foreign(into, NULL, NULL));
        MUST(perhaps_sync(into)), MUST(perhaps_advance(into, 5)), MUST(perhaps_compact(into));
        CHECK(same == into, "another filter after a refusal");
    }
    seal(f);
    CHECK(perhaps_equal(f, sealed) == 1, "the refusals changed what was collected");
    MUST(perhaps_clone(f, &copy));
    CHECK(perhaps_equal(f, copy) == 1 && info_of(copy).collecting == 0, "a clone is sealed and equal");
    perhaps_free(f);
    expect_members(copy, 0, ITEMS);
    perhaps_free(copy);
    perhaps_free(sealed);
}

static void info_tells_of_collecting(const struct layout *layout) {
    perhaps *f = make(&layout->want);
    struct perhaps_info facts = {.size = sizeof facts};
    add_members(f, 0, 10);
    add_members(f, 0, 10);
    MUST(perhaps_facts(f, &facts));
    struct perhaps_info info = info_of(f);
    CHECK(info.items == facts.items && info.bytes == facts.bytes && info.capacity == facts.capacity &&
              info.distinct == 0 && info.fill == 0 && info.fpr_now == 0 && info.loss == 0,
          "of what collects, facts are all that there is to know");
    CHECK(info.collecting == 1 && info.items == 20 && info.read_only == 0 && info.can == 0, "%llu items",
          (unsigned long long)info.items);
    CHECK(info.kind == layout->row->kind && info.fpr_target == layout->plan.fpr, "kind %d at %g", info.kind,
          info.fpr_target);
    seal(f);
    info = info_of(f);
    CHECK(info.collecting == 0 && info.items == 10 && info.capacity == 10, "%llu items of %llu",
          (unsigned long long)info.items, (unsigned long long)info.capacity);
    CHECK(info.fpr_now > 0.5 * info.fpr_target && info.fpr_now < 1.01 * info.fpr_target, "the rate is %g, of %g",
          info.fpr_now, info.fpr_target);
    CHECK(info.fill > 0 && info.fill <= 1, "fill is %g", info.fill);
    MUST(perhaps_clear(f));
    CHECK(info_of(f).collecting == 1 && info_of(f).items == 0, "cleared, it has %llu",
          (unsigned long long)info_of(f).items);
    perhaps_free(f);
}

/* Clearing begins anew: before sealing, after it, and in a copy of a file. */
static void clearing_begins_anew(const struct layout *layout) {
    perhaps *f = make(&layout->want), *straight = make_with_members(layout, ITEMS), *copy = NULL;
    add_members(f, 5 * ITEMS, ITEMS);
    for (int round = 0; round < 3; round++) {
        MUST(perhaps_clear(f));
        add_members(f, 0, ITEMS);
        if (round) seal(f);
    }
    CHECK(perhaps_equal(f, straight) == 1, "what was cleared has left something");
    struct bytes image = image_of(f);
    MUST(perhaps_open_memory(&copy, image.data, image.length, &PERHAPS_OPEN(.flags = PERHAPS_OPEN_COPY)));
    MUST(perhaps_clear(copy));
    expect_no_queries(copy);
    add_members(copy, 0, ITEMS);
    expect_unchanged(copy, image); /* which seals it */
    perhaps_free(copy);
    MUST(perhaps_open_memory(&copy, image.data, image.length, NULL));
    REFUSED(PERHAPS_EREADONLY, perhaps_clear(copy));
    expect_members(copy, 0, ITEMS);
    perhaps_free(copy);
    free(image.data);
    perhaps_free(f);
    perhaps_free(straight);
}

/* ---- wants ---- */

/* What grows, forgets or is shared by threads is not static. */
static void combinations_are_refused(const struct layout *layout) {
    perhaps_want wants[5];
    for (int i = 0; i < 5; i++) wants[i] = layout->want;
    wants[0].grow = PERHAPS_GROW_LAYERS;
    wants[1].generations = 4;
    wants[2].shards = 3;
    wants[3].shared = 1;
    wants[4].needs = PERHAPS_ADD;
    for (int i = 0; i < 5; i++) {
        struct perhaps_plan plan = {.size = sizeof plan};
        perhaps *f = (perhaps *)&plan;
        int rc = perhaps_plan(&wants[i], &plan);
        CHECK(rc == PERHAPS_EINVAL || rc == PERHAPS_ECANNOT || rc == PERHAPS_ERANGE, "want %d got %d", i, rc);
        REFUSED(rc, perhaps_create(&f, &wants[i]));
        CHECK(f == NULL, "a failed perhaps_create left a pointer");
        CHECK(strstr(perhaps_why(), layout->row->name), "the reason does not name the kind: %s", perhaps_why());
    }
}

static struct perhaps_plan plan_of(perhaps_want want) {
    struct perhaps_plan plan = {.size = sizeof plan};
    MUST(perhaps_plan(&want, &plan));
    return plan;
}

/* A false-positive rate, bits per key, or memory for n keys: each is enough, and all agree. */
static void any_way_of_wanting_will_do(const struct layout *layout) {
    int kind = layout->row->kind;
    struct perhaps_plan rate = plan_of(PERHAPS_WANT(.kind = kind, .fpr = 0.01)),
                        bits = plan_of(PERHAPS_WANT(.kind = kind, .bits_per_key = 9)),
                        both = plan_of(PERHAPS_WANT(.kind = kind, .items = 500000, .bits_per_key = 9)),
                        size = plan_of(PERHAPS_WANT(.kind = kind, .items = 500000, .bytes = 9 * 500000 / 8)),
                        keys = plan_of(PERHAPS_WANT(.kind = kind, .fpr = 0.01, .bytes = 1 << 20));
    CHECK(rate.fpr <= 0.01 && rate.fpr > 0.005 && rate.items > 0, "a rate of %g", rate.fpr);
    CHECK(bits.bits_per_key <= 9 && bits.fpr < 0.01 && bits.items > 0, "%g bits", bits.bits_per_key);
    CHECK(both.fpr == size.fpr && both.bytes == size.bytes && both.items == 500000, "%g and %g", both.fpr, size.fpr);
    CHECK(keys.bytes <= 1 << 20 && keys.items > 1000000 && keys.fpr <= 0.01, "%llu keys",
          (unsigned long long)keys.items);
    perhaps *f = make(&PERHAPS_WANT(.kind = kind, .bits_per_key = 9));
    add_members(f, 0, 200000);
    seal(f);
    CHECK(info_of(f).bits_per_key < 9.1, "%g bits for each key", info_of(f).bits_per_key);
    perhaps_free(f);
    REFUSED(PERHAPS_EINVAL,
            perhaps_create(&f, &PERHAPS_WANT(.kind = kind, .bits_per_key = 9, .fpr = 0.01, .items = 9)));
    REFUSED(PERHAPS_EINVAL, perhaps_create(&f, &PERHAPS_WANT(.kind = kind, .bytes = 100000)));
    REFUSED(PERHAPS_EINVAL, perhaps_create(&f, &PERHAPS_WANT(.kind = kind)));
    REFUSED(PERHAPS_ERANGE, perhaps_create(&f, &PERHAPS_WANT(.kind = kind, .fpr = 0x1p-33)));
    REFUSED(PERHAPS_ERANGE, perhaps_create(&f, &PERHAPS_WANT(.kind = kind, .bits_per_key = 0.5)));
}

static void static_kinds_are_taken_by_name_only(void **state) {
    (void)state;
    struct layout layouts[MOST_LAYOUTS];
    size_t n = find_static(layouts, ITEMS);
    static const double rates[] = {0.5, 0.01, 1e-4, 1e-9};
    for (size_t p = 0; p < sizeof rates / sizeof *rates; p++) {
        struct perhaps_plan plan = plan_of(PERHAPS_WANT(.items = 1000000, .fpr = rates[p]));
        for (size_t i = 0; i < n; i++) CHECK(plan.kind != layouts[i].row->kind, "%s was chosen", layouts[i].row->name);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        FOR_EACH_STATIC(no_key_is_missed, ITEMS),
        FOR_EACH_STATIC(many_keys_are_as_planned, 100000),
        FOR_EACH_STATIC_KIND(many_keys_are_as_planned, TWO_PARTS),
        FOR_EACH_STATIC(special_digests_are_found, ITEMS),
        FOR_EACH_STATIC(equal_keys_are_one, 100000),
        FOR_EACH_STATIC_KIND(few_keys_many_times, 100000),
        FOR_EACH_STATIC(repeated_keys_take_no_room, ITEMS),
        FOR_EACH_STATIC_KIND(repeated_keys_take_no_room, 200000),
        FOR_EACH_STATIC(no_queries_before_sealing, ITEMS),
        FOR_EACH_STATIC(nothing_is_added_after_sealing, ITEMS),
        FOR_EACH_STATIC(all_ways_of_adding_collect, ITEMS),
        FOR_EACH_STATIC(batches_agree_with_singles, ITEMS),
        FOR_EACH_STATIC_KIND(what_collects_is_not_combined, ITEMS),
        FOR_EACH_STATIC(info_tells_of_collecting, ITEMS),
        FOR_EACH_STATIC(clearing_begins_anew, ITEMS),
        FOR_EACH_STATIC_KIND(combinations_are_refused, ITEMS),
        FOR_EACH_STATIC_KIND(any_way_of_wanting_will_do, ITEMS),
        cmocka_unit_test(static_kinds_are_taken_by_name_only),
    };
    return cmocka_run_group_tests(tests, NULL, remove_scratch);
}
