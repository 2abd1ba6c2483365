/*
 * Shapes made by someone who knows the format and computes right checksums over nonsense: refused
 * with a reason, without allocating what they claim to need, or harmless.
 */
#include "support.h"

#include "base/endian.h"
#include "core/hash.h"
#include "image/header.h"

#include <perhaps_embed.h>

#include <stdlib.h>
#include <string.h>

enum {
    ITEMS = 300,
    AT_SUM = 16,
    AT_KEY = 32,
    AT_ITEMS = 48,
    AT_CAPACITY = 56,
    AT_FPR = 64,
    AT_LAYOUT = 72,
    AT_LENGTH = 112
};

static size_t allocated;

/* Gigabytes that the machine has are not refused by the library, but take their time. */
static void *count_and_allocate(void *context, size_t size) {
    (void)context;
    if (size > 1 << 22) return NULL;
    allocated += size;
    return aligned_alloc(64, (size + 63) / 64 * 64);
}

static void release(void *context, void *memory, size_t size) {
    (void)context, (void)size;
    free(memory);
}

static const perhaps_allocator counting = {.allocate = count_and_allocate, .release = release};

static struct bytes shape_of(const perhaps *f) {
    size_t length = (size_t)MUST(perhaps_shape(f, NULL, 0));
    struct bytes shape = {malloc(length), length};
    CHECK(shape.data, "no memory for a shape");
    MUST(perhaps_shape(f, shape.data, length));
    return shape;
}

static void fix_sum(uint8_t *header) {
    store64(header + AT_SUM, 0);
    store64(header + AT_SUM, hash_checksum(header, HEADER_BYTES));
}

static int try_shape(struct bytes shape) {
    perhaps *f = NULL;
    allocated = 0;
    int rc = perhaps_create_shape(&f, shape.data, shape.length, &counting);
    CHECK((rc == PERHAPS_OK) == (f != NULL), "%d, and a filter %p", rc, (void *)f);
    CHECK(rc == PERHAPS_OK || perhaps_why()[0], "refused without a reason");
    if (f) perhaps_add_u64(f, 1), perhaps_contains_u64(f, 2);
    perhaps_free(f);
    return rc;
}

/* Puts `value` (size bytes, little-endian) at `at` of header i. */
static int try_value(struct bytes shape, size_t i, size_t at, unsigned size, uint64_t value) {
    struct bytes hostile = copy_bytes(shape);
    uint8_t *header = hostile.data + i * HEADER_BYTES;
    for (unsigned b = 0; b < size; b++) header[at + b] = (uint8_t)(value >> 8 * b);
    fix_sum(header);
    int rc = try_shape(hostile);
    free(hostile.data);
    return rc;
}

#define EXPECT(error, ...)                                                                                             \
    do {                                                                                                               \
        int rc_ = try_value(__VA_ARGS__);                                                                              \
        CHECK(rc_ == (error), "%s got %d, not %d: %s", #__VA_ARGS__, rc_, (error), perhaps_why());                     \
    } while (0)

static void impossible_fields_are_refused(const struct layout *layout) {
    perhaps *f = make_with_members(layout, ITEMS);
    struct bytes shape = shape_of(f);
    for (size_t i = 0; i < shape.length / HEADER_BYTES && i < 3; i++) {
        EXPECT(PERHAPS_EFOREIGN, shape, i, 0, 1, 0);
        EXPECT(PERHAPS_EVERSION, shape, i, 8, 2, 2);
        EXPECT(PERHAPS_EDAMAGED, shape, i, 8, 2, 0);
        EXPECT(PERHAPS_EDAMAGED, shape, i, 10, 2, 0);
        EXPECT(PERHAPS_EDAMAGED, shape, i, 10, 2, 999);
        EXPECT(PERHAPS_EDAMAGED, shape, i, 12, 1, 77);
        EXPECT(PERHAPS_EDAMAGED, shape, i, 14, 2, HEADER_DIRTY);
        EXPECT(PERHAPS_EDAMAGED, shape, i, 14, 2, HEADER_HAS_KEY);
        EXPECT(PERHAPS_EDAMAGED, shape, i, 14, 2, 0x8000);
        EXPECT(PERHAPS_EDAMAGED, shape, i, AT_KEY, 8, 1);
        EXPECT(PERHAPS_EDAMAGED, shape, i, AT_ITEMS, 8, 1);
        EXPECT(PERHAPS_EDAMAGED, shape, i, AT_CAPACITY, 8, 0);
        EXPECT(PERHAPS_EDAMAGED, shape, i, AT_FPR, 8, UINT64_C(0x7FF8000000000000));
        EXPECT(PERHAPS_EDAMAGED, shape, i, AT_FPR, 8, UINT64_C(0xBFF0000000000000));
        EXPECT(PERHAPS_EDAMAGED, shape, i, AT_LENGTH, 8, UINT64_MAX);
    }
    free(shape.data);
    perhaps_free(f);
}

/* Each word of each layout, with a length that fits it where there is one. */
static void hostile_layouts_do_no_harm(const struct layout *layout) {
    static const uint64_t awkward[] = {0,
                                       1,
                                       2,
                                       3,
                                       7,
                                       9,
                                       63,
                                       65,
                                       257,
                                       65537,
                                       UINT64_C(1) << 32,
                                       UINT64_C(1) << 40,
                                       INT64_MAX,
                                       UINT64_C(1) << 63,
                                       UINT64_MAX - 7,
                                       UINT64_MAX};
    perhaps *f = make_with_members(layout, ITEMS);
    struct bytes shape = shape_of(f);
    for (size_t i = 0; i < shape.length / HEADER_BYTES && i < 3; i++) {
        for (size_t w = 0; w < LAYOUT_WORDS * sizeof awkward / sizeof *awkward; w++) {
            struct bytes hostile = copy_bytes(shape);
            uint8_t *header = hostile.data + i * HEADER_BYTES;
            const char *reason;
            uint64_t words[LAYOUT_WORDS];
            store64(header + AT_LAYOUT + 8 * (w % LAYOUT_WORDS), awkward[w / LAYOUT_WORDS]);
            for (int k = 0; k < LAYOUT_WORDS; k++) words[k] = load64(header + AT_LAYOUT + 8 * k);
            store64(header + AT_LENGTH, kind_find(load16(header + 10))->payload_bytes(words, &reason));
            fix_sum(header);
            int rc = try_shape(hostile);
            CHECK(rc == PERHAPS_OK || rc == PERHAPS_EDAMAGED || rc == PERHAPS_ENOMEM, "%d: %s", rc, perhaps_why());
            CHECK(rc != PERHAPS_ENOMEM || allocated < (size_t)64 << 20, "%zu bytes for nothing", allocated);
            free(hostile.data);
        }
    }
    free(shape.data);
    perhaps_free(f);
}

/* Cut off anywhere, with something behind, and with any single bit changed. */
static void damage_is_seen(const struct layout *layout) {
    perhaps *f = make_with_members(layout, ITEMS);
    struct bytes shape = shape_of(f);
    struct bytes longer = {malloc(2 * shape.length), shape.length + HEADER_BYTES};
    memcpy(longer.data, shape.data, shape.length);
    memcpy(longer.data + shape.length, shape.data, HEADER_BYTES);
    CHECK(try_shape(shape) == PERHAPS_OK && try_shape(longer) == PERHAPS_EDAMAGED, "%s", perhaps_why());
    for (size_t length = 0; length < shape.length; length += length % HEADER_BYTES ? 1 : 7)
        CHECK(try_shape((struct bytes){shape.data, length}) < 0, "%zu bytes of %zu", length, shape.length);
    for (size_t bit = 0; bit < 8 * shape.length && bit < 24 * HEADER_BYTES; bit += 3) {
        shape.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
        int rc = try_shape(shape);
        CHECK(rc < 0, "bit %zu does not matter", bit);
        shape.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    free(longer.data);
    free(shape.data);
    perhaps_free(f);
}

/* A filter in a filter in a filter, without end. */
static void towers_are_refused(void **state) {
    (void)state;
    enum { HIGH = 100000 };
    perhaps *f = make(&PERHAPS_WANT(.kind = PERHAPS_BLOOM, .items = 10, .fpr = 0.01, .shards = 1));
    struct bytes shape = shape_of(f), tower = {malloc((size_t)HIGH * HEADER_BYTES), (size_t)HIGH * HEADER_BYTES};
    for (int own = 0; own < 2; own++) {
        if (own) store64(shape.data + AT_LAYOUT, PERHAPS_SHARDED);
        fix_sum(shape.data);
        for (size_t i = 0; i < HIGH; i++) memcpy(tower.data + i * HEADER_BYTES, shape.data, HEADER_BYTES);
        int rc = try_shape(tower);
        CHECK(rc == PERHAPS_EDAMAGED, "%d", rc);
    }
    free(tower.data);
    free(shape.data);
    perhaps_free(f);
}

/* More memory in all than there is, in parts that there are. */
static void sums_are_limited(void **state) {
    (void)state;
    enum { PARTS = 65536 };
    perhaps *f = make(&PERHAPS_WANT(.kind = PERHAPS_BLOOM, .items = PARTS, .fpr = 0.01, .shards = PARTS));
    struct bytes shape = shape_of(f);
    const char *reason;
    for (size_t i = 1; i <= PARTS; i++) {
        uint8_t *header = shape.data + i * HEADER_BYTES;
        uint64_t words[LAYOUT_WORDS];
        store64(header + AT_LAYOUT, UINT64_C(1) << 33);
        for (int k = 0; k < LAYOUT_WORDS; k++) words[k] = load64(header + AT_LAYOUT + 8 * k);
        store64(header + AT_LENGTH, kind_bloom.payload_bytes(words, &reason));
        fix_sum(header);
    }
    perhaps *made = NULL;
    REFUSED(PERHAPS_ENOMEM, perhaps_create_shape(&made, shape.data, shape.length, NULL));
    free(shape.data);
    perhaps_free(f);
}

/* ---- further layers ---- */

static perhaps *make_grown(int kind, uint64_t items, uint64_t keys) {
    static const uint8_t key[16] = "a secret, really";
    perhaps *f = make(&PERHAPS_WANT(.kind = kind, .items = items, .fpr = 0.01, .grow = PERHAPS_GROW_LAYERS,
                                    .hash = PERHAPS_SIPHASH, .hash_key = key));
    add_members(f, 0, keys);
    return f;
}

static void other_filters_are_no_model(void **state) {
    (void)state;
    static const int bases[] = {PERHAPS_BLOOM, PERHAPS_BLOCKED, PERHAPS_COUNTING, PERHAPS_CUCKOO};
    for (size_t k = 0; k < 4; k++) {
        perhaps *f = make_grown(bases[k], 100, 50), *larger = make_grown(bases[k], 200, 5000),
                *grown = make_grown(bases[k], 100, 5000), *plain = NULL;
        struct bytes other = shape_of(larger), small = shape_of(f), right = shape_of(grown), before = image_of(f);
        REFUSED(PERHAPS_EMISMATCH, perhaps_reshape(f, other.data, other.length));
        REFUSED(PERHAPS_EDAMAGED, perhaps_reshape(f, right.data, right.length - HEADER_BYTES));
        expect_unchanged(f, before);
        MUST(perhaps_reshape(f, small.data, small.length));
        MUST(perhaps_reshape(grown, small.data, small.length));
        MUST(perhaps_reshape(f, right.data, right.length));
        MUST(perhaps_reshape(f, right.data, right.length));
        expect_unchanged(f, before);
        add_members(f, 50, 4950);
        MUST(perhaps_create_shape(&plain, right.data + HEADER_BYTES, HEADER_BYTES, NULL));
        REFUSED(PERHAPS_ECANNOT, perhaps_reshape(plain, right.data, right.length));
        perhaps_free(f), perhaps_free(larger), perhaps_free(grown), perhaps_free(plain);
        free(other.data), free(small.data), free(right.data), free(before.data);
    }
}

/* A shape must not be able to say that the secret key is to be in files. */
static void a_layer_cannot_request_the_secret_key(void **state) {
    (void)state;
    perhaps *f = make_grown(PERHAPS_BLOCKED, 100, 50), *grown = make_grown(PERHAPS_BLOCKED, 100, 5000);
    struct bytes shape = shape_of(grown);
    for (size_t at = HEADER_BYTES; at < shape.length; at += HEADER_BYTES) {
        shape.data[at + 14] |= HEADER_KEY_IN_FILE;
        fix_sum(shape.data + at);
    }
    MUST(perhaps_reshape(f, shape.data, shape.length));
    add_members(f, 50, 4950);
    CHECK(info_of(f).children > 1, "it did not grow");
    struct bytes image = image_of(f);
    for (size_t i = 0; i + 16 <= image.length; i++)
        CHECK(memcmp(image.data + i, "a secret, really", 16) != 0, "the key is in the file, at %zu", i);
    free(image.data);
    free(shape.data);
    perhaps_free(f);
    perhaps_free(grown);
}

/* An image whose first layer claims more than the whole rate is one that cannot grow. */
static void a_first_layer_with_all_of_the_rate_is_the_last(void **state) {
    (void)state;
    /* 1, 0.01 */
    static const uint64_t rates[] = {UINT64_C(0x3FF0000000000000), UINT64_C(0x3F847AE147AE147B)};
    for (size_t i = 0; i < 2; i++) {
        perhaps *f = make(&PERHAPS_WANT(.kind = PERHAPS_BLOOM, .items = 100, .fpr = 0.01, .grow = PERHAPS_GROW_LAYERS));
        struct bytes shape = shape_of(f);
        store64(shape.data + HEADER_BYTES + AT_FPR, rates[i]);
        fix_sum(shape.data + HEADER_BYTES);
        perhaps *g = NULL;
        MUST(perhaps_create_shape(&g, shape.data, shape.length, NULL));
        uint64_t n = 0;
        int rc;
        while ((rc = perhaps_add_u64(g, member(n))) >= 0 && n < 1000) n++;
        CHECK(rc == PERHAPS_ERANGE && n >= 100, "%d after %llu keys", rc, (unsigned long long)n);
        expect_members(g, 0, n);
        free(shape.data);
        perhaps_free(f);
        perhaps_free(g);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        FOR_EACH_FILTER(impossible_fields_are_refused, ITEMS),
        FOR_EACH_FILTER(hostile_layouts_do_no_harm, ITEMS),
        FOR_EACH_FILTER(damage_is_seen, ITEMS),
        cmocka_unit_test(towers_are_refused),
        cmocka_unit_test(sums_are_limited),
        cmocka_unit_test(other_filters_are_no_model),
        cmocka_unit_test(a_layer_cannot_request_the_secret_key),
        cmocka_unit_test(a_first_layer_with_all_of_the_rate_is_the_last),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
