/*
 * The parts of the benchmark, in the order in which a run uses them.
 *
 *     machine.c          the clock, memory in huge pages, what machine this is
 *     keys.c             the keys, by number
 *     pairs.c            the protocol: contenders in turns, and the ratios of their times
 *     limit.c            the least time that any filter could take here
 *     rivals.c           which other filters each kind is compared with; multi_block.c,
 *                        bulk_bloom.c, textbook.c, textbook_cuckoo.c, plain_fuse.c, flat_set.c,
 *                        and with Boost installed boost.cpp
 *     cells.c            a filter of the library, filled, and all its operations
 *     match.c fills.c    an operation beside the limit and the rivals; a whole fill
 *     refill.c           filling off the clock
 *     bench.c            which working sets and kinds; collects the figures below
 *     small.c            small batches
 *     bench_composite.c  composite filters and threads; growing.c, sharded.c, parallel.c, peak.c
 *     foreign.c          foreign formats
 *     static.c           building static filters
 *     bench_goals.c      which of the figures have a goal
 *     bench_compare.c    an earlier run beside this one
 *     bench_table.c      the figures as text; bench_json.c for scripts, bench_plot.c as a picture
 */
#ifndef PERHAPS_BENCH_MEASURE_H
#define PERHAPS_BENCH_MEASURE_H

#include "pairs.h"

#include <perhaps.h>
#include <stddef.h>
#include <stdint.h>

#define MIB ((uint64_t)1 << 20)

enum {
    /* Keys made at a time: 32 MiB, more than most caches. Turns take slices of them. */
    PASS_KEYS = 1 << 22,
    MOST_LIMIT_LINES = 3 /* the limit is measured for 1, 2 and 3 lines per key */
};

/* The share of the queried keys that is in the filter. */
enum hit_share { HITS_0, HITS_50, HITS_100, HITS_COUNT };
/* What is timed. A fill is all adds from empty to full, of kinds that can forget. */
enum op {
    OP_CONTAINS_MANY,
    OP_CONTAINS,
    OP_CONTAINS_INLINE, /* through a view (perhaps_inline.h), where a kind has one */
    OP_ADD_MANY,
    OP_ADD,
    OP_ADD_INLINE,
    OP_FILL_MANY,
    OP_FILL,
    OP_REMOVE_MANY,
    OP_COUNT
};
enum limit_op { LIMIT_LOAD, LIMIT_RMW, LIMIT_OP_COUNT };

extern const int hits_percent[HITS_COUNT];
extern const char *const op_names[OP_COUNT];
extern const char *const limit_op_names[LIMIT_OP_COUNT];

/* --- machine.c --- */

struct machine {
    char cpu[128];
    unsigned cores;
    uint64_t l1d, l2, l3; /* bytes; 0 = unknown */
    char huge_pages[16];  /* always, madvise, never, unknown */
    uint64_t memory;      /* bytes */
    const char *compiler;
    const char *isa; /* that the library uses */
};

void machine_describe(struct machine *machine);
/* Keeps this thread on the core where it is, so that no pass pays for a move. */
void machine_pin(void);
/* Takes that back. */
void machine_unpin(void);
/* Nanoseconds of the day's clock, for how long a user waits ... */
double machine_now(void);
/* ... and the time this thread worked, for all figures: other programs do not count. */
double machine_worked(void);
/* Nanoseconds of the day's clock for some arithmetic, in one thread or shared by two: what a second
 * thread is worth here and now. */
double machine_arithmetic(int with_two);
/* Zeroed memory in huge pages where the system has them; NULL if there is none. */
void *machine_memory(uint64_t bytes);
/* The same, but its pages come at first use: for what is made on the clock, memory included. */
void *machine_fresh_memory(uint64_t bytes);
void machine_release(void *memory, uint64_t bytes);

/* --- keys.c --- */

/* Keys by number: a bijection, so different numbers are different keys. */
uint64_t key_number(uint64_t number);

/* Which keys a filter's members and non-members are. */
struct key_space {
    uint64_t members;
    uint64_t range; /* keys are below this; 0 = any 64-bit integers */
    unsigned bits;  /* of the numbers below the range */
};

struct key_space key_space_all(uint64_t members);
struct key_space key_space_below(uint64_t range, uint64_t members); /* members < range */
uint64_t key_member(const struct key_space *space, uint64_t number);
uint64_t key_non_member(const struct key_space *space, uint64_t number);
/* A random number for each number, and the member that one chooses of the first n. */
uint64_t key_random(uint64_t number);
uint64_t key_random_member(const struct key_space *space, uint64_t random, uint64_t n);

/* --- limit.c --- */

enum line_prefetch { LINE_PREFETCH_NONE, LINE_PREFETCH_L1, LINE_PREFETCH_L2, LINE_PREFETCH_COUNT };
enum key_prefetch { KEY_PREFETCH_NONE, KEY_PREFETCH_PAST_CACHES, KEY_PREFETCH_L2, KEY_PREFETCH_COUNT };
extern const char *const line_prefetch_names[LINE_PREFETCH_COUNT];
extern const char *const key_prefetch_names[KEY_PREFETCH_COUNT];

/* One way of walking over the lines: see limit.c. */
struct limit_variant {
    unsigned depth; /* keys that the line number is worked out ahead of its use */
    enum line_prefetch line_prefetch;
    enum key_prefetch key_prefetch;
};

struct limit_figure {
    double ns; /* per key, in the trials */
    struct limit_variant best;
};

struct limit {
    uint64_t bytes;
    uint64_t *memory;
    size_t trial_start; /* which keys the last trial began with */
    struct limit_figure figures[LIMIT_OP_COUNT][MOST_LIMIT_LINES];
    uint64_t kept; /* what the loads brought, so that none can be left out */
};

/* Takes memory for a working set and finds the best ways to walk it. `keys`: PASS_KEYS of them and
 * KEYS_BEYOND more that may be read. 0, or -1 for want of memory. */
enum { KEYS_BEYOND = 128 };
int limit_open(struct limit *limit, uint64_t bytes, const uint64_t *keys);
/* Nanoseconds per key for n keys; KEYS_BEYOND more may be read. */
double limit_turn(struct limit *limit, enum limit_op op, unsigned lines, const uint64_t *keys, size_t n);
void limit_close(struct limit *limit);

/* --- cells.c --- */

enum { MOST_VERSUS = 6, MOST_FIGURES = 16 };

/* Another contender beside the filter. */
struct versus {
    const char *name;         /* "limit", or the rival's */
    struct spread ns;         /* per key */
    struct spread ratio;      /* of the filter's time to this one's */
    const char *kept;         /* the original of that rival of ours; NULL = it is ours */
    struct spread kept_ratio; /* and our rival's time to this one's */
};

/* An operation at a share of hits. */
struct figure {
    enum op op;
    enum hit_share hits;
    struct spread ns; /* per key */
    size_t versus_count;
    struct versus versus[MOST_VERSUS]; /* the first is the limit */
};

/* What came out for one kind in one working set. */
struct cell {
    const char *kind;
    const char *shape; /* which of several of its kind; NULL = the usual one */
    unsigned can;      /* set of enum perhaps_ability */
    uint64_t items;
    uint64_t bytes;
    unsigned limit_lines; /* of the limit, as the kind touches, at most MOST_LIMIT_LINES */
    double bits_per_key;
    double fpr; /* measured */
    size_t figure_count;
    struct figure figures[MOST_FIGURES];
};

/* NULL = not measured. */
const struct figure *cell_figure(const struct cell *cell, enum op op, enum hit_share hits);
const struct versus *figure_versus(const struct figure *figure, const char *name);
/* The ratio to the fastest of our rivals; NULL = there is none. */
const struct versus *figure_fastest(const struct figure *figure);

/* Room for the keys and answers of a pass, made once. */
struct pass {
    uint64_t *keys; /* PASS_KEYS + KEYS_BEYOND */
    uint8_t *answers;
    int has_avx2;   /* rivals may use it */
    double seconds; /* for each figure; rounds beyond the least end then */
    void (*progress)(const struct cell *cell, const char *what);
};

/* A filter of that kind for `items` keys, or of that many bytes if there are none. */
perhaps_want kind_want(int kind, double fpr, uint64_t bytes, uint64_t items);

/* Fills `f` and times it beside `limit` and the rivals of its kind; cell->bytes is set. 0 or an
 * enum perhaps_error. */
int cell_run(struct cell *cell, perhaps *f, struct limit *limit, struct pass *pass);

/* --- bench_composite.c --- */

/* What is no cell is measured in parts, each with its table. */
enum bench_part {
    PART_SMALL,
    PART_GROWING,
    PART_RATE,
    PART_SHARDED,
    PART_PARALLEL,
    PART_PEAK,
    PART_FOREIGN,
    PART_STATIC_SIZE,
    PART_STATIC_BUILD,
    PART_COUNT
};
enum { MOST_COLUMNS = 7 };

struct part_table {
    const char *name, *title;
    struct {
        const char *name; /* NULL past the last column */
        double goal;      /* values must be at most this; 0 = no goal */
    } columns[MOST_COLUMNS];
};

struct row {
    enum bench_part part;
    char name[40];
    struct spread values[MOST_COLUMNS]; /* low and high are 0 where there is no spread */
    double goals[MOST_COLUMNS];         /* of this row; 0 = the column's */
};

extern const struct part_table part_tables[PART_COUNT];

/* --- the figures of a run --- */

enum { MOST_SETS = 16, MOST_CELLS = 64, MOST_ROWS = 64, MOST_CHECKS = 256 };

struct figures {
    struct machine machine;
    size_t limit_count;
    struct limit limits[MOST_SETS]; /* closed; the figures remain */
    size_t cell_count;
    struct cell cells[MOST_CELLS];
    size_t row_count;
    struct row rows[MOST_ROWS];
};

/* These fill figures->rows, with filters of up to that many keys. 0 or an enum perhaps_error. */

/* Growing and sharded filters, and threads. */
int composite_run(struct figures *figures, struct pass *pass, uint64_t keys);
/* Foreign formats; in small arrays, if there are fewer keys than in a pass. */
int foreign_run(struct figures *figures, struct pass *pass, uint64_t keys);
/* Static filters of this kind or of all; 0 keys = as the goals say. */
int static_run(struct figures *figures, struct pass *pass, uint64_t keys, const char *kind);
/* Small batches, of this kind or of all; 0 keys = filters of 16 MiB. */
int small_run(struct figures *figures, struct pass *pass, uint64_t keys, const char *kind);

/* --- bench_goals.c --- */

/* A figure with a goal: it is fine when value <= goal. */
struct check {
    char what[96];
    double value, goal;
};

/* Fills `checks` and returns how many. */
size_t figures_checks(const struct figures *figures, struct check checks[MOST_CHECKS]);

/* --- bench_compare.c --- */

/* Reads what an earlier run printed with --json, and prints its ratios beside those of this one.
 * Both: 0, or -1 after saying on stderr what is wrong. */
int compare_ready(const char *path);
int compare_print(const struct figures *figures, const char *path);

/* --- the three forms of output --- */

void table_machine(const struct machine *machine);
/* What the times and ratios of kinds mean. */
void table_legend(void);
/* The limits and cells from these on. */
void table_set(const struct figures *figures, size_t first_limit, size_t first_cell);
/* A line for each cell. */
void table_summary(const struct figures *figures);
void table_rows(const struct figures *figures);
void table_checks(const struct figures *figures);

void json_print(const struct figures *figures, int goals);

/* Both: 0, or -1 after saying on stderr what is wrong with `path` or gnuplot. */
int plot_ready(const char *path, int replace);
int plot_write(const struct figures *figures, const char *path, int replace);

#endif
