/* Counting filters against an exact multiset, and their counters one by one. */
#include "support.h"

#include "kind/kind.h"
#include "plan/plan.h"
#include "base/bits.h"
#include "kind/counting/counting_cells.h"

#include <stdlib.h>
#include <string.h>

enum { KEYS = 300 };

/* ---- the counters alone ---- */

static void counters_stop_at_both_ends(void **state) {
    (void)state;
    uint8_t bytes[8] = {0};
    for (unsigned i = 0; i < 16; i++) {
        for (unsigned n = 1; n <= 20; n++) {
            counter_up(bytes, i);
            CHECK(counter_get(bytes, i) == (n < 15 ? n : 15), "counter %u after %u: %u", i, n, counter_get(bytes, i));
        }
        counter_down(bytes, i);
        CHECK(counter_get(bytes, i) == 15, "counter %u left 15", i);
        CHECK(load64(bytes) >> 4 * i == 15, "counter %u is not where it should be", i);
    }
    memset(bytes, 0x32, sizeof bytes);
    for (unsigned i = 0; i < 16; i++) {
        for (unsigned n = 0; n < 5; n++) counter_down(bytes, i);
        CHECK(counter_get(bytes, i) == 0, "counter %u went below zero", i);
    }
    CHECK(load64(bytes) == 0, "something is left");
}

static void words_of_counters_add_up(void **state) {
    (void)state;
    uint64_t random = 5;
    for (int round = 0; round < 20000; round++) {
        uint64_t a = next_random(&random), b = next_random(&random);
        if (round % 3 == 1) b &= next_random(&random) & next_random(&random);
        if (round % 3 == 2) a |= next_random(&random);
        uint8_t in_a[8], in_b[8], tally_of[8];
        uint64_t sum = counters_sum(a, b), used = 0, stuck = 0, all = 0;
        store64(in_a, a);
        store64(in_b, b);
        store64(tally_of, sum);
        for (unsigned i = 0; i < 16; i++) {
            unsigned right = counter_get(in_a, i) + counter_get(in_b, i), got = counter_get(tally_of, i);
            CHECK(got == (right < 15 ? right : 15), "%u counted as %u", right, got);
            used += got != 0;
            stuck += got == 15;
            all += got;
        }
        struct counters_tally tally = counters_count(tally_of, 8);
        CHECK(tally.used == used && tally.stuck == stuck && tally.sum == all, "the tally of %llx is wrong",
              (unsigned long long)sum);
    }
}

/* A counter is not zero exactly where a Bloom filter of equal size has a bit. */
static void the_places_are_those_of_bloom(void **state) {
    (void)state;
    enum { CELLS = 1000 };
    uint8_t bits[CELLS / 64 * 8 + 8] = {0}, counters[CELLS / 16 * 8 + 8] = {0};
    struct array bloom = {.bytes = bits, .layout = {CELLS, 5}}, counting = {.bytes = counters, .layout = {CELLS, 5}};
    const char *reason;
    bloom.length = kind_bloom.payload_bytes(bloom.layout, &reason);
    counting.length = kind_counting.payload_bytes(counting.layout, &reason);
    CHECK(bloom.length == sizeof bits && counting.length == 504, "%llu and %llu bytes",
          (unsigned long long)bloom.length, (unsigned long long)counting.length);
    for (uint64_t i = 0; i < 100; i++) {
        kind_bloom.ops(bloom.layout, ISA_SCALAR, false)->add(&bloom, (struct digest){member(i), 0});
        kind_counting.ops(counting.layout, ISA_SCALAR, false)->add(&counting, (struct digest){member(i), 0});
    }
    for (uint64_t i = 0; i < CELLS; i++)
        CHECK(bit_get(bits, i) == (counter_get(counters, i) != 0), "cell %llu differs", (unsigned long long)i);
    CHECK(counters_count(counters, counting.length).sum == 500, "not every probe counted");
}

/* ---- against an exact multiset ---- */

struct model_of {
    perhaps *f;
    uint64_t truth[KEYS], all;
};

static void expect_truth(const struct model_of *m) {
    for (uint64_t i = 0; i < KEYS; i++) {
        uint64_t least = m->truth[i] < 15 ? m->truth[i] : 15, count = (uint64_t)MUST(perhaps_count_u64(m->f, i));
        CHECK(count >= least && count <= 15, "key %llu: %llu copies counted as %llu", (unsigned long long)i,
              (unsigned long long)m->truth[i], (unsigned long long)count);
        CHECK(perhaps_contains_u64(m->f, i) == (count > 0), "count and contains disagree");
    }
    CHECK(info_of(m->f).items == m->all, "%llu items, not %llu", (unsigned long long)info_of(m->f).items,
          (unsigned long long)m->all);
}

static void change_one(struct model_of *m, uint64_t random) {
    /* Now and then enough to stick. */
    uint64_t i = (random >> 8) % KEYS, times = random >> 40 & 63 ? 1 : 16;
    if (random & 1) {
        for (uint64_t n = 0; n < times; n++) CHECK(MUST(perhaps_add_u64(m->f, i)) == 1, "an add answered 0");
        m->truth[i] += times;
        m->all += times;
    } else if (m->truth[i]) {
        CHECK(MUST(perhaps_remove_u64(m->f, i)) == 1, "key %llu is lost", (unsigned long long)i);
        m->truth[i]--;
        m->all--;
    } else if (!perhaps_contains_u64(m->f, i)) {
        struct bytes before = image_of(m->f);
        CHECK(MUST(perhaps_remove_u64(m->f, i)) == 0, "an absent key was removed");
        expect_unchanged(m->f, before);
        free(before.data);
    }
}

static void play(perhaps_want want) {
    struct model_of m = {.f = make(&want)};
    uint64_t random = 11;
    for (int step = 0; step < 20000; step++) {
        change_one(&m, next_random(&random));
        if (step % 500 == 0) expect_truth(&m);
    }
    expect_truth(&m);
    /* Whatever is stuck, every copy can be taken out. */
    for (uint64_t i = 0; i < KEYS; i++)
        for (; m.truth[i]; m.truth[i]--, m.all--) CHECK(perhaps_remove_u64(m.f, i) == 1, "a copy is lost");
    expect_truth(&m);
    perhaps_free(m.f);
}

static void never_below_the_truth(void **state) {
    (void)state;
    static const unsigned hashes[] = {1, 2, 7, 20, 64};
    for (size_t i = 0; i < 5; i++) {
        play(PERHAPS_WANT(.kind = PERHAPS_COUNTING, .items = KEYS, .fpr = 0.001, .hashes = hashes[i]));
        play(PERHAPS_WANT(.kind = PERHAPS_COUNTING, .items = 1, .bytes = 8, .hashes = hashes[i]));
        play(PERHAPS_WANT(.kind = PERHAPS_COUNTING, .items = KEYS, .bytes = 600, .hashes = hashes[i]));
    }
}

/* With room enough, counts are right up to 14. */
static void counts_are_exact_where_no_keys_meet(void **state) {
    (void)state;
    perhaps *f = make(&PERHAPS_WANT(.kind = PERHAPS_COUNTING, .items = 100, .fpr = 1e-9));
    for (uint64_t i = 0; i < 100; i++)
        for (uint64_t n = 0; n < i % 15; n++) perhaps_add_u64(f, i);
    for (uint64_t i = 0; i < 100; i++)
        CHECK(perhaps_count_u64(f, i) == (int64_t)(i % 15), "%llu counted as %lld", (unsigned long long)(i % 15),
              (long long)perhaps_count_u64(f, i));
    perhaps_free(f);
}

/* ---- sticking ---- */

static void a_stuck_counter_stays(void **state) {
    (void)state;
    perhaps *f = make(&PERHAPS_WANT(.kind = PERHAPS_COUNTING, .items = 1000, .fpr = 0.01));
    for (int i = 0; i < 15; i++) perhaps_add_u64(f, 1);
    struct bytes stuck = image_of(f);
    CHECK(info_of(f).stuck == info_of(f).hashes, "%llu are stuck", (unsigned long long)info_of(f).stuck);
    for (int i = 0; i < 15; i++) CHECK(perhaps_remove_u64(f, 1) == 1, "a remove failed");
    CHECK(perhaps_count_u64(f, 1) == 15 && perhaps_contains_u64(f, 1) == 1, "it came unstuck");
    CHECK(info_of(f).items == 0, "%llu items", (unsigned long long)info_of(f).items);
    for (int i = 0; i < 15; i++) perhaps_add_u64(f, 1);
    expect_unchanged(f, stuck);
    free(stuck.data);
    perhaps_clear(f);
    CHECK(info_of(f).stuck == 0 && !perhaps_contains_u64(f, 1), "not even clear helped");
    perhaps_free(f);
}

static void fourteen_copies_go_without_a_trace(void **state) {
    (void)state;
    perhaps *f = make(&PERHAPS_WANT(.kind = PERHAPS_COUNTING, .items = 1000, .fpr = 0.01));
    struct bytes empty = image_of(f);
    for (int i = 0; i < 14; i++) perhaps_add(f, "key", 3);
    CHECK(perhaps_count(f, "key", 3) == 14, "14 counted as %lld", (long long)perhaps_count(f, "key", 3));
    CHECK(info_of(f).stuck == 0, "something is stuck");
    for (int i = 0; i < 14; i++) CHECK(perhaps_remove(f, "key", 3) == 1, "a copy is lost");
    CHECK(perhaps_remove(f, "key", 3) == 0, "a fifteenth copy");
    expect_unchanged(f, empty);
    free(empty.data);
    perhaps_free(f);
}

/* ---- whole filters ---- */

static void a_merge_is_the_sum(void **state) {
    (void)state;
    perhaps_want want = PERHAPS_WANT(.kind = PERHAPS_COUNTING, .items = 200, .fpr = 0.05);
    perhaps *a = make(&want), *b = make(&want), *both = make(&want);
    uint64_t random = 9;
    for (int i = 0; i < 3000; i++) {
        uint64_t word = next_random(&random), key = (word >> 8) % KEYS;
        perhaps_add_u64(word & 1 ? a : b, key);
        perhaps_add_u64(both, key);
    }
    MUST(perhaps_merge(a, b));
    CHECK(info_of(a).stuck > 0, "the test saturates nothing");
    struct bytes right = image_of(both);
    expect_unchanged(a, right);
    free(right.data);
    perhaps_free(a);
    perhaps_free(b);
    perhaps_free(both);
}

/* The bits tell how many distinct keys there are, and the sum of the counters how many copies. */
static void estimates_are_close(void **state) {
    (void)state;
    perhaps *f = make(&PERHAPS_WANT(.kind = PERHAPS_COUNTING, .items = 20000, .fpr = 0.01));
    for (uint64_t i = 0; i < 20000; i++)
        for (uint64_t n = 0; n <= i % 2; n++) perhaps_add_u64(f, i);
    double distinct = info_of(f).distinct;
    CHECK(distinct > 19600 && distinct < 20400, "%g distinct keys", distinct);
    CHECK(info_of(f).fpr_now > 0.009 && info_of(f).fpr_now < 0.011, "rate %g", info_of(f).fpr_now);
    const char *path = scratch("counting.ph");
    MUST(perhaps_save(f, path));
    perhaps_free(f);
    /* A writer that dies leaves the file dirty; recovery counts anew. */
    MUST(perhaps_open(&f, path, &PERHAPS_OPEN(.flags = PERHAPS_OPEN_WRITE)));
    MUST(perhaps_remove_u64(f, 0));
    perhaps_free(f);
    MUST(perhaps_open(&f, path, &PERHAPS_OPEN(.flags = PERHAPS_OPEN_COPY | PERHAPS_OPEN_RECOVER)));
    CHECK(info_of(f).items == 29999, "%llu items after recovery", (unsigned long long)info_of(f).items);
    perhaps_free(f);
}

static void batches_are_singles_in_order(void **state) {
    (void)state;
    enum { N = 5003 };
    static uint64_t keys[N], counts[N];
    static uint8_t answers[N];
    uint64_t random = 21;
    for (size_t i = 0; i < N; i++) keys[i] = next_random(&random) % 2000;
    for (unsigned hashes = 1; hashes <= 64; hashes += hashes < 8 ? 1 : 28) {
        perhaps_want want = PERHAPS_WANT(.kind = PERHAPS_COUNTING, .items = 2000, .fpr = 0.3, .hashes = hashes);
        perhaps *one = make(&want), *many = make(&want);
        for (size_t i = 0; i < N; i++) perhaps_add_u64(one, keys[i]);
        CHECK(perhaps_add_many(many, &PERHAPS_KEYS_U64(keys, 0, N), answers) == N, "not all were new");
        CHECK(memchr(answers, 0, N) == NULL, "an answer is 0");
        struct bytes right = image_of(one);
        expect_unchanged(many, right);
        free(right.data);
        for (size_t i = 0; i < N; i++) keys[i] += 500; /* a quarter of them non-members */
        perhaps_contains_many(many, &PERHAPS_KEYS_U64(keys, 0, N), answers);
        perhaps_count_many(many, &PERHAPS_KEYS_U64(keys, 0, N), counts);
        for (size_t i = 0; i < N; i++) {
            CHECK(answers[i] == perhaps_contains_u64(one, keys[i]), "k = %u: answer %zu differs", hashes, i);
            CHECK((int64_t)counts[i] == perhaps_count_u64(one, keys[i]), "k = %u: count %zu differs", hashes, i);
        }
        perhaps_remove_many(many, &PERHAPS_KEYS_U64(keys, 0, N), answers);
        for (size_t i = 0; i < N; i++) CHECK(answers[i] == perhaps_remove_u64(one, keys[i]), "remove %zu differs", i);
        right = image_of(one);
        expect_unchanged(many, right);
        free(right.data);
        perhaps_free(one);
        perhaps_free(many);
    }
}

static void it_takes_four_times_the_bits_of_bloom(void **state) {
    (void)state;
    static const uint64_t items[] = {1000, 1000003, (1 << 20) + 1, 1 << 20};
    for (size_t i = 0; i < 4; i++) {
        struct perhaps_plan plan = {.size = sizeof plan};
        MUST(perhaps_plan(&PERHAPS_WANT(.kind = PERHAPS_COUNTING, .items = items[i], .fpr = 0.01), &plan));
        CHECK(plan.bits_per_key <= 38.7 && plan.fpr <= 0.01 && plan.hashes == 7, "%g bits per key, rate %g, k = %u",
              plan.bits_per_key, plan.fpr, plan.hashes);
        MUST(perhaps_plan(&PERHAPS_WANT(.kind = PERHAPS_COUNTING, .items = items[i], .bits_per_key = 38.6), &plan));
        CHECK(plan.fpr <= 0.01 && plan.hashes == 7, "rate %g with k = %u", plan.fpr, plan.hashes);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counters_stop_at_both_ends),
        cmocka_unit_test(words_of_counters_add_up),
        cmocka_unit_test(the_places_are_those_of_bloom),
        cmocka_unit_test(never_below_the_truth),
        cmocka_unit_test(counts_are_exact_where_no_keys_meet),
        cmocka_unit_test(a_stuck_counter_stays),
        cmocka_unit_test(fourteen_copies_go_without_a_trace),
        cmocka_unit_test(a_merge_is_the_sum),
        cmocka_unit_test(estimates_are_close),
        cmocka_unit_test(batches_are_singles_in_order),
        cmocka_unit_test(it_takes_four_times_the_bits_of_bloom),
    };
    return cmocka_run_group_tests(tests, NULL, remove_scratch);
}
