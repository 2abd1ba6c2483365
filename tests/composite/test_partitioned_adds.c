/*
 * Large batches that are added to large cuckoo filters, in the order of places: all keys are there
 * afterwards, however they come, with the same bytes on every instruction set; and if one of them
 * finds no room, or there is no memory to partition them, none is.
 */
#include "support.h"

#include <perhaps_embed.h>

#include <stdlib.h>
#include <string.h>

/* Adds to filters of more than 4 MiB are partitioned, if the batch is not small beside them. */
enum { PLANNED = 4000000, FEW = 60000 };

static const char *const sets[] = {"scalar", "avx512"};
enum { SETS = sizeof sets / sizeof *sets };

static size_t batch_length(void) {
    return test_size() == TEST_SMALL ? FEW : PLANNED;
}

static uint64_t *members(size_t n) {
    uint64_t *keys = malloc(n * sizeof *keys);
    CHECK(keys, "no memory for %zu keys", n);
    for (size_t i = 0; i < n; i++) keys[i] = member(i);
    return keys;
}

static perhaps *cuckoo(double fpr, const perhaps_allocator *allocator) {
    return make(&PERHAPS_WANT(.kind = PERHAPS_CUCKOO, .items = PLANNED, .fpr = fpr, .grow = PERHAPS_GROW_NEVER,
                              .allocator = allocator));
}

static perhaps *cuckoo_under(const char *set, double fpr) {
    perhaps *f = NULL;
    setenv("PERHAPS_ISA", set, 1);
    int rc = perhaps_create(&f, &PERHAPS_WANT(.kind = PERHAPS_CUCKOO, .items = PLANNED, .fpr = fpr));
    unsetenv("PERHAPS_ISA");
    return rc < 0 ? NULL : f; /* not on this machine */
}

static void expect_all(const perhaps *f, const uint64_t *keys, size_t n) {
    CHECK(MUST(perhaps_contains_many(f, &PERHAPS_KEYS_U64(keys, 0, n), NULL)) == (int64_t)n, "keys are lost");
    CHECK(info_of(f).items == n, "%llu items of %zu", (unsigned long long)info_of(f).items, n);
}

/* Five places a key at 1 %, four at 0.1 %. */
static void same_bytes_on_every_instruction_set(void **state) {
    static const double rates[] = {0.01, 0.001};
    size_t n = batch_length();
    uint64_t *keys = members(n);
    uint8_t *answers = malloc(n);
    CHECK(answers, "no memory for answers");
    (void)state;
    for (size_t r = 0; r < sizeof rates / sizeof *rates; r++) {
        perhaps *first = NULL;
        for (size_t s = 0; s < SETS; s++) {
            perhaps *f = cuckoo_under(sets[s], rates[r]);
            if (!f) continue;
            memset(answers, 0, n);
            CHECK(MUST(perhaps_add_many(f, &PERHAPS_KEYS_U64(keys, 0, n), first ? NULL : answers)) == (int64_t)n,
                  "not all are new");
            CHECK(first || !memchr(answers, 0, n), "a key is not new");
            expect_all(f, keys, n);
            CHECK(!first || perhaps_equal(first, f), "%s gives other bytes", sets[s]);
            if (first) perhaps_free(f);
            if (!first) first = f;
        }
        perhaps_free(first);
    }
    free(keys);
    free(answers);
}

/* Half of the batch is one key: its partition fills early, so few keys are in a round. */
static void one_key_very_often(void **state) {
    (void)state;
    perhaps *f = cuckoo(0.01, NULL);
    uint64_t *keys = members(FEW);
    for (size_t i = 0; i < FEW; i += 2) keys[i] = non_member(1);
    MUST(perhaps_add_many(f, &PERHAPS_KEYS_U64(keys, 0, FEW), NULL));
    expect_all(f, keys, FEW);
    CHECK(MUST(perhaps_count_u64(f, non_member(1))) >= FEW / 2, "%lld copies",
          (long long)perhaps_count_u64(f, non_member(1)));
    for (size_t i = 0; i < FEW; i++) CHECK(perhaps_remove_u64(f, keys[i]) == 1, "key %zu is lost", i);
    perhaps *empty = cuckoo(0.01, NULL);
    CHECK(perhaps_equal(f, empty), "something is left");
    perhaps_free(f);
    perhaps_free(empty);
    free(keys);
}

static void all_or_none(void **state) {
    enum { BEFORE = PLANNED / 2 };
    (void)state;
    if (test_size() == TEST_SMALL) return;
    perhaps *f = cuckoo(0.01, NULL), *empty = cuckoo(0.01, NULL);
    uint64_t *keys = members(BEFORE + PLANNED);
    MUST(perhaps_add_many(f, &PERHAPS_KEYS_U64(keys, 0, BEFORE), NULL));
    CHECK(perhaps_add_many(f, &PERHAPS_KEYS_U64(keys + BEFORE, 0, PLANNED), NULL) == PERHAPS_EFULL,
          "there was room: %s", perhaps_why());
    expect_all(f, keys, BEFORE);
    MUST(perhaps_add_many(f, &PERHAPS_KEYS_U64(keys + BEFORE, 0, PLANNED - BEFORE), NULL));
    expect_all(f, keys, PLANNED);
    CHECK(perhaps_add_many(f, &PERHAPS_KEYS_U64(keys, 0, PLANNED), NULL) == PERHAPS_EFULL, "there was room: %s",
          perhaps_why());
    expect_all(f, keys, PLANNED);
    CHECK(MUST(perhaps_remove_many(f, &PERHAPS_KEYS_U64(keys, 0, PLANNED), NULL)) == PLANNED, "keys were lost");
    CHECK(perhaps_equal(f, empty), "keys of a batch that failed are still there");
    perhaps_free(f);
    perhaps_free(empty);
    free(keys);
}

/* Has memory for one large piece: the filter. */
static bool given;

static void *give_once(void *context, size_t size) {
    (void)context;
    if (size >= 1 << 18 && given) return NULL;
    given |= size >= 1 << 18;
    return aligned_alloc(64, (size + 63) / 64 * 64);
}

static void take_back(void *context, void *memory, size_t size) {
    (void)context, (void)size;
    free(memory);
}

static void without_memory_nothing_is_added(void **state) {
    const perhaps_allocator stingy = {.allocate = give_once, .release = take_back};
    (void)state;
    given = false;
    perhaps *f = cuckoo(0.01, &stingy), *empty = cuckoo(0.01, NULL);
    uint64_t *keys = members(FEW);
    REFUSED(PERHAPS_ENOMEM, (int)perhaps_add_many(f, &PERHAPS_KEYS_U64(keys, 0, FEW), NULL));
    CHECK(perhaps_equal(f, empty) && info_of(f).items == 0, "something was added");
    perhaps_free(f);
    perhaps_free(empty);
    free(keys);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_bytes_on_every_instruction_set),
        cmocka_unit_test(one_key_very_often),
        cmocka_unit_test(all_or_none),
        cmocka_unit_test(without_memory_nothing_is_added),
    };
    return cmocka_run_group_tests(tests, NULL, remove_scratch);
}
