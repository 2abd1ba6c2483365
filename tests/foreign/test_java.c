/* Files of Guava and Spark: known numbers, the promises of every filter, and hostile files. */
#include "support.h"

#include <perhaps_embed.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Guava's newer strategy, its older one, and Spark. */
enum { MITZ_64, MITZ_32, SPARK, SORTS };

static int kind_of(unsigned sort) {
    return sort == SPARK ? PERHAPS_SPARK : PERHAPS_GUAVA;
}

static perhaps *open_copy(struct bytes file, unsigned sort) {
    perhaps *f;
    MUST(perhaps_open_memory(&f, file.data, file.length,
                             &PERHAPS_OPEN(.kind = kind_of(sort), .flags = PERHAPS_OPEN_COPY)));
    return f;
}

/* An empty filter with the newer strategy; the older one comes from a file that says so. */
static perhaps *empty(unsigned sort, uint64_t items, double fpr) {
    perhaps *f = make(&PERHAPS_WANT(.kind = kind_of(sort), .items = items, .fpr = fpr));
    if (sort != MITZ_32) return f;
    struct bytes file = image_of(f);
    perhaps_free(f);
    file.data[0] = 0;
    f = open_copy(file, sort);
    free(file.data);
    return f;
}

/* ---- known numbers ---- */

/* Keys in batches: each is made in its own buffer by a function that gives its length. */
enum { ROOM = 16, BATCH = 1000 };
typedef size_t make_key(uint64_t number, uint8_t key[ROOM]);

struct batch {
    uint8_t room[BATCH][ROOM];
    const void *keys[BATCH];
    size_t lengths[BATCH];
};

static void fill(struct batch *batch, make_key *key_of, uint64_t first, uint64_t step) {
    for (size_t i = 0; i < BATCH; i++) {
        batch->keys[i] = batch->room[i];
        batch->lengths[i] = key_of(first + i * step, batch->room[i]);
    }
}

static void add_keys(perhaps *f, make_key *key_of, uint64_t first, uint64_t step, uint64_t n) {
    struct batch batch;
    for (uint64_t i = 0; i < n; i += BATCH) {
        fill(&batch, key_of, first + i * step, step);
        MUST(perhaps_add_many(f, &PERHAPS_KEYS_BYTES(batch.keys, batch.lengths, BATCH), NULL));
    }
}

static uint64_t count_keys(const perhaps *f, make_key *key_of, uint64_t first, uint64_t step, uint64_t n) {
    struct batch batch;
    uint64_t found = 0;
    for (uint64_t i = 0; i < n; i += BATCH) {
        fill(&batch, key_of, first + i * step, step);
        found += (uint64_t)MUST(perhaps_contains_many(f, &PERHAPS_KEYS_BYTES(batch.keys, batch.lengths, BATCH), NULL));
    }
    return found;
}

static size_t integer(uint64_t number, uint8_t key[ROOM]) {
    for (unsigned i = 0; i < 4; i++) key[i] = (uint8_t)(number >> 8 * i);
    return 4;
}

static size_t decimal(uint64_t number, uint8_t key[ROOM]) {
    return (size_t)snprintf((char *)key, ROOM, "%u", (unsigned)number);
}

static size_t decimal_utf16(uint64_t number, uint8_t key[ROOM]) {
    uint8_t text[ROOM];
    size_t length = decimal(number, text);
    for (size_t i = 0; i < length && i < ROOM / 2; i++) {
        key[2 * i] = text[i];
        key[2 * i + 1] = 0;
    }
    return 2 * length;
}

/* As many false positives as Guava has: one place or one hash that is off would give others. */
static void a_million_integers(void **state) {
    (void)state;
    if (time_is_short()) skip();
    perhaps *f = empty(MITZ_64, 1000000, 0.01);
    CHECK(info_of(f).hashes == 7 && info_of(f).bytes == 149767 * 8, "%u hashes, %llu bytes", info_of(f).hashes,
          (unsigned long long)info_of(f).bytes);
    add_keys(f, integer, 0, 1, 1000000);
    CHECK(count_keys(f, integer, 0, 1, 1000000) == 1000000, "some are missing");
    uint64_t found = count_keys(f, integer, 1000000, 1, 100000);
    CHECK(found == 947, "%llu false positives", (unsigned long long)found);
    perhaps_free(f);
}

static void even_numbers_as_text(void **state) {
    static const struct {
        unsigned sort;
        make_key *key_of;
        uint64_t wrong;
    } known[] = {{MITZ_32, decimal_utf16, 29824}, {MITZ_64, decimal_utf16, 30104}, {MITZ_64, decimal, 29763}};
    (void)state;
    if (time_is_short()) skip();
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        perhaps *f = empty(known[i].sort, 1000000, 0.03);
        add_keys(f, known[i].key_of, 0, 2, 1000000);
        uint64_t found = count_keys(f, known[i].key_of, 1, 2, 1000000);
        CHECK(found == known[i].wrong, "case %zu: %llu false positives", i, (unsigned long long)found);
        perhaps_free(f);
    }
}

/* Files that Guava and Spark themselves have made of the numbers from 1 on. */
static const struct {
    uint64_t numbers;
    size_t length;
    uint8_t bytes[40];
} known_files[SORTS] = {
    [MITZ_64] = {20, 22, {0x01, 0x03, 0x00, 0x00, 0x00, 0x02, 0xc4, 0x4e, 0x05, 0x84, 0x2a,
                          0x08, 0x52, 0x82, 0x02, 0x05, 0x2b, 0x64, 0x18, 0x49, 0x27, 0xa6}},
    [MITZ_32] = {20, 22, {0x00, 0x04, 0x00, 0x00, 0x00, 0x02, 0x38, 0x10, 0x68, 0x84, 0xe6,
                          0x13, 0xbb, 0x37, 0x63, 0x2b, 0x4d, 0x5d, 0xc2, 0xd0, 0x37, 0xb4}},
    [SPARK] = {35, 36, {0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x05, 0x00, 0x00, 0x00, 0x03,
                        0x43, 0xa2, 0xec, 0x6e, 0xa8, 0xc1, 0x17, 0xe2, 0xd3, 0xcd, 0xb7, 0x67,
                        0x29, 0x6b, 0x14, 0x4f, 0xc5, 0xbf, 0xbc, 0xed, 0x97, 0x37, 0xf2, 0x67}},
};

static void the_same_files(void **state) {
    (void)state;
    for (unsigned sort = 0; sort < SORTS; sort++) {
        struct bytes known = {(uint8_t *)(uintptr_t)known_files[sort].bytes, known_files[sort].length};
        perhaps *theirs = open_copy(known, sort), *ours = open_copy(known, sort);
        MUST(perhaps_clear(ours));
        for (uint64_t i = 1; i <= known_files[sort].numbers; i++) {
            CHECK(perhaps_contains_u64(theirs, i) == 1, "sort %u: %llu is missing", sort, (unsigned long long)i);
            MUST(perhaps_add_u64(ours, i));
        }
        expect_unchanged(ours, known);
        perhaps_free(theirs);
        perhaps_free(ours);
    }
}

static void sizes_are_as_there(void **state) {
    static const struct {
        uint64_t items;
        double fpr;
        uint64_t words;
        unsigned hashes;
    } known[] = {{1, 0.5, 1, 1}, {1, 0.01, 1, 6}, {1000, 0.01, 150, 7}, {1000000, 0.03, 114039, 5}};
    (void)state;
    for (unsigned sort = 0; sort < SORTS; sort++)
        for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
            perhaps *f = empty(sort, known[i].items, known[i].fpr);
            struct perhaps_info info = info_of(f);
            CHECK(info.bytes == known[i].words * 8 && info.hashes == known[i].hashes,
                  "sort %u, case %zu: %llu bytes, %u", sort, i, (unsigned long long)info.bytes, info.hashes);
            CHECK(info.image_bytes == info.bytes + (sort == SPARK ? 12 : 6), "sort %u: the head", sort);
            perhaps_free(f);
        }
}

static void wants_without_sense_are_refused(void **state) {
    static const int kinds[] = {PERHAPS_GUAVA, PERHAPS_SPARK};
    perhaps *f;
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        int kind = kinds[i];
        REFUSED(PERHAPS_EINVAL, perhaps_create(&f, &PERHAPS_WANT(.kind = kind, .items = 10)));
        REFUSED(PERHAPS_EINVAL, perhaps_create(&f, &PERHAPS_WANT(.kind = kind, .items = 10, .fpr = 0.1, .hashes = 3)));
        REFUSED(PERHAPS_EINVAL, perhaps_create(&f, &PERHAPS_WANT(.kind = kind, .items = 10, .fpr = 0.1, .seed = 3)));
        REFUSED(PERHAPS_ERANGE, perhaps_create(&f, &PERHAPS_WANT(.kind = kind, .items = 1, .fpr = 0.9)));
        REFUSED(PERHAPS_ERANGE, perhaps_create(&f, &PERHAPS_WANT(.kind = kind, .items = UINT64_MAX, .fpr = 0.1)));
    }
    REFUSED(PERHAPS_ERANGE, perhaps_create(&f, &PERHAPS_WANT(.kind = PERHAPS_GUAVA, .items = 9, .fpr = 1e-90)));
}

/* ---- promises ---- */

/* Of few hashes and of many, which batches do otherwise. */
static const double rates[] = {0.3, 0.01, 1e-9, 1e-15};
enum { RATES = sizeof rates / sizeof *rates };

static void batches_are_single_calls(void **state) {
    enum { KEYS = 700 };
    struct byte_keys keys = make_byte_keys(KEYS, 7);
    uint8_t answers[KEYS], found[KEYS];
    (void)state;
    for (unsigned i = 0; i < SORTS * RATES; i++) {
        perhaps *one = empty(i % SORTS, KEYS / 2, rates[i / SORTS]),
                *many = empty(i % SORTS, KEYS / 2, rates[i / SORTS]);
        MUST(perhaps_add_many(many, &PERHAPS_KEYS_BYTES(keys.keys, keys.lengths, KEYS / 2), answers));
        for (size_t j = 0; j < KEYS / 2; j++)
            CHECK(perhaps_add(one, keys.keys[j], keys.lengths[j]) == answers[j], "case %u: key %zu", i, j);
        CHECK(perhaps_equal(one, many) == 1, "case %u: a batch is not what its keys are", i);
        MUST(perhaps_contains_many(many, &PERHAPS_KEYS_BYTES(keys.keys, keys.lengths, KEYS), found));
        for (size_t j = 0; j < KEYS; j++) {
            CHECK(found[j] || j >= KEYS / 2, "case %u: key %zu is missing", i, j);
            CHECK(perhaps_contains(one, keys.keys[j], keys.lengths[j]) == found[j], "case %u: key %zu", i, j);
        }
        perhaps_free(one);
        perhaps_free(many);
    }
    free_byte_keys(&keys);
}

static void integers_are_eight_bytes(void **state) {
    const uint8_t bytes[8] = {8, 7, 6, 5, 4, 3, 2, 1};
    (void)state;
    for (unsigned sort = 0; sort < SORTS; sort++) {
        perhaps *a = empty(sort, 100, 0.01), *b = empty(sort, 100, 0.01);
        MUST(perhaps_add_u64(a, UINT64_C(0x0102030405060708)));
        MUST(perhaps_add(b, bytes, sizeof bytes));
        CHECK(perhaps_equal(a, b) == 1, "sort %u", sort);
        REFUSED(PERHAPS_ECANNOT, perhaps_add_digest(a, 1));
        perhaps_free(a);
        perhaps_free(b);
    }
}

/* Mapped, and recognised by itself. */
static void expect_mapped(const perhaps *f, const char *path, unsigned sort) {
    perhaps *mapped;
    MUST(perhaps_open(&mapped, path, NULL));
    CHECK(info_of(mapped).kind == kind_of(sort) && info_of(mapped).read_only, "sort %u: not as a map", sort);
    CHECK(perhaps_equal(f, mapped) == 1, "sort %u: the map is not equal", sort);
    expect_members(mapped, 0, 1000);
    REFUSED(PERHAPS_EREADONLY, perhaps_add_u64(mapped, 1));
    CHECK(info_of(mapped).distinct > 950 && info_of(mapped).distinct < 1050, "sort %u: about %f keys", sort,
          info_of(mapped).distinct);
    perhaps_free(mapped);
}

static void round_trips(void **state) {
    (void)state;
    for (unsigned sort = 0; sort < SORTS; sort++) {
        const char *path = scratch("round");
        perhaps *f = empty(sort, 1000, 0.01), *copy, *refused;
        add_members(f, 0, 1000);
        MUST(perhaps_save(f, path));
        expect_mapped(f, path, sort);
        MUST(perhaps_open(&copy, path, &PERHAPS_OPEN(.kind = kind_of(sort), .flags = PERHAPS_OPEN_COPY)));
        CHECK(info_of(copy).items > 950 && info_of(copy).items < 1050, "sort %u: items of a copy", sort);
        REFUSED(PERHAPS_ECANNOT, perhaps_open(&refused, path, &PERHAPS_OPEN(.flags = PERHAPS_OPEN_WRITE)));
        add_members(f, 1000, 500);
        add_members(copy, 1000, 500);
        MUST(perhaps_save(copy, path));
        struct bytes file = read_whole(path);
        expect_unchanged(f, file);
        free(file.data);
        perhaps_free(copy);
        perhaps_free(f);
    }
}

/* Also of one that was made with one that was opened, which does not know what it was made for. */
static void merging(void **state) {
    (void)state;
    for (unsigned sort = 0; sort < SORTS; sort++) {
        perhaps *a = empty(sort, 1000, 0.01), *b = empty(sort, 1000, 0.01), *both = empty(sort, 1000, 0.01);
        add_members(a, 0, 600);
        add_members(b, 400, 600);
        add_members(both, 0, 1000);
        struct bytes file = image_of(b);
        perhaps *opened = open_copy(file, sort);
        MUST(perhaps_merge(opened, a));
        CHECK(perhaps_equal(opened, both) == 1, "sort %u: not the union", sort);
        MUST(perhaps_intersect(a, b));
        expect_members(a, 400, 200);
        CHECK(info_of(a).fill < info_of(b).fill, "sort %u: nothing is gone", sort);
        perhaps *other = empty((sort + 1) % SORTS, 1000, 0.01);
        REFUSED(PERHAPS_EMISMATCH, perhaps_merge(a, other));
        free(file.data);
        perhaps_free(a), perhaps_free(b), perhaps_free(both), perhaps_free(opened), perhaps_free(other);
    }
}

/* ---- hostile files ---- */

static size_t allocated;

static void *count_and_allocate(void *context, size_t size) {
    (void)context;
    allocated += size;
    return aligned_alloc(64, (size + 63) / 64 * 64);
}

static void release(void *context, void *memory, size_t size) {
    (void)context, (void)size;
    free(memory);
}

/* Opened borrowed and as a copy, from memory and from a file: the same answer, little memory. */
static int open_hostile(unsigned sort, const uint8_t *bytes, size_t length) {
    static const perhaps_allocator counting = {.allocate = count_and_allocate, .release = release};
    int answers[4];
    write_whole(scratch("hostile"), bytes, length);
    for (unsigned i = 0; i < 4; i++) {
        perhaps *f = NULL;
        perhaps_open_options how =
            PERHAPS_OPEN(.kind = kind_of(sort), .flags = i & 1 ? PERHAPS_OPEN_COPY : 0, .allocator = &counting);
        allocated = 0;
        answers[i] = i & 2 ? perhaps_open(&f, scratch("hostile"), &how) : perhaps_open_memory(&f, bytes, length, &how);
        CHECK(allocated < 2 * length + 16384, "%zu bytes of memory for a file of %zu", allocated, length);
        CHECK(answers[i] == answers[0], "%d and %d", answers[i], answers[0]);
        if (answers[i] == PERHAPS_OK) {
            CHECK(info_of(f).fpr_target >= 0 && info_of(f).fpr_target <= 1, "a rate of %f", info_of(f).fpr_target);
            CHECK(perhaps_contains(f, "key", 3) == (info_of(f).fill == 1), "an answer to nothing");
        }
        perhaps_free(f);
    }
    return answers[0];
}

/* The head of a file with that many hashes and words, zeros up to `length` bytes in all. */
static int open_head(unsigned sort, uint32_t first, uint32_t hashes, uint32_t words, size_t length) {
    uint8_t file[4096] = {0}, *at = file;
    if (sort == SPARK) {
        const uint32_t head[] = {first, hashes};
        for (unsigned i = 0; i < 8; i++) *at++ = (uint8_t)(head[i / 4] >> (24 - i % 4 * 8));
    } else {
        *at++ = (uint8_t)first;
        *at++ = (uint8_t)hashes;
    }
    for (unsigned i = 0; i < 4; i++) *at++ = (uint8_t)(words >> (24 - i * 8));
    return open_hostile(sort, file, length);
}

static void hostile_files(void **state) {
    (void)state;
    for (unsigned sort = 0; sort < SORTS; sort++) {
        size_t head = sort == SPARK ? 12 : 6;
        uint32_t first = sort != MITZ_32, most = sort == SPARK ? 2048 : 255;
        for (uint32_t k = 1; k <= most; k += k < 70 ? 1 : most - 70) {
            CHECK(open_head(sort, first, k, 1, head + 8) == PERHAPS_OK, "sort %u, %u hashes", sort, k);
            CHECK(open_head(sort, first, k, 15, head + 120) == PERHAPS_OK, "sort %u, %u hashes", sort, k);
            CHECK(open_head(sort, first, k, 100, head + 800) == PERHAPS_OK, "sort %u, %u hashes", sort, k);
        }
        for (size_t length = 0; length < head + 80; length++)
            REFUSED(PERHAPS_EDAMAGED, open_head(sort, first, 5, 10, length));
        REFUSED(PERHAPS_EDAMAGED, open_head(sort, first, 5, 10, head + 81));
        REFUSED(PERHAPS_EDAMAGED, open_head(sort, first, 0, 10, head + 80));
        REFUSED(PERHAPS_EDAMAGED, open_head(sort, first, 5, 0, head));
        REFUSED(PERHAPS_EDAMAGED, open_head(sort, 2, 5, 10, head + 80));
        for (unsigned bit = 20; bit < 32; bit++) {
            REFUSED(PERHAPS_EDAMAGED, open_head(sort, first, 5, UINT32_C(1) << bit, head + 80));
            REFUSED(PERHAPS_EDAMAGED, open_head(sort, first, 5, (UINT32_C(1) << bit) + 10, head + 80));
            REFUSED(PERHAPS_EDAMAGED, open_head(sort, first, 5, (UINT32_C(2) << bit) - 1, head + 80));
            if (sort == SPARK) REFUSED(PERHAPS_EDAMAGED, open_head(sort, first, UINT32_C(1) << bit, 10, head + 80));
        }
        if (sort == SPARK) REFUSED(PERHAPS_EDAMAGED, open_head(sort, first, 2049, 10, head + 80));
    }
}

/* Bytes whose lengths do not agree are not taken for such a file, unless the caller says so. */
static void only_whole_files_are_recognised(void **state) {
    (void)state;
    for (unsigned sort = 0; sort < SORTS; sort++) {
        perhaps *f = empty(sort, 100, 0.01), *opened;
        struct bytes file = image_of(f);
        MUST(perhaps_open_memory(&opened, file.data, file.length, NULL));
        CHECK(info_of(opened).kind == kind_of(sort), "sort %u", sort);
        perhaps_free(opened);
        for (size_t length = 0; length < file.length; length++)
            REFUSED(PERHAPS_EFOREIGN, perhaps_open_memory(&opened, file.data, length, NULL));
        file.data[sort == SPARK ? 3 : 0] = 2;
        REFUSED(PERHAPS_EFOREIGN, perhaps_open_memory(&opened, file.data, file.length, NULL));
        free(file.data);
        perhaps_free(f);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_million_integers),
        cmocka_unit_test(even_numbers_as_text),
        cmocka_unit_test(the_same_files),
        cmocka_unit_test(sizes_are_as_there),
        cmocka_unit_test(wants_without_sense_are_refused),
        cmocka_unit_test(batches_are_single_calls),
        cmocka_unit_test(integers_are_eight_bytes),
        cmocka_unit_test(round_trips),
        cmocka_unit_test(merging),
        cmocka_unit_test(hostile_files),
        cmocka_unit_test(only_whole_files_are_recognised),
    };
    return cmocka_run_group_tests(tests, NULL, remove_scratch);
}
