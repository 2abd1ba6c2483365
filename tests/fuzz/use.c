#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void promise(bool holds, const char *what) {
    if (holds) return;
    fprintf(stderr, "broken promise: %s; last reason: %s\n", what, perhaps_why());
    abort();
}

struct buffer {
    uint8_t *bytes;
    size_t length;
};

static int append(void *context, const void *bytes, size_t length) {
    struct buffer *all = context;
    uint8_t *larger = realloc(all->bytes, all->length + length + 1);
    if (!larger) abort();
    memcpy(larger + all->length, bytes, length);
    *all = (struct buffer){larger, all->length + length};
    return 0;
}

uint8_t *image_of(const perhaps *f, size_t *length) {
    struct buffer all = {NULL, 0};
    promise(perhaps_write(f, append, &all) == PERHAPS_OK, "a filter can be written");
    *length = all.length;
    return all.bytes;
}

static void ask(const perhaps *f) {
    uint64_t keys[70];
    uint8_t answers[70];
    for (uint64_t i = 0; i < 70; i++) keys[i] = i << i % 40;
    int64_t found = perhaps_contains_many_u64(f, keys, 70, answers);
    for (int i = 0; i < 70; i++) {
        promise(answers[i] == perhaps_contains_u64(f, keys[i]), "a batch answers like single calls");
        found -= answers[i];
    }
    promise(found == 0, "a batch counts its answers");
    struct perhaps_info info = {.size = sizeof info};
    promise(perhaps_info(f, &info) == PERHAPS_OK, "info of an open filter");
    promise(info.fpr_now >= 0 && info.fpr_now <= 1, "the live rate is a rate");
    promise(info.distinct >= 0 && info.fill >= 0, "estimates are not negative");
}

static void change(perhaps *f) {
    for (uint64_t i = 0; i < 20; i++) promise(perhaps_add_u64(f, i * i) >= 0, "a copy can be added to");
    promise(perhaps_add(f, "", 0) >= 0, "the empty key can be added");
    for (uint64_t i = 0; i < 20; i++) promise(perhaps_contains_u64(f, i * i) == 1, "what was added is found");
    promise(perhaps_contains(f, "", 0) == 1, "the empty key is found");
    promise(perhaps_merge(f, f) == PERHAPS_OK || perhaps_merge(f, f) == PERHAPS_ECANNOT, "a filter fits itself");
    promise(perhaps_intersect(f, f) == PERHAPS_OK || perhaps_intersect(f, f) == PERHAPS_ECANNOT,
            "a filter fits itself");
    const void *bytes;
    uint64_t length;
    promise(perhaps_image(f, &bytes, &length) == PERHAPS_OK, "a filter has an image");
    perhaps *again = NULL;
    promise(perhaps_open_memory(&again, bytes, length, NULL) == PERHAPS_OK, "an image can be opened");
    promise(perhaps_equal(f, again) == 1, "an opened image is equal");
    perhaps_free(again);
    promise(perhaps_clear(f) == PERHAPS_OK && perhaps_contains_u64(f, 4) == 0, "a cleared filter is empty");
}

/* The copy must be the same filter; its image is what was read, unless the flags let something pass. */
static void use(perhaps *f) {
    perhaps *copy = NULL;
    ask(f);
    promise(perhaps_clone(f, &copy) == PERHAPS_OK, "a filter can be cloned");
    promise(perhaps_equal(f, copy) == 1, "a clone is equal");
    size_t length, copy_length;
    uint8_t *image = image_of(f, &length), *copy_image = image_of(copy, &copy_length);
    promise(length == copy_length && memcmp(image, copy_image, length) == 0, "a clone has the same image");
    free(image);
    free(copy_image);
    change(copy);
    perhaps_free(copy);
}

void open_and_use(const uint8_t *image, size_t length) {
    static const uint8_t key[16] = "a key of 16 byte";
    for (unsigned flags = 0; flags < 16; flags++) {
        perhaps *f = NULL;
        int rc =
            perhaps_open_memory(&f, image, length, &PERHAPS_OPEN(.flags = flags, .hash_key = flags & 1 ? key : NULL));
        promise((rc == PERHAPS_OK) == (f != NULL), "a filter comes with success and only then");
        promise(rc == PERHAPS_OK || perhaps_why()[0], "a refusal has a reason");
        if (f) use(f);
        perhaps_free(f);
    }
}
