/*
 * `perhaps bench --small`: what a key costs in small batches, where a batch call has little to
 * overlap. The same keys go through the filter in batches of each length, in turns.
 */
#include "bench_composite.h"

#include <string.h>

enum { LENGTHS = 7, TURN_KEYS = 1 << 16 };

static const uint64_t set_bytes = 16 * MIB;

struct small_turns {
    struct run run;
    size_t from; /* the next keys of the pass */
};

static void prepare(void *context) {
    struct small_turns *turns = context;
    turns->from = (turns->from + TURN_KEYS) % PASS_KEYS;
}

/* Contender i has batches of 2^i keys; the first has single calls. */
static double turn(void *context, size_t contender) {
    struct small_turns *turns = context;
    struct run *run = &turns->run;
    const uint64_t *keys = run->pass->keys + turns->from;
    uint8_t *answers = run->pass->answers;
    const size_t length = (size_t)1 << contender;
    double begin = machine_worked();
    if (length == 1)
        for (size_t i = 0; i < TURN_KEYS; i++) answers[i] = (uint8_t)perhaps_contains_u64(run->f, keys[i]);
    else
        for (size_t i = 0; i < TURN_KEYS; i += length)
            perhaps_contains_many(run->f, &PERHAPS_KEYS_U64(keys + i, 0, length), answers + i);
    return (machine_worked() - begin) / TURN_KEYS;
}

static int measure(struct part_run *all, const struct perhaps_kind_row *kind) {
    struct small_turns turns = {.from = 0};
    struct cell cell;
    perhaps_want want = kind_want(kind->kind, 0.01, set_bytes, all->keys);
    struct pairs_game game = {
        .contenders = LENGTHS, .seconds = all->pass->seconds, .context = &turns, .prepare = prepare, .turn = turn};
    struct pairs pairs;
    struct perhaps_info info = {.size = sizeof info};
    part_open(all, &turns.run, &cell, &want, 0);
    struct run *run = &turns.run;
    if (!run->error) run_check(run, perhaps_info(run->f, &info));
    run->space = filter_space(&info);
    if (!run->error) refill(run, 0, run->space.members);
    if (!run->error && info.traits & PERHAPS_STATIC) run_check(run, perhaps_seal(run->f, NULL));
    make_queries(run, HITS_50, PASS_KEYS);
    if (!run->error && pairs_run(&pairs, &game) == 0) {
        struct row *row = part_row(all, PART_SMALL, "%s", kind->name);
        for (size_t i = 0; i < LENGTHS; i++) row->values[i] = pairs_time(&pairs, i);
    }
    part_close(run);
    return run->error;
}

int small_run(struct figures *figures, struct pass *pass, uint64_t keys, const char *kind) {
    struct part_run all = {figures, pass, keys};
    const struct perhaps_kind_row *row;
    int error = 0;
    for (size_t i = 0; !error && (row = perhaps_kind(i)); i++)
        if (!kind || strcmp(kind, row->name) == 0) error = measure(&all, row);
    return error;
}
