/*
 * Building static filters: adding all keys in batches, and sealing; with one thread and with two,
 * beside the plain filter. Then how large they are, and how often they are wrong.
 *
 * All take turns, and of each the best time counts. Two threads are compared with one by the wall
 * clock; one thread with the plain filter by the time that it has worked. On a machine that others
 * use, too, a second core is not always a whole one: so threads that do nothing but arithmetic take
 * their turn as well.
 */
#include "plain_fuse.h"
#include "static.h"

#include <math.h>

enum { ADD_KEYS = 1 << 20, LEAST_ROUNDS = 2, MOST_ROUNDS = 5, MOST_SHAPES = 8 };

static const double rounds_ns = 15e9; /* no further round begins after this */
static const uint64_t many_keys = 100000000;

/* What a build takes, in ns per key. */
struct times {
    double add;    /* until all keys are added, of this thread's work */
    double worked; /* until the filter is sealed */
    double wall;   /* the same by the wall clock */
};

struct build {
    const struct shape *shape;
    struct times best[2]; /* with one thread, and with two */
};

struct builds {
    struct statics *statics;
    const uint64_t *keys;
    size_t n;
    double plain;         /* ns per key of the plain filter; 0 = not measured */
    double arithmetic[2]; /* ns of the same arithmetic in one thread, and in two */
    size_t count;
    struct build each[MOST_SHAPES];
};

static int64_t add_all(perhaps *f, const uint64_t *keys, size_t n, unsigned threads) {
    int64_t answer = 0;
    for (size_t done = 0; done < n && answer >= 0; done += ADD_KEYS) {
        size_t some = n - done < ADD_KEYS ? n - done : ADD_KEYS;
        answer = threads > 1 ? perhaps_add_parallel(f, &PERHAPS_KEYS_U64(keys + done, 0, some), NULL, threads)
                             : perhaps_add_many(f, &PERHAPS_KEYS_U64(keys + done, 0, some), NULL);
    }
    return answer;
}

static int build_once(const struct builds *builds, const struct shape *shape, unsigned threads, struct times *times,
                      perhaps **f) {
    const double n = (double)builds->n;
    perhaps_want want = static_want(shape, builds->n);
    double worked = machine_worked(), wall = machine_now();
    int64_t answer = perhaps_create(f, &want);
    if (answer >= 0) answer = add_all(*f, builds->keys, builds->n, threads);
    times->add = (machine_worked() - worked) / n;
    if (answer >= 0) answer = perhaps_seal(*f, &PERHAPS_SEAL(.threads = threads));
    times->worked = (machine_worked() - worked) / n;
    times->wall = (machine_now() - wall) / n;
    return answer < 0 ? (int)answer : 0;
}

static void keep_best_times(struct times *best, const struct times *times) {
    keep_best(&best->add, times->add);
    keep_best(&best->worked, times->worked);
    keep_best(&best->wall, times->wall);
}

/* Deviation of the measured rate from the filter's, in standard deviations of the measurement. */
static double sigmas(const struct run *run, double fpr, double rate) {
    return (fpr - rate) / sqrt(rate * (1 - rate) / (double)run->non_member_queries);
}

/* A filter that was just built: its row of sizes, and its cell, whose time is set at the end. */
static int look_at(const struct builds *builds, const struct shape *shape, perhaps *f) {
    struct perhaps_info info = {.size = sizeof info};
    struct cell cell;
    struct run run;
    static_open(builds->statics, &run, &cell, shape, builds->n);
    run.f = f;
    run_check(&run, perhaps_facts(f, &info));
    double fpr = part_rate(&run);
    if (run.error) return run.error;
    struct cell *result = static_cell(builds->statics, shape, &info);
    result->fpr = fpr;
    struct row *row = part_row(&builds->statics->all, PART_STATIC_SIZE, "%s", shape->name);
    row->values[0] = (double)builds->n;
    row->values[1] = result->bits_per_key;
    row->values[2] = -log2(shape->rate);
    row->values[3] = row->values[1] / row->values[2];
    row->values[4] = fpr;
    row->values[5] = shape->rate;
    row->values[6] = sigmas(&run, fpr, shape->rate);
    if (builds->n >= usual_keys) row->goals[3] = shape->size_goal;
    return 0;
}

static int time_shape(struct builds *builds, struct build *build, unsigned threads, int first) {
    struct times times;
    perhaps *f = NULL;
    if (threads > 1) machine_unpin();
    int error = build_once(builds, build->shape, threads, &times, &f);
    if (threads > 1) machine_pin();
    keep_best_times(&build->best[threads - 1], &times);
    if (!error && first) error = look_at(builds, build->shape, f);
    perhaps_free(f);
    return error;
}

static int time_plain(struct builds *builds) {
    struct plain_fuse plain;
    double begin = machine_worked();
    if (plain_fuse_build(&plain, builds->keys, builds->n) < 0) return PERHAPS_ENOMEM;
    keep_best(&builds->plain, (machine_worked() - begin) / (double)builds->n);
    plain_fuse_free(&plain);
    return 0;
}

static void time_arithmetic(struct builds *builds) {
    machine_unpin();
    for (int two = 0; two < 2; two++) keep_best(&builds->arithmetic[two], machine_arithmetic(two));
    machine_pin();
}

static int build_round(struct builds *builds, unsigned round) {
    struct statics *statics = builds->statics;
    int error = 0;
    time_arithmetic(builds);
    if (static_is_taken(statics, plain_shape)) error = time_plain(builds);
    for (size_t i = 0; i < builds->count && !error; i++) {
        struct cell shown = {.kind = builds->each[i].shape->name, .bytes = builds->n};
        statics->all.pass->progress(&shown, "building");
        error = time_shape(builds, &builds->each[i], 1, round == 0);
        if (!error) error = time_shape(builds, &builds->each[i], 2, 0);
    }
    return error;
}

/* Goals are for many keys: a few are one part, which two threads cannot share. */
static void take_row(const struct builds *builds, const struct build *build, double fuse) {
    struct row *row = part_row(&builds->statics->all, PART_STATIC_BUILD, "%s", build->shape->name);
    const struct times *one = &build->best[0], *two = &build->best[1];
    row->values[0] = (double)builds->n;
    row->values[1] = one->add;
    row->values[2] = one->worked;
    row->values[3] = two->wall;
    row->values[4] = two->wall / one->wall;
    int is_fuse = build->shape->kind == PERHAPS_FUSE;
    if (is_fuse) row->values[5] = one->worked / builds->plain;
    if (!is_fuse && fuse > 0) row->values[6] = one->worked / fuse;
    if (builds->n < usual_keys) return;
    row->goals[4] = 1 / 1.7;
    if (build->shape == plain_shape) row->goals[5] = builds->n < many_keys ? 1 / 1.5 : 1 / 2.5;
    row->goals[6] = 3;
}

static void take_rows(const struct builds *builds, struct cell *cells) {
    double fuse = 0;
    for (size_t i = 0; i < builds->count; i++) {
        const struct build *build = &builds->each[i];
        if (build->shape == plain_shape) fuse = build->best[0].worked;
        cells[i].ns[OP_BUILD][HITS_0] = build->best[0].worked;
        take_row(builds, build, fuse);
    }
    struct row *row = part_row(&builds->statics->all, PART_STATIC_BUILD, "arithmetic and nothing else");
    row->values[4] = builds->arithmetic[1] / builds->arithmetic[0];
    if (builds->plain == 0) return;
    row = part_row(&builds->statics->all, PART_STATIC_BUILD, "the plain fuse filter");
    row->values[0] = (double)builds->n;
    row->values[2] = builds->plain;
}

static int run_builds(struct builds *builds) {
    struct figures *figures = builds->statics->all.figures;
    struct cell *cells = &figures->cells[figures->cell_count];
    double end = machine_now() + rounds_ns;
    for (unsigned round = 0; round < MOST_ROUNDS && (round < LEAST_ROUNDS || machine_now() < end); round++) {
        int error = build_round(builds, round);
        if (error) return error;
    }
    take_rows(builds, cells);
    return 0;
}

int static_build(struct statics *statics) {
    struct builds builds = {.statics = statics};
    const struct shape *shape;
    for (size_t i = 0; (shape = static_shape(i)); i++)
        if (static_is_taken(statics, shape)) builds.each[builds.count++].shape = shape;
    builds.n = (size_t)(statics->all.keys ? statics->all.keys : usual_keys);
    uint64_t bytes = (uint64_t)builds.n * sizeof(uint64_t);
    uint64_t *keys = machine_memory(bytes);
    if (!keys) return PERHAPS_ENOMEM;
    for (size_t i = 0; i < builds.n; i++) keys[i] = key_number(i);
    builds.keys = keys;
    int error = run_builds(&builds);
    machine_release(keys, bytes);
    return error;
}
