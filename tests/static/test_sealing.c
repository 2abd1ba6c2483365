/* Making static filters: with little memory or none, beside a disk that may be full. */
#include "pool.h"
#include "support.h"

#include <perhaps_embed.h>

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* More keys than the least max_scratch, 16 MiB, has room for; a part has 700,000 and more. */
enum { ITEMS = 1000, SPILLED = 2200000, SCRATCH = 16 << 20 };

/* Promises about files and parts need that many, or they are about nothing. */
static bool is_whole(const struct layout *layout) {
    return layout->items == SPILLED;
}

/* How keys wait is the same for all kinds: where time matters, one of them shows it. */
static bool is_enough(const struct layout *layout) {
    return is_whole(layout) && (test_size() != TEST_SMALL || layout->row->kind == PERHAPS_FUSE);
}

static perhaps *collect(const struct layout *layout, uint64_t max_scratch, const char *folder) {
    perhaps_want want = layout->want;
    want.max_scratch = max_scratch;
    want.scratch_dir = folder;
    perhaps *f = make(&want);
    add_members(f, 0, layout->items);
    return f;
}

static void options_are_checked(const struct layout *layout) {
    perhaps *f = make(&layout->want);
    struct {
        perhaps_seal_options options;
        uint64_t news;
    } newer = {{.size = sizeof newer}, 1};
    add_members(f, 0, ITEMS);
    REFUSED(PERHAPS_EINVAL, perhaps_seal(f, &(perhaps_seal_options){.size = 0}));
    REFUSED(PERHAPS_EINVAL, perhaps_seal(f, &newer.options));
    newer.news = 0;
    MUST(perhaps_seal(f, &newer.options));
    expect_members(f, 0, ITEMS);
    perhaps_free(f);
}

/* ---- keys that wait in a file ---- */

static void keys_that_waited_in_a_file_make_the_same_bytes(const struct layout *layout) {
    if (!is_whole(layout)) return;
    const char *folder = scratch("spill");
    CHECK(mkdir(folder, 0700) == 0, "mkdir: %s", strerror(errno));
    perhaps *straight = make_with_members(layout, layout->items);
    struct bytes expected = image_of(straight);
    perhaps_free(straight);
    perhaps *f = collect(layout, SCRATCH, folder);
    CHECK(rmdir(folder) == 0, "the file has a name: %s", strerror(errno));
    CHECK(info_of(f).items == layout->items, "%llu keys wait", (unsigned long long)info_of(f).items);
    MUST(perhaps_seal(f, &PERHAPS_SEAL(.threads = 2)));
    expect_unchanged(f, expected);
    perhaps_free(f);
    free(expected.data);
}

/* A clear gives the file's keys up, too. */
static void what_waited_in_a_file_is_cleared(const struct layout *layout) {
    if (!is_enough(layout)) return;
    perhaps *f = collect(layout, 1, NULL), *straight = make_with_members(layout, ITEMS);
    MUST(perhaps_clear(f));
    add_members(f, 0, ITEMS);
    seal(f);
    CHECK(perhaps_equal(f, straight) == 1, "something is left of what was cleared");
    perhaps_free(f);
    perhaps_free(straight);
}

/* Members from `first` on, in batches, until one is refused. How many were added. */
static uint64_t add_until_refused(perhaps *f, uint64_t first, uint64_t most, int error) {
    enum { BATCH = 50000 };
    static uint64_t keys[BATCH];
    for (uint64_t done = 0; done < most; done += BATCH) {
        for (uint64_t i = 0; i < BATCH; i++) keys[i] = member(first + done + i);
        int64_t added = perhaps_add_many(f, &PERHAPS_KEYS_U64(keys, 0, BATCH), NULL);
        if (added == BATCH) continue;
        REFUSED(error, added);
        CHECK(info_of(f).items == first + done, "a refused batch has left keys: %llu items",
              (unsigned long long)info_of(f).items);
        return done;
    }
    return most;
}

static void expect_exactly(const perhaps *f, uint64_t n) {
    expect_members(f, 0, n);
    CHECK(info_of(f).items == n, "%llu items of %llu", (unsigned long long)info_of(f).items, (unsigned long long)n);
}

/* The folder is needed only when memory is short. Then it is refused in words; keys stay. */
static void a_folder_that_is_missing_is_named(const struct layout *layout) {
    if (!is_enough(layout)) return;
    const char *folder = scratch("not-there-yet");
    perhaps_want want = layout->want;
    want.max_scratch = SCRATCH;
    want.scratch_dir = folder;
    perhaps *f = make(&want);
    uint64_t added = add_until_refused(f, 0, SPILLED, PERHAPS_EIO);
    CHECK(errno == ENOENT && strstr(perhaps_why(), folder), "the reason does not name the folder: %s", perhaps_why());
    CHECK(added > SPILLED / 2 && added < SPILLED, "%llu keys were added", (unsigned long long)added);
    int rc;
    uint64_t single = added;
    while ((rc = perhaps_add_u64(f, member(single))) == 1) single++;
    REFUSED(PERHAPS_EIO, rc);
    CHECK(info_of(f).items == single, "%llu items after %llu adds", (unsigned long long)info_of(f).items,
          (unsigned long long)single);
    CHECK(mkdir(folder, 0700) == 0, "mkdir: %s", strerror(errno));
    CHECK(add_until_refused(f, single, 200000, 0) == 200000, "with its folder it collects on");
    seal(f);
    expect_exactly(f, single + 200000);
    perhaps_free(f);
    rmdir(folder);
}

/* The limit on file sizes works like a disk that is full after that many bytes. */
static void a_full_disk_loses_no_key(const struct layout *layout) {
    if (!is_enough(layout)) return;
    struct rlimit before, limit;
    perhaps_want want = layout->want;
    want.max_scratch = SCRATCH;
    perhaps *f = make(&want);
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before);
    limit = (struct rlimit){5000000, before.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
    uint64_t added = add_until_refused(f, 0, SPILLED, PERHAPS_EIO);
    bool told = strstr(perhaps_why(), strerror(EFBIG)) != NULL;
    uint64_t again = add_until_refused(f, added, SPILLED, PERHAPS_EIO);
    setrlimit(RLIMIT_FSIZE, &before);
    CHECK(told && added < SPILLED && again < SPILLED, "%llu keys: %s", (unsigned long long)added, perhaps_why());
    CHECK(add_until_refused(f, added + again, 300000, 0) == 300000, "with room again it collects on");
    seal(f);
    expect_exactly(f, added + again + 300000);
    perhaps_free(f);
}

/* ---- without memory ---- */

/* Collects and seals with each allocation failing in turn; whatever is refused is done again with
 * memory, and nothing is lost. */
static bool build_with_failure(const struct layout *layout, struct pool *pool, struct bytes expected) {
    enum { BATCH = 3000 };
    perhaps_allocator allocator = pool_allocator(pool);
    perhaps_want want = layout->want;
    want.allocator = &allocator;
    perhaps *f = NULL;
    int rc = perhaps_create(&f, &want);
    if (rc < 0) {
        CHECK(rc == PERHAPS_ENOMEM && !f && perhaps_why()[0], "create answered %d", rc);
        return true;
    }
    static uint64_t keys[BATCH];
    uint64_t items = layout->items, refused = 0;
    for (uint64_t done = 0; done < items; done += BATCH) {
        size_t n = items - done < BATCH ? (size_t)(items - done) : BATCH;
        for (size_t i = 0; i < n; i++) keys[i] = member(done + i);
        if (perhaps_add_many(f, &PERHAPS_KEYS_U64(keys, 0, n), NULL) == (int64_t)n) continue;
        CHECK(info_of(f).items == done, "a batch that failed has left keys");
        pool->fail_at = 0;
        refused++;
        MUST(perhaps_add_many(f, &PERHAPS_KEYS_U64(keys, 0, n), NULL));
    }
    rc = perhaps_seal(f, &PERHAPS_SEAL(.threads = 1 + pool->for_good));
    if (rc < 0) {
        CHECK(rc == PERHAPS_ENOMEM && perhaps_why()[0], "seal answered %d: %s", rc, perhaps_why());
        CHECK(info_of(f).collecting == 1 && info_of(f).items == items, "%llu keys wait",
              (unsigned long long)info_of(f).items);
        pool->fail_at = 0;
        refused++;
        seal(f);
    }
    pool->fail_at = 0;
    expect_unchanged(f, expected);
    perhaps_free(f);
    return refused;
}

/* All of the first allocations, and of the hundreds that are one for each bin, some. */
static void every_allocation_may_fail(const struct layout *layout) {
    perhaps *straight = make_with_members(layout, layout->items);
    struct bytes expected = image_of(straight);
    perhaps_free(straight);
    uint64_t stride = test_size() == TEST_SMALL ? 3 : 10;
    for (int for_good = 0; for_good < 2; for_good++) {
        bool failed = true;
        for (uint64_t fail = 1; failed; fail += 1 + fail / stride) {
            struct pool pool = {.fail_at = fail, .for_good = for_good};
            failed = build_with_failure(layout, &pool, expected);
            CHECK(pool.blocks == 0, "%lld blocks are left when allocation %llu fails", (long long)pool.blocks,
                  (unsigned long long)fail);
            CHECK(fail < 5000, "it allocates without end");
        }
    }
    free(expected.data);
}

/* ---- within memory ---- */

/* While keys are collected, the limit and a little more; when sealed, also what the header says. */
static void memory_has_a_limit(const struct layout *layout) {
    enum { MIB = 1 << 20, LIMIT = 16 * MIB };
    struct pool pool = {.blocks = 0};
    perhaps_allocator allocator = pool_allocator(&pool);
    perhaps_want want = layout->want;
    want.allocator = &allocator;
    want.max_scratch = LIMIT;
    perhaps *f = make(&want);
    add_members(f, 0, layout->items);
    CHECK(pool.most <= LIMIT + MIB, "%lld bytes for keys that wait", (long long)pool.most);
    seal(f);
    int64_t filter = (int64_t)info_of(f).bytes;
    CHECK(pool.most <= LIMIT + 2 * filter + 60 * MIB, "%lld bytes, for a filter of %lld", (long long)pool.most,
          (long long)filter);
    perhaps_free(f);
    CHECK(pool.bytes == 0, "%lld bytes are left", (long long)pool.bytes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        FOR_EACH_STATIC_KIND(options_are_checked, ITEMS),
        FOR_EACH_STATIC_KIND(keys_that_waited_in_a_file_make_the_same_bytes, SPILLED),
        FOR_EACH_STATIC_KIND(memory_has_a_limit, SPILLED),
        FOR_EACH_STATIC_KIND(what_waited_in_a_file_is_cleared, SPILLED),
        FOR_EACH_STATIC_KIND(a_folder_that_is_missing_is_named, SPILLED),
        FOR_EACH_STATIC_KIND(a_full_disk_loses_no_key, SPILLED),
        FOR_EACH_STATIC_KIND(every_allocation_may_fail, ITEMS),
        FOR_EACH_STATIC_KIND(every_allocation_may_fail, 20000),
    };
    return cmocka_run_group_tests(tests, NULL, remove_scratch);
}
