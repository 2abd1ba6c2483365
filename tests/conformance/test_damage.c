/* A damaged image is refused with its reason, whatever byte is wrong and wherever it ends. */
#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ITEMS = 20 };

static void expect_damage(int error, struct bytes image, const char *what, size_t where) {
    static const unsigned flags[] = {0, PERHAPS_OPEN_COPY, PERHAPS_OPEN_RECOVER};
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        perhaps *f = (perhaps *)&flags;
        int rc = perhaps_open_memory(&f, image.data, image.length, &PERHAPS_OPEN(.flags = flags[i]));
        CHECK(rc < 0 && f == NULL, "%s at %zu of %zu was not noticed (flags %u)", what, where, image.length, flags[i]);
        CHECK(error == 0 || rc == error, "%s at %zu got %d where %d was due: %s", what, where, rc, error,
              perhaps_why());
        CHECK(perhaps_why()[0], "%s at %zu was refused without a reason", what, where);
    }
}

static struct bytes small_image(const struct layout *layout) {
    perhaps *f = make_with_members(layout, ITEMS);
    struct bytes image = image_of(f);
    perhaps_free(f);
    return image;
}

/* Exact memory, so that a sanitizer sees every read past the end. */
static struct bytes cut(struct bytes image, size_t length) {
    return copy_bytes((struct bytes){image.data, length});
}

/* Composite filters have many long images: each byte is flipped in one way, not in three. */
static void every_flipped_byte_is_noticed(const struct layout *layout) {
    struct bytes image = small_image(layout);
    static const uint8_t flips[] = {0x01, 0x80, 0xFF};
    for (size_t at = 0; at < image.length; at++)
        for (size_t i = is_composite(layout) ? at % 3 : 0; i < sizeof flips; i += is_composite(layout) ? 3 : 1) {
            if (at == 14 && flips[i] == 0x01 && !is_composite(layout))
                continue; /* the dirty flag alone is no damage: recovery may take it */
            image.data[at] ^= flips[i];
            expect_damage(at < 8 ? PERHAPS_EFOREIGN : 0, image, "a flipped byte", at);
            image.data[at] ^= flips[i];
        }
    free(image.data);
}

static void every_flipped_bit_is_noticed_in_files(const struct layout *layout) {
    struct bytes image = small_image(layout);
    const char *path = scratch("flipped.ph");
    for (size_t at = 0; at < image.length; at += is_composite(layout) ? 31 : 7) {
        perhaps *f = NULL;
        image.data[at] ^= (uint8_t)(1 << at % 8);
        write_whole(path, image.data, image.length);
        CHECK(perhaps_open(&f, path, NULL) < 0, "a flipped bit of byte %zu was not noticed", at);
        CHECK(strstr(perhaps_why(), path), "the reason does not name the file: %s", perhaps_why());
        image.data[at] ^= (uint8_t)(1 << at % 8);
    }
    unlink(path);
    free(image.data);
}

static void every_truncation_is_noticed(const struct layout *layout) {
    struct bytes image = small_image(layout);
    for (size_t length = 0; length < image.length; length++) {
        uint8_t *exact = malloc(length ? length : 1);
        CHECK(exact, "no memory");
        memcpy(exact, image.data, length);
        expect_damage(length ? PERHAPS_EDAMAGED : PERHAPS_EFOREIGN, (struct bytes){exact, length}, "truncation",
                      length);
        perhaps *f = NULL;
        REFUSED(length ? PERHAPS_EDAMAGED : PERHAPS_EFOREIGN,
                perhaps_open_memory(&f, exact, length, &PERHAPS_OPEN(.flags = PERHAPS_OPEN_NO_VERIFY)));
        CHECK(length == 0 || strstr(perhaps_why(), "truncated"), "the reason does not say truncated: %s",
              perhaps_why());
        free(exact);
    }
    free(image.data);
}

static void what_follows_the_end_is_noticed(const struct layout *layout) {
    struct bytes image = small_image(layout);
    for (size_t extra = 1; extra <= 5000; extra = extra * 3 + 1) {
        struct bytes longer = {calloc(1, image.length + extra), image.length + extra};
        CHECK(longer.data, "no memory");
        memcpy(longer.data, image.data, image.length);
        expect_damage(PERHAPS_EDAMAGED, longer, "a longer tail", extra);
        free(longer.data);
    }
    free(image.data);
}

/* Files of several blocks of checksums: damage anywhere is found, and awkward truncation too. */
static void large_images_are_checked_to_the_end(const struct layout *layout) {
    perhaps *f = make_with_members(layout, layout->items);
    struct bytes image = image_of(f);
    perhaps_free(f);
    size_t distance = image.length / 40 + 91;
    for (size_t at = 0; at < image.length; at += distance) {
        image.data[at] ^= 0x10;
        expect_damage(0, image, "a flipped bit", at);
        image.data[at] ^= 0x10;
        struct bytes shorter = cut(image, at);
        expect_damage(0, shorter, "truncation", at);
        free(shorter.data);
    }
    image.data[image.length - 1] ^= 0x80;
    expect_damage(PERHAPS_EDAMAGED, image, "a flipped bit", image.length - 1);
    free(image.data);
}

/* Without verification damage to the payload may give wrong answers, but every call stays safe. */
static void unverified_damage_is_harmless(const struct layout *layout) {
    struct bytes image = small_image(layout);
    perhaps *f = NULL;
    memset(image.data + image.length - 8, 0xFF, 8);
    MUST(perhaps_open_memory(&f, image.data, image.length,
                             &PERHAPS_OPEN(.flags = PERHAPS_OPEN_NO_VERIFY | PERHAPS_OPEN_COPY)));
    count_false_positives(f, 0, 1000);
    struct perhaps_info info = info_of(f);
    CHECK(info.fpr_now >= 0 && info.fpr_now <= 1, "the rate became %g", info.fpr_now);
    uint64_t added = is_static(layout) ? 0 : add_while_room(f, 0, 1000);
    /* Others may have lost keys to the damage. */
    if (!order_matters(layout)) expect_members(f, 0, added);
    for (uint64_t i = 0; layout->row->can & PERHAPS_REMOVE && i < 1000; i++)
        MUST(perhaps_remove_u64(f, member_of(f, i)));
    for (uint64_t i = 0; is_multiset(layout) && i < 1000; i++) MUST(perhaps_count_u64(f, non_member_of(f, i)));
    perhaps_free(f);
    free(image.data);
}

static void newer_formats_are_called_newer(const struct layout *layout) {
    struct bytes image = small_image(layout);
    unsigned now = image.data[8] | (unsigned)image.data[9] << 8;
    static const unsigned more[] = {1, 2, 255, 30000};
    for (size_t i = 0; i < sizeof more / sizeof *more; i++) {
        image.data[8] = (uint8_t)(now + more[i]);
        image.data[9] = (uint8_t)((now + more[i]) >> 8);
        expect_damage(PERHAPS_EVERSION, image, "a newer version", now + more[i]);
    }
    free(image.data);
}

static void foreign_bytes_are_called_foreign(const struct layout *layout) {
    struct bytes image = small_image(layout);
    uint64_t random = 17;
    for (int round = 0; round < 200; round++) {
        for (size_t i = 0; i < image.length; i++) image.data[i] = (uint8_t)next_random(&random);
        expect_damage(PERHAPS_EFOREIGN, image, "noise", (size_t)round);
    }
    memset(image.data, 0, image.length);
    expect_damage(PERHAPS_EFOREIGN, image, "zeros", 0);
    free(image.data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        FOR_EACH_LAYOUT(every_flipped_byte_is_noticed, ITEMS),
        FOR_EACH_FILTER(every_flipped_bit_is_noticed_in_files, ITEMS),
        FOR_EACH_LAYOUT(every_truncation_is_noticed, ITEMS),
        FOR_EACH_LAYOUT(what_follows_the_end_is_noticed, ITEMS),
        FOR_EACH_KIND(large_images_are_checked_to_the_end, 1000000),
        FOR_EACH_LAYOUT(unverified_damage_is_harmless, ITEMS),
        FOR_EACH_COMPOSITE(every_flipped_byte_is_noticed, ITEMS),
        FOR_EACH_COMPOSITE(every_truncation_is_noticed, ITEMS),
        FOR_EACH_COMPOSITE(what_follows_the_end_is_noticed, ITEMS),
        FOR_EACH_COMPOSITE(large_images_are_checked_to_the_end, 50000),
        FOR_EACH_COMPOSITE(unverified_damage_is_harmless, ITEMS),
        FOR_EACH_FILTER(newer_formats_are_called_newer, ITEMS),
        FOR_EACH_FILTER(foreign_bytes_are_called_foreign, ITEMS),
        FOR_EACH_STATIC(every_flipped_byte_is_noticed, ITEMS),
        FOR_EACH_STATIC_KIND(every_flipped_bit_is_noticed_in_files, ITEMS),
        FOR_EACH_STATIC(every_truncation_is_noticed, ITEMS),
        FOR_EACH_STATIC_KIND(what_follows_the_end_is_noticed, ITEMS),
        FOR_EACH_STATIC_KIND(large_images_are_checked_to_the_end, 1000000),
        FOR_EACH_STATIC(unverified_damage_is_harmless, ITEMS),
        FOR_EACH_STATIC_KIND(newer_formats_are_called_newer, ITEMS),
        FOR_EACH_STATIC_KIND(foreign_bytes_are_called_foreign, ITEMS),
    };
    return cmocka_run_group_tests(tests, NULL, remove_scratch);
}
