/* Past 2^33 bits: positions, sizes and checksums have 64 bits everywhere. The memory is sparse. */
#include "support.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { KEYS = 3000, PAGE = 4096, PARTS = 8 };
/* Where each key may touch other huge pages. */
enum { FEW = 200 };
static const uint64_t bytes = UINT64_C(3) << 29; /* 1.5 GiB, 1.5 * 2^33 bits */

/* Which eighth of the image each non-empty page lies in. */
struct census {
    uint64_t offset, pages[PARTS];
};

static int count_pages(void *context, const void *data, size_t length) {
    static const uint8_t zeros[PAGE];
    struct census *census = context;
    for (size_t done = 0; done < length; done += PAGE) {
        size_t some = length - done < PAGE ? length - done : PAGE;
        uint64_t part = (census->offset + done) / (bytes / PARTS);
        if (memcmp((const uint8_t *)data + done, zeros, some) != 0) census->pages[part < PARTS ? part : PARTS - 1]++;
    }
    census->offset += length;
    return 0;
}

static void expect_bits_everywhere(const perhaps *f, unsigned pages_per_key) {
    struct census census = {0, {0}};
    MUST(perhaps_write(f, count_pages, &census));
    CHECK(census.offset > bytes, "%llu bytes were written", (unsigned long long)census.offset);
    double expected = (double)KEYS * pages_per_key / PARTS;
    for (int i = 0; i < PARTS; i++)
        CHECK(fabs((double)census.pages[i] - expected) < 6 * sqrt(expected) + 0.05 * expected,
              "part %d of %d holds %llu pages with bits, %g were due", i + 1, PARTS,
              (unsigned long long)census.pages[i], expected);
}

/* The pages of a key: one per cache line, but only one place if the kind moves keys. */
static unsigned pages_per_key(const struct layout *layout, const struct perhaps_info *info) {
    return order_matters(layout) ? 1 : info->lines;
}

/* A range of integers is walked through from end to end; other keys are spread by their hash. */
static uint64_t far_key(const perhaps *f, uint64_t i) {
    return takes_bytes(f) ? member(i) : i * (8 * bytes / KEYS) + i % 64;
}

static void fill_and_query(perhaps *f, size_t n) {
    uint64_t keys[KEYS] = {0};
    for (uint64_t i = 0; i < n; i++) keys[i] = far_key(f, i);
    MUST(perhaps_add_many(f, &PERHAPS_KEYS_U64(keys, 0, n / 2), NULL));
    for (uint64_t i = n / 2; i < n; i++) MUST(perhaps_add_u64(f, keys[i]));
    CHECK(MUST(perhaps_contains_many(f, &PERHAPS_KEYS_U64(keys, 0, n), NULL)) == (int64_t)n,
          "a batch of queries misses a key");
    for (uint64_t i = 0; i < n; i++) CHECK(perhaps_contains_u64(f, keys[i]) == 1, "a single query misses a key");
    CHECK(count_false_positives(f, 0, 100000) == 0, "a nearly empty filter has false positives");
}

/* Takes half of them out and puts them in again. */
static void remove_and_query(perhaps *f, uint64_t n) {
    for (uint64_t i = 0; i < n / 2; i++)
        CHECK(MUST(perhaps_remove_u64(f, far_key(f, i))) == 1, "a key that is there is not removed");
    for (uint64_t i = 0; i < n; i++)
        CHECK(perhaps_contains_u64(f, far_key(f, i)) == (i >= n / 2), "wrong about key %llu after removes",
              (unsigned long long)i);
    for (uint64_t i = 0; i < n / 2; i++) MUST(perhaps_add_u64(f, far_key(f, i)));
}

static perhaps *make_large(const struct layout *layout) {
    perhaps_want want = PERHAPS_WANT(.kind = layout->row->kind, .bytes = bytes);
    if (!is_exact(layout)) want.items = 1000000000;
    return make(&want);
}

static void more_bits_than_32_bits_can_count(const struct layout *layout) {
    if (sizeof(size_t) < 8 || test_size() == TEST_SMALL) skip();
    perhaps *f = make_large(layout);
    fill_and_query(f, KEYS);
    if (layout->row->can & PERHAPS_REMOVE) remove_and_query(f, KEYS);
    struct perhaps_info info = info_of(f); /* once: it reads everything */
    CHECK(info.bytes > bytes - 4096 && info.bytes <= bytes, "%llu bytes", (unsigned long long)info.bytes);
    CHECK(info.items == KEYS, "%llu items", (unsigned long long)info.items);
    CHECK(fabs(info.distinct - KEYS) < 0.01 * KEYS, "%d keys are estimated as %g", KEYS, info.distinct);
    expect_bits_everywhere(f, pages_per_key(layout, &info));
    perhaps_free(f);
}

/* More slots or counters than 33 bits can count: nearly all of that memory is never touched. */
static void more_slots_than_33_bits_can_count(const struct layout *layout) {
    if (sizeof(size_t) < 8 || test_size() == TEST_SMALL || !is_multiset(layout)) return;
    perhaps_want want = PERHAPS_WANT(.kind = layout->row->kind, .items = UINT64_C(9000000000), .fpr = 0.2);
    struct perhaps_plan plan = {.size = sizeof plan};
    if (perhaps_plan(&want, &plan) == PERHAPS_ENOMEM) {
        want = PERHAPS_WANT(.kind = layout->row->kind, .items = UINT64_C(6000000000), .bytes = UINT64_C(5) << 30);
        if (perhaps_plan(&want, &plan) < 0) skip();
    }
    perhaps *f = make(&want);
    fill_and_query(f, FEW);
    remove_and_query(f, FEW);
    perhaps_free(f);
}

/* ---- sparse memory, sparse files ---- */

static uint64_t resident_bytes(void) {
    unsigned long long total = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    CHECK(file && fscanf(file, "%llu %llu", &total, &resident) == 2, "no /proc/self/statm");
    fclose(file);
    return resident * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void expect_little_memory(uint64_t before, const char *what) {
    uint64_t now = resident_bytes();
    CHECK(now < before + (64 << 20), "%s took %llu bytes of memory", what, (unsigned long long)(now - before));
}

/* A large range with few integers costs only their pages: in memory, in a copy and on disk. */
static void ranges_of_integers_stay_sparse(const struct layout *layout) {
    if (sizeof(size_t) < 8 || test_size() == TEST_SMALL || layout->hashed) return;
    const char *path = scratch("sparse.ph");
    uint64_t before = resident_bytes();
    perhaps *f = make_large(layout), *copy = NULL, *opened = NULL;
    fill_and_query(f, KEYS);
    expect_little_memory(before, "a filter");
    MUST(perhaps_clone(f, &copy));
    CHECK(perhaps_equal(f, copy) == 1, "a clone differs");
    expect_little_memory(before, "a clone");
    MUST(perhaps_clear(copy));
    MUST(perhaps_merge(copy, f));
    expect_little_memory(before, "a merge");
    perhaps_free(copy);
    MUST(perhaps_save(f, path));
    struct stat file;
    CHECK(stat(path, &file) == 0 && (uint64_t)file.st_size > bytes, "the file has %lld bytes", (long long)file.st_size);
    CHECK((uint64_t)file.st_blocks * 512 < 64 << 20, "the file takes %lld bytes of disk",
          (long long)file.st_blocks * 512);
    MUST(perhaps_open(&opened, path, NULL));
    CHECK(perhaps_equal(f, opened) == 1, "the opened file differs");
    perhaps_free(opened);
    perhaps_free(f);
    unlink(path);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        FOR_EACH_KIND(more_bits_than_32_bits_can_count, 1000),
        FOR_EACH_KIND(more_slots_than_33_bits_can_count, 1000),
        FOR_EACH_KIND(ranges_of_integers_stay_sparse, 1000),
    };
    return cmocka_run_group_tests(tests, NULL, remove_scratch);
}
