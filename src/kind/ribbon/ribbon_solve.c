/*
 * Solving a part of a ribbon filter: the levels in turn, each with the keys that the one before it
 * bumped.
 *
 * A level's keys are brought into the order of the rows in which they start. Each is an equation:
 * the parity of the rows that it takes is its print. Elimination goes on key by key: a key whose
 * first row nobody has yet gets that row; else the equation of the one that has it is added, which
 * moves its first row on, up to 63 rows. What comes to nothing contradicts the others, or follows
 * from them. At the end, each row follows from those behind it, from the last to the first.
 *
 *     bucket                0..23        24..63        64..127        rows in it where keys start
 *     order of insertion    third        second        first
 *
 * Of each bucket, those who start late go first, in three groups. If there is a contradiction in a
 * group, it is taken back, and all keys of it and of those that follow it in this bucket are
 * bumped: two bits say which.
 *
 * A large level is cut into REGIONS of the same number of buckets. All keys of the last bucket of
 * each are bumped, so that no key reaches from one to the next, and all can be worked on at the
 * same time: what a step takes is mostly waiting for the step before it.
 *
 * The last level bumps nobody. If it has a contradiction, the levels behind the first are placed
 * anew, with another seed. With the sizes below that happens less than once in a hundred times, so
 * that SEEDS of them fail with a chance below 2^-400. The first level has no seed: it fails only if
 * half of all keys were bumped, for which half of the buckets (32 at least) would have to be bumped
 * as a whole, as less than one in a thousand is: a chance below 2^-100.
 *
 * Invariants
 *   I1  an equation in rows[] stands at its first row, which is its bit 0; rows[r] = 0 means that
 *       row r has none.
 *   I2  the equations in rows[] have the same solutions as those of all keys that were inserted and
 *       not taken back.
 *   I3  the rows that a group took are in place[]; within a region, no later group has changed
 *       them, so that clearing them takes the group back.
 *   I4  a key is in exactly one level: it is inserted, or it starts before its bucket's limit and
 *       is in bumped[].
 *   I5  no equation of a region reaches a row of the next one.
 */
#include "static/key_sort.h"
#include "kind/ribbon/ribbon_layout.h"

enum { SOLVED_AT_ONCE = 8 }; /* columns; RIBBON_COLUMNS_MAX is a multiple of it */
enum { REGIONS = 4, REGION_BUCKETS_MIN = 256 };
enum { KEYS_FOR_BUCKETS = 4096 };     /* a level of fewer is the last one */
enum { BUCKET_KEYS_MAX = 256 };       /* keys of a bucket with more are bumped */
enum { ROWS_FOR_1024 = 1003 };        /* rows of a level for 1024 keys */
enum { LAST_ROWS_FOR_8 = 9 };         /* and of the last level for 8 keys */
enum { BUMPED_PART = 2, SEEDS = 64 }; /* no more than half is bumped */

/* A level that is being solved. */
struct work {
    const uint64_t *layout;
    enum isa isa;
    unsigned level;
    uint64_t seed, size, starts;
    const uint64_t *places; /* in order */
    uint64_t n;
    uint64_t *bumped, *other; /* places in the next level, in any order; and room for as many */
    uint64_t bumped_n, bumped_max;
    bool too_many;    /* were bumped */
    uint64_t *rows;   /* equations by their first row, which is bit 0; 0: none */
    uint32_t *prints; /* the parities that they must have */
    uint64_t *words;  /* the level's: thresholds and blocks */
    uint32_t print_mask;
    uint64_t back; /* what makes a key of a place */
};

/* ---- equations ---- */

struct equation {
    uint64_t rows;
    uint32_t start, print;
};

static inline uint64_t start_of(const struct work *w, uint64_t i) {
    uint64_t place = w->level ? w->places[i] : place_in_part(w->places[i], w->layout[PARTS_BITS]);
    return mul_high_32(place, (uint32_t)w->starts);
}

static inline struct equation equation_of(const struct work *w, uint64_t i) {
    uint64_t key = w->level ? w->places[i] * w->back ^ w->seed : w->places[i];
    return (struct equation){ribbon_rows(key), (uint32_t)start_of(w, i), ribbon_print(key) & w->print_mask};
}

/* ---- buckets ---- */

/* The region that is being filled: its buckets, from `bucket` to `end`. */
struct stream {
    uint64_t bucket, end, next; /* next: key after those of this bucket */
    unsigned group, cut[4];     /* group g has the equations cut[g+1]..cut[g]-1 */
    unsigned at, placed;
    struct equation equation[BUCKET_KEYS_MAX];
    uint32_t place[BUCKET_KEYS_MAX];
};

static void bump(struct work *w, uint64_t begin, uint64_t end) {
    if (end - begin > w->bumped_max - w->bumped_n) w->too_many = true;
    if (w->too_many) return;
    for (uint64_t i = begin; i < end; i++)
        w->bumped[w->bumped_n++] = (w->level ? w->places[i] : w->places[i] ^ w->seed) * RIBBON_STRIDE;
}

static void set_threshold(struct work *w, uint64_t bucket, unsigned threshold) {
    w->words[bucket / RIBBON_WORD_THRESHOLDS] |= (uint64_t)threshold
                                                 << bucket % RIBBON_WORD_THRESHOLDS * RIBBON_THRESHOLD_BITS;
}

/* The first key of those from `begin` on that starts in that row or later. */
static uint64_t first_from(const struct work *w, uint64_t begin, uint64_t row) {
    uint64_t end = w->n;
    while (begin < end) {
        uint64_t middle = begin + (end - begin) / 2;
        if (start_of(w, middle) < row)
            begin = middle + 1;
        else
            end = middle;
    }
    return begin;
}

/* Equations of the next bucket. False if it has too many. */
static bool read_bucket(const struct work *w, struct stream *s) {
    uint64_t first = s->bucket * RIBBON_BUCKET_ROWS;
    unsigned n = 0, low = 0, high = 0;
    for (; s->next < w->n; n++, s->next++) {
        if (n == BUCKET_KEYS_MAX) return false;
        struct equation e = equation_of(w, s->next);
        if (e.start >= first + RIBBON_BUCKET_ROWS) break;
        s->equation[n] = e;
        low += e.start < first + RIBBON_LIMIT_LOW;
        high += e.start < first + RIBBON_LIMIT_HIGH;
    }
    s->cut[0] = n;
    s->cut[1] = high;
    s->cut[2] = low;
    s->cut[3] = 0;
    return true;
}

static void bump_whole_bucket(struct work *w, struct stream *s, uint64_t begin) {
    s->next = first_from(w, begin, (s->bucket + 1) * RIBBON_BUCKET_ROWS);
    bump(w, begin, s->next);
    set_threshold(w, s->bucket, RIBBON_BUMP_ALL);
}

/* Goes on to the next bucket that has keys to insert; false at the region's end, the last bucket of
 * which stays for the overhang. */
static bool next_bucket(struct work *w, struct stream *s) {
    for (; s->bucket < s->end; s->bucket++) {
        uint64_t begin = s->next;
        bool border = s->bucket + 1 == s->end && s->end != w->size;
        if (!border && read_bucket(w, s)) {
            s->group = 0;
            return true;
        }
        bump_whole_bucket(w, s, begin);
    }
    return false;
}

/* Goes on to the next group that has keys; false at the region's end. */
static bool next_group(struct work *w, struct stream *s) {
    for (;;) {
        for (; s->group < 3; s->group++) {
            s->at = s->cut[s->group + 1];
            s->placed = 0;
            if (s->at < s->cut[s->group]) return true;
        }
        s->bucket++;
        if (!next_bucket(w, s)) return false;
    }
}

/* Takes the group back in which there is a contradiction, and bumps it and those that would
 * follow. */
static void give_up_group(struct work *w, struct stream *s) {
    for (unsigned i = 0; i < s->placed; i++) w->rows[s->place[i]] = w->prints[s->place[i]] = 0;
    uint64_t begin = s->next - s->cut[0];
    bump(w, begin, begin + s->cut[s->group]);
    set_threshold(w, s->bucket, RIBBON_BUMP_ALL - s->group);
    s->group = 2;
    s->at = s->cut[2];
}

/* The next equation to insert. */
static inline bool next_equation(struct work *w, struct stream *s, struct equation *e) {
    if (s->at == s->cut[s->group]) {
        s->group++;
        if (!next_group(w, s)) return false;
    }
    *e = s->equation[s->at++];
    return true;
}

static bool begin_region(struct work *w, struct stream *s, uint64_t begin, uint64_t end) {
    s->bucket = begin;
    s->end = end;
    s->next = first_from(w, 0, begin * RIBBON_BUCKET_ROWS);
    return next_bucket(w, s) && next_group(w, s);
}

/* Begins with all regions of a level; how many have keys. */
static unsigned begin_regions(struct work *w, struct stream s[REGIONS], struct equation e[REGIONS]) {
    unsigned regions = w->size / REGIONS >= REGION_BUCKETS_MIN ? REGIONS : 1, begun = 0;
    for (unsigned i = 0; i < regions; i++) {
        if (!begin_region(w, &s[begun], w->size * i / regions, w->size * (i + 1) / regions)) continue;
        e[begun] = s[begun].equation[s[begun].at++];
        begun++;
    }
    return begun;
}

/* ---- what takes the time, for each instruction set ---- */

/* A template: each instruction set brings solve_block(), and ribbon_fill.h makes the rest. */
#define FOR_SCALAR "kind/ribbon/ribbon_rows_scalar.h"
#define FOR_AVX2   "kind/ribbon/ribbon_rows_scalar.h"
#define FOR_AVX512 "kind/ribbon/ribbon_rows_avx512.h"
#define TARGET_512 TARGET_AVX512_POPCOUNT
#define TEMPLATE   "kind/ribbon/ribbon_fill.h"
#include "base/each_isa.h"

/* False if the last level has a contradiction. */
static bool fill_and_solve(struct work *w) {
#if defined(__x86_64__)
    if (isa_counts_bits(w->isa)) return fill_and_solve_avx512(w);
    if (w->isa == ISA_AVX512 || w->isa == ISA_AVX2) return fill_and_solve_avx2(w);
#endif
    return fill_and_solve_scalar(w);
}

/* ---- levels ---- */

/* A level's size for n keys; see ribbon_layout.h. */
static uint64_t size_for(uint64_t n, unsigned level) {
    if (level == RIBBON_LAST) return (n * LAST_ROWS_FOR_8 / 8 + RIBBON_ROWS - 1) / RIBBON_ROWS;
    return n < KEYS_FOR_BUCKETS ? 0 : n * ROWS_FOR_1024 / 1024 / RIBBON_BUCKET_ROWS + 1;
}

/* The share that is bumped varies little; about 1/40 of a level. */
enum { BUMPED_OF_1024 = 25 };

uint64_t ribbon_words_for(const uint64_t layout[LAYOUT_WORDS], uint64_t parts, uint64_t keys) {
    uint64_t words = 0;
    for (unsigned level = 0; level < RIBBON_LEVELS; level++) {
        uint64_t size = size_for(keys, level);
        words += level_words(layout, size, level);
        if (size) keys = (keys * BUMPED_OF_1024 + 1023) / 1024;
    }
    return parts * words;
}

uint64_t ribbon_start_blocks(uint64_t keys) {
    unsigned level = size_for(keys, 0) ? 0 : RIBBON_LAST;
    return level_start_blocks(size_for(keys, level), level);
}

void ribbon_settle(uint64_t layout[LAYOUT_WORDS], uint64_t keys) {
    (void)layout, (void)keys;
}

static void clear(struct work *w) {
    uint64_t rows = level_blocks(w->size, w->level) * RIBBON_ROWS;
    memset(w->words, 0, (size_t)level_words(w->layout, w->size, w->level) * sizeof *w->words);
    memset(w->rows, 0, (size_t)rows * sizeof *w->rows);
    memset(w->prints, 0, (size_t)rows * sizeof *w->prints);
}

/* Solves a level, whose places are in order. False: another seed must be tried. */
static bool solve_level(struct work *w) {
    w->starts = level_start_blocks(w->size, w->level) * RIBBON_ROWS;
    clear(w);
    if (!fill_and_solve(w)) return false;
    w->words += level_words(w->layout, w->size, w->level);
    return true;
}

/* Keys that a level may bump: half of them, or, if it has no size, all. More are bumped only if
 * somebody chose them for it; data_for relies on the limit. */
static uint64_t bumped_for(uint64_t n) {
    return n < KEYS_FOR_BUCKETS ? n : n / BUMPED_PART;
}

/* Goes on with the bumped keys. */
static void go_on(struct work *w) {
    uint64_t *bumped = w->bumped;
    w->bumped = w->other;
    w->other = bumped;
    sort_keys(bumped, w->bumped_n, w->bumped);
    w->places = bumped;
    w->n = w->bumped_n;
    w->bumped_n = 0;
    w->bumped_max = bumped_for(w->n);
    w->level++;
    w->back *= RIBBON_STRIDE_BACK;
}

/* A level without size bumps everybody. */
static bool solve_levels(struct work *w, uint64_t sizes[RIBBON_LEVELS]) {
    for (;; go_on(w)) {
        w->size = sizes[w->level] = size_for(w->n, w->level);
        if (w->size && !solve_level(w)) return false;
        if (w->level == RIBBON_LAST) return true;
        if (!w->size) bump(w, 0, w->n);
    }
}

/* ---- the part ---- */

/* From here on, memory for n keys is enough for fewer, since equal ones are left out later. */

/* Rows of the largest level. */
static uint64_t rows_for(uint64_t n) {
    uint64_t few = smaller_of(n, KEYS_FOR_BUCKETS), last = few > n / BUMPED_PART ? few : n / BUMPED_PART;
    uint64_t blocks = level_blocks(size_for(n, 0), 0),
             last_blocks = level_blocks(size_for(last, RIBBON_LAST), RIBBON_LAST);
    return (blocks > last_blocks ? blocks : last_blocks) * RIBBON_ROWS;
}

/* Words of data, at most: each level has at most half of the keys of the one before it. */
static uint64_t data_for(const uint64_t layout[LAYOUT_WORDS], uint64_t n) {
    uint64_t blocks = rows_for(n) / RIBBON_ROWS;
    return (2 * blocks + 4 * RIBBON_LEVELS) * (ribbon_columns(layout) + 2);
}

/* Bumped keys, twice. */
static uint64_t spare_for(uint64_t n) {
    return n + smaller_of(n, KEYS_FOR_BUCKETS);
}

uint64_t ribbon_room(const uint64_t layout[LAYOUT_WORDS], uint64_t n) {
    uint64_t rows = rows_for(n);
    return data_for(layout, n) + spare_for(n) + rows + rows / 2;
}

static void write_entry(const struct work *w, uint64_t n, const uint64_t sizes[RIBBON_LEVELS],
                        uint64_t entry[ENTRY_WORDS_MAX]) {
    entry[PART_KEYS] = n;
    entry[RIBBON_PART_LEVELS] = sizes[0] | sizes[1] << 32;
    entry[RIBBON_PART_LEVELS + 1] = sizes[2] | sizes[3] << 32;
    entry[RIBBON_PART_SEED] = w->seed;
}

/* Back to the first level. */
static void begin(struct work *w, const uint64_t *keys, uint64_t n, uint64_t *spare, uint64_t *room, uint64_t attempt) {
    w->seed = mix64(attempt);
    w->level = 0;
    w->back = 1;
    w->places = keys;
    w->n = n;
    w->bumped = spare;
    w->other = spare + spare_for(n) / 2;
    w->bumped_n = 0;
    w->bumped_max = bumped_for(n);
    w->too_many = false;
    w->words = room;
}

bool ribbon_solve(const uint64_t layout[LAYOUT_WORDS], enum isa isa, uint64_t *keys, uint64_t n, uint64_t *room,
                  struct solution *solution) {
    uint64_t *spare = room + data_for(layout, n), *rows = spare + spare_for(n);
    uint64_t sizes[RIBBON_LEVELS];
    struct work w = {.layout = layout, .isa = isa, .rows = rows, .prints = (uint32_t *)(rows + rows_for(n))};
    w.print_mask = (uint32_t)((UINT64_C(1) << ribbon_columns_max(layout)) - 1);
    n = unique_keys(keys, n, spare);
    for (uint64_t attempt = 0; attempt < SEEDS; attempt++) {
        begin(&w, keys, n, spare, room, attempt);
        if (solve_levels(&w, sizes)) {
            *solution = (struct solution){.keys = n, .words = (uint64_t)(w.words - room)};
            write_entry(&w, n, sizes, solution->entry);
            return true;
        }
        if (w.level == 0) break;
    }
    return false;
}
