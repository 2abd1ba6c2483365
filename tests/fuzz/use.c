#include "fuzz.h"

#include <perhaps_embed.h>
#include <perhaps_trace.h>

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

uint8_t *foreign_bytes_of(const perhaps *f, size_t *length) {
    struct buffer all = {NULL, 0};
    promise(perhaps_write_foreign(f, append, &all) == PERHAPS_OK, "a filter of another program can be written");
    *length = all.length;
    return all.bytes;
}

void expect_openable(perhaps *f) {
    enum { LARGE = 1 << 16 };
    struct perhaps_info info = {.size = sizeof info}, opened = {.size = sizeof opened};
    const void *bytes;
    uint64_t length;
    perhaps *again = NULL;
    promise(perhaps_facts(f, &info) == PERHAPS_OK, "a filter has facts");
    if (info.bytes > LARGE || info.collecting) return;
    promise(perhaps_image(f, &bytes, &length) == PERHAPS_OK, "a filter has an image");
    promise(perhaps_open_memory(&again, bytes, length, &PERHAPS_OPEN(.flags = PERHAPS_OPEN_NO_VERIFY)) == PERHAPS_OK,
            "what can be saved can be opened");
    promise(perhaps_facts(again, &opened) == PERHAPS_OK && opened.items == info.items && opened.kind == info.kind,
            "what is opened has the same items");
    perhaps_free(again);
}

static struct perhaps_info info_of(const perhaps *f) {
    struct perhaps_info info = {.size = sizeof info};
    promise(perhaps_info(f, &info) == PERHAPS_OK, "info of an open filter");
    return info;
}

static void look_at_children(const perhaps *f, unsigned children) {
    struct perhaps_info info = {.size = sizeof info};
    for (unsigned i = 0; i < children; i++) promise(perhaps_child(f, i, &info) == PERHAPS_OK, "a child has facts");
    promise(perhaps_child(f, children, &info) == PERHAPS_EINVAL, "there is no child beyond the last");
}

/* Traces are safe on hostile bytes, and that of a query answers like it. */
static void trace_both(const perhaps *f, uint64_t key) {
    enum { ROOM = 512 };
    perhaps_step steps[ROOM];
    perhaps_keys one = PERHAPS_KEYS_U64(&key, 0, 1);
    int64_t added = perhaps_trace(f, PERHAPS_VERB_ADD, &one, steps, ROOM);
    promise(added > 0 || added == PERHAPS_ESEALED, "an add is explained");
    int64_t n = perhaps_trace(f, PERHAPS_VERB_QUERY, &one, steps, ROOM);
    promise(n > 0, "a query is explained");
    if (n <= ROOM)
        promise((int64_t)steps[n - 1].value == perhaps_contains_u64(f, key), "the trace of a query answers like it");
}

/* Cells are read within the array, the last ones too, whatever a header says. */
static void look_at_cells(const perhaps *f, int child) {
    uint64_t values[64];
    int64_t cells = perhaps_cells(f, child, 0, values, 64, NULL);
    if (cells > 64) perhaps_cells(f, child, (uint64_t)cells - 64, values, 64, NULL);
}

static void query(const perhaps *f) {
    uint64_t keys[70], counts[70], at = 0, digest;
    uint8_t answers[70];
    struct perhaps_info info = info_of(f);
    look_at_children(f, info.children);
    look_at_cells(f, -1);
    for (unsigned i = 0; i < info.children && i < 8; i++) look_at_cells(f, (int)i);
    for (uint64_t i = 0; i < 70; i++) keys[i] = i << i % 40;
    int64_t found = perhaps_contains_many(f, &PERHAPS_KEYS_U64(keys, 0, 70), answers);
    for (int i = 0; i < 70; i++) {
        promise(answers[i] == perhaps_contains_u64(f, keys[i]), "a batch answers like single calls");
        found -= answers[i];
        if (i % 8 == 0) trace_both(f, keys[i]);
    }
    promise(found == 0, "a batch counts its answers");
    promise(info.fpr_now >= 0 && info.fpr_now <= 1, "the live rate is a rate");
    promise(info.distinct >= 0 && info.fill >= 0, "estimates are not negative");
    bool counted = perhaps_count_many(f, &PERHAPS_KEYS_U64(keys, 0, 70), counts) >= 0;
    promise(counted == !!(info.can & PERHAPS_COUNT), "what can count, counts");
    for (int i = 0; counted && i < 70; i++)
        promise((int64_t)counts[i] == perhaps_count_u64(f, keys[i]), "a batch counts like single calls");
    for (int i = 0; i < 1000 && perhaps_next(f, &at, &digest) == 1; i++) perhaps_contains_digest(f, digest);
}

/* No room, not enough memory, no larger layer, or sealed: a clear end of growing. */
static bool is_full(int rc) {
    return rc == PERHAPS_EFULL || rc == PERHAPS_ENOMEM || rc == PERHAPS_ERANGE || rc == PERHAPS_ESEALED;
}

/* Adds until nothing more fits or the filter has grown some times, queries, and removes everything.
 * A payload that nobody made by adding may lose keys where keys move about, so only the others are
 * held to what they promise. */
static void add_and_remove(perhaps *f) {
    struct perhaps_info info = info_of(f);
    bool moves = !(info.can & PERHAPS_IN_PLACE), hashed = perhaps_digest_u64(perhaps_hasher_of(f), 1) != 1;
    uint64_t added = 0, most = info.bytes < 4096 ? 300 : 20;
    while (added < most) {
        int rc = perhaps_add_u64(f, added * added);
        promise(rc >= 0 || is_full(rc), "a copy can be added to, or is full");
        if (rc < 0) break;
        added++;
    }
    promise(perhaps_seal(f, NULL) == PERHAPS_OK, "a filter can be sealed");
    for (uint64_t i = 0; i < added; i++) {
        int found = perhaps_contains_u64(f, i * i);
        promise(found == 1 || (moves && info.can & PERHAPS_ADD), "what was added is found");
    }
    int rc = hashed ? perhaps_add(f, "", 0) : PERHAPS_EFULL;
    promise(rc >= 0 || is_full(rc), "the empty key can be added");
    promise(rc < 0 || moves || perhaps_contains(f, "", 0) == 1, "the empty key is found");
    for (uint64_t i = 0; info.can & PERHAPS_REMOVE && i < added; i++) {
        rc = perhaps_remove_u64(f, i * i);
        promise(rc == 1 || (rc == 0 && moves), "what was added can be removed");
    }
}

static void combine(perhaps *f) {
    static int (*const verbs[])(perhaps *, const perhaps *) = {perhaps_merge, perhaps_intersect, perhaps_differ,
                                                               perhaps_subtract};
    perhaps *copy = NULL;
    promise(perhaps_clone(f, &copy) == PERHAPS_OK, "a filter can be cloned");
    for (int i = 0; i < 8; i++) {
        int rc = verbs[i / 2](f, i % 2 ? copy : f);
        promise(rc == PERHAPS_OK || rc == PERHAPS_ECANNOT || is_full(rc), "a filter fits itself and its clone");
        expect_openable(f);
    }
    struct perhaps_overlap overlap = {.size = sizeof overlap};
    int rc = perhaps_overlap(f, copy, &overlap);
    promise(rc == PERHAPS_OK || rc == PERHAPS_ECANNOT, "a filter can be compared with its clone");
    perhaps_free(copy);
}

/* As the first layer of a growing filter, and back. */
static void grow_layers(const perhaps *f) {
    perhaps *copy = NULL;
    double rate = info_of(f).fpr_target;
    promise(perhaps_clone(f, &copy) == PERHAPS_OK, "a filter can be cloned");
    int rc = perhaps_grow_layers(&copy, (rate + 1) / 2, 0, 0);
    promise(rc == PERHAPS_OK || rc == PERHAPS_ECANNOT || rc == PERHAPS_EINVAL, "it can be a layer, or not");
    expect_openable(copy);
    for (uint64_t i = 0; rc == PERHAPS_OK && i < 20; i++) rc = perhaps_add_u64(copy, i) < 0;
    expect_openable(copy);
    perhaps_ungrow_layers(&copy);
    expect_openable(copy);
    perhaps_free(copy);
}

static void change(perhaps *f) {
    grow_layers(f);
    expect_openable(f);
    add_and_remove(f);
    expect_openable(f);
    promise(perhaps_advance(f, 1 << 30) >= 0, "time goes on");
    expect_openable(f);
    combine(f);
    query(f);
    const void *bytes;
    uint64_t length;
    promise(perhaps_image(f, &bytes, &length) == PERHAPS_OK, "a filter has an image");
    perhaps *again = NULL;
    promise(perhaps_open_memory(&again, bytes, length, NULL) == PERHAPS_OK, "an image can be opened");
    promise(perhaps_equal(f, again) == 1, "an opened image is equal");
    perhaps_free(again);
    promise(perhaps_clear(f) == PERHAPS_OK && perhaps_seal(f, NULL) == PERHAPS_OK && perhaps_contains_u64(f, 4) == 0,
            "a cleared filter is empty");
    promise(perhaps_clear(f) == PERHAPS_OK, "a filter can be cleared again");
    add_and_remove(f);
}

/* The copy must be the same filter; its image is what was read, unless flags allow more. */
void use(perhaps *f) {
    perhaps *copy = NULL;
    query(f);
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
