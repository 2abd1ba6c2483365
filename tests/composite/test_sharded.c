/*
 * Shards: rates and loads of one large filter, threads that do not get in each other's way, growth
 * in small steps. And what cannot be put together is refused.
 */
#include "support.h"

#include <perhaps_embed.h>

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct perhaps_info child_of(const perhaps *f, unsigned i) {
    struct perhaps_info info = {.size = sizeof info};
    MUST(perhaps_child(f, i, &info));
    return info;
}

static uint64_t scaled(uint64_t small, uint64_t normal, uint64_t large) {
    return test_size() == TEST_SMALL ? small : test_size() == TEST_NORMAL ? normal : large;
}

/* ---- rates and loads ---- */

static void add_integers(perhaps *f, uint64_t first, uint64_t n) {
    enum { CHUNK = 4096 };
    uint64_t keys[CHUNK];
    for (uint64_t done = 0; done < n; done += CHUNK) {
        size_t some = n - done < CHUNK ? (size_t)(n - done) : CHUNK;
        for (size_t i = 0; i < some; i++) keys[i] = first + done + i;
        MUST(perhaps_add_many(f, &PERHAPS_KEYS_U64(keys, 0, some), NULL));
    }
}

/* Shards are planned for some keys more than their share, so with its number of keys the filter is
 * a little better than one without shards would be, and as good as perhaps_info says. */
static void expect_rate(const perhaps *f, double fpr) {
    uint64_t queries = scaled(100000, 1000000, 10000000);
    double seen = (double)count_false_positives(f, 0, queries), most = fpr * (double)queries;
    double now = info_of(f).fpr_now * (double)queries;
    CHECK(seen <= most + 3 * sqrt(most), "%g of %g non-members are found", seen, (double)queries);
    CHECK(fabs(seen - now) <= 3 * sqrt(now) + 0.01 * now, "%g non-members are found, and fpr_now says %g", seen, now);
}

/* Chi square of the numbers of keys in the shards, which has a mean of shards - 1. */
static void expect_even_loads(const perhaps *f, uint64_t n) {
    unsigned shards = info_of(f).children;
    double mean = (double)n / shards, sum = 0, freedom = shards - 1;
    for (unsigned i = 0; i < shards; i++) {
        double off = (double)child_of(f, i).items - mean;
        sum += off * off / mean;
    }
    CHECK(fabs(sum - freedom) <= 4.5 * sqrt(2 * freedom) + 4, "chi square is %g with %u shards of %g keys", sum, shards,
          mean);
}

static void rates_are_those_of_one_filter(void **state) {
    static const int kinds[] = {PERHAPS_BLOOM, PERHAPS_BLOCKED, PERHAPS_CUCKOO};
    static const unsigned shards[] = {16, 7, 100};
    uint64_t n = scaled(50000, 1000000, 100000000);
    (void)state;
    for (int i = 0; i < 3; i++) {
        perhaps *f = make(&PERHAPS_WANT(.kind = kinds[i], .items = n, .fpr = 0.01, .shards = shards[i]));
        CHECK(info_of(f).kind == PERHAPS_SHARDED && info_of(f).base == kinds[i], "kind %d", info_of(f).kind);
        for (int in_turn = 0; in_turn < 2; in_turn++) {
            if (in_turn)
                add_integers(f, 1000, n);
            else
                add_members(f, 0, n);
            if (!in_turn) expect_members(f, 0, n);
            expect_rate(f, 0.01);
            MUST(perhaps_clear(f));
        }
        perhaps_free(f);
    }
}

static double planned_fpr(perhaps_want want) {
    struct perhaps_plan plan = {.size = sizeof plan};
    MUST(perhaps_plan(&want, &plan));
    return plan.fpr;
}

/* Digests are spread over the shards, and so are the keys that a non-member's may equal. */
static void shards_have_all_equal_digests(void **state) {
    const double items = 1e6, of_digests = items / 0x1p64;
    (void)state;
    for (unsigned shards = 2; shards <= 256; shards *= 4) {
        perhaps_want want = PERHAPS_WANT(.kind = PERHAPS_TABLE, .items = (uint64_t)items, .shards = shards);
        double planned = planned_fpr(want);
        CHECK(planned >= of_digests, "%u shards: %g is planned, and equal digests alone are %g", shards, planned,
              of_digests);
        perhaps *f = make(&want);
        add_members(f, 0, want.items);
        double now = info_of(f).fpr_now;
        CHECK(now > 0.999 * of_digests && now < 1.001 * of_digests, "%u shards: the rate is %g, not %g", shards, now,
              of_digests);
        perhaps_free(f);
        planned = planned_fpr(
            PERHAPS_WANT(.kind = PERHAPS_BLOCKED, .items = (uint64_t)items, .fpr = 1.2 * of_digests, .shards = shards));
        CHECK(planned <= 1.2 * of_digests, "%u shards: %g is planned, and %g was wanted", shards, planned,
              1.2 * of_digests);
    }
}

static void loads_are_even(void **state) {
    static const unsigned shards[] = {2, 3, 16, 100, 1000, 4096};
    uint64_t n = scaled(50000, 200000, 100000000);
    (void)state;
    for (size_t i = 0; i < sizeof shards / sizeof *shards; i++) {
        perhaps *f = make(&PERHAPS_WANT(.kind = PERHAPS_TABLE, .items = n, .shards = shards[i]));
        add_members(f, 0, n);
        expect_even_loads(f, n);
        expect_members(f, 0, n);
        MUST(perhaps_clear(f));
        add_integers(f, 0, n);
        expect_even_loads(f, n);
        perhaps_free(f);
    }
}

/* ---- whole filters ---- */

static int by_value(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void a_list_has_every_digest_once(void **state) {
    enum { LISTED = 20000 };
    uint64_t *listed = calloc(LISTED + 1, sizeof *listed), *wanted = calloc(LISTED, sizeof *wanted);
    (void)state;
    CHECK(listed && wanted, "no memory");
    for (unsigned shards = 1; shards <= 512; shards *= 8) {
        perhaps *f = make(&PERHAPS_WANT(.kind = PERHAPS_TABLE, .items = 100, .shards = shards));
        uint64_t at = 0, n = 0, digest;
        add_members(f, 0, LISTED - 1);
        MUST(perhaps_add_digest(f, 0)); /* the digest that looks like an empty slot */
        for (uint64_t i = 0; i + 1 < LISTED; i++) wanted[i] = perhaps_digest_u64(perhaps_hasher_of(f), member(i));
        wanted[LISTED - 1] = 0;
        while (n <= LISTED && perhaps_next(f, &at, &digest) == 1) listed[n++] = digest;
        CHECK(n == LISTED, "%llu digests are listed", (unsigned long long)n);
        CHECK(perhaps_next(f, &at, &digest) == 0, "the list goes on after its end");
        qsort(listed, LISTED, sizeof *listed, by_value);
        qsort(wanted, LISTED, sizeof *wanted, by_value);
        CHECK(memcmp(listed, wanted, LISTED * sizeof *listed) == 0, "other digests are listed than were added");
        perhaps_free(f);
    }
    free(listed);
    free(wanted);
}

static void shards_are_merged_and_intersected(void **state) {
    static const int kinds[] = {PERHAPS_BLOOM, PERHAPS_BLOCKED, PERHAPS_COUNTING, PERHAPS_CUCKOO, PERHAPS_TABLE};
    (void)state;
    for (int i = 0; i < 5; i++) {
        perhaps_want want = PERHAPS_WANT(.kind = kinds[i], .items = 20000, .fpr = 0.001, .shards = 8);
        perhaps *a = make(&want), *b = make(&want), *other = NULL;
        want.shards = 9;
        other = make(&want);
        add_members(a, 0, 8000);
        add_members(b, 5000, 8000);
        MUST(perhaps_merge(a, b));
        expect_members(a, 0, 13000);
        bool multiset = info_of(a).can & PERHAPS_COUNT;
        if (multiset) CHECK(MUST(perhaps_count_u64(a, member(6000))) >= 2, "a merge is not the sum");
        REFUSED(PERHAPS_EMISMATCH, perhaps_merge(a, other));
        expect_members(a, 0, 13000);
        if (info_of(a).can & PERHAPS_INTERSECT) {
            MUST(perhaps_clear(a));
            add_members(a, 0, 8000);
            MUST(perhaps_intersect(a, b));
            expect_members(a, 5000, 3000);
            CHECK(MUST(perhaps_contains_u64(a, member(1))) == 0, "a key of one of the two is left");
            REFUSED(PERHAPS_EMISMATCH, perhaps_intersect(a, other));
        } else {
            REFUSED(PERHAPS_ECANNOT, perhaps_intersect(a, b));
        }
        perhaps_free(a);
        perhaps_free(b);
        perhaps_free(other);
    }
}

/* ---- threads ---- */

enum { THREADS = 4 };

struct worker {
    perhaps *f;
    unsigned number;
    uint64_t keys, news, wrong;
};

static void run_workers(perhaps *f, uint64_t keys, void *(*work)(void *), struct worker workers[THREADS]) {
    pthread_t threads[THREADS];
    for (unsigned i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){.f = f, .number = i, .keys = keys};
        CHECK(pthread_create(&threads[i], NULL, work, &workers[i]) == 0, "no thread");
    }
    for (unsigned i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
}

/* Every thread adds the same keys, from another start: one by one, in batches, or if absent. */
static void *add_overlapping(void *context) {
    struct worker *w = context;
    uint64_t batch[100], start = w->keys / THREADS * w->number;
    for (uint64_t i = 0; i < w->keys; i += 100) {
        for (uint64_t k = 0; k < 100; k++) batch[k] = member((start + i + k) % w->keys);
        if (i / 100 % 3 == 0) {
            int64_t added = perhaps_add_many(w->f, &PERHAPS_KEYS_U64(batch, 0, 100), NULL);
            w->wrong += added < 0;
            w->news += added > 0 ? (uint64_t)added : 0;
            continue;
        }
        for (int k = 0; k < 100; k++) {
            int rc = i / 100 % 3 == 1 ? perhaps_add_u64(w->f, batch[k]) : perhaps_add_absent_u64(w->f, batch[k]);
            w->wrong += rc < 0;
            w->news += rc == 1;
        }
        w->wrong += perhaps_contains_many(w->f, &PERHAPS_KEYS_U64(batch, 0, 100), NULL) != 100;
    }
    return NULL;
}

static void a_key_is_new_exactly_once(void **state) {
    static const int kinds[] = {PERHAPS_TABLE, PERHAPS_BLOCKED, PERHAPS_BLOOM};
    uint64_t n = scaled(10000, 100000, 1000000);
    (void)state;
    for (int i = 0; i < 6; i++) {
        struct worker workers[THREADS];
        bool layers = i >= 4;
        perhaps_want want = PERHAPS_WANT(.kind = kinds[i % 3], .items = i == 3 ? 100 : n, .fpr = 1e-9, .shared = 1);
        want.shards = i == 3 ? 1 : 16;
        if (layers) want.grow = PERHAPS_GROW_LAYERS, want.items = 100;
        perhaps *f = make(&want);
        uint64_t news = 0;
        run_workers(f, n, add_overlapping, workers);
        for (int w = 0; w < THREADS; w++) {
            CHECK(workers[w].wrong == 0, "thread %d was answered wrongly %llu times", w,
                  (unsigned long long)workers[w].wrong);
            news += workers[w].news;
        }
        /* Without locks a key is new at least once; with them, exactly once. */
        bool once = kinds[i % 3] == PERHAPS_TABLE || layers;
        CHECK(news == n || (news > n && !once), "%llu of %llu keys were new", (unsigned long long)news,
              (unsigned long long)n);
        CHECK(info_of(f).items == news && info_of(f).shared, "%llu items", (unsigned long long)info_of(f).items);
        expect_members(f, 0, n);
        perhaps_free(f);
    }
}

static void *add_absent_ones(void *context) {
    struct worker *w = context;
    for (uint64_t i = 0; i < w->keys; i++) {
        int rc = perhaps_add_absent_u64(w->f, member((w->keys / THREADS * w->number + i) % w->keys));
        w->wrong += rc < 0;
        w->news += rc == 1;
    }
    return NULL;
}

/* Of threads that add a key to a multiset if it is absent, one does. */
static void an_absent_key_is_added_once(void **state) {
    uint64_t n = scaled(2000, 20000, 100000);
    (void)state;
    for (int layers = 0; layers < 2; layers++) {
        struct worker workers[THREADS];
        perhaps_want want = PERHAPS_WANT(.kind = PERHAPS_CUCKOO, .items = n, .fpr = 1e-6, .shared = 1, .shards = 4);
        if (layers) want.grow = PERHAPS_GROW_LAYERS, want.items = 100;
        perhaps *f = make(&want);
        uint64_t news = 0;
        run_workers(f, n, add_absent_ones, workers);
        for (int w = 0; w < THREADS; w++) news += workers[w].news;
        CHECK(news <= n && news + 10 > n && info_of(f).items == news, "%llu of %llu keys were new, %llu are in it",
              (unsigned long long)news, (unsigned long long)n, (unsigned long long)info_of(f).items);
        perhaps_free(f);
    }
}

/* Each thread has its keys, and knows how many of them are in. */
static void *add_and_remove_own(void *context) {
    struct worker *w = context;
    uint64_t base = w->keys * w->number, random = w->number;
    uint8_t *copies = calloc((size_t)w->keys, 1);
    for (uint64_t i = 0; copies && i < 4 * w->keys; i++) {
        uint64_t k = next_random(&random) % w->keys, key = member(base + k);
        if (copies[k] && next_random(&random) % 2) {
            w->wrong += perhaps_remove_u64(w->f, key) != 1;
            copies[k]--;
        } else if (copies[k] < 3) {
            w->wrong += perhaps_add_u64(w->f, key) != 1;
            copies[k]++;
        }
        w->wrong += perhaps_count_u64(w->f, key) < copies[k];
        w->wrong += perhaps_contains_u64(w->f, key) < (copies[k] > 0);
    }
    for (uint64_t k = 0; copies && k < w->keys; k++)
        for (; copies[k]; copies[k]--) w->wrong += perhaps_remove_u64(w->f, member(base + k)) != 1;
    w->wrong += copies == NULL;
    free(copies);
    return NULL;
}

static void threads_with_keys_of_their_own(void **state) {
    uint64_t n = scaled(1000, 10000, 100000);
    (void)state;
    for (int i = 0; i < 3; i++) {
        struct worker workers[THREADS];
        perhaps_want want = PERHAPS_WANT(.kind = PERHAPS_CUCKOO, .items = 3 * THREADS * n, .fpr = 0.01, .shared = 1);
        want.shards = i ? 8 : 1;
        if (i == 2) want.grow = PERHAPS_GROW_LAYERS, want.items = 100;
        perhaps *f = make(&want);
        run_workers(f, n, add_and_remove_own, workers);
        for (int w = 0; w < THREADS; w++)
            CHECK(workers[w].wrong == 0, "thread %d was answered wrongly %llu times", w,
                  (unsigned long long)workers[w].wrong);
        CHECK(info_of(f).items == 0 && info_of(f).fill == 0, "%llu items are left",
              (unsigned long long)info_of(f).items);
        perhaps_free(f);
    }
}

/* ---- growth in small steps ---- */

struct meter {
    uint64_t now, peak;
};

static void *measured_get(void *context, size_t size) {
    struct meter *meter = context;
    meter->now += size;
    if (meter->now > meter->peak) meter->peak = meter->now;
    return aligned_alloc(64, (size + 63) / 64 * 64);
}

static void measured_release(void *context, void *memory, size_t size) {
    ((struct meter *)context)->now -= size;
    free(memory);
}

static void expect_small_peak(uint64_t n) {
    struct meter meter = {0, 0};
    perhaps_allocator allocator = {.allocate = measured_get, .release = measured_release, .context = &meter};
    perhaps *f = make(&PERHAPS_WANT(.kind = PERHAPS_TABLE, .items = 1, .shards = 64, .allocator = &allocator));
    add_members(f, 0, n);
    uint64_t peak = meter.peak;
    expect_members(f, 0, n);
    CHECK(peak <= 14 * n + (64 << 20), "%llu keys took %llu bytes", (unsigned long long)n, (unsigned long long)peak);
    CHECK(peak <= 14 * n + (8 << 20), "%llu keys took %llu bytes: %.2f each", (unsigned long long)n,
          (unsigned long long)peak, (double)peak / (double)n);
    perhaps_free(f);
    CHECK(meter.now == 0, "%llu bytes were not given back", (unsigned long long)meter.now);
}

static void a_sharded_table_grows_in_small_steps(void **state) {
    uint64_t unit = scaled(10000, 100000, 1000000);
    (void)state;
    for (uint64_t tenths = 10; tenths <= 20; tenths += tenths == 10 || tenths == 17 ? 3 : 4)
        expect_small_peak(unit * tenths);
}

/* ---- what makes no sense ---- */

#define NONSENSE(...)                                                                                                  \
    do {                                                                                                               \
        perhaps *made_ = NULL;                                                                                         \
        struct perhaps_plan plan_ = {.size = sizeof plan_};                                                            \
        perhaps_want want_ = PERHAPS_WANT(__VA_ARGS__);                                                                \
        REFUSED(PERHAPS_EINVAL, perhaps_create(&made_, &want_));                                                       \
        REFUSED(PERHAPS_EINVAL, perhaps_plan(&want_, &plan_));                                                         \
        CHECK(!made_, "refused, but made");                                                                            \
    } while (0)

static void windows_of_nonsense_are_refused(void **state) {
    (void)state;
    NONSENSE(.items = 100, .fpr = 0.01, .generations = 4, .shards = 2);
    NONSENSE(.items = 100, .fpr = 0.01, .generations = 4, .shared = 1);
    NONSENSE(.items = 100, .fpr = 0.01, .period = 4, .shards = 2);
    NONSENSE(.items = 100, .fpr = 0.01, .generations = 4, .grow = PERHAPS_GROW_LAYERS);
    NONSENSE(.items = 100, .fpr = 0.01, .generations = 1);
    NONSENSE(.items = 100, .fpr = 0.01, .generations = 1, .period = 5);
    NONSENSE(.items = 100, .fpr = 0.01, .generations = 65);
    NONSENSE(.items = 100, .fpr = 0.01, .generations = UINT32_MAX);
    NONSENSE(.items = 100, .fpr = 0.01, .clear_at = 1);
    NONSENSE(.items = 100, .fpr = 0.01, .clear_at = 1.5);
    NONSENSE(.items = 100, .fpr = 0.01, .clear_at = -0.5);
    NONSENSE(.items = 100, .fpr = 0.01, .clear_at = NAN);
    NONSENSE(.items = 100, .fpr = 0.01, .clear_at = INFINITY);
    NONSENSE(.items = 100, .fpr = 0.01, .clear_at = 0.5, .period = 5);
    NONSENSE(.kind = PERHAPS_COUNTING, .items = 100, .fpr = 0.01, .generations = 4);
    NONSENSE(.kind = PERHAPS_CUCKOO, .items = 100, .fpr = 0.01, .generations = 4);
    NONSENSE(.kind = PERHAPS_BITMAP, .items = 100, .generations = 4);
    NONSENSE(.kind = PERHAPS_TABLE, .items = 100, .generations = 4, .needs = PERHAPS_REMOVE);
}

static void layers_of_nonsense_are_refused(void **state) {
    (void)state;
    NONSENSE(.items = 100, .fpr = 0.01, .growth = 2);
    NONSENSE(.items = 100, .fpr = 0.01, .max_bytes = 1000);
    NONSENSE(.items = 100, .fpr = 0.01, .grow = PERHAPS_GROW_NEVER, .growth = 2);
    NONSENSE(.items = 100, .fpr = 0.01, .grow = PERHAPS_GROW_LAYERS, .growth = 1.4);
    NONSENSE(.items = 100, .fpr = 0.01, .grow = PERHAPS_GROW_LAYERS, .growth = 17);
    NONSENSE(.items = 100, .fpr = 0.01, .grow = PERHAPS_GROW_LAYERS, .growth = -2);
    NONSENSE(.items = 100, .fpr = 0.01, .grow = PERHAPS_GROW_LAYERS, .growth = NAN);
    NONSENSE(.items = 100, .fpr = 0.01, .grow = 3);
    NONSENSE(.items = 100, .fpr = 0.01, .grow = -1);
    NONSENSE(.items = 100, .grow = PERHAPS_GROW_LAYERS);
    NONSENSE(.fpr = 0.01, .bytes = 1000, .grow = PERHAPS_GROW_LAYERS);
    NONSENSE(.items = 100, .bits_per_key = 10, .grow = PERHAPS_GROW_LAYERS);
    NONSENSE(.kind = PERHAPS_TABLE, .items = 100, .grow = PERHAPS_GROW_LAYERS, .max_bytes = 10000);
    NONSENSE(.kind = PERHAPS_BITMAP, .items = 100, .grow = PERHAPS_GROW_LAYERS, .growth = 2);
    NONSENSE(.kind = PERHAPS_BLOCKED, .items = 100, .fpr = 0.01, .grow = PERHAPS_GROW_LAYERS, .hashes = 8);
    NONSENSE(.kind = PERHAPS_COUNTING, .items = 100, .fpr = 0.01, .grow = PERHAPS_GROW_LAYERS, .needs = PERHAPS_REMOVE);
    NONSENSE(.kind = PERHAPS_CUCKOO, .items = 100, .fpr = 0.01, .grow = PERHAPS_GROW_LAYERS, .needs = PERHAPS_MERGE);
}

static void shards_of_nonsense_are_refused(void **state) {
    (void)state;
    NONSENSE(.items = 100, .fpr = 0.01, .shards = 65537);
    NONSENSE(.items = 100, .fpr = 0.01, .shards = UINT32_MAX);
    NONSENSE(.kind = PERHAPS_BITMAP, .items = 100, .shards = 2);
    NONSENSE(.kind = PERHAPS_CUCKOO, .items = 100, .fpr = 0.01, .shared = 1);
    NONSENSE(.kind = PERHAPS_TABLE, .items = 100, .shared = 1);
    NONSENSE(.kind = PERHAPS_BLOCKED, .items = 100, .fpr = 0.01, .shared = 1, .grow = PERHAPS_GROW_LAYERS);
    NONSENSE(.kind = PERHAPS_GROWING, .items = 100, .fpr = 0.01);
    NONSENSE(.kind = PERHAPS_WINDOW, .items = 100, .fpr = 0.01);
    NONSENSE(.kind = PERHAPS_SHARDED, .items = 100, .fpr = 0.01);
    NONSENSE(.kind = PERHAPS_GROWING, .items = 100, .fpr = 0.01, .grow = PERHAPS_GROW_LAYERS);
    NONSENSE(.kind = PERHAPS_WINDOW, .items = 100, .fpr = 0.01, .generations = 3);
    NONSENSE(.kind = PERHAPS_SHARDED, .items = 100, .fpr = 0.01, .shards = 3);
    NONSENSE(.kind = PERHAPS_REDIS_BLOOM, .items = 100, .fpr = 0.01, .shards = 3);
    NONSENSE(.kind = PERHAPS_REDIS_CUCKOO, .items = 100, .shards = 3);
    NONSENSE(.kind = PERHAPS_REDIS_BLOOM, .items = 100, .fpr = 0.01, .generations = 3);
    NONSENSE(.kind = 99, .items = 100, .fpr = 0.01);
    NONSENSE(.items = 0, .shards = 4);
    NONSENSE(.items = 100, .fpr = 2, .shards = 4);
}

/* The odd ones that do make sense. */
static void odd_wants_are_met(void **state) {
    static const perhaps_want wants[] = {
        {.size = sizeof(perhaps_want), .fpr = 0.01, .grow = PERHAPS_GROW_LAYERS},
        {.size = sizeof(perhaps_want), .kind = PERHAPS_TABLE, .items = 1, .grow = PERHAPS_GROW_LAYERS, .shards = 3},
        {.size = sizeof(perhaps_want), .items = 1, .fpr = 0.5, .shards = 1},
        {.size = sizeof(perhaps_want), .items = 1, .fpr = 0.01, .shards = 300, .grow = PERHAPS_GROW_LAYERS},
        {.size = sizeof(perhaps_want), .items = 1, .fpr = 0.01, .generations = 64},
        {.size = sizeof(perhaps_want), .bytes = 100000, .fpr = 0.01, .shards = 7},
        {.size = sizeof(perhaps_want), .bytes = 100000, .fpr = 0.01, .generations = 3},
        {.size = sizeof(perhaps_want), .items = 1000, .bits_per_key = 20, .generations = 5},
        {.size = sizeof(perhaps_want), .items = 1000, .bits_per_key = 20, .shards = 5},
        {.size = sizeof(perhaps_want), .items = 1000, .fpr = 0.01, .period = UINT64_MAX},
        {.size = sizeof(perhaps_want), .items = 1000, .fpr = 0.01, .clear_at = 0.5, .generations = 64},
        {.size = sizeof(perhaps_want), .items = 100, .fpr = 0.01, .needs = PERHAPS_COUNT, .shards = 3, .shared = 1},
    };
    (void)state;
    for (size_t i = 0; i < sizeof wants / sizeof *wants; i++) {
        perhaps *f = make(&wants[i]), *again = NULL;
        struct perhaps_plan plan = {.size = sizeof plan};
        MUST(perhaps_plan(&wants[i], &plan));
        CHECK(plan.bytes == info_of(f).bytes && plan.image_bytes == info_of(f).image_bytes,
              "want %zu: %llu bytes are planned, and %llu made", i, (unsigned long long)plan.image_bytes,
              (unsigned long long)info_of(f).image_bytes);
        add_members(f, 0, 1);
        struct bytes image = image_of(f);
        CHECK(image.length == plan.image_bytes, "want %zu: the image has %zu bytes", i, image.length);
        MUST(perhaps_open_memory(&again, image.data, image.length, NULL));
        expect_members(again, 0, 1);
        free(image.data);
        perhaps_free(again);
        perhaps_free(f);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rates_are_those_of_one_filter),
        cmocka_unit_test(loads_are_even),
        cmocka_unit_test(shards_have_all_equal_digests),
        cmocka_unit_test(a_list_has_every_digest_once),
        cmocka_unit_test(shards_are_merged_and_intersected),
        cmocka_unit_test(a_key_is_new_exactly_once),
        cmocka_unit_test(an_absent_key_is_added_once),
        cmocka_unit_test(threads_with_keys_of_their_own),
        cmocka_unit_test(a_sharded_table_grows_in_small_steps),
        cmocka_unit_test(windows_of_nonsense_are_refused),
        cmocka_unit_test(layers_of_nonsense_are_refused),
        cmocka_unit_test(shards_of_nonsense_are_refused),
        cmocka_unit_test(odd_wants_are_met),
    };
    return cmocka_run_group_tests(tests, NULL, remove_scratch);
}
