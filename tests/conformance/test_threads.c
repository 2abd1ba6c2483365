/* Any number of threads may read one filter; different filters never disturb one another. Most telling under
 * ThreadSanitizer. */
#include "support.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ITEMS = 5000, FEWER = 1000, THREADS = 8, ROUNDS = 20 };

struct reader {
    const perhaps *f;
    uint64_t items;
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
    for (uint64_t round = 0; round < ROUNDS; round++) {
        for (size_t i = 0; i < 500; i++) keys[i] = member_of(reader->f, (round * 211 + i * 7) % reader->items);
        reader->missed += 500 - (uint64_t)perhaps_contains_many_u64(reader->f, keys, 500, NULL);
        for (size_t i = 0; i < 100; i++) reader->missed += perhaps_contains_u64(reader->f, keys[i]) != 1;
        reader->missed += perhaps_contains_digest(reader->f, perhaps_digest_u64(reader->f, keys[0])) != 1;
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
    for (int i = 0; i < THREADS; i++) {
        readers[i] = (struct reader){f, layout->items, image, 0, false};
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

/* ---- filters of their own, and reasons of their own ---- */

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
        CHECK(perhaps_equal(workers[i].f, alone) == 1, "thread %d's filter is not what one thread makes", i);
        perhaps_free(alone);
        perhaps_free(workers[i].f);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        FOR_EACH_LAYOUT(many_threads_may_read, ITEMS),
        FOR_EACH_KIND(filters_do_not_disturb_one_another, ITEMS),
        FOR_EACH_COMBINED(many_threads_may_read, FEWER),
        FOR_EACH_COMBINED(filters_do_not_disturb_one_another, FEWER),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
