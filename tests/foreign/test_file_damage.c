/*
 * Foreign files come from anyone, and have no checksums. What cannot be is refused with a
 * sentence and without much memory; the rest gives wrong answers at worst. And no failed allocation
 * changes anything.
 */
#include "pool.h"
#include "support.h"

#include <perhaps_embed.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ITEMS = 20 };

/* ---- damage ---- */

static struct bytes small_file(const struct layout *layout, size_t *head) {
    perhaps *f = make_with_members(layout, ITEMS);
    struct bytes file = image_of(f);
    *head = file.length - (size_t)info_of(f).bytes;
    perhaps_free(f);
    return file;
}

/* Whatever opens can be used, and what is written is the same filter again. */
static void use(perhaps *f, int kind) {
    uint64_t keys[40];
    uint8_t answers[40];
    perhaps *copy, *again;
    for (uint64_t i = 0; i < 40; i++) keys[i] = i % 2 ? member(i) : non_member(i);
    MUST(perhaps_contains_many(f, &PERHAPS_KEYS_U64(keys, 0, 40), answers));
    for (uint64_t i = 0; i < 40; i++) CHECK(answers[i] == perhaps_contains_u64(f, keys[i]), "a batch is different");
    struct perhaps_info info = info_of(f);
    CHECK(info.fpr_now >= 0 && info.fpr_now <= 1 && info.distinct >= 0, "a rate of %g", info.fpr_now);
    MUST(perhaps_clone(f, &copy));
    struct bytes file = image_of(copy);
    MUST(perhaps_open_memory(&again, file.data, file.length, &PERHAPS_OPEN(.kind = kind)));
    CHECK(perhaps_equal(f, again) == 1, "what is written is another");
    MUST(perhaps_add_many(copy, &PERHAPS_KEYS_U64(keys, 0, 40), NULL));
    MUST(perhaps_contains_many(copy, &PERHAPS_KEYS_U64(keys, 0, 40), answers));
    CHECK(memchr(answers, 0, 40) == NULL, "a key that was added is lost");
    MUST(perhaps_merge(copy, again));
    MUST(perhaps_intersect(copy, again));
    perhaps_free(again), perhaps_free(copy);
    free(file.data);
}

/* True if refused; else it is used. From exactly this memory: a sanitizer sees overreads. */
static bool is_refused(const struct layout *layout, const uint8_t *data, size_t length) {
    static const unsigned flags[] = {0, PERHAPS_OPEN_COPY};
    struct bytes exact = copy_bytes((struct bytes){(uint8_t *)(uintptr_t)data, length});
    int rc = 0;
    for (int i = 0; i < 4; i++) {
        struct pool pool = {.limit = 1 << 20};
        perhaps_allocator allocator = pool_allocator(&pool);
        perhaps *f = NULL;
        rc = perhaps_open_memory(&f, exact.data, length,
                                 &PERHAPS_OPEN(.kind = i / 2 ? layout->row->kind : PERHAPS_ANY, .flags = flags[i % 2],
                                               .allocator = &allocator));
        CHECK((rc < 0) == (f == NULL) && (rc == 0 || perhaps_why()[0]), "answer %d", rc);
        if (f) use(f, info_of(f).kind);
        perhaps_free(f);
        CHECK(pool.blocks == 0, "%lld blocks were not given back", (long long)pool.blocks);
    }
    free(exact.data);
    return rc < 0;
}

static void every_truncation_is_refused(const struct layout *layout) {
    size_t head;
    struct bytes file = small_file(layout, &head);
    const char *path = scratch("truncated");
    for (size_t length = 0; length < file.length; length++) {
        perhaps *f = NULL;
        CHECK(is_refused(layout, file.data, length), "%zu of %zu bytes are taken", length, file.length);
        write_whole(path, file.data, length);
        REFUSED(PERHAPS_EDAMAGED, perhaps_open(&f, path, &PERHAPS_OPEN(.kind = layout->row->kind)));
        CHECK(strstr(perhaps_why(), path), "the reason does not name the file: %s", perhaps_why());
    }
    CHECK(!is_refused(layout, file.data, file.length), "the whole is refused: %s", perhaps_why());
    unlink(path);
    free(file.data);
}

/* Each byte and run of bytes of the header, so that its numbers become tiny, huge and negative. */
static void damaged_headers_are_harmless(const struct layout *layout) {
    static const uint8_t values[] = {0x00, 0x01, 0x7f, 0x80, 0xff};
    size_t head, refused = 0;
    struct bytes file = small_file(layout, &head), damaged = copy_bytes(file);
    for (size_t at = 0; at < head; at++)
        for (size_t run = 1; run <= 8 && at + run <= head; run++)
            for (size_t i = time_is_short() ? run % 4 : 0; i < sizeof values; i += time_is_short() ? 4 : 1) {
                memcpy(damaged.data, file.data, head);
                memset(damaged.data + at, values[i], run);
                refused += is_refused(layout, damaged.data, damaged.length);
            }
    for (size_t bit = 0; bit < 8 * head; bit++) {
        memcpy(damaged.data, file.data, head);
        damaged.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
        refused += is_refused(layout, damaged.data, damaged.length);
    }
    CHECK(refused > 0, "no damage is refused");
    free(file.data);
    free(damaged.data);
}

/* A file of DCSO's bloom that would also do for the header of a cuckoo filter of 16 MiB. */
static void one_format_is_not_taken_for_another(void **state) {
    /* The third is 0.01. */
    static const uint64_t header[] = {1, 1 << 16, UINT64_C(0x3f847ae147ae147b), 1, 0x100ff, 0};
    struct bytes file = {calloc(1, 48 + 8224), 48 + 8224};
    perhaps *f = NULL;
    (void)state;
    for (size_t i = 0; i < 48; i++) file.data[i] = (uint8_t)(header[i / 8] >> 8 * (i % 8));
    MUST(perhaps_open_foreign(&f, PERHAPS_DCSO, file.data, file.length, NULL));
    CHECK(info_of(f).kind == PERHAPS_DCSO && !info_of(f).read_only, "it is of kind %d", info_of(f).kind);
    expect_unchanged(f, file);
    perhaps_free(f);
    REFUSED(PERHAPS_EDAMAGED, perhaps_open_foreign(&f, PERHAPS_DCSO, file.data, file.length - 1, NULL));
    REFUSED(PERHAPS_EINVAL, perhaps_open_foreign(&f, PERHAPS_ANY, file.data, file.length, NULL));
    REFUSED(PERHAPS_EINVAL, perhaps_open_foreign(&f, PERHAPS_BLOOM, file.data, file.length, NULL));
    free(file.data);
}

/* An allocator that cuts a file short, as another program may at that moment. */
static void *cutting_allocate(void *path, size_t size) {
    CHECK(truncate(path, 40) == 0, "%s cannot be cut", (const char *)path);
    return aligned_alloc(64, (size + 63) / 64 * 64);
}

static void cutting_release(void *path, void *memory, size_t size) {
    (void)path, (void)size;
    free(memory);
}

static void a_copy_outlives_its_file(const struct layout *layout) {
    size_t head;
    struct bytes file = small_file(layout, &head);
    char *path = (char *)(uintptr_t)scratch("cut");
    perhaps_allocator cutting = {.allocate = cutting_allocate, .release = cutting_release, .context = path};
    perhaps *f = NULL;
    write_whole(path, file.data, file.length);
    REFUSED(PERHAPS_EDAMAGED,
            perhaps_open(&f, path,
                         &PERHAPS_OPEN(.kind = layout->row->kind, .flags = PERHAPS_OPEN_COPY, .allocator = &cutting)));
    CHECK(strstr(perhaps_why(), "shorter"), "%s", perhaps_why());
    unlink(path);
    free(file.data);
}

static size_t below(size_t limit, uint64_t *random) {
    return (size_t)(next_random(random) % limit);
}

static void random_damage_is_harmless(const struct layout *layout) {
    size_t head;
    struct bytes file = small_file(layout, &head);
    uint64_t random = 7;
    for (int round = 0; round < (time_is_short() ? 200 : 1000); round++) {
        struct bytes damaged = copy_bytes(file);
        size_t changes = 1 + below(6, &random), within = round % 2 ? head : file.length;
        for (size_t i = 0; i < changes; i++) damaged.data[below(within, &random)] = (uint8_t)next_random(&random);
        is_refused(layout, damaged.data, round % 3 ? damaged.length : below(damaged.length, &random));
        free(damaged.data);
    }
    free(file.data);
}

static void noise_is_harmless(const struct layout *layout) {
    uint8_t noise[300];
    uint64_t random = 3;
    for (int round = 0; round < (time_is_short() ? 200 : 1000); round++) {
        for (size_t i = 0; i < sizeof noise; i++) noise[i] = (uint8_t)next_random(&random);
        is_refused(layout, noise, below(sizeof noise, &random));
    }
    memset(noise, 0, sizeof noise);
    CHECK(is_refused(layout, noise, sizeof noise), "zeros are a filter");
    memset(noise, 0xff, sizeof noise);
    CHECK(is_refused(layout, noise, sizeof noise), "ones are a filter");
}

/* ---- memory ---- */

struct scene {
    const struct layout *layout;
    perhaps_allocator allocator;
    perhaps *f, *other; /* with memory of the pool */
    struct bytes file;
    const char *path;
};

static int open_and_end(const struct scene *s, bool from_file, unsigned flags) {
    perhaps_open_options how = PERHAPS_OPEN(.kind = s->layout->row->kind, .flags = flags, .allocator = &s->allocator);
    perhaps *made = NULL;
    int rc =
        from_file ? perhaps_open(&made, s->path, &how) : perhaps_open_memory(&made, s->file.data, s->file.length, &how);
    CHECK((rc < 0) == (made == NULL), "open answered %d and gave %p", rc, (void *)made);
    perhaps_free(made);
    return rc;
}

static int try_create(const struct scene *s) {
    perhaps_want want = s->layout->want;
    perhaps *made = NULL;
    want.allocator = &s->allocator;
    int rc = perhaps_create(&made, &want);
    perhaps_free(made);
    return rc;
}

static int try_map(const struct scene *s) {
    return open_and_end(s, true, 0);
}

static int try_copy(const struct scene *s) {
    return open_and_end(s, true, PERHAPS_OPEN_COPY);
}

static int try_borrow(const struct scene *s) {
    return open_and_end(s, false, 0);
}

static int try_copy_bytes(const struct scene *s) {
    return open_and_end(s, false, PERHAPS_OPEN_COPY);
}

static int try_clone(const struct scene *s) {
    perhaps *made = NULL;
    int rc = perhaps_clone(s->f, &made);
    perhaps_free(made);
    return rc;
}

static int try_save(const struct scene *s) {
    return perhaps_save(s->f, s->path);
}

static int try_merge(const struct scene *s) {
    return perhaps_merge(s->f, s->other);
}

static int try_intersect(const struct scene *s) {
    return perhaps_intersect(s->f, s->other);
}

static int try_fold(const struct scene *s) {
    int rc = perhaps_fold(s->f, s->layout->plan.bytes / 2);
    return rc == PERHAPS_ECANNOT ? 0 : rc;
}

static int try_image(const struct scene *s) {
    const void *bytes;
    uint64_t length;
    return perhaps_image(s->f, &bytes, &length);
}

static void fail_each_allocation(const struct layout *layout, int (*attempt)(const struct scene *s)) {
    bool failed = true;
    for (uint64_t fail = 1; failed; fail++) {
        struct pool pool = {.limit = 1 << 20};
        struct scene s = {.layout = layout, .allocator = pool_allocator(&pool), .path = scratch("memory")};
        perhaps_want want = layout->want;
        want.allocator = &s.allocator;
        s.f = make(&want);
        s.other = make(&want);
        add_members(s.f, 0, ITEMS);
        add_members(s.other, ITEMS / 2, ITEMS);
        s.file = image_of(s.f);
        write_whole(s.path, s.file.data, s.file.length);
        pool.calls = 0;
        pool.fail_at = fail;
        int rc = attempt(&s);
        failed = pool.calls >= fail;
        pool.fail_at = 0;
        CHECK(failed ? rc == PERHAPS_ENOMEM : rc >= 0, "allocation %llu: answer %d: %s", (unsigned long long)fail, rc,
              perhaps_why());
        if (failed) expect_unchanged(s.f, s.file);
        perhaps_free(s.f), perhaps_free(s.other);
        CHECK(pool.blocks == 0, "%lld blocks were not given back", (long long)pool.blocks);
        free(s.file.data);
        unlink(s.path);
    }
}

static void a_failed_allocation_changes_nothing(const struct layout *layout) {
    static int (*const attempts[])(const struct scene *) = {try_create,     try_map,   try_copy, try_borrow,
                                                            try_copy_bytes, try_clone, try_save, try_merge,
                                                            try_intersect,  try_fold,  try_image};
    for (size_t i = 0; i < sizeof attempts / sizeof *attempts; i++) fail_each_allocation(layout, attempts[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        FOR_EACH_FILE(every_truncation_is_refused, ITEMS),
        FOR_EACH_FILE(damaged_headers_are_harmless, ITEMS),
        cmocka_unit_test(one_format_is_not_taken_for_another),
        FOR_EACH_FILE(a_copy_outlives_its_file, 100 * ITEMS),
        FOR_EACH_FILE(random_damage_is_harmless, ITEMS),
        FOR_EACH_FILE(noise_is_harmless, ITEMS),
        FOR_EACH_FILE(a_failed_allocation_changes_nothing, 5 * ITEMS),
    };
    return cmocka_run_group_tests(tests, NULL, remove_scratch);
}
