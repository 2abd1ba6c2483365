/*
 * Filters as values: a store that knows nothing of filters keeps their bytes, as a database does.
 *
 * The image in memory is the file: to store a filter is to copy its bytes, and to query it is to
 * open them where they lie. That copies nothing and takes a few microseconds.
 */
#include <perhaps_embed.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The store: one value. */
static struct {
    void *bytes;
    uint64_t length;
} value;

static int complain(const char *what) {
    fprintf(stderr, "%s: %s\n", what, perhaps_why());
    return 1;
}

/* The image belongs to the filter, so the store takes a copy. */
static int store(perhaps *seen) {
    const void *image;
    uint64_t length;
    if (perhaps_image(seen, &image, &length) < 0) return complain("image");
    void *bytes = realloc(value.bytes, length);
    if (!bytes) return 1;
    memcpy(bytes, image, length);
    value.bytes = bytes;
    value.length = length;
    printf("the value has %llu bytes\n", (unsigned long long)length);
    return 0;
}

static int make(void) {
    perhaps_want want = PERHAPS_WANT(.items = 1000, .fpr = 0.01);
    perhaps *seen;
    if (perhaps_create(&seen, &want) < 0) return complain("create");
    for (uint64_t user = 0; user < 500; user++) perhaps_add_u64(seen, user);
    int failed = store(seen);
    perhaps_free(seen);
    return failed;
}

/* The filter borrows the value, which must stay as it is until the filter is freed. */
static int query(void) {
    perhaps *seen;
    if (perhaps_open_memory(&seen, value.bytes, value.length, NULL) < 0) return complain("open");
    printf("user 42 was %s\n", perhaps_contains_u64(seen, 42) ? "perhaps seen" : "never seen");
    printf("user 777 was %s\n", perhaps_contains_u64(seen, 777) ? "perhaps seen" : "never seen");
    perhaps_free(seen);
    return 0;
}

/* A copy can be changed and can grow; its image becomes the new value. */
static int change_a_copy(void) {
    perhaps *seen;
    perhaps_open_options options = PERHAPS_OPEN(.flags = PERHAPS_OPEN_COPY);
    if (perhaps_open_memory(&seen, value.bytes, value.length, &options) < 0) return complain("open a copy");
    perhaps_add_u64(seen, 777);
    int failed = store(seen);
    perhaps_free(seen);
    return failed;
}

/* The bytes of the value itself change with every add, and perhaps_sync makes them valid again. */
static int change_in_place(void) {
    perhaps *seen;
    perhaps_open_options options = PERHAPS_OPEN(.flags = PERHAPS_OPEN_WRITE);
    if (perhaps_open_memory(&seen, value.bytes, value.length, &options) < 0) return complain("open for writing");
    perhaps_add_u64(seen, 778);
    int rc = perhaps_sync(seen);
    perhaps_free(seen);
    return rc < 0 ? complain("sync") : query();
}

/* Whatever happens to the bytes, opening them is safe. */
static int damage(void) {
    perhaps *seen;
    ((char *)value.bytes)[value.length - 1] ^= 1;
    if (perhaps_open_memory(&seen, value.bytes, value.length, NULL) != PERHAPS_EDAMAGED) return 1;
    printf("a damaged value is refused: %s\n", perhaps_why());
    return 0;
}

int main(void) {
    int failed = make() || query() || change_a_copy() || change_in_place() || damage();
    free(value.bytes);
    return failed;
}
