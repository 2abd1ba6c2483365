/*
 * Memory: everything a filter needs comes from its own allocator and goes back to it, and a failed
 * allocation changes nothing. The linker sends the library's calls of malloc and its kin here (see
 * CMakeLists.txt), so that memory taken behind the allocator's back is seen.
 */
#include "support.h"

#include <perhaps_embed.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { ITEMS = 300 };

/* ---- the library's other ways to memory ---- */

static bool watching;
static unsigned taken;

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *old, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
void *__real_mmap(void *address, size_t size, int protection, int flags, int fd, off_t offset);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *old, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
void *__wrap_mmap(void *address, size_t size, int protection, int flags, int fd, off_t offset);

void *__wrap_malloc(size_t size) {
    taken += watching;
    return __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size) {
    taken += watching;
    return __real_calloc(n, size);
}

void *__wrap_realloc(void *old, size_t size) {
    taken += watching;
    return __real_realloc(old, size);
}

void *__wrap_aligned_alloc(size_t alignment, size_t size) {
    taken += watching;
    return __real_aligned_alloc(alignment, size);
}

void *__wrap_mmap(void *address, size_t size, int protection, int flags, int fd, off_t offset) {
    taken += watching && fd < 0;
    return __real_mmap(address, size, protection, flags, fd, offset);
}

/* ---- an allocator that counts, remembers sizes, and fails on demand ---- */

struct pool {
    int64_t blocks, bytes;   /* given and not yet returned */
    uint64_t calls, fail_at; /* the call that fails, counted from 1; 0 = none */
    bool for_good;           /* and all after it */
};

static const size_t front = 64; /* before each block: its size, to compare at release */

static void *pool_allocate(void *context, size_t size) {
    struct pool *pool = context;
    pool->calls++;
    if (pool->calls == pool->fail_at || (pool->for_good && pool->fail_at && pool->calls > pool->fail_at)) return NULL;
    uint8_t *block = __real_aligned_alloc(64, front + (size + 63) / 64 * 64);
    if (!block) return NULL;
    memset(block, 0xDD, front + size); /* any content */
    memcpy(block, &size, sizeof size);
    pool->blocks++;
    pool->bytes += (int64_t)size;
    return block + front;
}

static void pool_release(void *context, void *memory, size_t size) {
    struct pool *pool = context;
    uint8_t *block = (uint8_t *)memory - front;
    size_t given;
    memcpy(&given, block, sizeof given);
    CHECK(given == size, "a block of %zu bytes came back as one of %zu", given, size);
    pool->blocks--;
    pool->bytes -= (int64_t)size;
    free(block);
}

static perhaps_allocator allocator_of(struct pool *pool) {
    return (perhaps_allocator){.allocate = pool_allocate, .release = pool_release, .context = pool};
}

/* ---- operations to try; each gets a filter and ends what it made ---- */

struct scene {
    perhaps_want want;
    perhaps *f, *other, *larger; /* from the pool under test */
    /* Adding it to f takes a larger array, if the kind grows; f is full up to there. */
    uint64_t key_that_grows;
    struct bytes image;
    const char *path;
    perhaps_allocator allocator;
};

static int try_create(struct scene *s) {
    perhaps *made = NULL;
    int rc = perhaps_create(&made, &s->want);
    CHECK((rc < 0) == (made == NULL), "create answered %d and gave %p", rc, (void *)made);
    perhaps_free(made);
    return rc;
}

static int try_clone(struct scene *s) {
    perhaps *made = NULL;
    int rc = perhaps_clone(s->f, &made);
    CHECK((rc < 0) == (made == NULL), "clone answered %d and gave %p", rc, (void *)made);
    perhaps_free(made);
    return rc;
}

static int try_open(struct scene *s, bool from_file, unsigned flags) {
    perhaps *made = NULL;
    perhaps_open_options options = PERHAPS_OPEN(.flags = flags, .allocator = &s->allocator);
    int rc = from_file ? perhaps_open(&made, s->path, &options)
                       : perhaps_open_memory(&made, s->image.data, s->image.length, &options);
    CHECK((rc < 0) == (made == NULL), "open answered %d and gave %p", rc, (void *)made);
    bool changes = made && (flags & (PERHAPS_OPEN_COPY | PERHAPS_OPEN_WRITE)) && info_of(made).can & PERHAPS_ADD;
    if (changes) rc = perhaps_add_u64(made, 1) < 0 ? -99 : 0;
    if (made && (flags & PERHAPS_OPEN_WRITE)) MUST(perhaps_sync(made));
    perhaps_free(made);
    return rc;
}

static int try_borrow(struct scene *s) {
    return try_open(s, false, 0);
}

static int try_copy(struct scene *s) {
    return try_open(s, false, PERHAPS_OPEN_COPY);
}

static int try_map(struct scene *s) {
    return try_open(s, true, 0);
}

static int try_copy_file(struct scene *s) {
    return try_open(s, true, PERHAPS_OPEN_COPY);
}

static int try_write_map(struct scene *s) {
    return try_open(s, true, PERHAPS_OPEN_WRITE);
}

static int try_write_bytes(struct scene *s) {
    return try_open(s, false, PERHAPS_OPEN_WRITE);
}

static int try_shape(struct scene *s) {
    static uint8_t shape[65536];
    perhaps *made = NULL;
    int64_t length = MUST(perhaps_shape(s->f, shape, sizeof shape));
    CHECK(length <= (int64_t)sizeof shape, "a shape of %lld bytes", (long long)length);
    int rc = perhaps_create_shape(&made, shape, (size_t)length, &s->allocator);
    CHECK((rc < 0) == (made == NULL), "create_shape answered %d and gave %p", rc, (void *)made);
    perhaps_free(made);
    return rc;
}

static int try_merge(struct scene *s) {
    return perhaps_merge(s->f, s->other);
}

static int try_intersect(struct scene *s) {
    return perhaps_intersect(s->f, s->other);
}

static int try_differ(struct scene *s) {
    return perhaps_differ(s->f, s->other);
}

/* The larger filter does not fit into the smaller one, which must grow. */
static int try_merge_growing(struct scene *s) {
    return perhaps_merge(s->f, s->larger);
}

/* There is no room for this key, and all others were added before. */
static int try_grow(struct scene *s) {
    return (int)perhaps_add_u64(s->f, s->key_that_grows);
}

static int try_grow_in_batch(struct scene *s) {
    return (int)perhaps_add_many(s->f, &PERHAPS_KEYS_U64(&s->key_that_grows, 0, 1), NULL);
}

static int try_save(struct scene *s) {
    return perhaps_save(s->f, s->path);
}

static int count_bytes(void *context, const void *bytes, size_t length) {
    (void)bytes;
    *(uint64_t *)context += length;
    return 0;
}

static int try_write(struct scene *s) {
    uint64_t length = 0;
    int rc = perhaps_write(s->f, count_bytes, &length);
    CHECK(rc < 0 || length == s->image.length, "%llu bytes were written", (unsigned long long)length);
    return rc;
}

static int try_image(struct scene *s) {
    const void *bytes;
    uint64_t length;
    return perhaps_image(s->f, &bytes, &length);
}

static int try_info(struct scene *s) {
    struct perhaps_info info = {.size = sizeof info};
    return perhaps_info(s->f, &info);
}

static int try_add_many(struct scene *s) {
    static const char *keys[] = {"one", "two", "three", "one"};
    static const size_t lengths[] = {3, 3, 5, 3};
    static const uint64_t integers[] = {1, 2, 3, 1};
    if (!takes_bytes(s->f)) return (int)perhaps_add_many(s->f, &PERHAPS_KEYS_U64(integers, 0, 4), NULL);
    return (int)perhaps_add_many(s->f, &PERHAPS_KEYS_BYTES((const void *const *)keys, lengths, 4), NULL);
}

static int try_contains_many(struct scene *s) {
    uint64_t keys[100];
    for (size_t i = 0; i < 100; i++) keys[i] = member_of(s->f, i);
    return (int)perhaps_contains_many(s->f, &PERHAPS_KEYS_U64(keys, 0, 100), NULL);
}

static int try_remove_many(struct scene *s) {
    uint64_t keys[100];
    for (size_t i = 0; i < 100; i++) keys[i] = member_of(s->f, i);
    return (int)perhaps_remove_many(s->f, &PERHAPS_KEYS_U64(keys, 0, 100), NULL);
}

static int try_count_many(struct scene *s) {
    uint64_t keys[100], counts[100];
    for (size_t i = 0; i < 100; i++) keys[i] = member_of(s->f, i);
    return (int)perhaps_count_many(s->f, &PERHAPS_KEYS_U64(keys, 0, 100), counts);
}

static int try_clear(struct scene *s) {
    return perhaps_clear(s->f);
}

static const struct operation {
    const char *name;
    int (*run)(struct scene *scene);
    unsigned needs; /* of the kind; others pass it over */
    bool allocates; /* always */
} operations[] = {
    {"create", try_create, 0, true},
    {"clone", try_clone, 0, true},
    {"borrow", try_borrow, 0, true},
    {"copy", try_copy, 0, true},
    {"map", try_map, 0, true},
    {"copy a file", try_copy_file, 0, true},
    {"write map", try_write_map, PERHAPS_IN_PLACE, true},
    {"write bytes", try_write_bytes, PERHAPS_IN_PLACE, true},
    {"create from a shape", try_shape, PERHAPS_ADD, true},
    {"save", try_save, 0, true},
    {"write", try_write, 0, true},
    {"image", try_image, 0, false},
    {"info", try_info, 0, false},
    {"contains_many", try_contains_many, 0, false},
    {"merge", try_merge, PERHAPS_MERGE, false},
    {"merge that grows", try_merge_growing, PERHAPS_MERGE | PERHAPS_GROW, true},
    {"intersect", try_intersect, PERHAPS_INTERSECT, false},
    {"differ", try_differ, PERHAPS_SUBTRACT, false},
    {"add_many", try_add_many, PERHAPS_ADD, false},
    {"add that grows", try_grow, PERHAPS_GROW, true},
    {"add_many that grows", try_grow_in_batch, PERHAPS_GROW, true},
    {"remove_many", try_remove_many, PERHAPS_REMOVE, false},
    {"count_many", try_count_many, PERHAPS_COUNT, false},
    {"clear", try_clear, 0, false},
};
enum { OPERATIONS = sizeof operations / sizeof *operations };

static bool grows_with(const perhaps *f, uint64_t key) {
    perhaps *copy = NULL;
    MUST(perhaps_clone(f, &copy));
    MUST(perhaps_add_u64(copy, key));
    bool grown = info_of(copy).bytes > info_of(f).bytes;
    perhaps_free(copy);
    return grown;
}

/* Fills a filter up to the key that makes it grow. */
static uint64_t fill_until_growth(perhaps *f) {
    uint64_t i = ITEMS / 2;
    while (!grows_with(f, member_of(f, i))) MUST(perhaps_add_u64(f, member_of(f, i++)));
    return member_of(f, i);
}

/* What every scene begins with: images, which are opened faster than filters are filled. */
struct scenery {
    struct bytes f, full, other, larger;
    uint64_t key_that_grows;
};

static struct bytes take_image(perhaps *f) {
    struct bytes image = image_of(f);
    perhaps_free(f);
    return image;
}

static struct scenery make_scenery(const struct layout *layout, bool growing) {
    perhaps *other = make(&layout->want), *f = make_with_members(layout, ITEMS / 2);
    struct scenery made = {.f = image_of(f)};
    add_members(other, ITEMS / 4, ITEMS / 2);
    made.other = take_image(other);
    if (growing) {
        perhaps_want want = want_for(layout, 20 * layout->items);
        perhaps *larger = make(&want);
        add_members(larger, 0, 20 * layout->items);
        made.larger = take_image(larger);
        made.key_that_grows = fill_until_growth(f);
        made.full = image_of(f);
    }
    perhaps_free(f);
    return made;
}

static void end_scenery(struct scenery *scenery) {
    free(scenery->f.data);
    free(scenery->full.data);
    free(scenery->other.data);
    free(scenery->larger.data);
}

static perhaps *put_on_stage(const struct scene *s, struct bytes image) {
    perhaps *f = NULL;
    if (image.data)
        MUST(perhaps_open_memory(&f, image.data, image.length,
                                 &PERHAPS_OPEN(.flags = PERHAPS_OPEN_COPY, .allocator = &s->allocator)));
    return f;
}

static void set_scene(struct scene *s, const struct layout *layout, const struct scenery *scenery,
                      const struct operation *operation, struct pool *pool) {
    bool full = operation->needs & PERHAPS_GROW;
    *s = (struct scene){.want = layout->want, .path = scratch("memory.ph"), .allocator = allocator_of(pool)};
    s->want.allocator = &s->allocator;
    s->f = put_on_stage(s, full ? scenery->full : scenery->f);
    s->other = put_on_stage(s, scenery->other);
    s->larger = put_on_stage(s, full ? scenery->larger : (struct bytes){NULL, 0});
    s->key_that_grows = scenery->key_that_grows;
    s->image = full ? scenery->full : scenery->f;
    write_whole(s->path, s->image.data, s->image.length);
}

static bool can_do(const struct layout *layout, const struct operation *operation) {
    bool large = layout->items > 10 * ITEMS; /* then filling it up to the brim takes too long */
    return !(operation->needs & ~layout->row->can) && !(large && operation->needs & PERHAPS_GROW);
}

static void end_scene(struct scene *s, const struct pool *pool) {
    perhaps_free(s->f);
    perhaps_free(s->other);
    perhaps_free(s->larger);
    CHECK(pool->blocks == 0 && pool->bytes == 0, "%lld blocks of %lld bytes were not given back",
          (long long)pool->blocks, (long long)pool->bytes);
    unlink(s->path);
}

/* The parts of a composite filter lie in many places: its image is a copy that it keeps. Another
 * layer is kept too, also one that was made before the call failed; and what a static filter
 * collects keys in. */
static bool may_keep(const struct layout *layout, const struct operation *operation) {
    return (is_composite(layout) && operation->run == try_image) ||
           (is_static(layout) && operation->run == try_clear) ||
           (is_layered(layout) && operation->needs & (PERHAPS_GROW | PERHAPS_MERGE));
}

static void all_memory_comes_from_the_allocator(const struct layout *layout) {
    struct scenery scenery = make_scenery(layout, grows(layout) && layout->items <= 10 * ITEMS);
    for (size_t i = 0; i < OPERATIONS; i++) {
        if (!can_do(layout, &operations[i])) continue;
        struct pool pool = {0};
        struct scene s;
        set_scene(&s, layout, &scenery, &operations[i], &pool);
        int64_t blocks = pool.blocks;
        uint64_t calls = pool.calls;
        CHECK(blocks > 0, "filters were made without their allocator");
        taken = 0;
        watching = true;
        int rc = operations[i].run(&s);
        watching = false;
        CHECK(rc >= 0, "%s: %s", operations[i].name, perhaps_why());
        CHECK(taken == 0, "%s took memory %u times behind the allocator's back", operations[i].name, taken);
        CHECK(pool.blocks <= blocks || may_keep(layout, &operations[i]), "%s keeps %lld blocks", operations[i].name,
              (long long)(pool.blocks - blocks));
        CHECK(!operations[i].allocates || pool.calls > calls, "%s did not use the allocator", operations[i].name);
        end_scene(&s, &pool);
    }
    end_scenery(&scenery);
}

static void expect_scene_unchanged(const struct scene *s) {
    expect_unchanged(s->f, s->image);
    struct bytes file = read_whole(s->path);
    CHECK(same_bytes(file, s->image), "the file changed");
    free(file.data);
}

/* Shards try again, and sort their keys in smaller batches; layers count new keys without a table:
 * if memory lacks only once, all may be well. */
static bool may_do_without(const struct layout *layout, bool for_good) {
    return is_layered(layout) || (layout->want.shards && !for_good);
}

/* Lets the first, second, ... allocation of the operation fail until it succeeds. */
static void fail_each_allocation(const struct layout *layout, const struct scenery *scenery,
                                 const struct operation *operation, bool for_good) {
    bool keeps = may_keep(layout, operation);
    for (uint64_t fail = 1;; fail++) {
        struct pool pool = {.for_good = for_good};
        struct scene s;
        set_scene(&s, layout, scenery, operation, &pool);
        int64_t blocks = pool.blocks, bytes = pool.bytes;
        pool.calls = 0;
        pool.fail_at = fail;
        int rc = operation->run(&s);
        bool failed = pool.calls >= fail;
        pool.fail_at = 0;
        bool refused = failed && (rc < 0 || !may_do_without(layout, for_good));
        CHECK(refused ? rc == PERHAPS_ENOMEM : rc >= 0, "%s: allocation %llu failed, the answer is %d: %s",
              operation->name, (unsigned long long)fail, rc, perhaps_why());
        CHECK(keeps || (refused ? pool.bytes == bytes : pool.blocks <= blocks), "%s leaks when allocation %llu fails",
              operation->name, (unsigned long long)fail);
        if (refused) expect_scene_unchanged(&s);
        end_scene(&s, &pool);
        if (!failed) return;
        CHECK(fail < 1000, "%s allocates without end", operation->name);
    }
}

static void a_failed_allocation_changes_nothing(const struct layout *layout) {
    struct scenery scenery = make_scenery(layout, grows(layout));
    for (size_t i = 0; i < OPERATIONS; i++) {
        if (!can_do(layout, &operations[i])) continue;
        fail_each_allocation(layout, &scenery, &operations[i], false);
        fail_each_allocation(layout, &scenery, &operations[i], true);
    }
    end_scenery(&scenery);
}

/* The allocator is copied: its struct may go away after create and open. */
static void the_allocator_is_copied(const struct layout *layout) {
    struct pool pool = {0};
    perhaps_allocator allocator = allocator_of(&pool);
    perhaps_want want = layout->want;
    want.allocator = &allocator;
    perhaps *f = make(&want), *g = NULL, *h = NULL;
    struct bytes image = image_of(f);
    MUST(perhaps_open_memory(&g, image.data, image.length,
                             &PERHAPS_OPEN(.flags = PERHAPS_OPEN_COPY, .allocator = &allocator)));
    memset(&allocator, 0, sizeof allocator);
    uint64_t before = pool.calls;
    MUST(perhaps_clone(g, &h));
    CHECK(pool.calls > before, "a clone does not use its original's allocator");
    perhaps_free(f);
    perhaps_free(g);
    MUST(perhaps_clear(h));
    add_members(h, 0, ITEMS);
    perhaps_free(h);
    CHECK(pool.blocks == 0, "%lld blocks were not given back", (long long)pool.blocks);
    free(image.data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        FOR_EACH_FILTER(all_memory_comes_from_the_allocator, ITEMS),
        FOR_EACH_KIND(all_memory_comes_from_the_allocator, 1000000),
        FOR_EACH_FILTER(a_failed_allocation_changes_nothing, ITEMS),
        FOR_EACH_FILTER(the_allocator_is_copied, ITEMS),
        FOR_EACH_STATIC_KIND(all_memory_comes_from_the_allocator, ITEMS),
        FOR_EACH_STATIC_KIND(all_memory_comes_from_the_allocator, 1000000),
        FOR_EACH_STATIC_KIND(a_failed_allocation_changes_nothing, ITEMS),
        FOR_EACH_STATIC_KIND(the_allocator_is_copied, ITEMS),
    };
    return cmocka_run_group_tests(tests, NULL, remove_scratch);
}
