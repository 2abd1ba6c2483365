/* Windows beside exact models of what they remember and forget: by keys, by time, at a fill. */
#include "support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const int bases[] = {PERHAPS_BLOOM, PERHAPS_BLOCKED, PERHAPS_TABLE};
enum { BASES = sizeof bases / sizeof *bases };

static struct perhaps_info child_of(const perhaps *f, unsigned i) {
    struct perhaps_info info = {.size = sizeof info};
    MUST(perhaps_child(f, i, &info));
    return info;
}

static void *zeroed(size_t n, size_t size) {
    void *memory = calloc(n, size);
    CHECK(memory, "no memory for %zu things", n);
    return memory;
}

/* ---- who was added after whom ---- */

/*
 * Keys 0..keys-1 in the order of their last adds. Each add takes the next place, and a tree of
 * partial sums (Fenwick) over the places tells how many distinct keys came after one. When the
 * places are used up, those in use move together.
 */
struct order {
    uint32_t keys, places, next;
    uint32_t *place_of; /* 0 = never added */
    uint32_t *key_at, *sums;
    uint64_t *when; /* number of the last add of a key, from 1; 0 = never */
    uint64_t adds;
    uint32_t different;
};

static struct order start_order(uint32_t keys) {
    struct order order = {.keys = keys, .places = 4 * keys, .next = 1};
    order.place_of = zeroed(keys, sizeof *order.place_of);
    order.when = zeroed(keys, sizeof *order.when);
    order.key_at = zeroed(order.places + 1, sizeof *order.key_at);
    order.sums = zeroed(order.places + 1, sizeof *order.sums);
    return order;
}

static void end_order(struct order *order) {
    free(order->place_of);
    free(order->when);
    free(order->key_at);
    free(order->sums);
}

static void change_sum(struct order *order, uint32_t place, uint32_t by) {
    for (; place <= order->places; place += place & (0 - place)) order->sums[place] += by;
}

/* How many distinct keys were added after this one was. */
static uint32_t younger_than(const struct order *order, uint32_t key) {
    uint32_t upto = 0;
    for (uint32_t place = order->place_of[key]; place; place -= place & (0 - place)) upto += order->sums[place];
    return order->different - upto;
}

static void take_next_place(struct order *order, uint32_t key) {
    order->place_of[key] = order->next;
    order->key_at[order->next] = key;
    change_sum(order, order->next++, 1);
}

static void move_together(struct order *order) {
    uint32_t last = order->next - 1;
    memset(order->sums, 0, (order->places + 1) * sizeof *order->sums);
    order->next = 1;
    for (uint32_t place = 1; place <= last; place++) {
        uint32_t key = order->key_at[place];
        if (order->place_of[key] == place) take_next_place(order, key);
    }
}

static void note_add(struct order *order, uint32_t key) {
    if (order->next > order->places) move_together(order);
    if (order->place_of[key])
        change_sum(order, order->place_of[key], UINT32_MAX);
    else
        order->different++;
    take_next_place(order, key);
    order->when[key] = ++order->adds;
}

/* ---- by number of keys ---- */

struct window {
    perhaps *f;
    struct order order;
    uint64_t items, bound; /* who has `bound` younger ones is forgotten */
    bool exact;
    uint64_t old, false_positives; /* queries of forgotten keys, and those answered "perhaps" */
    uint64_t random;
    uint32_t cursor;
};

static struct window start_window(int kind, unsigned generations, uint64_t items) {
    uint64_t quota = (items - 1) / (generations - 1) + 1;
    struct window w = {.items = items, .bound = quota * generations, .exact = kind == PERHAPS_TABLE};
    perhaps_want want = PERHAPS_WANT(.kind = kind, .items = items, .generations = generations);
    if (!w.exact) want.fpr = 0.01;
    /* Keys that are taken for known ones use up no quota. */
    if (!w.exact) w.bound += w.bound / 20 + 20;
    w.f = make(&want);
    w.random = items * generations;
    w.order = start_order((uint32_t)(4 * w.bound));
    return w;
}

/* What is to be said of this key: 1 = it is there, 0 = it is forgotten, -1 = either. */
static int expected(const struct window *w, uint32_t key) {
    if (!w->order.when[key]) return 0;
    if (w->order.adds - w->order.when[key] < w->items) return 1;
    return younger_than(&w->order, key) >= w->bound ? 0 : -1;
}

static void judge(struct window *w, uint32_t key, bool found) {
    int truth = expected(w, key);
    if (truth == 0) w->old++, w->false_positives += found;
    CHECK(truth != 1 || found, "key %u is forgotten, added %llu adds ago, with %u different ones since; add %llu", key,
          (unsigned long long)(w->order.adds - w->order.when[key]), younger_than(&w->order, key),
          (unsigned long long)w->order.adds);
    CHECK(truth != 0 || !found || !w->exact, "key %u is remembered, with %u different ones since", key,
          younger_than(&w->order, key));
}

static void judge_all(struct window *w) {
    for (uint32_t key = 0; key < w->order.keys; key++)
        judge(w, key, MUST(perhaps_contains_u64(w->f, member(key))) == 1);
}

static void add_to_window(struct window *w, uint32_t key) {
    judge(w, key, MUST(perhaps_add_u64(w->f, member(key))) == 0);
    note_add(&w->order, key);
}

/* Mostly new keys; one that came lately, or long ago; the same many times; a few in turn. */
static void add_some(struct window *w) {
    uint64_t dice = next_random(&w->random);
    uint32_t keys = w->order.keys, any = (uint32_t)(dice >> 32) % keys, burst = 1 + (uint32_t)(dice >> 16) % 32;
    if (dice % 16 == 0)
        for (uint32_t i = 0; i < burst; i++) add_to_window(w, any);
    else if (dice % 16 == 1)
        for (uint32_t i = 0; i < 4 * burst; i++) add_to_window(w, (any + i % 5) % keys);
    else if (dice % 16 < 5)
        add_to_window(w, (w->cursor + keys - (uint32_t)(dice >> 32) % (uint32_t)w->bound) % keys);
    else if (dice % 16 < 6)
        add_to_window(w, any);
    else
        for (uint32_t i = 0; i < burst; i++) add_to_window(w, w->cursor = (w->cursor + 1) % keys);
}

static void run_window(int kind, unsigned generations, uint64_t items, uint64_t adds) {
    struct window w = start_window(kind, generations, items);
    for (uint64_t next_look = 0; w.order.adds < adds;) {
        add_some(&w);
        if (w.order.adds < next_look) continue;
        judge_all(&w);
        next_look = w.order.adds + 20 * items;
    }
    judge_all(&w);
    double most = 0.01 * (double)w.old;
    CHECK(w.old > adds / 100, "only %llu queries of forgotten keys: this tests nothing", (unsigned long long)w.old);
    CHECK((double)w.false_positives <= most + 4 * sqrt(most), "%llu of %llu forgotten keys are remembered",
          (unsigned long long)w.false_positives, (unsigned long long)w.old);
    end_order(&w.order);
    perhaps_free(w.f);
}

static uint64_t all_adds(void) {
    return test_size() == TEST_SMALL ? 1000000 : test_size() == TEST_NORMAL ? 10000000 : 100000000;
}

static void the_last_keys_are_remembered_and_no_others(void **state) {
    static const unsigned generations[] = {2, 4, 8};
    (void)state;
    for (size_t g = 0; g < 3; g++) {
        run_window(PERHAPS_BLOCKED, generations[g], 1000, all_adds() / 8);
        run_window(PERHAPS_TABLE, generations[g], 1000, all_adds() / 8);
        run_window(PERHAPS_TABLE, generations[g], 101, all_adds() / 16);
        run_window(PERHAPS_TABLE, generations[g], 1, all_adds() / 100);
    }
}

/* In a stream without repeats, the last `items` adds are the last `items` distinct keys. */
static void pass_through(int kind, unsigned generations, uint64_t items) {
    perhaps *f = make(&PERHAPS_WANT(.kind = kind, .items = items, .fpr = 0.01, .generations = generations));
    uint64_t quota = (items - 1) / (generations - 1) + 1, queries = test_size() == TEST_SMALL ? 20000 : 100000;
    for (uint64_t n = 0; n < 6 * items; n += items / 7) {
        add_members(f, n, items / 7);
        if (n >= items) expect_members(f, n + items / 7 - items, items);
        CHECK(info_of(f).items <= quota * generations, "%llu keys", (unsigned long long)info_of(f).items);
    }
    double seen = (double)count_false_positives(f, 0, queries), most = 0.01 * (double)queries;
    CHECK(seen <= most + 4 * sqrt(most), "kind %d: %g of %g non-members are found", kind, seen, (double)queries);
    CHECK(info_of(f).children == generations, "%u generations", info_of(f).children);
    perhaps_free(f);
}

static void a_stream_of_new_keys_passes_through(void **state) {
    (void)state;
    for (size_t i = 0; i < BASES; i++)
        for (unsigned generations = 2; generations <= 64; generations *= 2) pass_through(bases[i], generations, 1500);
}

/* ---- by time ---- */

enum { TIMED_KEYS = 2000 };

struct timed {
    perhaps *f;
    uint64_t now, period, forgotten_after; /* older ones than that are forgotten */
    uint64_t added[TIMED_KEYS];            /* when, plus 1; 0 = never */
    bool exact;
    uint64_t old, false_positives;
};

static uint64_t read_clock(void *context) {
    return *(uint64_t *)context;
}

static void judge_time(struct timed *t, unsigned key, bool found) {
    uint64_t age = t->added[key] ? t->now - (t->added[key] - 1) : UINT64_MAX;
    CHECK(age >= t->period || found, "key %u is forgotten after %llu of %llu", key, (unsigned long long)age,
          (unsigned long long)t->period);
    if (age < t->forgotten_after) return;
    t->old++;
    t->false_positives += found;
    CHECK(!found || !t->exact, "key %u is remembered after %llu, of %llu", key, (unsigned long long)age,
          (unsigned long long)t->forgotten_after);
}

static void judge_times(struct timed *t) {
    for (unsigned key = 0; key < TIMED_KEYS; key++)
        judge_time(t, key, MUST(perhaps_contains_u64(t->f, member(key))) == 1);
}

/* Small steps, none at all, some back, and jumps beyond everything. */
static uint64_t step_of(uint64_t period, uint64_t *random) {
    uint64_t dice = next_random(random);
    if (dice % 100 == 0) return 3 * period + dice / 100 % (20 * period);
    if (dice % 10 == 0) return dice / 100 % (period + 1);
    return dice % 2 ? 0 : dice / 100 % (period / 20 + 2);
}

static void go_on_in_time(struct timed *t, uint64_t step, bool with_clock) {
    t->now += step;
    if (with_clock) return;
    MUST(perhaps_advance(t->f, t->now));
    CHECK(MUST(perhaps_advance(t->f, t->now)) == 0, "the same time forgets again");
    CHECK(MUST(perhaps_advance(t->f, t->now / 2)) == 0, "a time that is over forgets");
}

/* Saved, and read again: the generations know when they began. */
static void reopen(struct timed *t, bool with_clock) {
    perhaps *again = NULL;
    struct bytes image = image_of(t->f);
    MUST(perhaps_open_memory(&again, image.data, image.length, &PERHAPS_OPEN(.flags = PERHAPS_OPEN_COPY)));
    for (unsigned i = 0; i < info_of(t->f).children; i++)
        CHECK(child_of(t->f, i).since == child_of(again, i).since, "generation %u began at another time", i);
    CHECK(info_of(again).period == info_of(t->f).period, "the period is another one");
    free(image.data);
    perhaps_free(t->f);
    t->f = again;
    if (with_clock) MUST(perhaps_set_clock(t->f, read_clock, &t->now));
}

static void run_timed(int kind, unsigned generations, uint64_t period, bool with_clock) {
    struct timed t = {.now = 1700000000, .period = period, .exact = kind == PERHAPS_TABLE};
    unsigned rounds = test_size() == TEST_SMALL ? 300 : 1500;
    uint64_t random = period + generations;
    t.forgotten_after = ((period - 1) / (generations - 1) + 1) * generations;
    t.f = make(
        &PERHAPS_WANT(.kind = kind, .items = TIMED_KEYS, .fpr = 0.01, .generations = generations, .period = period));
    if (with_clock) MUST(perhaps_set_clock(t.f, read_clock, &t.now));
    for (unsigned round = 0; round < rounds; round++) {
        go_on_in_time(&t, step_of(period, &random), with_clock);
        for (uint64_t n = next_random(&random) % 20; n; n--) {
            unsigned key = (unsigned)(next_random(&random) % TIMED_KEYS);
            judge_time(&t, key, MUST(perhaps_add_u64(t.f, member(key))) == 0);
            t.added[key] = t.now + 1;
        }
        if (with_clock) MUST(perhaps_advance(t.f, t.now)); /* queries forget nothing */
        if (round % 8 == 0) judge_times(&t);
        if (round % 100 == 99) reopen(&t, with_clock);
    }
    double most = 0.01 * (double)t.old;
    CHECK((double)t.false_positives <= most + 4 * sqrt(most), "%llu of %llu forgotten keys are remembered",
          (unsigned long long)t.false_positives, (unsigned long long)t.old);
    perhaps_free(t.f);
}

static void keys_are_remembered_for_a_period(void **state) {
    static const uint64_t periods[] = {1, 7, 1000, 86400};
    static const unsigned generations[] = {2, 3, 4, 8};
    (void)state;
    for (size_t p = 0; p < 4; p++)
        for (size_t g = 0; g < 4; g++) {
            run_timed(PERHAPS_TABLE, generations[g], periods[p], g % 2);
            run_timed(PERHAPS_BLOCKED, generations[g], periods[p], p % 2);
        }
}

static void time_has_an_end(void **state) {
    (void)state;
    for (size_t i = 0; i < BASES; i++) {
        perhaps *f = make(&PERHAPS_WANT(.kind = bases[i], .items = 100, .fpr = 0.01, .period = 60));
        CHECK(info_of(f).children == 4 && info_of(f).period == 60, "%u generations", info_of(f).children);
        MUST(perhaps_advance(f, 1000));
        add_members(f, 0, 100);
        CHECK(MUST(perhaps_advance(f, 1059)) == 0, "after most of a period");
        expect_members(f, 0, 100);
        CHECK(MUST(perhaps_advance(f, UINT64_MAX)) == 3, "at the end of time all is forgotten");
        CHECK(info_of(f).items == 0, "something is left");
        CHECK(MUST(perhaps_advance(f, 5)) == 0, "time went back");
        add_members(f, 0, 100);
        CHECK(MUST(perhaps_advance(f, UINT64_MAX)) == 0, "nothing comes after the end of time");
        expect_members(f, 0, 100);
        perhaps_free(f);
    }
}

static void only_a_period_has_a_clock(void **state) {
    uint64_t now = 5;
    (void)state;
    perhaps *f = make(&PERHAPS_WANT(.items = 100, .fpr = 0.01, .generations = 3));
    perhaps *g = make(&PERHAPS_WANT(.items = 100, .fpr = 0.01));
    REFUSED(PERHAPS_EINVAL, perhaps_set_clock(f, read_clock, &now));
    REFUSED(PERHAPS_EINVAL, perhaps_set_clock(g, read_clock, &now));
    CHECK(perhaps_advance(f, 1000) == 0 && perhaps_advance(g, 1000) == 0, "it knows the time");
    perhaps_free(f);
    perhaps_free(g);
}

/* ---- at a fill ---- */

static double newest_fill(const perhaps *f) {
    return child_of(f, info_of(f).children - 1).fill;
}

/* After each add the newest generation is at most one key above the mark, where it is left. */
static void run_to_fill(int kind, unsigned generations, double mark) {
    perhaps *f = make(&PERHAPS_WANT(.kind = kind, .items = 1000, .fpr = kind == PERHAPS_TABLE ? 0 : 0.01,
                                    .generations = generations, .clear_at = mark));
    struct perhaps_info newest = child_of(f, generations - 1);
    double bits = 8 * (double)newest.bytes, key_share = kind == PERHAPS_TABLE ? 64 / (bits - 64) : newest.hashes / bits;
    double before = 0;
    unsigned cleared = 0;
    for (uint64_t i = 0; cleared < 5; i++) {
        CHECK(i < 100000, "kind %d at %g: a hundred thousand keys, and nothing was forgotten", kind, mark);
        MUST(perhaps_add_u64(f, member(i)));
        double fill = newest_fill(f);
        CHECK(fill <= mark + key_share * 1.0001, "kind %d: the fill is %g, above %g", kind, fill, mark);
        CHECK(perhaps_contains_u64(f, member(i)) == 1, "the key that was just added is missed");
        CHECK(fill >= before || before >= mark, "kind %d: it was cleared at %g, below %g", kind, before, mark);
        cleared += fill < before;
        before = fill;
    }
    CHECK(fabs(info_of(f).clear_at - mark) < 1e-6, "clear_at is %g", info_of(f).clear_at);
    perhaps_free(f);
}

static void it_forgets_at_a_fill(void **state) {
    (void)state;
    for (size_t i = 0; i < BASES; i++) {
        run_to_fill(bases[i], 1, 0.8);
        run_to_fill(bases[i], 3, 0.8);
        run_to_fill(bases[i], 1, 0.3);
        run_to_fill(bases[i], 2, 0.5);
    }
    run_to_fill(PERHAPS_BLOOM, 1, 0.99);
}

/* Marks very near 0 or 1 are refused, or make filters that can be saved and opened. */
static void extreme_marks_are_kept_or_refused(void **state) {
    static const double marks[] = {1e-300, 1e-12, 1e-9, 0.999999, 1 - 1e-12, 0x1.fffffffffffffp-1};
    (void)state;
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        perhaps *f = NULL, *again = NULL;
        int rc =
            perhaps_create(&f, &PERHAPS_WANT(.kind = PERHAPS_BLOCKED, .items = 100, .fpr = 0.01, .clear_at = marks[i]));
        CHECK(rc == PERHAPS_OK || rc == PERHAPS_EINVAL, "a mark of %g gave %d", marks[i], rc);
        if (rc < 0) continue;
        add_members(f, 0, 3000);
        expect_members(f, 2999, 1);
        struct bytes image = image_of(f);
        MUST(perhaps_open_memory(&again, image.data, image.length, NULL));
        perhaps_free(again);
        perhaps_free(f);
        free(image.data);
    }
}

/* ---- the same bytes ---- */

static perhaps_want window_wants(unsigned i) {
    perhaps_want want = PERHAPS_WANT(.kind = bases[i % BASES], .items = 500, .fpr = 0.01);
    want.generations = i / BASES % 3 == 0 ? 4 : 2;
    if (i / BASES % 3 == 1) want.period = 10;
    if (i / BASES % 3 == 2) want.clear_at = 0.4;
    return want;
}

static void batches_are_single_calls(void **state) {
    static uint64_t keys[6000];
    static uint8_t answers[6000];
    (void)state;
    for (unsigned i = 0; i < 3 * BASES; i++) {
        perhaps_want want = window_wants(i);
        perhaps *batches = make(&want), *singles = make(&want);
        uint64_t random = i, now = 0;
        if (want.period) MUST(perhaps_set_clock(batches, read_clock, &now));
        for (int round = 0; round < 60; round++) {
            size_t n = (size_t)(next_random(&random) % (round % 4 ? 400 : 6000));
            now += next_random(&random) % 5;
            if (want.period) MUST(perhaps_advance(singles, now));
            for (size_t k = 0; k < n; k++) keys[k] = member(now * 50 + next_random(&random) % 3000);
            MUST(perhaps_add_many(batches, &PERHAPS_KEYS_U64(keys, 0, n), answers));
            for (size_t k = 0; k < n; k++)
                CHECK(MUST(perhaps_add_u64(singles, keys[k])) == answers[k], "key %zu of %zu was answered %d", k, n,
                      answers[k]);
            if (want.period) MUST(perhaps_advance(batches, now));
        }
        struct bytes image = image_of(singles);
        expect_unchanged(batches, image);
        free(image.data);
        perhaps_free(batches);
        perhaps_free(singles);
    }
}

static void copies_go_on_with_the_same_bytes(void **state) {
    (void)state;
    for (unsigned i = 0; i < 3 * BASES; i++) {
        perhaps_want want = window_wants(i);
        perhaps *f = make(&want), *copy = NULL, *clone = NULL;
        MUST(perhaps_advance(f, 100));
        add_members(f, 0, 1234);
        struct bytes image = image_of(f);
        write_whole(scratch("window.ph"), image.data, image.length);
        MUST(perhaps_open(&copy, scratch("window.ph"), &PERHAPS_OPEN(.flags = PERHAPS_OPEN_COPY)));
        MUST(perhaps_clone(f, &clone));
        free(image.data);
        perhaps *all[] = {f, copy, clone};
        for (int k = 0; k < 3; k++) {
            MUST(perhaps_advance(all[k], 109));
            add_members(all[k], 1000, 1500);
        }
        image = image_of(f);
        for (int k = 0; k < 3; k++) {
            expect_unchanged(all[k], image);
            MUST(perhaps_clear(all[k]));
            CHECK(info_of(all[k]).items == 0 && info_of(all[k]).fill == 0, "something is left after clear");
            perhaps_free(all[k]);
        }
        free(image.data);
    }
}

/* A table that may not grow can be full, if more keys come in a period than were expected. */
static void a_refused_batch_adds_nothing(void **state) {
    static uint64_t keys[20000];
    (void)state;
    perhaps *f = make(&PERHAPS_WANT(.kind = PERHAPS_TABLE, .items = 1000, .period = 10, .grow = PERHAPS_GROW_NEVER));
    for (uint64_t i = 0; i < 20000; i++) keys[i] = member(100 + i);
    MUST(perhaps_advance(f, 1));
    add_members(f, 0, 100);
    MUST(perhaps_advance(f, 5));
    perhaps_keys all = PERHAPS_KEYS_U64(keys, 0, 20000);
    uint64_t found = (uint64_t)MUST(perhaps_contains_many(f, &all, NULL)), items = info_of(f).items;
    REFUSED(PERHAPS_EFULL, perhaps_add_many(f, &all, NULL));
    CHECK((uint64_t)perhaps_contains_many(f, &all, NULL) == found && info_of(f).items == items, "keys of it are found");
    expect_members(f, 0, 100);
    perhaps_free(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_last_keys_are_remembered_and_no_others),
        cmocka_unit_test(a_stream_of_new_keys_passes_through),
        cmocka_unit_test(keys_are_remembered_for_a_period),
        cmocka_unit_test(time_has_an_end),
        cmocka_unit_test(only_a_period_has_a_clock),
        cmocka_unit_test(it_forgets_at_a_fill),
        cmocka_unit_test(extreme_marks_are_kept_or_refused),
        cmocka_unit_test(batches_are_single_calls),
        cmocka_unit_test(copies_go_on_with_the_same_bytes),
        cmocka_unit_test(a_refused_batch_adds_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, remove_scratch);
}
