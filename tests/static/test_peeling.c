/* The trace of sealing says what sealing does: the order in which keys are peeled, and what each
 * slot becomes. */
#include "pool.h"
#include "support.h"

#include <perhaps_trace.h>

#include <stdlib.h>
#include <string.h>

enum { MOST_KEYS = 65536, STEPS = 2 * MOST_KEYS + 1, PLACES = 4 };
static const char *const sets[] = {"scalar", "avx2", "avx512", "neon"};
enum { SETS = sizeof sets / sizeof *sets };

static perhaps_step steps[STEPS], again[STEPS];
static uint64_t cells[4 * MOST_KEYS], stored[4 * MOST_KEYS];

static int64_t trace_seal(const perhaps *f, perhaps_step *to) {
    return perhaps_trace(f, PERHAPS_VERB_SEAL, NULL, to, STEPS);
}

/* Some can; the others say that they cannot. */
static bool can_tell(const perhaps *f) {
    int64_t rc = trace_seal(f, steps);
    if (rc >= 0) return true;
    CHECK(rc == PERHAPS_ECANNOT && strstr(perhaps_why(), "ribbon"), "%lld: %s", (long long)rc, perhaps_why());
    return false;
}

/* Each third key comes twice. */
static void add_some_twice(perhaps *f, uint64_t n) {
    add_members(f, 0, n);
    for (uint64_t i = 0; i < n; i += 3) MUST(perhaps_add_u64(f, member(i)));
}

static perhaps *collect(const perhaps_want *want, uint64_t n) {
    perhaps *f = make(want);
    add_some_twice(f, n);
    return f;
}

/* ---- what the real thing says ---- */

/* The slots that a query for a digest looks at. */
static unsigned slots_of(const perhaps *f, uint64_t digest, uint64_t slots[PLACES]) {
    perhaps_step query[16];
    unsigned n = 0;
    int64_t count = MUST(perhaps_trace(f, PERHAPS_VERB_QUERY, &PERHAPS_KEYS_DIGEST(&digest, 1), query, 16));
    for (int64_t i = 0; i < count; i++)
        if (query[i].step == PERHAPS_STEP_SLOT && strcmp(query[i].name, "slot") == 0 && n < PLACES)
            slots[n++] = query[i].index;
    return n;
}

static int by_value(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void every_key_once(const perhaps *f, uint64_t n) {
    uint64_t *peeled = malloc((n + 1) * 8), *added = malloc((n + 1) * 8);
    CHECK(peeled && added, "no memory");
    for (uint64_t i = 0; i < n; i++) {
        CHECK(steps[i].step == PERHAPS_STEP_PEEL, "step %llu is no key", (unsigned long long)i);
        peeled[i] = steps[i].value;
        added[i] = perhaps_digest_u64(perhaps_hasher_of(f), member(i));
    }
    qsort(peeled, n, 8, by_value);
    qsort(added, n, 8, by_value);
    CHECK(memcmp(peeled, added, n * 8) == 0, "the keys that are peeled are not those that were added");
    free(peeled);
    free(added);
}

/* From the last key to the first, slots are marked: the slot by which a key leaves has none of the
 * keys behind it. */
static void each_is_alone(const perhaps *f, uint64_t n) {
    memset(stored, 0, sizeof stored);
    for (uint64_t i = n; i-- > 0;) {
        uint64_t slots[PLACES];
        unsigned places = slots_of(f, steps[i].value, slots), own = 0;
        CHECK(!stored[steps[i].index], "slot %llu has a key that is peeled later", (unsigned long long)steps[i].index);
        for (unsigned j = 0; j < places; j++) {
            own += slots[j] == steps[i].index;
            stored[slots[j]] = 1;
        }
        CHECK(places >= 3 && own == 1, "a key of %u slots leaves by one that it has %u times", places, own);
    }
}

static void the_stores_make_the_cells(const perhaps *f, uint64_t n) {
    const char *name;
    int64_t count = MUST(perhaps_cells(f, -1, 0, cells, sizeof cells / 8, &name));
    CHECK((size_t)count <= sizeof cells / 8 && strcmp(name, "slot") == 0, "%lld cells", (long long)count);
    memset(stored, 0, sizeof stored);
    for (uint64_t i = 0; i < n; i++) {
        const perhaps_step *store = &steps[n + i], *key = &steps[n - 1 - i];
        uint64_t slots[PLACES], sum = 0;
        CHECK(store->step == PERHAPS_STEP_STORE && store->index == key->index, "store %llu", (unsigned long long)i);
        CHECK(store->value == stored[store->index], "a slot is set twice");
        stored[store->index] = store->wanted;
        unsigned places = slots_of(f, key->value, slots);
        for (unsigned j = 0; j < places; j++) sum ^= stored[slots[j]];
        CHECK(sum == key->wanted, "the slots of a key are %llx, its fingerprint is %llx", (unsigned long long)sum,
              (unsigned long long)key->wanted);
    }
    CHECK(memcmp(stored, cells, (size_t)count * 8) == 0, "the stores do not make the array");
}

static void sealing_does_what_the_trace_says(const struct layout *layout) {
    static const uint64_t counts[] = {0, 1, 2, 3, 10, 37, 100, 1000, 3000};
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
        uint64_t n = counts[c];
        perhaps *f = collect(&layout->want, n);
        int64_t count = can_tell(f) ? trace_seal(f, steps) : -1;
        if (count >= 0) {
            const perhaps_step *answer = &steps[count - 1];
            CHECK(count == 2 * (int64_t)n + 1, "%lld steps for %llu keys", (long long)count, (unsigned long long)n);
            CHECK(answer->step == PERHAPS_STEP_ANSWER && answer->value == PERHAPS_OK && !answer->holds &&
                      strlen(answer->why) > 8,
                  "no answer");
            CHECK(info_of(f).collecting, "the trace has sealed the filter");
            seal(f);
            every_key_once(f, n);
            each_is_alone(f, n);
            the_stores_make_the_cells(f, n);
        }
        perhaps_free(f);
    }
}

/* ---- other ways ---- */

static bool is_same(const perhaps_step *a, const perhaps_step *b) {
    return a->step == b->step && a->holds == b->holds && a->index == b->index && a->value == b->value &&
           a->wanted == b->wanted;
}

static void expect_same(int64_t n, int64_t other) {
    CHECK(n == other, "%lld steps, and then %lld", (long long)n, (long long)other);
    for (int64_t i = 0; i < n; i++) CHECK(is_same(&steps[i], &again[i]), "step %lld differs", (long long)i);
}

static void every_instruction_set_says_the_same(const struct layout *layout) {
    perhaps *f = collect(&layout->want, 2500);
    for (size_t i = 0; can_tell(f) && i < SETS; i++) {
        perhaps *other = NULL;
        setenv("PERHAPS_ISA", sets[i], 1);
        bool has = perhaps_create(&other, &layout->want) == PERHAPS_OK;
        unsetenv("PERHAPS_ISA");
        if (has) {
            add_some_twice(other, 2500);
            expect_same(trace_seal(f, steps), trace_seal(other, again));
        }
        CHECK(has || strcmp(sets[i], "scalar") != 0, "no scalar operations: %s", perhaps_why());
        perhaps_free(other);
    }
    perhaps_free(f);
}

/* Where keys wait makes no difference: in front of the bins, in them, or both. */
static void the_way_they_came_is_all_one(const struct layout *layout) {
    uint64_t *keys = malloc(20000 * 8);
    CHECK(keys, "no memory");
    for (uint64_t i = 0; i < 20000; i++) keys[i] = member(19999 - i);
    perhaps *f = make(&layout->want), *other = make(&layout->want);
    add_members(f, 0, 20010);
    MUST(perhaps_add_many(other, &PERHAPS_KEYS_U64(keys, 0, 20000), NULL));
    add_members(other, 20000, 10);
    if (can_tell(f)) expect_same(trace_seal(f, steps), trace_seal(other, again));
    perhaps_free(f);
    perhaps_free(other);
    free(keys);
}

static void up_to_65536_keys(const struct layout *layout) {
    perhaps *f = make(&layout->want);
    add_members(f, 0, MOST_KEYS);
    if (can_tell(f)) {
        CHECK(trace_seal(f, steps) == STEPS, "steps of %d keys", MOST_KEYS);
        MUST(perhaps_add_u64(f, member(0)));
        REFUSED(PERHAPS_ERANGE, trace_seal(f, steps));
        CHECK(strstr(perhaps_why(), "65536 keys"), "%s", perhaps_why());
        trace_seal(f, steps);
    }
    perhaps_free(f);
}

static void arguments_are_checked(const struct layout *layout) {
    uint64_t key = 1;
    perhaps *f = collect(&layout->want, 10);
    REFUSED(PERHAPS_EINVAL, perhaps_trace(f, PERHAPS_VERB_SEAL, &PERHAPS_KEYS_U64(&key, 0, 1), steps, STEPS));
    REFUSED(PERHAPS_EINVAL, perhaps_trace(f, PERHAPS_VERB_SEAL, NULL, NULL, 1));
    REFUSED(PERHAPS_EINVAL, perhaps_trace(f, 4, NULL, steps, STEPS));
    REFUSED(PERHAPS_EUNSEALED, perhaps_trace(f, PERHAPS_VERB_QUERY, &PERHAPS_KEYS_U64(&key, 0, 1), steps, STEPS));
    for (size_t room = 0; can_tell(f) && room < 21; room++) {
        again[room].step = -1;
        CHECK(perhaps_trace(f, PERHAPS_VERB_SEAL, NULL, again, room) == 21, "steps with room for %zu", room);
        CHECK(again[room].step == -1, "a step beyond the room for %zu", room);
        for (size_t i = 0; i < room; i++) CHECK(is_same(&steps[i], &again[i]), "step %zu", i);
    }
    seal(f);
    CHECK(trace_seal(f, steps) == 1 && steps[0].step == PERHAPS_STEP_ANSWER && steps[0].value == PERHAPS_OK &&
              strstr(steps[0].why, "nothing to seal"),
          "a sealed filter is sealed again");
    perhaps_free(f);
}

static void others_have_nothing_to_seal(const struct layout *layout) {
    perhaps *f = make(&layout->want);
    CHECK(trace_seal(f, steps) == 1 && strstr(steps[0].why, "nothing to seal"), "%s is sealed", layout->name);
    perhaps_free(f);
}

/* ---- memory ---- */

static void a_failed_allocation_is_an_error(const struct layout *layout) {
    struct pool pool = {0};
    perhaps_allocator allocator = pool_allocator(&pool);
    perhaps_want want = layout->want;
    want.allocator = &allocator;
    perhaps *f = collect(&want, 500), *straight = collect(&layout->want, 500);
    int64_t blocks = pool.blocks, n = PERHAPS_ENOMEM;
    unsigned failures = 0;
    bool tells = can_tell(f);
    for (uint64_t fail = 1; tells && n < 0; fail++, failures += n < 0) {
        pool.calls = 0;
        pool.fail_at = fail;
        n = trace_seal(f, steps);
        pool.fail_at = 0;
        CHECK(n == PERHAPS_ENOMEM || n == 1001, "%lld: %s", (long long)n, perhaps_why());
        CHECK(pool.blocks == blocks, "%lld blocks were not given back", (long long)(pool.blocks - blocks));
    }
    CHECK(!tells || failures >= 2, "memory failed %u times", failures);
    seal(f);
    seal(straight);
    CHECK(perhaps_equal(f, straight) == 1, "a trace has changed the filter");
    perhaps_free(f);
    perhaps_free(straight);
    CHECK(pool.blocks == 0, "%lld blocks were not given back", (long long)pool.blocks);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        FOR_EACH_STATIC(sealing_does_what_the_trace_says, 1000),
        FOR_EACH_STATIC(every_instruction_set_says_the_same, 2500),
        FOR_EACH_STATIC(the_way_they_came_is_all_one, 20000),
        FOR_EACH_STATIC_KIND(up_to_65536_keys, MOST_KEYS),
        FOR_EACH_STATIC_KIND(arguments_are_checked, 1000),
        FOR_EACH_KIND(others_have_nothing_to_seal, 100),
        FOR_EACH_STATIC(a_failed_allocation_is_an_error, 500),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
