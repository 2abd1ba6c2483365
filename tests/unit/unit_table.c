/* Tables against an exact set: growing, full, emptied again, merged, listed; and hostile bytes. */
#include "support.h"

#include "base/endian.h"

#include <stdlib.h>
#include <string.h>

enum { UNIVERSE = 6000 };

static const char *const sets[] = {"scalar", "neon", "avx2", "avx512"};
enum { SETS = sizeof sets / sizeof *sets };

static perhaps *table(uint64_t items, int growth) {
    return make(&PERHAPS_WANT(.kind = PERHAPS_TABLE, .items = items, .grow = growth));
}

/* NULL if this machine does not have the instruction set. */
static perhaps *table_under(const char *set, uint64_t items, int growth) {
    perhaps *f = NULL;
    setenv("PERHAPS_ISA", set, 1);
    perhaps_create(&f, &PERHAPS_WANT(.kind = PERHAPS_TABLE, .items = items, .grow = growth));
    unsetenv("PERHAPS_ISA");
    return f;
}

/* ---- against an exact set ---- */

/* The keys member(0..UNIVERSE-1), of which some are in. */
struct model_set {
    bool in[UNIVERSE];
    uint64_t count;
};

static void expect_same_set(const perhaps *f, const struct model_set *set) {
    uint64_t at = 0, digest, listed = 0;
    for (size_t i = 0; i < UNIVERSE; i++)
        CHECK(perhaps_contains_u64(f, member(i)) == set->in[i], "key %zu is%s there", i, set->in[i] ? " not" : "");
    while (perhaps_next(f, &at, &digest) == 1) listed++;
    struct perhaps_info info = info_of(f);
    CHECK(info.items == set->count && listed == set->count, "%llu keys, but items is %llu and %llu are listed",
          (unsigned long long)set->count, (unsigned long long)info.items, (unsigned long long)listed);
    CHECK(info.distinct == (double)set->count, "%g distinct keys of %llu", info.distinct,
          (unsigned long long)set->count);
}

/* One random call, `adds` in 100 of them an add. The answer must be the set's own. */
static void random_call(perhaps *f, struct model_set *set, uint64_t *random, unsigned adds) {
    size_t i = (size_t)(next_random(random) % UNIVERSE);
    bool *in = &set->in[i];
    if (next_random(random) % 100 < adds) {
        int answer = perhaps_add_u64(f, member(i));
        if (answer == PERHAPS_EFULL) {
            CHECK(!*in && info_of(f).fill > 0.85, "full at %.3f", info_of(f).fill);
            return;
        }
        CHECK(answer == !*in, "add of key %zu answers %d", i, answer);
        set->count += !*in;
        *in = true;
    } else {
        CHECK(MUST(perhaps_remove_u64(f, member(i))) == *in, "remove of key %zu is wrong", i);
        set->count -= *in;
        *in = false;
    }
    CHECK(perhaps_contains_u64(f, member(i)) == *in, "key %zu is wrong after a change", i);
}

/* Up and down several times, in tables that must grow, that just suffice, and are too small. */
static void walk(uint64_t items, int growth) {
    static const unsigned adds[] = {90, 50, 10, 99, 2, 60, 40, 100, 0};
    unsigned calls = test_size() == TEST_SMALL ? 3000 : 15000;
    perhaps *f = table(items, growth);
    struct model_set *set = calloc(1, sizeof *set);
    uint64_t random = items;
    CHECK(set, "no memory");
    for (size_t phase = 0; phase < sizeof adds / sizeof *adds; phase++) {
        for (unsigned i = 0; i < calls; i++) random_call(f, set, &random, adds[phase]);
        expect_same_set(f, set);
    }
    free(set);
    perhaps_free(f);
}

static void tables_that_grow_are_exact(void **state) {
    (void)state;
    walk(1, PERHAPS_GROW_DEFAULT);
    walk(100, PERHAPS_GROW_DEFAULT);
    walk(UNIVERSE, PERHAPS_GROW_DEFAULT);
}

static void tables_that_are_full_are_exact(void **state) {
    (void)state;
    walk(1, PERHAPS_GROW_NEVER);
    walk(40, PERHAPS_GROW_NEVER);
    walk(UNIVERSE / 3, PERHAPS_GROW_NEVER);
    walk(UNIVERSE * 9 / 10, PERHAPS_GROW_NEVER);
}

/* ---- full ---- */

/* Adds member(0), ... until the table is full; how many went in. */
static uint64_t fill_up(perhaps *f) {
    uint64_t n = 0;
    int answer;
    while ((answer = perhaps_add_u64(f, member(n))) == 1) n++;
    CHECK(answer == PERHAPS_EFULL, "filling ended with %d: %s", answer, perhaps_why());
    return n;
}

static void expect_full_and_whole(perhaps *f, uint64_t n) {
    struct bytes before = image_of(f);
    REFUSED(PERHAPS_EFULL, perhaps_add_u64(f, member(n)));
    expect_unchanged(f, before);
    CHECK(strstr(perhaps_why(), "no room"), "the reason: %s", perhaps_why());
    free(before.data);
    expect_members(f, 0, n);
    CHECK(count_false_positives(f, 0, 1000) == 0, "a non-member is found");
}

static void nothing_is_lost_at_the_brim(void **state) {
    (void)state;
    uint64_t items = test_size() == TEST_SMALL ? 20000 : 200000;
    perhaps *f = table(items, PERHAPS_GROW_NEVER);
    uint64_t n = fill_up(f);
    CHECK(info_of(f).fill > 0.93, "full at %.4f already", info_of(f).fill);
    expect_full_and_whole(f, n);
    for (uint64_t i = 0; i < n; i += 2)
        CHECK(perhaps_remove_u64(f, member(i)) == 1, "%llu is lost", (unsigned long long)i);
    for (uint64_t i = 0; i < n; i++)
        CHECK(perhaps_contains_u64(f, member(i)) == (int)(i % 2), "key %llu is wrong", (unsigned long long)i);
    uint64_t back = 0;
    while (back < n && perhaps_add_u64(f, member(back)) == 1) back += 2;
    CHECK(info_of(f).fill > 0.92, "full at %.4f the second time", info_of(f).fill);
    for (uint64_t i = 0; i < n; i++)
        CHECK(perhaps_contains_u64(f, member(i)) == (int)(i % 2 || i < back), "key %llu is wrong",
              (unsigned long long)i);
    perhaps_free(f);
}

/* What a plan promises goes in, whatever the size. */
static void the_planned_keys_fit(void **state) {
    (void)state;
    for (uint64_t items = 1; items < 3000; items += 1 + items / 20) {
        perhaps *f = table(items, PERHAPS_GROW_NEVER);
        add_members(f, 0, items);
        expect_members(f, 0, items);
        CHECK(info_of(f).items == items, "%llu items", (unsigned long long)info_of(f).items);
        perhaps_free(f);
    }
}

/* A batch for which there is no room adds nothing, not even its beginning. */
static void a_batch_fits_or_does_nothing(void **state) {
    (void)state;
    enum { ITEMS = 1000 };
    uint64_t keys[2 * ITEMS];
    perhaps *f = table(ITEMS, PERHAPS_GROW_NEVER);
    add_members(f, 0, ITEMS / 2);
    for (size_t i = 0; i < 2 * ITEMS; i++) keys[i] = member(i);
    REFUSED(PERHAPS_EFULL, perhaps_add_many(f, &PERHAPS_KEYS_U64(keys, 0, 2 * ITEMS), NULL));
    expect_members(f, 0, ITEMS / 2);
    for (size_t i = ITEMS / 2; i < 2 * ITEMS; i++) CHECK(!perhaps_contains_u64(f, keys[i]), "key %zu is in", i);
    CHECK(info_of(f).items == ITEMS / 2, "%llu items", (unsigned long long)info_of(f).items);
    perhaps_free(f);
}

/* ---- the digest 0 ---- */

static void expect_zero(const perhaps *f, int there) {
    uint64_t three[3] = {1, 0, 2}, at = 0, digest, zeros = 0;
    uint8_t answers[3];
    MUST(perhaps_contains_many(f, &PERHAPS_KEYS_DIGEST(three, 3), answers));
    CHECK(perhaps_contains_digest(f, 0) == there && answers[1] == there, "digest 0 is wrong");
    while (perhaps_next(f, &at, &digest) == 1) zeros += digest == 0;
    CHECK(zeros == (uint64_t)there, "digest 0 is listed %llu times", (unsigned long long)zeros);
}

static void digest_zero_is_a_key_like_any_other(void **state) {
    (void)state;
    uint64_t zeros[2] = {0, 0};
    uint8_t answers[2];
    perhaps *f = table(100, PERHAPS_GROW_DEFAULT), *into = table(10, PERHAPS_GROW_DEFAULT);
    expect_zero(f, 0);
    CHECK(perhaps_remove_digest(f, 0) == 0, "it was not there");
    CHECK(perhaps_add_digest(f, 0) == 1 && perhaps_add_digest(f, 0) == 0, "it is new once");
    expect_zero(f, 1);
    add_members(f, 0, 1000);
    expect_zero(f, 1);
    CHECK(info_of(f).distinct == 1001, "%g keys", info_of(f).distinct);
    MUST(perhaps_merge(into, f));
    expect_zero(into, 1);
    CHECK(info_of(into).items == 1001, "%llu keys after the merge", (unsigned long long)info_of(into).items);
    CHECK(perhaps_remove_digest(f, 0) == 1 && perhaps_remove_digest(f, 0) == 0, "it is there once");
    expect_zero(f, 0);
    CHECK(MUST(perhaps_add_many(f, &PERHAPS_KEYS_DIGEST(zeros, 2), answers)) == 1, "it is new once, in a batch too");
    CHECK(answers[0] == 1 && answers[1] == 0, "the first of the two is new");
    CHECK(MUST(perhaps_remove_many(f, &PERHAPS_KEYS_DIGEST(zeros, 2), answers)) == 1, "and there once");
    perhaps_free(into);
    perhaps_free(f);
}

/* ---- listing and merging ---- */

static int compare_digests(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static void listing_gives_each_digest_once(void **state) {
    (void)state;
    enum { KEYS = 5000 };
    static uint64_t listed[KEYS], added[KEYS];
    perhaps *f = table(KEYS, PERHAPS_GROW_DEFAULT);
    uint64_t at = 0, digest;
    size_t n = 0;
    CHECK(perhaps_next(f, &at, &digest) == 0, "an empty table lists something");
    add_members(f, 0, KEYS);
    for (size_t i = 0; i < KEYS; i++) added[i] = perhaps_digest_u64(perhaps_hasher_of(f), member(i));
    for (at = 0; perhaps_next(f, &at, &digest) == 1; n++) {
        CHECK(n < KEYS, "more is listed than was added");
        listed[n] = digest;
    }
    CHECK(n == KEYS && perhaps_next(f, &at, &digest) == 0, "%zu listed", n);
    at = UINT64_MAX;
    CHECK(perhaps_next(f, &at, &digest) == 0, "something is listed behind the end");
    qsort(added, KEYS, sizeof *added, compare_digests);
    qsort(listed, KEYS, sizeof *listed, compare_digests);
    CHECK(memcmp(added, listed, sizeof added) == 0, "what is listed is not what was added");
    perhaps_free(f);
}

/* Tables of different sizes, of which the second half of one is the first half of the other. */
static void merge_two(uint64_t n, uint64_t items_into, uint64_t items_from) {
    perhaps *into = table(items_into, PERHAPS_GROW_DEFAULT), *from = table(items_from, PERHAPS_GROW_DEFAULT);
    add_members(into, 0, 2 * n);
    add_members(from, n, 2 * n);
    struct bytes before = image_of(from);
    MUST(perhaps_merge(into, from));
    expect_unchanged(from, before);
    expect_members(into, 0, 3 * n);
    CHECK(count_false_positives(into, 0, 1000) == 0, "a non-member came in");
    CHECK(info_of(into).items == 3 * n, "%llu items, not %llu", (unsigned long long)info_of(into).items,
          (unsigned long long)(3 * n));
    free(before.data);
    perhaps_free(from);
    perhaps_free(into);
}

static void tables_of_all_sizes_merge(void **state) {
    (void)state;
    merge_two(1000, 2000, 2000);
    merge_two(1000, 2000, 50000);
    merge_two(1000, 50000, 2000);
    merge_two(10, 20, 2000000);
}

static void a_merge_that_does_not_fit_changes_nothing(void **state) {
    (void)state;
    perhaps *into = table(1000, PERHAPS_GROW_NEVER), *from = table(2000, PERHAPS_GROW_DEFAULT);
    add_members(into, 0, 900);
    add_members(from, 500, 2000);
    struct bytes before = image_of(into);
    REFUSED(PERHAPS_EFULL, perhaps_merge(into, from));
    expect_unchanged(into, before);
    free(before.data);
    perhaps_free(from);
    perhaps_free(into);
}

/* ---- the same bytes ---- */

/* Adds that many keys, removes some, and adds them again, in single calls or in batches. */
static void change(perhaps *f, uint64_t keys_in_all, size_t batch) {
    uint64_t keys[301];
    for (int removing = 0; removing < 3; removing++) {
        uint64_t n = removing == 1 ? keys_in_all / 3 : keys_in_all;
        for (uint64_t first = 0; first < n; first += batch) {
            size_t some = n - first < batch ? (size_t)(n - first) : batch;
            for (size_t i = 0; i < some; i++) keys[i] = member(3 * removing + first + i);
            if (batch == 1)
                MUST(removing == 1 ? perhaps_remove_u64(f, keys[0]) : perhaps_add_u64(f, keys[0]));
            else
                MUST(removing == 1 ? perhaps_remove_many(f, &PERHAPS_KEYS_U64(keys, 0, some), NULL)
                                   : perhaps_add_many(f, &PERHAPS_KEYS_U64(keys, 0, some), NULL));
        }
    }
}

static void expect_same_bytes(uint64_t items, uint64_t n, int growth) {
    static const size_t batches[] = {1, 2, 64, 65, 301};
    perhaps *plain = table_under("scalar", items, growth);
    change(plain, n, 1);
    struct bytes expected = image_of(plain);
    for (size_t s = 0; s < SETS; s++)
        for (size_t b = 0; b < sizeof batches / sizeof *batches; b++) {
            perhaps *f = table_under(sets[s], items, growth);
            if (!f) break;
            change(f, n, batches[b]);
            expect_unchanged(f, expected);
            perhaps_free(f);
        }
    free(expected.data);
    perhaps_free(plain);
}

static void calls_batches_and_instruction_sets_agree(void **state) {
    (void)state;
    /* Nearly full, where digests move, and growing. */
    expect_same_bytes(1000, 1030, PERHAPS_GROW_NEVER);
    expect_same_bytes(20000, 20600, PERHAPS_GROW_NEVER);
    expect_same_bytes(300000, 309000, PERHAPS_GROW_NEVER); /* a size at which batches prefetch */
    expect_same_bytes(5, 30000, PERHAPS_GROW_DEFAULT);
}

/* Saved and opened in the middle, it goes on as if nothing had been. */
static void a_table_goes_on_after_opening(void **state) {
    (void)state;
    perhaps *straight = table(300, PERHAPS_GROW_DEFAULT), *saved = table(300, PERHAPS_GROW_DEFAULT), *opened = NULL;
    add_members(straight, 0, 250);
    add_members(saved, 0, 250);
    struct bytes image = image_of(saved);
    MUST(perhaps_open_memory(&opened, image.data, image.length, &PERHAPS_OPEN(.flags = PERHAPS_OPEN_COPY)));
    add_members(straight, 250, 2000);
    add_members(opened, 250, 2000);
    CHECK(perhaps_equal(straight, opened) == 1, "the two differ");
    free(image.data);
    perhaps_free(opened);
    perhaps_free(saved);
    perhaps_free(straight);
}

/* ---- plans ---- */

static void plans_are_small(void **state) {
    (void)state;
    static const uint64_t items[] = {1000, 1000003, 1 << 20, (1 << 20) + 1, 15000000, 100000007};
    struct perhaps_plan plan = {.size = sizeof plan};
    for (size_t i = 0; i < sizeof items / sizeof *items; i++) {
        MUST(perhaps_plan(&PERHAPS_WANT(.kind = PERHAPS_TABLE, .items = items[i]), &plan));
        CHECK(plan.bits_per_key <= 72 && plan.lines == 2, "%.3f bits per key for %llu", plan.bits_per_key,
              (unsigned long long)items[i]);
    }
    MUST(perhaps_plan(&PERHAPS_WANT(.kind = PERHAPS_TABLE, .items = 1), &plan));
    CHECK(plan.bytes == 72, "%llu bytes for one key", (unsigned long long)plan.bytes);
    MUST(perhaps_plan(&PERHAPS_WANT(.kind = PERHAPS_TABLE, .bytes = 1 << 20), &plan));
    CHECK(plan.bytes <= 1 << 20 && plan.items > 117000, "%llu keys in a MiB", (unsigned long long)plan.items);
    MUST(perhaps_plan(&PERHAPS_WANT(.kind = PERHAPS_TABLE, .items = 10, .lines = 2), &plan));
    REFUSED(PERHAPS_ERANGE, perhaps_plan(&PERHAPS_WANT(.kind = PERHAPS_TABLE, .items = 10, .lines = 1), &plan));
    REFUSED(PERHAPS_ERANGE, perhaps_plan(&PERHAPS_WANT(.kind = PERHAPS_TABLE, .items = 10, .hashes = 2), &plan));
    REFUSED(PERHAPS_ERANGE, perhaps_plan(&PERHAPS_WANT(.kind = PERHAPS_TABLE, .bytes = 64), &plan));
}

/* Digests that are anything but uniform cost room, not answers. */
static void poor_digests_are_kept_too(void **state) {
    (void)state;
    for (unsigned shift = 0; shift <= 40; shift += 20) {
        perhaps *f = table(100, PERHAPS_GROW_DEFAULT);
        for (uint64_t i = 0; i < 3000; i++)
            CHECK(perhaps_add_digest(f, i << shift) == 1, "%llu", (unsigned long long)i);
        for (uint64_t i = 0; i < 6000; i++)
            CHECK(perhaps_contains_digest(f, i << shift) == (i < 3000), "%llu", (unsigned long long)i);
        perhaps_free(f);
    }
}

/* ---- hostile bytes ---- */

/* An image with the head of a sound table and these words for a payload, over and over. */
static struct bytes hostile_image(uint64_t items, uint64_t (*word)(uint64_t *), uint64_t seed) {
    perhaps *f = table(items, PERHAPS_GROW_DEFAULT);
    struct bytes image = image_of(f);
    uint64_t length = info_of(f).bytes;
    perhaps_free(f);
    for (size_t at = image.length - (size_t)length; at < image.length; at += 8) store64(image.data + at, word(&seed));
    return image;
}

/* Every call, on every instruction set: whatever it answers, it comes back. */
static void use_hostile(struct bytes image, const char *set) {
    perhaps *f = NULL, *into = NULL;
    uint64_t keys[100], at = 0, digest, listed = 0;
    uint8_t answers[100];
    setenv("PERHAPS_ISA", set, 1);
    int rc = perhaps_open_memory(&f, image.data, image.length,
                                 &PERHAPS_OPEN(.flags = PERHAPS_OPEN_COPY | PERHAPS_OPEN_NO_VERIFY));
    unsetenv("PERHAPS_ISA");
    if (rc == PERHAPS_EINVAL) return;
    MUST(rc);
    for (size_t i = 0; i < 100; i++) keys[i] = i ? member(i) : 0;
    while (perhaps_next(f, &at, &digest) == 1) listed++;
    CHECK(listed <= info_of(f).bytes / 8, "more digests than words");
    into = table(10, PERHAPS_GROW_DEFAULT);
    MUST(perhaps_merge(into, f));
    MUST(perhaps_contains_many(f, &PERHAPS_KEYS_DIGEST(keys, 100), answers));
    MUST(perhaps_remove_many(f, &PERHAPS_KEYS_DIGEST(keys, 100), answers));
    MUST(perhaps_add_many(f, &PERHAPS_KEYS_DIGEST(keys, 100), answers));
    for (size_t i = 0; i < 100; i++) CHECK(perhaps_contains_digest(f, keys[i]) == 1, "a key is lost");
    for (size_t i = 0; i < 100; i++) MUST(perhaps_remove_digest(f, keys[i]));
    perhaps_free(into);
    perhaps_free(f);
}

static uint64_t all_ones(uint64_t *seed) {
    (void)seed;
    return UINT64_MAX;
}

/* Words of a handful, with holes between them. */
static uint64_t few_words(uint64_t *seed) {
    return next_random(seed) % 5 * UINT64_C(0x3333333333333333);
}

static void hostile_bytes_are_harmless(void **state) {
    (void)state;
    static uint64_t (*const words[])(uint64_t *) = {next_random, all_ones, few_words};
    static const uint64_t items[] = {1, 10, 40, 3000};
    for (size_t w = 0; w < 3; w++)
        for (size_t i = 0; i < sizeof items / sizeof *items; i++) {
            struct bytes image = hostile_image(items[i], words[w], i + 1);
            for (size_t s = 0; s < SETS; s++) use_hostile(image, sets[s]);
            free(image.data);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_that_grow_are_exact),
        cmocka_unit_test(tables_that_are_full_are_exact),
        cmocka_unit_test(nothing_is_lost_at_the_brim),
        cmocka_unit_test(the_planned_keys_fit),
        cmocka_unit_test(a_batch_fits_or_does_nothing),
        cmocka_unit_test(digest_zero_is_a_key_like_any_other),
        cmocka_unit_test(listing_gives_each_digest_once),
        cmocka_unit_test(tables_of_all_sizes_merge),
        cmocka_unit_test(a_merge_that_does_not_fit_changes_nothing),
        cmocka_unit_test(calls_batches_and_instruction_sets_agree),
        cmocka_unit_test(a_table_goes_on_after_opening),
        cmocka_unit_test(plans_are_small),
        cmocka_unit_test(poor_digests_are_kept_too),
        cmocka_unit_test(hostile_bytes_are_harmless),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
