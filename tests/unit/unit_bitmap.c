/* Bitmaps against a plain array, their growth, and what they cost in memory and on disk. */
#include "support.h"

#include "kind/kind.h"
#include "base/bits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static perhaps *make_bitmap(uint64_t range) {
    return make(&PERHAPS_WANT(.kind = PERHAPS_BITMAP, .items = range));
}

static perhaps *make_fixed(uint64_t range) {
    return make(&PERHAPS_WANT(.kind = PERHAPS_BITMAP, .items = range, .grow = PERHAPS_GROW_NEVER));
}

static uint64_t items_of(const perhaps *f) {
    return info_of(f).items;
}

/* The filter must hold exactly the i below n for which set[i]. */
static void expect_set(const perhaps *f, const bool *set, uint64_t n) {
    uint64_t at = 0, id, all = 0;
    for (uint64_t i = 0; i < n; i++) {
        CHECK(perhaps_contains_u64(f, i) == set[i], "%llu is wrong", (unsigned long long)i);
        if (!set[i]) continue;
        all++;
        CHECK(MUST(perhaps_next(f, &at, &id)) == 1 && id == i, "the next is %llu, not %llu", (unsigned long long)id,
              (unsigned long long)i);
    }
    CHECK(perhaps_next(f, &at, &id) == 0 && perhaps_next(f, &at, &id) == 0, "there is one more");
    CHECK(items_of(f) == all && (uint64_t)info_of(f).distinct == all, "%llu items, not %llu",
          (unsigned long long)items_of(f), (unsigned long long)all);
}

/* ---- single ids ---- */

static void it_is_an_array_of_bits(void **state) {
    (void)state;
    static const uint64_t ranges[] = {1, 2, 63, 64, 65, 1000, 4096, 100000};
    for (size_t r = 0; r < 8; r++) {
        uint64_t range = ranges[r], random = 3;
        perhaps *f = make_fixed(range);
        bool *set = calloc((size_t)range, 1);
        for (int step = 0; step < 20000; step++) {
            uint64_t word = next_random(&random), id = (word >> 8) % range;
            if (word & 1)
                CHECK(perhaps_remove_u64(f, id) == set[id], "remove of %llu", (unsigned long long)id);
            else
                CHECK(perhaps_add_u64(f, id) == !set[id], "add of %llu", (unsigned long long)id);
            set[id] = !(word & 1);
        }
        expect_set(f, set, range);
        free(set);
        perhaps_free(f);
    }
}

static void the_range_has_two_ends(void **state) {
    (void)state;
    perhaps *f = make_fixed(1000);
    CHECK(perhaps_add_u64(f, 0) == 1 && perhaps_add_u64(f, 999) == 1 && perhaps_add_u64(f, 999) == 0, "the ends");
    REFUSED(PERHAPS_EFULL, perhaps_add_u64(f, 1000));
    REFUSED(PERHAPS_EFULL, perhaps_add_u64(f, UINT64_MAX));
    CHECK(perhaps_contains_u64(f, 1000) == 0 && perhaps_contains_u64(f, UINT64_MAX) == 0, "beyond the range");
    CHECK(perhaps_remove_u64(f, 1000) == 0 && perhaps_remove_u64(f, UINT64_MAX) == 0, "removed beyond the range");
    CHECK(perhaps_remove_u64(f, 0) == 1 && perhaps_remove_u64(f, 0) == 0, "0 is removed once");
    CHECK(info_of(f).capacity == 1000 && info_of(f).bytes == 128 && info_of(f).fpr_now == 0, "the plan");
    perhaps_free(f);
}

static void only_integers_are_keys(void **state) {
    (void)state;
    perhaps *f = make_bitmap(1000);
    const void *keys[] = {"a"};
    size_t lengths[] = {1};
    REFUSED(PERHAPS_ECANNOT, perhaps_add(f, "a", 1));
    REFUSED(PERHAPS_ECANNOT, perhaps_contains(f, "a", 1));
    REFUSED(PERHAPS_ECANNOT, perhaps_remove(f, "a", 1));
    REFUSED(PERHAPS_ECANNOT, perhaps_add_many(f, &PERHAPS_KEYS_BYTES(keys, lengths, 1), NULL));
    REFUSED(PERHAPS_ECANNOT, perhaps_contains_many(f, &PERHAPS_KEYS_BYTES(keys, lengths, 1), NULL));
    REFUSED(PERHAPS_ECANNOT, perhaps_count_u64(f, 1));
    CHECK(perhaps_add_digest(f, 7) == 1 && perhaps_contains_u64(f, 7) == 1, "a digest is the integer");
    perhaps_free(f);
    perhaps *none;
    REFUSED(PERHAPS_EINVAL, perhaps_create(&none, &PERHAPS_WANT(.kind = PERHAPS_BITMAP, .items = 9, .seed = 1)));
    REFUSED(PERHAPS_EINVAL,
            perhaps_create(&none, &PERHAPS_WANT(.kind = PERHAPS_BITMAP, .items = 9, .hash = PERHAPS_XXH3)));
}

static void a_hundred_million_ids_take_twelve_and_a_half_megabytes(void **state) {
    (void)state;
    struct perhaps_plan plan = {.size = sizeof plan};
    MUST(perhaps_plan(&PERHAPS_WANT(.kind = PERHAPS_BITMAP, .items = 100000000), &plan));
    CHECK(plan.bytes == 12500000 && plan.fpr == 0 && plan.items == 100000000, "%llu bytes",
          (unsigned long long)plan.bytes);
    MUST(perhaps_plan(&PERHAPS_WANT(.kind = PERHAPS_BITMAP, .bytes = 1000), &plan));
    CHECK(plan.bytes == 1000 && plan.items == 8000, "%llu ids in 1000 bytes", (unsigned long long)plan.items);
    REFUSED(PERHAPS_ERANGE, perhaps_plan(&PERHAPS_WANT(.kind = PERHAPS_BITMAP, .items = UINT64_MAX), &plan));
    REFUSED(PERHAPS_ERANGE, perhaps_plan(&PERHAPS_WANT(.kind = PERHAPS_BITMAP, .items = 9, .bytes = 1), &plan));
}

static void the_next_one_may_be_anywhere(void **state) {
    (void)state;
    static const uint64_t ids[] = {0, 63, 64, 700, 40000, 99999};
    perhaps *f = make_fixed(100000);
    for (size_t i = 0; i < 6; i++) perhaps_add_u64(f, ids[i]);
    for (uint64_t from = 0, i = 0; from < 100000; from += 1) {
        uint64_t at = from, id = 0;
        if (from > ids[i]) i++;
        CHECK(perhaps_next(f, &at, &id) == 1 && id == ids[i] && at == id + 1, "after %llu comes %llu",
              (unsigned long long)from, (unsigned long long)id);
    }
    for (int shift = 0; shift < 2; shift++) {
        uint64_t at = shift ? UINT64_MAX : 100000, id;
        CHECK(perhaps_next(f, &at, &id) == 0, "one beyond the end");
    }
    perhaps_free(f);
}

/* ---- batches ---- */

static void batches_are_singles_in_order(void **state) {
    (void)state;
    enum { N = 7001 };
    static uint64_t keys[N];
    static uint8_t answers[N];
    uint64_t random = 4;
    for (size_t i = 0; i < N; i++) keys[i] = next_random(&random) % 10000;
    perhaps *one = make_bitmap(10000), *many = make_bitmap(10000);
    MUST(perhaps_add_many(many, &PERHAPS_KEYS_U64(keys, 0, N), answers));
    for (size_t i = 0; i < N; i++) CHECK(answers[i] == perhaps_add_u64(one, keys[i]), "add %zu differs", i);
    CHECK(perhaps_equal(one, many) && items_of(one) == items_of(many), "the sets differ");
    for (size_t i = 0; i < N; i++) keys[i] = next_random(&random) % 20000;
    MUST(perhaps_contains_many(many, &PERHAPS_KEYS_U64(keys, 0, N), answers));
    for (size_t i = 0; i < N; i++) CHECK(answers[i] == perhaps_contains_u64(one, keys[i]), "answer %zu differs", i);
    MUST(perhaps_remove_many(many, &PERHAPS_KEYS_U64(keys, 0, N), answers));
    for (size_t i = 0; i < N; i++) CHECK(answers[i] == perhaps_remove_u64(one, keys[i]), "remove %zu differs", i);
    CHECK(perhaps_equal(one, many) && items_of(one) == items_of(many), "the sets differ");
    perhaps_free(one);
    perhaps_free(many);
}

static void a_batch_that_finds_no_room_is_undone(void **state) {
    (void)state;
    enum { N = 5000 };
    static uint64_t keys[N];
    for (uint64_t i = 0; i < N; i++) keys[i] = i / 2;
    keys[N - 1] = 3000;
    perhaps *f = make_fixed(3000);
    for (uint64_t i = 0; i < 3000; i += 3) perhaps_add_u64(f, i);
    struct bytes before = image_of(f);
    REFUSED(PERHAPS_EFULL, perhaps_add_many(f, &PERHAPS_KEYS_U64(keys, 0, N), NULL));
    expect_unchanged(f, before);
    keys[N - 1] = 2999;
    CHECK(perhaps_add_many(f, &PERHAPS_KEYS_U64(keys, 0, N), NULL) > 0, "without it there is room");
    free(before.data);
    perhaps_free(f);
}

/* ---- growing ---- */

static void it_grows_to_what_is_needed(void **state) {
    (void)state;
    perhaps *f = make_bitmap(1);
    static bool set[5000];
    for (uint64_t i = 0; i < 5000; i += 1 + i % 7) {
        CHECK(perhaps_add_u64(f, i) == 1, "%llu is not new", (unsigned long long)i);
        set[i] = true;
    }
    expect_set(f, set, 5000);
    CHECK(info_of(f).capacity >= 5000 && info_of(f).capacity <= 10000, "range %llu",
          (unsigned long long)info_of(f).capacity);
    MUST(perhaps_add_u64(f, 1000000));
    CHECK(info_of(f).capacity == 1000064 && perhaps_contains_u64(f, 1000000) == 1, "range %llu",
          (unsigned long long)info_of(f).capacity);
    struct bytes before = image_of(f);
    REFUSED(PERHAPS_EFULL, perhaps_add_u64(f, UINT64_MAX));
    REFUSED(PERHAPS_EFULL, perhaps_add_u64(f, (uint64_t)1 << 63));
    REFUSED(PERHAPS_ENOMEM, perhaps_add_u64(f, ((uint64_t)1 << 63) - 1));
    expect_unchanged(f, before);
    free(before.data);
    perhaps_free(f);
}

static void layouts_that_could_not_be_are_refused(void **state) {
    (void)state;
    const char *reason;
    uint64_t layout[LAYOUT_WORDS] = {0}, capacity;
    CHECK(kind_bitmap.payload_bytes(layout, &reason) == 0, "a range of 0");
    layout[0] = ((uint64_t)1 << 63) + 1;
    CHECK(kind_bitmap.payload_bytes(layout, &reason) == 0, "a range beyond 2^63");
    layout[0]--;
    CHECK(kind_bitmap.payload_bytes(layout, &reason) == (uint64_t)1 << 60, "2^63 bits are 2^60 bytes");
    struct array largest = {.layout = {layout[0]}}, large = {.layout = {layout[0] - 64}};
    CHECK(!kind_bitmap.growable->grow(&largest, 0, layout, &capacity), "it grows beyond 2^63");
    CHECK(kind_bitmap.growable->grow(&large, 0, layout, &capacity) && capacity == (uint64_t)1 << 63, "to the largest");
    /* Bits beyond the range, which only a hostile file has, are not in the set. */
    uint8_t bytes[8];
    memset(bytes, 0xF0, sizeof bytes);
    struct array hostile = {.bytes = bytes, .length = 8, .layout = {4}};
    uint64_t at = 0, digest;
    CHECK(!kind_bitmap.next(&hostile, &at, &digest), "an id beyond the range");
}

/* ---- whole sets ---- */

typedef bool sets(bool a, bool b);
static bool or_of(bool a, bool b) {
    return a || b;
}
static bool and_of(bool a, bool b) {
    return a && b;
}
static bool andnot_of(bool a, bool b) {
    return a && !b;
}
static bool xor_of(bool a, bool b) {
    return a != b;
}

static void combine_two(uint64_t range_a, uint64_t range_b, int (*call)(perhaps *, const perhaps *), sets *right) {
    enum { MOST = 3000 };
    static bool a_set[MOST], b_set[MOST];
    perhaps *a = make_bitmap(range_a), *b = make_bitmap(range_b);
    uint64_t random = range_a + range_b;
    memset(a_set, 0, sizeof a_set);
    memset(b_set, 0, sizeof b_set);
    for (int i = 0; i < 700; i++) {
        uint64_t in_a = next_random(&random) % range_a, in_b = next_random(&random) % range_b;
        MUST(perhaps_add_u64(a, in_a));
        MUST(perhaps_add_u64(b, in_b));
        a_set[in_a] = b_set[in_b] = true;
    }
    MUST(call(a, b));
    for (int i = 0; i < MOST; i++) a_set[i] = right(a_set[i], b_set[i]);
    expect_set(a, a_set, MOST);
    expect_set(b, b_set, MOST);
    perhaps_free(a);
    perhaps_free(b);
}

static void sets_combine_whatever_their_ranges(void **state) {
    (void)state;
    static const uint64_t ranges[] = {1, 60, 64, 100, 512, 1000, 3000};
    for (size_t i = 0; i < 7; i++)
        for (size_t j = 0; j < 7; j++) {
            combine_two(ranges[i], ranges[j], perhaps_merge, or_of);
            combine_two(ranges[i], ranges[j], perhaps_intersect, and_of);
            combine_two(ranges[i], ranges[j], perhaps_subtract, andnot_of);
            combine_two(ranges[i], ranges[j], perhaps_differ, xor_of);
        }
}

static void what_cannot_grow_cannot_take_more(void **state) {
    (void)state;
    perhaps *small = make_fixed(100), *large = make_fixed(200);
    perhaps_add_u64(small, 7);
    perhaps_add_u64(large, 150);
    struct bytes before = image_of(small);
    REFUSED(PERHAPS_EFULL, perhaps_merge(small, large));
    REFUSED(PERHAPS_EFULL, perhaps_differ(small, large));
    expect_unchanged(small, before);
    MUST(perhaps_merge(large, small));
    CHECK(items_of(large) == 2, "not both");
    MUST(perhaps_differ(large, large));
    CHECK(items_of(large) == 0, "a set differs from itself");
    free(before.data);
    perhaps_free(small);
    perhaps_free(large);
}

/* ---- sparse ---- */

/* Kilobytes of memory that only this process holds; 0 where the system does not say. */
static long memory_held(void) {
    char line[128];
    long anonymous = 0;
    FILE *status = fopen("/proc/self/status", "r");
    if (!status) return 0;
    while (fgets(line, sizeof line, status)) sscanf(line, "RssAnon: %ld", &anonymous);
    fclose(status);
    return anonymous;
}

static long long disk_used(const char *path) {
    struct stat status;
    CHECK(stat(path, &status) == 0, "no file %s", path);
    return (long long)status.st_blocks * 512;
}

/* An array of 125 MB, of which a few pages are in use. */
enum { FAR_ID = 1000000000, TWO = 2 };

static void expect_two(const perhaps *f, uint64_t more) {
    CHECK(perhaps_contains_u64(f, 5) == 1 && perhaps_contains_u64(f, FAR_ID) == 1, "an id is lost");
    CHECK(items_of(f) == TWO + more, "%llu items", (unsigned long long)items_of(f));
}

static void untouched_pages_cost_no_memory(void **state) {
    (void)state;
    long before = memory_held();
    perhaps *f = make_bitmap(1000), *copy, *merged = make_bitmap(100);
    MUST(perhaps_add_u64(f, 5));
    MUST(perhaps_add_u64(f, FAR_ID));
    MUST(perhaps_clone(f, &copy));
    MUST(perhaps_merge(merged, f));
    MUST(perhaps_merge(merged, copy));
    expect_two(copy, 0);
    expect_two(merged, 0);
    MUST(perhaps_differ(merged, copy));
    MUST(perhaps_intersect(copy, f));
    MUST(perhaps_add_u64(f, 2 * (uint64_t)FAR_ID));
    MUST(perhaps_clear(copy));
    MUST(perhaps_subtract(f, copy));
    expect_two(f, 1);
    CHECK(items_of(merged) == 0 && items_of(copy) == 0, "something is left");
    long held = memory_held() - before;
    CHECK(held < 16 << 10, "%ld kB are held", held);
    perhaps_free(f);
    perhaps_free(copy);
    perhaps_free(merged);
}

static void holes_stay_holes_on_disk(void **state) {
    (void)state;
    const char *path = scratch("sparse.ph");
    perhaps *f = make_bitmap(FAR_ID + 1);
    MUST(perhaps_add_u64(f, 5));
    MUST(perhaps_add_u64(f, FAR_ID));
    MUST(perhaps_save(f, path));
    perhaps_free(f);
    CHECK(disk_used(path) < 1 << 20, "saved in %lld bytes", disk_used(path));

    long before = memory_held();
    MUST(perhaps_open(&f, path, &PERHAPS_OPEN(.flags = PERHAPS_OPEN_COPY)));
    expect_two(f, 0);
    CHECK(memory_held() - before < 16 << 10, "a copy holds %ld kB", memory_held() - before);
    perhaps_free(f);

    MUST(perhaps_open(&f, path, &PERHAPS_OPEN(.flags = PERHAPS_OPEN_WRITE)));
    CHECK(perhaps_add_u64(f, FAR_ID / 2) == 1 && perhaps_add_u64(f, FAR_ID / 2) == 0, "in place");
    REFUSED(PERHAPS_EFULL, perhaps_add_u64(f, FAR_ID + 1));
    MUST(perhaps_sync(f));
    perhaps_free(f);
    CHECK(disk_used(path) < 8 << 20, "changed in place, %lld bytes", disk_used(path));

    MUST(perhaps_open(&f, path, NULL));
    CHECK(disk_used(path) < 8 << 20, "opened, %lld bytes", disk_used(path));
    CHECK(perhaps_contains_u64(f, FAR_ID / 2) == 1, "the change is lost");
    expect_two(f, 1);
    perhaps_free(f);
    unlink(path);
}

/* A file that lost its last pages to a hole is not what was saved. */
static void a_hole_where_data_was_is_noticed(void **state) {
    (void)state;
    const char *path = scratch("holed.ph");
    perhaps *f = make_bitmap(FAR_ID + 1);
    MUST(perhaps_add_u64(f, 5));
    MUST(perhaps_add_u64(f, FAR_ID));
    MUST(perhaps_save(f, path));
    uint64_t length = info_of(f).image_bytes;
    perhaps_free(f);
    CHECK(truncate(path, (off_t)length - 4096) == 0 && truncate(path, (off_t)length) == 0, "truncate");
    REFUSED(PERHAPS_EDAMAGED, perhaps_open(&f, path, NULL));
    REFUSED(PERHAPS_EDAMAGED, perhaps_open(&f, path, &PERHAPS_OPEN(.flags = PERHAPS_OPEN_COPY)));
    unlink(path);
}

/* ---- in place ---- */

static void a_file_changes_in_place(void **state) {
    (void)state;
    const char *path = scratch("place.ph");
    static bool set[5000];
    perhaps *f = make_bitmap(5000);
    MUST(perhaps_save(f, path));
    perhaps_free(f);
    uint64_t random = 6;
    for (int round = 0; round < 5; round++) {
        MUST(perhaps_open(&f, path, &PERHAPS_OPEN(.flags = PERHAPS_OPEN_WRITE)));
        for (int i = 0; i < 200; i++) {
            uint64_t id = next_random(&random) % 5000;
            CHECK(set[id] ? perhaps_remove_u64(f, id) == 1 : perhaps_add_u64(f, id) == 1, "%llu is wrong",
                  (unsigned long long)id);
            set[id] = !set[id];
        }
        MUST(perhaps_sync(f));
        perhaps_free(f);
        MUST(perhaps_open(&f, path, NULL));
        expect_set(f, set, 5000);
        perhaps_free(f);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_an_array_of_bits),
        cmocka_unit_test(the_range_has_two_ends),
        cmocka_unit_test(only_integers_are_keys),
        cmocka_unit_test(a_hundred_million_ids_take_twelve_and_a_half_megabytes),
        cmocka_unit_test(the_next_one_may_be_anywhere),
        cmocka_unit_test(batches_are_singles_in_order),
        cmocka_unit_test(a_batch_that_finds_no_room_is_undone),
        cmocka_unit_test(it_grows_to_what_is_needed),
        cmocka_unit_test(layouts_that_could_not_be_are_refused),
        cmocka_unit_test(sets_combine_whatever_their_ranges),
        cmocka_unit_test(what_cannot_grow_cannot_take_more),
        cmocka_unit_test(untouched_pages_cost_no_memory),
        cmocka_unit_test(holes_stay_holes_on_disk),
        cmocka_unit_test(a_hole_where_data_was_is_noticed),
        cmocka_unit_test(a_file_changes_in_place),
    };
    return cmocka_run_group_tests(tests, NULL, remove_scratch);
}
