/*
 * Layers that growing filters make before they need them, for callers that must not wait.
 */
#include "support.h"

#include <perhaps_embed.h>

#include <stdlib.h>

static void expect_same_image(perhaps *a, perhaps *b) {
    struct bytes image = image_of(a);
    expect_unchanged(b, image);
    free(image.data);
}

/* A layer that is made ahead holds nothing and is in no image; its shape gives a replica the same.
 * It is the layer that would have been made. */
static void a_layer_made_ahead_is_the_next_one(void **state) {
    static const int kinds[] = {PERHAPS_BLOCKED, PERHAPS_CUCKOO};
    enum { FIRST = 300000, STEP = 1000 };
    (void)state;
    for (size_t k = 0; k < 2; k++) {
        perhaps_want want = PERHAPS_WANT(.kind = kinds[k], .items = FIRST, .fpr = 0.005, .grow = PERHAPS_GROW_LAYERS);
        perhaps *prepared = make(&want), *plain = make(&want), *replica = make(&want);
        uint64_t keys = 0, capacity = info_of(plain).capacity, layers_ahead = 0;
        uint8_t shape[2048];
        while (keys < capacity + capacity / 4) {
            for (uint64_t i = 0; i < STEP; i++, keys++) {
                MUST(perhaps_add_u64(plain, member(keys)));
                MUST(perhaps_add_u64(prepared, member(keys)));
                MUST(perhaps_add_u64(replica, member(keys)));
            }
            perhaps_prepare_layer(replica, STEP);
            if (!perhaps_prepare_layer(prepared, STEP)) continue;
            MUST(perhaps_make_layer(prepared));
            layers_ahead++;
            CHECK(perhaps_layers(prepared) == 1 && info_of(prepared).children == 1, "it is in use");
            CHECK(keys < capacity, "made too late, at %llu", (unsigned long long)keys);
            CHECK(!perhaps_prepare_layer(prepared, STEP), "it is asked for again");
            expect_same_image(prepared, plain);
            int64_t length = MUST(perhaps_shape(prepared, shape, sizeof shape));
            CHECK((size_t)length <= sizeof shape, "the shape has %lld bytes", (long long)length);
            MUST(perhaps_reshape(replica, shape, (size_t)length));
            CHECK(!perhaps_prepare_layer(replica, STEP), "the replica has not got the layer");
            expect_same_image(replica, plain);
        }
        CHECK(layers_ahead == 1 && perhaps_layers(plain) == 2, "%u layers", perhaps_layers(plain));
        expect_same_image(prepared, plain);
        expect_same_image(replica, plain);
        perhaps_free(prepared);
        perhaps_free(plain);
        perhaps_free(replica);
    }
    perhaps *single = make(&PERHAPS_WANT(.kind = PERHAPS_BLOCKED, .items = 1000, .fpr = 0.01));
    CHECK(perhaps_layers(single) == 0 && !perhaps_prepare_layer(single, 1), "a filter without layers has some");
    REFUSED(PERHAPS_ECANNOT, perhaps_make_layer(single));
    perhaps_free(single);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_layer_made_ahead_is_the_next_one),
    };
    return cmocka_run_group_tests(tests, NULL, remove_scratch);
}
