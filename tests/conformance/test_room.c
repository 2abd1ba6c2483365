/* Full, and growing: a filter without room says so; neither loses a key. */
#include "support.h"

#include <stdlib.h>
#include <string.h>

/* ---- full ---- */

/* Members first..first+n-1 are taken out, one by one. */
static void remove_members(perhaps *f, uint64_t first, uint64_t n) {
    for (uint64_t i = first; i < first + n; i++)
        CHECK(MUST(perhaps_remove_u64(f, member_of(f, i))) == 1, "member %llu is not there to be removed",
              (unsigned long long)i);
}

/* Filled to the first "full" every key is found; then half go, others come, and again. */
static void a_full_filter_has_lost_nothing(const struct layout *layout) {
    if (!(layout->row->can & PERHAPS_REMOVE)) return;
    perhaps *f = make_limited(layout);
    uint64_t n = add_while_room(f, 0, 4 * layout->items), half = n / 2;
    CHECK(n >= layout->want.items, "full after %llu of %llu keys", (unsigned long long)n,
          (unsigned long long)layout->want.items);
    expect_members(f, 0, n);
    remove_members(f, 0, half);
    expect_members(f, half, n - half);
    CHECK(info_of(f).items == n - half, "%llu items are left", (unsigned long long)info_of(f).items);
    /* Integers of a range can come back only as themselves. */
    uint64_t first = takes_bytes(f) ? n : 0, again = add_while_room(f, first, half);
    /* Older layers take no keys any more, and every shard has its own end. */
    CHECK(again + half / 20 + 3 >= half || is_composite(layout), "only %llu of %llu keys found room again",
          (unsigned long long)again, (unsigned long long)half);
    expect_members(f, half, n - half);
    expect_members(f, first, again);
    remove_members(f, half, n - half);
    remove_members(f, first, again);
    struct perhaps_info info = info_of(f);
    CHECK(info.items == 0 && (info.fill == 0 || info.stuck), "all keys are removed, but %llu items are left",
          (unsigned long long)info.items);
    perhaps_free(f);
}

/* What a failed batch added can be removed; or, in layers over sets, room is made beforehand. */
static bool takes_all_or_nothing(const struct layout *layout) {
    return layout->row->can & PERHAPS_REMOVE || (is_layered(layout) && !layout->want.shards);
}

/* Answers about the keys of a batch and about non-members, and how often a key is in. */
struct answers {
    size_t n;
    uint64_t *keys, false_positives;
    uint8_t *found;
    int64_t copies;
};

static struct answers query(const perhaps *f, const struct layout *layout, uint64_t first, size_t n) {
    struct answers answers = {.n = n, .keys = calloc(n, sizeof *answers.keys), .found = calloc(n, 1)};
    CHECK(answers.keys && answers.found, "no memory");
    for (size_t i = 0; i < n; i++) answers.keys[i] = member_of(f, first + i);
    MUST(perhaps_contains_many(f, &PERHAPS_KEYS_U64(answers.keys, 0, n), answers.found));
    answers.false_positives = count_false_positives(f, 0, 5000);
    if (is_multiset(layout)) answers.copies = MUST(perhaps_count_u64(f, member_of(f, 0)));
    return answers;
}

static void end_answers(struct answers *answers) {
    free(answers->keys);
    free(answers->found);
}

static void expect_no_traces(perhaps *f, const struct layout *layout, const struct answers *before, uint64_t first,
                             uint64_t items) {
    struct answers after = query(f, layout, first, before->n);
    CHECK(memcmp(before->found, after.found, before->n) == 0, "the batch left traces");
    CHECK(info_of(f).items == items, "%llu items", (unsigned long long)info_of(f).items);
    CHECK(before->false_positives == after.false_positives, "non-members are answered otherwise");
    CHECK(before->copies == after.copies, "a key is counted otherwise");
    end_answers(&after);
}

/* A batch that finds no room half-way: earlier keys are still there, its own are not. */
static void a_batch_without_room_leaves_all_as_it_was(const struct layout *layout) {
    if (!takes_all_or_nothing(layout)) return;
    perhaps *f = make_limited(layout);
    uint64_t n = layout->want.items * 9 / 10;
    add_members(f, 0, n);
    uint64_t items = info_of(f).items;
    size_t many = (size_t)layout->items * (is_layered(layout) ? 30 : 3);
    struct answers before = query(f, layout, n / 2, many); /* some are in already */
    int64_t answer = perhaps_add_many(f, &PERHAPS_KEYS_U64(before.keys, 0, before.n), NULL);
    MUST_OR_FULL(answer);
    CHECK(!grows(layout) || answer == PERHAPS_EFULL, "a filter that must not grow took in everything");
    expect_members(f, 0, n);
    if (answer == PERHAPS_EFULL) expect_no_traces(f, layout, &before, n / 2, items);
    if (answer == PERHAPS_EFULL && layout->row->can & PERHAPS_REMOVE) {
        remove_members(f, 0, n);
        CHECK(info_of(f).fill == 0, "something of the batch is still in it");
    }
    end_answers(&before);
    perhaps_free(f);
}

/* It refuses the key, and stays as it is; so does what is opened from its image. */
static void expect_full_forever(perhaps *f, uint64_t key) {
    struct bytes before = image_of(f);
    perhaps *again = NULL;
    REFUSED(PERHAPS_EFULL, perhaps_add_u64(f, key));
    REFUSED(PERHAPS_EFULL, perhaps_add_many(f, &PERHAPS_KEYS_U64(&key, 0, 1), NULL));
    expect_unchanged(f, before);
    MUST(perhaps_open_memory(&again, before.data, before.length, &PERHAPS_OPEN(.flags = PERHAPS_OPEN_COPY)));
    REFUSED(PERHAPS_EFULL, perhaps_add_u64(again, key));
    CHECK(info_of(again).grow == info_of(f).grow && info_of(again).max_bytes == info_of(f).max_bytes,
          "the file does not say that it must not grow");
    perhaps_free(again);
    free(before.data);
}

/* Made not to grow, it does not, and says so, however often it is tried. */
static void what_must_not_grow_is_full_at_some_time(const struct layout *layout) {
    if (is_layered(layout)) return;
    perhaps_want want = layout->want;
    want.grow = PERHAPS_GROW_NEVER;
    perhaps *f = make(&want);
    uint64_t bytes = info_of(f).bytes, added = add_while_room(f, 0, 3 * layout->items);
    CHECK(added >= layout->items, "full after %llu of %llu keys", (unsigned long long)added,
          (unsigned long long)layout->items);
    /* In a burst a window by time has up to twice its generations, and frees them afterwards. */
    CHECK(info_of(f).bytes == bytes || (want.period && info_of(f).bytes <= 2 * bytes), "it grew");
    expect_members(f, added - remembered(layout, added), remembered(layout, added));
    CHECK(!grows(layout) || info_of(f).grow == PERHAPS_GROW_NEVER, "info does not say that it must not grow");
    if (grows(layout)) expect_full_forever(f, member_of(f, added));
    perhaps_free(f);
}

/* Layers stop growing at the number of bytes that was given, and no key is lost. */
static void layers_grow_up_to_a_limit(const struct layout *layout) {
    if (!is_layered(layout)) return;
    perhaps_want want = layout->want;
    want.max_bytes = 60 * layout->plan.bytes;
    perhaps *f = make(&want);
    uint64_t added = add_while_room(f, 0, 100 * layout->items);
    struct perhaps_info info = info_of(f);
    CHECK(added > 2 * want.items && added < 100 * layout->items, "full after %llu keys", (unsigned long long)added);
    CHECK(info.bytes <= want.max_bytes, "%llu of %llu bytes", (unsigned long long)info.bytes,
          (unsigned long long)want.max_bytes);
    CHECK(want.shards || info.max_bytes == want.max_bytes, "info says %llu bytes", (unsigned long long)info.max_bytes);
    expect_members(f, 0, added);
    expect_full_forever(f, member_of(f, added));
    perhaps_free(f);
}

/* ---- growing ---- */

/* Key number i is put in, and every third time the one before it goes. */
static void add_and_forget(perhaps *f, const struct layout *layout, uint64_t i) {
    int answer = (int)MUST(perhaps_add_u64(f, member_of(f, i)));
    CHECK(answer == 1 || !(is_exact(layout) || is_multiset(layout)), "key %llu is not new", (unsigned long long)i);
    if (i % 3 == 2 && layout->row->can & PERHAPS_REMOVE)
        CHECK(MUST(perhaps_remove_u64(f, member_of(f, i - 1))) == 1, "key %llu", (unsigned long long)i);
}

/* From the smallest filter on, with removes: growth loses nothing, and the rate holds. */
static void growing_loses_nothing(const struct layout *layout) {
    if (!grows(layout)) return;
    bool removes = layout->row->can & PERHAPS_REMOVE, sure = is_exact(layout) || is_multiset(layout);
    perhaps_want want = layout->want;
    want.items = 1;
    perhaps *f = make(&want);
    uint64_t n = test_size() == TEST_SMALL || is_composite(layout) ? 20000 : 200000;
    for (uint64_t i = 0; i < n; i++) add_and_forget(f, layout, i);
    for (uint64_t i = 0; i < n; i++) {
        bool in = !removes || i % 3 != 1 || i + 1 >= n;
        int found = perhaps_contains_u64(f, member_of(f, i));
        CHECK(is_exact(layout) ? found == in : found || !in, "wrong about key %llu of %llu", (unsigned long long)i,
              (unsigned long long)n);
    }
    struct perhaps_info info = info_of(f);
    uint64_t due = removes ? n - n / 3 : n;
    CHECK(info.items <= due && info.items >= (sure ? due : due - due / 50), "%llu items",
          (unsigned long long)info.items);
    CHECK((double)info.capacity >= 0.9 * (double)info.items, "%llu items in a filter for %llu",
          (unsigned long long)info.items, (unsigned long long)info.capacity);
    uint64_t found = count_false_positives(f, 0, 10000);
    CHECK((double)found <= (is_exact(layout) ? 0 : 10000 * want.fpr), "%llu non-members came in",
          (unsigned long long)found);
    perhaps_free(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        FOR_EACH_LAYOUT(a_full_filter_has_lost_nothing, 1),
        FOR_EACH_LAYOUT(a_full_filter_has_lost_nothing, 10),
        FOR_EACH_LAYOUT(a_full_filter_has_lost_nothing, 100),
        FOR_EACH_LAYOUT(a_full_filter_has_lost_nothing, 1003),
        FOR_EACH_LAYOUT(a_full_filter_has_lost_nothing, 30000),
        FOR_EACH_LAYOUT(a_batch_without_room_leaves_all_as_it_was, 100),
        FOR_EACH_LAYOUT(a_batch_without_room_leaves_all_as_it_was, 5000),
        FOR_EACH_FILTER(growing_loses_nothing, 1000),
        FOR_EACH_COMPOSITE(a_full_filter_has_lost_nothing, 10),
        FOR_EACH_COMPOSITE(a_full_filter_has_lost_nothing, 3000),
        FOR_EACH_COMPOSITE(a_batch_without_room_leaves_all_as_it_was, 1000),
        FOR_EACH_COMPOSITE(a_batch_without_room_leaves_all_as_it_was, 5000),
        FOR_EACH_LAYOUT(what_must_not_grow_is_full_at_some_time, 3000),
        FOR_EACH_COMPOSITE(what_must_not_grow_is_full_at_some_time, 3000),
        FOR_EACH_COMPOSITE(layers_grow_up_to_a_limit, 3000),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
