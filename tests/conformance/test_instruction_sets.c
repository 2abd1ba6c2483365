/* Every instruction set that the machine has gives the same bits and the same answers. */
#include "support.h"

#include <stdlib.h>
#include <string.h>

static const char *const sets[] = {"scalar", "avx2", "avx512", "neon"};
enum { SETS = sizeof sets / sizeof *sets };

/* What this machine must offer; a tier that is silently missing would not be tested. */
static bool machine_has(const char *set) {
    if (strcmp(set, "scalar") == 0) return true;
#if defined(__x86_64__)
    if (strcmp(set, "avx2") == 0) return __builtin_cpu_supports("avx2");
    if (strcmp(set, "avx512") == 0) return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq");
#elif defined(__aarch64__)
    return strcmp(set, "neon") == 0;
#endif
    return false;
}

static perhaps *make_under(const char *set, const perhaps_want *want) {
    setenv("PERHAPS_ISA", set, 1);
    perhaps *f = make(want);
    unsetenv("PERHAPS_ISA");
    return f;
}

/* Keys number first.. in one batch; a filter without room for all takes none, on every machine. */
static void add_batch(perhaps *f, uint64_t first, size_t n, bool as_digests) {
    uint64_t keys[257] = {0};
    for (size_t i = 0; i < n; i++) keys[i] = member_of(f, first + i);
    MUST_OR_FULL(as_digests ? perhaps_add_many(f, &PERHAPS_KEYS_DIGEST(keys, n), NULL)
                            : perhaps_add_many(f, &PERHAPS_KEYS_U64(keys, 0, n), NULL));
}

/* Some of what is certainly there goes out again, alone and in batches. */
static void remove_some(perhaps *f, uint64_t first, uint64_t n) {
    uint64_t keys[65] = {0};
    size_t batch = 0;
    for (uint64_t i = 0; i < n; i += 2) MUST(perhaps_remove_u64(f, member_of(f, first + i)));
    for (uint64_t i = 1; i < n && batch < 65; i += 4) keys[batch++] = member_of(f, first + i);
    MUST(perhaps_remove_many(f, &PERHAPS_KEYS_U64(keys, 0, batch), NULL));
}

static void add_bytes(perhaps *f) {
    if (!takes_bytes(f)) return;
    struct byte_keys bytes = make_byte_keys(200, 9);
    MUST_OR_FULL(perhaps_add_many(f, &PERHAPS_KEYS_BYTES(bytes.keys, bytes.lengths, bytes.n), NULL));
    free_byte_keys(&bytes);
}

/* Whatever has its own code: singles, odd batches, all forms, removes. Beyond the planned keys. */
static void fill(perhaps *f, uint64_t items) {
    uint64_t half = add_while_room(f, 0, items / 2);
    for (uint64_t first = items / 2; first < items; first += 257) {
        add_batch(f, first, 257, false);
        add_batch(f, items + first, 129, true);
    }
    if (info_of(f).can & PERHAPS_REMOVE) remove_some(f, 0, half);
    add_while_room(f, 2 * items, items / 3);
    add_bytes(f);
    int rc = 0;
    for (uint64_t i = 0; i < items / 10 && rc != PERHAPS_EFULL; i++) {
        rc = perhaps_add_absent_u64(f, member_of(f, 3 * items + i / 2));
        MUST_OR_FULL(rc);
    }
    seal(f);
}

static void expect_same_answers(const perhaps *a, const perhaps *b) {
    uint64_t keys[1001];
    uint8_t from_a[1001], from_b[1001];
    bool counts = info_of(a).can & PERHAPS_COUNT;
    for (uint64_t round = 0; round < 20; round++) {
        for (size_t i = 0; i < 1001; i++)
            keys[i] = i % 2 ? member_of(a, round * 500 + i) : non_member_of(a, round * 500 + i);
        MUST(perhaps_contains_many(a, &PERHAPS_KEYS_U64(keys, 0, 1001), from_a));
        MUST(perhaps_contains_many(b, &PERHAPS_KEYS_U64(keys, 0, 1001), from_b));
        CHECK(memcmp(from_a, from_b, 1001) == 0, "the answers of a batch differ");
        for (size_t i = 0; i < 1001; i++)
            CHECK(perhaps_contains_u64(b, keys[i]) == from_a[i], "a single answer differs");
        for (size_t i = 0; counts && i < 1001; i++)
            CHECK(perhaps_count_u64(a, keys[i]) == perhaps_count_u64(b, keys[i]), "a count differs");
    }
}

static void all_sets_make_the_same_bits(const struct layout *layout) {
    perhaps *plain = make_under("scalar", &layout->want);
    fill(plain, layout->items);
    struct bytes expected = image_of(plain);
    CHECK(strcmp(info_of(plain).isa, "scalar") == 0, "PERHAPS_ISA=scalar gave %s", info_of(plain).isa);
    for (size_t s = 1; s < SETS; s++) {
        if (!machine_has(sets[s])) continue;
        perhaps *f = make_under(sets[s], &layout->want);
        CHECK(strcmp(info_of(f).isa, sets[s]) == 0, "PERHAPS_ISA=%s gave %s", sets[s], info_of(f).isa);
        fill(f, layout->items);
        expect_unchanged(f, expected);
        expect_same_answers(plain, f);
        CHECK(perhaps_equal(plain, f) == 1, "%s and scalar differ", sets[s]);
        perhaps_free(f);
    }
    free(expected.data);
    perhaps_free(plain);
}

/* Through an image and back at every step, each time on another instruction set: the same bytes. */
static void opening_in_the_middle_changes_nothing(const struct layout *layout) {
    perhaps *straight = make(&layout->want), *f = make(&layout->want);
    for (uint64_t step = 0; step < 12; step++) {
        struct bytes image = image_of(f);
        perhaps_free(f);
        const char *set = sets[step % SETS];
        if (machine_has(set)) setenv("PERHAPS_ISA", set, 1);
        MUST(perhaps_open_memory(&f, image.data, image.length, &PERHAPS_OPEN(.flags = PERHAPS_OPEN_COPY)));
        unsetenv("PERHAPS_ISA");
        free(image.data);
        uint64_t first = step * 100;
        for (int turn = 0; turn < 2; turn++) {
            perhaps *g = turn ? straight : f;
            add_batch(g, first, 150, step % 2);
            uint64_t added = add_while_room(g, first + 5000, 30);
            if (layout->row->can & PERHAPS_REMOVE) remove_some(g, first + 5000, added);
        }
        CHECK(perhaps_equal(f, straight) == 1, "after step %llu the two differ", (unsigned long long)step);
    }
    struct bytes expected = image_of(straight);
    expect_unchanged(f, expected);
    free(expected.data);
    perhaps_free(f);
    perhaps_free(straight);
}

/* The choice reaches opened images as well. */
static void opened_images_answer_alike(const struct layout *layout) {
    perhaps *plain = make_under("scalar", &layout->want);
    fill(plain, layout->items);
    struct bytes image = image_of(plain);
    for (size_t s = 1; s < SETS; s++) {
        if (!machine_has(sets[s])) continue;
        perhaps *f = NULL;
        setenv("PERHAPS_ISA", sets[s], 1);
        MUST(perhaps_open_memory(&f, image.data, image.length, NULL));
        unsetenv("PERHAPS_ISA");
        CHECK(strcmp(info_of(f).isa, sets[s]) == 0, "PERHAPS_ISA=%s gave %s", sets[s], info_of(f).isa);
        expect_same_answers(plain, f);
        perhaps_free(f);
    }
    free(image.data);
    perhaps_free(plain);
}

/* Filters of different sizes have their cache lines prefetched in different ways, in blocks that
 * batches fill or not: all the same as single calls in plain code. */
static void batches_of_any_length_do_the_same(const struct layout *layout) {
    enum { LONGEST = 200 };
    perhaps *f = make(&layout->want), *plain = make_under("scalar", &layout->want);
    uint64_t first = 0, keys[LONGEST];
    uint8_t answers[LONGEST];
    for (size_t n = 0; n <= LONGEST; first += n++) {
        add_batch(f, first, n, false);
        for (uint64_t i = 0; i < n; i++) MUST(perhaps_add_u64(plain, member_of(plain, first + i)));
    }
    CHECK(perhaps_equal(f, plain) == 1, "batches and single calls have set different bits");
    for (size_t n = 0; n <= LONGEST; n++) {
        for (size_t i = 0; i < n; i++) keys[i] = i % 3 ? member_of(f, first - n * i) : non_member_of(f, n * i);
        MUST(perhaps_contains_many(f, &PERHAPS_KEYS_U64(keys, 0, n), answers));
        for (size_t i = 0; i < n; i++)
            CHECK(perhaps_contains_u64(plain, keys[i]) == answers[i], "key %zu of %zu is answered differently", i, n);
    }
    perhaps_free(f);
    perhaps_free(plain);
}

static void missing_sets_are_refused(const struct layout *layout) {
    static const char *const unknown[] = {"neon9", "AVX2", "all"};
    perhaps *f = NULL;
    for (size_t s = 0; s < SETS + 3; s++) {
        const char *set = s < SETS ? sets[s] : unknown[s - SETS];
        if (s < SETS && machine_has(set)) continue;
        setenv("PERHAPS_ISA", set, 1);
        REFUSED(PERHAPS_EINVAL, perhaps_create(&f, &layout->want));
        CHECK(strstr(perhaps_why(), set), "the reason does not name the set %s: %s", set, perhaps_why());
        unsetenv("PERHAPS_ISA");
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        FOR_EACH_LAYOUT(all_sets_make_the_same_bits, 1),
        FOR_EACH_LAYOUT(all_sets_make_the_same_bits, 100),
        FOR_EACH_LAYOUT(all_sets_make_the_same_bits, 5000),
        FOR_EACH_LAYOUT(opened_images_answer_alike, 5000),
        FOR_EACH_LAYOUT(opening_in_the_middle_changes_nothing, 10),
        FOR_EACH_LAYOUT(opening_in_the_middle_changes_nothing, 1700),
        FOR_EACH_LAYOUT(batches_of_any_length_do_the_same, 25000),
        FOR_EACH_LAYOUT(batches_of_any_length_do_the_same, 600000),
        FOR_EACH_LAYOUT(batches_of_any_length_do_the_same, 2000000),
        FOR_EACH_FILTER(missing_sets_are_refused, 100),
        FOR_EACH_COMPOSITE(all_sets_make_the_same_bits, 10),
        FOR_EACH_COMPOSITE(all_sets_make_the_same_bits, 2000),
        FOR_EACH_COMPOSITE(opened_images_answer_alike, 2000),
        FOR_EACH_COMPOSITE(opening_in_the_middle_changes_nothing, 10),
        FOR_EACH_COMPOSITE(opening_in_the_middle_changes_nothing, 1700),
        FOR_EACH_STATIC(all_sets_make_the_same_bits, 1),
        FOR_EACH_STATIC(all_sets_make_the_same_bits, 100),
        FOR_EACH_STATIC(all_sets_make_the_same_bits, 5000),
        FOR_EACH_STATIC(opened_images_answer_alike, 5000),
        FOR_EACH_STATIC_KIND(missing_sets_are_refused, 100),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
