/* Every error has a number and a sentence. */
#include "support.h"

#include <string.h>

enum { LAST = PERHAPS_EUNSEALED };

static void every_number_has_a_sentence_of_its_own(void **state) {
    (void)state;
    for (int error = PERHAPS_OK; error >= LAST; error--) {
        const char *sentence = perhaps_strerror(error);
        CHECK(sentence && strlen(sentence) > 1, "error %d has no sentence", error);
        for (int other = PERHAPS_OK; other > error; other--)
            CHECK(strcmp(sentence, perhaps_strerror(other)) != 0, "errors %d and %d read the same", error, other);
    }
}

static void other_numbers_have_one_too(void **state) {
    (void)state;
    static const int others[] = {1, LAST - 1, -1000, 1000};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        const char *sentence = perhaps_strerror(others[i]);
        CHECK(sentence && *sentence, "number %d has no sentence", others[i]);
        for (int error = PERHAPS_OK; error >= LAST; error--)
            CHECK(strcmp(sentence, perhaps_strerror(error)) != 0, "%d reads like error %d", others[i], error);
    }
}

static void a_refusal_gives_its_reason(void **state) {
    (void)state;
    perhaps *f = (perhaps *)&f;
    REFUSED(PERHAPS_EINVAL, perhaps_create(&f, &PERHAPS_WANT(.items = 1000, .fpr = 2)));
    CHECK(!f && strstr(perhaps_why(), "fpr"), "the reason is: %s", perhaps_why());
    REFUSED(PERHAPS_EIO, perhaps_open(&f, "/there/is/no/such.ph", NULL));
    CHECK(!f && strstr(perhaps_why(), "/there/is/no/such.ph"), "the reason is: %s", perhaps_why());
}

/* Where no kind will do, the sentence is about what stands in the way. */
static void a_choice_that_fails_says_why(void **state) {
    static const struct {
        perhaps_want want;
        const char *why;
    } cases[] = {{{.shared = 1, .grow = PERHAPS_GROW_LAYERS}, "set shards too"},
                 {{.shared = 1, .kind = PERHAPS_REDIS_BLOOM}, "cannot be changed by several threads"},
                 {{.shards = 2, .grow = PERHAPS_GROW_LAYERS, .max_bytes = 90}, "a shard's part of max_bytes is 45,"},
                 {{.hashes = 7, .grow = PERHAPS_GROW_LAYERS}, "choose their hashes"},
                 {{.needs = PERHAPS_COUNT, .generations = 3}, "ask for less"},
                 {{.needs = PERHAPS_COUNT | PERHAPS_LIST}, "ask for less"},
                 {{.needs = PERHAPS_SUBTRACT}, "bitmap, which is for integers"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct perhaps_plan plan = {.size = sizeof plan};
        perhaps_want want = cases[i].want;
        want.size = sizeof want;
        want.items = 1000;
        want.fpr = 0.01;
        CHECK(perhaps_plan(&want, &plan) < 0 && strstr(perhaps_why(), cases[i].why), "case %zu: %s", i, perhaps_why());
    }
}

static void expect_reason(const char *reason) {
    CHECK(strstr(perhaps_why(), reason), "the reason is: %s", perhaps_why());
}

/* What a sentence advises is possible. */
static void remedies_can_be_followed(void **state) {
    (void)state;
    perhaps *f = make(&PERHAPS_WANT(.kind = PERHAPS_BITMAP, .items = 100, .shared = 1));
    REFUSED(PERHAPS_EFULL, perhaps_add_u64(f, UINT64_C(1) << 20));
    expect_reason("make one for more items");
    perhaps_free(f);
    f = make(&PERHAPS_WANT(.kind = PERHAPS_BLOOM, .items = 100, .fpr = 0.01, .shards = 2));
    REFUSED(PERHAPS_ECANNOT, perhaps_grow_layers(&f, 0.02, 0, 0));
    expect_reason("sharded filters cannot be layers");
    REFUSED(PERHAPS_ECANNOT, perhaps_ungrow_layers(&f));
    expect_reason("sharded filters have no layers to undo");
    perhaps_free(f);
    f = make(&PERHAPS_WANT(.items = 100, .fpr = 0.01, .shards = 2, .grow = PERHAPS_GROW_LAYERS, .max_bytes = 2000));
    int rc = 0;
    for (uint64_t key = 0; rc >= 0; key++) rc = perhaps_add_u64(f, key);
    CHECK(rc == PERHAPS_EFULL, "answer %d", rc);
    expect_reason("a shard's part of max_bytes is 1000");
    perhaps_free(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_number_has_a_sentence_of_its_own),
        cmocka_unit_test(other_numbers_have_one_too),
        cmocka_unit_test(a_refusal_gives_its_reason),
        cmocka_unit_test(a_choice_that_fails_says_why),
        cmocka_unit_test(remedies_can_be_followed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
