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

/* Singles, batches of odd sizes, all forms: whatever has code of its own. */
static void fill(perhaps *f, uint64_t items) {
    uint64_t keys[257];
    for (uint64_t i = 0; i < items / 2; i++) MUST(perhaps_add_u64(f, member(i)));
    for (uint64_t first = items / 2; first < items; first += 257) {
        for (size_t i = 0; i < 257; i++) keys[i] = member(first + i);
        MUST(perhaps_add_many_u64(f, keys, 257, NULL));
        for (size_t i = 0; i < 129; i++) keys[i] = member(items + first + i);
        MUST(perhaps_add_many_digest(f, keys, 129, NULL));
    }
    struct byte_keys bytes = make_byte_keys(200, 9);
    MUST(perhaps_add_many(f, bytes.keys, bytes.lengths, bytes.n, NULL));
    free_byte_keys(&bytes);
}

static void expect_same_answers(const perhaps *a, const perhaps *b) {
    uint64_t keys[1001];
    uint8_t from_a[1001], from_b[1001];
    for (uint64_t round = 0; round < 20; round++) {
        for (size_t i = 0; i < 1001; i++) keys[i] = i % 2 ? member(round * 500 + i) : stranger(round * 500 + i);
        MUST(perhaps_contains_many_u64(a, keys, 1001, from_a));
        MUST(perhaps_contains_many_u64(b, keys, 1001, from_b));
        CHECK(memcmp(from_a, from_b, 1001) == 0, "the answers of a batch differ");
        for (size_t i = 0; i < 1001; i++)
            CHECK(perhaps_contains_u64(b, keys[i]) == from_a[i], "a single answer differs");
    }
}

static void all_sets_make_the_same_bits(const struct layout *layout) {
    perhaps *plain = make_under("scalar", &layout->want);
    fill(plain, layout->want.items);
    struct bytes expected = image_of(plain);
    CHECK(strcmp(info_of(plain).isa, "scalar") == 0, "PERHAPS_ISA=scalar gave %s", info_of(plain).isa);
    for (size_t s = 1; s < SETS; s++) {
        if (!machine_has(sets[s])) continue;
        perhaps *f = make_under(sets[s], &layout->want);
        CHECK(strcmp(info_of(f).isa, sets[s]) == 0, "PERHAPS_ISA=%s gave %s", sets[s], info_of(f).isa);
        fill(f, layout->want.items);
        expect_unchanged(f, expected);
        expect_same_answers(plain, f);
        CHECK(perhaps_equal(plain, f) == 1, "%s and scalar differ", sets[s]);
        perhaps_free(f);
    }
    free(expected.data);
    perhaps_free(plain);
}

/* The choice reaches opened images as well. */
static void opened_images_answer_alike(const struct layout *layout) {
    perhaps *plain = make_under("scalar", &layout->want);
    fill(plain, layout->want.items);
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
        FOR_EACH_LAYOUT(all_sets_make_the_same_bits, 1),    FOR_EACH_LAYOUT(all_sets_make_the_same_bits, 100),
        FOR_EACH_LAYOUT(all_sets_make_the_same_bits, 5000), FOR_EACH_LAYOUT(opened_images_answer_alike, 5000),
        FOR_EACH_KIND(missing_sets_are_refused, 100),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
