/* Foreign bytes that nobody made by adding keys: refused with a reason, or a filter that
 * works. And memory that fails. */
#include "foreign.h"
#include "pool.h"

#include <perhaps_embed.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- damage ---- */

/* Exact memory, so that a sanitizer sees every read past the end. */
static int open_exactly(perhaps **f, int kind, struct bytes bytes) {
    struct bytes exact = copy_bytes(bytes);
    int rc = perhaps_open_foreign(f, kind, exact.data, exact.length, NULL);
    free(exact.data);
    CHECK((rc == PERHAPS_OK) == (*f != NULL), "a filter comes with success and only then: %d", rc);
    CHECK(rc == PERHAPS_OK || perhaps_why()[0], "a refusal without a reason");
    return rc;
}

static bool is_clear(int64_t rc) {
    return rc >= 0 || rc == PERHAPS_EFULL || rc == PERHAPS_ENOMEM || rc == PERHAPS_ERANGE;
}

static void use(perhaps *f) {
    for (uint64_t i = 0; i < 20; i++) {
        int rc = perhaps_add_u64(f, member(i));
        CHECK(is_clear(rc), "adding says %d", rc);
        CHECK(rc < 0 || perhaps_contains_u64(f, member(i)) == 1, "what was added is not found");
    }
    struct perhaps_info info = info_of(f);
    CHECK(info.fpr_now >= 0 && info.fpr_now <= 1 && info.fill >= 0, "a rate of %g, a fill of %g", info.fpr_now,
          info.fill);
    for (uint64_t i = 0; info.can & PERHAPS_REMOVE && i < 20; i++) MUST(perhaps_remove_u64(f, member(i)));
    struct bytes foreign = foreign_bytes_of(f), image = image_of(f);
    perhaps *again;
    MUST(perhaps_open_memory(&again, image.data, image.length, NULL));
    perhaps_free(again);
    MUST(perhaps_open_foreign(&again, kind_of(f), foreign.data, foreign.length, NULL));
    perhaps_free(again);
    free(foreign.data);
    free(image.data);
}

/* Opens it; what opens is written back as it was, and used. Whether it opened. */
static bool try_bytes(int kind, struct bytes bytes) {
    perhaps *f;
    if (open_exactly(&f, kind, bytes) < 0) return false;
    struct bytes again = foreign_bytes_of(f);
    /* Its items are counted anew. */
    if (kind == PERHAPS_REDIS_CUCKOO) memcpy(again.data, bytes.data, 8);
    CHECK(same_bytes(bytes, again), "what was opened is not what is written");
    free(again.data);
    use(f);
    perhaps_free(f);
    return true;
}

static void every_cut_is_refused(void **state) {
    (void)state;
    for (unsigned i = 0; i < SORTS; i++) {
        perhaps *f = filled(i, 300), *cut;
        struct bytes bytes = foreign_bytes_of(f);
        size_t step = bytes.length > 2000 ? 37 : 1;
        for (size_t length = 0; length < bytes.length; length += length < 300 ? 1 : step)
            REFUSED(PERHAPS_EDAMAGED, open_exactly(&cut, kind_of(f), (struct bytes){bytes.data, length}));
        uint8_t *longer = calloc(1, bytes.length + 1);
        memcpy(longer, bytes.data, bytes.length);
        REFUSED(PERHAPS_EDAMAGED, open_exactly(&cut, kind_of(f), (struct bytes){longer, bytes.length + 1}));
        free(longer);
        free(bytes.data);
        perhaps_free(f);
    }
}

static void every_byte_may_be_anything(void **state) {
    static const uint8_t values[] = {0, 1, 2, 0x3f, 0x40, 0x7f, 0x80, 0xff};
    (void)state;
    for (unsigned i = 0; i < SORTS; i++) {
        perhaps *f = filled(i, 60);
        struct bytes bytes = foreign_bytes_of(f);
        size_t header = bytes.length < 400 ? bytes.length : 400;
        for (size_t at = 0; at < header; at++)
            for (size_t j = 0; j < sizeof values; j++) {
                uint8_t before = bytes.data[at];
                bytes.data[at] = values[j];
                try_bytes(kind_of(f), bytes);
                bytes.data[at] = before;
            }
        free(bytes.data);
        perhaps_free(f);
    }
}

/* Several bytes at a time, whole words of extreme values, and other lengths. */
static void mutations(void **state) {
    static const uint64_t words[] = {0,          1,          63,         64,        INT32_MAX, UINT32_MAX,
                                     1ull << 40, 1ull << 62, 1ull << 63, INT64_MAX, UINT64_MAX};
    unsigned rounds = test_size() == TEST_SMALL ? 2000 : 20000, opened = 0;
    uint64_t random = 1;
    (void)state;
    for (unsigned round = 0; round < rounds; round++) {
        perhaps *f = filled(round % SORTS, round % 150);
        struct bytes bytes = foreign_bytes_of(f);
        size_t header = bytes.length < 200 ? bytes.length : 200;
        for (uint64_t n = next_random(&random) % 4 + 1; n-- > 0;) {
            uint64_t what = next_random(&random), word = words[what >> 8 & 7];
            size_t at = (size_t)(next_random(&random) % header);
            if (what % 3 == 0) bytes.data[at] = (uint8_t)(what >> 40);
            if (what % 3 == 1) bytes.data[at] ^= (uint8_t)(1 << (what >> 40 & 7));
            if (what % 3 == 2 && at + 8 <= bytes.length) memcpy(bytes.data + at, &word, 8);
        }
        if (round % 16 == 0) bytes.length = (size_t)(next_random(&random) % (bytes.length + 1));
        opened += try_bytes(round % 32 == 1 ? 21 - kind_of(f) : kind_of(f), bytes);
        free(bytes.data);
        perhaps_free(f);
    }
    CHECK(opened > 0 && opened < rounds, "%u of %u opened", opened, rounds);
}

/* ---- named nonsense ---- */

struct field {
    size_t at;
    uint64_t value;
    unsigned width;
};

static void expect_refused(unsigned sort, const struct field *field) {
    perhaps *f = filled(sort, 150), *made;
    struct bytes bytes = foreign_bytes_of(f);
    uint64_t header;
    for (unsigned i = 0; i < field->width; i++) bytes.data[field->at + i] = (uint8_t)(field->value >> 8 * i);
    REFUSED(PERHAPS_EDAMAGED, perhaps_foreign_length(kind_of(f), bytes.data, bytes.length, &header));
    REFUSED(PERHAPS_EDAMAGED, open_exactly(&made, kind_of(f), bytes));
    free(bytes.data);
    perhaps_free(f);
}

static uint64_t bits_of(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static void nonsense_in_chains_is_refused(void **state) {
    const struct field fields[] = {
        {0, 149, 8},
        {0, UINT64_MAX, 8},
        {8, 0, 4},
        {8, 257, 4},
        {8, UINT32_MAX, 4},
        {12, 1, 4}, /* options */
        {12, 16 | 5, 4},
        {12, 13, 4},
        {16, 0, 4},
        {16, 32769, 4},
        {20, 0, 8},
        {20, UINT64_MAX, 8},
        {28, 0, 8},
        {28, 63, 8},
        {28, 1ull << 63, 8},
        {36, UINT64_MAX, 8},
        {44, 0, 8},
        {44, bits_of(1), 8},
        {44, bits_of(NAN), 8},
        {44, bits_of(INFINITY), 8},
        {44, bits_of(-0.01), 8},
        {52, 0, 8},
        {52, bits_of(NAN), 8},
        {52, bits_of(INFINITY), 8},
        {52, bits_of(-1), 8},
        {60, 0, 4},
        {60, 2049, 4},
        {60, UINT32_MAX, 4},
        {64, 0, 8},
        {64, UINT64_MAX, 8},
        {72, 64, 1},
        {72, 255, 1},
        {72, 11, 1},
    };
    (void)state;
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) expect_refused(1, &fields[i]);
}

static void nonsense_in_cuckoos_is_refused(void **state) {
    static const struct field fields[] = {
        {0, UINT64_MAX, 8}, {8, 0, 8},    {8, 3, 8},           {8, 1ull << 63, 8}, {8, 1ull << 33, 8},
        {24, 0, 8},         {24, 257, 8}, {24, UINT64_MAX, 8}, {24, 40, 8},        {32, 0, 2},
        {32, 256, 2},       {34, 0, 2},   {36, 3, 2},          {36, 65535, 2},     {36, 0, 2},
    };
    (void)state;
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) expect_refused(8, &fields[i]);
}

/* Taking all of them out leaves none, whatever the header said. */
static void items_of_cuckoos_are_counted(void **state) {
    perhaps *f = filled(8, 100), *wrong;
    struct bytes bytes = foreign_bytes_of(f);
    (void)state;
    for (uint8_t said = 0; said < 128; said += 30) {
        bytes.data[0] = said;
        MUST(open_exactly(&wrong, PERHAPS_REDIS_CUCKOO, bytes));
        CHECK(info_of(wrong).items == 100, "%llu items", (unsigned long long)info_of(wrong).items);
        for (uint64_t i = 0; i < 100; i++) CHECK(perhaps_remove_u64(wrong, member(i)) == 1, "key %d", (int)i);
        CHECK(info_of(wrong).items == 0 && perhaps_remove_u64(wrong, member(0)) == 0, "it is not empty");
        use(wrong);
        perhaps_free(wrong);
    }
    free(bytes.data);
    perhaps_free(f);
}

/* An old layer has a power of two of bits; what comes over it has too. */
static void old_layers_go_on(void **state) {
    perhaps *f = filled(1, 50), *old;
    struct bytes bytes = foreign_bytes_of(f);
    (void)state;
    bytes.data[12] = 4; /* FORCE64 alone */
    bytes.data[72] = 10;
    MUST(open_exactly(&old, PERHAPS_REDIS_BLOOM, bytes));
    add_members(old, 1000, 500);
    expect_members(old, 1000, 500);
    CHECK(info_of(old).children > 1, "it has not grown");
    free(bytes.data);
    bytes = foreign_bytes_of(old);
    CHECK(bytes.data[20 + 53 + 52] == 11, "2^%u bits", bytes.data[20 + 53 + 52]);
    free(bytes.data);
    perhaps_free(f);
    perhaps_free(old);
}

static int refuse(void *context, const void *bytes, size_t length) {
    (void)bytes, (void)length;
    return --*(int *)context == 0;
}

/* The header is a piece, and so is each layer. */
static void a_sink_may_stop(void **state) {
    (void)state;
    for (unsigned i = 0; i < SORTS; i++) {
        perhaps *f = filled(i, 100);
        unsigned layers = info_of(f).children;
        for (int pieces = 1; pieces <= (layers ? (int)layers + 1 : 2); pieces++) {
            int left = pieces;
            REFUSED(PERHAPS_EIO, perhaps_write_foreign(f, refuse, &left));
        }
        perhaps_free(f);
    }
}

/* ---- memory that fails ---- */

/* What is done with a filter, until an allocation fails. */
static int64_t live(perhaps **f, unsigned sort, struct bytes bytes, int kind, const perhaps_allocator *allocator) {
    uint64_t keys[200];
    int left = 1000000;
    for (size_t i = 0; i < 200; i++) keys[i] = non_member(i);
    perhaps_want want = sort_of_filter(sort);
    want.allocator = allocator;
    perhaps *made;
    int64_t rc = perhaps_create(&made, &want);
    perhaps_free(made);
    if (rc == PERHAPS_OK)
        rc = perhaps_open_foreign(f, kind, bytes.data, bytes.length, &PERHAPS_OPEN(.allocator = allocator));
    for (uint64_t i = 0; rc >= 0 && i < 200; i++) rc = perhaps_add_u64(*f, non_member(1000 + i));
    if (rc >= 0) rc = perhaps_add_many(*f, &PERHAPS_KEYS_U64(keys, 0, 200), NULL);
    if (rc >= 0) rc = perhaps_write_foreign(*f, refuse, &left);
    return rc;
}

static void a_failed_allocation_changes_nothing(void **state) {
    (void)state;
    for (unsigned i = 0; i < SORTS; i++) {
        perhaps *source = filled(i, 100);
        struct bytes bytes = foreign_bytes_of(source);
        int64_t rc = PERHAPS_ENOMEM;
        for (uint64_t fail = 1; rc == PERHAPS_ENOMEM; fail++) {
            struct pool pool = {.fail_at = fail};
            perhaps_allocator allocator = pool_allocator(&pool);
            perhaps *f = NULL;
            rc = live(&f, i, bytes, kind_of(source), &allocator);
            CHECK(is_clear(rc), "sort %u: allocation %llu failed, and the answer is %lld: %s", i,
                  (unsigned long long)fail, (long long)rc, perhaps_why());
            if (f) expect_members(f, 0, i == 13 ? 0 : info_of(source).items < 100 ? 1 : 100);
            perhaps_free(f);
            CHECK(pool.blocks == 0, "sort %u leaks when allocation %llu fails", i, (unsigned long long)fail);
        }
        free(bytes.data);
        perhaps_free(source);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_cut_is_refused),
        cmocka_unit_test(every_byte_may_be_anything),
        cmocka_unit_test(mutations),
        cmocka_unit_test(nonsense_in_chains_is_refused),
        cmocka_unit_test(nonsense_in_cuckoos_is_refused),
        cmocka_unit_test(items_of_cuckoos_are_counted),
        cmocka_unit_test(old_layers_go_on),
        cmocka_unit_test(a_sink_may_stop),
        cmocka_unit_test(a_failed_allocation_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
