/*
 * What a database needs of filters: shapes that make equal ones elsewhere, plain filters that begin to grow, bytes that are
 * changed where they lie, memory that is moved while filters live in it, and facts without counting.
 */
#include "support.h"

#include <stdlib.h>
#include <string.h>

enum { ITEMS = 600, HEADER = 120 };

/* ---- shapes ---- */

static struct bytes shape_of(const perhaps *f) {
    size_t length = (size_t)MUST(perhaps_shape(f, NULL, 0));
    struct bytes shape = {malloc(length), length};
    CHECK(shape.data, "no memory for a shape");
    CHECK(MUST(perhaps_shape(f, shape.data, length)) == (int64_t)length, "the shape has another length now");
    return shape;
}

static perhaps *make_from(struct bytes shape) {
    perhaps *f = NULL;
    MUST(perhaps_create_shape(&f, shape.data, shape.length, NULL));
    return f;
}

static bool grows_in_layers(const perhaps *f) {
    return info_of(f).kind == PERHAPS_GROWING;
}

static void expect_same(const perhaps *a, const perhaps *b) {
    struct bytes image = image_of(a);
    CHECK(perhaps_equal(a, b) == 1, "two filters that should be equal are not");
    expect_unchanged(b, image);
    free(image.data);
}

static void shapes_make_the_same_layout(const struct layout *layout) {
    perhaps *empty = make(&layout->want), *f = make_with_members(layout, ITEMS);
    struct bytes shape = shape_of(empty), grown = shape_of(f);
    perhaps *copy = make_from(shape), *copy_of_grown = make_from(grown);
    expect_same(empty, copy);
    struct perhaps_info info = info_of(copy_of_grown);
    CHECK(info.items == 0 && info.fill == 0, "%llu items", (unsigned long long)info.items);
    CHECK(info.children == info_of(f).children && info.capacity == info_of(f).capacity, "%u children", info.children);
    struct bytes again = shape_of(copy_of_grown);
    CHECK(same_bytes(grown, again), "the shape of what a shape made is another");
    add_members(copy, 0, ITEMS);
    expect_same(f, copy);
    perhaps_free(empty), perhaps_free(f), perhaps_free(copy), perhaps_free(copy_of_grown);
    free(shape.data), free(grown.data), free(again.data);
}

/* Some keys, and many of one: what has counters or slots for copies must grow the same way too. */
static void add_batch(perhaps *f, uint64_t first, uint64_t n) {
    add_members(f, first, n);
    for (int i = 0; grows_in_layers(f) && i < 20; i++) MUST(perhaps_add_u64(f, member_of(f, first)));
}

/* The replica gets the shape before the keys for which the original has grown. */
static void replicas_grow_alike(const struct layout *layout) {
    perhaps *f = make(&layout->want);
    uint64_t keys = is_layered(layout) ? 20 * ITEMS : ITEMS;
    struct bytes shape = shape_of(f);
    perhaps *replica = make_from(shape);
    free(shape.data);
    for (uint64_t first = 0, n = 1; first + n <= keys; first += n, n = n % 700 + 97) {
        unsigned children = info_of(f).children;
        add_batch(f, first, n);
        shape = shape_of(f);
        if (info_of(f).children != children && grows_in_layers(f)) {
            struct bytes before = image_of(replica);
            MUST(perhaps_reshape(replica, shape.data, shape.length));
            expect_unchanged(replica, before);
            free(before.data);
        }
        free(shape.data);
        add_batch(replica, first, n);
        CHECK(perhaps_equal(f, replica) == 1, "they differ after %llu keys", (unsigned long long)(first + n));
    }
    expect_same(f, replica);
    perhaps_free(f), perhaps_free(replica);
}

int main(void) {
    const struct CMUnitTest all[] = {
        FOR_EACH_FILTER(shapes_make_the_same_layout, ITEMS),
        FOR_EACH_COMBINED(replicas_grow_alike, ITEMS),
    };
    return cmocka_run_group_tests(all, NULL, remove_scratch);
}
