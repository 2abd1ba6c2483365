/* Hostile recipes in images: refused with a reason, or kept as they are where harmless. */
#include "checksums.h"
#include "support.h"

#include "base/endian.h"
#include "image/header.h"
#include "image/recipe.h"

#include <perhaps_embed.h>

#include <stdlib.h>
#include <string.h>

enum { AT_RECIPE = 13, AT_FLAGS = 14, ITEMS = 50 };

/* A bloom filter whose recipe is these bytes, padded to words. */
static struct bytes image_with(const void *steps, size_t length, size_t words) {
    perhaps *f = make(&PERHAPS_WANT(.kind = PERHAPS_BLOOM, .items = ITEMS, .fpr = 0.01));
    add_members(f, 0, ITEMS);
    struct bytes image = image_of(f);
    uint64_t payload = load64(image.data + 112), from = image_offset(payload, 0), to = image_offset(payload, 8 * words);
    struct bytes made = {calloc(1, to + payload), to + payload};
    CHECK(made.data, "no memory");
    memcpy(made.data, image.data, from);
    memcpy(made.data + to, image.data + from, payload);
    made.data[AT_RECIPE] = (uint8_t)words;
    store16(made.data + AT_FLAGS, (uint16_t)(load16(made.data + AT_FLAGS) | HEADER_HAS_RECIPE));
    memcpy(made.data + HEADER_BYTES + 8, steps, length);
    fix_checksums(made.data, made.length);
    free(image.data);
    perhaps_free(f);
    return made;
}

static int open_with(const void *steps, size_t length, size_t words, perhaps **f) {
    static const unsigned flags[] = {PERHAPS_OPEN_NO_VERIFY, PERHAPS_OPEN_RECOVER, PERHAPS_OPEN_COPY};
    struct bytes image = image_with(steps, length, words);
    int rc = perhaps_open_memory(f, image.data, image.length, &PERHAPS_OPEN(.flags = PERHAPS_OPEN_COPY));
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        perhaps *again = NULL;
        int other = perhaps_open_memory(&again, image.data, image.length, &PERHAPS_OPEN(.flags = flags[i]));
        CHECK(other == rc, "%d with flags %u, else %d", other, flags[i], rc);
        perhaps_free(again);
    }
    free(image.data);
    return rc;
}

#define STEPS(...) (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__})

static void expect(int error, const void *steps, size_t length, size_t words) {
    perhaps *f = NULL;
    int rc = open_with(steps, length, words, &f);
    CHECK(rc == error, "%d, not %d: %s", rc, error, rc ? perhaps_why() : "opened");
    CHECK(!rc || perhaps_why()[0], "no reason");
    perhaps_free(f);
}

static void damaged_lists_are_refused(void **state) {
    (void)state;
    expect(PERHAPS_EDAMAGED, STEPS(0), 1);                             /* no steps */
    expect(PERHAPS_EDAMAGED, STEPS(1, 0, 1, 0), 1);                    /* twice */
    expect(PERHAPS_EDAMAGED, STEPS(129, 4, 1, 0, 0, 0, 128, 1, 1), 2); /* out of order */
    expect(PERHAPS_EDAMAGED, STEPS(1, 0, 130, 5, ','), 1);             /* a value beyond the end */
    expect(PERHAPS_EDAMAGED, STEPS(1, 0, 200, 255), 1);                /* the same */
    /* A step cut off, or padding. */
    expect(PERHAPS_EDAMAGED, STEPS(1, 0, 0, 0, 0, 0, 0, 130), 1);
    /* Padding that is not zero. */
    expect(PERHAPS_EDAMAGED, STEPS(1, 0, 0, 7), 1);
    /* More of it than there need be. */
    expect(PERHAPS_EDAMAGED, STEPS(1, 0), 2);
    expect(PERHAPS_EDAMAGED, STEPS(1, 0), 255); /* much more */
    /* Hexadecimal, ignoring case. */
    expect(PERHAPS_EDAMAGED, STEPS(1, 0, 2, 1, 1), 1);
    expect(PERHAPS_OK, STEPS(1, 0), 1);
    expect(PERHAPS_OK, STEPS(130, 6, 'a', 'b', 'c', 'd', 'e', 'f'), 1); /* up to the last byte */
}

static void unknown_transformations_are_refused(void **state) {
    (void)state;
    expect(PERHAPS_EVERSION, STEPS(3, 0), 1);
    expect(PERHAPS_EVERSION, STEPS(127, 2, 1, 2), 1);
    expect(PERHAPS_EVERSION, STEPS(1, 1, 1), 1); /* ignoring case in another way */
    expect(PERHAPS_EVERSION, STEPS(2, 1, 0), 1); /* forms that are not known */
    expect(PERHAPS_EVERSION, STEPS(2, 1, 6), 1);
    expect(PERHAPS_EVERSION, STEPS(2, 2, 1, 1), 1);
    expect(PERHAPS_EVERSION, STEPS(2, 0), 1);
    perhaps *f = NULL;
    open_with(STEPS(77, 0), 1, &f);
    CHECK(strstr(perhaps_why(), "77") && strstr(perhaps_why(), "update"), "%s", perhaps_why());
}

/* The place of keys in records of a later version is kept, byte for byte, and reported. */
static void unknown_extraction_is_kept(void **state) {
    static const struct {
        uint8_t steps[16];
        size_t length, words;
        int number;
    } cases[] = {
        {{255, 3, 1, 2, 3}, 5, 1, 255},
        {{200, 0}, 2, 1, 200},
        {{129, 8, 1, 0, 0, 0, 2, 0, 0, 0}, 10, 2, 129}, /* two fields */
        {{129, 4, 0, 0, 0, 0}, 6, 1, 129},
        {{130, 2, ',', ' '}, 4, 1, 130}, /* a delimiter of two bytes */
        {{128, 1, 7}, 3, 1, 128},
        /* CSV without a delimiter, JSON lines without a path, with a header, with a field. */
        {{128, 1, 3}, 3, 1, 128},
        {{128, 1, 6}, 3, 1, 128},
        {{128, 1, 6, 131, 1, '.', 132, 0}, 8, 1, 128},
        {{128, 1, 6, 129, 4, 1, 0, 0, 0, 131, 1, '.'}, 12, 2, 129},
        /* A field, and where it is; other tables with a delimiter. */
        {{129, 4, 1, 0, 0, 0, 130, 1, ',', 131, 1, '2'}, 12, 2, 129},
        {{128, 1, 4, 130, 1, ',', 131, 1, '2'}, 9, 2, 130},
        {{131, 1, '2'}, 3, 1, 131},
        {{131, 0}, 2, 1, 131},
        {{130, 1, ',', 131, 1, 0}, 6, 1, 131},
        {{130, 1, ',', 131, 1, 27}, 6, 1, 131},
        {{128, 1, 3, 130, 1, '"'}, 6, 1, 130},
        {{132, 1, 1}, 3, 1, 132},
        {{133, 1, 1}, 3, 1, 133},
        {{2, 1, 2, 128, 1, 2, 133, 0}, 8, 1, 128},
        {{128, 0, 201, 0}, 4, 1, 128},
        /* Raw records of what is no number. */
        {{128, 1, 2}, 3, 1, 128},
        {{2, 1, 2, 128, 1, 2, 129, 4, 1, 0, 0, 0, 130, 1, ','}, 15, 2, 128}, /* with fields */
        /* A field without a delimiter. */
        {{129, 4, 1, 0, 0, 0}, 6, 1, 129},
        /* And the other way round. */
        {{130, 1, ','}, 3, 1, 130},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        perhaps *f = NULL, *copy;
        MUST(open_with(cases[i].steps, cases[i].length, cases[i].words, &f));
        perhaps_recipe told = PERHAPS_RECIPE(.form = 0);
        MUST(perhaps_clone(f, &copy));
        MUST(perhaps_recipe_of(copy, &told));
        CHECK(told.unknown == cases[i].number, "step %d is unknown, not %d", told.unknown, cases[i].number);
        struct bytes again = image_of(copy), made = image_with(cases[i].steps, cases[i].length, cases[i].words);
        CHECK(same_bytes(again, made), "saved, it has other bytes");
        expect_members(copy, 0, ITEMS);
        free(again.data), free(made.data);
        perhaps_free(copy), perhaps_free(f);
    }
}

/* A length without the flag is an early file's tag; the flag without a length is nonsense. */
static void the_flag_goes_with_a_length(void **state) {
    (void)state;
    perhaps *f = make(&PERHAPS_WANT(.kind = PERHAPS_BLOOM, .items = ITEMS, .fpr = 0.01)), *g = NULL;
    struct bytes image = image_of(f);
    for (unsigned tag = 1; tag < 256; tag++) {
        image.data[AT_RECIPE] = (uint8_t)tag;
        fix_checksums(image.data, image.length);
        REFUSED(PERHAPS_EVERSION, perhaps_open_memory(&g, image.data, image.length, NULL));
        CHECK(strstr(perhaps_why(), "build it again"), "%s", perhaps_why());
    }
    image.data[AT_RECIPE] = 0;
    image.data[AT_FLAGS] |= HEADER_HAS_RECIPE;
    fix_checksums(image.data, image.length);
    REFUSED(PERHAPS_EDAMAGED, perhaps_open_memory(&g, image.data, image.length, NULL));
    free(image.data);
    perhaps_free(f);
}

/* Cut off anywhere, with whatever bit turned: refused. */
static void damage_is_noticed(void **state) {
    (void)state;
    struct bytes image = image_with(STEPS(1, 0, 129, 4, 2, 0, 0, 0, 130, 1, ','), 2);
    perhaps *f = NULL;
    for (size_t length = 0; length < image.length; length++) {
        int rc = perhaps_open_memory(&f, image.data, length, NULL);
        CHECK(rc < 0, "%zu bytes were enough", length);
    }
    for (size_t bit = 0; bit < 8 * image.length; bit++) {
        if (bit == 8 * AT_FLAGS) continue; /* dirty */
        image.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
        int rc = perhaps_open_memory(&f, image.data, image.length, NULL);
        CHECK(rc < 0, "bit %zu may be turned", bit);
        image.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    free(image.data);
}

/* A shape has the recipe too: cut off anywhere, or with a bit turned, it is refused. */
static void damaged_shapes_are_refused(void **state) {
    (void)state;
    perhaps *f = make(&PERHAPS_WANT(.kind = PERHAPS_BLOOM, .items = ITEMS, .fpr = 0.01, .shards = 2,
                                    .recipe = &PERHAPS_RECIPE(.ignore_case = 1, .field = 7)));
    uint8_t shape[4 * HEADER_BYTES];
    size_t length = (size_t)MUST(perhaps_shape(f, shape, sizeof shape));
    CHECK(length > 3 * (size_t)HEADER_BYTES, "%zu bytes", length);
    perhaps *g = NULL;
    for (size_t part = 0; part < length; part++)
        CHECK(perhaps_create_shape(&g, shape, part, NULL) < 0, "%zu bytes are enough", part);
    for (size_t bit = 0; bit < 8 * length; bit++) {
        shape[bit / 8] ^= (uint8_t)(1 << bit % 8);
        CHECK(perhaps_create_shape(&g, shape, length, NULL) < 0, "bit %zu may be turned", bit);
        shape[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    MUST(perhaps_create_shape(&g, shape, length, NULL));
    perhaps_free(g);
    perhaps_free(f);
}

/* Only the whole has one. */
static void a_child_has_none(void **state) {
    (void)state;
    perhaps *whole = make(&PERHAPS_WANT(.kind = PERHAPS_BLOOM, .items = ITEMS, .fpr = 0.01, .shards = 1)), *f = NULL;
    struct bytes image = image_of(whole), child = image_with(STEPS(1, 0), 1);
    uint64_t start = image_offset(32, 0) + 32;
    start = (start + 63) / 64 * 64;
    struct bytes hostile = {calloc(1, start + child.length), start + child.length};
    CHECK(hostile.data, "no memory");
    memcpy(hostile.data, image.data, start);
    memcpy(hostile.data + start, child.data, child.length);
    store64(hostile.data + image_offset(32, 0) + 8, child.length);
    fix_checksums(hostile.data, hostile.length);
    REFUSED(PERHAPS_EDAMAGED, perhaps_open_memory(&f, hostile.data, hostile.length, NULL));
    CHECK(strstr(perhaps_why(), "recipe"), "%s", perhaps_why());
    free(image.data), free(child.data), free(hostile.data);
    perhaps_free(whole);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(damaged_lists_are_refused),  cmocka_unit_test(unknown_transformations_are_refused),
        cmocka_unit_test(unknown_extraction_is_kept), cmocka_unit_test(the_flag_goes_with_a_length),
        cmocka_unit_test(damage_is_noticed),          cmocka_unit_test(a_child_has_none),
        cmocka_unit_test(damaged_shapes_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
