/*
 * One filter of the library, filled and timed beside the machine's limit.
 *
 * The filter's keys have the numbers 0..items-1. Adding is timed while the filter is between half full and full: the
 * first half is always in, so hits are drawn from it, and new keys come from the second half in order. A filter too
 * small for all the keys of a pass is cleared and half filled again in between, off the clock. Then the rest of the
 * keys is added and questions are timed on the full filter; misses are keys with numbers that no filter reaches.
 *
 *     0 ........ items/2 ........ next ........ items                    far beyond
 *     [ hits of adds )[ added by passes )[ to be added )                 [ misses of questions
 *     [ hits of questions, once all are in            )
 *
 * Rounds of the limit and of the filter take turns, so that whatever else the machine does hits both. Of all rounds the
 * best counts, for both. Every other round goes through the hit rates backwards: none of them is always the first, which
 * finds the caches cold.
 */
#include "measure.h"

#include <math.h>
#include <pthread.h>

enum {
    LEAST_ROUNDS = 3,
    MOST_ROUNDS = 12,
    FILL_KEYS = 4096,
    KEYS_FOR_TWO = 1 << 23 /* from so many keys on, filling is worth a second thread */
};

static const uint64_t first_miss = (uint64_t)1 << 60;

const int hits_percent[HITS_COUNT] = {0, 50, 100};
const char *const op_names[OP_COUNT] = {"add", "add_many", "contains", "contains_many"};
const char *const limit_op_names[LIMIT_OP_COUNT] = {"load", "rmw"};

struct run {
    struct cell *cell;
    perhaps *f;
    struct limit *limit;
    struct pass *pass;
    int can_merge;
    size_t pass_keys; /* in a pass of a batch call and of the limit */
    uint64_t half;    /* keys 0..half-1 are always in */
    uint64_t next;    /* the next new key; all from half to here are in, or were skipped for a hit */
    uint64_t missed;  /* misses asked for so far, so that each is asked once */
    uint64_t false_positives;
    uint64_t false_asked;
    int error; /* of the library; 0 = none */
};

uint64_t key_number(uint64_t number) {
    uint64_t x = number * 0xff51afd7ed558ccdu + 0x2545f4914f6cdd1du;
    x = (x ^ x >> 29) * 0xc4ceb9fe1a85ec53u;
    x = (x ^ x >> 32) * 0xff51afd7ed558ccdu;
    return x ^ x >> 29;
}

static void check(struct run *run, int64_t answer) {
    if (answer < 0) run->error = (int)answer;
}

/* Part of a fill: keys from..to-1 into a filter. */
struct filling {
    perhaps *f;
    uint64_t from, to;
    int error;
};

static void *fill_part(void *argument) {
    struct filling *part = argument;
    uint64_t keys[FILL_KEYS];
    for (uint64_t from = part->from; from < part->to;) {
        size_t n = part->to - from < FILL_KEYS ? (size_t)(part->to - from) : FILL_KEYS;
        for (size_t i = 0; i < n; i++) keys[i] = key_number(from + i);
        int64_t added = perhaps_add_many_u64(part->f, keys, n, NULL);
        if (added < 0) part->error = (int)added;
        from += n;
    }
    return NULL;
}

/* Half of the keys go into a copy, in a second thread, and the two become one again. 0 = that cannot be done here. */
static int fill_in_two(struct run *run, uint64_t from, uint64_t to) {
    uint64_t middle = from + (to - from) / 2;
    struct filling near = {run->f, from, middle, 0}, far = {NULL, middle, to, 0};
    pthread_t thread;
    if (perhaps_clone(run->f, &far.f) < 0) return 0;
    machine_unpin();
    int started = pthread_create(&thread, NULL, fill_part, &far) == 0;
    if (started) {
        fill_part(&near);
        pthread_join(thread, NULL);
        check(run, near.error);
        check(run, far.error);
        check(run, perhaps_merge(run->f, far.f));
    }
    machine_pin();
    perhaps_free(far.f);
    return started;
}

/* Adds the keys from..to-1, off the clock. */
static void fill(struct run *run, uint64_t from, uint64_t to) {
    if (run->can_merge && to - from >= KEYS_FOR_TWO && fill_in_two(run, from, to)) return;
    struct filling whole = {run->f, from, to, 0};
    fill_part(&whole);
    check(run, whole.error);
}

/* Decides position by position whether the key there is a hit: 50 % in random order. */
static int is_hit(enum hits hits, uint64_t random) {
    return hits == HITS_100 || (hits == HITS_50 && (random & 1));
}

static uint64_t random_below(uint64_t random, uint64_t n) {
    return n >> 32 ? random % n : (random >> 32) * n >> 32;
}

/* A key of 0..n-1. The choice must not be the key itself. */
static uint64_t random_member(uint64_t random, uint64_t n) {
    return key_number(random_below(random * 0x9e3779b97f4a7c15u, n));
}

/* Keys for a pass of questions to the full filter. */
static void make_questions(struct run *run, enum hits hits, size_t n) {
    for (size_t i = 0; i < n; i++) {
        uint64_t random = key_number(first_miss + run->missed++);
        run->pass->keys[i] = is_hit(hits, random >> 7) ? random_member(random, run->cell->items) : random;
    }
}

/* Where a segment of new keys begins: after the last one, or at the half again when the filter would get too full. */
static uint64_t segment_start(const struct run *run, uint64_t next, size_t new_keys) {
    return next + new_keys > run->cell->items ? run->half : next;
}

static size_t segment_length(const struct run *run, size_t rest) {
    return rest < run->half ? rest : (size_t)run->half;
}

/* Keys for a pass of adds, in the segments in which time_adds will add them. */
static void make_adds(struct run *run, enum hits hits, size_t n) {
    uint64_t next = run->next;
    for (size_t done = 0; done < n;) {
        size_t length = segment_length(run, n - done), new_keys = hits == HITS_100 ? 0 : length;
        uint64_t start = segment_start(run, next, new_keys);
        for (size_t i = 0; i < length; i++) {
            uint64_t random = key_number(first_miss + run->missed++);
            run->pass->keys[done + i] =
                is_hit(hits, random >> 7) ? random_member(random, run->half) : key_number(start + i);
        }
        next = start + new_keys;
        done += length;
    }
}

static void call(struct run *run, enum op op, size_t from, size_t n) {
    const uint64_t *keys = run->pass->keys + from;
    uint8_t *answers = run->pass->answers + from;
    switch (op) {
    case OP_ADD:
        for (size_t i = 0; i < n; i++) answers[i] = (uint8_t)perhaps_add_u64(run->f, keys[i]);
        break;
    case OP_ADD_MANY:
        check(run, perhaps_add_many_u64(run->f, keys, n, answers));
        break;
    case OP_CONTAINS:
        for (size_t i = 0; i < n; i++) answers[i] = (uint8_t)perhaps_contains_u64(run->f, keys[i]);
        break;
    default:
        check(run, perhaps_contains_many_u64(run->f, keys, n, answers));
    }
}

static double time_adds(struct run *run, enum op op, enum hits hits, size_t n) {
    double time = 0;
    for (size_t done = 0; done < n;) {
        size_t length = segment_length(run, n - done), new_keys = hits == HITS_100 ? 0 : length;
        uint64_t start = segment_start(run, run->next, new_keys);
        if (start < run->next) {
            check(run, perhaps_clear(run->f));
            fill(run, 0, run->half);
        }
        double begin = machine_worked();
        call(run, op, done, length);
        time += machine_worked() - begin;
        run->next = start + new_keys;
        done += length;
    }
    return time;
}

static double time_questions(struct run *run, enum op op, enum hits hits, size_t n) {
    double begin = machine_worked();
    call(run, op, 0, n);
    double time = machine_worked() - begin;
    if (hits == HITS_0) {
        for (size_t i = 0; i < n; i++) run->false_positives += run->pass->answers[i];
        run->false_asked += n;
    }
    return time;
}

static void keep_best(double *best, double ns) {
    if (ns < *best) *best = ns;
}

static void add_round(struct run *run, enum hits hits) {
    static const enum op ops[] = {OP_ADD_MANY, OP_ADD};
    for (size_t i = 0; i < 2; i++) {
        size_t n = ops[i] == OP_ADD ? run->pass_keys / 4 : run->pass_keys;
        make_adds(run, hits, n);
        keep_best(&run->cell->ns[ops[i]][hits], time_adds(run, ops[i], hits, n) / (double)n);
    }
}

static void question_round(struct run *run, enum hits hits) {
    static const enum op ops[] = {OP_CONTAINS_MANY, OP_CONTAINS};
    for (size_t i = 0; i < 2; i++) {
        size_t n = ops[i] == OP_CONTAINS ? run->pass_keys / 4 : run->pass_keys;
        make_questions(run, hits, n);
        keep_best(&run->cell->ns[ops[i]][hits], time_questions(run, ops[i], hits, n) / (double)n);
    }
}

/* Asks the textbook's filter, whose hits have been added in textbook_prepare. */
static void textbook_round(struct run *run, const struct textbook *book, enum hits hits) {
    size_t n = run->pass_keys / 4;
    for (size_t i = 0; i < n; i++) {
        uint64_t random = key_number(first_miss + run->missed++);
        run->pass->keys[i] = is_hit(hits, random >> 7) ? key_number(i) : random;
    }
    double begin = machine_worked();
    run->limit->kept += textbook_contains(book, run->pass->keys, n, run->pass->answers);
    keep_best(&run->cell->textbook_ns[hits], (machine_worked() - begin) / (double)n);
}

static int textbook_prepare(struct run *run, struct textbook *book) {
    if (textbook_open(book, run->cell->bytes) < 0) return -1;
    for (size_t i = 0; i < run->pass_keys / 4; i++) run->pass->keys[i] = key_number(i);
    textbook_add(book, run->pass->keys, run->pass_keys / 4);
    for (enum hits hits = 0; hits < HITS_COUNT; hits++) run->cell->textbook_ns[hits] = INFINITY;
    return 0;
}

/* Rounds of one limit and of the filter in turn, until the time is up. `book` may be NULL. */
static void take_turns(struct run *run, enum limit_op limit_op, const struct textbook *book) {
    double end = machine_now() + run->pass->seconds * 1e9;
    for (unsigned round = 0; round < MOST_ROUNDS && (round < LEAST_ROUNDS || machine_now() < end); round++) {
        if (run->error) return;
        limit_round(run->limit, limit_op, run->cell->limit_lines, run->pass->keys, run->pass_keys);
        for (unsigned i = 0; i < HITS_COUNT; i++) {
            enum hits hits = round % 2 ? HITS_COUNT - 1 - i : i;
            if (limit_op == LIMIT_RMW)
                add_round(run, hits);
            else
                question_round(run, hits);
            if (book) textbook_round(run, book, hits);
        }
    }
}

static void prepare(struct run *run, const struct perhaps_info *info) {
    struct cell *cell = run->cell;
    cell->kind = info->kind_name;
    cell->items = info->capacity;
    cell->limit_lines = info->lines < MOST_LIMIT_LINES ? info->lines : MOST_LIMIT_LINES;
    cell->bits_per_key = info->bits_per_key;
    for (enum op op = 0; op < OP_COUNT; op++)
        for (enum hits hits = 0; hits < HITS_COUNT; hits++) cell->ns[op][hits] = INFINITY;
    run->half = run->next = info->capacity / 2;
    run->can_merge = (info->can & PERHAPS_MERGE) != 0;
    run->pass_keys = info->lines > MOST_LIMIT_LINES ? PASS_KEYS / 4 : PASS_KEYS;
}

static void time_adding(struct run *run) {
    struct pass *pass = run->pass;
    pass->progress(run->cell, "filling");
    fill(run, 0, run->half);
    pass->progress(run->cell, "adding");
    make_adds(run, HITS_100, PASS_KEYS);
    take_turns(run, LIMIT_RMW, NULL);
    pass->progress(run->cell, "filling");
    fill(run, run->half, run->cell->items);
}

static int time_asking(struct run *run, int beside_textbook) {
    struct textbook book = {0};
    if (beside_textbook && textbook_prepare(run, &book) < 0) return PERHAPS_ENOMEM;
    run->pass->progress(run->cell, "asking");
    take_turns(run, LIMIT_LOAD, beside_textbook ? &book : NULL);
    textbook_close(&book);
    run->cell->fpr = (double)run->false_positives / (double)run->false_asked;
    return run->error;
}

int rounds_run(struct cell *cell, perhaps *f, struct limit *limit, struct pass *pass) {
    struct run run = {.cell = cell, .f = f, .limit = limit, .pass = pass};
    struct perhaps_info info = {.size = sizeof info};
    int error = perhaps_info(f, &info);
    if (error < 0) return error;
    prepare(&run, &info);
    time_adding(&run);
    return run.error ? run.error : time_asking(&run, info.kind == PERHAPS_BLOOM);
}
