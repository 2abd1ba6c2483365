/*
 * Adds and queries with many threads: the same keys are found as with one, in every form, and what
 * is refused has changed nothing. Most telling under ThreadSanitizer.
 */
#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 300001, NON_MEMBERS = 5000 };

static const size_t sizes[] = {0, 1, 4095, 65537, MOST};
static const unsigned threads[] = {1, 2, 3, 8};

static size_t count_of_sizes(void) {
    return test_size() == TEST_SMALL ? 4 : 5;
}

/* ---- keys in three forms ---- */

enum form { INTEGERS, DIGESTS, BYTES, FORMS };

struct batch {
    enum form form;
    size_t n;
    uint64_t *integers; /* or digests */
    const void **keys;  /* the same integers, as bytes */
    size_t *lengths;
    uint8_t *answers;
};

/* Numbers first..first+n-1, each of them `times` times, and in no order. */
static struct batch make_batch(const perhaps *f, enum form form, uint64_t first, size_t n, size_t times) {
    struct batch b = {form, n * times, NULL, NULL, NULL, NULL};
    bool hashed = takes_bytes(f);
    b.integers = calloc(b.n + 1, sizeof *b.integers);
    b.keys = calloc(b.n + 1, sizeof *b.keys);
    b.lengths = calloc(b.n + 1, sizeof *b.lengths);
    b.answers = calloc(b.n + 1, 1);
    CHECK(b.integers && b.keys && b.lengths && b.answers, "no memory");
    for (size_t i = 0; i < b.n; i++) {
        b.integers[i] = hashed ? member(first + i % n) : first + i % n;
        if (form == DIGESTS) b.integers[i] = perhaps_digest_u64(perhaps_hasher_of(f), b.integers[i]);
        b.keys[i] = &b.integers[i];
        b.lengths[i] = sizeof *b.integers;
    }
    return b;
}

static void free_batch(struct batch *b) {
    free(b->integers);
    free(b->keys);
    free(b->lengths);
    free(b->answers);
}

static int64_t add_batch(perhaps *f, struct batch *b, uint8_t *answers, unsigned n_threads) {
    if (b->form == BYTES)
        return perhaps_add_parallel(f, &PERHAPS_KEYS_BYTES(b->keys, b->lengths, b->n), answers, n_threads);
    if (b->form == DIGESTS) return perhaps_add_parallel(f, &PERHAPS_KEYS_DIGEST(b->integers, b->n), answers, n_threads);
    return perhaps_add_parallel(f, &PERHAPS_KEYS_U64(b->integers, 0, b->n), answers, n_threads);
}

static int64_t query_batch(const perhaps *f, struct batch *b, uint8_t *answers, unsigned n_threads) {
    if (b->form == BYTES)
        return perhaps_contains_parallel(f, &PERHAPS_KEYS_BYTES(b->keys, b->lengths, b->n), answers, n_threads);
    if (b->form == DIGESTS)
        return perhaps_contains_parallel(f, &PERHAPS_KEYS_DIGEST(b->integers, b->n), answers, n_threads);
    return perhaps_contains_parallel(f, &PERHAPS_KEYS_U64(b->integers, 0, b->n), answers, n_threads);
}

static int64_t add_batch_alone(perhaps *f, struct batch *b) {
    if (b->form == BYTES) return perhaps_add_many(f, &PERHAPS_KEYS_BYTES(b->keys, b->lengths, b->n), NULL);
    if (b->form == DIGESTS) return perhaps_add_many(f, &PERHAPS_KEYS_DIGEST(b->integers, b->n), NULL);
    return perhaps_add_many(f, &PERHAPS_KEYS_U64(b->integers, 0, b->n), NULL);
}

static uint64_t ones(const uint8_t *answers, size_t n) {
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++) sum += answers[i];
    return sum;
}

/* ---- the same keys, answers and items ---- */

/* What can be added to by many threads. */
static perhaps_want want_number(unsigned i, uint64_t items) {
    static const int kinds[] = {PERHAPS_BLOOM, PERHAPS_BLOCKED, PERHAPS_COUNTING, PERHAPS_CUCKOO, PERHAPS_TABLE};
    perhaps_want want = PERHAPS_WANT(.items = items + 10, .fpr = 1e-6, .shared = i % 2);
    if (i == 0 || i == 1) want.kind = PERHAPS_BITMAP, want.fpr = 0;
    if (i >= 2 && i < 8) want.kind = kinds[(i - 2) / 2];
    if (i >= 8 && i < 18) want.kind = kinds[(i - 8) / 2], want.shards = 13;
    if (i >= 18) want.kind = kinds[i % 4], want.shards = 5, want.grow = PERHAPS_GROW_LAYERS, want.items = 1000;
    return want;
}
enum { WANTS = 22 };

/* Every different key was new once, or more often where no lock keeps two threads apart. A set of
 * so low a rate takes hardly a key for another. */
static void expect_news(const perhaps *f, const struct batch *b, size_t different, int64_t added) {
    struct perhaps_info info = info_of(f);
    bool multiset = info.can & PERHAPS_COUNT, exact = info.base == PERHAPS_TABLE;
    CHECK(ones(b->answers, b->n) == (uint64_t)added, "%lld were added, by the answers %llu", (long long)added,
          (unsigned long long)ones(b->answers, b->n));
    CHECK(info.items == (uint64_t)added, "%llu items, and %lld were added", (unsigned long long)info.items,
          (long long)added);
    if (multiset) {
        CHECK((size_t)added == b->n, "%lld of %zu copies were added", (long long)added, b->n);
        return;
    }
    size_t missed = 0;
    for (size_t i = 0; i < different; i++) {
        unsigned news = 0;
        for (size_t k = i; k < b->n; k += different) news += b->answers[k];
        missed += news == 0;
        CHECK(news <= 1 || !exact, "key %zu was new %u times", i, news);
    }
    CHECK(missed <= 3 && (missed == 0 || !exact), "%zu of %zu keys were never new", missed, different);
}

/* The array is the one that a single thread makes, where it does not depend on the order. */
static void expect_as_alone(const perhaps *f, const perhaps_want *want, struct batch *b) {
    perhaps *alone = make(want);
    MUST(add_batch_alone(alone, b));
    struct perhaps_info ours = info_of(f), theirs = info_of(alone);
    bool any_order = !ours.base && want->kind != PERHAPS_CUCKOO;
    CHECK(!any_order || perhaps_equal(f, alone) == 1, "another array than with one thread");
    CHECK(want->grow == PERHAPS_GROW_LAYERS || ours.bytes == theirs.bytes || want->kind == PERHAPS_TABLE,
          "%llu bytes, and %llu with one thread", (unsigned long long)ours.bytes, (unsigned long long)theirs.bytes);
    perhaps_free(alone);
}

static void expect_non_members_absent(const perhaps *f, enum form form, uint64_t first, unsigned n_threads) {
    struct batch b = make_batch(f, form, first, NON_MEMBERS, 1);
    int64_t found = MUST(query_batch(f, &b, b.answers, n_threads));
    CHECK(found <= 10, "%lld of %d non-members are found", (long long)found, NON_MEMBERS);
    CHECK((uint64_t)found == ones(b.answers, b.n), "the answers are counted wrongly");
    free_batch(&b);
}

static void add_and_query(const perhaps_want *want, enum form form, size_t n, unsigned n_threads, bool wants_answers) {
    perhaps *f = make(want);
    if (form == BYTES && !takes_bytes(f)) form = INTEGERS;
    size_t times = n > 1000 ? 2 : 1;
    struct batch b = make_batch(f, form, 0, n / times, times);
    int64_t added = MUST(add_batch(f, &b, wants_answers ? b.answers : NULL, n_threads));
    if (wants_answers && b.n) expect_news(f, &b, n / times, added);
    CHECK(info_of(f).items == (uint64_t)added, "%llu items", (unsigned long long)info_of(f).items);
    CHECK(MUST(query_batch(f, &b, b.answers, n_threads)) == (int64_t)b.n, "a key is missed");
    CHECK(ones(b.answers, b.n) == b.n, "a key is missed in the answers");
    CHECK(MUST(query_batch(f, &b, NULL, n_threads)) == (int64_t)b.n, "a key is missed without answers");
    expect_non_members_absent(f, form, n, n_threads);
    expect_as_alone(f, want, &b);
    free_batch(&b);
    perhaps_free(f);
}

static void many_threads_add_what_one_would(void **state) {
    (void)state;
    for (unsigned i = 0; i < WANTS; i++)
        for (size_t s = 0; s < count_of_sizes(); s++)
            for (size_t t = 0; t < 4; t++) {
                /* The largest need not come in every combination. */
                if (s + 1 == count_of_sizes() && (i + t) % 4) continue;
                perhaps_want want = want_number(i, sizes[s]);
                add_and_query(&want, (enum form)((i + s + t) % FORMS), sizes[s], threads[t], (i + s + t) % 2);
            }
}

/* 0 is one thread for each processor, and a thousand are not too many. */
static void any_number_of_threads_will_do(void **state) {
    (void)state;
    perhaps_want want = want_number(4, 65537);
    add_and_query(&want, INTEGERS, 65537, 0, true);
    add_and_query(&want, BYTES, 65537, 1000, true);
}

/* Queries work on all kinds. */
static void all_can_be_queried(void **state) {
    const perhaps_want wants[] = {
        PERHAPS_WANT(.kind = PERHAPS_CUCKOO, .items = 70000, .fpr = 1e-6),
        PERHAPS_WANT(.kind = PERHAPS_TABLE, .items = 70000),
        PERHAPS_WANT(.kind = PERHAPS_BLOCKED, .items = 70, .fpr = 1e-6, .grow = PERHAPS_GROW_LAYERS),
        PERHAPS_WANT(.kind = PERHAPS_CUCKOO, .items = 70, .fpr = 1e-6, .grow = PERHAPS_GROW_LAYERS),
        PERHAPS_WANT(.kind = PERHAPS_BLOOM, .items = 70000, .fpr = 1e-6, .generations = 3),
    };
    (void)state;
    for (size_t i = 0; i < sizeof wants / sizeof *wants; i++)
        for (int form = 0; form < FORMS; form++) {
            perhaps *f = make(&wants[i]);
            struct batch b = make_batch(f, (enum form)form, 0, 65537, 1);
            MUST(add_batch_alone(f, &b));
            CHECK(MUST(query_batch(f, &b, b.answers, 3)) == (int64_t)b.n && ones(b.answers, b.n) == b.n,
                  "a key is missed");
            expect_non_members_absent(f, (enum form)form, 100000, 3);
            struct bytes before = image_of(f);
            REFUSED(PERHAPS_ECANNOT, add_batch(f, &b, NULL, 2));
            REFUSED(PERHAPS_ECANNOT, add_batch(f, &b, b.answers, 1));
            expect_unchanged(f, before);
            free(before.data);
            free_batch(&b);
            perhaps_free(f);
        }
}

static void what_is_for_reading_stays_as_it_is(void **state) {
    (void)state;
    for (unsigned i = 0; i < WANTS; i++) {
        perhaps_want want = want_number(i, 5000);
        perhaps *f = make(&want), *g = NULL;
        struct batch b = make_batch(f, INTEGERS, 0, 5000, 1);
        MUST(add_batch(f, &b, NULL, 2));
        struct bytes image = image_of(f);
        MUST(perhaps_open_memory(&g, image.data, image.length, NULL));
        REFUSED(PERHAPS_EREADONLY, add_batch(g, &b, NULL, 2));
        CHECK(MUST(query_batch(g, &b, NULL, 2)) == 5000, "a key is missed");
        perhaps_free(g);
        free(image.data);
        free_batch(&b);
        perhaps_free(f);
    }
}

/* ---- kinds that grow, and what is full ---- */

static void a_bitmap_grows_beforehand(void **state) {
    (void)state;
    perhaps *f = make(&PERHAPS_WANT(.kind = PERHAPS_BITMAP, .items = 1000));
    struct batch b = make_batch(f, INTEGERS, 500, 100000, 2);
    CHECK(MUST(add_batch(f, &b, b.answers, 3)) >= 100000, "some were not new");
    CHECK(info_of(f).items == 100000 && info_of(f).distinct == 100000, "%llu items",
          (unsigned long long)info_of(f).items);
    CHECK(MUST(query_batch(f, &b, NULL, 3)) == (int64_t)b.n, "a key is missed");
    perhaps_free(f);
    for (int shared = 0; shared < 2; shared++) {
        perhaps_want want = PERHAPS_WANT(.kind = PERHAPS_BITMAP, .items = 1000, .shared = shared);
        if (!shared) want.grow = PERHAPS_GROW_NEVER;
        f = make(&want);
        struct bytes before = image_of(f);
        REFUSED(PERHAPS_EFULL, add_batch(f, &b, NULL, 3));
        REFUSED(PERHAPS_EFULL, add_batch(f, &b, b.answers, 3));
        expect_unchanged(f, before);
        free(before.data);
        perhaps_free(f);
    }
    free_batch(&b);
}

/* Some shards have room and some have not: the batch is taken out again. */
static void expect_nothing_added(const perhaps_want *want, uint64_t in, unsigned n_threads) {
    perhaps *f = make(want);
    struct batch before = make_batch(f, INTEGERS, 0, (size_t)in, 1), b = make_batch(f, INTEGERS, in / 2, 60000, 1);
    uint8_t *found = calloc(b.n, 1);
    uint64_t *counts = calloc(2 * (size_t)in, sizeof *counts);
    bool counted = info_of(f).can & PERHAPS_COUNT;
    CHECK(found && counts, "no memory");
    MUST(add_batch_alone(f, &before));
    uint64_t items = info_of(f).items;
    MUST(query_batch(f, &b, found, 1));
    if (counted) MUST(perhaps_count_many(f, &PERHAPS_KEYS_U64(before.integers, 0, (size_t)in), counts));
    for (int with_answers = 0; with_answers < 2; with_answers++) {
        int64_t answer =
            n_threads ? add_batch(f, &b, with_answers ? b.answers : NULL, n_threads)
                      : perhaps_add_many(f, &PERHAPS_KEYS_U64(b.integers, 0, b.n), with_answers ? b.answers : NULL);
        REFUSED(PERHAPS_EFULL, answer);
        MUST(query_batch(f, &b, b.answers, 1));
        CHECK(memcmp(found, b.answers, b.n) == 0, "kind %d, %u threads: %llu of the batch are found, not %llu",
              want->kind, n_threads, (unsigned long long)ones(b.answers, b.n), (unsigned long long)ones(found, b.n));
        CHECK(info_of(f).items == items, "%llu items, not %llu", (unsigned long long)info_of(f).items,
              (unsigned long long)items);
        CHECK(MUST(query_batch(f, &before, NULL, 1)) == (int64_t)before.n, "a key is missed");
        if (counted) MUST(perhaps_count_many(f, &PERHAPS_KEYS_U64(before.integers, 0, (size_t)in), counts + in));
        CHECK(memcmp(counts, counts + in, (size_t)in * sizeof *counts) == 0 || !counted, "counts are others");
    }
    free(found);
    free(counts);
    free_batch(&before);
    free_batch(&b);
    perhaps_free(f);
}

static void a_full_shard_refuses_the_batch(void **state) {
    const perhaps_want wants[] = {
        PERHAPS_WANT(.kind = PERHAPS_CUCKOO, .items = 8000, .fpr = 1e-4, .shards = 8, .grow = PERHAPS_GROW_NEVER),
        PERHAPS_WANT(.kind = PERHAPS_CUCKOO, .items = 8000, .fpr = 1e-4, .shards = 8, .shared = 1),
        PERHAPS_WANT(.kind = PERHAPS_TABLE, .items = 8000, .shards = 8, .grow = PERHAPS_GROW_NEVER),
        PERHAPS_WANT(.kind = PERHAPS_TABLE, .items = 8000, .shards = 700, .grow = PERHAPS_GROW_NEVER),
        PERHAPS_WANT(.kind = PERHAPS_CUCKOO, .items = 100, .fpr = 1e-4, .shards = 8, .grow = PERHAPS_GROW_LAYERS,
                     .growth = 4, .max_bytes = 150000),
        PERHAPS_WANT(.kind = PERHAPS_BLOCKED, .items = 100, .fpr = 1e-4, .shards = 8, .grow = PERHAPS_GROW_LAYERS,
                     .growth = 4, .max_bytes = 150000),
        PERHAPS_WANT(.kind = PERHAPS_BLOOM, .items = 100, .fpr = 1e-4, .shards = 8, .grow = PERHAPS_GROW_LAYERS,
                     .growth = 4, .max_bytes = 150000, .shared = 1),
    };
    (void)state;
    for (size_t i = 0; i < sizeof wants / sizeof *wants; i++)
        for (unsigned n_threads = 0; n_threads <= 4; n_threads += 2) expect_nothing_added(&wants[i], 4000, n_threads);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_threads_add_what_one_would),
        cmocka_unit_test(any_number_of_threads_will_do),
        cmocka_unit_test(all_can_be_queried),
        cmocka_unit_test(what_is_for_reading_stays_as_it_is),
        cmocka_unit_test(a_bitmap_grows_beforehand),
        cmocka_unit_test(a_full_shard_refuses_the_batch),
    };
    return cmocka_run_group_tests(tests, NULL, remove_scratch);
}
