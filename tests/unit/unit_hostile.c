/*
 * Headers made by someone who knows the format and computes right checksums over nonsense: refused
 * with a reason, and without allocating what they claim to need.
 */
#include "checksums.h"
#include "foreign.h"

#include "base/endian.h"
#include "image/directory.h"
#include "image/header.h"

#include <perhaps_embed.h>

#include <stdlib.h>
#include <string.h>

enum { ITEMS = 50 };

static size_t allocated;

static void *count_and_allocate(void *context, size_t size) {
    (void)context;
    allocated += size;
    return aligned_alloc(64, (size + 63) / 64 * 64);
}

static void release(void *context, void *memory, size_t size) {
    (void)context;
    (void)size;
    free(memory);
}

static const perhaps_allocator counting = {.allocate = count_and_allocate, .release = release};

static struct bytes image_for(const struct layout *layout) {
    perhaps *f = make_with_members(layout, ITEMS);
    struct bytes image = image_of(f);
    perhaps_free(f);
    return image;
}

/* In every mode of opening; a copy may take memory for the image that is there, not more. */
static int open_hostile(struct bytes image) {
    static const unsigned flags[] = {0, PERHAPS_OPEN_NO_VERIFY, PERHAPS_OPEN_RECOVER, PERHAPS_OPEN_COPY,
                                     PERHAPS_OPEN_COPY | PERHAPS_OPEN_NO_VERIFY | PERHAPS_OPEN_RECOVER};
    int answer = 0;
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        perhaps *f = NULL;
        allocated = 0;
        int rc =
            perhaps_open_memory(&f, image.data, image.length, &PERHAPS_OPEN(.flags = flags[i], .allocator = &counting));
        CHECK(allocated < 2 * image.length + 16384, "%zu bytes were allocated for an image of %zu", allocated,
              image.length);
        CHECK(rc == 0 || perhaps_why()[0], "refused without a reason");
        perhaps_free(f);
        if (i == 0)
            answer = rc;
        else
            CHECK(answer == rc, "flags %u give %d, no flags %d", flags[i], rc, answer);
    }
    return answer;
}

/* Puts `value` (size bytes, little-endian) at `at`, fixes the checksums, and wants a refusal. */
static void expect_refusal(struct bytes image, size_t at, unsigned size, uint64_t value, int error) {
    struct bytes hostile = copy_bytes(image);
    for (unsigned i = 0; i < size; i++) hostile.data[at + i] = (uint8_t)(value >> 8 * i);
    fix_checksums(hostile.data, hostile.length);
    int rc = open_hostile(hostile);
    CHECK(rc == error, "the value %llx at %zu got %d, not %d: %s", (unsigned long long)value, at, rc, error,
          perhaps_why());
    free(hostile.data);
}

static const uint64_t awkward[] = {0,
                                   1,
                                   7,
                                   63,
                                   64,
                                   65,
                                   1000,
                                   UINT32_MAX,
                                   (uint64_t)1 << 32,
                                   (uint64_t)1 << 40,
                                   INT64_MAX / 2,
                                   INT64_MAX / 2 + 1,
                                   INT64_MAX,
                                   (uint64_t)1 << 63,
                                   UINT64_MAX - 63,
                                   UINT64_MAX - 7,
                                   UINT64_MAX};
enum { AWKWARD = sizeof awkward / sizeof *awkward };

static void impossible_fields_are_refused(const struct layout *layout) {
    struct bytes image = image_for(layout);
    expect_refusal(image, 8, 2, 0, PERHAPS_EDAMAGED); /* format version */
    expect_refusal(image, 8, 2, 2, PERHAPS_EVERSION);
    expect_refusal(image, 10, 2, 0, PERHAPS_EDAMAGED); /* kind */
    expect_refusal(image, 10, 2, 999, PERHAPS_EDAMAGED);
    expect_refusal(image, 12, 1, 0, PERHAPS_EDAMAGED); /* hash */
    expect_refusal(image, 12, 1, 77, PERHAPS_EDAMAGED);
    expect_refusal(image, 14, 2, HEADER_HAS_KEY, PERHAPS_EDAMAGED); /* flags */
    expect_refusal(image, 14, 2, 0x8000, PERHAPS_EDAMAGED);
    /* A seed where nothing is hashed. */
    if (!layout->hashed) expect_refusal(image, 24, 8, 1, PERHAPS_EDAMAGED);
    expect_refusal(image, 12, 1, layout->hashed ? PERHAPS_IDENTITY : PERHAPS_XXH3, PERHAPS_EDAMAGED);
    expect_refusal(image, 56, 8, 0, PERHAPS_EDAMAGED); /* capacity */
    /* A key, without its flag. */
    expect_refusal(image, 32, 8, 1, PERHAPS_EDAMAGED);
    expect_refusal(image, 64, 8, UINT64_C(0x7FF8000000000000), PERHAPS_EDAMAGED); /* not a number */
    expect_refusal(image, 64, 8, UINT64_C(0xBFF0000000000000), PERHAPS_EDAMAGED); /* -1 */
    expect_refusal(image, 64, 8, UINT64_C(0x4000000000000000), PERHAPS_EDAMAGED); /* 2 */
    /* The checksum table is computed anew: this one is fine. */
    expect_refusal(image, 127, 1, 0xFF, 0);
    free(image.data);
}

/* A file must not be able to say that the caller's secret key is to be written into it, nor carry a
 * secret key that is not its own: with the right key given, it would be saved with the secret in
 * clear, or in a state that nobody can open. */
static void a_file_cannot_request_the_secret_key(const struct layout *layout) {
    static const uint8_t key[16] = "a secret, really";
    if (!layout->hashed) return;
    perhaps_want want = layout->want;
    want.hash = PERHAPS_SIPHASH;
    want.hash_key = key;
    perhaps *f = make(&want), *g = NULL;
    struct bytes image = image_of(f);
    for (unsigned flags = HEADER_HAS_KEY; flags <= HEADER_FLAGS; flags += HEADER_HAS_KEY) {
        if (!(flags & (HEADER_HAS_KEY | HEADER_KEY_IN_FILE))) continue;
        struct bytes hostile = copy_bytes(image);
        hostile.data[14] = (uint8_t)flags;
        if (flags & HEADER_HAS_KEY) hostile.data[32] = 1;
        fix_checksums(hostile.data, hostile.length);
        REFUSED(PERHAPS_EDAMAGED,
                perhaps_open_memory(&g, hostile.data, hostile.length, &PERHAPS_OPEN(.hash_key = key)));
        free(hostile.data);
    }
    free(image.data);
    perhaps_free(f);
}

/* Every word of the layout, and the payload's length, take awkward values: opened or refused. */
static void hostile_layouts_are_harmless(const struct layout *layout) {
    struct bytes image = image_for(layout);
    for (size_t word = 0; word <= LAYOUT_WORDS; word++)
        for (size_t i = 0; i < AWKWARD; i++) {
            struct bytes hostile = copy_bytes(image);
            store64(hostile.data + 72 + 8 * word, awkward[i]);
            fix_checksums(hostile.data, hostile.length);
            int rc = open_hostile(hostile);
            CHECK(rc == PERHAPS_EDAMAGED || rc == 0, "word %zu = %llx got %d: %s", word, (unsigned long long)awkward[i],
                  rc, perhaps_why());
            free(hostile.data);
        }
    free(image.data);
}

/* A layout that needs more payload than there is, with lengths that agree as far as possible. */
static void layout_and_length_must_agree(const struct layout *layout) {
    struct bytes image = image_for(layout);
    for (size_t extra = 64; extra <= 4096; extra *= 4) {
        struct bytes longer = {calloc(1, image.length + extra), image.length + extra};
        CHECK(longer.data, "no memory");
        memcpy(longer.data, image.data, image.length);
        store64(longer.data + 112, load64(image.data + 112) + extra);
        fix_checksums(longer.data, longer.length);
        CHECK(open_hostile(longer) == PERHAPS_EDAMAGED, "a payload %zu bytes longer than its layout was accepted",
              extra);
        free(longer.data);
    }
    free(image.data);
}

/* Sound in every number that memory depends on, absurd in those that only people read. */
static void absurd_counts_are_harmless(const struct layout *layout) {
    struct bytes image = image_for(layout);
    for (size_t at = 48; at <= 56; at += 8)
        for (size_t i = 0; i < AWKWARD; i++) {
            struct bytes hostile = copy_bytes(image);
            perhaps *f = NULL;
            store64(hostile.data + at, awkward[i]);
            fix_checksums(hostile.data, hostile.length);
            if (perhaps_open_memory(&f, hostile.data, hostile.length, &PERHAPS_OPEN(.flags = PERHAPS_OPEN_COPY)) == 0) {
                expect_members(f, 0, ITEMS);
                info_of(f);
                if (!is_static(layout)) expect_members(f, ITEMS, add_while_room(f, ITEMS, ITEMS));
                expect_members(f, 0, ITEMS);
            }
            perhaps_free(f);
            free(hostile.data);
        }
    free(image.data);
}

/* ---- payloads that no sequence of calls could have made ---- */

/* Every call, on a hostile image: wrong answers are allowed, harm and endless loops are not. */
static void use_hostile(perhaps *f, const struct layout *layout) {
    unsigned can = layout->row->can;
    uint64_t at = 0, digest, listed = 0;
    count_false_positives(f, 0, 10);
    info_of(f);
    uint64_t added = is_static(layout) ? 0 : add_while_room(f, 0, 10);
    /* Where keys move about, one of them may meet nonsense. */
    if (!order_matters(layout)) expect_members(f, 0, added);
    for (uint64_t i = 0; i < 10; i++) {
        if (can & PERHAPS_REMOVE) MUST(perhaps_remove_u64(f, member_of(f, i)));
        /* Any number, also one beyond 2^63. */
        if (can & PERHAPS_COUNT) perhaps_count_u64(f, member_of(f, i));
    }
    if (can & PERHAPS_LIST)
        while (perhaps_next(f, &at, &digest) == 1 && listed < 100000) listed++;
    CHECK(listed < 100000, "the list has no end");
}

/* The same with two of them. */
static void combine_hostile(perhaps *f, const struct layout *layout, struct bytes image) {
    perhaps *other = NULL, *sound = make_with_members(layout, ITEMS / 2);
    MUST(perhaps_open_memory(&other, image.data, image.length, &PERHAPS_OPEN(.flags = PERHAPS_OPEN_NO_VERIFY)));
    static int (*const verbs[])(perhaps *, const perhaps *) = {perhaps_merge, perhaps_intersect, perhaps_subtract,
                                                               perhaps_differ};
    for (size_t i = 0; i < 4; i++) {
        int rc = verbs[i](sound, other);
        CHECK(rc == PERHAPS_OK || perhaps_why()[0], "refused without a reason");
        rc = verbs[i](f, sound);
        CHECK(rc == PERHAPS_OK || perhaps_why()[0], "refused without a reason");
        verbs[i](f, f);
    }
    struct perhaps_overlap overlap = {.size = sizeof overlap};
    perhaps_overlap(f, other, &overlap);
    perhaps_overlap(other, sound, &overlap);
    perhaps_overlap(sound, other, &overlap);
    use_hostile(sound, layout);
    perhaps_free(other);
    perhaps_free(sound);
}

static bool open_and_use(struct bytes hostile, const struct layout *layout) {
    perhaps *f = NULL;
    fix_checksums(hostile.data, hostile.length);
    if (perhaps_open_memory(&f, hostile.data, hostile.length, &PERHAPS_OPEN(.flags = PERHAPS_OPEN_COPY)) < 0)
        return false;
    use_hostile(f, layout);
    combine_hostile(f, layout, hostile);
    MUST(perhaps_clear(f));
    uint64_t added = add_while_room(f, 0, 10);
    seal(f);
    expect_members(f, 0, added);
    perhaps_free(f);
    return true;
}

/* Random doctoring of everything, checksums right: whatever opens must answer without harm. */
static void doctored_images_are_harmless(const struct layout *layout) {
    struct bytes image = image_for(layout);
    uint64_t random = 5;
    unsigned opened = 0, rounds = test_size() == TEST_SMALL ? 30 : 300;
    for (unsigned round = 0; round < rounds; round++) {
        struct bytes hostile = copy_bytes(image);
        for (uint64_t changes = 1 + next_random(&random) % 4; changes; changes--) {
            size_t at = 8 + (size_t)(next_random(&random) % (hostile.length - 8));
            hostile.data[at] = (uint8_t)next_random(&random);
        }
        opened += open_and_use(hostile, layout);
        free(hostile.data);
    }
    CHECK(opened > rounds / 30, "only %u of %u doctored images opened: this tests nothing", opened, rounds);
    free(image.data);
}

/* The header is sound, the payload noise: all, its beginning, its end; ones; words just beyond. */
static void payloads_of_noise_are_harmless(const struct layout *layout) {
    struct bytes image = image_for(layout);
    size_t payload = (size_t)load64(image.data + 112), start = image.length - payload;
    uint64_t random = 6;
    unsigned rounds = test_size() == TEST_SMALL ? 8 : 60;
    for (unsigned round = 0; round < rounds; round++) {
        struct bytes hostile = copy_bytes(image);
        size_t first = start + (size_t)(next_random(&random) % payload) * (round % 3 == 1);
        size_t last = hostile.length - (size_t)(next_random(&random) % payload) * (round % 3 == 2);
        for (size_t at = first; at < last; at++)
            hostile.data[at] = round % 8 == 7 ? 0xFF : (uint8_t)next_random(&random);
        for (size_t at = start + payload / 8 * 4; round % 8 == 6 && at + 8 <= hostile.length; at += 8)
            store64(hostile.data + at, awkward[next_random(&random) % AWKWARD]);
        CHECK(open_and_use(hostile, layout), "an image with a sound header was refused: %s", perhaps_why());
        free(hostile.data);
    }
    free(image.data);
}

/* The first layer has all of the rate: growing again would be refused, so it does not ungrow. */
static void what_cannot_grow_again_does_not_ungrow(void **state) {
    enum { FPR_AT = 64 };
    perhaps *f = make(&PERHAPS_WANT(.kind = PERHAPS_BLOOM, .items = 100, .fpr = 0.01, .grow = PERHAPS_GROW_LAYERS));
    (void)state;
    for (uint64_t less = 0; less < 2; less++) {
        struct bytes hostile = image_of(f);
        uint64_t child = load64(hostile.data + image_offset(ENTRY_BYTES, 0));
        store64(hostile.data + FPR_AT, load64(hostile.data + child + FPR_AT) - less);
        fix_checksums(hostile.data, hostile.length);
        perhaps *g;
        MUST(perhaps_open_memory(&g, hostile.data, hostile.length, &PERHAPS_OPEN(.flags = PERHAPS_OPEN_COPY)));
        REFUSED(PERHAPS_ECANNOT, perhaps_ungrow_layers(&g));
        add_members(g, 0, 50);
        CHECK(info_of(g).kind == PERHAPS_GROWING, "it is of kind %d", info_of(g).kind);
        perhaps_free(g);
        free(hostile.data);
    }
    perhaps_free(f);
}

/* ---- foreign formats ---- */

/* What opens as an image is exported as foreign bytes, and those open: at once, and after use. */
static void expect_a_way_out(perhaps *f) {
    for (unsigned use = 0; use < 2; use++) {
        perhaps *again;
        struct bytes bytes = foreign_bytes_of(f);
        MUST(perhaps_open_foreign(&again, kind_of(f), bytes.data, bytes.length, NULL));
        perhaps_free(again);
        free(bytes.data);
        for (uint64_t i = 0; i < 30; i++) (void)perhaps_add_u64(f, member(1000 + i));
        for (uint64_t i = 0; i < 200 && info_of(f).can & PERHAPS_REMOVE; i++) MUST(perhaps_remove_u64(f, member(i)));
    }
}

/* Whether it opened. */
static bool open_doctored(struct bytes hostile, unsigned flags) {
    perhaps *f;
    fix_checksums(hostile.data, hostile.length);
    if (perhaps_open_memory(&f, hostile.data, hostile.length, &PERHAPS_OPEN(.flags = PERHAPS_OPEN_COPY | flags)) < 0)
        return false;
    expect_a_way_out(f);
    perhaps_free(f);
    return true;
}

/* Whole words, most of them in the headers of the filter or of a layer, or at a payload's end. */
static void doctored_images_of_others_have_a_way_out(void **state) {
    unsigned rounds = test_size() == TEST_SMALL ? 1500 : 15000, opened = 0;
    uint64_t random = 7;
    (void)state;
    for (unsigned round = 0; round < rounds; round++) {
        perhaps *f = filled(round % SORTS, round % 150);
        struct bytes hostile = image_of(f);
        uint64_t child =
            info_of(f).children ? load64(hostile.data + image_offset(ENTRY_BYTES * info_of(f).children, 0)) : 0;
        for (uint64_t changes = 1 + next_random(&random) % 3; changes; changes--) {
            uint64_t where = next_random(&random) % 4, word = awkward[next_random(&random) % AWKWARD];
            size_t at = where == 0   ? 48 + 8 * (size_t)(next_random(&random) % 8)
                        : where == 1 ? (size_t)child + 48 + 8 * (size_t)(next_random(&random) % 8)
                        : where == 2 ? hostile.length - 8 - 8 * (size_t)(next_random(&random) % 4)
                                     : (size_t)(next_random(&random) % (hostile.length - 8));
            store64(hostile.data + at, word);
        }
        opened += open_doctored(hostile, round % 7 ? 0 : PERHAPS_OPEN_NO_VERIFY);
        free(hostile.data);
        perhaps_free(f);
    }
    CHECK(opened > rounds / 30 && opened < rounds, "%u of %u opened", opened, rounds);
}

static void expect_no_way_in(unsigned sort, size_t layers, size_t at, uint64_t word) {
    perhaps *f = filled(sort, 150);
    struct bytes hostile = image_of(f);
    uint64_t directory = image_offset(ENTRY_BYTES * info_of(f).children, 0);
    for (size_t i = 0; i < layers; i++)
        store64(hostile.data + load64(hostile.data + directory + i * ENTRY_BYTES) + at, word);
    if (!layers) store64(hostile.data + hostile.length - at, word);
    CHECK(!open_doctored(hostile, 0) && !open_doctored(hostile, PERHAPS_OPEN_NO_VERIFY), "%llx at %zu has opened",
          (unsigned long long)word, at);
    free(hostile.data);
    perhaps_free(f);
}

/* Items, capacity and rate of layers; and the number of items after a cuckoo filter's array. */
static void absurd_numbers_of_others_are_refused(void **state) {
    enum { ITEMS_AT = 48, CAPACITY_AT = 56, FPR_AT = 64, FROM_END = 24 };
    (void)state;
    expect_no_way_in(2, 1, FPR_AT, 0);
    expect_no_way_in(2, 2, ITEMS_AT, UINT64_C(1) << 62);
    expect_no_way_in(2, 2, CAPACITY_AT, UINT64_C(1) << 62);
    expect_no_way_in(2, 1, CAPACITY_AT, UINT64_C(1) << 63);
    for (unsigned sort = 7; sort < SORTS; sort++) {
        expect_no_way_in(sort, 0, FROM_END, UINT64_C(1) << 60);
        expect_no_way_in(sort, 0, FROM_END, 0);
    }
}

/* A filter becomes a layer only where the image of both can be opened; else it is unchanged. */
static void what_has_grown_can_be_saved(const struct layout *layout) {
    enum { CAPACITY_AT = 56 };
    struct bytes image = image_for(layout);
    for (unsigned shift = 0; shift < 64; shift++) {
        perhaps *f = NULL, *again = NULL;
        store64(image.data + CAPACITY_AT, UINT64_C(1) << shift);
        fix_checksums(image.data, image.length);
        if (perhaps_open_memory(&f, image.data, image.length, &PERHAPS_OPEN(.flags = PERHAPS_OPEN_COPY)) < 0) continue;
        struct bytes before = image_of(f);
        int rc = perhaps_grow_layers(&f, 0.9, 0, 0);
        CHECK(rc == PERHAPS_OK || rc == PERHAPS_ECANNOT, "error %d: %s", rc, perhaps_why());
        if (rc < 0) expect_unchanged(f, before);
        struct bytes saved = image_of(f);
        MUST(perhaps_open_memory(&again, saved.data, saved.length, NULL));
        perhaps_free(again);
        perhaps_free(f);
        free(saved.data);
        free(before.data);
    }
    free(image.data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        FOR_EACH_KIND(what_has_grown_can_be_saved, ITEMS),
        FOR_EACH_KIND(impossible_fields_are_refused, ITEMS),
        FOR_EACH_LAYOUT(hostile_layouts_are_harmless, ITEMS),
        FOR_EACH_KIND(layout_and_length_must_agree, ITEMS),
        FOR_EACH_KIND(absurd_counts_are_harmless, ITEMS),
        FOR_EACH_LAYOUT(doctored_images_are_harmless, ITEMS),
        FOR_EACH_LAYOUT(payloads_of_noise_are_harmless, ITEMS),
        FOR_EACH_KIND(a_file_cannot_request_the_secret_key, ITEMS),
        FOR_EACH_STATIC_KIND(impossible_fields_are_refused, ITEMS),
        FOR_EACH_STATIC(hostile_layouts_are_harmless, ITEMS),
        FOR_EACH_STATIC_KIND(layout_and_length_must_agree, ITEMS),
        FOR_EACH_STATIC_KIND(absurd_counts_are_harmless, ITEMS),
        FOR_EACH_STATIC(doctored_images_are_harmless, ITEMS),
        FOR_EACH_STATIC_KIND(a_file_cannot_request_the_secret_key, ITEMS),
        cmocka_unit_test(what_cannot_grow_again_does_not_ungrow),
        cmocka_unit_test(doctored_images_of_others_have_a_way_out),
        cmocka_unit_test(absurd_numbers_of_others_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
