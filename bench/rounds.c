/*
 * One filter of the library, filled and timed beside the machine's limit.
 *
 * Adding with hits is timed while the filter is between half full and full: the first half of the
 * members is always in, so hits are drawn from it, and new keys come from the second half in order.
 * A filter too small for all the keys of a pass is cleared and half filled again in between, off
 * the clock. Then the rest of the keys is added and queries are timed on the full filter; misses
 * are non-members, keys with numbers that no filter reaches.
 *
 *     0 ........ half ........... next ........ members         far beyond
 *     [ hits of adds )[ added by passes )[ to be added )        [ misses of queries and removes
 *     [ hits of queries, once all are in             )
 *
 * Kinds that can forget differ in three ways. Adding new keys is timed over whole fills (fills.c).
 * In a multiset a key that is there already is stored once more, so there is no such thing as a hit
 * and nothing else is timed. And in the end keys are removed: those of the second half, in order;
 * when they are used up, the filter is filled again.
 *
 * Rounds of the limit and of the filter take turns, so that whatever else the machine does hits
 * both. Of all rounds the best counts, for both. Every other round goes through the hit rates
 * backwards: none of them is always the first, which finds the caches cold.
 */
#include "rounds.h"

enum {
    LEAST_ROUNDS = 3,
    MOST_ROUNDS = 24,
    COUNTER_BITS = 4, /* of the textbook's counting filter */
    /* Members of a kind that holds integers: its speed does not depend on how full it is. */
    MOST_INTEGERS = 1 << 24
};

/* From these bytes on the textbook's cuckoo filter (a power of two) takes too long to fill. */
static const uint64_t no_textbook_fill = (uint64_t)256 << 20;

const int hits_percent[HITS_COUNT] = {0, 50, 100};
const char *const op_names[OP_COUNT] = {"add", "add_many", "contains", "contains_many", "remove_many", "build"};
const char *const limit_op_names[LIMIT_OP_COUNT] = {"load", "rmw"};

void run_check(struct run *run, int64_t answer) {
    if (answer < 0) run->error = (int)answer;
}

void keep_best(double *best, double ns) {
    if (*best == 0 || ns < *best) *best = ns;
}

static void add_each(struct run *run, const uint64_t *keys, size_t n, uint8_t *answers) {
    for (size_t i = 0; i < n; i++) {
        int answer = perhaps_add_u64(run->f, keys[i]);
        if (answer < 0) run->error = answer;
        answers[i] = (uint8_t)answer;
    }
}

void run_call(struct run *run, enum op op, size_t from, size_t n) {
    const uint64_t *keys = run->pass->keys + from;
    uint8_t *answers = run->pass->answers + from;
    switch (op) {
    case OP_ADD:
        add_each(run, keys, n, answers);
        break;
    case OP_ADD_MANY:
        run_check(run, perhaps_add_many(run->f, &PERHAPS_KEYS_U64(keys, 0, n), answers));
        break;
    case OP_CONTAINS:
        for (size_t i = 0; i < n; i++) answers[i] = (uint8_t)perhaps_contains_u64(run->f, keys[i]);
        break;
    case OP_CONTAINS_MANY:
        run_check(run, perhaps_contains_many(run->f, &PERHAPS_KEYS_U64(keys, 0, n), answers));
        break;
    default:
        run_check(run, perhaps_remove_many(run->f, &PERHAPS_KEYS_U64(keys, 0, n), answers));
    }
}

/* Decides position by position whether the key there is a hit: 50 % in random order. */
static int is_hit(enum hits hits, uint64_t random) {
    return hits == HITS_100 || (hits == HITS_50 && (random >> 7 & 1));
}

/* --- adding and removing --- */

/* How many of the second half a segment uses up: new keys of adds, members of removes. */
static size_t used_up(enum op op, enum hits hits, size_t length) {
    return hits == (op == OP_REMOVE_MANY ? HITS_0 : HITS_100) ? 0 : length;
}

/* Where a segment begins: after the last one, or at the half when the second half is used up. */
static uint64_t segment_start(const struct run *run, uint64_t next, size_t used) {
    return next + used > run->space.members ? run->half : next;
}

static size_t segment_length(const struct run *run, size_t rest) {
    return rest < run->half ? rest : (size_t)run->half;
}

/* The key at one position of a pass; `number` is that of the second half which is due there. */
static uint64_t change_key(struct run *run, enum op op, enum hits hits, uint64_t number) {
    uint64_t random = key_random(run->drawn++);
    int hit = is_hit(hits, random);
    if (op == OP_REMOVE_MANY && !hit) return key_non_member(&run->space, run->drawn);
    if (op != OP_REMOVE_MANY && hit) return key_random_member(&run->space, random, run->half);
    return key_member(&run->space, number);
}

/* Keys for a pass of adds or removes, in the segments in which time_changes will change them. */
static void make_changes(struct run *run, enum op op, enum hits hits, size_t n) {
    uint64_t next = run->next;
    for (size_t done = 0; done < n;) {
        size_t length = segment_length(run, n - done), used = used_up(op, hits, length);
        uint64_t start = segment_start(run, next, used);
        for (size_t i = 0; i < length; i++) run->pass->keys[done + i] = change_key(run, op, hits, start + i);
        next = start + used;
        done += length;
    }
}

/* Half full, so that new keys can be added; or full, so that keys can be removed. */
static void begin_again(struct run *run, enum op op) {
    run_check(run, perhaps_clear(run->f));
    refill(run, 0, op == OP_REMOVE_MANY ? run->space.members : run->half);
}

static double time_changes(struct run *run, enum op op, enum hits hits, size_t n) {
    double time = 0;
    for (size_t done = 0; done < n;) {
        size_t length = segment_length(run, n - done), used = used_up(op, hits, length);
        uint64_t start = segment_start(run, run->next, used);
        if (start < run->next) begin_again(run, op);
        double begin = machine_worked();
        run_call(run, op, done, length);
        time += machine_worked() - begin;
        run->next = start + used;
        done += length;
    }
    return time;
}

static void change_round(struct run *run, enum op op, enum hits hits, size_t n) {
    make_changes(run, op, hits, n);
    keep_best(&run->cell->ns[op][hits], time_changes(run, op, hits, n) / (double)n);
}

static void add_round(struct run *run, enum hits hits) {
    change_round(run, OP_ADD_MANY, hits, run->pass_keys);
    change_round(run, OP_ADD, hits, run->pass_keys / 4);
}

static void remove_round(struct run *run, enum hits hits) {
    change_round(run, OP_REMOVE_MANY, hits, run->pass_keys / 4);
}

/* --- queries --- */

void make_queries(struct run *run, enum hits hits, size_t n) {
    for (size_t i = 0; i < n; i++) {
        uint64_t random = key_random(run->drawn++);
        run->pass->keys[i] = is_hit(hits, random) ? key_random_member(&run->space, random, run->space.members)
                                                  : key_non_member(&run->space, run->drawn);
    }
}

double time_queries(struct run *run, enum op op, enum hits hits, size_t n) {
    double begin = machine_worked();
    run_call(run, op, 0, n);
    double time = machine_worked() - begin;
    if (hits == HITS_0) {
        for (size_t i = 0; i < n; i++) run->false_positives += run->pass->answers[i];
        run->non_member_queries += n;
    }
    return time;
}

/* Queries the textbook's filter, whose hits have been added in textbook_prepare. */
static void textbook_round(struct run *run, enum hits hits) {
    size_t n = run->pass_keys / 4;
    for (size_t i = 0; i < n; i++) {
        uint64_t random = key_random(run->drawn++);
        run->pass->keys[i] = is_hit(hits, random) ? key_number(i) : random;
    }
    double begin = machine_worked();
    run->limit->kept += textbook_contains(run->book, run->pass->keys, n, run->pass->answers);
    keep_best(&run->cell->textbook_ns[hits], (machine_worked() - begin) / (double)n);
}

static void query_round(struct run *run, enum hits hits) {
    static const enum op ops[] = {OP_CONTAINS_MANY, OP_CONTAINS};
    for (size_t i = 0; i < 2; i++) {
        size_t n = ops[i] == OP_CONTAINS ? run->pass_keys / 4 : run->pass_keys;
        make_queries(run, hits, n);
        keep_best(&run->cell->ns[ops[i]][hits], time_queries(run, ops[i], hits, n) / (double)n);
    }
    if (run->book) textbook_round(run, hits);
}

static int textbook_prepare(struct run *run, struct textbook *book, unsigned cell_bits) {
    if (textbook_open(book, run->cell->bytes, cell_bits) < 0) return -1;
    for (size_t i = 0; i < run->pass_keys / 4; i++) run->pass->keys[i] = key_number(i);
    textbook_add(book, run->pass->keys, run->pass_keys / 4);
    run->book = book;
    return 0;
}

/* --- a whole filter --- */

/* Rounds of one limit and of the filter in turn, at these hit rates, until the time is up. */
static void take_turns(struct run *run, enum limit_op limit_op, enum hits from, void round(struct run *, enum hits)) {
    double end = machine_now() + run->pass->seconds * 1e9;
    for (unsigned turn = 0; turn < MOST_ROUNDS && (turn < LEAST_ROUNDS || machine_now() < end); turn++) {
        if (run->error) return;
        limit_round(run->limit, limit_op, run->cell->limit_lines, run->pass->keys, run->pass_keys);
        for (unsigned i = from; i < HITS_COUNT; i++) round(run, turn % 2 ? HITS_COUNT - 1 - (i - from) : i);
    }
}

static void prepare(struct run *run, const struct perhaps_info *info) {
    struct cell *cell = run->cell;
    cell->kind = info->kind_name;
    cell->can = info->can;
    cell->items = info->capacity;
    cell->limit_lines = info->lines < USUAL_LIMIT_LINES ? info->lines : USUAL_LIMIT_LINES;
    cell->bits_per_key = info->bits_per_key;
    run->space = key_space_all(info->capacity);
    if (!(info->traits & PERHAPS_TAKES_BYTES)) { /* integers of a range */
        uint64_t members = info->capacity / 2;
        run->space = key_space_below(info->capacity, members < MOST_INTEGERS ? members : MOST_INTEGERS);
    }
    run->half = run->next = run->space.members / 2;
    run->pass_keys = info->lines > USUAL_LIMIT_LINES ? PASS_KEYS / 4 : PASS_KEYS;
}

/* From an empty filter to a full one. */
static void time_adding(struct run *run) {
    struct pass *pass = run->pass;
    int forgets = (run->cell->can & PERHAPS_REMOVE) != 0;
    if (!(run->cell->can & PERHAPS_COUNT)) {
        pass->progress(run->cell, "filling");
        refill(run, 0, run->half);
        pass->progress(run->cell, "adding");
        make_changes(run, OP_ADD_MANY, HITS_100, PASS_KEYS);
        take_turns(run, LIMIT_RMW, forgets ? HITS_50 : HITS_0, add_round);
    }
    if (forgets) {
        time_fills(run);
    } else {
        pass->progress(run->cell, "filling");
        refill(run, run->half, run->space.members);
    }
}

/* The textbook has a filter to query for two kinds, and one to fill for another. */
static int time_queries_of(struct run *run, int kind) {
    struct textbook book = {0};
    unsigned cell_bits = kind == PERHAPS_BLOOM ? 1 : kind == PERHAPS_COUNTING ? COUNTER_BITS : 0;
    if (cell_bits && textbook_prepare(run, &book, cell_bits) < 0) return PERHAPS_ENOMEM;
    run->pass->progress(run->cell, "querying");
    take_turns(run, LIMIT_LOAD, HITS_0, query_round);
    textbook_close(&book);
    run->cell->fpr = (double)run->false_positives / (double)run->non_member_queries;
    return run->error;
}

static int time_removing(struct run *run) {
    run->pass->progress(run->cell, "removing");
    run->next = run->half;
    take_turns(run, LIMIT_RMW, HITS_0, remove_round);
    return run->error;
}

int rounds_run(struct cell *cell, perhaps *f, struct limit *limit, struct pass *pass) {
    struct run run = {.cell = cell, .f = f, .limit = limit, .pass = pass};
    struct perhaps_info info = {.size = sizeof info};
    int error = perhaps_info(f, &info);
    if (error < 0) return error;
    prepare(&run, &info);
    time_adding(&run);
    error = run.error ? run.error : time_queries_of(&run, info.kind);
    if (!error && cell->can & PERHAPS_REMOVE) error = time_removing(&run);
    if (!error && info.kind == PERHAPS_CUCKOO && cell->bytes < no_textbook_fill)
        error = time_textbook_fill(&run) < 0 ? PERHAPS_ENOMEM : 0;
    return error;
}
