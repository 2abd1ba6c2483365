/* perhaps_trace says what a query or an add does: the same answer, with steps that speak for it,
 * and nothing changes. */
#include "support.h"

#include <perhaps_trace.h>

#include <stdlib.h>
#include <string.h>

enum { MANY = 8192, DEPTHS = 3 };
static perhaps_step steps[MANY];

static int64_t trace_u64(const perhaps *f, int verb, uint64_t key) {
    int64_t n = MUST(perhaps_trace(f, verb, &PERHAPS_KEYS_U64(&key, 0, 1), steps, MANY));
    CHECK(n >= 2 && n <= MANY, "a trace of %lld steps", (long long)n);
    return n;
}

/* What the trace says that the call answers. */
static int64_t traced_answer(int64_t n) {
    return (int64_t)steps[n - 1].value;
}

/* What the steps of one filter amount to: of the whole filter and of children, by depth. */
struct evidence {
    bool children, slots, any_child, any_slot, all;
};

static void expect_answer_follows(const perhaps_step *answer, const struct evidence *seen) {
    bool follows = seen->children ? seen->any_child : seen->slots ? seen->any_slot : seen->all;
    CHECK(answer->holds == (int)follows, "at depth %u the steps say %d, the answer %d", answer->depth, follows,
          answer->holds);
    CHECK(answer->why && strlen(answer->why) > 8, "an answer without a reason");
}

static void expect_sense(int64_t n, bool query) {
    struct evidence seen[DEPTHS];
    for (unsigned i = 0; i < DEPTHS; i++) seen[i] = (struct evidence){.all = true};
    CHECK(steps[0].step == PERHAPS_STEP_DIGEST, "the first step is no digest but %d", steps[0].step);
    for (int64_t i = 0; i < n; i++) {
        const perhaps_step *step = &steps[i];
        CHECK(step->depth < DEPTHS && step->name && step->name[0], "step %lld has no name or depth", (long long)i);
        CHECK((step->step == PERHAPS_STEP_ANSWER) == (step->why != NULL), "step %lld: why", (long long)i);
        struct evidence *here = &seen[step->depth];
        bool slot = step->step == PERHAPS_STEP_SLOT || step->step == PERHAPS_STEP_STASH;
        here->children |= step->step == PERHAPS_STEP_CHILD;
        here->any_child |= step->step == PERHAPS_STEP_CHILD && step->holds;
        here->slots |= slot;
        here->any_slot |= slot && step->holds;
        here->all &= step->step != PERHAPS_STEP_POSITION || step->holds;
        if (step->step != PERHAPS_STEP_ANSWER) continue;
        if (query) expect_answer_follows(step, here);
        *here = (struct evidence){.all = true};
        CHECK((step->depth == 0) == (i == n - 1), "the answer of the filter is step %lld of %lld", (long long)i,
              (long long)n);
    }
    CHECK(steps[n - 1].step == PERHAPS_STEP_ANSWER, "the last step is no answer but %d", steps[n - 1].step);
}

static void expect_query(const perhaps *f, uint64_t key) {
    int64_t n = trace_u64(f, PERHAPS_VERB_QUERY, key);
    int answer = perhaps_contains_u64(f, key);
    CHECK(traced_answer(n) == answer, "a query answers %d, its trace %lld", answer, (long long)traced_answer(n));
    expect_sense(n, true);
}

/* Traces an add, then adds: 1, 0, or PERHAPS_EFULL. */
static int64_t expect_add(perhaps *f, uint64_t key) {
    int64_t n = trace_u64(f, PERHAPS_VERB_ADD, key), traced = traced_answer(n);
    expect_sense(n, false);
    int answer = perhaps_add_u64(f, key);
    CHECK(traced == answer, "an add answers %d (%s), its trace %lld: %s", answer, perhaps_why(), (long long)traced,
          steps[n - 1].why);
    return answer;
}

static void a_query_is_explained(const struct layout *layout) {
    perhaps *f = make_with_members(layout, layout->items);
    struct bytes before = image_of(f);
    for (uint64_t i = 0; i < 300; i++) {
        expect_query(f, member_of(f, layout->items - 1 - i));
        expect_query(f, non_member_of(f, i));
    }
    if (!is_static(layout))
        for (uint64_t i = 0; i < 300; i++) trace_u64(f, PERHAPS_VERB_ADD, non_member_of(f, i));
    expect_unchanged(f, before);
    free(before.data);
    perhaps_free(f);
}

/* Twice as many keys as it is for, each of the last ones twice: it grows, forgets, or is full. */
static void an_add_is_foreseen(const struct layout *layout) {
    perhaps *f = make(&layout->want);
    for (uint64_t i = 0; i < 2 * layout->items; i++) {
        expect_add(f, member_of(f, i));
        if (i % 3 == 0) expect_add(f, member_of(f, i / 2));
    }
    perhaps_free(f);
}

static void a_full_filter_is_foreseen(const struct layout *layout) {
    perhaps *f = make_limited(layout);
    uint64_t refused = 0;
    for (uint64_t i = 0; refused < 20 && i < 6 * layout->items; i++)
        refused += expect_add(f, member_of(f, i)) == PERHAPS_EFULL;
    perhaps_free(f);
}

/* An integer beyond a bitmap has no cell, and its step says 0. */
static uint64_t cell_of(const perhaps *f, int child, uint64_t i, const char **name) {
    uint64_t value = 0;
    int64_t cells = MUST(perhaps_cells(f, child, i, &value, 1, name));
    bool beyond = info_of(f).kind == PERHAPS_BITMAP || info_of(f).base == PERHAPS_BITMAP;
    CHECK((uint64_t)cells > i || beyond, "cell %llu of %lld", (unsigned long long)i, (long long)cells);
    return value;
}

/* Every bit, counter and slot that a trace names is the cell of that number. How many were
 * compared. */
static uint64_t compare_cells(const perhaps *f, int64_t n) {
    int child = -1;
    uint64_t compared = 0;
    for (int64_t i = 0; i < n; i++) {
        const char *name;
        if (steps[i].step == PERHAPS_STEP_CHILD) child = steps[i].depth == 0 ? (int)steps[i].index : child;
        bool cell = steps[i].step == PERHAPS_STEP_POSITION || steps[i].step == PERHAPS_STEP_SLOT;
        if (!cell || perhaps_cells(f, child, 0, NULL, 0, &name) < 0 || strcmp(steps[i].name, name) != 0) continue;
        uint64_t value = cell_of(f, child, steps[i].index, &name);
        CHECK(value == steps[i].value, "%s %llu is %llu, its step says %llu", name, (unsigned long long)steps[i].index,
              (unsigned long long)value, (unsigned long long)steps[i].value);
        compared++;
    }
    return compared;
}

/* Random bytes in the last part of the image: traces and calls still agree where it can be
 * opened. */
static void damaged_arrays_are_safe(const struct layout *layout) {
    perhaps *f = make_with_members(layout, layout->items);
    struct bytes image = image_of(f);
    uint64_t random = 7, opened = 0;
    for (unsigned round = 0; round < 8; round++) {
        struct bytes damaged = copy_bytes(image);
        size_t last = (size_t)info_of(f).bytes;
        if (is_composite(layout)) last = image.length / 64; /* of the last child */
        if (is_static(layout)) last = image.length / 4;     /* not the directory */
        for (size_t i = image.length - last; i < image.length; i++)
            if (round < 4 || i % 8 == 0) damaged.data[i] = (uint8_t)next_random(&random);
        perhaps *hostile = NULL;
        perhaps_open_options options = PERHAPS_OPEN(.flags = PERHAPS_OPEN_NO_VERIFY | PERHAPS_OPEN_COPY);
        if (perhaps_open_memory(&hostile, damaged.data, damaged.length, &options) >= 0) {
            opened++;
            for (uint64_t i = 0; i < 50; i++) {
                uint64_t key = i % 2 ? member_of(f, i) : non_member_of(f, i);
                int64_t n = trace_u64(hostile, PERHAPS_VERB_QUERY, key), found = traced_answer(n);
                CHECK(found == perhaps_contains_u64(hostile, key), "a query of a damaged filter");
                compare_cells(hostile, n);
                if (!is_static(layout)) trace_u64(hostile, PERHAPS_VERB_ADD, key);
            }
        }
        perhaps_free(hostile);
        free(damaged.data);
    }
    CHECK(opened, "no damaged image was opened");
    free(image.data);
    perhaps_free(f);
}

/* ---- cells ---- */

static void cells_are_those_of_the_steps(const struct layout *layout) {
    perhaps *f = make_with_members(layout, layout->items);
    struct perhaps_info info = info_of(f);
    uint64_t compared = 0;
    for (uint64_t i = 0; i < 100; i++) {
        compared += compare_cells(f, trace_u64(f, PERHAPS_VERB_QUERY, member_of(f, i)));
        compared += compare_cells(f, trace_u64(f, PERHAPS_VERB_QUERY, non_member_of(f, i)));
    }
    bool columns = info.kind == PERHAPS_RIBBON || info.base == PERHAPS_RIBBON;
    bool nested = is_composite(layout) && perhaps_cells(f, 0, 0, NULL, 0, NULL) == PERHAPS_ECANNOT;
    CHECK(compared > 0 || columns || nested, "no cell was compared");
    perhaps_free(f);
}

/* All cells together are what single calls give, and the array's bits where they are bits. */
static void cells_come_in_pieces(void **state) {
    (void)state;
    name_subject("cells");
    perhaps *f = make(&PERHAPS_WANT(.kind = PERHAPS_BLOOM, .items = 2, .bits_per_key = 8, .hashes = 6));
    uint64_t all[17], some[3], extra = 7;
    const char *name = NULL;
    MUST(perhaps_add(f, "apple", 5));
    all[16] = extra;
    CHECK(perhaps_cells(f, -1, 0, all, 17, &name) == 16 && strcmp(name, "bit") == 0, "16 bits");
    CHECK(all[16] == extra, "a cell beyond the last");
    uint64_t ones = 0;
    for (unsigned i = 0; i < 16; i++) ones += all[i];
    CHECK(ones >= 2 && ones <= 6, "%llu bits are set", (unsigned long long)ones);
    for (unsigned i = 0; i + 3 <= 16; i++) {
        CHECK(perhaps_cells(f, -1, i, some, 3, NULL) == 16, "in pieces");
        CHECK(memcmp(some, all + i, sizeof some) == 0, "cells from %u on", i);
    }
    CHECK(perhaps_cells(f, -1, 100, some, 3, NULL) == 16, "beyond the end");
    REFUSED(PERHAPS_ERANGE, perhaps_cells(f, 0, 0, some, 3, NULL));
    REFUSED(PERHAPS_EINVAL, perhaps_cells(f, -1, 0, NULL, 3, NULL));
    perhaps_free(f);
    f = make(&PERHAPS_WANT(.kind = PERHAPS_BLOOM, .items = 10, .fpr = 0.1, .grow = PERHAPS_GROW_LAYERS));
    REFUSED(PERHAPS_ECANNOT, perhaps_cells(f, -1, 0, some, 3, NULL));
    REFUSED(PERHAPS_ERANGE, perhaps_cells(f, 1, 0, some, 3, NULL));
    MUST(perhaps_cells(f, 0, 0, some, 3, NULL));
    perhaps_free(f);
    f = make(&PERHAPS_WANT(.kind = PERHAPS_FUSE, .items = 10, .fpr = 0.1));
    REFUSED(PERHAPS_EUNSEALED, perhaps_cells(f, -1, 0, some, 3, NULL));
    perhaps_free(f);
}

/* ---- forms, room and errors ---- */

static bool is_same(const perhaps_step *a, const perhaps_step *b) {
    return a->step == b->step && a->depth == b->depth && a->holds == b->holds && a->index == b->index &&
           a->value == b->value && a->wanted == b->wanted && a->to == b->to && a->name == b->name && a->why == b->why;
}

static void room_limits_what_is_written(const struct layout *layout) {
    perhaps *f = make_with_members(layout, layout->items);
    uint64_t key = member_of(f, 1);
    perhaps_keys one = PERHAPS_KEYS_U64(&key, 0, 1);
    int64_t n = trace_u64(f, PERHAPS_VERB_QUERY, key);
    CHECK(perhaps_trace(f, PERHAPS_VERB_QUERY, &one, NULL, 0) == n, "without room the number of steps differs");
    for (size_t room = 0; room <= (size_t)n; room++) {
        perhaps_step *some = malloc((room + 1) * sizeof *some); /* one more, which stays as it is */
        CHECK(some, "no memory");
        some[room].step = -1;
        CHECK(perhaps_trace(f, PERHAPS_VERB_QUERY, &one, some, room) == n, "the number of steps with room for %zu",
              room);
        for (size_t i = 0; i < room; i++) CHECK(is_same(&some[i], &steps[i]), "step %zu with room for %zu", i, room);
        CHECK(some[room].step == -1, "a step beyond the room for %zu", room);
        free(some);
    }
    perhaps_free(f);
}

static void every_form_is_taken(void **state) {
    (void)state;
    name_subject("bloom");
    perhaps *f = make(&PERHAPS_WANT(.kind = PERHAPS_BLOOM, .items = 100, .fpr = 0.01));
    const char *text = "a key", *pointers[] = {text};
    const void *keys[] = {pointers[0]};
    size_t lengths[] = {5};
    uint32_t offsets[] = {0, 5};
    uint64_t digest = perhaps_digest(perhaps_hasher_of(f), text, 5);
    perhaps_keys forms[] = {PERHAPS_KEYS_BYTES(keys, lengths, 1), PERHAPS_KEYS_PACKED(text, offsets, 1),
                            PERHAPS_KEYS_FIXED(text, 5, 0, 1), PERHAPS_KEYS_DIGEST(&digest, 1)};
    MUST(perhaps_add(f, text, 5));
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        int64_t n = MUST(perhaps_trace(f, PERHAPS_VERB_QUERY, &forms[i], steps, MANY));
        CHECK(steps[0].value == digest && traced_answer(n) == 1, "form %zu", i);
        expect_sense(n, true);
    }
    perhaps_free(f);
}

static void errors_are_refused(void **state) {
    (void)state;
    name_subject("errors");
    uint64_t numbers[] = {1, 2};
    const void *keys[] = {"a"};
    size_t lengths[] = {1};
    perhaps_keys one = PERHAPS_KEYS_U64(numbers, 0, 1), digest = PERHAPS_KEYS_DIGEST(numbers, 1);
    perhaps_keys bytes = PERHAPS_KEYS_BYTES(keys, lengths, 1);
    perhaps *f = make(&PERHAPS_WANT(.kind = PERHAPS_BITMAP, .items = 100));
    REFUSED(PERHAPS_EINVAL, perhaps_trace(f, PERHAPS_VERB_QUERY, NULL, steps, MANY));
    REFUSED(PERHAPS_EINVAL, perhaps_trace(f, PERHAPS_VERB_QUERY, &PERHAPS_KEYS_U64(numbers, 0, 0), steps, MANY));
    REFUSED(PERHAPS_EINVAL, perhaps_trace(f, PERHAPS_VERB_QUERY, &PERHAPS_KEYS_U64(numbers, 0, 2), steps, MANY));
    REFUSED(PERHAPS_EINVAL, perhaps_trace(f, 0, &one, steps, MANY));
    REFUSED(PERHAPS_EINVAL, perhaps_trace(f, PERHAPS_VERB_QUERY, &one, NULL, 1));
    REFUSED(PERHAPS_ECANNOT, perhaps_trace(f, PERHAPS_VERB_QUERY, &bytes, steps, MANY));
    perhaps_free(f);
    f = make(&PERHAPS_WANT(.kind = PERHAPS_GUAVA, .items = 100, .fpr = 0.01));
    REFUSED(PERHAPS_ECANNOT, perhaps_trace(f, PERHAPS_VERB_QUERY, &digest, steps, MANY));
    MUST(perhaps_trace(f, PERHAPS_VERB_QUERY, &bytes, steps, MANY));
    CHECK(steps[1].step == PERHAPS_STEP_DIGEST && steps[1].index == 1, "no second word of the digest");
    perhaps_free(f);
    f = make(&PERHAPS_WANT(.kind = PERHAPS_FUSE, .items = 100, .fpr = 0.01));
    MUST(perhaps_add_u64(f, 1));
    REFUSED(PERHAPS_EUNSEALED, perhaps_trace(f, PERHAPS_VERB_QUERY, &one, steps, MANY));
    REFUSED(PERHAPS_EUNSEALED, perhaps_trace(f, PERHAPS_VERB_ADD, &one, steps, MANY));
    seal(f);
    REFUSED(PERHAPS_ESEALED, perhaps_trace(f, PERHAPS_VERB_ADD, &one, steps, MANY));
    perhaps_free(f);
}

/* ---- time ---- */

static uint64_t now;

static uint64_t tell(void *context) {
    (void)context;
    return now;
}

/* A window with a clock: long breaks, bursts, and keys that come again. */
static void time_is_foreseen(void **state) {
    (void)state;
    for (int with_clock = 0; with_clock <= 1; with_clock++) {
        uint64_t random = 3;
        name_subject("window, %s", with_clock ? "clock" : "told the time");
        perhaps *f =
            make(&PERHAPS_WANT(.kind = PERHAPS_BLOOM, .items = 200, .fpr = 0.01, .generations = 4, .period = 1000));
        now = 5000;
        if (with_clock) MUST(perhaps_set_clock(f, tell, NULL));
        for (unsigned i = 0; i < 8000; i++) {
            uint64_t chance = next_random(&random) % 200;
            now += chance == 0 ? 5000 : chance < 4 ? 400 : chance % 3 == 0 && i % 2000 < 1000 ? 10 : 0;
            if (!with_clock && chance < 20) MUST(perhaps_advance(f, now));
            expect_add(f, member(next_random(&random) % 3 ? i : i - i % 50));
            expect_query(f, member(i / 2));
        }
        perhaps_free(f);
    }
}

/* ---- what a growing filter and a window say ---- */

static bool has_step(int64_t n, int step, const char *name) {
    for (int64_t i = 0; i < n; i++)
        if (steps[i].step == step && strcmp(steps[i].name, name) == 0) return true;
    return false;
}

static void growth_and_forgetting_are_named(void **state) {
    static const struct {
        perhaps_want want;
        const char *name;
    } cases[] = {
        {PERHAPS_WANT(.kind = PERHAPS_BLOOM, .items = 100, .fpr = 0.01, .grow = PERHAPS_GROW_LAYERS), "layer"},
        {PERHAPS_WANT(.kind = PERHAPS_BLOOM, .items = 90, .fpr = 0.01, .generations = 4), "forgotten generation"},
        {PERHAPS_WANT(.kind = PERHAPS_TABLE, .items = 100), "array"},
    };
    (void)state;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        perhaps *f = make(&cases[c].want);
        unsigned seen = 0;
        name_subject("%s", cases[c].name);
        for (uint64_t i = 0; i < 1000; i++) {
            int64_t n = trace_u64(f, PERHAPS_VERB_ADD, member(i));
            seen += has_step(n, PERHAPS_STEP_ROOM, cases[c].name);
            MUST(perhaps_add_u64(f, member(i)));
        }
        CHECK(seen >= 1 && seen < 50, "room was made %u times", seen);
        perhaps_free(f);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        FOR_EACH_LAYOUT(a_query_is_explained, 2000),
        FOR_EACH_COMPOSITE(a_query_is_explained, 2000),
        FOR_EACH_FILE(a_query_is_explained, 2000),
        FOR_EACH_STATIC(a_query_is_explained, 2000),
        FOR_EACH_LAYOUT(cells_are_those_of_the_steps, 2000),
        FOR_EACH_COMPOSITE(cells_are_those_of_the_steps, 2000),
        FOR_EACH_FILE(cells_are_those_of_the_steps, 2000),
        FOR_EACH_STATIC(cells_are_those_of_the_steps, 2000),
        cmocka_unit_test(cells_come_in_pieces),
        FOR_EACH_LAYOUT(an_add_is_foreseen, 2000),
        FOR_EACH_COMPOSITE(an_add_is_foreseen, 2000),
        FOR_EACH_FILE(an_add_is_foreseen, 2000),
        FOR_EACH_FILTER(a_full_filter_is_foreseen, 1000),
        FOR_EACH_LAYOUT(damaged_arrays_are_safe, 2000),
        FOR_EACH_COMPOSITE(damaged_arrays_are_safe, 2000),
        FOR_EACH_STATIC(damaged_arrays_are_safe, 2000),
        FOR_EACH_FILTER(room_limits_what_is_written, 500),
        FOR_EACH_STATIC_KIND(room_limits_what_is_written, 500),
        cmocka_unit_test(every_form_is_taken),
        cmocka_unit_test(errors_are_refused),
        cmocka_unit_test(time_is_foreseen),
        cmocka_unit_test(growth_and_forgetting_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
