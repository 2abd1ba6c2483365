/* Foreign formats keep the promises of every filter, with their own hash. */
#include "foreign.h"

#include <stdlib.h>
#include <string.h>

static bool removes(const perhaps *f) {
    return info_of(f).can & PERHAPS_REMOVE;
}

static void nothing_is_missed(void **state) {
    (void)state;
    for (unsigned i = 0; i < SORTS; i++) {
        perhaps_want want = sort_of_filter(i);
        perhaps *f = make(&want);
        uint64_t added = add_while_room(f, 0, 1500);
        CHECK(added == 1500 || want.kind == PERHAPS_REDIS_CUCKOO, "sort %u is full with %llu", i,
              (unsigned long long)added);
        CHECK(info_of(f).items <= added && info_of(f).items > 0, "sort %u has %llu items of %llu", i,
              (unsigned long long)info_of(f).items, (unsigned long long)added);
        expect_members(f, 0, added);
        CHECK(perhaps_add(f, "", 0) != 0 || perhaps_contains(f, "", 0) == 1, "the empty key");
        perhaps_free(f);
    }
}

/* Byte keys, and batches beside single calls: the same answers and the same bytes. */
static void batches_are_single_calls(void **state) {
    struct byte_keys keys = make_byte_keys(600, 7);
    uint8_t answers[600], found[600];
    (void)state;
    for (unsigned i = 0; i < SORTS; i++) {
        perhaps_want want = sort_of_filter(i);
        if (want.grow == PERHAPS_GROW_NEVER && want.kind == PERHAPS_REDIS_CUCKOO) continue;
        want.items = want.items > 50 ? want.items : 50;
        perhaps *one = make(&want), *many = make(&want);
        perhaps_keys all = PERHAPS_KEYS_BYTES(keys.keys, keys.lengths, keys.n);
        int64_t sum = MUST(perhaps_add_many(many, &all, answers));
        for (size_t j = 0; j < keys.n; j++) {
            int is_new = (int)MUST(perhaps_add(one, keys.keys[j], keys.lengths[j]));
            CHECK(is_new == answers[j], "sort %u, key %zu: %d, and %d in a batch", i, j, is_new, answers[j]);
            sum -= is_new;
        }
        CHECK(sum == 0 && perhaps_equal(one, many), "sort %u: a batch is not what its keys are", i);
        CHECK(perhaps_contains_many(many, &all, found) == (int64_t)keys.n, "sort %u", i);
        CHECK(perhaps_contains_parallel(many, &all, found, 2) == (int64_t)keys.n, "%u", i);
        perhaps_free(one);
        perhaps_free(many);
    }
    free_byte_keys(&keys);
}

/* An integer is its eight bytes, the least first. */
static void integers_are_eight_bytes(void **state) {
    (void)state;
    for (unsigned i = 0; i < SORTS; i++) {
        perhaps *f = filled(i, 0);
        const uint8_t bytes[8] = {8, 7, 6, 5, 4, 3, 2, 1};
        MUST(perhaps_add_u64(f, UINT64_C(0x0102030405060708)));
        CHECK(perhaps_contains(f, bytes, 8) == 1, "sort %u", i);
        CHECK(perhaps_digest_u64(perhaps_hasher_of(f), 0x0102030405060708) == digest_of(f, bytes, 8), "sort %u", i);
        perhaps_free(f);
    }
}

/* Values of another implementation of the same function. */
static void the_hash_is_murmur64a(void **state) {
    static const struct {
        size_t length;
        uint64_t of_cuckoo, of_bloom;
    } known[] = {
        {0, UINT64_C(0x0000000000000000), UINT64_C(0x1ab11ea5a7b2c56e)},
        {1, UINT64_C(0x7a307fb51b9741cd), UINT64_C(0x83d6a552eeb4f730)},
        {2, UINT64_C(0xbf4a8374dd55bee3), UINT64_C(0x0f08a830b9be4fc5)},
        {3, UINT64_C(0x27ba74c43db50f9f), UINT64_C(0x5c4dc69684f2fde3)},
        {4, UINT64_C(0x5aed9cd192939260), UINT64_C(0xf326adad2cb1388c)},
        {5, UINT64_C(0x075f659ea4700789), UINT64_C(0xf368f2630cc1d976)},
        {6, UINT64_C(0x787997ec91440b93), UINT64_C(0xfc16f79e30c3fe89)},
        {7, UINT64_C(0xafbe39782b9a85ad), UINT64_C(0xa2127759e2cfccda)},
        {8, UINT64_C(0xb70636b16e9fc04b), UINT64_C(0xa786b610ee604f78)},
        {9, UINT64_C(0x773228af5af3fd32), UINT64_C(0x5261d7cb95dbf83e)},
        {17, UINT64_C(0x6e58618dd87b6c21), UINT64_C(0x3015ce1e2e993276)},
        {25, UINT64_C(0xb57f21426826b9f2), UINT64_C(0xf1b995298763370f)},
    };
    perhaps *bloom = filled(0, 0), *cuckoo = filled(7, 0);
    char text[] = " The quick brown fox jumps";
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        CHECK(digest_of(cuckoo, text + 1, known[i].length) == known[i].of_cuckoo, "%zu bytes", known[i].length);
        CHECK(digest_of(bloom, text + 1, known[i].length) == known[i].of_bloom, "%zu bytes", known[i].length);
    }
    CHECK(strcmp(info_of(bloom).hash_name, "murmur") == 0, "%s", info_of(bloom).hash_name);
    perhaps_free(bloom);
    perhaps_free(cuckoo);
}

/* Adds and removes at random beside exact counts. */
static void removing_and_counting(void **state) {
    enum { KEYS = 200, STEPS = 6000 };
    (void)state;
    for (unsigned i = 0; i < SORTS; i++) {
        perhaps *f = filled(i, 0);
        uint64_t copies[KEYS] = {0}, random = i, all = 0;
        for (unsigned step = 0; removes(f) && step < STEPS; step++) {
            uint64_t key = next_random(&random) % KEYS;
            bool adding = next_random(&random) % 100 < (step / 1500 % 2 ? 20 : 80);
            if (adding && MUST_OR_FULL(perhaps_add_u64(f, key)) == 1) copies[key]++, all++;
            if (!adding && copies[key]) {
                CHECK(perhaps_remove_u64(f, key) == 1, "sort %u: key %llu is gone", i, (unsigned long long)key);
                copies[key]--, all--;
            }
            int64_t count = MUST(perhaps_count_u64(f, key));
            CHECK(count >= (int64_t)copies[key], "sort %u: %lld of %llu copies", i, (long long)count,
                  (unsigned long long)copies[key]);
        }
        CHECK(!removes(f) || info_of(f).items == all, "sort %u", i);
        if (removes(f)) CHECK((uint64_t)(info_of(f).distinct + 0.5) == all, "sort %u: %f", i, info_of(f).distinct);
        if (!removes(f)) REFUSED(PERHAPS_ECANNOT, perhaps_remove_u64(f, 1));
        if (!removes(f)) REFUSED(PERHAPS_ECANNOT, perhaps_count_u64(f, 1));
        perhaps_free(f);
    }
}

/* What comes back goes on as the original does. */
static void expect_same_future(perhaps *f, perhaps *again, unsigned sort, const char *way) {
    CHECK(perhaps_equal(f, again) == 1, "sort %u is not equal after %s", sort, way);
    CHECK(info_of(f).items == info_of(again).items, "sort %u has other items after %s", sort, way);
    perhaps *copy;
    MUST(perhaps_clone(f, &copy));
    CHECK(add_while_room(copy, 5000, 700) == add_while_room(again, 5000, 700), "sort %u after %s", sort, way);
    for (uint64_t i = 0; removes(f) && i < 300; i++)
        CHECK(perhaps_remove_u64(copy, member(i)) == perhaps_remove_u64(again, member(i)), "sort %u, %s", sort, way);
    struct bytes a = foreign_bytes_of(copy), b = foreign_bytes_of(again);
    CHECK(same_bytes(a, b), "sort %u goes on otherwise after %s", sort, way);
    free(a.data);
    free(b.data);
    perhaps_free(copy);
    perhaps_free(again);
}

static void round_trips(void **state) {
    (void)state;
    for (unsigned i = 0; i < SORTS; i++) {
        perhaps *f = filled(i, 400), *again;
        struct bytes foreign = foreign_bytes_of(f), image = image_of(f);
        uint64_t header;
        CHECK(perhaps_foreign_length(kind_of(f), foreign.data, foreign.length, &header) == (int64_t)foreign.length,
              "sort %u has another length than it says", i);
        MUST(perhaps_open_foreign(&again, kind_of(f), foreign.data, foreign.length, NULL));
        struct bytes twice = foreign_bytes_of(again);
        CHECK(same_bytes(foreign, twice), "sort %u changes on the way", i);
        expect_same_future(f, again, i, "its own bytes");
        MUST(perhaps_open_memory(&again, image.data, image.length, &PERHAPS_OPEN(.flags = PERHAPS_OPEN_COPY)));
        expect_same_future(f, again, i, "an image");
        MUST(perhaps_save(f, scratch("foreign.ph")));
        MUST(perhaps_open(&again, scratch("foreign.ph"), &PERHAPS_OPEN(.flags = PERHAPS_OPEN_COPY)));
        expect_same_future(f, again, i, "a file");
        MUST(perhaps_clone(f, &again));
        expect_same_future(f, again, i, "cloning");
        free(foreign.data);
        free(twice.data);
        free(image.data);
        perhaps_free(f);
    }
}

/* Of two that have compacted, the idle part is no part of the bytes. */
static void what_is_compacted_is_dropped(void **state) {
    perhaps *f = filled(7, 400), *again;
    struct bytes before = foreign_bytes_of(f);
    (void)state;
    for (uint64_t i = 0; i < 390; i++) MUST(perhaps_remove_u64(f, member(i)));
    struct bytes after = foreign_bytes_of(f);
    CHECK(after.length < before.length, "%zu bytes, and %zu before", after.length, before.length);
    uint64_t bytes = info_of(f).bytes;
    perhaps *smaller;
    MUST(perhaps_clone(f, &smaller));
    MUST(perhaps_compact(smaller));
    CHECK(info_of(smaller).bytes < bytes && info_of(smaller).items == 10, "%llu bytes, and %llu before",
          (unsigned long long)info_of(smaller).bytes, (unsigned long long)bytes);
    CHECK(info_of(smaller).capacity == 64, "room for %llu", (unsigned long long)info_of(smaller).capacity);
    expect_members(smaller, 390, 10);
    perhaps_free(smaller);
    expect_members(f, 390, 10);
    MUST(perhaps_open_foreign(&again, PERHAPS_REDIS_CUCKOO, after.data, after.length, NULL));
    CHECK(add_while_room(f, 1000, 500) == 500 && add_while_room(again, 1000, 500) == 500, "there is room again");
    free(before.data);
    free(after.data);
    before = foreign_bytes_of(f);
    after = foreign_bytes_of(again);
    CHECK(same_bytes(before, after), "what was idle is not like new");
    free(before.data);
    free(after.data);
    perhaps_free(f);
    perhaps_free(again);
}

static void merging(void **state) {
    perhaps *a = filled(5, 0), *b = filled(5, 0), *both = filled(5, 0), *other = filled(6, 0);
    (void)state;
    add_members(a, 0, 100);
    add_members(b, 100, 100);
    add_members(both, 0, 200);
    MUST(perhaps_merge(a, b));
    CHECK(perhaps_equal(a, both) == 1, "the union is not what comes from all keys");
    REFUSED(PERHAPS_EMISMATCH, perhaps_merge(a, other));
    perhaps *cuckoo = filled(7, 10), *same = filled(7, 10);
    REFUSED(PERHAPS_ECANNOT, perhaps_merge(cuckoo, same));
    perhaps_free(a), perhaps_free(b), perhaps_free(both), perhaps_free(other);
    perhaps_free(cuckoo), perhaps_free(same);
}

/* Layers of two chains become those of one. */
static void chains_can_be_merged(void **state) {
    (void)state;
    for (unsigned i = 0; i < 5; i++) {
        perhaps *a = filled(i, 300), *b = filled(i, 0), *again;
        add_members(b, 1000, 700);
        MUST(perhaps_merge(a, b));
        expect_members(a, 0, 300);
        expect_members(a, 1000, 700);
        add_members(a, 3000, 500);
        struct bytes bytes = foreign_bytes_of(a);
        MUST(perhaps_open_foreign(&again, PERHAPS_REDIS_BLOOM, bytes.data, bytes.length, NULL));
        expect_members(again, 1000, 700);
        free(bytes.data);
        perhaps_free(a), perhaps_free(b), perhaps_free(again);
    }
}

/* A replica that gets shapes before the keys is equal. */
static void shapes_make_replicas(void **state) {
    static uint8_t shape[65536];
    (void)state;
    for (unsigned i = 0; i < SORTS; i++) {
        perhaps *f = filled(i, 0), *replica;
        int64_t length = perhaps_shape(f, shape, sizeof shape);
        MUST(perhaps_create_shape(&replica, shape, (size_t)length, NULL));
        uint64_t added = add_while_room(f, 0, 800);
        length = perhaps_shape(f, shape, sizeof shape);
        if (info_of(f).children) MUST(perhaps_reshape(replica, shape, (size_t)length));
        CHECK(add_while_room(replica, 0, 800) == added, "sort %u", i);
        struct bytes a = foreign_bytes_of(f), b = foreign_bytes_of(replica);
        CHECK(same_bytes(a, b), "the replica of sort %u is another", i);
        free(a.data);
        free(b.data);
        perhaps_free(f), perhaps_free(replica);
    }
}

/* A union with a chain of a higher rate; a foreign format need not keep the rate. */
static void a_union_from_its_bytes_takes_shapes(void **state) {
    static uint8_t shape[65536];
    perhaps *f = filled(2, 150), *rough = filled(3, 300), *replica;
    (void)state;
    double rate = info_of(f).fpr_target;
    MUST(perhaps_merge(f, rough));
    CHECK(info_of(f).fpr_target == rate, "a rate of %g became %g", rate, info_of(f).fpr_target);
    struct bytes bytes = foreign_bytes_of(f);
    MUST(perhaps_open_foreign(&replica, PERHAPS_REDIS_BLOOM, bytes.data, bytes.length, NULL));
    add_members(f, 5000, 1000);
    int64_t length = perhaps_shape(f, shape, sizeof shape);
    MUST(perhaps_reshape(replica, shape, (size_t)length));
    add_members(replica, 5000, 1000);
    CHECK(perhaps_equal(f, replica) == 1, "the replica is another");
    free(bytes.data);
    perhaps_free(f), perhaps_free(rough), perhaps_free(replica);
}

/* A chain that grew with another rate. */
static void the_rate_of_a_chain_is_not_compared(void **state) {
    static uint8_t shape[65536];
    perhaps *f = filled(1, 10), *replica;
    (void)state;
    MUST(perhaps_ungrow_layers(&f));
    MUST(perhaps_grow_layers(&f, 0.02, 1, 0));
    struct bytes bytes = foreign_bytes_of(f);
    MUST(perhaps_open_foreign(&replica, PERHAPS_REDIS_BLOOM, bytes.data, bytes.length, NULL));
    add_members(f, 10, 500);
    int64_t length = perhaps_shape(f, shape, sizeof shape);
    MUST(perhaps_reshape(replica, shape, (size_t)length));
    free(bytes.data);
    perhaps_free(f), perhaps_free(replica);
}

static void what_does_not_scale_is_no_layer(void **state) {
    perhaps *fixed = filled(5, 10), *chain = filled(1, 10);
    (void)state;
    REFUSED(PERHAPS_ECANNOT, perhaps_grow_layers(&fixed, 0.1, 0, 0));
    MUST(perhaps_ungrow_layers(&chain));
    CHECK(info_of(chain).kind == PERHAPS_REDIS_BLOOM, "kind %d", info_of(chain).kind);
    MUST(perhaps_grow_layers(&chain, 0.01, 1, 0));
    perhaps *same = filled(1, 10);
    add_members(same, 10, 500);
    add_members(chain, 10, 500);
    CHECK(perhaps_equal(chain, same), "a chain that was ungrown and grown again is another");
    perhaps_free(fixed), perhaps_free(chain), perhaps_free(same);
}

/* Fingerprints move only if all are put back when there is no room. */
static void a_full_one_has_lost_nothing(void **state) {
    (void)state;
    for (unsigned i = 7; i < SORTS; i++) {
        perhaps *f = filled(i, 0);
        uint64_t added = add_while_room(f, 0, 60000);
        if (added < 60000) {
            struct bytes before = image_of(f);
            REFUSED(PERHAPS_EFULL, perhaps_add_u64(f, member(added)));
            expect_unchanged(f, before);
            free(before.data);
        }
        expect_members(f, 0, added);
        perhaps_free(f);
    }
}

/* The header's sub-filters stand at its byte 24. */
static void sub_filters_have_a_limit(void **state) {
    (void)state;
    for (unsigned parts = 1; parts < 5; parts++) {
        perhaps *f = make(&PERHAPS_WANT(.kind = PERHAPS_REDIS_CUCKOO, .items = 32));
        MUST(perhaps_set_parts(f, parts));
        uint64_t added = add_while_room(f, 0, 1000);
        struct bytes bytes = foreign_bytes_of(f);
        CHECK(added < 32 * parts + 1 && bytes.data[24] == parts, "%u sub-filters of %u", bytes.data[24], parts);
        free(bytes.data);
        perhaps_free(f);
    }
}

static void limits_that_make_no_sense(void **state) {
    perhaps *cuckoo = make(&PERHAPS_WANT(.kind = PERHAPS_REDIS_CUCKOO, .items = 100));
    perhaps *bloom = make(&PERHAPS_WANT(.kind = PERHAPS_REDIS_BLOOM, .items = 100, .fpr = 0.01));
    (void)state;
    REFUSED(PERHAPS_EINVAL, perhaps_set_parts(cuckoo, 0));
    REFUSED(PERHAPS_EINVAL, perhaps_set_parts(cuckoo, PERHAPS_LAYERS_MAX + 1));
    REFUSED(PERHAPS_ECANNOT, perhaps_set_parts(bloom, 2));
    perhaps_free(cuckoo), perhaps_free(bloom);
}

/* Room for one more entry in every layer: it ends at the limit, and the result can be read. */
static void layers_have_a_limit(void **state) {
    perhaps *f = make(&PERHAPS_WANT(.kind = PERHAPS_REDIS_BLOOM, .items = 1, .fpr = 0.01, .growth = 1,
                                    .grow = PERHAPS_GROW_LAYERS)),
            *again;
    uint64_t added = 0;
    int rc;
    (void)state;
    while ((rc = perhaps_add_u64(f, member(added))) >= 0) added++;
    CHECK(rc == PERHAPS_ERANGE && info_of(f).children == PERHAPS_LAYERS_MAX, "%d with %u layers", rc,
          info_of(f).children);
    expect_members(f, 0, added);
    struct bytes bytes = foreign_bytes_of(f);
    MUST(perhaps_open_foreign(&again, PERHAPS_REDIS_BLOOM, bytes.data, bytes.length, NULL));
    REFUSED(PERHAPS_ERANGE, perhaps_add_u64(again, member(added)));
    free(bytes.data);
    perhaps_free(f), perhaps_free(again);
}

static void many_sub_filters_are_compacted_soon(void **state) {
    perhaps *f = make(&PERHAPS_WANT(.kind = PERHAPS_REDIS_CUCKOO, .items = 1024)), *again;
    (void)state;
    MUST(perhaps_set_parts(f, PERHAPS_LAYERS_MAX));
    uint64_t added = add_while_room(f, 0, 1000000);
    CHECK(perhaps_set_parts(f, 1) == PERHAPS_LAYERS_MAX && added > 200000 && added <= 262144, "%d keys", (int)added);
    struct bytes bytes = foreign_bytes_of(f);
    MUST(perhaps_open_foreign(&again, PERHAPS_REDIS_CUCKOO, bytes.data, bytes.length, NULL));
    MUST(perhaps_compact(again));
    CHECK(info_of(again).items == added, "%llu keys of %llu", (unsigned long long)info_of(again).items,
          (unsigned long long)added);
    free(bytes.data);
    perhaps_free(f), perhaps_free(again);
}

/* The arrays alone: the last bit of a logarithm, in a header, is the machine's. */
static void the_same_bits_on_every_machine(void **state) {
    uint64_t sum = UINT64_C(0xCBF29CE484222325);
    (void)state;
    for (unsigned i = 0; i < SORTS; i++) {
        perhaps *f = filled(i, 500);
        struct bytes bytes = foreign_bytes_of(f);
        uint64_t header;
        MUST(perhaps_foreign_length(kind_of(f), bytes.data, bytes.length, &header));
        for (size_t at = (size_t)header; at < bytes.length; at++)
            sum = (sum ^ bytes.data[at]) * UINT64_C(0x100000001B3);
        free(bytes.data);
        perhaps_free(f);
    }
    CHECK(sum == UINT64_C(0x36053267891C803C), "the arrays have sum %016llx", (unsigned long long)sum);
}

static void sizes_are_as_there(void **state) {
    static const struct {
        unsigned sort;
        uint64_t bytes;
        unsigned hashes;
    } known[] = {{0, 8, 8}, {1, 144, 8}, {5, 600, 7}};
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        perhaps *f = filled(known[i].sort, 0);
        CHECK(info_of(f).bytes == known[i].bytes && info_of(f).hashes == known[i].hashes, "%llu bytes, %u hashes",
              (unsigned long long)info_of(f).bytes, info_of(f).hashes);
        perhaps_free(f);
    }
}

#define NONSENSE(...)                                                                                                  \
    do {                                                                                                               \
        perhaps *made_;                                                                                                \
        perhaps_want want_ = PERHAPS_WANT(__VA_ARGS__);                                                                \
        REFUSED(PERHAPS_EINVAL, perhaps_create(&made_, &want_));                                                       \
        CHECK(!made_, "a filter was made");                                                                            \
    } while (0)

static void wants_without_sense_are_refused(void **state) {
    static const uint8_t key[16];
    (void)state;
    NONSENSE(.kind = PERHAPS_REDIS_BLOOM, .items = 100);
    NONSENSE(.kind = PERHAPS_REDIS_BLOOM, .fpr = 0.01);
    NONSENSE(.kind = PERHAPS_REDIS_BLOOM, .items = 100, .bytes = 100);
    NONSENSE(.kind = PERHAPS_REDIS_BLOOM, .items = 100, .fpr = 0.01, .hashes = 3);
    NONSENSE(.kind = PERHAPS_REDIS_BLOOM, .items = 100, .fpr = 1);
    NONSENSE(.kind = PERHAPS_REDIS_BLOOM, .items = 100, .fpr = 0.01, .growth = 1.5, .grow = PERHAPS_GROW_LAYERS);
    NONSENSE(.kind = PERHAPS_REDIS_BLOOM, .items = 100, .fpr = 0.01, .growth = 32769, .grow = PERHAPS_GROW_LAYERS);
    NONSENSE(.kind = PERHAPS_REDIS_BLOOM, .items = 100, .fpr = 0.01, .seed = 1);
    NONSENSE(.kind = PERHAPS_REDIS_BLOOM, .items = 100, .fpr = 0.01, .hash = PERHAPS_XXH3);
    NONSENSE(.kind = PERHAPS_REDIS_BLOOM, .items = 100, .fpr = 0.01, .hash = PERHAPS_SIPHASH, .hash_key = key);
    NONSENSE(.kind = PERHAPS_REDIS_BLOOM, .items = 100, .fpr = 0.01, .shared = 1);
    NONSENSE(.kind = PERHAPS_REDIS_BLOOM, .items = 100, .fpr = 0.01, .bucket = 2);
    NONSENSE(.kind = PERHAPS_REDIS_CUCKOO, .items = 100, .fpr = 0.01);
    NONSENSE(.kind = PERHAPS_REDIS_CUCKOO);
    NONSENSE(.kind = PERHAPS_REDIS_CUCKOO, .items = 100, .bucket = 256);
    NONSENSE(.kind = PERHAPS_REDIS_CUCKOO, .items = 100, .steps = 65536);
    NONSENSE(.kind = PERHAPS_REDIS_CUCKOO, .items = 100, .growth = 0.5);
    NONSENSE(.kind = PERHAPS_BLOOM, .items = 100, .fpr = 0.01, .hash = PERHAPS_MURMUR);
    NONSENSE(.kind = PERHAPS_BITMAP, .items = 100, .hash = PERHAPS_MURMUR);
    perhaps *f;
    REFUSED(PERHAPS_ERANGE,
            perhaps_create(&f, &PERHAPS_WANT(.kind = PERHAPS_REDIS_CUCKOO, .items = UINT64_C(1) << 40)));
    REFUSED(PERHAPS_ERANGE,
            perhaps_create(&f, &PERHAPS_WANT(.kind = PERHAPS_REDIS_BLOOM, .items = UINT64_MAX, .fpr = 0.01)));
}

/* Digests of one word are for the kind that has such. */
static void digests_of_two_words_are_not_given(void **state) {
    uint64_t digest = 1;
    (void)state;
    for (unsigned i = 0; i < 7; i++) {
        perhaps *f = filled(i, 0);
        REFUSED(PERHAPS_ECANNOT, perhaps_add_digest(f, 1));
        REFUSED(PERHAPS_ECANNOT, perhaps_contains_digest(f, 1));
        REFUSED(PERHAPS_ECANNOT, perhaps_add_many(f, &PERHAPS_KEYS_DIGEST(&digest, 1), NULL));
        REFUSED(PERHAPS_ECANNOT, perhaps_contains_many(f, &PERHAPS_KEYS_DIGEST(&digest, 1), NULL));
        perhaps_free(f);
    }
    perhaps *f = filled(7, 0);
    CHECK(perhaps_add_digest(f, digest_of(f, "key", 3)) == 1 && perhaps_contains(f, "key", 3) == 1, "a digest");
    perhaps_free(f);
}

static void others_are_not_written(void **state) {
    perhaps *f = make(&PERHAPS_WANT(.kind = PERHAPS_BLOOM, .items = 10, .fpr = 0.1, .grow = PERHAPS_GROW_LAYERS));
    uint64_t header;
    uint8_t nothing[100] = {0};
    (void)state;
    REFUSED(PERHAPS_ECANNOT, perhaps_write_foreign(f, NULL, NULL));
    REFUSED(PERHAPS_EINVAL, perhaps_foreign_length(PERHAPS_BLOOM, nothing, sizeof nothing, &header));
    perhaps_free(f);
    for (size_t i = 0; perhaps_kind(i); i++)
        CHECK(perhaps_kind(i)->kind != PERHAPS_REDIS_BLOOM, "foreign formats are not in the table of kinds");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_missed),
        cmocka_unit_test(batches_are_single_calls),
        cmocka_unit_test(integers_are_eight_bytes),
        cmocka_unit_test(the_hash_is_murmur64a),
        cmocka_unit_test(removing_and_counting),
        cmocka_unit_test(round_trips),
        cmocka_unit_test(what_is_compacted_is_dropped),
        cmocka_unit_test(merging),
        cmocka_unit_test(chains_can_be_merged),
        cmocka_unit_test(shapes_make_replicas),
        cmocka_unit_test(a_union_from_its_bytes_takes_shapes),
        cmocka_unit_test(the_rate_of_a_chain_is_not_compared),
        cmocka_unit_test(what_does_not_scale_is_no_layer),
        cmocka_unit_test(a_full_one_has_lost_nothing),
        cmocka_unit_test(sub_filters_have_a_limit),
        cmocka_unit_test(limits_that_make_no_sense),
        cmocka_unit_test(layers_have_a_limit),
        cmocka_unit_test(many_sub_filters_are_compacted_soon),
        cmocka_unit_test(the_same_bits_on_every_machine),
        cmocka_unit_test(sizes_are_as_there),
        cmocka_unit_test(wants_without_sense_are_refused),
        cmocka_unit_test(digests_of_two_words_are_not_given),
        cmocka_unit_test(others_are_not_written),
    };
    return cmocka_run_group_tests(tests, NULL, remove_scratch);
}
