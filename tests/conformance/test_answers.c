/* No key is ever missed, and every form of a call gives the answer of every other. */
#include "support.h"

#include <stdlib.h>
#include <string.h>

enum { ITEMS = 2000 };

/* ---- no false negative ---- */

static void bytes_are_found(const struct layout *layout) {
    if (!hashes_keys(layout)) return;
    perhaps *f = make(&layout->want);
    struct byte_keys keys = make_byte_keys(ITEMS, 1);
    int at_once = is_static(layout) ? PERHAPS_EUNSEALED : 1;
    for (size_t i = 0; i < keys.n; i++) {
        MUST(perhaps_add(f, keys.keys[i], keys.lengths[i]));
        CHECK(perhaps_contains(f, keys.keys[i], keys.lengths[i]) == at_once, "key %zu of %zu bytes is missed at once",
              i, keys.lengths[i]);
    }
    seal(f);
    for (size_t i = 0; i < keys.n; i++)
        CHECK(perhaps_contains(f, keys.keys[i], keys.lengths[i]) == 1, "key %zu of %zu bytes is missed at the end", i,
              keys.lengths[i]);
    CHECK(perhaps_contains(f, NULL, 0) == 1, "the empty key is missed when it has no address");
    free_byte_keys(&keys);
    perhaps_free(f);
}

/* A kind of integers says so, whatever is done with bytes, and stays as it was. */
static void kinds_of_integers_refuse_bytes(const struct layout *layout) {
    if (hashes_keys(layout)) return;
    perhaps *f = make_with_members(layout, ITEMS / 2);
    struct bytes before = image_of(f);
    const void *keys[] = {"a"};
    size_t lengths[] = {1};
    uint64_t counts[1];
    REFUSED(PERHAPS_ECANNOT, perhaps_add(f, "a", 1));
    REFUSED(PERHAPS_ECANNOT, perhaps_add_absent(f, "a", 1));
    REFUSED(PERHAPS_ECANNOT, perhaps_contains(f, "a", 1));
    REFUSED(PERHAPS_ECANNOT, perhaps_remove(f, "a", 1));
    REFUSED(PERHAPS_ECANNOT, perhaps_count(f, "a", 1));
    REFUSED(PERHAPS_ECANNOT, perhaps_add_many(f, &PERHAPS_KEYS_BYTES(keys, lengths, 1), NULL));
    REFUSED(PERHAPS_ECANNOT, perhaps_contains_many(f, &PERHAPS_KEYS_BYTES(keys, lengths, 1), NULL));
    REFUSED(PERHAPS_ECANNOT, perhaps_remove_many(f, &PERHAPS_KEYS_BYTES(keys, lengths, 1), NULL));
    REFUSED(PERHAPS_ECANNOT, perhaps_count_many(f, &PERHAPS_KEYS_BYTES(keys, lengths, 1), counts));
    expect_unchanged(f, before);
    free(before.data);
    perhaps_free(f);
}

static void integers_are_found(const struct layout *layout) {
    static const uint64_t special[] = {0, 1, 2, UINT32_MAX, (uint64_t)1 << 32, (uint64_t)1 << 63, UINT64_MAX};
    perhaps *f = make(&layout->want);
    /* A range does not reach that far. */
    size_t specials = takes_bytes(f) ? sizeof special / sizeof *special : 3;
    for (size_t i = 0; i < specials; i++) MUST(perhaps_add_u64(f, special[i]));
    for (uint64_t i = 0; i < ITEMS; i++) {
        MUST(perhaps_add_u64(f, i));
        MUST(perhaps_add_digest(f, member_of(f, i)));
    }
    seal(f);
    for (size_t i = 0; i < specials; i++)
        CHECK(perhaps_contains_u64(f, special[i]) == 1, "integer %llx is missed", (unsigned long long)special[i]);
    for (uint64_t i = 0; i < ITEMS; i++) {
        CHECK(perhaps_contains_u64(f, i) == 1, "integer %llu is missed", (unsigned long long)i);
        CHECK(perhaps_contains_digest(f, member_of(f, i)) == 1, "digest %llx is missed",
              (unsigned long long)member_of(f, i));
    }
    perhaps_free(f);
}

/* Digests of all sorts, those that a kind might take for "nothing here" before all. */
static void special_digests_are_found(const struct layout *layout) {
    static const uint64_t special[] = {0, 1, UINT64_MAX, UINT32_MAX, (uint64_t)UINT32_MAX << 32, (uint64_t)1 << 63};
    perhaps *f = make(&layout->want);
    for (size_t i = 0; takes_bytes(f) && i < sizeof special / sizeof *special; i++) {
        /* Some begin with the same zeros, and so have a place in common. */
        bool rare = layout->plan.fpr < 0.05;
        CHECK(!rare || perhaps_contains_digest(f, special[i]) == 0, "digest %llx is in a filter without it",
              (unsigned long long)special[i]);
        CHECK(perhaps_add_digest(f, special[i]) == 1, "digest %llx is not new", (unsigned long long)special[i]);
        for (size_t j = 0; j <= i; j++)
            CHECK(perhaps_contains_digest(f, special[j]) == 1, "digest %llx is missed", (unsigned long long)special[j]);
    }
    perhaps_free(f);
}

/* Far more keys than it was made for: more false positives, or a clear "full", but still no key is
 * missed, other than what it forgets by design. */
static void overfull_still_finds(const struct layout *layout) {
    perhaps *f = make(&layout->want);
    uint64_t added = add_while_room(f, 0, 10 * ITEMS);
    CHECK(added == 10 * ITEMS || (added >= ITEMS && !grows(layout)), "full after %llu of %d keys",
          (unsigned long long)added, ITEMS);
    seal(f);
    expect_members(f, added - remembered(layout, added), remembered(layout, added));
    perhaps_free(f);
}

static void empty_has_nothing(const struct layout *layout) {
    perhaps *f = make_with_members(layout, 0);
    CHECK(count_false_positives(f, 0, 5000) == 0, "an empty filter found something");
    CHECK(!takes_bytes(f) || perhaps_contains(f, "", 0) == 0, "an empty filter has the empty key");
    CHECK(perhaps_contains_digest(f, 0) == 0, "an empty filter has digest 0");
    CHECK(perhaps_contains_digest(f, UINT64_MAX) == 0, "an empty filter has the last digest");
    perhaps_free(f);
}

/* ---- what add answers ---- */

/* `items` counts adds that answered 1: fewer in a window, and again for keys made young again. */
static void expect_items(const perhaps *f, const struct layout *layout, uint64_t news, uint64_t adds) {
    uint64_t items = info_of(f).items;
    CHECK(forgets(layout) || layout->want.period ? items <= adds : items == news,
          "items is %llu, %llu of %llu adds answered 1", (unsigned long long)items, (unsigned long long)news,
          (unsigned long long)adds);
}

/* 1 exactly when contains would have said 0; `items` counts these. A multiset always says 1. */
static void add_answers_what_contains_knew(const struct layout *layout) {
    perhaps *f = make(&layout->want);
    uint64_t news = 0;
    for (uint64_t i = 0; i < 3 * ITEMS; i++) {
        uint64_t key = member_of(f, i * 7 % (2 * ITEMS)); /* comes back to earlier keys */
        int known = perhaps_contains_u64(f, key);
        int answer = (int)MUST(perhaps_add_u64(f, key));
        CHECK(answer == (is_multiset(layout) ? 1 : !known), "add answered %d where contains had said %d", answer,
              known);
        CHECK(perhaps_contains_u64(f, key) == 1, "a key is missed at once");
        news += (uint64_t)answer;
    }
    expect_items(f, layout, news, 3 * ITEMS);
    perhaps_free(f);
}

/* The same for adding what is absent, sets and multisets alike; for a set it is what add does. */
static void add_absent_answers_what_contains_knew(const struct layout *layout) {
    perhaps *f = make(&layout->want), *set = make(&layout->want);
    uint64_t news = 0;
    for (uint64_t i = 0; i < 3 * ITEMS; i++) {
        uint64_t key = member_of(f, i * 7 % (2 * ITEMS));
        int known = perhaps_contains_u64(f, key);
        int answer = (int)MUST(i % 2 ? perhaps_add_absent_u64(f, key)
                                     : perhaps_add_absent_digest(f, perhaps_digest_u64(perhaps_hasher_of(f), key)));
        CHECK(answer == !known, "add_absent answered %d where contains had said %d", answer, known);
        CHECK(perhaps_contains_u64(f, key) == 1, "a key is missed after add_absent");
        news += (uint64_t)answer;
        if (!is_multiset(layout)) MUST(perhaps_add_u64(set, key));
    }
    expect_items(f, layout, news, 3 * ITEMS);
    CHECK(is_multiset(layout) || perhaps_equal(f, set) == 1, "add_absent is not add for a set");
    if (takes_bytes(f)) {
        MUST(perhaps_add_absent(f, "k", 1));
        CHECK(MUST(perhaps_add_absent(f, "k", 1)) == 0, "a key of bytes is new twice");
    }
    perhaps_free(f);
    perhaps_free(set);
}

/* ---- batches ---- */

/* Keys of which every third repeats an earlier one of the same batch, sometimes its neighbour. */
static void fill_with_duplicates(const perhaps *f, uint64_t *keys, size_t n, uint64_t start) {
    for (size_t i = 0; i < n; i++) keys[i] = i % 3 == 2 ? keys[i - 1 - i % 2 * (i / 2)] : member_of(f, start + i);
}

static void expect_same_answers(const uint8_t *batch, const uint8_t *single, size_t n, const char *what) {
    for (size_t i = 0; i < n; i++)
        CHECK(batch[i] == single[i], "%s: batch of %zu: answer %zu is %d, a single call's is %d", what, n, i, batch[i],
              single[i]);
}

typedef int single_add(perhaps *, uint64_t);
typedef int single_query(const perhaps *, uint64_t);
typedef int64_t single_count(const perhaps *, uint64_t);

struct form {
    const char *name;
    int number; /* enum perhaps_keys_form */
    single_add *add, *remove;
    single_query *contains;
    single_count *count;
};

static const struct form forms[] = {
    {"u64", PERHAPS_KEYS_FORM_U64, perhaps_add_u64, perhaps_remove_u64, perhaps_contains_u64, perhaps_count_u64},
    {"digest", PERHAPS_KEYS_FORM_DIGEST, perhaps_add_digest, perhaps_remove_digest, perhaps_contains_digest,
     perhaps_count_digest},
};

static perhaps_keys batch_of(const struct form *form, const uint64_t *keys, size_t n) {
    return form->number == PERHAPS_KEYS_FORM_U64 ? PERHAPS_KEYS_U64(keys, 0, n) : PERHAPS_KEYS_DIGEST(keys, n);
}

static void compare_counts(const perhaps *f, const struct form *form, const uint64_t *keys, size_t n) {
    uint64_t *counts = calloc(n + 1, sizeof *counts);
    int64_t present = 0, total;
    perhaps_keys all = batch_of(form, keys, n);
    CHECK(counts, "no memory for %zu counts", n);
    total = MUST(perhaps_count_many(f, &all, counts));
    for (size_t i = 0; i < n; i++) {
        int64_t single = MUST(form->count(f, keys[i]));
        CHECK((uint64_t)single == counts[i], "count %zu of %zu is %llu in a batch, %lld alone", i, n,
              (unsigned long long)counts[i], (long long)single);
        CHECK((single > 0) == form->contains(f, keys[i]), "%lld copies, but contains says otherwise",
              (long long)single);
        present += single > 0;
    }
    CHECK(present == total, "count_many found %lld of %lld keys", (long long)total, (long long)present);
    free(counts);
}

/* Takes half of the keys out again, and some that are there no more. */
static void compare_removes(perhaps *a, perhaps *b, const struct form *form, const uint64_t *keys, size_t n) {
    uint8_t *batch = malloc(n + 1);
    int64_t sum = 0, total;
    CHECK(batch, "no memory for %zu answers", n);
    memset(batch, 7, n + 1);
    n /= 2;
    perhaps_keys half = batch_of(form, keys, n);
    total = MUST(perhaps_remove_many(a, &half, batch));
    for (size_t i = 0; i < n; i++) {
        int single = (int)MUST(form->remove(b, keys[i]));
        CHECK(batch[i] == single, "remove: batch of %zu: answer %zu is %d, a single call's is %d", n, i, batch[i],
              single);
        sum += single;
    }
    CHECK(total == sum, "remove_many counted %lld of %lld", (long long)total, (long long)sum);
    CHECK(batch[n] == 7, "a batch of %zu wrote past its answers", n);
    CHECK(perhaps_equal(a, b) == 1, "after a batch of %zu removes (%s) the two filters differ", n, form->name);
    free(batch);
}

/* One batch against a and the same keys one by one against b, which must stay equal. */
static void compare_one_batch(perhaps *a, perhaps *b, const struct form *form, const uint64_t *keys, size_t n) {
    uint8_t *batch = malloc(n + 1), *single = malloc(n + 1);
    CHECK(batch && single, "no memory for %zu answers", n);
    memset(batch, 7, n + 1);
    perhaps_keys all = batch_of(form, keys, n);
    int64_t sum = 0, total = MUST(perhaps_contains_many(a, &all, batch));
    for (size_t i = 0; i < n; i++) sum += single[i] = (uint8_t)MUST(form->contains(b, keys[i]));
    expect_same_answers(batch, single, n, "contains");
    CHECK(total == sum, "contains_many counted %lld of %lld", (long long)total, (long long)sum);
    CHECK(MUST(perhaps_contains_many(a, &all, NULL)) == sum, "contains_many counts otherwise without answers");

    sum = 0;
    total = MUST(perhaps_add_many(a, &all, batch));
    for (size_t i = 0; i < n; i++) sum += single[i] = (uint8_t)MUST(form->add(b, keys[i]));
    expect_same_answers(batch, single, n, "add");
    CHECK(total == sum, "add_many counted %lld of %lld", (long long)total, (long long)sum);
    CHECK(batch[n] == 7, "a batch of %zu wrote past its answers", n);
    CHECK(perhaps_equal(a, b) == 1, "after a batch of %zu (%s) the two filters differ", n, form->name);
    free(batch);
    free(single);
}

static void batches_agree_with_singles(const struct layout *layout) {
    static const size_t large[] = {255, 256, 257, 511, 513, 1023, 1024, 1025, 2048, 4095, 4097};
    static uint64_t keys[4097];
    size_t step = test_size() == TEST_SMALL ? 3 : 1;
    for (size_t form = 0; form < sizeof forms / sizeof *forms; form++) {
        perhaps *a = make(&layout->want), *b = make(&layout->want);
        uint64_t start = 0;
        for (size_t n = 0; n <= 130; n += step, start += n / 2) {
            fill_with_duplicates(a, keys, n, start);
            compare_one_batch(a, b, &forms[form], keys, n);
            if (layout->row->can & PERHAPS_COUNT) compare_counts(a, &forms[form], keys, n);
            if (layout->row->can & PERHAPS_REMOVE) compare_removes(a, b, &forms[form], keys, n);
        }
        for (size_t i = 0; i < sizeof large / sizeof *large; i++) {
            fill_with_duplicates(a, keys, large[i], start += large[i] / 2);
            compare_one_batch(a, b, &forms[form], keys, large[i]);
            if (layout->row->can & PERHAPS_COUNT) compare_counts(a, &forms[form], keys, large[i]);
            if (layout->row->can & PERHAPS_REMOVE) compare_removes(a, b, &forms[form], keys, large[i]);
        }
        CHECK(info_of(a).items == info_of(b).items, "the two count their items differently");
        perhaps_free(a);
        perhaps_free(b);
    }
}

static void compare_byte_batch(perhaps *a, perhaps *b, const struct byte_keys *keys, size_t first, size_t n) {
    uint8_t batch[4097], single[4097];
    const void *const *start = keys->keys + first;
    const size_t *lengths = keys->lengths + first;
    int64_t sum = 0, total = MUST(perhaps_contains_many(a, &PERHAPS_KEYS_BYTES(start, lengths, n), batch));
    for (size_t i = 0; i < n; i++) sum += single[i] = (uint8_t)perhaps_contains(b, start[i], lengths[i]);
    expect_same_answers(batch, single, n, "contains");
    CHECK(total == sum, "contains_many counted %lld of %lld", (long long)total, (long long)sum);
    sum = 0;
    total = MUST(perhaps_add_many(a, &PERHAPS_KEYS_BYTES(start, lengths, n), batch));
    for (size_t i = 0; i < n; i++) sum += single[i] = (uint8_t)perhaps_add(b, start[i], lengths[i]);
    expect_same_answers(batch, single, n, "add");
    CHECK(total == sum, "add_many counted %lld of %lld", (long long)total, (long long)sum);
    CHECK(perhaps_equal(a, b) == 1, "after a batch of %zu byte keys the two filters differ", n);
}

/* Removing and counting in batches of bytes; the keys are in both filters. */
static void compare_byte_removes(perhaps *a, perhaps *b, const struct byte_keys *keys, size_t first, size_t n) {
    uint8_t batch[4097];
    uint64_t counts[4097];
    const void *const *start = keys->keys + first;
    const size_t *lengths = keys->lengths + first;
    if (info_of(a).can & PERHAPS_COUNT) {
        MUST(perhaps_count_many(a, &PERHAPS_KEYS_BYTES(start, lengths, n), counts));
        for (size_t i = 0; i < n; i++)
            CHECK((int64_t)counts[i] == perhaps_count(b, start[i], lengths[i]), "count %zu differs", i);
    }
    int64_t sum = 0, total = MUST(perhaps_remove_many(a, &PERHAPS_KEYS_BYTES(start, lengths, n / 2), batch));
    for (size_t i = 0; i < n / 2; i++) {
        int single = (int)MUST(perhaps_remove(b, start[i], lengths[i]));
        CHECK(batch[i] == single, "remove %zu answers %d in a batch, %d alone", i, batch[i], single);
        sum += single;
    }
    CHECK(total == sum, "remove_many counted %lld of %lld", (long long)total, (long long)sum);
    CHECK(perhaps_equal(a, b) == 1, "after %zu removes of byte keys the two filters differ", n / 2);
}

static void byte_batches_agree_with_singles(const struct layout *layout) {
    static const size_t sizes[] = {0, 1, 2, 31, 63, 64, 65, 127, 129, 1023, 1025, 4097};
    if (!hashes_keys(layout)) return;
    perhaps *a = make(&layout->want), *b = make(&layout->want);
    struct byte_keys keys = make_byte_keys(5000, 3);
    for (size_t i = 10; i < keys.n; i += 10) { /* duplicates, far apart and neighbours */
        free((void *)keys.keys[i]);
        size_t twin = i % 20 ? i - 1 : i / 2;
        void *copy = calloc(1, keys.lengths[twin] + 1);
        CHECK(copy, "no memory for a key");
        memcpy(copy, keys.keys[twin], keys.lengths[twin]);
        keys.keys[i] = copy;
        keys.lengths[i] = keys.lengths[twin];
    }
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        compare_byte_batch(a, b, &keys, 17 * i, sizes[i]);
        if (layout->row->can & PERHAPS_REMOVE) compare_byte_removes(a, b, &keys, 17 * i, sizes[i]);
    }
    free_byte_keys(&keys);
    perhaps_free(a);
    perhaps_free(b);
}

/* ---- digests ---- */

static void check_digests_of_many(const perhaps *f, const struct byte_keys *keys) {
    uint64_t digests[300], integers[300];
    CHECK(keys->n <= 300, "%zu keys", keys->n);
    perhaps_digest_many(perhaps_hasher_of(f), &PERHAPS_KEYS_BYTES(keys->keys, keys->lengths, keys->n), digests);
    for (size_t i = 0; i < keys->n; i++)
        CHECK(digests[i] == perhaps_digest(perhaps_hasher_of(f), keys->keys[i], keys->lengths[i]), "key %zu", i);
    for (size_t i = 0; i < keys->n; i++) integers[i] = member(i);
    perhaps_digest_many(perhaps_hasher_of(f), &PERHAPS_KEYS_U64(integers, 0, keys->n), digests);
    for (size_t i = 0; i < keys->n; i++)
        CHECK(digests[i] == perhaps_digest_u64(perhaps_hasher_of(f), integers[i]), "integer %zu", i);
}

/* A digest stands for its key in every filter of equal hash and seed, in every form of query. */
static void digests_stand_for_keys(const struct layout *layout) {
    if (!hashes_keys(layout)) return;
    perhaps_want want = layout->want;
    want.seed = 77;
    perhaps *f = make(&want), *g = make(&want);
    struct byte_keys keys = make_byte_keys(300, 5);
    for (size_t i = 0; i < keys.n; i++) {
        MUST(perhaps_add(f, keys.keys[i], keys.lengths[i]));
        MUST(perhaps_add_digest(g, perhaps_digest(perhaps_hasher_of(f), keys.keys[i], keys.lengths[i])));
        MUST(perhaps_add_u64(f, member(i)));
        MUST(perhaps_add_digest(g, perhaps_digest_u64(perhaps_hasher_of(g), member(i))));
    }
    seal(f), seal(g);
    CHECK(perhaps_equal(f, g) == 1, "keys and their digests made different filters");
    check_digests_of_many(f, &keys);
    free_byte_keys(&keys);
    perhaps_free(f);
    perhaps_free(g);
}

static void seeds_make_different_filters(const struct layout *layout) {
    if (!hashes_keys(layout)) return;
    perhaps_want want = layout->want;
    perhaps *f = make(&want);
    want.seed = 1;
    perhaps *g = make(&want);
    CHECK(perhaps_digest(perhaps_hasher_of(f), "key", 3) != perhaps_digest(perhaps_hasher_of(g), "key", 3),
          "the seed does not reach the hash of bytes");
    CHECK(perhaps_digest_u64(perhaps_hasher_of(f), 42) != perhaps_digest_u64(perhaps_hasher_of(g), 42),
          "the seed does not reach the hash of integers");
    perhaps_free(f);
    perhaps_free(g);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        FOR_EACH_LAYOUT(bytes_are_found, ITEMS),
        FOR_EACH_LAYOUT(kinds_of_integers_refuse_bytes, ITEMS),
        FOR_EACH_LAYOUT(integers_are_found, 2 * ITEMS + 10),
        FOR_EACH_LAYOUT(special_digests_are_found, ITEMS),
        FOR_EACH_LAYOUT(overfull_still_finds, ITEMS),
        FOR_EACH_LAYOUT(empty_has_nothing, ITEMS),
        FOR_EACH_LAYOUT(add_answers_what_contains_knew, 3 * ITEMS),
        FOR_EACH_LAYOUT(add_absent_answers_what_contains_knew, 3 * ITEMS),
        FOR_EACH_LAYOUT(batches_agree_with_singles, 10 * ITEMS),
        FOR_EACH_LAYOUT(byte_batches_agree_with_singles, 10 * ITEMS),
        FOR_EACH_LAYOUT(digests_stand_for_keys, ITEMS),
        FOR_EACH_FILTER(seeds_make_different_filters, ITEMS),
        FOR_EACH_COMPOSITE(bytes_are_found, ITEMS),
        FOR_EACH_COMPOSITE(special_digests_are_found, ITEMS),
        FOR_EACH_COMPOSITE(overfull_still_finds, ITEMS),
        FOR_EACH_COMPOSITE(empty_has_nothing, ITEMS),
        FOR_EACH_COMPOSITE(digests_stand_for_keys, ITEMS),
        FOR_EACH_COMPOSITE(add_answers_what_contains_knew, 3 * ITEMS),
        FOR_EACH_COMPOSITE(add_absent_answers_what_contains_knew, 3 * ITEMS),
        FOR_EACH_COMPOSITE(integers_are_found, 3 * ITEMS),
        FOR_EACH_COMPOSITE(batches_agree_with_singles, 10 * ITEMS),
        FOR_EACH_COMPOSITE(byte_batches_agree_with_singles, 10 * ITEMS),
        FOR_EACH_STATIC(bytes_are_found, ITEMS),
        FOR_EACH_STATIC(integers_are_found, 2 * ITEMS + 10),
        FOR_EACH_STATIC(overfull_still_finds, ITEMS),
        FOR_EACH_STATIC(empty_has_nothing, ITEMS),
        FOR_EACH_STATIC(digests_stand_for_keys, ITEMS),
        FOR_EACH_STATIC_KIND(seeds_make_different_filters, ITEMS),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
