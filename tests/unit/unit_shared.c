/* The operations that many threads may call at the same time: in one thread they are like the plain
 * ones, and in many nothing is lost. Most telling under ThreadSanitizer. */
#include "isas.h"
#include "support.h"

#include "kind/kind.h"
#include "kind/counting/counting_cells.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

struct shape {
    const struct kind *kind;
    uint64_t layout[LAYOUT_WORDS];
};

/* ---- arrays and operations ---- */

static struct array make_array(const struct shape *shape) {
    const char *reason = "";
    struct array array = {.length = shape->kind->payload_bytes(shape->layout, &reason)};
    CHECK(array.length, "%s: %s", shape->kind->row.name, reason);
    array.bytes = aligned_alloc(64, (size_t)(array.length + 63) / 64 * 64);
    CHECK(array.bytes, "no memory");
    memset(array.bytes, 0, (size_t)array.length);
    memcpy(array.layout, shape->layout, sizeof array.layout);
    return array;
}

/* Number i of the digests that a shape takes. */
static uint64_t digest_of(const struct shape *shape, uint64_t i) {
    return shape->kind == &kind_bitmap ? i : member(i);
}

/* A test of one shape and the operations of one instruction set. */
typedef void shape_test(const struct shape *shape, enum isa isa, const struct kind_ops *shared);

static void for_each_shape(const struct shape *shapes, size_t n, shape_test *test) {
    for (int isa = 0; isa < ISA_COUNT; isa++) {
        if (!has_isa((enum isa)isa)) continue;
        for (size_t i = 0; i < n; i++)
            test(&shapes[i], (enum isa)isa, shapes[i].kind->ops(shapes[i].layout, (enum isa)isa, true));
    }
}

#define FOR_EACH_SHAPE(shapes, test) for_each_shape((shapes), sizeof(shapes) / sizeof *(shapes), (test))

/* ---- one thread ---- */

enum { BATCH = 200 };

/* A batch of each operation, of digests that often repeat, on two arrays: equal answers. */
static void expect_same_batches(struct array *a, const struct kind_ops *alone, struct array *b,
                                const struct kind_ops *shared, const uint64_t *digests, size_t n) {
    uint8_t answers_a[BATCH] = {0}, answers_b[BATCH] = {0};
    size_t added_a = alone->add_many(a, digests, n, answers_a, (const char *)digests);
    size_t added_b = shared->add_many(b, digests, n, answers_b, (const char *)digests);
    CHECK(added_a == added_b, "%zu keys were added, not %zu", added_b, added_a);
    CHECK(memcmp(answers_a, answers_b, added_a) == 0, "other answers from add_many");
    alone->contains_many(a, digests, n, answers_a, (const char *)digests);
    shared->contains_many(b, digests, n, answers_b, (const char *)digests);
    CHECK(memcmp(answers_a, answers_b, n) == 0, "other answers from contains_many");
}

static void expect_same_singles(struct array *a, const struct kind_ops *alone, struct array *b,
                                const struct kind_ops *shared, struct digest digest) {
    CHECK(alone->contains(a, digest) == shared->contains(b, digest), "contains");
    CHECK(alone->add(a, digest) == shared->add(b, digest), "add");
    CHECK(alone->contains(a, digest) == shared->contains(b, digest), "contains after add");
    CHECK(!alone->count == !shared->count && !alone->remove == !shared->remove, "an operation is missing");
    if (alone->count) CHECK(alone->count(a, digest) == shared->count(b, digest), "count");
    if (alone->remove && digest.first % 3) CHECK(alone->remove(a, digest) == shared->remove(b, digest), "remove");
}

static void one_thread(const struct shape *shape, enum isa isa, const struct kind_ops *shared) {
    const struct kind_ops *alone = shape->kind->ops(shape->layout, isa, false);
    struct array a = make_array(shape), b = make_array(shape);
    uint64_t random = 1, digests[BATCH];
    int steps = test_size() == TEST_SMALL ? 8 : 30;
    for (int step = 0; step < steps; step++) {
        size_t n = (size_t)(next_random(&random) % (BATCH + 1));
        for (size_t i = 0; i < n; i++) digests[i] = digest_of(shape, next_random(&random) % 4010);
        expect_same_batches(&a, alone, &b, shared, digests, n);
        for (size_t i = 0; i < n; i++)
            expect_same_singles(&a, alone, &b, shared, (struct digest){digest_of(shape, i * 19), 0});
    }
    CHECK(memcmp(a.bytes, b.bytes, (size_t)a.length) == 0, "%s, %s: other bytes", shape->kind->row.name, isa_name(isa));
    free(a.bytes);
    free(b.bytes);
}

static void one_thread_sees_no_difference(void **state) {
    (void)state;
    static const struct shape shapes[] = {
        {&kind_bloom, {1, 1}},          {&kind_bloom, {1001, 2}},        {&kind_bloom, {33333, 7}},
        {&kind_bloom, {400000, 64}},    {&kind_counting, {1, 1}},        {&kind_counting, {1001, 2}},
        {&kind_counting, {33333, 7}},   {&kind_counting, {400000, 64}},  {&kind_blocked, {1, 8, 1}},
        {&kind_blocked, {77, 8, 1}},    {&kind_blocked, {77, 16, 1}},    {&kind_blocked, {78, 8, 2}},
        {&kind_blocked, {78, 16, 2}},   {&kind_blocked, {20000, 8, 1}},  {&kind_blocked, {20000, 16, 1}},
        {&kind_blocked, {20000, 8, 2}}, {&kind_blocked, {20000, 16, 2}}, {&kind_bitmap, {1}},
        {&kind_bitmap, {4000}},         {&kind_bitmap, {5000}},
    };
    FOR_EACH_SHAPE(shapes, one_thread);
}

/* ---- many threads that add the same keys, and some that query ---- */

enum { KEYS = 4000, PIECE = 50, ADDERS = 4, QUERIERS = 2 };

/* Arrays so large that no key is hidden by others: it is new to the one who adds it first. */
static const struct shape roomy[] = {
    {&kind_bloom, {64 * KEYS, 8}},  {&kind_counting, {64 * KEYS, 8}},  {&kind_blocked, {KEYS / 4, 8, 1}},
    {&kind_blocked, {KEYS, 16, 1}}, {&kind_blocked, {KEYS / 2, 8, 2}}, {&kind_blocked, {KEYS, 16, 2}},
    {&kind_bitmap, {KEYS}},
};

struct scene {
    const struct shape *shape;
    const struct kind_ops *ops;
    struct array array;
    uint64_t digests[KEYS];
    unsigned started;    /* threads that are ready to run */
    size_t done[ADDERS]; /* how many of its keys each adder has added, published with release */
    uint8_t news[ADDERS][KEYS];
    uint64_t missed[QUERIERS];
};

struct actor {
    struct scene *scene;
    unsigned number;
};

static void wait_for_all(struct scene *scene) {
    __atomic_add_fetch(&scene->started, 1, __ATOMIC_ACQ_REL);
    while (__atomic_load_n(&scene->started, __ATOMIC_ACQUIRE) < ADDERS + QUERIERS) sched_yield();
}

/* Adder t passes over every fourth piece, so each key has three adders. Pieces are added one by one
 * and as batches in turn. */
static bool adds_piece(unsigned t, size_t first) {
    return (first / PIECE + t) % 4 != 0;
}

static void *add_keys(void *context) {
    const struct actor *actor = context;
    struct scene *scene = actor->scene;
    unsigned t = actor->number;
    wait_for_all(scene);
    for (size_t first = 0; first < KEYS; first += PIECE) {
        const uint64_t *digests = scene->digests + first;
        uint8_t *news = scene->news[t] + first;
        if (adds_piece(t, first) && (first / PIECE + t) % 2)
            scene->ops->add_many(&scene->array, digests, PIECE, news, (const char *)digests);
        else if (adds_piece(t, first))
            for (size_t i = 0; i < PIECE; i++)
                news[i] = (uint8_t)scene->ops->add(&scene->array, (struct digest){digests[i], 0});
        __atomic_store_n(&scene->done[t], first + PIECE, __ATOMIC_RELEASE);
    }
    return NULL;
}

/* How many keys of the last piece that adder t has published are not found. */
static uint64_t count_missed(const struct scene *scene, unsigned t, size_t done) {
    size_t first = done - PIECE;
    uint64_t missed = 0;
    uint8_t found[PIECE];
    if (!adds_piece(t, first)) return 0;
    scene->ops->contains_many(&scene->array, scene->digests + first, PIECE, found, (const char *)scene->digests);
    for (size_t i = 0; i < PIECE; i++) {
        struct digest digest = {scene->digests[first + i], 0};
        missed += !found[i] || !scene->ops->contains(&scene->array, digest);
        if (scene->ops->count) missed += scene->ops->count(&scene->array, digest) == 0;
    }
    return missed;
}

static void *query_keys(void *context) {
    const struct actor *actor = context;
    struct scene *scene = actor->scene;
    unsigned finished = 0;
    wait_for_all(scene);
    while (finished < ADDERS) {
        finished = 0;
        for (unsigned t = 0; t < ADDERS; t++) {
            size_t done = __atomic_load_n(&scene->done[t], __ATOMIC_ACQUIRE);
            if (done) scene->missed[actor->number] += count_missed(scene, t, done);
            finished += done == KEYS;
        }
    }
    return NULL;
}

static void act(struct scene *scene) {
    pthread_t threads[ADDERS + QUERIERS];
    struct actor actors[ADDERS + QUERIERS];
    for (unsigned i = 0; i < ADDERS + QUERIERS; i++) {
        bool adds = i < ADDERS;
        actors[i] = (struct actor){scene, adds ? i : i - ADDERS};
        CHECK(pthread_create(&threads[i], NULL, adds ? add_keys : query_keys, &actors[i]) == 0, "no thread %u", i);
    }
    for (unsigned i = 0; i < ADDERS + QUERIERS; i++) pthread_join(threads[i], NULL);
}

/* The array that one thread makes, with the plain operations and the same adds. */
static struct array made_alone(const struct scene *scene) {
    const struct shape *shape = scene->shape;
    const struct kind_ops *alone = shape->kind->ops(shape->layout, ISA_SCALAR, false);
    struct array array = make_array(shape);
    for (unsigned t = 0; t < ADDERS; t++) {
        for (size_t i = 0; i < KEYS; i++)
            if (adds_piece(t, i)) alone->add(&array, (struct digest){scene->digests[i], 0});
    }
    if (shape->kind == &kind_counting)
        CHECK(counters_count(array.bytes, array.length).stuck == 0, "a counter stuck, so bytes tell nothing");
    return array;
}

static void expect_complete(const struct scene *scene, const char *isa) {
    const char *name = scene->shape->kind->row.name;
    struct array alone = made_alone(scene);
    CHECK(memcmp(alone.bytes, scene->array.bytes, (size_t)alone.length) == 0, "%s, %s: other bytes", name, isa);
    for (size_t i = 0; i < KEYS; i++) {
        unsigned news = 0;
        for (unsigned t = 0; t < ADDERS; t++) news += scene->news[t][i];
        CHECK(news >= 1, "%s, %s: key %zu was new to nobody", name, isa, i);
        CHECK(news == 1 || scene->shape->kind != &kind_bitmap, "%s: key %zu was new %u times", name, i, news);
        CHECK(scene->ops->contains(&scene->array, (struct digest){scene->digests[i], 0}), "%s: key %zu is lost", name,
              i);
    }
    for (unsigned t = 0; t < QUERIERS; t++)
        CHECK(scene->missed[t] == 0, "%s, %s: %llu keys were missed", name, isa, (unsigned long long)scene->missed[t]);
    free(alone.bytes);
}

static void many_threads(const struct shape *shape, enum isa isa, const struct kind_ops *shared) {
    struct scene *scene = calloc(1, sizeof *scene);
    CHECK(scene, "no memory");
    scene->shape = shape;
    scene->ops = shared;
    scene->array = make_array(shape);
    for (size_t i = 0; i < KEYS; i++) scene->digests[i] = digest_of(shape, i);
    act(scene);
    expect_complete(scene, isa_name(isa));
    free(scene->array.bytes);
    free(scene);
}

static void many_threads_lose_nothing(void **state) {
    (void)state;
    FOR_EACH_SHAPE(roomy, many_threads);
}

/* ---- many threads, each with its keys to add and remove; their cells interleave ---- */

enum { OWN = 50, ROUNDS = 100 };

struct owner {
    const struct shape *shape;
    const struct kind_ops *ops;
    struct array *array;
    unsigned number;
    uint64_t wrong;
};

static struct digest own_key(const struct owner *owner, uint64_t i) {
    return (struct digest){digest_of(owner->shape, i * ADDERS + owner->number), 0};
}

static void *add_and_remove(void *context) {
    struct owner *owner = context;
    const struct kind_ops *ops = owner->ops;
    for (unsigned round = 0; round < ROUNDS; round++) {
        for (uint64_t i = 0; i < OWN; i++) owner->wrong += ops->add(owner->array, own_key(owner, i)) != 1;
        for (uint64_t i = 0; i < OWN; i++) {
            owner->wrong += !ops->contains(owner->array, own_key(owner, i));
            owner->wrong += ops->remove(owner->array, own_key(owner, i)) != 1;
        }
    }
    return NULL;
}

static void owners(const struct shape *shape, enum isa isa, const struct kind_ops *shared) {
    struct array array = make_array(shape);
    pthread_t threads[ADDERS];
    struct owner owner[ADDERS];
    for (unsigned t = 0; t < ADDERS; t++) {
        owner[t] = (struct owner){shape, shared, &array, t, 0};
        CHECK(pthread_create(&threads[t], NULL, add_and_remove, &owner[t]) == 0, "no thread %u", t);
    }
    for (unsigned t = 0; t < ADDERS; t++) pthread_join(threads[t], NULL);
    for (unsigned t = 0; t < ADDERS; t++)
        CHECK(owner[t].wrong == 0, "thread %u: %llu wrong answers", t, (unsigned long long)owner[t].wrong);
    for (uint64_t i = 0; i < array.length; i++)
        CHECK(array.bytes[i] == 0, "%s, %s: something is left", shape->kind->row.name, isa_name(isa));
    free(array.bytes);
}

static void many_threads_take_out_what_they_put_in(void **state) {
    (void)state;
    static const struct shape shapes[] = {{&kind_counting, {2000, 4}}, {&kind_bitmap, {OWN * ADDERS}}};
    FOR_EACH_SHAPE(shapes, owners);
}

/* ---- counters at their ends ---- */

static void shared_counters_stop_at_both_ends(void **state) {
    (void)state;
    _Alignas(8) uint8_t shared[8] = {0}, alone[8] = {0};
    uint64_t random = 2;
    for (int step = 0; step < 5000; step++) {
        unsigned i = (unsigned)(next_random(&random) % 16), up = next_random(&random) % 4 != 0;
        if (step % 100 == 0) memset(shared, 0, 8), memset(alone, 0, 8);
        up ? shared_counter_up(shared, i) : shared_counter_down(shared, i);
        up ? counter_up(alone, i) : counter_down(alone, i);
        CHECK(memcmp(shared, alone, 8) == 0, "counter %u went elsewhere in step %d", i, step);
        CHECK(shared_counter_get(shared, i) == counter_get(alone, i), "counter %u", i);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_thread_sees_no_difference),
        cmocka_unit_test(many_threads_lose_nothing),
        cmocka_unit_test(many_threads_take_out_what_they_put_in),
        cmocka_unit_test(shared_counters_stop_at_both_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
