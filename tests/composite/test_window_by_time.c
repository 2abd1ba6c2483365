/*
 * Windows by time beside an exact model, a list of keys and of when each came, in every rhythm: as
 * long as at most `items` keys come in any period, the false-positive rate holds and no key younger
 * than the period is lost.
 */
#include "support.h"

#include <perhaps_embed.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ITEMS = 600, STEPS = 30, MOST_KEYS = STEPS * 4 * ITEMS, NON_MEMBERS = 500, PERIOD = 1000 };

static const double rate = 0.01;

/* ---- rhythms ---- */

enum rhythm { EVEN, AT_ONCE, ACROSS, AS_IT_COMES, TRICKLE, AFTER_SILENCE, JUMPS, BACK, FLOOD, RHYTHMS };

static const char *const rhythm_names[RHYTHMS] = {"even",
                                                  "all at once",
                                                  "two bursts across a boundary",
                                                  "random",
                                                  "single keys, then bursts",
                                                  "a burst after a long silence",
                                                  "clock jumps",
                                                  "clock goes back",
                                                  "flood"};

/* What comes next: how much later, and how many keys. */
struct beat {
    int64_t later;
    uint64_t keys;
};

static struct beat next_beat(enum rhythm rhythm, unsigned step, unsigned generations, uint64_t *random) {
    int64_t one = (PERIOD - 1) / (generations - 1) + 1, dice = (int64_t)(next_random(random) >> 1);
    uint64_t some = (uint64_t)dice / 4096 % (ITEMS / 2);
    switch (rhythm) {
    case EVEN:
        return (struct beat){PERIOD / 20, ITEMS / 20};
    case AT_ONCE:
        return (struct beat){PERIOD, ITEMS};
    case ACROSS:
        return step % 3 == 0 ? (struct beat){one - 1, ITEMS / 2} : (struct beat){step % 3 == 1 ? 1 : one, ITEMS};
    case TRICKLE:
        return step % 10 ? (struct beat){one, 1} : (struct beat){one - 1, ITEMS};
    case AFTER_SILENCE:
        return step % 4 ? (struct beat){step % 4, ITEMS / 3} : (struct beat){10 * PERIOD, ITEMS};
    case JUMPS:
        return (struct beat){step % 5 ? dice % one : dice % (INT64_C(1) << 40), some};
    case BACK:
        return (struct beat){dice % (2 * one) - one / 2, some};
    case FLOOD:
        return (struct beat){one, step % 7 == 3 ? 4 * ITEMS : step % 5 ? 0 : ITEMS};
    default:
        return (struct beat){dice % 8 ? dice / 8 % one : 0, dice % 3 ? some : ITEMS};
    }
}

/* ---- the model ---- */

struct run {
    enum rhythm rhythm;
    int kind;
    unsigned generations;
    size_t batch;
    /* In batches, saved and opened on the way; one by one, with a clock. */
    perhaps *f, *twin;
    uint64_t told, now;        /* what the clock says, and the latest of that */
    uint64_t came[MOST_KEYS];  /* when each key did, for the last time */
    uint64_t times[MOST_KEYS]; /* when each of all adds was */
    uint64_t keys, adds, random;
    uint64_t queries, found; /* of keys that were never added, or are too old */
    unsigned most_children;
};

static bool promised(const struct run *r) {
    return r->rhythm != FLOOD;
}

static uint64_t clock_of(void *context) {
    return ((const struct run *)context)->told;
}

static uint64_t adds_in_period(const struct run *r) {
    uint64_t n = 0;
    while (n < r->adds && r->now - r->times[r->adds - 1 - n] < PERIOD) n++;
    return n;
}

/* What the window would say at a time is what it says then, and looking changes nothing. */
static void advance_as_foreseen(const struct run *r) {
    static uint64_t keys[4 * ITEMS];
    static uint8_t foreseen[4 * ITEMS], answers[4 * ITEMS];
    struct perhaps_info before = {.size = sizeof before};
    struct bytes image = image_of(r->f);
    size_t n = r->random % 3 ? 4 * ITEMS : r->random % 7;
    for (size_t i = 0; i < n; i++) keys[i] = i % 2 ? non_member(i) : member(r->keys > i ? r->keys - i : i);
    perhaps_keys batch = PERHAPS_KEYS_U64(keys, 0, n);
    int64_t found = MUST(perhaps_contains_as_of(r->f, r->told, &batch, foreseen));
    MUST(perhaps_facts_as_of(r->f, r->told, &before));
    expect_unchanged(r->f, image);
    MUST(perhaps_advance(r->f, r->told));
    CHECK(MUST(perhaps_contains_many(r->f, &batch, answers)) == found, "other members than foreseen");
    CHECK(memcmp(answers, foreseen, n) == 0, "other answers than foreseen");
    CHECK(info_of(r->f).items == before.items, "%llu items, not %llu", (unsigned long long)info_of(r->f).items,
          (unsigned long long)before.items);
    free(image.data);
}

static void move_clock(struct run *r, int64_t later) {
    r->told += (uint64_t)later;
    if (r->told > r->now) r->now = r->told;
    advance_as_foreseen(r);
}

/* New keys, and one in eight that came before. */
static uint64_t pick_key(struct run *r) {
    uint64_t dice = next_random(&r->random);
    bool again = r->keys && dice % 8 == 0;
    return again ? r->keys - 1 - dice / 8 % (r->keys < 2 * ITEMS ? r->keys : 2 * ITEMS) : r->keys++;
}

static void add_batch(struct run *r, size_t n) {
    static uint64_t keys[4 * ITEMS], ids[4 * ITEMS];
    static uint8_t answers[4 * ITEMS];
    for (size_t i = 0; i < n; i++) keys[i] = member(ids[i] = pick_key(r));
    if (n == 1)
        answers[0] = MUST(perhaps_add_u64(r->f, keys[0])) == 1;
    else
        MUST(perhaps_add_many(r->f, &PERHAPS_KEYS_U64(keys, 0, n), answers));
    for (size_t i = 0; i < n; i++) {
        bool young = r->came[ids[i]] && r->now - (r->came[ids[i]] - 1) < PERIOD;
        CHECK(!young || !answers[i], "a key that is there is new");
        CHECK(MUST(perhaps_add_u64(r->twin, keys[i])) == answers[i], "in a batch of %zu, key %zu is answered %d", n, i,
              answers[i]);
        r->came[ids[i]] = r->now + 1;
        r->times[r->adds++] = r->now;
    }
}

static void add_keys(struct run *r, uint64_t n) {
    uint64_t room = ITEMS - (promised(r) ? adds_in_period(r) : 0);
    if (promised(r) && n > room) n = room;
    for (uint64_t some; n; n -= some) {
        some = n < r->batch ? n : r->batch;
        add_batch(r, (size_t)some);
    }
}

/* ---- what must hold at every step ---- */

/* No key younger than a period is missing; one older than the promise is found only by chance. */
static void judge_keys(struct run *r) {
    uint64_t forgotten_after = PERIOD + (PERIOD - 1) / (r->generations - 1) + 1, old = 0, known = 0;
    for (uint64_t key = r->keys; key-- > 0 && old < 300;) {
        uint64_t age = r->now - (r->came[key] - 1);
        if (age >= PERIOD && age < forgotten_after) continue;
        int found = (int)MUST(perhaps_contains_u64(r->f, member(key)));
        CHECK(age >= PERIOD || found, "a key is forgotten after %llu", (unsigned long long)age);
        if (age >= PERIOD) old++, known += (uint64_t)found;
    }
    CHECK(r->kind != PERHAPS_TABLE || !known, "%llu old keys are remembered", (unsigned long long)known);
    r->queries += old;
    r->found += known;
}

static void judge_rate(struct run *r, unsigned step) {
    uint64_t seen = count_false_positives(r->f, (uint64_t)step * NON_MEMBERS, NON_MEMBERS);
    double most = rate * NON_MEMBERS;
    CHECK(!promised(r) || (double)seen <= most + 5 * sqrt(most), "%llu of %d non-members are found",
          (unsigned long long)seen, NON_MEMBERS);
    r->queries += NON_MEMBERS;
    r->found += seen;
}

static void judge_memory(struct run *r, const struct perhaps_plan *plan) {
    struct perhaps_info info = info_of(r->f);
    unsigned most = promised(r) ? 2 * r->generations - 2 : 2 * r->generations;
    CHECK(info.children >= r->generations && info.children <= most, "%u generations", info.children);
    CHECK(info.generations == r->generations && info.period == PERIOD, "it forgot what it is");
    if (r->kind != PERHAPS_TABLE || promised(r))
        CHECK(info.bytes == plan->bytes / r->generations * info.children, "%llu bytes in %u generations",
              (unsigned long long)info.bytes, info.children);
    CHECK(!info.flooded || !promised(r), "flooded, with %llu keys", (unsigned long long)info.items);
    if (info.children > r->most_children) r->most_children = info.children;
}

/* A table has room for them, and stays exact. */
static void judge_flood(const struct run *r, uint64_t came) {
    if (came < 4 * ITEMS) return;
    CHECK(info_of(r->f).flooded == (r->kind != PERHAPS_TABLE), "a flood of %llu keys", (unsigned long long)came);
}

/* Saved and opened in the middle it goes on as the other one does, which was not. */
static void reopen(struct run *r) {
    struct bytes image = image_of(r->f);
    perhaps_free(r->f);
    MUST(perhaps_open_memory(&r->f, image.data, image.length, &PERHAPS_OPEN(.flags = PERHAPS_OPEN_COPY)));
    free(image.data);
    MUST(perhaps_advance(r->f, r->told));
}

static void one_step(struct run *r, unsigned step, const struct perhaps_plan *plan) {
    struct beat beat = next_beat(r->rhythm, step, r->generations, &r->random);
    move_clock(r, beat.later);
    add_keys(r, beat.keys);
    MUST(perhaps_advance(r->twin, r->told)); /* its clock is not read without an add */
    CHECK(perhaps_equal(r->f, r->twin) == 1, "the two differ");
    judge_keys(r);
    judge_rate(r, step);
    judge_memory(r, plan);
    judge_flood(r, beat.keys);
    if (step % 4 == 1) reopen(r);
}

static unsigned run_rhythm(enum rhythm rhythm, int kind, unsigned generations, size_t batch) {
    static struct run r;
    struct perhaps_plan plan = {.size = sizeof plan};
    perhaps_want want = PERHAPS_WANT(.kind = kind, .items = ITEMS, .fpr = kind == PERHAPS_TABLE ? 0 : rate,
                                     .generations = generations, .period = PERIOD);
    r = (struct run){.rhythm = rhythm, .kind = kind, .generations = generations, .batch = batch, .told = 1700000000};
    r.random = (uint64_t)rhythm * 1000 + generations * 10 + (unsigned)kind;
    r.now = r.told;
    MUST(perhaps_plan(&want, &plan));
    r.f = make(&want);
    r.twin = make(&want);
    MUST(perhaps_set_clock(r.twin, clock_of, &r));
    for (unsigned step = 0; step < STEPS; step++) one_step(&r, step, &plan);
    double most = rate * (double)r.queries;
    CHECK(!promised(&r) || (double)r.found <= most + 3 * sqrt(most), "%llu of %llu are found",
          (unsigned long long)r.found, (unsigned long long)r.queries);
    perhaps_free(r.f);
    perhaps_free(r.twin);
    return r.most_children;
}

static void every_rhythm_is_kept(void **state) {
    static const int kinds[] = {PERHAPS_BLOOM, PERHAPS_BLOCKED, PERHAPS_TABLE};
    static const unsigned generations[] = {2, 4, 8, 64};
    static const size_t batches[] = {1, 33, 5000};
    bool full = test_everything();
    (void)state;
    for (unsigned rhythm = 0; rhythm < RHYTHMS; rhythm++)
        for (unsigned k = 0; k < 3; k++)
            for (unsigned g = 0; g < 4; g++)
                for (unsigned b = 0; b < 3; b++) {
                    if (!full && ((rhythm + k + g) % 3 != b || (time_is_short() && (rhythm + g) % 3))) continue;
                    print_message("%s, kind %d, %u generations, batches of %zu\n", rhythm_names[rhythm], kinds[k],
                                  generations[g], batches[b]);
                    run_rhythm(rhythm, kinds[k], generations[g], batches[b]);
                }
}

/* ---- the burst ---- */

/* What a user sees: as many keys as it is for, in one moment. */
static void all_at_once_has_the_planned_rate(void **state) {
    enum { KEYS = 100000, QUERIES = 200000 };
    (void)state;
    for (int kind = PERHAPS_BLOOM; kind <= PERHAPS_BLOCKED; kind++) {
        perhaps *f = make(&PERHAPS_WANT(.kind = kind, .items = KEYS, .fpr = rate, .period = 600));
        MUST(perhaps_advance(f, 1700000000));
        add_members(f, 0, KEYS);
        expect_members(f, 0, KEYS);
        double seen = (double)count_false_positives(f, 0, QUERIES), most = rate * QUERIES;
        CHECK(seen <= most + 3 * sqrt(most), "%g of %d non-members are found", seen, QUERIES);
        perhaps_free(f);
    }
}

/* Single keys, each in a generation that time ends, then a burst: the most generations of all. */
static void the_worst_burst_takes_twice_the_generations_less_two(void **state) {
    (void)state;
    for (unsigned generations = 4; generations <= 8; generations *= 2) {
        perhaps *f = make(&PERHAPS_WANT(.kind = PERHAPS_BLOCKED, .items = ITEMS, .fpr = rate,
                                        .generations = generations, .period = PERIOD));
        uint64_t key = 0, one = (PERIOD - 1) / (generations - 1) + 1;
        for (unsigned i = 0; i + 1 < generations; i++) {
            MUST(perhaps_advance(f, 1000 + i * one));
            add_members(f, key++, 1);
        }
        MUST(perhaps_advance(f, 1000 + key * one));
        add_members(f, key, ITEMS - (key - 1)); /* the first is no longer younger than a period */
        CHECK(info_of(f).children == 2 * generations - 2, "%u generations", info_of(f).children);
        CHECK(!info_of(f).flooded, "flooded");
        MUST(perhaps_advance(f, 1000000));
        CHECK(info_of(f).children == generations && !info_of(f).items, "%u generations", info_of(f).children);
        perhaps_free(f);
    }
}

static uint64_t bytes_of_child(const perhaps *f, unsigned i) {
    struct perhaps_info info = {.size = sizeof info};
    MUST(perhaps_child_facts(f, i, &info));
    return info.bytes;
}

/* The table that grew in a flood stays large; those that later bursts append are not. */
static void a_flood_makes_one_table_large(void **state) {
    (void)state;
    perhaps *f = make(&PERHAPS_WANT(.kind = PERHAPS_TABLE, .items = ITEMS, .period = PERIOD));
    uint64_t planned = bytes_of_child(f, 0), now = 1000, keys = 0;
    MUST(perhaps_advance(f, now));
    add_members(f, keys, 20 * ITEMS);
    expect_members(f, 0, 20 * ITEMS);
    MUST(perhaps_advance(f, now += 2 * PERIOD));
    for (keys = 20 * ITEMS; keys < 20 * ITEMS + 3; keys++, now += PERIOD / 3 + 1) {
        MUST(perhaps_advance(f, now));
        add_members(f, keys, 1);
    }
    MUST(perhaps_advance(f, now));
    add_members(f, keys, ITEMS - 2);
    unsigned children = info_of(f).children, large = 0;
    for (unsigned i = 0; i < children; i++) large += bytes_of_child(f, i) > planned;
    CHECK(children == 6 && large == 1, "%u of %u tables are large", large, children);
    perhaps_free(f);
}

/* ---- without memory ---- */

static bool there_is_memory;

static void *allocate(void *context, size_t size) {
    (void)context;
    return there_is_memory ? calloc(1, size) : NULL;
}

static void release(void *context, void *memory, size_t size) {
    (void)context, (void)size;
    free(memory);
}

/* Without memory for more than its g generations it loses nothing, and recovers with memory. */
static void without_memory_nothing_is_lost(int kind) {
    perhaps_allocator allocator = {.allocate = allocate, .release = release};
    there_is_memory = true;
    perhaps *f =
        make(&PERHAPS_WANT(.kind = kind, .items = ITEMS, .fpr = rate, .period = PERIOD, .allocator = &allocator));
    uint64_t now = 1000, keys = 0, one = (PERIOD - 1) / 3 + 1;
    for (unsigned i = 0; i < 3; i++, now += one) {
        MUST(perhaps_advance(f, now));
        add_members(f, keys++, 1);
    }
    there_is_memory = false;
    for (uint64_t i = 0; i < ITEMS; i++) CHECK(MUST(perhaps_add_u64(f, member(keys++))) >= 0, "refused");
    CHECK(info_of(f).children == 4, "%u generations", info_of(f).children);
    expect_members(f, 0, keys);
    for (uint64_t until = now - one + PERIOD; now < until; now += one / 2) {
        MUST(perhaps_advance(f, now));
        expect_members(f, 3, ITEMS);
        add_members(f, keys++, 1);
    }
    there_is_memory = true;
    MUST(perhaps_advance(f, now += 2 * PERIOD));
    CHECK(info_of(f).items == 0, "%llu keys are left", (unsigned long long)info_of(f).items);
    add_members(f, keys, ITEMS);
    expect_members(f, keys, ITEMS);
    CHECK(!info_of(f).flooded, "flooded");
    perhaps_free(f);
}

static void a_burst_without_memory(void **state) {
    (void)state;
    without_memory_nothing_is_lost(PERHAPS_BLOOM);
    without_memory_nothing_is_lost(PERHAPS_BLOCKED);
}

/* ---- without a time ---- */

/* An opened filter that is not told the time takes keys, as old as the next time it is told. */
static void take_keys_before_the_time_is_told(uint64_t later) {
    perhaps *f = make(&PERHAPS_WANT(.kind = PERHAPS_TABLE, .items = ITEMS, .period = PERIOD)), *opened = NULL;
    MUST(perhaps_advance(f, 5000));
    add_members(f, 0, 10);
    struct bytes image = image_of(f);
    MUST(perhaps_open_memory(&opened, image.data, image.length, &PERHAPS_OPEN(.flags = PERHAPS_OPEN_COPY)));
    free(image.data);
    add_members(opened, 10, ITEMS - 10);
    uint64_t told = 5000 + later;
    MUST(perhaps_advance(opened, told));
    expect_members(opened, later < PERIOD ? 0 : 10, later < PERIOD ? ITEMS : ITEMS - 10);
    MUST(perhaps_advance(opened, told + PERIOD - 1));
    expect_members(opened, 10, ITEMS - 10);
    CHECK(info_of(opened).children <= 6 && !info_of(opened).flooded, "%u generations", info_of(opened).children);
    MUST(perhaps_advance(opened, told + PERIOD + PERIOD / 3 + 1));
    CHECK(info_of(opened).items == 0, "%llu keys are left", (unsigned long long)info_of(opened).items);
    perhaps_free(f);
    perhaps_free(opened);
}

static void keys_before_the_time_is_told_again(void **state) {
    (void)state;
    take_keys_before_the_time_is_told(0);
    take_keys_before_the_time_is_told(PERIOD - 1);
    take_keys_before_the_time_is_told(100 * PERIOD);
}

/* ---- whole filters ---- */

static void a_window_that_is_cleared_or_copied_in_a_burst(void **state) {
    (void)state;
    perhaps_want want = PERHAPS_WANT(.kind = PERHAPS_BLOCKED, .items = ITEMS, .fpr = rate, .period = PERIOD);
    perhaps *f = make(&want), *fresh = make(&want), *shaped = NULL, *copy = NULL;
    uint8_t shape[4096];
    for (unsigned i = 0; i < 3; i++) {
        MUST(perhaps_advance(f, 1000 + 334 * i));
        add_members(f, i, 1);
    }
    add_members(f, 3, ITEMS - 3);
    CHECK(info_of(f).children > 4, "no burst");
    MUST(perhaps_clone(f, &copy));
    add_members(copy, ITEMS, 300);
    add_members(f, ITEMS, 300);
    CHECK(perhaps_equal(f, copy) == 1, "a copy goes on otherwise");
    int64_t length = MUST(perhaps_shape(f, shape, sizeof shape));
    MUST(perhaps_create_shape(&shaped, shape, (size_t)length, NULL));
    MUST(perhaps_clear(f));
    CHECK(info_of(f).children == 4 && info_of(f).items == 0, "%u generations", info_of(f).children);
    perhaps *all[] = {f, fresh, shaped};
    for (int i = 0; i < 3; i++) {
        MUST(perhaps_advance(all[i], 5000));
        add_members(all[i], 0, ITEMS);
        CHECK(info_of(all[i]).children == 4, "%u generations", info_of(all[i]).children);
        expect_members(all[i], 0, ITEMS);
        CHECK(perhaps_advance(all[i], 5000 + PERIOD) == 2, "two of three have had their period");
        perhaps_free(all[i]);
    }
    perhaps_free(copy);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_rhythm_is_kept),
        cmocka_unit_test(all_at_once_has_the_planned_rate),
        cmocka_unit_test(the_worst_burst_takes_twice_the_generations_less_two),
        cmocka_unit_test(a_flood_makes_one_table_large),
        cmocka_unit_test(a_burst_without_memory),
        cmocka_unit_test(keys_before_the_time_is_told_again),
        cmocka_unit_test(a_window_that_is_cleared_or_copied_in_a_burst),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
