/*
 * Whole fills on the clock, for kinds that can forget: from the empty filter to all the keys it was
 * planned for.
 *
 * What an add costs in a cuckoo filter depends on how full it is, so the only honest figure is the
 * average over a whole fill. And a multiset stores every key it is given, so there are no hits to
 * tell apart. A fill goes in a hundred parts. Of each part all keys but one in SINGLES are added by
 * batches and the others by single calls, so that one fill gives the averages of both. The best
 * time of each part over some fills counts.
 *
 *     part     0         1         2                  99
 *          [ bbbbbbs ][ bbbbbbs ][ bbbbbbs ]  ...  [ bbbbbbs ]        b = a batch, s = single calls
 *            first 1 %                               last 1 %
 *
 * The textbook's cuckoo filter is filled once: that takes long enough to be steady.
 */
#include "rounds.h"

#include <string.h>

enum {
    PARTS = 100,
    SINGLES = 32,
    LEAST_FILLS = 2,
    MOST_FILLS = 12,
    KEYS_PER_LIMIT = 4 * PASS_KEYS /* the limit has its turn again after this many keys */
};

static const double least_fills_ns = 10e9; /* a fill that takes longer than this is not repeated */

/* The times of one kind of call in each part, and the keys. */
struct fill_times {
    double ns[PARTS];
    uint64_t keys[PARTS];
};

struct fills {
    struct fill_times best[2], now[2]; /* batches, single calls */
    uint64_t since_limit;              /* keys since the limit's last turn */
};

static const enum op fill_ops[2] = {OP_ADD_MANY, OP_ADD};

static uint64_t part_end(const struct run *run, unsigned part) {
    return run->space.members / PARTS * (part + 1) + run->space.members % PARTS * (part + 1) / PARTS;
}

/* Adds n keys of the pass; they belong to one part. */
static void add_piece(struct run *run, struct fills *fills, unsigned part, size_t from, size_t n) {
    const size_t counts[2] = {n - n / SINGLES, n / SINGLES};
    for (unsigned i = 0; i < 2; i++) {
        double begin = machine_worked();
        run_call(run, fill_ops[i], from, counts[i]);
        fills->now[i].ns[part] += machine_worked() - begin;
        fills->now[i].keys[part] += counts[i];
        from += counts[i];
    }
}

/* Adds n members, whose keys are in the pass. */
static void add_block(struct run *run, struct fills *fills, uint64_t first, size_t n) {
    unsigned part = 0;
    for (size_t done = 0; done < n && !run->error;) {
        while (part_end(run, part) <= first + done) part++;
        uint64_t rest = part_end(run, part) - first - done;
        size_t length = rest < n - done ? (size_t)rest : n - done;
        add_piece(run, fills, part, done, length);
        done += length;
    }
}

static void limit_turn(struct run *run, struct fills *fills) {
    limit_round(run->limit, LIMIT_RMW, run->cell->limit_lines, run->pass->keys, run->pass_keys);
    fills->since_limit = 0;
}

static void fill_once(struct run *run, struct fills *fills) {
    const uint64_t members = run->space.members;
    memset(fills->now, 0, sizeof fills->now);
    run_check(run, perhaps_clear(run->f));
    for (uint64_t first = 0; first < members && !run->error;) {
        size_t n = members - first < PASS_KEYS ? (size_t)(members - first) : PASS_KEYS;
        for (size_t i = 0; i < n; i++) run->pass->keys[i] = key_member(&run->space, first + i);
        if (fills->since_limit >= KEYS_PER_LIMIT) limit_turn(run, fills);
        add_block(run, fills, first, n);
        fills->since_limit += n;
        first += n;
    }
}

static void keep_best_parts(struct fills *fills) {
    for (unsigned i = 0; i < 2; i++)
        for (unsigned part = 0; part < PARTS; part++) {
            keep_best(&fills->best[i].ns[part], fills->now[i].ns[part]);
            fills->best[i].keys[part] = fills->now[i].keys[part];
        }
}

static double average(const struct fill_times *times, unsigned from, unsigned to) {
    double ns = 0, keys = 0;
    for (unsigned part = from; part < to; part++) {
        ns += times->ns[part];
        keys += (double)times->keys[part];
    }
    return keys > 0 ? ns / keys : 0;
}

void time_fills(struct run *run) {
    struct fills fills = {.since_limit = 0};
    struct cell *cell = run->cell;
    double start = machine_now(), end = start + run->pass->seconds * 1e9;
    run->pass->progress(cell, "filling");
    refill(run, 0, run->space.members / PARTS); /* the pages are there before any clock runs */
    limit_turn(run, &fills);
    for (unsigned fill = 0; fill < MOST_FILLS && !run->error; fill++) {
        double now = machine_now();
        if (fill > 0 && now > end && (fill >= LEAST_FILLS || now - start > least_fills_ns)) break;
        fill_once(run, &fills);
        keep_best_parts(&fills);
    }
    for (unsigned i = 0; i < 2; i++) cell->ns[fill_ops[i]][HITS_0] = average(&fills.best[i], 0, PARTS);
    cell->first_ns = average(&fills.best[0], 0, 1);
    cell->last_ns = average(&fills.best[0], PARTS - 1, PARTS);
}

int time_textbook_fill(struct run *run) {
    struct textbook_cuckoo book;
    if (textbook_cuckoo_open(&book, run->cell->bytes) < 0) return -1;
    run->pass->progress(run->cell, "filling the textbook's");
    double time = 0;
    for (uint64_t first = 0; first < book.capacity;) {
        size_t n = book.capacity - first < PASS_KEYS ? (size_t)(book.capacity - first) : PASS_KEYS;
        for (size_t i = 0; i < n; i++) run->pass->keys[i] = key_number(first + i);
        double begin = machine_worked();
        textbook_cuckoo_add(&book, run->pass->keys, n);
        time += machine_worked() - begin;
        first += n;
    }
    run->cell->textbook_add_ns = time / (double)book.capacity;
    textbook_cuckoo_close(&book);
    return 0;
}
