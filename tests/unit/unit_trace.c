/* The trace of an add tells every change that the add makes to the array: the steps, applied to a
 * copy, give the same bytes. */
#include "chosen.h"
#include "support.h"

#include <perhaps_trace.h>

#include "base/bits.h"
#include "core/children.h"
#include "foreign.h"
#include "kind/counting/counting_cells.h"
#include "kind/cuckoo/cuckoo_layout.h"
#include "foreign/redis_cuckoo/redis_cuckoo_layout.h"

#include <stdlib.h>
#include <string.h>

enum { MANY = 16384 };
static perhaps_step steps[MANY];

/* What adds were seen to do. */
struct seen {
    uint64_t paths, longest, stashed, twins, grown, full;
};

/* Writes to a slot of a kind that has slots. */
static void set_slot(const perhaps *f, uint8_t *bytes, uint64_t slot, uint64_t value) {
    if (f->kind == &kind_cuckoo)
        slot_set(bytes, slot, width_of(&f->array), value);
    else if (f->kind == &kind_table)
        store64(bytes + 8 * slot, value);
    else
        bytes[slot] = (uint8_t)value;
}

static bool is_named(const perhaps_step *step, const char *name) {
    return strcmp(step->name, name) == 0;
}

/* Applies the steps, which are those of one array. What a slot had must be what the step says. */
static void apply(const perhaps *f, int64_t n, uint8_t *bytes) {
    for (int64_t i = 0; i < n; i++) {
        const perhaps_step *step = &steps[i];
        if (step->step == PERHAPS_STEP_POSITION && is_named(step, "bit") && !step->holds)
            bytes[step->index / 8] |= (uint8_t)(1 << step->index % 8);
        if (step->step == PERHAPS_STEP_POSITION && is_named(step, "counter")) counter_up(bytes, step->index);
        if (step->step == PERHAPS_STEP_STORE) set_slot(f, bytes, step->index, step->wanted);
        if (step->step == PERHAPS_STEP_MOVE) set_slot(f, bytes, step->to, step->wanted);
    }
}

static uint64_t count_steps(int64_t n, int kind) {
    uint64_t count = 0;
    for (int64_t i = 0; i < n; i++) count += steps[i].step == kind;
    return count;
}

/* Bytes of the array that an add of a traced key may change without a step of their own. */
static void forgive(const perhaps *f, bool stashed, uint8_t *bytes) {
    uint64_t from = f->array.length;
    if (f->kind == &kind_redis_cuckoo) from -= REDIS_CUCKOO_TAIL_BYTES;
    if (f->kind == &kind_cuckoo && stashed) from -= stash_length(f->array.layout[CUCKOO_STASH]);
    if (f->kind == &kind_table && stashed) from -= 8 * f->array.layout[1];
    memcpy(bytes + from, f->array.bytes + from, (size_t)(f->array.length - from));
}

static void expect_changes(perhaps *f, uint64_t key, struct seen *seen) {
    uint64_t length = f->array.length;
    uint8_t *before = malloc((size_t)length), *predicted = malloc((size_t)length);
    CHECK(before && predicted, "no memory");
    memcpy(before, f->array.bytes, (size_t)length);
    memcpy(predicted, f->array.bytes, (size_t)length);
    int64_t n = MUST(perhaps_trace(f, PERHAPS_VERB_ADD, &PERHAPS_KEYS_U64(&key, 0, 1), steps, MANY));
    CHECK(n <= MANY, "%lld steps", (long long)n);
    CHECK(memcmp(before, f->array.bytes, (size_t)length) == 0, "a trace has changed the array");
    uint64_t moves = count_steps(n, PERHAPS_STEP_MOVE), stash = count_steps(n, PERHAPS_STEP_STASH);
    bool room = count_steps(n, PERHAPS_STEP_ROOM);
    int answer = perhaps_add_u64(f, key);
    CHECK((int64_t)steps[n - 1].value == answer, "an add answers %d, its trace %lld", answer,
          (long long)steps[n - 1].value);
    if (!room) {
        apply(f, answer > 0 ? n : 0, predicted);
        forgive(f, stash, predicted);
        for (uint64_t i = 0; i < length; i++)
            CHECK(predicted[i] == f->array.bytes[i], "byte %llu of %llu is %u and not %u", (unsigned long long)i,
                  (unsigned long long)length, f->array.bytes[i], predicted[i]);
    }
    seen->paths += moves > 0;
    if (moves > seen->longest) seen->longest = moves;
    seen->stashed += stash && answer == 1;
    seen->twins += stash && count_steps(n, PERHAPS_STEP_STORE);
    seen->grown += room;
    seen->full += answer == PERHAPS_EFULL;
    free(predicted);
    free(before);
}

static void an_add_changes_what_its_trace_says(const struct layout *layout) {
    perhaps *f = make(&layout->want);
    struct seen seen = {0};
    for (uint64_t i = 0; i < 3 * layout->items / 2; i++) expect_changes(f, member_of(f, i * 7 / 8), &seen);
    perhaps_free(f);
}

/* Nearly full filters, until they are: with paths of many moves, and the stash. */
static void evictions_are_told_move_by_move(void **state) {
    static const unsigned places[] = {4, 5, 6, 8};
    (void)state;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        struct seen seen = {0};
        name_subject("cuckoo with %u places", places[i]);
        perhaps *f = make(&PERHAPS_WANT(.kind = PERHAPS_CUCKOO, .items = 1000, .fpr = 0.001, .hashes = places[i],
                                        .grow = PERHAPS_GROW_NEVER));
        for (uint64_t k = 0; seen.full < 5; k++) expect_changes(f, member(k), &seen);
        CHECK(seen.paths > 50 && seen.longest > 2 && seen.stashed > 0, "%llu paths, the longest %llu, %llu stashed",
              (unsigned long long)seen.paths, (unsigned long long)seen.longest, (unsigned long long)seen.stashed);
        perhaps_free(f);
    }
    struct seen seen = {0};
    name_subject("table");
    perhaps *f = make(&PERHAPS_WANT(.kind = PERHAPS_TABLE, .items = 3000, .grow = PERHAPS_GROW_NEVER));
    for (uint64_t k = 0; seen.full < 5; k++) expect_changes(f, member(k), &seen);
    CHECK(seen.paths > 20 && seen.longest > 1, "%llu paths, the longest %llu", (unsigned long long)seen.paths,
          (unsigned long long)seen.longest);
    perhaps_free(f);
}

/* Copies of few keys crowd out others: their twins go to the stash, and the stash counts. */
static void copies_and_twins_are_told(void **state) {
    (void)state;
    name_subject("copies");
    struct seen seen = {0};
    perhaps *f = make(&PERHAPS_WANT(.kind = PERHAPS_CUCKOO, .items = 1000, .fpr = 0.001));
    for (uint64_t k = 0; k < 1500 && !seen.full; k++) expect_changes(f, member(k / 4), &seen);
    for (uint64_t k = 0; k < 200; k++) expect_changes(f, member(k % 3), &seen);
    CHECK(seen.stashed > 50 && seen.twins, "%llu stashed, %llu of them twins", (unsigned long long)seen.stashed,
          (unsigned long long)seen.twins);
    perhaps_free(f);
}

/* The digest 0, and digests that share both buckets and so fill a stash. */
static void odd_digests_of_a_table_are_told(void **state) {
    (void)state;
    name_subject("table");
    perhaps *f = make(&PERHAPS_WANT(.kind = PERHAPS_TABLE, .items = 1000));
    const uint64_t last = chosen_shared(99);
    for (uint64_t i = 0; i < 100; i++) {
        uint64_t digest = i < 2 ? 0 : chosen_shared(i);
        perhaps_keys one = PERHAPS_KEYS_DIGEST(&digest, 1);
        int64_t n = MUST(perhaps_trace(f, PERHAPS_VERB_ADD, &one, steps, MANY));
        int64_t answer = MUST(perhaps_add_digest(f, digest));
        CHECK((int64_t)steps[n - 1].value == answer, "digest %llu: %lld", (unsigned long long)i, (long long)answer);
        for (uint64_t other = digest; other <= digest + 1; other++) {
            one = PERHAPS_KEYS_DIGEST(&other, 1);
            n = MUST(perhaps_trace(f, PERHAPS_VERB_QUERY, &one, steps, MANY));
            CHECK((int64_t)steps[n - 1].value == perhaps_contains_digest(f, other), "a query");
        }
    }
    CHECK(count_steps(MUST(perhaps_trace(f, PERHAPS_VERB_QUERY, &PERHAPS_KEYS_DIGEST(&last, 1), steps, MANY)),
                      PERHAPS_STEP_STASH) == 1,
          "the table has no stash");
    perhaps_free(f);
}

/* Filters that RedisBloom keeps, alone and in layers. */
static void foreign_filters_are_told(void **state) {
    struct seen seen = {0};
    (void)state;
    for (unsigned sort = 0; sort < SORTS; sort++) {
        perhaps_want want = sort_of_filter(sort);
        perhaps *f = make(&want);
        name_subject("foreign sort %u", sort);
        for (uint64_t k = 0; k < 600 && seen.full < 5; k++) {
            uint64_t key = member(k * 3 / 4);
            if (!f->children) {
                expect_changes(f, key, &seen);
                continue;
            }
            int64_t n = MUST(perhaps_trace(f, PERHAPS_VERB_ADD, &PERHAPS_KEYS_U64(&key, 0, 1), steps, MANY));
            CHECK((int64_t)steps[n - 1].value == perhaps_add_u64(f, key), "key %llu", (unsigned long long)k);
        }
        seen.full = 0;
        perhaps_free(f);
    }
    CHECK(seen.longest > 3 && seen.grown > 3, "the longest path has %llu moves, and %llu grew",
          (unsigned long long)seen.longest, (unsigned long long)seen.grown);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        FOR_EACH_LAYOUT(an_add_changes_what_its_trace_says, 1000),
        FOR_EACH_FILE(an_add_changes_what_its_trace_says, 1000),
        cmocka_unit_test(evictions_are_told_move_by_move),
        cmocka_unit_test(copies_and_twins_are_told),
        cmocka_unit_test(odd_digests_of_a_table_are_told),
        cmocka_unit_test(foreign_filters_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
