/* Any number of threads may read one filter; different filters never disturb one another; those
 * made for it are changed by many threads. Most telling under ThreadSanitizer. */
#include "support.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ITEMS = 5000, FEWER = 1000, BATCH = 10000, CHANGERS = 4, THREADS = 8, ROUNDS = 20, TWO_PARTS = 1500000 };

struct reader {
    const perhaps *f;
    uint64_t items, rounds;
    struct bytes expected;
    uint64_t missed;
    bool same;
};

static int compare(void *context, const void *data, size_t length) {
    struct bytes *rest = context; /* what is still to come of the expected image */
    if (length > rest->length || memcmp(rest->data, data, length) != 0) return 1;
    rest->data += length;
    rest->length -= length;
    return 0;
}

/* Every call that the header marks "reads". */
static void *read_everything(void *context) {
    struct reader *reader = context;
    uint64_t keys[500];
    reader->same = true;
    for (uint64_t round = 0; round < reader->rounds; round++) {
        for (size_t i = 0; i < 500; i++) keys[i] = member_of(reader->f, (round * 211 + i * 7) % reader->items);
        reader->missed += 500 - (uint64_t)perhaps_contains_many(reader->f, &PERHAPS_KEYS_U64(keys, 0, 500), NULL);
        for (size_t i = 0; i < 100; i++) reader->missed += perhaps_contains_u64(reader->f, keys[i]) != 1;
        reader->missed +=
            perhaps_contains_digest(reader->f, perhaps_digest_u64(perhaps_hasher_of(reader->f), keys[0])) != 1;
        bool counts = info_of(reader->f).can & PERHAPS_COUNT, lists = info_of(reader->f).can & PERHAPS_LIST;
        uint64_t at = 0, digest;
        if (counts) reader->missed += perhaps_count_u64(reader->f, keys[1]) < 1;
        if (lists) reader->missed += perhaps_next(reader->f, &at, &digest) != 1;
        struct perhaps_info info = {.size = sizeof info};
        struct bytes rest = reader->expected;
        perhaps *copy = NULL;
        reader->same &= perhaps_info(reader->f, &info) == PERHAPS_OK;
        reader->same &= perhaps_write(reader->f, compare, &rest) == PERHAPS_OK && rest.length == 0;
        reader->same &= perhaps_clone(reader->f, &copy) == PERHAPS_OK && perhaps_equal(copy, reader->f) == 1;
        perhaps_free(copy);
    }
    return NULL;
}

static void many_threads_may_read(const struct layout *layout) {
    perhaps *f = make_with_members(layout, layout->items);
    struct bytes image = image_of(f);
    pthread_t threads[THREADS];
    struct reader readers[THREADS];
    uint64_t rounds = is_composite(layout) || test_size() == TEST_SMALL ? ROUNDS / 4 : ROUNDS;
    for (int i = 0; i < THREADS; i++) {
        readers[i] = (struct reader){f, layout->items, rounds, image, 0, false};
        CHECK(pthread_create(&threads[i], NULL, read_everything, &readers[i]) == 0, "no thread %d", i);
    }
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    for (int i = 0; i < THREADS; i++)
        CHECK(readers[i].missed == 0 && readers[i].same, "thread %d missed %llu keys", i,
              (unsigned long long)readers[i].missed);
    expect_unchanged(f, image);
    free(image.data);
    perhaps_free(f);
}

/* ---- each thread with its filter and its reasons ---- */

struct worker {
    perhaps_want want;
    uint64_t first, items;
    perhaps *f;
    bool own_reason;
};

static void *work_alone(void *context) {
    struct worker *worker = context;
    perhaps *none = NULL;
    perhaps_want bad = PERHAPS_WANT(.kind = 1000 + (int)worker->first, .items = 1, .fpr = 0.5);
    char number[24];
    for (int i = 0; i < 50; i++) perhaps_create(&none, &bad);
    snprintf(number, sizeof number, "%d", bad.kind);
    worker->own_reason = strstr(perhaps_why(), number) != NULL;
    if (perhaps_create(&worker->f, &worker->want) < 0) return NULL;
    for (uint64_t i = 0; i < worker->items; i++) perhaps_add_u64(worker->f, member_of(worker->f, worker->first + i));
    perhaps_seal(worker->f, NULL);
    return NULL;
}

static void filters_do_not_disturb_one_another(const struct layout *layout) {
    pthread_t threads[THREADS];
    struct worker workers[THREADS];
    for (int i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){layout->want, (uint64_t)i * 10, layout->items, NULL, false};
        CHECK(pthread_create(&threads[i], NULL, work_alone, &workers[i]) == 0, "no thread %d", i);
    }
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    for (int i = 0; i < THREADS; i++) {
        CHECK(workers[i].f, "thread %d made no filter", i);
        CHECK(workers[i].own_reason, "thread %d saw another thread's reason", i);
        perhaps *alone = make(&layout->want);
        for (uint64_t k = 0; k < layout->items; k++)
            MUST(perhaps_add_u64(alone, member_of(alone, workers[i].first + k)));
        seal(alone);
        CHECK(perhaps_equal(workers[i].f, alone) == 1, "thread %d's filter is not what one thread makes", i);
        perhaps_free(alone);
        perhaps_free(workers[i].f);
    }
}

/* ---- batches in many threads ---- */

static uint64_t *make_keys(const perhaps *f, size_t n) {
    uint64_t *keys = calloc(n, sizeof *keys);
    CHECK(keys, "no memory for %zu keys", n);
    for (size_t i = 0; i < n; i++) keys[i] = i % 2 ? member_of(f, i / 2) : non_member_of(f, i);
    return keys;
}

/* Queries work on all filters. */
static void parallel_queries_are_queries(const struct layout *layout) {
    perhaps *f = make_with_members(layout, layout->items);
    uint64_t *keys = make_keys(f, BATCH);
    static uint8_t parallel[BATCH], single[BATCH];
    int64_t ones = MUST(perhaps_contains_many(f, &PERHAPS_KEYS_U64(keys, 0, BATCH), single));
    for (unsigned threads = 0; threads <= 3; threads += 3) {
        memset(parallel, 7, BATCH);
        CHECK(MUST(perhaps_contains_parallel(f, &PERHAPS_KEYS_U64(keys, 0, BATCH), parallel, threads)) == ones,
              "%u threads", threads);
        CHECK(memcmp(parallel, single, BATCH) == 0, "%u threads answer otherwise", threads);
        CHECK(MUST(perhaps_contains_parallel(f, &PERHAPS_KEYS_U64(keys, 0, BATCH), NULL, threads)) == ones,
              "without answers");
    }
    free(keys);
    perhaps_free(f);
}

static bool may_be_shared(const struct layout *layout) {
    perhaps_want want = layout->want;
    perhaps *f = NULL;
    want.shared = 1;
    int rc = perhaps_create(&f, &want);
    CHECK(rc == PERHAPS_OK || rc == PERHAPS_EINVAL, "neither shared nor refused but %d: %s", rc, perhaps_why());
    perhaps_free(f);
    return rc == PERHAPS_OK;
}

/* Every key is in afterwards, and the answers are counted; where the order of adding does not
 * matter, it is the same filter as from one thread. Filters that cannot be shared refuse, and stay
 * as they were. */
static void adding_in_parallel_is_adding(const struct layout *layout) {
    perhaps *f = make(&layout->want), *alone = make(&layout->want);
    uint64_t *keys = make_keys(f, BATCH);
    static uint8_t answers[BATCH];
    struct bytes before = image_of(f);
    int64_t added = perhaps_add_parallel(f, &PERHAPS_KEYS_U64(keys, 0, BATCH), answers, 4), ones = 0;
    if (may_be_shared(layout)) {
        MUST(added);
        MUST(perhaps_add_many(alone, &PERHAPS_KEYS_U64(keys, 0, BATCH), NULL));
        for (size_t i = 0; i < BATCH; i++) ones += answers[i];
        CHECK(ones == added && info_of(f).items == (uint64_t)added, "%lld answers, %lld added, %llu items",
              (long long)ones, (long long)added, (unsigned long long)info_of(f).items);
        CHECK(MUST(perhaps_contains_many(f, &PERHAPS_KEYS_U64(keys, 0, BATCH), NULL)) == BATCH, "a key is missed");
        /* Growing at once is not growing step by step. */
        bool same = !order_matters(layout) && !grows(layout);
        CHECK(!same || perhaps_equal(f, alone) == 1, "threads make another filter");
    } else {
        REFUSED(PERHAPS_ECANNOT, added);
        expect_unchanged(f, before);
    }
    free(before.data);
    free(keys);
    perhaps_free(f);
    perhaps_free(alone);
}

/* ---- filters that many threads change ---- */

struct changer {
    perhaps *f;
    uint64_t first, items;
    bool removes; /* perhaps_info is not for while others change it */
    uint64_t news, missed;
};

/* Adds its members, one by one and in a batch, finds them, and removes every fourth if it can. */
static void *change(void *context) {
    struct changer *c = context;
    uint64_t keys[100];
    for (uint64_t i = 0; i + 100 <= c->items; i += 100) {
        for (uint64_t k = 0; k < 100; k++) keys[k] = member_of(c->f, c->first + i + k);
        for (uint64_t k = 0; k < 50; k++) c->news += perhaps_add_u64(c->f, keys[k]) == 1;
        int64_t added = perhaps_add_many(c->f, &PERHAPS_KEYS_U64(keys + 50, 0, 50), NULL);
        c->news += added < 0 ? 0 : (uint64_t)added;
        c->missed += 100 - (uint64_t)perhaps_contains_many(c->f, &PERHAPS_KEYS_U64(keys, 0, 100), NULL);
        for (uint64_t k = 0; k < 100; k++) c->missed += perhaps_contains_u64(c->f, keys[k]) != 1;
        for (uint64_t k = 0; c->removes && k < 100; k += 4) c->news -= perhaps_remove_u64(c->f, keys[k]) == 1;
    }
    return NULL;
}

static void many_threads_change_a_shared_filter(const struct layout *layout) {
    if (!may_be_shared(layout)) return;
    pthread_t threads[CHANGERS];
    struct changer changers[CHANGERS];
    perhaps_want want = layout->want;
    want.shared = 1;
    bool removes = layout->row->can & PERHAPS_REMOVE;
    perhaps *f = make(&want);
    uint64_t each = layout->items / CHANGERS, news = 0;
    CHECK(info_of(f).shared == 1, "info does not say that it is shared");
    for (uint64_t i = 0; i < CHANGERS; i++) {
        changers[i] = (struct changer){.f = f, .first = i * each, .items = each, .removes = removes};
        CHECK(pthread_create(&threads[i], NULL, change, &changers[i]) == 0, "no thread");
    }
    for (int i = 0; i < CHANGERS; i++) pthread_join(threads[i], NULL);
    for (int i = 0; i < CHANGERS; i++) {
        CHECK(changers[i].missed == 0, "thread %d missed %llu keys", i, (unsigned long long)changers[i].missed);
        news += changers[i].news;
    }
    for (uint64_t i = 0; i < CHANGERS * each; i++)
        CHECK((removes && i % 4 == 0) || perhaps_contains_u64(f, member_of(f, i)) == 1, "a key is lost");
    CHECK(info_of(f).items == news, "%llu items, %llu were new", (unsigned long long)info_of(f).items,
          (unsigned long long)news);
    perhaps_free(f);
}

/* ---- sealing in many threads ---- */

struct progress {
    uint64_t calls, done, all;
    bool forwards;
};

static void note_progress(void *context, uint64_t done, uint64_t all) {
    struct progress *progress = context;
    progress->calls++;
    progress->forwards &= done >= progress->done && done <= all && (!progress->all || progress->all == all);
    progress->done = done;
    progress->all = all;
}

/* And tell how far they are. */
static void threads_seal_the_same_bytes(const struct layout *layout) {
    perhaps *alone = make_with_members(layout, layout->items);
    struct bytes expected = image_of(alone);
    for (unsigned threads = test_size() == TEST_SMALL ? 3 : 0; threads <= 3; threads++) {
        struct progress progress = {.forwards = true};
        perhaps *f = make(&layout->want);
        add_members(f, 0, layout->items);
        MUST(perhaps_seal(f, &PERHAPS_SEAL(.threads = threads, .progress = note_progress, .context = &progress)));
        expect_unchanged(f, expected);
        CHECK(progress.forwards && progress.calls && progress.done == layout->items && progress.all == layout->items,
              "progress ended with %llu of %llu", (unsigned long long)progress.done, (unsigned long long)progress.all);
        perhaps_free(f);
    }
    free(expected.data);
    perhaps_free(alone);
}

/* Some keys were collected before, many threads collect the others; all answers are 1. */
static void threads_collect_the_same_keys(const struct layout *layout) {
    size_t n = (size_t)layout->items, few = 1000;
    perhaps *alone = make_with_members(layout, n), *f = make(&layout->want);
    struct bytes expected = image_of(alone);
    uint64_t *keys = calloc(n, sizeof *keys);
    uint8_t *answers = calloc(n, 1);
    CHECK(keys && answers, "no memory");
    for (size_t i = 0; i < n; i++) keys[i] = member(i);
    add_members(f, 0, few);
    int64_t added = MUST(perhaps_add_parallel(f, &PERHAPS_KEYS_U64(keys + few, 0, n - few), answers, 3));
    CHECK(added == (int64_t)(n - few) && !memchr(answers, 0, n - few), "%lld were added", (long long)added);
    CHECK(info_of(f).items == n, "%llu wait", (unsigned long long)info_of(f).items);
    seal(f);
    expect_unchanged(f, expected);
    free(keys);
    free(answers);
    free(expected.data);
    perhaps_free(alone);
    perhaps_free(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        FOR_EACH_LAYOUT(many_threads_may_read, ITEMS),
        FOR_EACH_KIND(filters_do_not_disturb_one_another, ITEMS),
        FOR_EACH_FILTER(parallel_queries_are_queries, FEWER),
        FOR_EACH_FILTER(adding_in_parallel_is_adding, BATCH),
        FOR_EACH_FILTER(many_threads_change_a_shared_filter, 4000),
        FOR_EACH_COMPOSITE(many_threads_may_read, FEWER),
        FOR_EACH_COMPOSITE(filters_do_not_disturb_one_another, FEWER),
        FOR_EACH_STATIC(many_threads_may_read, ITEMS),
        FOR_EACH_STATIC_KIND(filters_do_not_disturb_one_another, ITEMS),
        FOR_EACH_STATIC_KIND(parallel_queries_are_queries, FEWER),
        FOR_EACH_STATIC_KIND(threads_collect_the_same_keys, 100000),
        FOR_EACH_STATIC(threads_seal_the_same_bytes, FEWER),
        FOR_EACH_STATIC_KIND(threads_seal_the_same_bytes, TWO_PARTS),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
