/* Keys in, answers out: no key is ever missed, and every form of a call gives the answer of every other. */
#include "support.h"

#include <stdlib.h>
#include <string.h>

enum { ITEMS = 2000 };

/* ---- no false negative ---- */

static void bytes_are_found(const struct layout *layout) {
    perhaps *f = make(&layout->want);
    struct byte_keys keys = make_byte_keys(ITEMS, 1);
    for (size_t i = 0; i < keys.n; i++) {
        MUST(perhaps_add(f, keys.keys[i], keys.lengths[i]));
        CHECK(perhaps_contains(f, keys.keys[i], keys.lengths[i]) == 1, "key %zu of %zu bytes is missed at once", i,
              keys.lengths[i]);
    }
    for (size_t i = 0; i < keys.n; i++)
        CHECK(perhaps_contains(f, keys.keys[i], keys.lengths[i]) == 1, "key %zu of %zu bytes is missed at the end", i,
              keys.lengths[i]);
    CHECK(perhaps_contains(f, NULL, 0) == 1, "the empty key is missed when it has no address");
    free_byte_keys(&keys);
    perhaps_free(f);
}

static void integers_are_found(const struct layout *layout) {
    static const uint64_t special[] = {0, 1, 2, UINT32_MAX, (uint64_t)1 << 32, (uint64_t)1 << 63, UINT64_MAX};
    perhaps *f = make(&layout->want);
    for (size_t i = 0; i < sizeof special / sizeof *special; i++) MUST(perhaps_add_u64(f, special[i]));
    for (uint64_t i = 0; i < ITEMS; i++) {
        MUST(perhaps_add_u64(f, i));
        MUST(perhaps_add_digest(f, member(i)));
    }
    for (size_t i = 0; i < sizeof special / sizeof *special; i++)
        CHECK(perhaps_contains_u64(f, special[i]) == 1, "integer %llx is missed", (unsigned long long)special[i]);
    for (uint64_t i = 0; i < ITEMS; i++) {
        CHECK(perhaps_contains_u64(f, i) == 1, "integer %llu is missed", (unsigned long long)i);
        CHECK(perhaps_contains_digest(f, member(i)) == 1, "digest %llx is missed", (unsigned long long)member(i));
    }
    perhaps_free(f);
}

/* Far more keys than it was made for: more false positives, but still no key is missed. */
static void overfull_still_finds(const struct layout *layout) {
    perhaps *f = make_with_members(layout, 10 * ITEMS);
    expect_members(f, 0, 10 * ITEMS);
    perhaps_free(f);
}

static void empty_has_nothing(const struct layout *layout) {
    perhaps *f = make(&layout->want);
    CHECK(count_strangers(f, 0, 5000) == 0, "an empty filter found something");
    CHECK(perhaps_contains(f, "", 0) == 0, "an empty filter has the empty key");
    CHECK(perhaps_contains_digest(f, 0) == 0, "an empty filter has digest 0");
    perhaps_free(f);
}

/* ---- what add answers ---- */

/* 1 exactly when contains would have said 0, and `items` counts these. */
static void add_answers_what_contains_knew(const struct layout *layout) {
    if (layout->row->can & PERHAPS_COUNT) return; /* multisets store every copy */
    perhaps *f = make(&layout->want);
    uint64_t news = 0;
    for (uint64_t i = 0; i < 3 * ITEMS; i++) {
        uint64_t key = member(i * 7 % (2 * ITEMS)); /* comes back to earlier keys */
        int known = perhaps_contains_u64(f, key);
        int answer = perhaps_add_u64(f, key);
        CHECK(answer == !known, "add answered %d where contains had said %d", answer, known);
        news += (uint64_t)answer;
    }
    CHECK(info_of(f).items == news, "items is %llu, %llu adds answered 1", (unsigned long long)info_of(f).items,
          (unsigned long long)news);
    perhaps_free(f);
}

/* ---- batches ---- */

/* Keys of which every third repeats an earlier one of the same batch, sometimes its neighbour. */
static void fill_with_duplicates(uint64_t *keys, size_t n, uint64_t start) {
    for (size_t i = 0; i < n; i++) keys[i] = i % 3 == 2 ? keys[i - 1 - i % 2 * (i / 2)] : member(start + i);
}

static void expect_same_answers(const uint8_t *batch, const uint8_t *single, size_t n, const char *what) {
    for (size_t i = 0; i < n; i++)
        CHECK(batch[i] == single[i], "%s: batch of %zu: answer %zu is %d, a single call's is %d", what, n, i, batch[i],
              single[i]);
}

typedef int64_t batch_add(perhaps *, const uint64_t *, size_t, uint8_t *);
typedef int single_add(perhaps *, uint64_t);
typedef int64_t batch_ask(const perhaps *, const uint64_t *, size_t, uint8_t *);
typedef int single_ask(const perhaps *, uint64_t);

struct form {
    const char *name;
    batch_add *add_many;
    single_add *add;
    batch_ask *contains_many;
    single_ask *contains;
};

static const struct form forms[] = {
    {"u64", perhaps_add_many_u64, perhaps_add_u64, perhaps_contains_many_u64, perhaps_contains_u64},
    {"digest", perhaps_add_many_digest, perhaps_add_digest, perhaps_contains_many_digest, perhaps_contains_digest},
};

/* One batch against a and the same keys one by one against b, which must stay equal. */
static void compare_one_batch(perhaps *a, perhaps *b, const struct form *form, const uint64_t *keys, size_t n) {
    uint8_t *batch = malloc(n + 1), *single = malloc(n + 1);
    CHECK(batch && single, "no memory for %zu answers", n);
    memset(batch, 7, n + 1);
    int64_t sum = 0, total = MUST(form->contains_many(a, keys, n, batch));
    for (size_t i = 0; i < n; i++) sum += single[i] = (uint8_t)MUST(form->contains(b, keys[i]));
    expect_same_answers(batch, single, n, "contains");
    CHECK(total == sum, "contains_many counted %lld of %lld", (long long)total, (long long)sum);
    CHECK(MUST(form->contains_many(a, keys, n, NULL)) == sum, "contains_many counts otherwise without answers");

    sum = 0;
    total = MUST(form->add_many(a, keys, n, batch));
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
    for (size_t form = 0; form < sizeof forms / sizeof *forms; form++) {
        perhaps *a = make(&layout->want), *b = make(&layout->want);
        uint64_t start = 0;
        for (size_t n = 0; n <= 130; n++, start += n / 2) {
            fill_with_duplicates(keys, n, start);
            compare_one_batch(a, b, &forms[form], keys, n);
        }
        for (size_t i = 0; i < sizeof large / sizeof *large; i++) {
            fill_with_duplicates(keys, large[i], start += large[i] / 2);
            compare_one_batch(a, b, &forms[form], keys, large[i]);
        }
        perhaps_free(a);
        perhaps_free(b);
    }
}

static void compare_byte_batch(perhaps *a, perhaps *b, const struct byte_keys *keys, size_t first, size_t n) {
    uint8_t batch[4097], single[4097];
    const void *const *start = keys->keys + first;
    const size_t *lengths = keys->lengths + first;
    int64_t sum = 0, total = MUST(perhaps_contains_many(a, start, lengths, n, batch));
    for (size_t i = 0; i < n; i++) sum += single[i] = (uint8_t)perhaps_contains(b, start[i], lengths[i]);
    expect_same_answers(batch, single, n, "contains");
    CHECK(total == sum, "contains_many counted %lld of %lld", (long long)total, (long long)sum);
    sum = 0;
    total = MUST(perhaps_add_many(a, start, lengths, n, batch));
    for (size_t i = 0; i < n; i++) sum += single[i] = (uint8_t)perhaps_add(b, start[i], lengths[i]);
    expect_same_answers(batch, single, n, "add");
    CHECK(total == sum, "add_many counted %lld of %lld", (long long)total, (long long)sum);
    CHECK(perhaps_equal(a, b) == 1, "after a batch of %zu byte keys the two filters differ", n);
}

static void byte_batches_agree_with_singles(const struct layout *layout) {
    static const size_t sizes[] = {0, 1, 2, 31, 63, 64, 65, 127, 129, 1023, 1025, 4097};
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
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) compare_byte_batch(a, b, &keys, 17 * i, sizes[i]);
    free_byte_keys(&keys);
    perhaps_free(a);
    perhaps_free(b);
}

/* ---- digests ---- */

/* A digest stands for its key in every filter of equal hash and seed, whatever the form of the question. */
static void digests_stand_for_keys(const struct layout *layout) {
    perhaps_want want = layout->want;
    want.seed = 77;
    perhaps *f = make(&want), *g = make(&want);
    struct byte_keys keys = make_byte_keys(300, 5);
    for (size_t i = 0; i < keys.n; i++) {
        MUST(perhaps_add(f, keys.keys[i], keys.lengths[i]));
        MUST(perhaps_add_digest(g, perhaps_digest(f, keys.keys[i], keys.lengths[i])));
        MUST(perhaps_add_u64(f, member(i)));
        MUST(perhaps_add_digest(g, perhaps_digest_u64(g, member(i))));
    }
    CHECK(perhaps_equal(f, g) == 1, "keys and their digests made different filters");
    free_byte_keys(&keys);
    perhaps_free(f);
    perhaps_free(g);
}

static void seeds_make_different_filters(const struct layout *layout) {
    perhaps_want want = layout->want;
    perhaps *f = make(&want);
    want.seed = 1;
    perhaps *g = make(&want);
    CHECK(perhaps_digest(f, "key", 3) != perhaps_digest(g, "key", 3), "the seed does not reach the hash of bytes");
    CHECK(perhaps_digest_u64(f, 42) != perhaps_digest_u64(g, 42), "the seed does not reach the hash of integers");
    perhaps_free(f);
    perhaps_free(g);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        FOR_EACH_LAYOUT(bytes_are_found, ITEMS),
        FOR_EACH_LAYOUT(integers_are_found, 2 * ITEMS),
        FOR_EACH_LAYOUT(overfull_still_finds, ITEMS),
        FOR_EACH_LAYOUT(empty_has_nothing, ITEMS),
        FOR_EACH_LAYOUT(add_answers_what_contains_knew, ITEMS),
        FOR_EACH_LAYOUT(batches_agree_with_singles, ITEMS),
        FOR_EACH_LAYOUT(byte_batches_agree_with_singles, ITEMS),
        FOR_EACH_LAYOUT(digests_stand_for_keys, ITEMS),
        FOR_EACH_KIND(seeds_make_different_filters, ITEMS),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
