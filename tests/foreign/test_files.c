/* Foreign formats keep the promises of all filters, and come back from their files unchanged. */
#include "support.h"

#include <perhaps_embed.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ITEMS = 500, BATCH = 300 };

/* ---- keys ---- */

static void what_was_added_is_found(const struct layout *layout) {
    perhaps *f = make(&layout->want);
    struct byte_keys bytes = make_byte_keys(200, 5);
    uint64_t was_new = 0;
    for (uint64_t i = 0; i < layout->items; i++) {
        was_new += (uint64_t)MUST(perhaps_add_u64(f, member(i)));
        CHECK(perhaps_contains_u64(f, member(i)) == 1, "key %llu is lost at once", (unsigned long long)i);
        CHECK(perhaps_add_u64(f, member(i)) == 0, "key %llu is new twice", (unsigned long long)i);
    }
    CHECK(info_of(f).items == was_new, "%llu items", (unsigned long long)info_of(f).items);
    CHECK(fabs(info_of(f).distinct - (double)layout->items) < 0.1 * (double)layout->items + 2, "%g distinct keys",
          info_of(f).distinct);
    for (size_t i = 0; i < bytes.n; i++) MUST(perhaps_add(f, bytes.keys[i], bytes.lengths[i]));
    for (size_t i = 0; i < bytes.n; i++)
        CHECK(perhaps_contains(f, bytes.keys[i], bytes.lengths[i]) == 1, "key of bytes %zu is lost", i);
    expect_members(f, 0, layout->items);
    MUST(perhaps_clear(f));
    CHECK(count_false_positives(f, 0, 1000) == 0 && info_of(f).items == 0, "a cleared filter is not empty");
    free_byte_keys(&bytes);
    perhaps_free(f);
}

/* An integer is its eight bytes, the lowest first. */
static void integers_are_their_bytes(const struct layout *layout) {
    perhaps *integers = make(&layout->want), *bytes = make(&layout->want);
    for (uint64_t i = 0; i < layout->items; i++) {
        uint8_t key[8];
        for (int b = 0; b < 8; b++) key[b] = (uint8_t)(member(i) >> 8 * b);
        MUST(perhaps_add_u64(integers, member(i)));
        MUST(perhaps_add(bytes, key, sizeof key));
    }
    CHECK(perhaps_equal(integers, bytes) == 1, "they are hashed in different ways");
    perhaps_free(integers), perhaps_free(bytes);
}

static void expect_same_file(perhaps *a, perhaps *b) {
    struct bytes one = image_of(a), other = image_of(b);
    CHECK(perhaps_equal(a, b) == 1, "the filters differ");
    CHECK(same_bytes(one, other), "files of %zu and %zu bytes differ", one.length, other.length);
    CHECK(info_of(a).image_bytes == one.length, "a file of %zu bytes is said to have %llu", one.length,
          (unsigned long long)info_of(a).image_bytes);
    free(one.data);
    free(other.data);
}

static void batch_of_integers(perhaps *one_by_one, perhaps *together, uint64_t first, size_t n) {
    uint64_t keys[BATCH] = {0};
    uint8_t answers[BATCH];
    for (size_t i = 0; i < n; i++) keys[i] = member(first + i % 200); /* and some of them twice */
    int64_t added = MUST(perhaps_add_many(together, &PERHAPS_KEYS_U64(keys, 0, n), answers));
    for (size_t i = 0; i < n; i++) {
        CHECK(answers[i] == perhaps_add_u64(one_by_one, keys[i]), "adding %zu of %zu", i, n);
        added -= answers[i];
    }
    for (size_t i = 0; i < n; i++) keys[i] = i % 3 ? non_member(first + i) : keys[i];
    int64_t found = MUST(perhaps_contains_many(together, &PERHAPS_KEYS_U64(keys, 0, n), answers));
    for (size_t i = 0; i < n; i++) {
        CHECK(answers[i] == perhaps_contains_u64(one_by_one, keys[i]), "query %zu of %zu", i, n);
        found -= answers[i];
    }
    CHECK(added == 0 && found == 0, "the sums of a batch of %zu are off by %lld and %lld", n, (long long)added,
          (long long)found);
}

static void batch_of_bytes(perhaps *one_by_one, perhaps *together) {
    struct byte_keys keys = make_byte_keys(BATCH, 3);
    uint8_t answers[BATCH];
    MUST(perhaps_add_many(together, &PERHAPS_KEYS_BYTES(keys.keys, keys.lengths, keys.n), answers));
    for (size_t i = 0; i < keys.n; i++)
        CHECK(answers[i] == perhaps_add(one_by_one, keys.keys[i], keys.lengths[i]), "adding bytes %zu", i);
    MUST(perhaps_contains_many(together, &PERHAPS_KEYS_BYTES(keys.keys, keys.lengths, keys.n), answers));
    for (size_t i = 0; i < keys.n; i++) CHECK(answers[i] == 1, "bytes %zu are lost", i);
    free_byte_keys(&keys);
}

static void batches_are_single_calls(const struct layout *layout) {
    static const size_t sizes[] = {0, 1, 2, 15, 16, 17, 31, 32, 33, 63, 65, 257, BATCH};
    static const char *const sets[] = {"scalar", "", NULL};
    for (int set = 0; sets[set]; set++) {
        perhaps *together;
        if (*sets[set]) setenv("PERHAPS_ISA", sets[set], 1);
        together = make(&layout->want);
        unsetenv("PERHAPS_ISA");
        perhaps *one_by_one = make(&layout->want);
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
            batch_of_integers(one_by_one, together, 100 * i, sizes[i]);
        batch_of_bytes(one_by_one, together);
        expect_same_file(one_by_one, together);
        perhaps_free(one_by_one), perhaps_free(together);
    }
}

/* ---- rates ---- */

struct measurement {
    double rate, sigma;
};

/* Some filters, since the rate of small ones differs from one to the next. */
static struct measurement measure(const struct layout *layout, unsigned filters, uint64_t queries, uint64_t place) {
    perhaps *f = make(&layout->want);
    double sum = 0, squares = 0, n = filters;
    for (unsigned i = 0; i < filters; i++) {
        MUST(perhaps_clear(f));
        add_members(f, (place + i) << 36, layout->items);
        double rate = (double)count_false_positives(f, (place + i) << 36, queries) / (double)queries;
        sum += rate;
        squares += rate * rate;
    }
    perhaps_free(f);
    double mean = sum / n, of_queries = sqrt(layout->plan.fpr / (n * (double)queries));
    return (struct measurement){mean, fmax(of_queries, sqrt(fmax(squares / n - mean * mean, 0) / (n - 1)))};
}

/* These programs take the wanted rate, use a formula for many keys, and round bits and hashes. */
static void measured_is_planned(const struct layout *layout) {
    if (time_is_short()) return;
    unsigned filters = layout->items > 5000 ? 5 : layout->items > 500 ? 30 : 300;
    uint64_t queries = (uint64_t)fmin(2000 / layout->plan.fpr, test_size() == TEST_SMALL ? 2e5 : 1e6) / filters;
    double rounding = layout->plan.fpr == layout->want.fpr ? 0.04 * layout->want.fpr : 0;
    if (layout->plan.fpr * (double)queries * filters < 50 || (rounding > 0 && layout->items < 1000)) return;
    for (unsigned attempt = 1; attempt <= 4; attempt *= 4) {
        struct measurement seen = measure(layout, attempt * filters, attempt * queries, attempt * 100);
        if (fabs(seen.rate - layout->plan.fpr) <= 3 * seen.sigma + rounding) return;
        CHECK(attempt == 1, "%llu keys: planned %.6g, measured %.6g with sigma %.2g", (unsigned long long)layout->items,
              layout->plan.fpr, seen.rate, seen.sigma);
    }
}

static void the_live_rate_is_true(const struct layout *layout) {
    if (time_is_short()) return;
    perhaps *f = make_with_members(layout, layout->items / 2);
    for (int half = 1; half <= 2; half++) {
        double said = info_of(f).fpr_now, n = test_size() == TEST_SMALL ? 2e5 : 1e6;
        double measured = (double)count_false_positives(f, 0, (uint64_t)n) / n;
        CHECK(fabs(measured - said) <= 4 * sqrt(said / n) + 0.02 * said, "info says %.6g, measured %.6g", said,
              measured);
        add_members(f, layout->items / 2, layout->items - layout->items / 2);
    }
    perhaps_free(f);
}

/* ---- files ---- */

static void expect_comes_back(const perhaps *f, const struct perhaps_kind_row *row, const char *path,
                              struct bytes bytes, unsigned flags) {
    perhaps_open_options how = PERHAPS_OPEN(.flags = flags, .kind = row->kind);
    perhaps *from_file, *from_memory;
    MUST(perhaps_open(&from_file, path, &how));
    MUST(perhaps_open_memory(&from_memory, bytes.data, bytes.length, &how));
    CHECK(perhaps_equal(f, from_file) == 1 && perhaps_equal(f, from_memory) == 1, "flags %u give another", flags);
    struct bytes again = image_of(from_file), once_more = image_of(from_memory);
    CHECK(same_bytes(again, bytes) && same_bytes(once_more, bytes), "flags %u: other bytes are written", flags);
    expect_members(from_file, 0, ITEMS);
    expect_members(from_memory, 0, ITEMS);
    CHECK(info_of(from_file).read_only == !(flags & PERHAPS_OPEN_COPY), "flags %u", flags);
    free(again.data);
    free(once_more.data);
    perhaps_free(from_file), perhaps_free(from_memory);
}

/* What can be told is told, and what cannot is not taken for anything else. */
static void expect_recognised(const struct perhaps_kind_row *row, const char *path) {
    perhaps *f = NULL;
    int rc = perhaps_open(&f, path, NULL);
    CHECK(rc == PERHAPS_OK ? info_of(f).kind == row->kind : rc == PERHAPS_EFOREIGN, "answer %d: %s", rc, perhaps_why());
    perhaps_free(f);
}

static void files_come_back(const struct layout *layout) {
    perhaps *f = make_with_members(layout, layout->items);
    const char *path = scratch("files");
    MUST(perhaps_save(f, path));
    struct bytes bytes = image_of(f), saved = read_whole(path);
    CHECK(same_bytes(bytes, saved), "what is saved is not what is written");
    expect_comes_back(f, layout->row, path, bytes, 0);
    expect_comes_back(f, layout->row, path, bytes, PERHAPS_OPEN_COPY);
    expect_recognised(layout->row, path);
    unlink(path);
    free(bytes.data);
    free(saved.data);
    perhaps_free(f);
}

/* FNV-1a of a file with that many members, on every machine. Other kinds have their own test. */
static const struct {
    const char *layout;
    uint64_t sum;
} sums[] = {{"guava-7x7", UINT64_C(0xf1de17214b361124)},
            {"spark-7x7", UINT64_C(0xa4473b465e8e3990)},
            {"dcso-7x7", UINT64_C(0xa6da4a83ad07c4a5)},
            {"parquet-8x1", UINT64_C(0x8e43cdf1bcb55a26)}};

static void bytes_are_the_same_everywhere(const struct layout *layout) {
    perhaps *f = make_with_members(layout, layout->items);
    struct bytes file = image_of(f);
    uint64_t sum = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < file.length; i++) sum = (sum ^ file.data[i]) * UINT64_C(0x100000001b3);
    for (size_t i = 0; i < sizeof sums / sizeof *sums; i++)
        CHECK(strcmp(sums[i].layout, layout->name) != 0 || sums[i].sum == sum, "a file whose sum is 0x%016llx",
              (unsigned long long)sum);
    free(file.data);
    perhaps_free(f);
}

/* The library's own image, for where the filter lives, tells more than the file. */
static void images_come_back(const struct layout *layout) {
    perhaps *f = make_with_members(layout, layout->items), *again;
    const void *bytes;
    uint64_t length;
    MUST(perhaps_image(f, &bytes, &length));
    MUST(perhaps_open_memory(&again, bytes, length, NULL));
    expect_same_file(f, again);
    CHECK(info_of(again).capacity == info_of(f).capacity, "a capacity of %llu", (unsigned long long)layout->items);
    perhaps_free(f), perhaps_free(again);
}

static void mapped_filters_refuse_changes(const struct layout *layout) {
    perhaps *f = make_with_members(layout, layout->items), *mapped;
    const char *path = scratch("mapped");
    MUST(perhaps_save(f, path));
    struct bytes before = image_of(f);
    REFUSED(PERHAPS_ECANNOT,
            perhaps_open(&mapped, path, &PERHAPS_OPEN(.kind = layout->row->kind, .flags = PERHAPS_OPEN_WRITE)));
    unsigned shared = PERHAPS_OPEN_COPY | PERHAPS_OPEN_SHARED;
    REFUSED(PERHAPS_ECANNOT, perhaps_open(&mapped, path, &PERHAPS_OPEN(.kind = layout->row->kind, .flags = shared)));
    MUST(perhaps_open(&mapped, path, &PERHAPS_OPEN(.kind = layout->row->kind)));
    REFUSED(PERHAPS_EREADONLY, perhaps_add_u64(mapped, 1));
    REFUSED(PERHAPS_EREADONLY, perhaps_add(mapped, "", 0));
    REFUSED(PERHAPS_EREADONLY, perhaps_add_many(mapped, &PERHAPS_KEYS_U64(((uint64_t[]){1, 2}), 0, 2), NULL));
    REFUSED(PERHAPS_EREADONLY, perhaps_merge(mapped, f));
    REFUSED(PERHAPS_EREADONLY, perhaps_intersect(mapped, f));
    REFUSED(PERHAPS_EREADONLY, perhaps_clear(mapped));
    CHECK(perhaps_fold(mapped, 0) < 0, "it was folded");
    expect_unchanged(mapped, before);
    MUST(perhaps_sync(mapped));
    MUST(perhaps_save(mapped, path)); /* over the file that it has mapped */
    expect_unchanged(mapped, before);
    unlink(path);
    free(before.data);
    perhaps_free(mapped), perhaps_free(f);
}

/* ---- whole filters ---- */

static void clones_are_of_their_own(const struct layout *layout) {
    perhaps *f = make_with_members(layout, layout->items), *copy;
    struct bytes before = image_of(f);
    MUST(perhaps_clone(f, &copy));
    expect_same_file(f, copy);
    add_members(copy, layout->items, layout->items);
    expect_unchanged(f, before);
    perhaps_free(f);
    expect_members(copy, 0, 2 * layout->items);
    free(before.data);
    perhaps_free(copy);
}

static void unions_and_intersections(const struct layout *layout) {
    uint64_t third = layout->items / 3;
    perhaps *a = make(&layout->want), *b = make(&layout->want), *both = make(&layout->want), *copy;
    add_members(a, 0, 2 * third);
    add_members(b, third, 2 * third);
    add_members(both, 0, 3 * third);
    MUST(perhaps_clone(a, &copy));
    MUST(perhaps_merge(copy, b));
    CHECK(perhaps_equal(copy, both) == 1, "the union is not what adding all would have made");
    double said = (double)info_of(copy).items, meant = (double)(3 * third);
    CHECK(fabs(said - meant) < 0.1 * meant + 5, "%g keys in a union of %g", said, meant);
    MUST(perhaps_intersect(a, b));
    expect_members(a, third, third);
    MUST(perhaps_merge(a, a));
    MUST(perhaps_intersect(a, a));
    expect_members(a, third, third);
    perhaps_free(a), perhaps_free(b), perhaps_free(both), perhaps_free(copy);
}

static void what_does_not_fit_is_refused(const struct layout *layout) {
    perhaps_want larger = layout->want;
    larger.items *= 5;
    perhaps *f = make_with_members(layout, layout->items), *other = make(&larger);
    perhaps *plain = make(&PERHAPS_WANT(.kind = PERHAPS_BLOOM, .items = ITEMS, .fpr = 0.01));
    struct bytes before = image_of(f);
    REFUSED(PERHAPS_EMISMATCH, perhaps_merge(f, other));
    REFUSED(PERHAPS_EMISMATCH, perhaps_intersect(f, other));
    REFUSED(PERHAPS_EMISMATCH, perhaps_merge(f, plain));
    REFUSED(PERHAPS_ECANNOT, perhaps_subtract(f, f));
    REFUSED(PERHAPS_ECANNOT, perhaps_remove_u64(f, member(0)));
    REFUSED(PERHAPS_ECANNOT, perhaps_count_u64(f, member(0)));
    expect_unchanged(f, before);
    free(before.data);
    perhaps_free(f), perhaps_free(other), perhaps_free(plain);
}

static void they_are_made_in_one_way_only(const struct layout *layout) {
    perhaps *f;
    perhaps_want wants[] = {layout->want, layout->want, layout->want, layout->want, layout->want, layout->want};
    wants[0].seed = 1;
    wants[1].hash = PERHAPS_XXH3;
    wants[2].grow = PERHAPS_GROW_LAYERS;
    wants[3].shards = 4;
    wants[4].generations = 4;
    wants[5].shared = 1;
    for (size_t i = 0; i < sizeof wants / sizeof *wants; i++) {
        int rc = perhaps_create(&f, &wants[i]);
        CHECK(rc < 0 && perhaps_why()[0], "want %zu is taken", i);
        CHECK(!strstr(perhaps_why(), "set shards"), "they have none: %s", perhaps_why());
    }
    static const int not_files[] = {PERHAPS_BLOOM, PERHAPS_GROWING, PERHAPS_REDIS_BLOOM, 99, -1};
    for (size_t i = 0; i < sizeof not_files / sizeof *not_files; i++)
        REFUSED(PERHAPS_EINVAL, perhaps_open_memory(&f, "", 0, &PERHAPS_OPEN(.kind = not_files[i])));
}

/* ---- folding ---- */

static void folded_is_made_smaller(const struct layout *layout) {
    perhaps *f = make_with_members(layout, layout->items);
    if (perhaps_fold(f, UINT64_MAX) == PERHAPS_ECANNOT) {
        perhaps_free(f);
        return;
    }
    for (uint64_t bytes = layout->plan.bytes; bytes >= 64; bytes /= 2) {
        perhaps *smaller = make(&PERHAPS_WANT(.kind = layout->row->kind, .items = layout->items, .bytes = bytes / 2));
        add_members(smaller, 0, layout->items);
        CHECK(perhaps_fold(f, bytes) == 0 && perhaps_fold(f, bytes / 2) == 1, "%llu bytes", (unsigned long long)bytes);
        expect_same_file(f, smaller);
        CHECK(info_of(f).items <= layout->items && info_of(f).capacity == layout->items, "%llu items",
              (unsigned long long)info_of(f).items);
        CHECK(fabs(info_of(f).fpr_target / info_of(smaller).fpr_target - 1) < 1e-4, "a rate of %g",
              info_of(f).fpr_target);
        perhaps_free(smaller);
    }
    REFUSED(PERHAPS_ERANGE, perhaps_fold(f, 31));
    perhaps_free(f);
    f = make_with_members(layout, layout->items);
    CHECK(perhaps_fold(f, 32) == (int)round(log2((double)layout->plan.bytes / 32)), "folded in one step");
    perhaps_free(f);
}

/* What a file does not state is guessed anew for the smaller array. */
static void what_was_guessed_stays_a_guess(const struct layout *layout) {
    perhaps *f = make_with_members(layout, layout->items), *copy = NULL, *smaller = NULL;
    bool folds = perhaps_fold(f, UINT64_MAX) == 0;
    struct bytes file = image_of(f);
    perhaps_open_options options = PERHAPS_OPEN(.flags = PERHAPS_OPEN_COPY, .kind = layout->row->kind);
    MUST(perhaps_open_memory(&copy, file.data, file.length, &options));
    if (folds && info_of(copy).guessed) {
        CHECK(perhaps_fold(copy, info_of(copy).bytes / 2) == 1, "it does not fold");
        struct bytes half = image_of(copy);
        MUST(perhaps_open_memory(&smaller, half.data, half.length, &options));
        struct perhaps_info folded = info_of(copy), opened = info_of(smaller);
        CHECK(folded.guessed && folded.capacity == opened.capacity && folded.fpr_target == opened.fpr_target,
              "%llu keys at %g, and %llu at %g in its file", (unsigned long long)folded.capacity, folded.fpr_target,
              (unsigned long long)opened.capacity, opened.fpr_target);
        perhaps_free(smaller);
        free(half.data);
    }
    perhaps_free(copy);
    perhaps_free(f);
    free(file.data);
}

/* Its owner goes on with the bytes that were changed in place, so these must stay the filter. */
static void what_is_borrowed_keeps_its_size(const struct layout *layout) {
    perhaps *f = make_with_members(layout, layout->items), *borrowed;
    const void *bytes;
    uint64_t length;
    MUST(perhaps_image(f, &bytes, &length));
    struct bytes image = copy_bytes((struct bytes){(uint8_t *)(uintptr_t)bytes, (size_t)length});
    MUST(perhaps_open_memory(&borrowed, image.data, image.length, &PERHAPS_OPEN(.flags = PERHAPS_OPEN_WRITE)));
    REFUSED(PERHAPS_ECANNOT, perhaps_fold(borrowed, layout->plan.bytes / 2));
    expect_same_file(borrowed, f);
    perhaps_free(borrowed), perhaps_free(f);
    free(image.data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        FOR_EACH_FILE(what_was_added_is_found, 1),
        FOR_EACH_FILE(what_was_added_is_found, 2000),
        FOR_EACH_FILE(integers_are_their_bytes, ITEMS),
        FOR_EACH_FILE(batches_are_single_calls, ITEMS),
        FOR_EACH_FILE(batches_are_single_calls, 20000),
        FOR_EACH_FILE(measured_is_planned, 7),
        FOR_EACH_FILE(measured_is_planned, 100),
        FOR_EACH_FILE(measured_is_planned, 1000),
        FOR_EACH_FILE(measured_is_planned, 20000),
        FOR_EACH_FILE(the_live_rate_is_true, 10000),
        FOR_EACH_FILE(files_come_back, ITEMS),
        FOR_EACH_FILE(bytes_are_the_same_everywhere, ITEMS),
        FOR_EACH_FILE(images_come_back, ITEMS),
        FOR_EACH_FILE(mapped_filters_refuse_changes, ITEMS),
        FOR_EACH_FILE(clones_are_of_their_own, ITEMS),
        FOR_EACH_FILE(unions_and_intersections, 3 * ITEMS),
        FOR_EACH_FILE(what_does_not_fit_is_refused, ITEMS),
        FOR_EACH_FILE(they_are_made_in_one_way_only, ITEMS),
        FOR_EACH_FILE(folded_is_made_smaller, ITEMS),
        FOR_EACH_FILE(what_was_guessed_stays_a_guess, ITEMS),
        FOR_EACH_FILE(what_is_borrowed_keeps_its_size, ITEMS),
    };
    return cmocka_run_group_tests(tests, NULL, remove_scratch);
}
