/*
 * One operation of a filter beside the machine's limit and its rivals, by the protocol of pairs.c.
 *
 * Contender 0 is the filter, 1 is the limit, then come the rivals that have this operation. All get
 * the same keys in a round. A filter that fits into the third-level cache is brought there before
 * its turn, by the same calls with members: the others have pushed it out meanwhile.
 *
 * Queries are made of the full filter; misses are non-members, keys with numbers that no filter
 * reaches. Changes (adds, removes) are half hits. Adds are timed while the filter is between half
 * full and full: the first half of the members is always in, so hits are drawn from it, and new
 * keys come from the second half in order. Removes take the second half out, and their misses are
 * non-members. When the second half is used up the filter is filled anew, off the clock.
 *
 *     0 ........ half ........... next ........ members         far beyond
 *     [ hits of adds )[ added or removed )[ to be changed )     [ misses of queries and removes
 *     [ hits of queries                              )
 */
#include "inline_calls.h"
#include "run.h"

#include <string.h>

enum { SINGLE_SHARE = 4 /* a turn of single calls has fewer keys than one of a batch call */ };

/* Filters up to this size are timed in the cache: a core's share of the third-level one. */
static const uint64_t cached_bytes = 32 * MIB;

/* --- keys --- */

int is_hit(enum hit_share hits, uint64_t random) {
    return hits == HITS_100 || (hits == HITS_50 && (random >> 7 & 1));
}

void make_queries(struct run *run, enum hit_share hits, size_t n) {
    uint64_t members = run->shared ? run->shared : run->space.members;
    for (size_t i = 0; i < n; i++) {
        uint64_t random = key_random(run->drawn++);
        run->pass->keys[i] = is_hit(hits, random) ? key_random_member(&run->space, random, members)
                                                  : key_non_member(&run->space, run->drawn);
    }
}

void count_false_positives(struct run *run, size_t n) {
    for (size_t i = 0; i < n; i++) run->false_positives += run->pass->answers[i];
    run->non_member_queries += n;
}

/* Half hits, for the operation; uses members from run->next on. */
static void make_changes(struct run *run, enum op op, size_t n) {
    int removes = op == OP_REMOVE_MANY;
    for (size_t i = 0; i < n; i++) {
        uint64_t random = key_random(run->drawn++);
        int takes_next = is_hit(HITS_50, random) == removes;
        if (takes_next)
            run->pass->keys[i] = key_member(&run->space, run->next++);
        else
            run->pass->keys[i] =
                removes ? key_non_member(&run->space, run->drawn) : key_random_member(&run->space, random, run->half);
    }
}

/* --- calls of the library --- */

static void add_each(struct run *run, const uint64_t *keys, size_t n) {
    int worst = 0;
    for (size_t i = 0; i < n; i++) {
        int answer = perhaps_add_u64(run->f, keys[i]);
        worst = answer < worst ? answer : worst;
    }
    run_check(run, worst);
}

static void contains_each(const perhaps *f, const uint64_t *keys, size_t n, uint8_t *answers) {
    for (size_t i = 0; i < n; i++) answers[i] = (uint8_t)perhaps_contains_u64(f, keys[i]);
}

static void call_filter(struct run *run, enum op op, const uint64_t *keys, size_t n, uint8_t *answers) {
    switch (op) {
    case OP_CONTAINS_MANY:
        run_check(run, perhaps_contains_many(run->f, &PERHAPS_KEYS_U64(keys, 0, n), answers));
        break;
    case OP_CONTAINS:
        contains_each(run->f, keys, n, answers);
        break;
    case OP_CONTAINS_INLINE:
        (run->pass->has_avx2 ? contains_inline_avx2 : contains_inline)(run->f, keys, n, answers);
        break;
    case OP_ADD_INLINE:
        (run->pass->has_avx2 ? add_inline_avx2 : add_inline)(run->f, keys, n);
        break;
    case OP_ADD_MANY:
    case OP_FILL_MANY:
        run_check(run, perhaps_add_many(run->f, &PERHAPS_KEYS_U64(keys, 0, n), NULL));
        break;
    case OP_ADD:
    case OP_FILL:
        add_each(run, keys, n);
        break;
    default:
        run_check(run, perhaps_remove_many(run->f, &PERHAPS_KEYS_U64(keys, 0, n), answers));
    }
}

double time_call(struct run *run, enum op op, size_t from, size_t n) {
    double begin = machine_worked();
    call_filter(run, op, run->pass->keys + from, n, run->pass->answers);
    return machine_worked() - begin;
}

/* --- turns --- */

struct match {
    struct run *run;
    enum op op;
    enum hit_share hits;
    size_t from, keys; /* of a turn, in the pass */
    size_t warm_keys;  /* before it */
    const uint64_t *warm;
    struct rival_filter *rivals[MOST_RIVALS];
};

static int is_query(enum op op) {
    return op == OP_CONTAINS_MANY || op == OP_CONTAINS || op == OP_CONTAINS_INLINE;
}

/* What a rival does meanwhile: its single calls are inline. */
static enum op rival_op(enum op op) {
    if (op == OP_CONTAINS_INLINE) return OP_CONTAINS;
    return op == OP_ADD_INLINE ? OP_ADD : op;
}

/* The time of some keys in all; nothing for none. */
static double time_contender(struct match *match, size_t contender, const uint64_t *keys, size_t n) {
    struct run *run = match->run;
    enum limit_op limit_op = is_query(match->op) ? LIMIT_LOAD : LIMIT_RMW;
    if (n == 0) return 0;
    if (contender == 1) return limit_turn(run->limit, limit_op, run->cell->limit_lines, keys, n) * (double)n;
    double begin = machine_worked();
    if (contender == 0) {
        call_filter(run, match->op, keys, n, run->pass->answers);
    } else {
        struct rival_filter *r = match->rivals[contender - 2];
        r->rival->calls[rival_op(match->op)](r, keys, n, run->pass->answers);
    }
    return machine_worked() - begin;
}

static double turn(void *context, size_t contender) {
    struct match *match = context;
    struct run *run = match->run;
    time_contender(match, contender, match->warm, match->warm_keys);
    double time = time_contender(match, contender, run->pass->keys + match->from, match->keys);
    if (contender == 0 && match->hits == HITS_0) count_false_positives(run, match->keys);
    return run->error ? -1 : time / (double)match->keys;
}

static void prepare_queries(void *context) {
    struct match *match = context;
    match->from = match->from + 2 * match->keys <= PASS_KEYS ? match->from + match->keys : 0;
}

static void prepare_changes(void *context) {
    struct match *match = context;
    struct run *run = match->run;
    if (run->next + match->keys > run->space.members) {
        run_check(run, perhaps_clear(run->f));
        refill(run, 0, match->op == OP_REMOVE_MANY ? run->space.members : run->half);
        run->next = run->half;
    }
    make_changes(run, match->op, match->keys);
}

/* --- figures --- */

static size_t list_rivals(struct run *run, enum op op, struct rival_filter *rivals[MOST_RIVALS]) {
    size_t count = 0;
    for (size_t i = 0; i < run->rival_count; i++)
        if (run->rivals[i].rival->calls[rival_op(op)]) rivals[count++] = &run->rivals[i];
    return count;
}

static void enter_original(struct versus *versus, const struct pairs *pairs, struct rival_filter **rivals, size_t i) {
    const struct rival *kept = rivals[i]->rival->kept;
    for (size_t j = 0; kept && j < i; j++) {
        if (rivals[j]->rival != kept) continue;
        versus->kept = kept->name;
        versus->kept_ratio = pairs_ratio(pairs, j + 2, i + 2);
    }
}

void enter_figure(struct run *run, const struct pairs *pairs, enum op op, enum hit_share hits) {
    struct cell *cell = run->cell;
    struct rival_filter *rivals[MOST_RIVALS];
    size_t count = list_rivals(run, op, rivals);
    if (cell->figure_count == MOST_FIGURES) return;
    struct figure *figure = &cell->figures[cell->figure_count++];
    *figure = (struct figure){.op = op, .hits = hits, .ns = pairs_time(pairs, 0), .versus_count = 1 + count};
    for (size_t i = 0; i < figure->versus_count; i++) {
        struct versus *versus = &figure->versus[i];
        versus->name = i ? rivals[i - 1]->rival->name : "limit";
        versus->ns = pairs_time(pairs, i + 1);
        versus->ratio = pairs_ratio(pairs, 0, i + 1);
        if (i) enter_original(versus, pairs, rivals, i - 1);
    }
}

static void play(struct run *run, struct match *match, void (*prepare)(void *)) {
    struct pairs pairs;
    struct pairs_game game = {.contenders = 2 + list_rivals(run, match->op, match->rivals),
                              .seconds = run->pass->seconds,
                              .context = match,
                              .prepare = prepare,
                              .turn = turn};
    if (!run->error && pairs_run(&pairs, &game) == 0) enter_figure(run, &pairs, match->op, match->hits);
}

/* Rivals whose arrays began with random words have only the hits of this pass to find. */
static void add_hits(struct run *run, const uint64_t *keys, size_t n) {
    for (size_t i = 0; i < run->rival_count; i++) {
        struct rival_filter *r = &run->rivals[i];
        rival_call *add = r->rival->calls[OP_ADD_MANY] ? r->rival->calls[OP_ADD_MANY] : r->rival->calls[OP_ADD];
        if (add) add(r, keys, n, run->pass->answers);
    }
}

/* The hits among the queries; made once more from the same random numbers. */
static void add_query_hits(struct run *run, enum hit_share hits) {
    enum { SOME = 4096 };
    uint64_t keys[SOME], first = run->drawn - PASS_KEYS;
    size_t n = 0;
    for (size_t i = 0; i < PASS_KEYS; i++) {
        if (is_hit(hits, key_random(first + i))) keys[n++] = run->pass->keys[i];
        if (n < SOME && i + 1 < PASS_KEYS) continue;
        add_hits(run, keys, n);
        n = 0;
    }
}

/* As many members as touch most cache lines of a filter that the cache holds. */
static size_t warm_keys(const struct run *run) {
    if (run->cell->bytes > cached_bytes) return 0;
    uint64_t n = 2 * run->cell->bytes / 64 / run->cell->limit_lines;
    return n < run->space.members ? (size_t)n : (size_t)run->space.members;
}

static size_t turn_keys(const struct run *run, enum op op) {
    size_t n = op == OP_CONTAINS_MANY || op == OP_ADD_MANY ? run->pass_keys : run->pass_keys / SINGLE_SHARE;
    return is_query(op) || n < run->half ? n : (size_t)run->half;
}

void match_queries(struct run *run, enum op op, enum hit_share hits) {
    struct match match = {.run = run, .op = op, .hits = hits, .keys = turn_keys(run, op), .warm_keys = warm_keys(run)};
    match.warm = run->pass->keys + PASS_KEYS - match.warm_keys;
    make_queries(run, hits, PASS_KEYS);
    if (run->space.members > MOST_REAL_MEMBERS) add_query_hits(run, hits);
    play(run, &match, prepare_queries);
}

void match_changes(struct run *run, enum op op) {
    struct match match = {.run = run, .op = op, .hits = HITS_50, .keys = turn_keys(run, op)};
    if (op != OP_REMOVE_MANY) match.warm_keys = warm_keys(run);
    match.warm = run->pass->keys + PASS_KEYS - match.warm_keys;
    for (size_t i = 0; i < match.warm_keys; i++)
        run->pass->keys[PASS_KEYS - 1 - i] = key_random_member(&run->space, key_random(run->drawn++), run->half);
    run->next = run->half;
    play(run, &match, prepare_changes);
}
