/*
 * Large batches of queries of large composite filters, which go through all children in the order
 * of their cache lines: the answers are those of single queries, however many keys there are,
 * however they come, and on every instruction set.
 */
#include "support.h"

#include <perhaps_embed.h>

#include <stdlib.h>
#include <string.h>

/* Some 40 MiB, most of which is never touched. Batches of MANY keys and more are partitioned; of
 * MOST, all cache lines are prefetched; and of ALL, two batches are made. */
enum { KEYS_OF_CHILD = 3000, CHILDREN = 6, MANY = 150000, MOST = 500000, ALL = 700000 };

static const char *const sets[] = {"scalar", "avx2", "avx512", "neon"};
enum { SETS = sizeof sets / sizeof *sets };

/* Layers with few keys each: of growing filters that began with different sizes and are merged. */
static perhaps *make_layers(void) {
    static const uint64_t items[CHILDREN] = {20000000, 4000000, 1000000, 200000, 50000, 20000};
    perhaps *f = NULL;
    for (unsigned i = 0; i < CHILDREN; i++) {
        perhaps *layer =
            make(&PERHAPS_WANT(.kind = PERHAPS_BLOCKED, .items = items[i], .fpr = 0.01, .grow = PERHAPS_GROW_LAYERS));
        add_members(layer, i * KEYS_OF_CHILD, KEYS_OF_CHILD);
        if (f) MUST(perhaps_merge(f, layer));
        if (f) perhaps_free(layer);
        if (!f) f = layer;
    }
    CHECK(info_of(f).children == CHILDREN, "there are %u layers", info_of(f).children);
    return f;
}

/* Generations with few keys each: time goes on after each of them. */
static perhaps *make_generations(void) {
    perhaps *f = make(&PERHAPS_WANT(.kind = PERHAPS_BLOCKED, .items = 16000000, .fpr = 0.01, .generations = CHILDREN,
                                    .period = CHILDREN - 1));
    for (unsigned i = 0; i < CHILDREN; i++) {
        MUST(perhaps_advance(f, i));
        add_members(f, i * KEYS_OF_CHILD, KEYS_OF_CHILD);
    }
    expect_members(f, 0, CHILDREN * KEYS_OF_CHILD);
    return f;
}

/* Has no memory for partitioning. */
static void *give_little(void *context, size_t size) {
    (void)context;
    return size < 1 << 20 ? aligned_alloc(64, (size + 63) / 64 * 64) : NULL;
}

static void take_back(void *context, void *memory, size_t size) {
    (void)context, (void)size;
    free(memory);
}

static const perhaps_allocator stingy = {.allocate = give_little, .release = take_back};

/* Counts what is not given back; threads may query at the same time. */
static uint64_t in_use;

static void *give_counted(void *context, size_t size) {
    (void)context;
    __atomic_fetch_add(&in_use, size, __ATOMIC_RELAXED);
    return aligned_alloc(64, (size + 63) / 64 * 64);
}

static void take_back_counted(void *context, void *memory, size_t size) {
    if (memory) __atomic_fetch_sub(&in_use, size, __ATOMIC_RELAXED);
    take_back(context, memory, size);
}

static const perhaps_allocator counted = {.allocate = give_counted, .release = take_back_counted};

static perhaps *open_under(const char *set, struct bytes image, const perhaps_allocator *allocator) {
    perhaps *f = NULL;
    setenv("PERHAPS_ISA", set, 1);
    int rc = perhaps_open_memory(&f, image.data, image.length, &PERHAPS_OPEN(.allocator = allocator));
    unsetenv("PERHAPS_ISA");
    if (rc < 0) f = NULL; /* not on this machine */
    return f;
}

struct queries {
    size_t n;
    bool same, as_digests, in_order;
    unsigned threads; /* 0 = the caller's alone */
    uint64_t *keys;
    uint8_t *expected, *answers;
};

static void *take(size_t bytes) {
    void *memory = malloc(bytes);
    CHECK(memory, "no memory for %zu bytes", bytes);
    return memory;
}

static int compare(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Every second key is a member; or all are one key. Single queries give the expected answers. */
static void prepare(struct queries *q, const perhaps *f) {
    q->keys = take(q->n * sizeof *q->keys);
    q->expected = take(q->n);
    q->answers = take(q->n);
    for (size_t i = 0; i < q->n; i++)
        q->keys[i] = q->same ? member(1) : i % 2 ? member(i % (CHILDREN * KEYS_OF_CHILD)) : non_member(i);
    if (q->in_order) qsort(q->keys, q->n, sizeof *q->keys, compare);
    for (size_t i = 0; i < q->n; i++)
        q->expected[i] =
            (uint8_t)MUST(q->as_digests ? perhaps_contains_digest(f, q->keys[i]) : perhaps_contains_u64(f, q->keys[i]));
}

static int64_t query(const perhaps *f, const struct queries *q, uint8_t *answers) {
    if (q->threads) return MUST(perhaps_contains_parallel(f, &PERHAPS_KEYS_U64(q->keys, 0, q->n), answers, q->threads));
    return MUST(q->as_digests ? perhaps_contains_many(f, &PERHAPS_KEYS_DIGEST(q->keys, q->n), answers)
                              : perhaps_contains_many(f, &PERHAPS_KEYS_U64(q->keys, 0, q->n), answers));
}

static void expect_answers(const perhaps *f, const struct queries *q) {
    memset(q->answers, 2, q->n);
    int64_t ones = query(f, q, q->answers), again = q->same ? query(f, q, NULL) : ones, sum = 0;
    for (size_t i = 0; i < q->n; i++) sum += q->expected[i];
    CHECK(memcmp(q->answers, q->expected, q->n) == 0, "%s: of %zu keys, some answers differ", info_of(f).isa, q->n);
    CHECK(ones == sum && again == sum, "%s: %lld and %lld keys are there, not %lld", info_of(f).isa, (long long)ones,
          (long long)again, (long long)sum);
}

static void finish(struct queries *q) {
    free(q->keys);
    free(q->expected);
    free(q->answers);
}

/* Where everything is slow, the first ones will do. */
static void expect_single_answers(perhaps *f) {
    struct queries all[] = {{.n = MANY},
                            {.n = MOST, .threads = 2},
                            {.n = MOST},
                            {.n = MANY, .same = true},
                            {.n = ALL, .as_digests = true},
                            {.n = MANY, .as_digests = true, .in_order = true}};
    size_t lists = test_size() == TEST_SMALL ? 2 : sizeof all / sizeof *all;
    struct bytes image = image_of(f);
    CHECK(image.length >= 32 << 20, "the filter has only %zu bytes", image.length);
    for (size_t i = 0; i < lists; i++) prepare(&all[i], f);
    for (size_t s = 0; s < SETS; s++) {
        perhaps *other = open_under(sets[s], image, NULL);
        for (size_t i = 0; other && i < lists; i++) expect_answers(other, &all[i]);
        perhaps_free(other);
    }
    perhaps *poor = open_under("scalar", image, &stingy);
    expect_answers(poor, &all[0]);
    perhaps_free(poor);
    for (size_t i = 0; i < lists; i++) finish(&all[i]);
    free(image.data);
    perhaps_free(f);
}

static void layers_answer_as_one_by_one(void **state) {
    (void)state;
    expect_single_answers(make_layers());
}

static void generations_answer_as_one_by_one(void **state) {
    (void)state;
    expect_single_answers(make_generations());
}

/* However many threads query, the memory of one of them is kept for the next batch, and no more. */
static void one_large_scratch_is_kept(void **state) {
    enum { THREADS = 2, BYTES_OF_KEY = 12 };
    const uint64_t most = (uint64_t)ALL / THREADS * BYTES_OF_KEY * 5 / 4;
    struct queries q = {.n = ALL, .threads = THREADS};
    perhaps *layers = make_layers();
    struct bytes image = image_of(layers);
    (void)state;
    in_use = 0;
    perhaps *f = open_under("scalar", image, &counted);
    prepare(&q, f);
    uint64_t before = in_use;
    for (unsigned round = 0; round < 2; round++) {
        expect_answers(f, &q);
        CHECK(in_use > before + most / 2 && in_use < before + most, "%llu bytes are kept",
              (unsigned long long)(in_use - before));
    }
    perhaps_free(f);
    CHECK(in_use == 0, "%llu bytes were not given back", (unsigned long long)in_use);
    perhaps_free(layers);
    finish(&q);
    free(image.data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layers_answer_as_one_by_one),
        cmocka_unit_test(generations_answer_as_one_by_one),
        cmocka_unit_test(one_large_scratch_is_kept),
    };
    return cmocka_run_group_tests(tests, NULL, remove_scratch);
}
