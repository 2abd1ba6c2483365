/*
 * `perhaps bench`: what each kind of filter costs on this machine, beside what no filter could go
 * below.
 *
 * For every working set, from what fits in the second-level cache to what fits nowhere: the
 * machine's limit (limit.c), then each kind filled for 1 % false positives in that many bytes and
 * timed in turns with the limit (rounds.c).
 */
#include "bench.h"
#include "measure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MIB ((uint64_t)1 << 20)

static const double fpr = 0.01;
static const uint64_t least_items = 10000; /* fewer cannot be timed */
static const uint64_t composite_keys = 100000000;

static const uint64_t default_sets[] = {1 * MIB, 16 * MIB, 128 * MIB, 256 * MIB, 0};
static const uint64_t full_sets[] = {MIB / 4,   1 * MIB,   4 * MIB,    16 * MIB,   64 * MIB,
                                     128 * MIB, 256 * MIB, 1024 * MIB, 4096 * MIB, 0};

/* The kinds of a default run, which has to stay short. */
static const int main_kinds[] = {PERHAPS_BLOCKED, PERHAPS_BLOOM};

/* A default run must end within 45 seconds: a filter that takes long to fill and would not be full
 * by this time is left out. Who names a kind gets all of it. */
static const double fill_deadline = 33e9, long_fill = 3e9;

struct bench {
    const struct bench_options *options;
    double start;
    struct pass pass;
    struct figures figures;
};

static int complain(const char *what, const char *why) {
    fprintf(stderr, "perhaps: bench: %s: %s\n", what, why);
    return -1;
}

static void show_progress(const struct cell *cell, const char *what) {
    fprintf(stderr, "\r\033[K%.4g MiB: %s %s ...", (double)cell->bytes / (double)MIB, what, cell->kind);
}

static void hide_progress(void) {
    if (isatty(STDERR_FILENO)) fputs("\r\033[K", stderr);
}

static void no_progress(const struct cell *cell, const char *what) {
    (void)cell;
    (void)what;
}

/* Keys cannot be added and queried one at a time. */
static int is_static(const struct bench_options *options) {
    const struct perhaps_kind_row *row;
    for (size_t i = 0; options->kind && (row = perhaps_kind(i)); i++)
        if (strcmp(options->kind, row->name) == 0) return !!(perhaps_kind_traits(row->kind) & PERHAPS_STATIC);
    return options->static_kinds && !options->kind;
}

static int is_taken(const struct bench_options *options, const struct perhaps_kind_row *row) {
    if (perhaps_kind_traits(row->kind) & PERHAPS_STATIC) return 0;
    if (options->kind) return strcmp(options->kind, row->name) == 0;
    for (size_t i = 0; i < sizeof main_kinds / sizeof *main_kinds; i++)
        if (options->full || main_kinds[i] == row->kind) return 1;
    return 0;
}

static int check_options(const struct bench_options *options) {
    const struct perhaps_kind_row *row;
    int taken = 0;
    for (size_t i = 0; (row = perhaps_kind(i)); i++) taken += is_taken(options, row);
    if (!taken && !is_static(options))
        return complain(options->kind, "no such kind of filter; 'perhaps plan' lists them");
    if (options->static_kinds && !is_static(options)) return complain("--static", "that kind is not a static one");
    if (options->items && options->items < least_items)
        return complain("--items", "too few to be timed; take 10000 or more");
    if (options->combined && (options->kind || options->full || options->plot))
        return complain("--combined", "does not go with --kind, --full and --plot");
    if (options->foreign && (options->kind || options->full || options->plot || options->combined))
        return complain("--foreign", "does not go with --kind, --full, --combined and --plot");
    if (is_static(options) && (options->full || options->plot || options->combined || options->foreign))
        return complain("--static", "static kinds do not go with --full, --combined, --foreign and --plot");
    return options->plot ? plot_ready(options->plot, options->replace) : 0;
}

/* The limit for this many bytes, measured when it is first needed. */
static struct limit *limit_for(struct bench *bench, uint64_t bytes) {
    struct figures *figures = &bench->figures;
    for (size_t i = 0; i < figures->limit_count; i++)
        if (figures->limits[i].bytes == bytes) return &figures->limits[i];
    struct limit *limit = &figures->limits[figures->limit_count];
    bench->pass.progress(&(struct cell){.bytes = bytes, .kind = "the machine's limit"}, "finding");
    if (figures->limit_count == MOST_SETS || limit_open(limit, bytes, bench->pass.keys) < 0) return NULL;
    figures->limit_count++;
    return limit;
}

/* Whether a filter of this kind can be filled in time by two threads, judging by the last cell. */
static int has_time(const struct bench *bench, const char *kind, uint64_t items) {
    const struct figures *figures = &bench->figures;
    double fill_time = 0;
    for (size_t i = 0; i < figures->cell_count; i++)
        if (strcmp(figures->cells[i].kind, kind) == 0)
            fill_time = (double)items * figures->cells[i].ns[OP_ADD_MANY][HITS_0] / 2;
    const struct bench_options *options = bench->options;
    if (options->full || options->items || options->kind || fill_time < long_fill) return 1;
    return machine_now() - bench->start + fill_time < fill_deadline;
}

/* One kind in one working set; 0 bytes: as many as options->items keys take. */
static int run_cell(struct bench *bench, const struct perhaps_kind_row *row, uint64_t bytes) {
    struct figures *figures = &bench->figures;
    struct cell *cell = &figures->cells[figures->cell_count];
    struct perhaps_plan plan = {.size = sizeof plan};
    perhaps_want want = PERHAPS_WANT(.kind = row->kind, .fpr = fpr, .bytes = bytes, .grow = PERHAPS_GROW_NEVER,
                                     .items = bytes ? 0 : bench->options->items);
    perhaps *f = NULL;
    int error = figures->cell_count == MOST_CELLS ? PERHAPS_ENOMEM : perhaps_plan(&want, &plan);
    if (error >= 0 && !has_time(bench, row->name, plan.items)) {
        hide_progress();
        fprintf(stderr, "perhaps: bench: leaving out %s at %.4g MiB, it takes too long to fill; --full has it\n",
                row->name, (double)bytes / (double)MIB);
        return 0;
    }
    if (error >= 0) error = perhaps_create(&f, &want);
    if (error < 0) return complain("the filter cannot be made", perhaps_why());
    cell->bytes = bytes ? bytes : plan.bytes;
    struct limit *limit = limit_for(bench, cell->bytes);
    error = limit ? rounds_run(cell, f, limit, &bench->pass) : PERHAPS_ENOMEM;
    figures->cell_count += error == 0;
    perhaps_free(f);
    return error < 0 ? complain("a measurement failed", perhaps_strerror(error)) : 0;
}

/* After the last round: the limit has its final value. */
static void take_limit(struct cell *cell, const struct limit *limits, size_t limit_count) {
    for (size_t i = 0; i < limit_count; i++)
        for (enum limit_op op = 0; op < LIMIT_OP_COUNT; op++)
            if (limits[i].bytes == cell->bytes) cell->limit_ns[op] = limits[i].figures[0][op][cell->limit_lines - 1].ns;
}

/* All kinds in one working set. */
static int run_set(struct bench *bench, uint64_t bytes) {
    struct figures *figures = &bench->figures;
    const struct perhaps_kind_row *row;
    size_t first_limit = figures->limit_count, first_cell = figures->cell_count;
    int error = 0;
    for (size_t i = 0; !error && (row = perhaps_kind(i)); i++)
        if (is_taken(bench->options, row)) error = run_cell(bench, row, bytes);
    for (size_t i = first_limit; i < figures->limit_count; i++) limit_close(&figures->limits[i]);
    for (size_t i = first_cell; i < figures->cell_count; i++)
        take_limit(&figures->cells[i], figures->limits, figures->limit_count);
    hide_progress();
    if (!error && !bench->options->json) table_set(figures, first_limit, first_cell);
    return error;
}

static int run_sets(struct bench *bench) {
    if (bench->options->items) return run_set(bench, 0);
    for (const uint64_t *bytes = bench->options->full ? full_sets : default_sets; *bytes; bytes++) {
        if (*bytes > bench->figures.machine.memory / 4) {
            fprintf(stderr, "perhaps: bench: leaving out %.0f MiB, this machine has too little memory for it\n",
                    (double)*bytes / (double)MIB);
            continue;
        }
        if (run_set(bench, *bytes) < 0) return -1;
    }
    return 0;
}

static int run_and_print(struct bench *bench) {
    const struct bench_options *options = bench->options;
    if (!options->json) table_machine(&bench->figures.machine);
    if (!options->json) table_legend();
    if (run_sets(bench) < 0) return 2;
    if (options->json)
        json_print(&bench->figures, options->goals);
    else if (options->goals)
        table_checks(&bench->figures, "Goals, at 50 % hits or over a whole fill");
    return options->plot && plot_write(&bench->figures, options->plot, options->replace) < 0 ? 2 : 0;
}

static int has_rows(const struct bench_options *options) {
    return options->combined || options->foreign || is_static(options);
}

static int measure_rows(struct bench *bench) {
    const struct bench_options *options = bench->options;
    struct figures *figures = &bench->figures;
    uint64_t keys = options->items ? options->items : composite_keys;
    if (is_static(options)) return static_run(figures, &bench->pass, options->items, options->kind);
    return (options->foreign ? foreign_run : composite_run)(figures, &bench->pass, keys);
}

/* What gives rows rather than cells. */
static int run_rows(struct bench *bench) {
    const struct bench_options *options = bench->options;
    struct figures *figures = &bench->figures;
    if (!options->json) table_machine(&figures->machine);
    int error = measure_rows(bench);
    hide_progress();
    if (error < 0) complain("a measurement failed, what came before it follows", perhaps_why());
    if (options->json) {
        json_print(figures, options->goals);
    } else {
        table_rows(figures);
        if (options->goals) table_checks(figures, "Goals");
    }
    return error < 0 ? 2 : 0;
}

int bench_run(const struct bench_options *options) {
    if (check_options(options) < 0) return 2;
    struct bench *bench = calloc(1, sizeof *bench);
    uint64_t key_bytes = (PASS_KEYS + KEYS_BEYOND) * sizeof(uint64_t);
    uint64_t *keys = machine_memory(key_bytes);
    uint8_t *answers = machine_memory(PASS_KEYS);
    int status = 2;
    if (bench && keys && answers) {
        bench->options = options;
        bench->start = machine_now();
        bench->pass = (struct pass){keys, answers, options->full || options->kind ? 2.5 : 0.5,
                                    isatty(STDERR_FILENO) ? show_progress : no_progress};
        machine_describe(&bench->figures.machine);
        machine_pin();
        for (uint64_t i = 0; i < PASS_KEYS + KEYS_BEYOND; i++) keys[i] = key_number(i);
        status = has_rows(options) ? run_rows(bench) : run_and_print(bench);
    } else {
        complain("no memory for the keys", "close other programs and try again");
    }
    machine_release(keys, key_bytes);
    machine_release(answers, PASS_KEYS);
    free(bench);
    return status;
}
