/*
 * Images with a directory, made by someone who knows the format and computes right checksums over
 * nonsense: refused with a reason, or of use without harm; and never with more memory than the
 * image has.
 */
#include "support.h"
#include "checksums.h"

#include "base/endian.h"
#include "image/directory.h"

#include <perhaps_embed.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { AT_LAYOUT = 72, AT_LENGTH = 112 };

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

/* ---- composites ---- */

static const struct {
    const char *name;
    perhaps_want want;
    uint64_t keys;
} composites[] = {
    {"growing blocked", {.kind = PERHAPS_BLOCKED, .items = 3, .fpr = 0.1, .grow = PERHAPS_GROW_LAYERS}, 20},
    {"growing cuckoo", {.kind = PERHAPS_CUCKOO, .items = 3, .fpr = 0.1, .grow = PERHAPS_GROW_LAYERS}, 40},
    {"window of tables", {.kind = PERHAPS_TABLE, .items = 10, .generations = 3}, 20},
    {"window of a period", {.kind = PERHAPS_BLOOM, .items = 10, .fpr = 0.1, .period = 60}, 20},
    {"window with a mark", {.kind = PERHAPS_BLOCKED, .items = 10, .fpr = 0.1, .clear_at = 0.5}, 20},
    {"sharded bloom", {.kind = PERHAPS_BLOOM, .items = 20, .fpr = 0.1, .shards = 4}, 20},
    {"sharded cuckoo", {.kind = PERHAPS_CUCKOO, .items = 20, .fpr = 0.1, .shards = 3}, 20},
    {"sharded layers", {.kind = PERHAPS_CUCKOO, .items = 4, .fpr = 0.1, .shards = 2, .grow = PERHAPS_GROW_LAYERS}, 40},
};
enum { COMPOSITES = sizeof composites / sizeof *composites };

static struct bytes image_with(const perhaps_want *wanted, uint64_t seed, uint64_t keys) {
    perhaps_want want = *wanted;
    want.size = sizeof want;
    want.seed = seed;
    perhaps *f = make(&want);
    MUST(perhaps_advance(f, 1000));
    add_members(f, 0, keys / 2);
    MUST(perhaps_advance(f, 1020));
    add_members(f, keys / 2, keys - keys / 2);
    struct bytes image = image_of(f);
    perhaps_free(f);
    return image;
}

static struct bytes image_number(unsigned i) {
    return image_with(&composites[i].want, 0, composites[i].keys);
}

static uint8_t *directory_of(struct bytes image) {
    return image.data + image_offset(load64(image.data + AT_LENGTH), 0);
}

static uint64_t children_of(struct bytes image) {
    return load64(image.data + AT_LAYOUT + 8);
}

static struct bytes child_image(struct bytes image, uint64_t i) {
    struct entry entry = directory_get(directory_of(image), i);
    return (struct bytes){image.data + entry.offset, (size_t)entry.length};
}

/* A composite with the first header, and these children in their places; all checksums right. */
static struct bytes build(struct bytes head, const struct bytes *children, const uint64_t *since, uint64_t count) {
    uint64_t length = count * ENTRY_BYTES, end = image_offset(length, 0) + length, offset;
    struct bytes made = {calloc(1, (size_t)end), (size_t)end};
    memcpy(made.data, head.data, HEADER_BYTES);
    store64(made.data + AT_LAYOUT + 8, count);
    store64(made.data + AT_LENGTH, length);
    for (uint64_t i = 0; i < count; i++) {
        CHECK(directory_place(end, children[i].length, &offset), "no place");
        end = offset + children[i].length;
        made.data = realloc(made.data, (size_t)end);
        CHECK(made.data, "no memory");
        memset(made.data + made.length, 0, (size_t)end - made.length);
        made.length = (size_t)end;
        memcpy(made.data + offset, children[i].data, children[i].length);
        directory_put(directory_of(made), i, &(struct entry){offset, children[i].length, 0, since ? since[i] : 0});
    }
    fix_checksums(made.data, made.length);
    return made;
}

/* ---- opening in every way ---- */

/* Every call: wrong answers are allowed, harm and endless loops are not. */
static void use(perhaps *f) {
    uint64_t keys[10], counts[10], at = 0, digest, listed = 0;
    uint8_t answers[10];
    struct perhaps_info info = info_of(f), child = {.size = sizeof child};
    for (uint64_t i = 0; i < 10; i++) keys[i] = member(i);
    for (unsigned i = 0; i < info.children; i++) MUST(perhaps_child(f, i, &child));
    MUST(perhaps_contains_many(f, &PERHAPS_KEYS_U64(keys, 0, 10), answers));
    perhaps_count_many(f, &PERHAPS_KEYS_U64(keys, 0, 10), counts);
    while (listed < 10000 && perhaps_next(f, &at, &digest) == 1) listed++;
    CHECK(listed < 10000, "the list has no end");
    if (info.read_only) return;
    for (int i = 0; i < 10; i++) {
        int rc = perhaps_add_u64(f, keys[i]);
        CHECK(rc >= 0 || rc == PERHAPS_EFULL || rc == PERHAPS_ENOMEM || rc == PERHAPS_ERANGE, "add gave %d", rc);
    }
    perhaps_remove_many(f, &PERHAPS_KEYS_U64(keys, 0, 10), answers);
    perhaps_advance(f, 1030);
    perhaps_add_many(f, &PERHAPS_KEYS_U64(keys, 0, 10), answers);
    perhaps *copy = NULL;
    MUST(perhaps_clone(f, &copy));
    perhaps_merge(f, copy);
    perhaps_intersect(f, copy);
    perhaps_free(copy);
    struct bytes image = image_of(f);
    free(image.data);
    MUST(perhaps_clear(f));
    CHECK(perhaps_contains_u64(f, keys[0]) == 0, "a cleared filter has a key");
}

static int opened(perhaps *f, int rc, struct bytes image) {
    CHECK(rc == 0 || perhaps_why()[0], "refused without a reason");
    CHECK((rc == 0) == (f != NULL), "a filter comes with success, and only then");
    CHECK(allocated < 4 * image.length + 100000, "%zu bytes were allocated for an image of %zu", allocated,
          image.length);
    if (f) use(f);
    perhaps_free(f);
    return rc;
}

/* The answers of all ways of opening that verify everything must be the same. */
static int open_hostile(struct bytes image) {
    static const unsigned flags[] = {0, PERHAPS_OPEN_COPY, PERHAPS_OPEN_NO_VERIFY, PERHAPS_OPEN_RECOVER,
                                     PERHAPS_OPEN_COPY | PERHAPS_OPEN_NO_VERIFY | PERHAPS_OPEN_RECOVER};
    int answer = 0;
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        perhaps *f = NULL;
        allocated = 0;
        int rc =
            perhaps_open_memory(&f, image.data, image.length, &PERHAPS_OPEN(.flags = flags[i], .allocator = &counting));
        opened(f, rc, image);
        if (i == 0) answer = rc;
        if (i == 1) CHECK(rc == answer, "a copy is answered with %d, and in place %d was", rc, answer);
    }
    return answer;
}

/* From a file, mapped and read. */
static int open_hostile_file(struct bytes image) {
    int answer = 0;
    write_whole(scratch("hostile.ph"), image.data, image.length);
    for (unsigned flags = 0; flags < 8; flags++) {
        perhaps *f = NULL;
        if (flags & PERHAPS_OPEN_WRITE) continue;
        allocated = 0;
        int rc = perhaps_open(&f, scratch("hostile.ph"), &PERHAPS_OPEN(.flags = flags, .allocator = &counting));
        opened(f, rc, image);
        if (flags == 0) answer = rc;
        if (flags == PERHAPS_OPEN_COPY) CHECK(rc == answer, "a copy is answered with %d, a map with %d", rc, answer);
    }
    return answer;
}

static void expect_refused(struct bytes image, const char *what) {
    int rc = open_hostile(image);
    CHECK(rc == PERHAPS_EDAMAGED, "%s: %d, %s", what, rc, perhaps_why());
    rc = open_hostile_file(image);
    CHECK(rc == PERHAPS_EDAMAGED, "%s, in a file: %d, %s", what, rc, perhaps_why());
}

static void expect_welcome(struct bytes image, const char *what) {
    CHECK(open_hostile(image) == 0 && open_hostile_file(image) == 0, "%s: %s", what, perhaps_why());
}

/* ---- damage ---- */

static size_t step(void) {
    return test_size() == TEST_SMALL ? 7 : 1;
}

static void every_changed_byte_is_noticed(void **state) {
    (void)state;
    for (unsigned i = 0; i < COMPOSITES; i++) {
        struct bytes image = image_number(i);
        expect_welcome(image, composites[i].name);
        for (size_t at = 0; at < image.length; at += step()) {
            image.data[at] ^= (uint8_t)(1 << at % 8);
            CHECK(open_hostile(image) < 0, "%s: byte %zu of %zu was changed, and nobody noticed", composites[i].name,
                  at, image.length);
            if (at % 16 == 0) CHECK(open_hostile_file(image) < 0, "byte %zu was changed, and nobody noticed", at);
            image.data[at] ^= (uint8_t)(1 << at % 8);
        }
        free(image.data);
    }
}

static void every_truncation_is_noticed(void **state) {
    (void)state;
    for (unsigned i = 0; i < COMPOSITES; i++) {
        struct bytes image = image_number(i), longer = {calloc(1, image.length + 64), image.length + 64};
        for (size_t length = 0; length < image.length; length += step()) {
            struct bytes shorter = copy_bytes((struct bytes){image.data, length});
            CHECK(open_hostile(shorter) < 0, "%s: truncated to %zu of %zu", composites[i].name, length, image.length);
            if (length % 16 == 0) CHECK(open_hostile_file(shorter) < 0, "truncated to %zu", length);
            free(shorter.data);
        }
        CHECK(longer.data, "no memory");
        memcpy(longer.data, image.data, image.length);
        expect_refused(longer, "bytes behind the end");
        free(longer.data);
        free(image.data);
    }
}

/* ---- nonsense with right checksums ---- */

static void changed_bytes_with_right_sums_are_harmless(void **state) {
    (void)state;
    for (unsigned i = 0; i < COMPOSITES; i++) {
        struct bytes image = image_number(i);
        uint64_t random = i;
        for (size_t at = 0; at < image.length; at += step()) {
            struct bytes hostile = copy_bytes(image);
            hostile.data[at] = (uint8_t)(hostile.data[at] + 1 + next_random(&random) % 255);
            fix_checksums(hostile.data, hostile.length);
            open_hostile(hostile);
            if (at % 32 == 0) open_hostile_file(hostile);
            free(hostile.data);
        }
        free(image.data);
    }
}

static const uint64_t awkward[] = {0,
                                   1,
                                   63,
                                   64,
                                   65,
                                   119,
                                   120,
                                   4096,
                                   65537,
                                   INT32_MAX,
                                   UINT32_MAX,
                                   UINT64_C(1) << 32,
                                   UINT64_C(1) << 58,
                                   INT64_MAX,
                                   UINT64_C(1) << 63,
                                   UINT64_MAX - 63,
                                   UINT64_MAX};
enum { AWKWARD = sizeof awkward / sizeof *awkward };

/* Offset and length of each entry; the sum; the time. Only times are free, in order. */
static void directories_must_be_right(void **state) {
    (void)state;
    for (unsigned i = 0; i < COMPOSITES; i++) {
        struct bytes image = image_number(i);
        for (uint64_t entry = 0; entry < children_of(image); entry++)
            for (unsigned word = 0; word < 4; word++)
                for (size_t k = 0; k < AWKWARD; k++) {
                    struct bytes hostile = copy_bytes(image);
                    uint8_t *at = directory_of(hostile) + entry * ENTRY_BYTES + 8 * word;
                    if (load64(at) != awkward[k]) store64(at, awkward[k]);
                    if (word != 2) fix_checksums(hostile.data, hostile.length);
                    int rc = open_hostile(hostile);
                    bool same = memcmp(hostile.data, image.data, image.length) == 0;
                    CHECK(rc == PERHAPS_EDAMAGED || same || word == 3, "%s: word %u of entry %llu = %llx: %d",
                          composites[i].name, word, (unsigned long long)entry, (unsigned long long)awkward[k], rc);
                    free(hostile.data);
                }
        free(image.data);
    }
}

/* The directory's own checksum is right, and the sum in it is another child's. */
static void a_child_must_be_the_one_the_directory_knows(void **state) {
    (void)state;
    for (unsigned i = 0; i < COMPOSITES; i++) {
        struct bytes image = image_number(i);
        uint64_t length = load64(image.data + AT_LENGTH);
        struct entry entry = directory_get(directory_of(image), 0);
        entry.sum++;
        directory_put(directory_of(image), 0, &entry);
        header_sum(NULL, image.data, directory_of(image), length, 0);
        expect_refused(image, "a sum that is not the child's");
        free(image.data);
    }
}

static void entries_out_of_order_are_refused(void **state) {
    (void)state;
    for (unsigned i = 0; i < COMPOSITES; i++) {
        struct bytes image = image_number(i);
        if (children_of(image) > 1) {
            struct entry a = directory_get(directory_of(image), 0), b = directory_get(directory_of(image), 1);
            directory_put(directory_of(image), 0, &b);
            directory_put(directory_of(image), 1, &a);
            fix_checksums(image.data, image.length);
            expect_refused(image, "two entries that have changed places");
            directory_put(directory_of(image), 0, &a);
            directory_put(directory_of(image), 1, &a);
            fix_checksums(image.data, image.length);
            expect_refused(image, "an entry that is there twice");
        }
        free(image.data);
    }
}

static void padding_must_be_zero(void **state) {
    unsigned gaps = 0;
    (void)state;
    for (unsigned i = 0; i < COMPOSITES; i++) {
        struct bytes image = image_number(i);
        for (uint64_t k = 0; k + 1 < children_of(image); k++) {
            struct entry a = directory_get(directory_of(image), k), b = directory_get(directory_of(image), k + 1);
            for (uint64_t at = a.offset + a.length; at < b.offset; at += 8) {
                gaps++;
                image.data[at] = 1;
                fix_checksums(image.data, image.length);
                expect_refused(image, "padding that is not zero");
                image.data[at] = 0;
            }
        }
        free(image.data);
    }
    CHECK(gaps > 3, "there are no gaps between children: this tests nothing");
}

static void impossible_numbers_of_children_are_refused(void **state) {
    static const uint64_t counts[] = {0, 65537, UINT32_MAX, UINT64_C(1) << 32, UINT64_C(1) << 59, UINT64_MAX};
    (void)state;
    for (unsigned i = 0; i < COMPOSITES; i++) {
        struct bytes image = image_number(i);
        for (size_t k = 0; k < sizeof counts / sizeof *counts; k++)
            for (int agree = 0; agree < 2; agree++) {
                struct bytes hostile = copy_bytes(image);
                store64(hostile.data + AT_LAYOUT + 8, counts[k]);
                if (agree) store64(hostile.data + AT_LENGTH, counts[k] * ENTRY_BYTES);
                fix_checksums(hostile.data, hostile.length);
                expect_refused(hostile, "an impossible number of children");
                free(hostile.data);
            }
        free(image.data);
    }
    /* A directory that is really there, but has one entry more than can be. */
    struct bytes window = image_number(2), generation = child_image(window, 0);
    struct bytes sixty_four[65];
    for (int k = 0; k < 65; k++) sixty_four[k] = generation;
    struct bytes most = build(window, sixty_four, NULL, 64), more = build(window, sixty_four, NULL, 65);
    expect_welcome(most, "64 generations");
    expect_refused(more, "65 generations");
    free(most.data);
    free(more.data);
    free(window.data);
}

/* ---- children that do not belong ---- */

static void expect_mix_refused(unsigned composite, struct bytes foreign, const char *what) {
    struct bytes image = image_number(composite);
    uint64_t count = children_of(image);
    for (uint64_t k = 0; k < count; k++) {
        struct bytes children[8];
        uint64_t since[8];
        for (uint64_t c = 0; c < count; c++) {
            children[c] = c == k ? foreign : child_image(image, c);
            since[c] = directory_get(directory_of(image), c).since;
        }
        struct bytes mixed = build(image, children, since, count);
        expect_refused(mixed, what);
        free(mixed.data);
    }
    free(image.data);
}

static void children_must_match_the_composite(void **state) {
    static const uint8_t key[16] = "sixteen bytes...";
    (void)state;
    for (unsigned i = 0; i < COMPOSITES; i++) {
        struct bytes own = image_number(i);
        struct bytes seed = image_with(&composites[i].want, 7, composites[i].keys);
        expect_mix_refused(i, child_image(seed, 0), "a child with another seed");
        perhaps_want want = composites[i].want;
        want.hash = PERHAPS_SIPHASH;
        want.hash_key = key;
        want.key_in_file = 1;
        struct bytes hash = image_with(&want, 0, composites[i].keys);
        expect_mix_refused(i, child_image(hash, 0), "a child with another hash");
        struct bytes kind = image_number(i == 5 ? 0 : 5);
        expect_mix_refused(i, child_image(kind, 0), "a child of another kind");
        expect_mix_refused(i, own, "a composite in itself");
        free(own.data);
        free(seed.data);
        free(hash.data);
        free(kind.data);
    }
}

/* Composites within composites are possible in one way only, whatever the headers say. */
static void composites_are_not_nested_too_deep(void **state) {
    (void)state;
    for (unsigned i = 0; i < COMPOSITES; i++)
        for (unsigned k = 0; k < COMPOSITES; k++) {
            struct bytes outer = image_number(i), inner = image_number(k);
            bool sharded_layers = i >= 5 && k <= 1;
            /* The kind of the inner one. */
            store64(outer.data + AT_LAYOUT, load64(inner.data + 8) >> 16 & 0xFFFF);
            struct bytes nested = build(outer, &inner, NULL, 1);
            if (sharded_layers)
                expect_welcome(nested, "layers in a shard");
            else
                expect_refused(nested, "a composite in a composite");
            free(nested.data);
            free(outer.data);
            free(inner.data);
        }
}

/* Shards that can do different things would make calls go nowhere. */
static void shards_must_be_alike(void **state) {
    (void)state;
    struct bytes outer = image_number(7), sets = image_number(0), multisets = image_number(1);
    struct bytes mixed[] = {multisets, sets}, other_way[] = {sets, multisets};
    struct bytes a = build(outer, mixed, NULL, 2), b = build(outer, other_way, NULL, 2);
    expect_refused(a, "shards of multisets and of sets");
    expect_refused(b, "shards of sets and of multisets");
    free(a.data);
    free(b.data);
    free(outer.data);
    free(sets.data);
    free(multisets.data);
}

static void generations_must_be_in_order_and_alike(void **state) {
    (void)state;
    struct bytes image = image_number(3), children[4];
    for (int k = 0; k < 4; k++) children[k] = child_image(image, (uint64_t)k);
    struct bytes in_order = build(image, children, (uint64_t[]){0, 1, 1, UINT64_MAX}, 4);
    expect_welcome(in_order, "times in order");
    struct bytes not_so = build(image, children, (uint64_t[]){5, 6, 4, 7}, 4);
    expect_refused(not_so, "times that are not in order");
    perhaps_want want = composites[3].want;
    want.items = 200;
    struct bytes larger = image_with(&want, 0, 10);
    children[2] = child_image(larger, 0);
    struct bytes not_alike = build(image, children, NULL, 4);
    expect_refused(not_alike, "generations that are not alike");
    free(in_order.data);
    free(not_so.data);
    free(not_alike.data);
    free(larger.data);
    free(image.data);
}

static void cuckoo_layers_must_nest(void **state) {
    (void)state;
    struct bytes image = image_number(1);
    CHECK(children_of(image) >= 2, "it has not grown");
    struct bytes turned[] = {child_image(image, 1), child_image(image, 0)};
    struct bytes wrong = build(image, turned, NULL, 2);
    expect_refused(wrong, "the smaller layer over the larger");
    free(wrong.data);
    free(image.data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_changed_byte_is_noticed),
        cmocka_unit_test(every_truncation_is_noticed),
        cmocka_unit_test(changed_bytes_with_right_sums_are_harmless),
        cmocka_unit_test(directories_must_be_right),
        cmocka_unit_test(a_child_must_be_the_one_the_directory_knows),
        cmocka_unit_test(entries_out_of_order_are_refused),
        cmocka_unit_test(padding_must_be_zero),
        cmocka_unit_test(impossible_numbers_of_children_are_refused),
        cmocka_unit_test(children_must_match_the_composite),
        cmocka_unit_test(composites_are_not_nested_too_deep),
        cmocka_unit_test(shards_must_be_alike),
        cmocka_unit_test(generations_must_be_in_order_and_alike),
        cmocka_unit_test(cuckoo_layers_must_nest),
    };
    return cmocka_run_group_tests(tests, NULL, remove_scratch);
}
