/*
 * `perhaps bench --static`: building static filters, that is adding all keys in batches and
 * sealing, with one thread and with two, beside the plain filter. Then how large they are, and how
 * often they are wrong. How fast they are queried is measured as for other kinds (cells.c).
 *
 * Times are those of the wall clock, as two threads are compared with one. On a machine that others
 * use, too, a second core is not always a whole one: so threads that do nothing but arithmetic take
 * their turns as well.
 */
#include "bench_composite.h"
#include "plain_fuse.h"

#include <math.h>
#include <string.h>

static const uint64_t usual_keys = 10000000, many_keys = 100000000;

struct shape {
    int kind;
    unsigned places; /* fuse: that a key looks at */
    const char *name;
    double fpr;       /* requested */
    double rate;      /* that it has then */
    double size_goal; /* bits per key, at most this times log2(1/rate) */
};

/* A fuse filter has whole bits in a fingerprint, so at 1 % it has a rate of 1 in 128. The first is
 * the one that the plain filter has, too. */
static const struct shape shapes[] = {
    {PERHAPS_FUSE, 3, "fuse, 3 places, 8 bits", 1. / 256, 1. / 256, 1.14},
    {PERHAPS_FUSE, 4, "fuse, 4 places, 8 bits", 1. / 256, 1. / 256, 1.09},
    {PERHAPS_FUSE, 3, "fuse, 3 places, 1 %", 0.01, 1. / 128, 1.14},
    {PERHAPS_RIBBON, 0, "ribbon, 1 %", 0.01, 0.01, 1.025},
    {PERHAPS_RIBBON, 0, "ribbon, 0.1 %", 0.001, 0.001, 1.012},
    {PERHAPS_RIBBON, 0, "ribbon, 1 in 2^16", 0x1p-16, 0x1p-16, 1.012},
};

enum {
    SHAPES = sizeof shapes / sizeof *shapes,
    ADD_KEYS = 1 << 20,
    /* Contenders: arithmetic with one thread and with two, the plain filter, then the shapes. */
    ARITHMETIC = 0,
    PLAIN = 2,
    FIRST_SHAPE = 3
};
_Static_assert(FIRST_SHAPE + 2 * SHAPES <= MOST_CONTENDERS, "all take turns in the same rounds");

struct builds {
    struct part_run all;
    const uint64_t *keys;
    size_t n;
    size_t count; /* of shapes */
    const struct shape *shapes[SHAPES];
    int is_measured[SHAPES]; /* its size is known */
    int error;
};

/* --- sizes --- */

/* Deviation of the measured rate from the filter's, in standard deviations of the measurement. */
static double sigmas(const struct run *run, double fpr, double rate) {
    return (fpr - rate) / sqrt(rate * (1 - rate) / (double)run->non_member_queries);
}

static int measure_size(struct builds *builds, const struct shape *shape, perhaps *f) {
    struct perhaps_info info = {.size = sizeof info};
    struct cell cell = {.kind = shape->name, .bytes = (uint64_t)(-log2(shape->rate) / 8 * (double)builds->n)};
    struct run run = {.cell = &cell, .f = f, .pass = builds->all.pass, .space = key_space_all(builds->n)};
    /* Small runs, which are for trying it out, query less. */
    run.pass_keys = builds->n < PASS_KEYS ? PASS_KEYS / 16 : PASS_KEYS;
    run_check(&run, perhaps_facts(f, &info));
    double fpr = part_rate(&run), bits = 8 * (double)info.bytes / (double)info.items;
    struct row *row = part_row(&builds->all, PART_STATIC_SIZE, "%s", shape->name);
    row_set(row, 0, (double)builds->n);
    row_set(row, 1, bits);
    row_set(row, 2, -log2(shape->rate));
    row_set(row, 3, bits / -log2(shape->rate));
    row_set(row, 4, fpr);
    row_set(row, 5, shape->rate);
    row_set(row, 6, sigmas(&run, fpr, shape->rate));
    if (builds->n >= usual_keys) row->goals[3] = shape->size_goal;
    return run.error;
}

/* --- building --- */

static int64_t add_all(perhaps *f, const uint64_t *keys, size_t n, unsigned threads) {
    int64_t answer = 0;
    for (size_t done = 0; done < n && answer >= 0; done += ADD_KEYS) {
        size_t some = n - done < ADD_KEYS ? n - done : ADD_KEYS;
        answer = threads > 1 ? perhaps_add_parallel(f, &PERHAPS_KEYS_U64(keys + done, 0, some), NULL, threads)
                             : perhaps_add_many(f, &PERHAPS_KEYS_U64(keys + done, 0, some), NULL);
    }
    return answer;
}

/* Nanoseconds per key. */
static double time_shape(struct builds *builds, size_t number, unsigned threads) {
    const struct shape *shape = builds->shapes[number];
    perhaps_want want =
        PERHAPS_WANT(.kind = shape->kind, .hashes = shape->places, .items = builds->n, .fpr = shape->fpr);
    perhaps *f = NULL;
    double begin = machine_now();
    int64_t answer = perhaps_create(&f, &want);
    if (answer >= 0) answer = add_all(f, builds->keys, builds->n, threads);
    if (answer >= 0) answer = perhaps_seal(f, &PERHAPS_SEAL(.threads = threads));
    double time = machine_now() - begin;
    if (answer >= 0 && !builds->is_measured[number]) answer = measure_size(builds, shape, f);
    builds->is_measured[number] = 1;
    if (answer < 0) builds->error = (int)answer;
    perhaps_free(f);
    return time / (double)builds->n;
}

static double time_plain(struct builds *builds) {
    struct plain_fuse plain;
    double begin = machine_now();
    if (plain_fuse_build(&plain, builds->keys, builds->n) < 0) builds->error = PERHAPS_ENOMEM;
    plain_fuse_free(&plain);
    return (machine_now() - begin) / (double)builds->n;
}

static double turn(void *context, size_t contender) {
    struct builds *builds = context;
    double ns;
    if (contender < PLAIN) {
        machine_unpin();
        ns = machine_arithmetic(contender == ARITHMETIC + 1);
        machine_pin();
    } else if (contender == PLAIN) {
        ns = time_plain(builds);
    } else {
        unsigned threads = 1 + (contender - FIRST_SHAPE) % 2;
        if (threads > 1) machine_unpin();
        ns = time_shape(builds, (contender - FIRST_SHAPE) / 2, threads);
        if (threads > 1) machine_pin();
    }
    return builds->error ? -1 : ns;
}

/* Goals are for many keys: a few are one part, which two threads cannot share. */
static void take_row(struct builds *builds, const struct pairs *pairs, size_t number) {
    const struct shape *shape = builds->shapes[number];
    const size_t one = FIRST_SHAPE + 2 * number, two = one + 1;
    struct row *row = part_row(&builds->all, PART_STATIC_BUILD, "%s", shape->name);
    int is_fuse = shape->kind == PERHAPS_FUSE;
    row_set(row, 0, (double)builds->n);
    row->values[1] = pairs_time(pairs, one);
    row->values[2] = pairs_time(pairs, two);
    row->values[3] = pairs_ratio(pairs, two, one);
    if (is_fuse) row->values[4] = pairs_ratio(pairs, one, PLAIN);
    if (!is_fuse && builds->shapes[0] == &shapes[0]) row->values[5] = pairs_ratio(pairs, one, FIRST_SHAPE);
    if (builds->n < usual_keys) return;
    row->goals[3] = 1 / 1.7;
    if (shape == &shapes[0]) row->goals[4] = builds->n < many_keys ? 1 / 1.5 : 1 / 2.5;
    row->goals[5] = 3;
}

static void take_rows(struct builds *builds, const struct pairs *pairs) {
    for (size_t i = 0; i < builds->count; i++) take_row(builds, pairs, i);
    struct row *row = part_row(&builds->all, PART_STATIC_BUILD, "the plain fuse filter");
    row_set(row, 0, (double)builds->n);
    row->values[1] = pairs_time(pairs, PLAIN);
    row = part_row(&builds->all, PART_STATIC_BUILD, "arithmetic and nothing else");
    row->values[3] = pairs_ratio(pairs, ARITHMETIC + 1, ARITHMETIC);
}

static const char *kind_name(int kind) {
    const struct perhaps_kind_row *row;
    for (size_t i = 0; (row = perhaps_kind(i)); i++)
        if (row->kind == kind) return row->name;
    return "";
}

int static_run(struct figures *figures, struct pass *pass, uint64_t keys, const char *kind) {
    struct builds builds = {.all = {figures, pass, keys}, .n = (size_t)(keys ? keys : usual_keys)};
    struct pairs pairs;
    for (size_t i = 0; i < SHAPES; i++)
        if (!kind || strcmp(kind, kind_name(shapes[i].kind)) == 0) builds.shapes[builds.count++] = &shapes[i];
    uint64_t bytes = (uint64_t)builds.n * sizeof(uint64_t), *members = machine_memory(bytes);
    if (!members) return PERHAPS_ENOMEM;
    for (size_t i = 0; i < builds.n; i++) members[i] = key_number(i);
    builds.keys = members;
    pass->progress(&(struct cell){.kind = "static filters", .bytes = bytes}, "building");
    struct pairs_game game = {.contenders = FIRST_SHAPE + 2 * builds.count, .context = &builds, .turn = turn};
    if (pairs_run(&pairs, &game) == 0) take_rows(&builds, &pairs);
    machine_release(members, bytes);
    return builds.error;
}
