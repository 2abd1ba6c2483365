/* Tables against an exact set, with digests that were chosen to share buckets: any set of keys
 * fits, none is lost, and memory stays in proportion. */
#include "chosen.h"
#include "support.h"

#include "base/endian.h"

#include <perhaps_embed.h>

#include <stdlib.h>
#include <string.h>

static const char *const sets[] = {"scalar", "neon", "avx2", "avx512"};
enum { SETS = sizeof sets / sizeof *sets, MOST = 6000, ABSENT = 50 };

/* ---- an exact set of the first digests of a sort ---- */

struct model_set {
    uint64_t (*digest)(uint64_t i);
    size_t n;
    bool in[MOST];
};

static size_t count_in(const struct model_set *set) {
    size_t count = 0;
    for (size_t i = 0; i < set->n; i++) count += set->in[i];
    return count;
}

static int compare_digests(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static void expect_list(const perhaps *f, const struct model_set *set) {
    uint64_t *listed = calloc(MOST + 1, 8), *expected = calloc(MOST + 1, 8), at = 0, digest;
    size_t n = 0, count = 0;
    for (size_t i = 0; i < set->n; i++)
        if (set->in[i]) expected[count++] = set->digest(i);
    while (perhaps_next(f, &at, &digest) == 1) {
        CHECK(n < count, "more is listed than the %zu that are in", count);
        listed[n++] = digest;
    }
    qsort(listed, n, sizeof *listed, compare_digests);
    qsort(expected, count, sizeof *expected, compare_digests);
    CHECK(n == count && memcmp(listed, expected, 8 * n) == 0, "what is listed is not what is in");
    free(listed);
    free(expected);
}

/* Answers of single calls and of a batch, counts, and the list. The last digests are absent. */
static void expect_set(const perhaps *f, const struct model_set *set) {
    uint64_t *digests = calloc(MOST + ABSENT, sizeof *digests);
    uint8_t *answers = calloc(MOST + ABSENT, 1);
    struct perhaps_info info = info_of(f);
    size_t count = count_in(set), all = set->n + ABSENT;
    for (size_t i = 0; i < all; i++) digests[i] = set->digest(i);
    CHECK(MUST(perhaps_contains_many(f, &PERHAPS_KEYS_DIGEST(digests, all), answers)) == (int64_t)count,
          "not %zu are found", count);
    for (size_t i = 0; i < all; i++) {
        bool in = i < set->n && set->in[i];
        CHECK(answers[i] == in, "a batch is wrong about digest %zu", i);
        CHECK(perhaps_contains_digest(f, digests[i]) == in, "digest %zu is wrong", i);
    }
    CHECK(info.items == count, "%llu items, not %zu", (unsigned long long)info.items, count);
    if (info.can & PERHAPS_LIST) expect_list(f, set);
    free(digests);
    free(answers);
}

/* ---- changes, in single calls and batches ---- */

static void add_some(perhaps *f, struct model_set *set, size_t from, size_t to, size_t batch) {
    uint64_t digests[301];
    uint8_t answers[301];
    for (; from < to; from += batch) {
        size_t some = to - from < batch ? to - from : batch;
        for (size_t i = 0; i < some; i++) digests[i] = set->digest(from + i);
        if (batch == 1)
            answers[0] = (uint8_t)MUST(perhaps_add_digest(f, digests[0]));
        else
            MUST(perhaps_add_many(f, &PERHAPS_KEYS_DIGEST(digests, some), answers));
        for (size_t i = 0; i < some; i++) {
            CHECK(answers[i] == !set->in[from + i], "digest %zu is %snew", from + i, answers[i] ? "" : "not ");
            set->in[from + i] = true;
        }
    }
}

static void remove_every(perhaps *f, struct model_set *set, size_t step) {
    for (size_t i = 0; i < set->n; i += step) {
        CHECK(MUST(perhaps_remove_digest(f, set->digest(i))) == set->in[i], "removing %zu is wrong", i);
        set->in[i] = false;
    }
}

static void change(perhaps *f, struct model_set *set) {
    add_some(f, set, 0, set->n / 3, 1);
    add_some(f, set, 0, set->n, 301);
    if (!(info_of(f).can & PERHAPS_REMOVE)) return;
    remove_every(f, set, 3);
    expect_set(f, set);
    remove_every(f, set, 2);
    add_some(f, set, 0, set->n / 2, 7);
}

/* ---- whole filters ---- */

static void expect_copies(perhaps *f, const struct model_set *set) {
    perhaps *copy, *opened;
    struct bytes image = image_of(f);
    MUST(perhaps_clone(f, &copy));
    MUST(perhaps_open_memory(&opened, image.data, image.length, NULL));
    CHECK(perhaps_equal(f, copy) == 1 && perhaps_equal(f, opened) == 1, "the copies differ");
    expect_set(copy, set);
    expect_set(opened, set);
    perhaps_free(opened);
    perhaps_free(copy);
    free(image.data);
}

/* Into a filter with other keys, and those of that one into a copy of this. */
static void expect_unions(const perhaps *f, const perhaps_want *want, const struct model_set *set) {
    enum { OTHERS = 500 };
    perhaps *others = make(want), *copy;
    for (uint64_t i = 0; i < OTHERS; i++) MUST(perhaps_add_digest(others, member(i)));
    MUST(perhaps_clone(f, &copy));
    MUST(perhaps_merge(copy, others));
    MUST(perhaps_merge(others, f));
    for (int turn = 0; turn < 2; turn++) {
        const perhaps *both = turn ? others : copy;
        for (size_t i = 0; i < set->n; i++)
            CHECK(perhaps_contains_digest(both, set->digest(i)) == set->in[i], "digest %zu of the union", i);
        for (uint64_t i = 0; i < OTHERS; i++) CHECK(perhaps_contains_digest(both, member(i)), "key %d", (int)i);
        CHECK(info_of(both).items == count_in(set) + OTHERS, "%d items", (int)info_of(both).items);
    }
    perhaps_free(others);
    perhaps_free(copy);
}

/* Beside what it had at first: buckets are at least 46 % full when they have grown, if there are
 * not just a few, and a stash half. */
static void expect_little_memory(const perhaps *f, size_t added, uint64_t first) {
    struct perhaps_info info = info_of(f);
    uint64_t children = info.children ? info.children : 1, most = first + 18 * added + children * 12000;
    CHECK(info.bytes <= most, "%llu bytes for %zu digests", (unsigned long long)info.bytes, added);
}

static void survive(const struct chosen *sort, const perhaps_want *want, size_t n) {
    struct model_set *set = calloc(1, sizeof *set);
    perhaps *f = make(want);
    set->digest = sort->digest;
    set->n = n;
    uint64_t first = info_of(f).bytes;
    change(f, set);
    expect_set(f, set);
    expect_little_memory(f, n, first);
    expect_copies(f, set);
    if (info_of(f).can & PERHAPS_MERGE) expect_unions(f, want, set);
    MUST(perhaps_clear(f));
    memset(set->in, 0, sizeof set->in);
    expect_set(f, set);
    add_some(f, set, 0, n, 64);
    expect_set(f, set);
    perhaps_free(f);
    free(set);
}

static size_t how_many(void) {
    return test_size() == TEST_SMALL ? 700 : test_size() == TEST_NORMAL ? 2000 : MOST - ABSENT;
}

static void tables_hold_any_digests(void **state) {
    (void)state;
    static const size_t few[] = {17, 20, 40, 100};
    for (size_t s = 0; s < chosen_sort_count; s++) {
        survive(&chosen_sorts[s], &PERHAPS_WANT(.kind = PERHAPS_TABLE, .items = 1), how_many());
        survive(&chosen_sorts[s], &PERHAPS_WANT(.kind = PERHAPS_TABLE, .items = how_many()), how_many());
        for (size_t i = 0; i < sizeof few / sizeof *few; i++)
            survive(&chosen_sorts[s], &PERHAPS_WANT(.kind = PERHAPS_TABLE, .items = 10), few[i]);
    }
}

static void sharded_tables_hold_any_digests(void **state) {
    (void)state;
    for (size_t s = 0; s < chosen_sort_count; s++)
        for (unsigned shards = 1; shards <= 16; shards *= 4) {
            survive(&chosen_sorts[s], &PERHAPS_WANT(.kind = PERHAPS_TABLE, .items = 100, .shards = shards), how_many());
            survive(&chosen_sorts[s], &PERHAPS_WANT(.kind = PERHAPS_TABLE, .items = 100, .shards = shards, .shared = 1),
                    how_many());
        }
}

/* One generation has room for all digests, so none is in two; a period is never told the time. */
static void windows_over_tables_hold_any_digests(void **state) {
    (void)state;
    for (size_t s = 0; s < chosen_sort_count; s++) {
        perhaps_want want = PERHAPS_WANT(.kind = PERHAPS_TABLE, .items = 3 * how_many(), .generations = 4);
        survive(&chosen_sorts[s], &want, how_many());
        want.period = 3600;
        survive(&chosen_sorts[s], &want, how_many());
    }
}

/* A window of a few forgets chosen digests as it forgets others: the last ones are there. */
static void small_windows_forget_chosen_digests(void **state) {
    (void)state;
    enum { LAST = 300 };
    perhaps_want wants[2] = {PERHAPS_WANT(.kind = PERHAPS_TABLE, .items = LAST, .generations = 4),
                             PERHAPS_WANT(.kind = PERHAPS_TABLE, .items = LAST, .generations = 4, .clear_at = 0.8)};
    for (size_t s = 0; s < chosen_sort_count; s++)
        for (int w = 0; w < 2; w++) {
            perhaps *f = make(&wants[w]);
            for (uint64_t i = 0; i < 20 * LAST; i++)
                CHECK(perhaps_add_digest(f, chosen_sorts[s].digest(i)) == 1, "digest %d is not new", (int)i);
            for (uint64_t i = 20 * LAST - (w ? 1 : LAST); i < 20 * LAST; i++)
                CHECK(perhaps_contains_digest(f, chosen_sorts[s].digest(i)) == 1, "digest %d is forgotten", (int)i);
            CHECK(w || !perhaps_contains_digest(f, chosen_sorts[s].digest(15 * LAST)), "nothing is forgotten");
            CHECK(info_of(f).bytes < 400000, "%d bytes", (int)info_of(f).bytes);
            perhaps_free(f);
        }
}

/* ---- few chosen digests among many others ---- */

static void a_few_cost_little(void **state) {
    (void)state;
    uint64_t honest = test_size() == TEST_SMALL ? 20000 : 200000;
    perhaps *plain = make(&PERHAPS_WANT(.kind = PERHAPS_TABLE, .items = 10));
    perhaps *f = make(&PERHAPS_WANT(.kind = PERHAPS_TABLE, .items = 10));
    add_members(plain, 0, honest);
    for (uint64_t i = 0; i < 20; i++) CHECK(perhaps_add_digest(f, chosen_shared(i)) == 1, "digest %d", (int)i);
    CHECK(info_of(f).stashed > 0 && info_of(f).bytes < 1500, "%d bytes", (int)info_of(f).bytes);
    add_members(f, 0, honest);
    for (uint64_t i = 20; i < 40; i++) CHECK(perhaps_add_digest(f, chosen_shared(i)) == 1, "digest %d", (int)i);
    for (uint64_t i = 0; i < 40; i++) CHECK(perhaps_contains_digest(f, chosen_shared(i)), "digest %d", (int)i);
    expect_members(f, 0, honest);
    CHECK(info_of(f).bytes < 2 * info_of(plain).bytes, "%llu bytes rather than %llu",
          (unsigned long long)info_of(f).bytes, (unsigned long long)info_of(plain).bytes);
    CHECK(info_of(plain).stashed == 0, "keys that nobody chose are in a stash");
    perhaps_free(plain);
    perhaps_free(f);
}

/* ---- tables that may not grow ---- */

static void tables_that_may_not_grow_say_so(void **state) {
    (void)state;
    uint64_t batch[17];
    perhaps *f = make(&PERHAPS_WANT(.kind = PERHAPS_TABLE, .items = 1000, .grow = PERHAPS_GROW_NEVER));
    for (uint64_t i = 0; i < 16; i++) CHECK(perhaps_add_digest(f, chosen_shared(i)) == 1, "digest %d", (int)i);
    struct bytes before = image_of(f);
    REFUSED(PERHAPS_EFULL, perhaps_add_digest(f, chosen_shared(16)));
    CHECK(strstr(perhaps_why(), "made not to grow"), "the reason: %s", perhaps_why());
    for (uint64_t i = 0; i < 17; i++) batch[i] = chosen_shared(i + 10);
    REFUSED(PERHAPS_EFULL, perhaps_add_many(f, &PERHAPS_KEYS_DIGEST(batch, 17), NULL));
    expect_unchanged(f, before);
    add_members(f, 0, 900);
    expect_members(f, 0, 900);
    free(before.data);
    perhaps_free(f);
}

/* ---- the same bytes ---- */

static struct bytes image_under(const char *set, const struct chosen *sort, size_t batch) {
    struct model_set *model = calloc(1, sizeof *model);
    perhaps *f = NULL;
    setenv("PERHAPS_ISA", set, 1);
    int rc = perhaps_create(&f, &PERHAPS_WANT(.kind = PERHAPS_TABLE, .items = 10));
    unsetenv("PERHAPS_ISA");
    struct bytes image = {NULL, 0};
    if (rc == PERHAPS_OK) {
        model->digest = sort->digest;
        model->n = 600;
        add_some(f, model, 0, 600, batch);
        remove_every(f, model, 5);
        add_some(f, model, 0, 300, batch);
        image = image_of(f);
    }
    perhaps_free(f);
    free(model);
    return image;
}

static void calls_batches_and_instruction_sets_agree(void **state) {
    (void)state;
    static const size_t batches[] = {1, 2, 64, 301};
    for (size_t s = 0; s < chosen_sort_count; s++) {
        struct bytes expected = image_under("scalar", &chosen_sorts[s], 1);
        for (size_t set = 0; set < SETS; set++)
            for (size_t b = 0; b < sizeof batches / sizeof *batches; b++) {
                struct bytes image = image_under(sets[set], &chosen_sorts[s], batches[b]);
                CHECK(!image.data || same_bytes(image, expected), "%s in batches of %zu of %s", sets[set], batches[b],
                      chosen_sorts[s].name);
                free(image.data);
            }
        free(expected.data);
    }
}

/* ---- hostile images ---- */

static uint64_t all_ones(uint64_t *seed) {
    (void)seed;
    return UINT64_MAX;
}

static uint64_t few_words(uint64_t *seed) {
    return next_random(seed) % 5 * UINT64_C(0x3333333333333333);
}

/* Digests that all want to be in the stash, in no order, with holes. */
static uint64_t shared_words(uint64_t *seed) {
    uint64_t i = next_random(seed) % 600;
    return i % 4 ? chosen_shared(i) : 0;
}

/* Every call returns, whatever it answers. What is added to a table poured from it is found. */
static void use_hostile(struct bytes image, const char *set) {
    uint64_t digests[200], at = 0, digest, listed = 0;
    uint8_t answers[200];
    perhaps *f = NULL, *into;
    setenv("PERHAPS_ISA", set, 1);
    int rc = perhaps_open_memory(&f, image.data, image.length,
                                 &PERHAPS_OPEN(.flags = PERHAPS_OPEN_COPY | PERHAPS_OPEN_NO_VERIFY));
    unsetenv("PERHAPS_ISA");
    if (rc == PERHAPS_EINVAL) return;
    MUST(rc);
    for (size_t i = 0; i < 200; i++) digests[i] = i % 2 ? chosen_shared(i) : member(i);
    while (perhaps_next(f, &at, &digest) == 1) listed++;
    CHECK(listed <= info_of(f).bytes / 8, "more digests than words");
    into = make(&PERHAPS_WANT(.kind = PERHAPS_TABLE, .items = 10));
    MUST(perhaps_merge(into, f));
    for (at = 0; perhaps_next(f, &at, &digest) == 1;) CHECK(perhaps_contains_digest(into, digest), "a digest is lost");
    MUST(perhaps_contains_many(f, &PERHAPS_KEYS_DIGEST(digests, 200), answers));
    MUST(perhaps_remove_many(f, &PERHAPS_KEYS_DIGEST(digests, 200), answers));
    MUST(perhaps_add_many(f, &PERHAPS_KEYS_DIGEST(digests, 200), answers));
    for (size_t i = 0; i < 200; i++) MUST(perhaps_remove_digest(f, digests[i]));
    for (uint64_t i = 0; i < 600; i++) MUST(perhaps_add_digest(f, chosen_shared(i)));
    perhaps_free(into);
    perhaps_free(f);
}

static void hostile_stashes_are_harmless(void **state) {
    (void)state;
    static uint64_t (*const words[])(uint64_t *) = {next_random, all_ones, few_words, shared_words};
    for (size_t w = 0; w < sizeof words / sizeof *words; w++)
        for (uint64_t n = 17; n < 600; n *= 3) {
            perhaps *f = make(&PERHAPS_WANT(.kind = PERHAPS_TABLE, .items = 10));
            for (uint64_t i = 0; i < n; i++) MUST(perhaps_add_digest(f, chosen_shared(i)));
            struct bytes image = image_of(f);
            uint64_t seed = n, length = info_of(f).bytes;
            perhaps_free(f);
            for (size_t at = image.length - (size_t)length; at < image.length; at += 8)
                store64(image.data + at, words[w](&seed));
            for (size_t s = 0; s < SETS; s++) use_hostile(image, sets[s]);
            free(image.data);
        }
}

/* ---- memory that runs out ---- */

struct pool {
    uint64_t left; /* allocations before one fails */
};

static void *pool_allocate(void *context, size_t size) {
    struct pool *pool = context;
    return pool->left && pool->left-- ? calloc(1, size) : NULL;
}

static void pool_release(void *context, void *memory, size_t size) {
    (void)context;
    (void)size;
    free(memory);
}

/* A table may keep the room that it got before memory ran out; what is in it stays the same. */
static void failed_growth_loses_nothing(void **state) {
    (void)state;
    enum { KEYS = 300 };
    struct pool pool = {UINT64_MAX};
    perhaps_allocator allocator = {.allocate = pool_allocate, .release = pool_release, .context = &pool};
    perhaps *f = make(&PERHAPS_WANT(.kind = PERHAPS_TABLE, .items = 10, .allocator = &allocator));
    struct model_set *set = calloc(1, sizeof *set);
    unsigned failures = 0;
    set->digest = chosen_shared;
    set->n = KEYS;
    for (size_t i = 0; i < KEYS; i++) {
        int rc = PERHAPS_ENOMEM;
        for (uint64_t allocations = 0; rc == PERHAPS_ENOMEM; allocations++) {
            pool.left = allocations;
            rc = perhaps_add_digest(f, chosen_shared(i));
            pool.left = UINT64_MAX;
            if (rc != PERHAPS_ENOMEM) continue;
            expect_set(f, set);
            failures++;
        }
        CHECK(MUST(rc) == 1, "digest %zu", i);
        set->in[i] = true;
    }
    expect_set(f, set);
    CHECK(failures > 10, "%u failures", failures);
    free(set);
    perhaps_free(f);
}

/* ---- keys ---- */

static void keys_can_be_chosen_for_digests(void **state) {
    (void)state;
    perhaps *f = make(&PERHAPS_WANT(.kind = PERHAPS_TABLE, .items = 10));
    for (size_t s = 0; s < chosen_sort_count; s++)
        for (uint64_t i = 0; i < 300; i++) {
            char key[8];
            uint64_t digest = chosen_sorts[s].digest(i);
            chosen_key(digest, key);
            CHECK(perhaps_digest(perhaps_hasher_of(f), key, sizeof key) == digest, "digest %d of %s", (int)i,
                  chosen_sorts[s].name);
            MUST(perhaps_add(f, key, sizeof key));
            CHECK(perhaps_contains(f, key, sizeof key) == 1, "key %d of %s", (int)i, chosen_sorts[s].name);
        }
    perhaps_free(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_can_be_chosen_for_digests),
        cmocka_unit_test(tables_hold_any_digests),
        cmocka_unit_test(sharded_tables_hold_any_digests),
        cmocka_unit_test(windows_over_tables_hold_any_digests),
        cmocka_unit_test(small_windows_forget_chosen_digests),
        cmocka_unit_test(a_few_cost_little),
        cmocka_unit_test(tables_that_may_not_grow_say_so),
        cmocka_unit_test(calls_batches_and_instruction_sets_agree),
        cmocka_unit_test(hostile_stashes_are_harmless),
        cmocka_unit_test(failed_growth_loses_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
