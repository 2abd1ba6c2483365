/*
 * The parts of the benchmark, in the order in which a run uses them.
 *
 *     machine.c          the clock, memory in huge pages, what machine this is
 *     keys.c             the keys, by number
 *     limit.c            the least time that any filter could take here
 *     textbook.c         the filters that everybody writes first; with textbook_cuckoo.c
 *     rounds.c           a filter of the library, timed beside the limit
 *     fills.c refill.c   how such a filter is filled
 *     bench.c            which working sets and kinds; collects the figures below
 *     bench_composite.c  composite filters and threads; growing.c, sharded.c, parallel.c, peak.c
 *     foreign.c          foreign formats
 *     static.c           static filters; with static_build.c, static_query.c, and plain_fuse.c
 *     bench_goals.c      which of the figures have a goal
 *     bench_table.c      the figures as text; bench_json.c for scripts, bench_plot.c as a picture
 */
#ifndef PERHAPS_BENCH_MEASURE_H
#define PERHAPS_BENCH_MEASURE_H

#include <perhaps.h>
#include <stddef.h>
#include <stdint.h>

enum {
    /* Keys in a timed pass of a batch call or of the limit: 32 MiB, more than most caches. */
    PASS_KEYS = 1 << 22,
    USUAL_LIMIT_LINES = 3, /* the limit is measured for 1, 2 and 3 lines per key, */
    MOST_LIMIT_LINES = 4   /* and for 4 where a filter's shape needs it */
};

/* The share of the queried keys that is in the filter. */
enum hits { HITS_0, HITS_50, HITS_100, HITS_COUNT };
enum op { OP_ADD, OP_ADD_MANY, OP_CONTAINS, OP_CONTAINS_MANY, OP_REMOVE_MANY, OP_BUILD, OP_COUNT };
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
    int vector; /* 1 = line numbers for 8 keys at a time in AVX-512 */
};

enum { LIMIT_FINALISTS = 2 };

struct limit_figure {
    double ns; /* per key; 0 = not measured */
    struct limit_variant best;
    /* Of short trials: those that all rounds are run with. */
    struct limit_variant finalists[LIMIT_FINALISTS];
};

struct limit {
    uint64_t bytes;
    uint64_t *memory;
    int has_vector;
    unsigned most_lines; /* that it is measured for */
    /* Which keys the last short trial began with. */
    size_t trial_start;
    struct limit_figure figures[2][LIMIT_OP_COUNT][MOST_LIMIT_LINES]; /* plain, vector */
    uint64_t kept; /* what the loads brought, so that none can be left out */
};

/* Takes memory for a working set and finds the best ways to walk it, over the usual numbers of
 * lines. `keys`: PASS_KEYS of them and KEYS_BEYOND more that may be read. 0, or -1 for want of
 * memory. */
enum { KEYS_BEYOND = 128 };
int limit_open(struct limit *limit, uint64_t bytes, const uint64_t *keys);
/* The two halves of it, for what needs one figure only. */
int limit_take_memory(struct limit *limit, uint64_t bytes);
void limit_find(struct limit *limit, enum limit_op op, unsigned lines, const uint64_t *keys);
/* One more round for that many cache lines over n keys. */
void limit_round(struct limit *limit, enum limit_op op, unsigned lines, const uint64_t *keys, size_t n);
void limit_close(struct limit *limit);

/* --- textbook.c --- */

struct textbook {
    uint64_t *words;
    uint64_t word_count;
    unsigned cell_bits; /* 1 = a Bloom filter, 4 = a counting one */
};

/* An array like that of a filter filled for 1 %. 0, or -1 for want of memory. */
int textbook_open(struct textbook *book, uint64_t bytes, unsigned cell_bits);
void textbook_add(struct textbook *book, const uint64_t *keys, size_t n);
/* Returns how many were found. */
size_t textbook_contains(const struct textbook *book, const uint64_t *keys, size_t n, uint8_t *answers);
void textbook_close(struct textbook *book);

/* --- textbook_cuckoo.c --- */

struct textbook_cuckoo {
    uint16_t *slots;
    uint64_t bytes, bucket_mask;
    uint64_t capacity; /* keys at 95 % */
    uint64_t random;
    uint64_t lost; /* keys that found no place */
};

/* An empty filter of at most that many bytes. 0, or -1 if memory is short. */
int textbook_cuckoo_open(struct textbook_cuckoo *book, uint64_t bytes);
void textbook_cuckoo_add(struct textbook_cuckoo *book, const uint64_t *keys, size_t n);
void textbook_cuckoo_close(struct textbook_cuckoo *book);

/* --- rounds.c --- */

/* What came out for one kind in one working set. A time of 0 = not measured. */
struct cell {
    const char *kind;
    const char *shape; /* which of several of its kind; NULL = the usual one */
    unsigned can;      /* set of enum perhaps_ability */
    uint64_t items;
    uint64_t bytes;
    unsigned
        /* Lines of the limit: as the kind touches, at most USUAL_LIMIT_LINES; 0 = no limit. */
        limit_lines;
    double bits_per_key;
    double fpr;                      /* measured */
    double ns[OP_COUNT][HITS_COUNT]; /* per key */
    double limit_ns[LIMIT_OP_COUNT]; /* of the limit with limit_lines */
    /* Per key, of the first and the last 1 % of a fill by batches. */
    double first_ns, last_ns;
    double textbook_ns[HITS_COUNT]; /* queries of the textbook's filter */
    double textbook_add_ns;         /* the textbook's cuckoo filter filled, average per key */
};

/* Room for the keys and answers of a pass, made once. */
struct pass {
    uint64_t *keys; /* PASS_KEYS + KEYS_BEYOND */
    uint8_t *answers;
    double seconds; /* how long each of the two parts of a cell may take, filling aside */
    void (*progress)(const struct cell *cell, const char *what);
};

/* Fills `f` and times it beside `limit`; cell->bytes is set. 0 or an enum perhaps_error. */
int rounds_run(struct cell *cell, perhaps *f, struct limit *limit, struct pass *pass);

/* --- bench_composite.c --- */

/* Composite filters are measured in parts, each with its table. */
enum part {
    PART_GROWING,
    PART_RATE,
    PART_SHARDED,
    PART_PARALLEL,
    PART_PEAK,
    PART_FOREIGN,
    PART_STATIC_SIZE,
    PART_STATIC_BUILD,
    PART_STATIC_QUERY,
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
    enum part part;
    char name[40];
    double values[MOST_COLUMNS]; /* 0 = not measured */
    double goals[MOST_COLUMNS];  /* of this row; 0 = the column's */
};

extern const struct part_table part_tables[PART_COUNT];

/* --- the figures of a run --- */

enum { MOST_SETS = 64, MOST_CELLS = 256, MOST_ROWS = 64, MOST_CHECKS = 256 };

struct figures {
    struct machine machine;
    size_t limit_count;
    struct limit limits[MOST_SETS]; /* closed; the figures remain */
    size_t cell_count;
    struct cell cells[MOST_CELLS];
    size_t row_count;
    struct row rows[MOST_ROWS];
};

/* Fills figures->rows, with filters of up to that many keys. 0 or an enum perhaps_error. */
int composite_run(struct figures *figures, struct pass *pass, uint64_t keys);

/* --- foreign.c --- */

/* The same with foreign formats; in small arrays, if there are fewer keys than in a pass. */
int foreign_run(struct figures *figures, struct pass *pass, uint64_t keys);

/* --- static.c --- */

/* The same with static filters of this kind or of all, with `keys` keys; 0 = as the goals say. */
int static_run(struct figures *figures, struct pass *pass, uint64_t keys, const char *kind);

/* ns per key divided by the limit's. */
double cell_limit_ratio(const struct cell *cell, enum op op, enum hits hits);
/* The hit rate to show where only one is shown: 50 %, or if that was not measured, none. */
enum hits cell_shown_hits(const struct cell *cell, enum op op);

/* --- bench_goals.c --- */

/* A figure with a goal: it is fine when value <= goal. */
struct check {
    char what[96];
    double value, goal;
};

/* Fills `checks` and returns how many. */
size_t figures_checks(const struct figures *figures, struct check checks[MOST_CHECKS]);

/* --- the three forms of output --- */

void table_machine(const struct machine *machine);
/* What the times and ratios of kinds mean. */
void table_legend(void);
/* The limits and cells from these on. */
void table_set(const struct figures *figures, size_t first_limit, size_t first_cell);
void table_rows(const struct figures *figures);
void table_checks(const struct figures *figures, const char *title);

void json_print(const struct figures *figures, int goals);

/* Both: 0, or -1 after saying on stderr what is wrong with `path` or gnuplot. */
int plot_ready(const char *path, int replace);
int plot_write(const struct figures *figures, const char *path, int replace);

#endif
