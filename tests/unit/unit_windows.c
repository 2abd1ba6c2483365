/* Hostile headers of windows by time: refused in a sentence that says why, or harmless. */
#include "base/endian.h"
#include "checksums.h"
#include "support.h"

#include <stdlib.h>
#include <string.h>

enum { AT_LAYOUT = 72, ITEMS = 90, PERIOD = 60 };

/* A window of four generations of which a burst made six: single keys at intervals, then many. */
static struct bytes image_in_a_burst(void) {
    perhaps *f = make(&PERHAPS_WANT(.kind = PERHAPS_BLOOM, .items = ITEMS, .fpr = 0.01, .period = PERIOD));
    for (uint64_t i = 0; i < 3; i++) {
        MUST(perhaps_advance(f, 1000 + i * PERIOD / 3));
        add_members(f, i, 1);
    }
    MUST(perhaps_advance(f, 1000 + PERIOD));
    add_members(f, 3, ITEMS - 2);
    CHECK(info_of(f).children == 6, "%u generations", info_of(f).children);
    struct bytes image = image_of(f);
    perhaps_free(f);
    return image;
}

/* Time goes on, and keys come: wrong answers are allowed, harm is not. */
static void use(perhaps *f) {
    for (uint64_t i = 0; i < 40; i++) {
        MUST(perhaps_advance(f, 1000 + i * PERIOD / 5));
        add_members(f, 1000 * i, i % 7 * 30);
        struct perhaps_info info = info_of(f);
        CHECK(info.children <= 2 * info.generations, "%u generations", info.children);
    }
    MUST(perhaps_advance(f, UINT64_MAX));
    MUST(perhaps_clear(f));
    CHECK(info_of(f).children == info_of(f).generations, "%u generations", info_of(f).children);
}

/* Quota, period, planned generations; and what must be said of them, NULL if they are possible. */
static const struct {
    uint64_t words[3];
    const char *reason;
} cases[] = {{{30, PERIOD, 4}, NULL},
             {{30, PERIOD, 3}, NULL},
             {{1, 1, 6}, NULL},
             {{UINT64_MAX, UINT64_MAX, 4}, NULL},
             {{0, 20, 0}, "build it again from its keys"}, /* as it was before there was a quota */
             {{0, PERIOD, 4}, "a period without a quota"},
             {{30, PERIOD, 0}, "an impossible number of planned generations"},
             {{30, PERIOD, 1}, "an impossible number of planned generations"},
             {{30, PERIOD, 65}, "an impossible number of planned generations"},
             {{30, PERIOD, UINT64_MAX}, "an impossible number of planned generations"},
             {{30, PERIOD, 7}, "an impossible number of generations"}, /* there are six */
             {{30, PERIOD, 2}, "an impossible number of generations"},
             {{30, 0, 4}, "not one way of forgetting"},
             {{0, 0, 0}, "not one way of forgetting"}};

static void words_of_windows_must_make_sense(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct bytes image = image_in_a_burst();
        perhaps *f = NULL;
        for (int k = 0; k < 3; k++) store64(image.data + AT_LAYOUT + 8 * (2 + k), cases[i].words[k]);
        fix_checksums(image.data, image.length);
        int rc = perhaps_open_memory(&f, image.data, image.length, &PERHAPS_OPEN(.flags = PERHAPS_OPEN_COPY));
        CHECK(rc == (cases[i].reason ? PERHAPS_EDAMAGED : PERHAPS_OK), "case %zu: %d", i, rc);
        if (cases[i].reason)
            CHECK(strstr(perhaps_why(), cases[i].reason), "%s", perhaps_why());
        else
            use(f);
        perhaps_free(f);
        free(image.data);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_of_windows_must_make_sense),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
