/*
 * Allocators that have zeroed memory: a new array is taken as it comes from them.
 */
#include "support.h"

#include <perhaps_embed.h>

#include <stdlib.h>
#include <string.h>

enum { ITEMS = 300 };

static uint64_t zeroed_bytes;
static int64_t blocks;

static void *allocate(void *context, size_t size) {
    (void)context;
    blocks++;
    void *memory = aligned_alloc(64, (size + 63) / 64 * 64);
    return memory ? memset(memory, 0xDD, size) : NULL; /* any content */
}

static void *allocate_zeroed(void *context, size_t size) {
    void *memory = allocate(context, size);
    zeroed_bytes += size;
    return memory ? memset(memory, 0, size) : NULL;
}

static void release(void *context, void *memory, size_t size) {
    (void)context, (void)size;
    blocks--;
    free(memory);
}

static void a_new_array_is_zeroed_by_the_allocator(const struct layout *layout) {
    static const perhaps_allocator allocator = {
        .allocate = allocate, .release = release, .allocate_zeroed = allocate_zeroed};
    perhaps_want want = layout->want;
    want.allocator = &allocator;
    zeroed_bytes = 0;
    perhaps *f = make(&want), *plain = make(&layout->want);
    CHECK(zeroed_bytes >= info_of(f).bytes, "%llu bytes are zeroed", (unsigned long long)zeroed_bytes);
    add_members(f, 0, ITEMS);
    add_members(plain, 0, ITEMS);
    struct bytes image = image_of(f);
    expect_unchanged(plain, image);
    free(image.data);
    perhaps_free(f);
    perhaps_free(plain);
    CHECK(blocks == 0, "%lld blocks were not given back", (long long)blocks);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        FOR_EACH_FILTER(a_new_array_is_zeroed_by_the_allocator, ITEMS),
    };
    return cmocka_run_group_tests(tests, NULL, remove_scratch);
}
