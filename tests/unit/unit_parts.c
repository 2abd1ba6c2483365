/* Hostile directories of static filters: refused with a reason, or harmless. */
#include "checksums.h"
#include "support.h"

#include "base/endian.h"
#include "image/header.h"
#include "kind/kind.h"
#include "static/parts.h"

#include <stdlib.h>
#include <string.h>

enum { ITEMS = 50, TWO_PARTS = 1500000, AT_ITEMS = 48, AT_LAYOUT = 72, AT_LENGTH = 112 };

static struct bytes image_for(const struct layout *layout, uint64_t items) {
    perhaps *f = make_with_members(layout, items);
    struct bytes image = image_of(f);
    perhaps_free(f);
    return image;
}

static size_t payload_start(struct bytes image) {
    return image.length - (size_t)load64(image.data + AT_LENGTH);
}

static unsigned entry_words(const struct layout *layout) {
    return kind_find(layout->row->kind)->solver->entry_words;
}

/* Wrong answers are allowed, harm is not. */
static void use_freely(perhaps *f) {
    enum { SOME = 300 };
    uint64_t keys[SOME];
    for (uint64_t i = 0; i < SOME; i++) keys[i] = member(i);
    for (uint64_t i = 0; i < SOME; i++) MUST(perhaps_contains_u64(f, keys[i]));
    MUST(perhaps_contains_many(f, &PERHAPS_KEYS_U64(keys, 0, SOME), NULL));
    struct perhaps_info info = info_of(f);
    CHECK(info.fpr_now >= 0 && info.fpr_now <= 1 && info.fill >= 0 && info.fill <= 1, "rate %g, fill %g", info.fpr_now,
          info.fill);
    perhaps *copy = NULL;
    MUST(perhaps_clone(f, &copy));
    CHECK(perhaps_equal(f, copy) == 1, "a clone differs");
    perhaps_free(copy);
}

/* In memory of just its length, so that a sanitizer sees a read past the end. Whether it opened. */
static bool open_freely(struct bytes image, unsigned flags) {
    struct bytes exact = {malloc(image.length), image.length};
    perhaps *f = NULL;
    CHECK(exact.data, "no memory");
    memcpy(exact.data, image.data, image.length);
    int rc = perhaps_open_memory(&f, exact.data, exact.length, &PERHAPS_OPEN(.flags = flags));
    CHECK((rc == PERHAPS_OK) == (f != NULL) && (f || perhaps_why()[0]), "answer %d", rc);
    CHECK(f || rc == PERHAPS_EDAMAGED || rc == PERHAPS_EFOREIGN || rc == PERHAPS_EVERSION || rc == PERHAPS_EKEY ||
              rc == PERHAPS_EDIRTY,
          "refused with %d: %s", rc, perhaps_why());
    if (f) use_freely(f);
    perhaps_free(f);
    free(exact.data);
    return rc == PERHAPS_OK;
}

/* Each byte in some ways, checksums right and unverified. */
static void every_byte_may_be_wrong(const struct layout *layout) {
    static const uint8_t flips[] = {0x01, 0x80, 0xFF, 0x40};
    static const uint64_t counts[] = {0, 1, ITEMS};
    unsigned opened = 0;
    for (size_t n = 0; n < sizeof counts / sizeof *counts; n++) {
        struct bytes image = image_for(layout, counts[n]);
        for (size_t at = 0; at < image.length; at++) {
            uint8_t before = image.data[at];
            image.data[at] ^= flips[at % 4];
            opened += open_freely(image, PERHAPS_OPEN_NO_VERIFY);
            struct bytes fixed = copy_bytes(image);
            fix_checksums(fixed.data, fixed.length);
            opened += open_freely(fixed, PERHAPS_OPEN_COPY);
            free(fixed.data);
            image.data[at] = before;
        }
        free(image.data);
    }
    CHECK(opened > 100, "only %u images opened: this tests nothing", opened);
}

static const uint64_t awkward[] = {0,
                                   1,
                                   2,
                                   3,
                                   63,
                                   64,
                                   1000,
                                   (1 << 18) - 1,
                                   1 << 18,
                                   (1 << 24) - 1,
                                   1 << 24,
                                   1 << 25,
                                   UINT32_MAX,
                                   (uint64_t)1 << 32,
                                   (uint64_t)1 << 40,
                                   (uint64_t)1 << 61,
                                   INT64_MAX,
                                   (uint64_t)1 << 63,
                                   UINT64_MAX - 7,
                                   UINT64_MAX};
enum { AWKWARD = sizeof awkward / sizeof *awkward };

/* Every word of the directory takes every awkward value, in a filter of one part and of two. */
static void awkward_entries_are_harmless(const struct layout *layout) {
    struct bytes image = image_for(layout, layout->items);
    size_t start = payload_start(image), parts = (size_t)1 << load64(image.data + AT_LAYOUT);
    for (size_t word = 0; word < parts * entry_words(layout); word++)
        for (size_t i = 0; i < AWKWARD; i++) {
            struct bytes hostile = copy_bytes(image);
            store64(hostile.data + start + 8 * word, awkward[i]);
            open_freely(hostile, PERHAPS_OPEN_NO_VERIFY);
            if (parts == 1) fix_checksums(hostile.data, hostile.length), open_freely(hostile, 0);
            free(hostile.data);
        }
    free(image.data);
}

static void expect_refusal(struct bytes image, size_t at, uint64_t value, const char *reason) {
    struct bytes hostile = copy_bytes(image);
    perhaps *f = NULL;
    store64(hostile.data + at, value);
    fix_checksums(hostile.data, hostile.length);
    REFUSED(PERHAPS_EDAMAGED, perhaps_open_memory(&f, hostile.data, hostile.length, NULL));
    CHECK(strstr(perhaps_why(), reason), "the reason is: %s", perhaps_why());
    REFUSED(PERHAPS_EDAMAGED, perhaps_open_memory(&f, hostile.data, hostile.length,
                                                  &PERHAPS_OPEN(.flags = PERHAPS_OPEN_NO_VERIFY | PERHAPS_OPEN_COPY)));
    free(hostile.data);
}

/* What does not add up is called so. */
static void directories_must_add_up(const struct layout *layout) {
    struct bytes image = image_for(layout, ITEMS);
    size_t start = payload_start(image);
    expect_refusal(image, start + 8 * PART_START, 1, "a directory");
    expect_refusal(image, start + 8 * PART_KEYS, ITEMS - 1, "a directory");
    expect_refusal(image, start + 8 * PART_KEYS, ITEMS + 1, "a directory");
    expect_refusal(image, start + 8 * PART_KEYS, UINT64_MAX, "a directory");
    expect_refusal(image, AT_ITEMS, ITEMS + 1, "a directory");
    /* Any number is a seed. */
    for (unsigned word = PART_OWN; word + 1 < entry_words(layout); word++)
        expect_refusal(image, start + 8 * word, UINT64_MAX, "a directory");
    free(image.data);
}

/* A ribbon's has no data at all. */
static void empty_parts_must_be_empty(const struct layout *layout) {
    struct bytes image = image_for(layout, 0);
    if (layout->row->kind == PERHAPS_FUSE)
        expect_refusal(image, payload_start(image) + 8 * entry_words(layout), 1, "a part without keys");
    free(image.data);
}

/* Directory and data of noise: all, or some. Changing bytes of an open filter is harmless too. */
static void noise_is_harmless(const struct layout *layout) {
    struct bytes image = image_for(layout, ITEMS);
    size_t start = payload_start(image), data = start + 8 * entry_words(layout);
    uint64_t random = 9;
    for (unsigned round = 0; round < 200; round++) {
        struct bytes hostile = copy_bytes(image);
        for (size_t at = round % 2 ? start : data; at < hostile.length; at++)
            if (round % 3 || next_random(&random) % 8 == 0) hostile.data[at] = (uint8_t)next_random(&random);
        bool opened = open_freely(hostile, PERHAPS_OPEN_NO_VERIFY);
        CHECK(opened || round % 2, "a sound directory was refused: %s", perhaps_why());
        free(hostile.data);
    }
    perhaps *f = NULL;
    MUST(perhaps_open_memory(&f, image.data, image.length, NULL));
    for (size_t at = start; at < image.length; at++) image.data[at] = (uint8_t)next_random(&random);
    count_false_positives(f, 0, 1000);
    for (uint64_t i = 0; i < 1000; i++) MUST(perhaps_contains_u64(f, member(i)));
    perhaps_free(f);
    free(image.data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        FOR_EACH_STATIC(every_byte_may_be_wrong, ITEMS),
        FOR_EACH_STATIC(awkward_entries_are_harmless, ITEMS),
        FOR_EACH_STATIC_KIND(awkward_entries_are_harmless, TWO_PARTS),
        FOR_EACH_STATIC(directories_must_add_up, ITEMS),
        FOR_EACH_STATIC(empty_parts_must_be_empty, 0),
        FOR_EACH_STATIC(noise_is_harmless, ITEMS),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
