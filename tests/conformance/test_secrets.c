/* SipHash filters: the secret key decides every answer, and is in a file only on request. */
#include "support.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ITEMS = 500, ROOM = 1500 }; /* two filters of ITEMS and 100 keys more can be merged */

static const uint8_t key[16] = {0xA7, 0x51, 0x0E, 0xC2, 0x99, 0x3B, 0x60, 0xFD,
                                0x18, 0x84, 0xEE, 0x2D, 0x70, 0x0C, 0xB6, 0x43};
static const uint8_t wrong[16] = {0xA7, 0x51, 0x0E, 0xC2, 0x99, 0x3B, 0x60, 0xFD,
                                  0x18, 0x84, 0xEE, 0x2D, 0x70, 0x0C, 0xB6, 0x42};

static perhaps *make_secret(const struct layout *layout, const uint8_t *hash_key, int key_in_file) {
    perhaps_want want = layout->want;
    want.hash = PERHAPS_SIPHASH;
    want.hash_key = hash_key;
    want.key_in_file = key_in_file;
    perhaps *f = make(&want);
    add_members(f, 0, ITEMS);
    for (uint64_t i = 0; i < 100; i++) MUST(perhaps_add(f, &i, sizeof i));
    seal(f);
    return f;
}

static bool holds_key(struct bytes bytes) {
    return memmem(bytes.data, bytes.length, key, sizeof key) != NULL;
}

static void expect_all_there(const perhaps *f) {
    expect_members(f, 0, ITEMS);
    for (uint64_t i = 0; i < ITEMS; i++) CHECK(perhaps_contains_u64(f, member_of(f, i)) == 1, "an integer is missed");
    for (uint64_t i = 0; i < 100; i++) CHECK(perhaps_contains(f, &i, sizeof i) == 1, "a key is missed");
    CHECK(info_of(f).hash == PERHAPS_SIPHASH && strcmp(info_of(f).hash_name, "siphash") == 0, "hash %s",
          info_of(f).hash_name);
}

static void the_key_decides(const struct layout *layout) {
    if (!hashes_keys(layout)) return;
    perhaps *f = make_secret(layout, key, 0), *twin = make_secret(layout, key, 0),
            *other = make_secret(layout, wrong, 0);
    expect_all_there(f);
    CHECK(perhaps_equal(f, twin) == 1 && perhaps_equal(f, other) == 0,
          "equal keys must make equal filters, others not");
    CHECK(perhaps_digest(perhaps_hasher_of(f), "x", 1) == perhaps_digest(perhaps_hasher_of(twin), "x", 1),
          "equal keys, different digests");
    CHECK(perhaps_digest(perhaps_hasher_of(f), "x", 1) != perhaps_digest(perhaps_hasher_of(other), "x", 1),
          "different keys, equal digests");
    if (layout->row->can & PERHAPS_MERGE) {
        REFUSED(PERHAPS_EMISMATCH, perhaps_merge(f, other));
        MUST(perhaps_merge(f, twin));
    }
    perhaps_free(f);
    perhaps_free(twin);
    perhaps_free(other);
}

static void files_hold_only_a_check_of_the_key(const struct layout *layout) {
    if (!hashes_keys(layout)) return;
    const char *path = scratch("secret.ph");
    perhaps *f = make_secret(layout, key, 0), *g = NULL;
    MUST(perhaps_save(f, path));
    struct bytes file = read_whole(path);
    CHECK(!holds_key(file), "the file holds the key");
    static const unsigned flags[] = {0, PERHAPS_OPEN_COPY, PERHAPS_OPEN_WRITE};
    for (size_t i = 0; i < 3; i++) {
        if (flags[i] == PERHAPS_OPEN_WRITE && !(layout->row->can & PERHAPS_IN_PLACE)) continue;
        REFUSED(PERHAPS_EKEY, perhaps_open(&g, path, &PERHAPS_OPEN(.flags = flags[i])));
        REFUSED(PERHAPS_EKEY, perhaps_open(&g, path, &PERHAPS_OPEN(.flags = flags[i], .hash_key = wrong)));
        CHECK(g == NULL, "a failed open left a pointer");
        MUST(perhaps_open(&g, path, &PERHAPS_OPEN(.flags = flags[i], .hash_key = key)));
        expect_all_there(g);
        CHECK(perhaps_equal(f, g) == 1, "the opened filter differs");
        perhaps_free(g);
    }
    struct bytes image = image_of(f);
    CHECK(!holds_key(image), "perhaps_write gives the key away");
    free(image.data);
    free(file.data);
    perhaps_free(f);
    unlink(path);
}

/* A file whose writer had the key, changed in place, must not take the key in either. */
static void changing_in_place_keeps_the_key_out(const struct layout *layout) {
    if (!hashes_keys(layout) || !(layout->row->can & PERHAPS_IN_PLACE)) return;
    const char *path = scratch("inplace.ph");
    perhaps *f = make_secret(layout, key, 0);
    MUST(perhaps_save(f, path));
    perhaps_free(f);
    MUST(perhaps_open(&f, path, &PERHAPS_OPEN(.flags = PERHAPS_OPEN_WRITE, .hash_key = key)));
    MUST(perhaps_add(f, "one more", 8));
    MUST(perhaps_sync(f));
    struct bytes file = read_whole(path);
    CHECK(!holds_key(file), "a write in place put the key into the file");
    perhaps_free(f);
    MUST(perhaps_open(&f, path, &PERHAPS_OPEN(.hash_key = key)));
    CHECK(perhaps_contains(f, "one more", 8) == 1, "the added key is missed");
    perhaps_free(f);
    free(file.data);
    unlink(path);
}

static void on_request_the_secret_key_is_in_the_file(const struct layout *layout) {
    if (!hashes_keys(layout)) return;
    const char *path = scratch("open.ph");
    perhaps *f = make_secret(layout, key, 1), *g = NULL;
    MUST(perhaps_save(f, path));
    struct bytes file = read_whole(path);
    CHECK(holds_key(file), "the file was to hold the key");
    MUST(perhaps_open(&g, path, NULL));
    expect_all_there(g);
    CHECK(perhaps_equal(f, g) == 1, "the opened filter differs");
    perhaps_free(g);
    MUST(perhaps_open(&g, path, &PERHAPS_OPEN(.hash_key = key)));
    perhaps_free(g);
    REFUSED(PERHAPS_EKEY, perhaps_open(&g, path, &PERHAPS_OPEN(.hash_key = wrong)));
    perhaps_free(f);
    free(file.data);
    unlink(path);
}

/* Images in memory open by themselves, with the secret key. Saving from them keeps the rule. */
static void memory_images_open_by_themselves(const struct layout *layout) {
    if (!hashes_keys(layout)) return;
    const char *path = scratch("from-memory.ph");
    perhaps *f = make_secret(layout, key, 0), *g = NULL, *h = NULL;
    const void *bytes;
    uint64_t length;
    MUST(perhaps_image(f, &bytes, &length));
    MUST(perhaps_open_memory(&g, bytes, length, &PERHAPS_OPEN(.flags = PERHAPS_OPEN_COPY)));
    expect_all_there(g);
    MUST(perhaps_save(g, path));
    struct bytes file = read_whole(path);
    CHECK(!holds_key(file), "a filter opened from memory saved its key");
    perhaps_free(g);
    MUST(perhaps_clone(f, &g));
    expect_all_there(g);
    MUST(perhaps_open(&h, path, &PERHAPS_OPEN(.hash_key = key)));
    CHECK(perhaps_equal(g, h) == 1, "clone and saved filter differ");
    free(file.data);
    perhaps_free(f);
    perhaps_free(g);
    perhaps_free(h);
    unlink(path);
}

/* What does not hash keeps no secret, and says so. */
static void kinds_of_integers_take_no_key(const struct layout *layout) {
    if (hashes_keys(layout)) return;
    perhaps_want want = layout->want;
    perhaps *f = NULL;
    want.hash = PERHAPS_SIPHASH;
    want.hash_key = key;
    REFUSED(PERHAPS_EINVAL, perhaps_create(&f, &want));
    want = layout->want;
    want.hash = PERHAPS_XXH3;
    REFUSED(PERHAPS_EINVAL, perhaps_create(&f, &want));
    want = layout->want;
    want.seed = 1;
    REFUSED(PERHAPS_EINVAL, perhaps_create(&f, &want));
    want = layout->want;
    want.hash_key = key;
    REFUSED(PERHAPS_EINVAL, perhaps_create(&f, &want));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        FOR_EACH_LAYOUT(the_key_decides, ROOM),
        FOR_EACH_COMPOSITE(the_key_decides, ROOM),
        FOR_EACH_FILTER(files_hold_only_a_check_of_the_key, ROOM),
        FOR_EACH_KIND(changing_in_place_keeps_the_key_out, ROOM),
        FOR_EACH_FILTER(on_request_the_secret_key_is_in_the_file, ROOM),
        FOR_EACH_FILTER(memory_images_open_by_themselves, ROOM),
        FOR_EACH_KIND(kinds_of_integers_take_no_key, ROOM),
        FOR_EACH_STATIC(the_key_decides, ROOM),
        FOR_EACH_STATIC_KIND(files_hold_only_a_check_of_the_key, ROOM),
        FOR_EACH_STATIC_KIND(on_request_the_secret_key_is_in_the_file, ROOM),
        FOR_EACH_STATIC_KIND(memory_images_open_by_themselves, ROOM),
    };
    return cmocka_run_group_tests(tests, NULL, remove_scratch);
}
