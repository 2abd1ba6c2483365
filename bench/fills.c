/*
 * Whole fills on the clock, for kinds that can forget: from the empty filter to all the keys it was
 * planned for.
 *
 * What an add costs in a cuckoo filter depends on how full it is, so the only honest figure is the
 * average over a whole fill. And a multiset stores every key it is given, so there are no hits to
 * tell apart. A fill goes in parts, and within a part all take turns: the filter adds most keys of
 * its part by a batch call (b) and the rest by single calls (s), the limit walks, each rival adds
 * its own part. Every fifteenth part belongs to the same round of pairs.c, so that each round has
 * parts of the whole fill, and the ratios are those of sums over them.
 *
 *     part     0         1       ...      14        15       ...
 *     round    0         1       ...      14         0       ...
 *          [ bbbbbbs ][ bbbbbbs ] ... [ bbbbbbs ][ bbbbbbs ] ...
 */
#include "run.h"

#include <string.h>

enum {
    SINGLES = 8, /* one key in this many is added by a single call */
    PARTS_PER_ROUND = 4,
    MOST_PART_KEYS = 1 << 20,
    MOST_FILLS = MOST_ROUNDS / LEAST_ROUNDS,
    MOST_LIMIT_KEYS = 1 << 16, /* of a turn */
};

/* Contenders: the filter by batches and by single calls, the limit, the rivals. */
enum { BY_BATCH, BY_CALL, LIMIT, RIVALS, MOST_FILLERS = RIVALS + MOST_RIVALS };

struct filler_sum {
    double ns, keys;
};

struct fills {
    struct run *run;
    size_t parts;
    struct filler_sum sums[MOST_FILLERS][LEAST_ROUNDS]; /* of the fill under way */
    struct pairs pairs;
};

static void enter(struct fills *fills, size_t filler, size_t part, double ns, size_t keys) {
    struct filler_sum *sum = &fills->sums[filler][part % LEAST_ROUNDS];
    sum->ns += ns;
    sum->keys += (double)keys;
}

/* Puts the keys of a part of `capacity` keys into the pass. */
static size_t make_part(struct fills *fills, size_t part, uint64_t capacity) {
    uint64_t from = (uint64_t)((double)capacity / (double)fills->parts * (double)part);
    uint64_t to = (uint64_t)((double)capacity / (double)fills->parts * (double)(part + 1));
    if (part + 1 == fills->parts) to = capacity;
    for (uint64_t i = from; i < to; i++) fills->run->pass->keys[i - from] = key_member(&fills->run->space, i);
    return (size_t)(to - from);
}

static void fill_part(struct fills *fills, size_t part) {
    struct run *run = fills->run;
    size_t n = make_part(fills, part, run->space.members), batch = n - n / SINGLES;
    enter(fills, BY_BATCH, part, time_call(run, OP_FILL_MANY, 0, batch), batch);
    enter(fills, BY_CALL, part, time_call(run, OP_FILL, batch, n - batch), n - batch);
    size_t walked = n < MOST_LIMIT_KEYS ? n : MOST_LIMIT_KEYS;
    double limit_ns = limit_turn(run->limit, LIMIT_RMW, run->cell->limit_lines, run->pass->keys, walked);
    enter(fills, LIMIT, part, limit_ns * (double)walked, walked);
    for (size_t i = 0; i < run->rival_count; i++) {
        struct rival_filter *r = &run->rivals[i];
        n = make_part(fills, part, r->capacity < run->space.members ? r->capacity : run->space.members);
        double begin = machine_worked();
        r->rival->calls[OP_FILL](r, run->pass->keys, n, run->pass->answers);
        enter(fills, RIVALS + i, part, machine_worked() - begin, n);
    }
}

static void fill_once(struct fills *fills) {
    struct run *run = fills->run;
    struct pairs *pairs = &fills->pairs;
    memset(fills->sums, 0, sizeof fills->sums);
    run_check(run, perhaps_clear(run->f));
    for (size_t i = 0; i < run->rival_count; i++) memset(run->rivals[i].memory, 0, run->rivals[i].bytes);
    for (size_t part = 0; part < fills->parts && !run->error; part++) fill_part(fills, part);
    for (size_t round = 0; round < LEAST_ROUNDS; round++, pairs->rounds++)
        for (size_t i = 0; i < RIVALS + run->rival_count; i++)
            pairs->ns[i][pairs->rounds] = fills->sums[i][round].ns / fills->sums[i][round].keys;
}

/* As contenders 0 and 1 the figure has the filter by these calls, and the limit. */
static void enter_fill(struct fills *fills, enum op op, size_t filler) {
    struct pairs *pairs = &fills->pairs;
    struct pairs shown = *pairs;
    memcpy(shown.ns[0], pairs->ns[filler], sizeof shown.ns[0]);
    for (size_t i = LIMIT; i < RIVALS + fills->run->rival_count; i++)
        memcpy(shown.ns[i - 1], pairs->ns[i], sizeof shown.ns[0]);
    enter_figure(fills->run, &shown, op, HITS_0);
}

void match_fills(struct run *run) {
    struct fills fills = {.run = run};
    size_t least_parts = (size_t)(run->space.members / MOST_PART_KEYS / LEAST_ROUNDS) + 1;
    fills.parts = LEAST_ROUNDS * (least_parts < PARTS_PER_ROUND ? PARTS_PER_ROUND : least_parts);
    double end = machine_now() + 4 * run->pass->seconds * 1e9; /* for two figures, in large steps */
    for (unsigned fill = 0; fill < MOST_FILLS && !run->error && (fill == 0 || machine_now() < end); fill++)
        fill_once(&fills);
    for (size_t i = 0; i < run->rival_count; i++)
        if (run->rivals[i].capacity < run->shared) run->shared = run->rivals[i].capacity;
    if (run->error) return;
    enter_fill(&fills, OP_FILL_MANY, BY_BATCH);
    enter_fill(&fills, OP_FILL, BY_CALL);
}
