/*
 * Kinds that can forget, beside an exact multiset of what is in them.
 *
 * Long random sequences of adds and legal removes (only of keys that are in), at every load from
 * empty to full: no key that is in is ever missed, counts are never below the truth, and kinds that
 * are exact have no false positives.
 */
#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Counters that have reached it stay there. */
enum { MOST_COUNTED = 15, KEYS_MOST = 4096 };

/* ---- a filter and the truth about it ---- */

struct model {
    perhaps *f;
    const struct layout *layout;
    uint32_t copies[KEYS_MOST]; /* of key number i */
    uint32_t keys;              /* keys in play */
    uint64_t total;             /* copies of all */
    uint64_t random;
};

static uint32_t pick(struct model *m) {
    return (uint32_t)(next_random(&m->random) % m->keys);
}

static uint64_t key_of(const struct model *m, uint32_t i) {
    return member_of(m->f, i);
}

/* A counter that reaches the end of its range cannot go back, so no key is added that often. */
static bool may_add(const struct model *m, uint32_t i) {
    return m->copies[i] + 1 < MOST_COUNTED - 1;
}

static void note_added(struct model *m, uint32_t i) {
    if (!is_multiset(m->layout) && m->copies[i]) return;
    m->copies[i]++;
    m->total++;
}

static void expect_truth(const struct model *m, uint32_t i) {
    uint64_t key = key_of(m, i);
    int found = (int)MUST(perhaps_contains_u64(m->f, key));
    CHECK(found || !m->copies[i], "key %u, which is in %u times, is missed", i, m->copies[i]);
    CHECK(!is_exact(m->layout) || found == (m->copies[i] != 0), "key %u is found, but is not in", i);
    if (!is_multiset(m->layout)) return;
    int64_t count = MUST(perhaps_count_u64(m->f, key));
    CHECK(count >= m->copies[i], "key %u is in %u times, but counted %lld times", i, m->copies[i], (long long)count);
    CHECK((count > 0) == found, "%lld copies of key %u, but contains says %d", (long long)count, i, found);
}

static void expect_all_true(const struct model *m) {
    for (uint32_t i = 0; i < m->keys; i++) expect_truth(m, i);
    CHECK(info_of(m->f).items == m->total, "items is %llu, but %llu copies are in",
          (unsigned long long)info_of(m->f).items, (unsigned long long)m->total);
}

/* ---- what can happen ---- */

static void add_one(struct model *m, uint32_t i) {
    int is_new = !m->copies[i], answer = perhaps_add_u64(m->f, key_of(m, i));
    if (answer == PERHAPS_EFULL) return;
    MUST(answer);
    if (is_multiset(m->layout)) CHECK(answer == 1, "a multiset answered %d", answer);
    if (is_exact(m->layout)) CHECK(answer == is_new, "key %u: add answered %d", i, answer);
    note_added(m, i);
    expect_truth(m, i);
}

static void remove_one(struct model *m, uint32_t i) {
    if (!m->copies[i]) { /* only exact kinds may be told to remove what is not there */
        if (is_exact(m->layout)) CHECK(MUST(perhaps_remove_u64(m->f, key_of(m, i))) == 0, "removed key %u, not in", i);
        return;
    }
    CHECK(MUST(perhaps_remove_u64(m->f, key_of(m, i))) == 1, "key %u, which is in, is not removed", i);
    m->copies[i]--;
    m->total--;
    expect_truth(m, i);
}

static void add_batch(struct model *m, uint32_t n) {
    uint64_t keys[200] = {0};
    uint32_t numbers[200], count = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t number = pick(m);
        if (m->copies[number] + n >= MOST_COUNTED - 1) continue; /* it may come several times */
        numbers[count] = number;
        keys[count++] = key_of(m, number);
    }
    int64_t answer = perhaps_add_many(m->f, &PERHAPS_KEYS_U64(keys, 0, count), NULL);
    MUST_OR_FULL(answer);
    for (uint32_t i = 0; answer != PERHAPS_EFULL && i < count; i++) note_added(m, numbers[i]);
    for (uint32_t i = 0; i < count; i++) expect_truth(m, numbers[i]);
}

static void remove_batch(struct model *m, uint32_t n) {
    uint64_t keys[200] = {0};
    uint32_t numbers[200], count = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t number = pick(m);
        if (!m->copies[number]) continue;
        m->copies[number]--;
        m->total--;
        numbers[count] = number;
        keys[count++] = key_of(m, number);
    }
    CHECK(MUST(perhaps_remove_many(m->f, &PERHAPS_KEYS_U64(keys, 0, count), NULL)) == count,
          "not all of a batch were removed");
    for (uint32_t i = 0; i < count; i++) expect_truth(m, numbers[i]);
}

static void save_and_open(struct model *m) {
    struct bytes image = image_of(m->f);
    perhaps *again = NULL;
    MUST(perhaps_open_memory(&again, image.data, image.length, &PERHAPS_OPEN(.flags = PERHAPS_OPEN_COPY)));
    CHECK(perhaps_equal(m->f, again) == 1, "an opened image is not equal");
    perhaps_free(m->f);
    m->f = again;
    free(image.data);
}

/* One thing at random; `load` per cent of the time it is an add. */
static void do_something(struct model *m, unsigned load) {
    uint64_t what = next_random(&m->random) % 1000;
    bool adds = next_random(&m->random) % 100 < load;
    uint32_t n = (uint32_t)(next_random(&m->random) % 10), number = pick(m);
    if (what < 3)
        save_and_open(m);
    else if (what < 100)
        adds ? add_batch(m, n) : remove_batch(m, n);
    else if (!adds)
        remove_one(m, number);
    else if (may_add(m, number))
        add_one(m, number);
}

/* Up and down: mostly adds until nearly full, mostly removes until nearly empty, and so on. */
static void a_long_life(const struct layout *layout, uint32_t keys, unsigned steps) {
    static const unsigned loads[] = {90, 50, 20, 70, 50, 5, 99, 60, 0};
    struct model m = {.f = make(&layout->want), .layout = layout, .keys = keys, .random = keys};
    for (size_t phase = 0; phase < sizeof loads / sizeof *loads; phase++) {
        for (unsigned step = 0; step < steps; step++) do_something(&m, loads[phase]);
        expect_all_true(&m);
    }
    for (uint32_t i = 0; i < keys; i++)
        while (m.copies[i]) remove_one(&m, i);
    expect_all_true(&m);
    CHECK(info_of(m.f).fill == 0 || info_of(m.f).stuck, "all keys are removed, but the fill is %g", info_of(m.f).fill);
    perhaps_free(m.f);
}

/* Fewer keys than it is for, each many times; as many; more, so that it is full now and then. */
static void lives_beside_the_truth(const struct layout *layout) {
    if (!(layout->row->can & PERHAPS_REMOVE)) return;
    uint32_t items = (uint32_t)layout->items;
    /* In each of nine phases; a full filter takes its time to say so. */
    unsigned steps = items + 200;
    if (time_is_short()) steps /= 3;
    if (test_size() != TEST_SMALL) steps *= test_size() == TEST_LONG ? 20 : 3;
    a_long_life(layout, items / 20 + 1, steps);
    a_long_life(layout, items, steps);
    a_long_life(layout, items < KEYS_MOST / 2 ? 2 * items : KEYS_MOST, steps);
}

/* Without removes: as many copies as were added, or more, up to what a counter can count. */
static void copies_are_never_counted_too_few(const struct layout *layout) {
    if (!is_multiset(layout)) return;
    static uint32_t copies[KEYS_MOST];
    perhaps *f = make(&layout->want);
    uint64_t random = 3, n = layout->items / 4 < KEYS_MOST ? layout->items / 4 : KEYS_MOST;
    memset(copies, 0, sizeof copies);
    for (uint64_t i = 0; i < layout->items; i++) {
        uint64_t number = next_random(&random) % n;
        CHECK(MUST(perhaps_add_u64(f, member_of(f, number))) == 1, "a multiset answered 0");
        copies[number]++;
    }
    for (uint64_t i = 0; i < n; i++) {
        int64_t count = MUST(perhaps_count_u64(f, member_of(f, i)));
        uint32_t least = copies[i] < MOST_COUNTED ? copies[i] : MOST_COUNTED;
        CHECK(count >= least, "%u copies of key %llu are counted as %lld", copies[i], (unsigned long long)i,
              (long long)count);
    }
    CHECK(info_of(f).items == layout->items, "%llu items", (unsigned long long)info_of(f).items);
    perhaps_free(f);
}

/* ---- copies ---- */

static void expect_empty_again(perhaps *f, struct bytes empty) {
    struct bytes now = image_of(f);
    CHECK(same_bytes(now, empty), "what was added and removed left traces");
    free(now.data);
}

/* Adds copies of a key, up to `most` or to the first counter that is stuck: how many. */
static uint64_t add_copies(perhaps *f, uint64_t key, uint64_t most) {
    uint64_t n = 0;
    while (n < most && !(n < 2 * MOST_COUNTED && info_of(f).stuck)) {
        CHECK(MUST(perhaps_add_u64(f, key)) == 1, "copy %llu was not added", (unsigned long long)n);
        n++;
    }
    return n;
}

/* As often as it was added a key is there, and as often it can be removed; then nothing is left of
 * it. Counters end at 15, which two probes of one key that meet in a small filter reach sooner. */
static void as_many_copies_as_one_likes(const struct layout *layout) {
    if (!is_multiset(layout) || !(layout->row->can & PERHAPS_REMOVE)) return;
    perhaps *f = make(&layout->want);
    struct bytes empty = image_of(f);
    uint64_t many = add_copies(f, 7, 10000);
    CHECK(perhaps_count_u64(f, 7) >= (int64_t)many, "%llu copies are counted as %lld", (unsigned long long)many,
          (long long)perhaps_count_u64(f, 7));
    if (info_of(f).stuck) {
        CHECK(many == MOST_COUNTED || layout->items < 100, "a counter is stuck after %llu copies",
              (unsigned long long)many);
        MUST(perhaps_clear(f));
        many = add_copies(f, 7, many - 1);
    }
    for (uint64_t i = many; i > 0; i--) {
        CHECK(perhaps_count_u64(f, 7) == (int64_t)i, "%llu copies are counted as %lld", (unsigned long long)i,
              (long long)perhaps_count_u64(f, 7));
        CHECK(MUST(perhaps_remove_u64(f, 7)) == 1, "copy %llu is not there to be removed", (unsigned long long)i);
    }
    CHECK(perhaps_contains_u64(f, 7) == 0 && perhaps_remove_u64(f, 7) == 0, "a key is there after its last copy");
    if (info_of(f).bytes == layout->plan.bytes) expect_empty_again(f, empty);
    CHECK(info_of(f).items == 0 && info_of(f).fill == 0 && info_of(f).stashed == 0, "something is left");
    free(empty.data);
    perhaps_free(f);
}

/* A set keeps one copy, however often a key comes; one remove takes it away. */
static void a_set_keeps_one_copy(const struct layout *layout) {
    if (is_multiset(layout) || !(layout->row->can & PERHAPS_REMOVE)) return;
    perhaps *f = make(&layout->want);
    struct bytes empty = image_of(f);
    for (int i = 0; i < 100; i++) CHECK(MUST(perhaps_add_u64(f, 7)) == (i == 0), "add answered wrongly");
    CHECK(info_of(f).items == 1, "%llu items", (unsigned long long)info_of(f).items);
    CHECK(MUST(perhaps_remove_u64(f, 7)) == 1 && MUST(perhaps_remove_u64(f, 7)) == 0, "removed twice");
    CHECK(perhaps_contains_u64(f, 7) == 0, "a removed key is still there");
    expect_empty_again(f, empty);
    free(empty.data);
    perhaps_free(f);
}

/* Counters that are full stay so: keys are found forever rather than lost. */
static void full_counters_lose_no_key(const struct layout *layout) {
    if (!is_multiset(layout) || !(layout->row->can & PERHAPS_REMOVE)) return;
    perhaps *f = make_with_members(layout, layout->items / 2);
    for (int i = 0; i < 40; i++) MUST_OR_FULL(perhaps_add_u64(f, member_of(f, 0)));
    int64_t copies = MUST(perhaps_count_u64(f, member_of(f, 0)));
    CHECK(copies >= 41 || (copies == MOST_COUNTED && info_of(f).stuck > 0), "%lld of 41 copies are counted, %llu stuck",
          (long long)copies, (unsigned long long)info_of(f).stuck);
    for (int i = 0; i < 41; i++) CHECK(MUST(perhaps_remove_u64(f, member_of(f, 0))) == 1, "copy %d is gone", i);
    expect_members(f, 1, layout->items / 2 - 1);
    perhaps_free(f);
}

/* ---- streams in which few keys come often ---- */

/* Key number i of n comes with a chance that falls like 1/i. */
static uint64_t zipf(uint64_t n, uint64_t *random) {
    double u = (double)(next_random(random) >> 11) / 9007199254740992.0;
    return (uint64_t)pow((double)n, u) - 1;
}

/* As many adds as planned, of keys that come again and again, find room and can be undone. */
static void expect_stream_fits(const struct layout *layout, uint64_t copies) {
    if (!is_multiset(layout) || !(layout->row->can & PERHAPS_REMOVE)) return;
    perhaps *f = make(&layout->want);
    size_t n = (size_t)layout->items;
    uint64_t random = n, *keys = calloc(n, sizeof *keys);
    CHECK(keys, "no memory");
    for (size_t i = 0; i < n; i++) {
        keys[i] = member_of(f, copies ? i / copies : zipf(n, &random));
        int rc = perhaps_add_u64(f, keys[i]);
        CHECK(rc == 1, "add %llu of %llu: %d, %s", (unsigned long long)i, (unsigned long long)n, rc, perhaps_why());
    }
    CHECK(MUST(perhaps_contains_many(f, &PERHAPS_KEYS_U64(keys, 0, n), NULL)) == (int64_t)n, "a key is missed");
    CHECK(info_of(f).items == n, "%llu items", (unsigned long long)info_of(f).items);
    bool stuck = info_of(f).stuck;
    for (size_t i = n; i > 0; i--) {
        CHECK(perhaps_contains_u64(f, keys[i - 1]) == 1, "a key that is in is missed");
        CHECK(MUST(perhaps_remove_u64(f, keys[i - 1])) == 1, "a key that is in is not removed");
    }
    CHECK(stuck || info_of(f).fill == 0, "all is removed, but the fill is %g", info_of(f).fill);
    free(keys);
    perhaps_free(f);
}

static void a_stream_of_few_frequent_keys_fits(const struct layout *layout) {
    expect_stream_fits(layout, 0);
}

static void a_stream_of_keys_in_pairs_fits(const struct layout *layout) {
    expect_stream_fits(layout, 2);
}

static void a_stream_of_keys_by_the_half_dozen_fits(const struct layout *layout) {
    expect_stream_fits(layout, 6);
}

/* The same where the stash may not grow: full at some time, but then nothing is lost. */
static void a_stream_into_a_fixed_filter_loses_nothing(const struct layout *layout) {
    if (!is_multiset(layout) || !(layout->row->can & PERHAPS_REMOVE)) return;
    perhaps *f = make_limited(layout);
    size_t n = (size_t)layout->items, in = 0;
    uint64_t random = 5 * n, *keys = calloc(n, sizeof *keys);
    CHECK(keys, "no memory");
    for (size_t i = 0; i < n; i++) {
        keys[in] = member_of(f, zipf(n, &random));
        if (MUST_OR_FULL(perhaps_add_u64(f, keys[in])) == 1) in++;
    }
    CHECK(MUST(perhaps_contains_many(f, &PERHAPS_KEYS_U64(keys, 0, in), NULL)) == (int64_t)in, "a key is missed");
    for (size_t i = 0; i < in; i++) CHECK(MUST(perhaps_remove_u64(f, keys[i])) == 1, "a key is missed");
    free(keys);
    perhaps_free(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        FOR_EACH_LAYOUT(lives_beside_the_truth, 1),
        FOR_EACH_LAYOUT(lives_beside_the_truth, 17),
        FOR_EACH_LAYOUT(lives_beside_the_truth, 300),
        FOR_EACH_LAYOUT(lives_beside_the_truth, 1100),
        FOR_EACH_LAYOUT(as_many_copies_as_one_likes, 1),
        FOR_EACH_LAYOUT(as_many_copies_as_one_likes, 1000),
        FOR_EACH_LAYOUT(a_set_keeps_one_copy, 1000),
        FOR_EACH_LAYOUT(full_counters_lose_no_key, 1000),
        FOR_EACH_LAYOUT(a_stream_of_few_frequent_keys_fits, 1000),
        FOR_EACH_LAYOUT(a_stream_of_few_frequent_keys_fits, 50000),
        FOR_EACH_LAYOUT(a_stream_of_keys_in_pairs_fits, 20000),
        FOR_EACH_LAYOUT(a_stream_of_keys_by_the_half_dozen_fits, 20000),
        FOR_EACH_LAYOUT(a_stream_into_a_fixed_filter_loses_nothing, 20000),
        FOR_EACH_FILTER(copies_are_never_counted_too_few, 5000),
        FOR_EACH_COMPOSITE(lives_beside_the_truth, 17),
        FOR_EACH_COMPOSITE(lives_beside_the_truth, 1100),
        FOR_EACH_COMPOSITE(as_many_copies_as_one_likes, 1000),
        FOR_EACH_COMPOSITE(a_set_keeps_one_copy, 1000),
        FOR_EACH_COMPOSITE(full_counters_lose_no_key, 1000),
        FOR_EACH_COMPOSITE(a_stream_of_few_frequent_keys_fits, 5000),
        FOR_EACH_COMPOSITE(a_stream_of_keys_by_the_half_dozen_fits, 5000),
        FOR_EACH_COMPOSITE(a_stream_into_a_fixed_filter_loses_nothing, 5000),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
