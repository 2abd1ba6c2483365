/* Packed filters: the same filters, in hardly more bytes than their arrays. */
#include "support.h"

#include <perhaps_embed.h>

#include <stdlib.h>

enum { ITEMS = 600 };

struct packed {
    uint8_t head[4096], *bytes;
    perhaps_packed is;
};

/* Into new memory of just the lengths that it takes, which `bytes` owns. */
static int pack(const perhaps *f, const perhaps_packed *old, struct packed *packed) {
    packed->is = (perhaps_packed){NULL, 0, NULL, 0};
    int rc = perhaps_pack(f, old, &packed->is);
    packed->bytes = NULL;
    if (rc != PERHAPS_ERANGE) return rc;
    CHECK(packed->is.head_length <= sizeof packed->head, "a head of %zu bytes", packed->is.head_length);
    bool in_place = packed->is.bytes;
    packed->bytes = malloc(packed->is.length + 1);
    packed->is.head = packed->head;
    packed->is.bytes = packed->bytes;
    MUST(perhaps_pack(f, old, &packed->is));
    if (!in_place) return PERHAPS_OK;
    CHECK(packed->is.bytes == old->bytes, "what is in place has moved");
    free(packed->bytes);
    packed->bytes = NULL;
    return PERHAPS_OK;
}

static bool can_be_packed(const perhaps *f) {
    struct perhaps_info info = info_of(f);
    return (!info.children || info.kind == PERHAPS_GROWING) && info.kind != PERHAPS_BITMAP;
}

/* With few keys, and with many: the same filter, which takes keys where it was unpacked. */
static void packed_filters_are_the_same(const struct layout *layout) {
    static const unsigned numbers[] = {0, 1, 20, ITEMS / 2};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        perhaps *f = make_with_members(layout, numbers[i]), *again, *copy;
        struct packed first, second;
        if (!can_be_packed(f)) {
            REFUSED(PERHAPS_ECANNOT, pack(f, NULL, &first));
            perhaps_free(f);
            return;
        }
        MUST(pack(f, NULL, &first));
        CHECK(first.is.length <= info_of(f).bytes, "%zu bytes for arrays of %llu", first.is.length,
              (unsigned long long)info_of(f).bytes);
        MUST(perhaps_unpack(&again, &first.is, NULL));
        CHECK(perhaps_equal(f, again) == 1, "unpacked, it is another filter");
        add_members(f, numbers[i], ITEMS / 4);
        add_members(again, numbers[i], ITEMS / 4);
        MUST(pack(again, &first.is, &second));
        perhaps_free(again);
        MUST(perhaps_unpack_copy(&copy, &second.is, NULL));
        CHECK(perhaps_equal(f, copy) == 1, "after two packings, it is another filter");
        expect_members(copy, 0, numbers[i] + ITEMS / 4);
        perhaps_free(f), perhaps_free(copy);
        free(first.bytes), free(second.bytes);
    }
}

static void nearly_empty_filters_are_packed_small(void **state) {
    (void)state;
    perhaps *f = make(&PERHAPS_WANT(.kind = PERHAPS_BLOOM, .items = 1000, .fpr = 0.01));
    struct packed packed;
    add_members(f, 0, 1);
    MUST(pack(f, NULL, &packed));
    CHECK(packed.is.head_length + packed.is.length < 100, "%zu and %zu bytes", packed.is.head_length, packed.is.length);
    free(packed.bytes);
    perhaps_free(f);
}

int main(void) {
    const struct CMUnitTest all[] = {
        FOR_EACH_FILTER(packed_filters_are_the_same, ITEMS),
        cmocka_unit_test(nearly_empty_filters_are_packed_small),
    };
    return cmocka_run_group_tests(all, NULL, remove_scratch);
}
