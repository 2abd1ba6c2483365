/* Batches at the edges: without keys, without room for counts, into bytes at any alignment. */
#include "support.h"

#include <stdlib.h>
#include <string.h>

enum { THREADS = 3 };

static void counts_may_be_left_out(void **state) {
    static const uint64_t keys[3] = {1, 2, 3};
    perhaps *f = make(&PERHAPS_WANT(.kind = PERHAPS_CUCKOO, .items = 100, .fpr = 1e-6));
    (void)state;
    MUST(perhaps_add_u64(f, 2));
    CHECK(perhaps_count_many(f, &PERHAPS_KEYS_U64(keys, 0, 3), NULL) == 1, "one of three keys is there");
    perhaps_free(f);
}

/* An empty batch is no change: a mapped file stays clean for others. */
static void empty_batches_leave_files_clean(void **state) {
    const char *path = scratch("clean.ph");
    perhaps *f = make(&PERHAPS_WANT(.kind = PERHAPS_COUNTING, .items = 100, .fpr = 0.01)), *g = NULL, *h = NULL;
    perhaps_keys none = PERHAPS_KEYS_U64((const uint64_t *)NULL, 0, 0);
    (void)state;
    MUST(perhaps_save(f, path));
    MUST(perhaps_open(&g, path, &PERHAPS_OPEN(.flags = PERHAPS_OPEN_WRITE)));
    CHECK(perhaps_add_many(g, &none, NULL) == 0 && perhaps_remove_many(g, &none, NULL) == 0 &&
              perhaps_add_parallel(g, &none, NULL, THREADS) == 0,
          "an empty batch adds or removes something");
    MUST(perhaps_open(&h, path, NULL));
    CHECK(perhaps_add_many(h, &none, NULL) == 0 && perhaps_remove_many(h, &none, NULL) == 0,
          "an empty batch is refused for reading only");
    perhaps_free(h);
    MUST(perhaps_add_u64(g, 1));
    REFUSED(PERHAPS_EDIRTY, perhaps_open(&h, path, NULL));
    perhaps_free(g);
    perhaps_free(f);
}

/* Threads change borrowed bytes with atomic operations only where these are aligned. */
static void borrowed_bytes_lie_anywhere(void **state) {
    enum { KEYS = 100000 };
    static const int shareable[] = {PERHAPS_BLOOM, PERHAPS_BLOCKED, PERHAPS_COUNTING, PERHAPS_BITMAP};
    uint64_t *keys = malloc(KEYS * sizeof *keys);
    (void)state;
    for (uint64_t i = 0; i < KEYS; i++) keys[i] = i;
    for (size_t k = 0; k < sizeof shareable / sizeof *shareable; k++) {
        double fpr = shareable[k] == PERHAPS_BITMAP ? 0 : 0.01;
        perhaps *f = make(&PERHAPS_WANT(.kind = shareable[k], .items = KEYS, .fpr = fpr)), *g = NULL;
        struct bytes image = image_of(f);
        uint8_t *odd = malloc(image.length + 1);
        memcpy(odd + 1, image.data, image.length);
        MUST(perhaps_open_memory(&g, odd + 1, image.length, &PERHAPS_OPEN(.flags = PERHAPS_OPEN_WRITE)));
        MUST(perhaps_add_parallel(g, &PERHAPS_KEYS_U64(keys, 0, KEYS), NULL, 8));
        CHECK(perhaps_contains_many(g, &PERHAPS_KEYS_U64(keys, 0, KEYS), NULL) == KEYS, "kind %d misses keys",
              shareable[k]);
        perhaps_free(g);
        perhaps_free(f);
        free(odd);
        free(image.data);
    }
    free(keys);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_may_be_left_out),
        cmocka_unit_test(empty_batches_leave_files_clean),
        cmocka_unit_test(borrowed_bytes_lie_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, remove_scratch);
}
