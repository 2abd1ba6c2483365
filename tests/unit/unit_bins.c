/* Collected keys: none is lost or changed, and each bin has its own in their order. */
#include "support.h"

#include "base/memory.h"
#include "static/bins.h"

#include <stdlib.h>
#include <string.h>

enum { MANY = 2300000 }; /* more than SCRATCH_MIN has room for */

static uint64_t key_of(uint64_t i) {
    return member(i);
}

/* As a batch: pending keys go to their bins whenever there are enough of them. */
static void put(struct bins *bins, uint64_t first, uint64_t n) {
    MUST(bins_begin(bins, n));
    for (uint64_t i = first; i < first + n; i++) {
        if (bins->pended == PENDING) MUST(bins_flush(bins));
        bins->pending[bins->pended++] = key_of(i);
    }
}

static struct bins *make_bins(uint64_t max_bytes) {
    struct bins *bins = NULL;
    MUST(bins_make(&bins, &memory_default, max_bytes, NULL));
    return bins;
}

/* The bins hold keys 0..n-1, in pieces of any size. */
static void expect_keys(struct bins *bins, uint64_t n) {
    uint64_t next[BINS] = {0}, room[777];
    uint64_t *expected[BINS], total = 0;
    MUST(bins_flush(bins));
    CHECK(bins_keys(bins) == n, "%llu keys of %llu", (unsigned long long)bins_keys(bins), (unsigned long long)n);
    for (unsigned b = 0; b < BINS; b++) {
        expected[b] = calloc((size_t)bin_keys(bins, b) + 1, sizeof *expected[b]);
        CHECK(expected[b], "no memory");
    }
    for (uint64_t i = 0; i < n; i++) {
        unsigned b = (unsigned)(key_of(i) >> (64 - BIN_BITS));
        CHECK(next[b] < bin_keys(bins, b), "bin %u has only %llu keys", b, (unsigned long long)bin_keys(bins, b));
        expected[b][next[b]++] = key_of(i);
    }
    for (unsigned b = 0; b < BINS; b++) {
        for (uint64_t from = 0, some; from < bin_keys(bins, b); from += some, total += some) {
            uint64_t left = bin_keys(bins, b) - from;
            some = 1 + (from + b) % 777 < left ? 1 + (from + b) % 777 : left;
            MUST(bins_read(bins, b, from, some, room));
            CHECK(memcmp(room, expected[b] + from, (size_t)some * sizeof *room) == 0, "bin %u differs from key %llu on",
                  b, (unsigned long long)from);
        }
        free(expected[b]);
    }
    CHECK(total == n, "%llu keys in all", (unsigned long long)total);
}

static void every_key_is_in_its_bin(void **state) {
    static const uint64_t counts[] = {0, 1, 255, PENDING - 1, PENDING, PENDING + 1, 100000};
    (void)state;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        struct bins *bins = make_bins(0);
        put(bins, 0, counts[i] / 2);
        put(bins, counts[i] / 2, counts[i] - counts[i] / 2);
        expect_keys(bins, counts[i]);
        CHECK(bins->fd < 0, "there is a file without need");
        bins_free(bins);
    }
}

static void keys_go_to_a_file_and_come_back(void **state) {
    (void)state;
    if (time_is_short()) return;
    struct bins *bins = make_bins(1); /* taken as SCRATCH_MIN */
    for (uint64_t first = 0; first < MANY; first += 230000) put(bins, first, 230000);
    CHECK(bins->fd >= 0 && bins->file_end > 0, "there is no file");
    CHECK(bins->slabs * (UINT64_C(1) << 20) <= SCRATCH_MIN, "%zu slabs", bins->slabs);
    expect_keys(bins, MANY);
    bins_clear(bins);
    expect_keys(bins, 0);
    put(bins, 0, 1000);
    expect_keys(bins, 1000);
    bins_free(bins);
}

/* A batch that is taken back leaves what was there, in memory and in the file; more can come. */
static void a_batch_is_taken_back(void **state) {
    static const uint64_t before[] = {0, 10, PENDING, 500000, 1900000, 2050000};
    static const uint64_t batches[] = {1, PENDING, 200000, MANY};
    (void)state;
    for (size_t i = 0; i < (time_is_short() ? 3 : sizeof before / sizeof *before); i++) {
        struct bins *bins = make_bins(SCRATCH_MIN);
        put(bins, 0, before[i]);
        for (size_t j = 0; j < (before[i] > 500000 ? 4 : 3); j++) {
            uint64_t waiting = bins->pended;
            put(bins, 5000000, batches[j]);
            bins_undo(bins);
            /* None of them left the place where they waited. */
            if (!bins->marked) bins->pended = waiting;
            CHECK(bins_keys(bins) == before[i], "%llu keys of %llu", (unsigned long long)bins_keys(bins),
                  (unsigned long long)before[i]);
        }
        put(bins, before[i], 100000);
        expect_keys(bins, before[i] + 100000);
        bins_free(bins);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_key_is_in_its_bin),
        cmocka_unit_test(keys_go_to_a_file_and_come_back),
        cmocka_unit_test(a_batch_is_taken_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
