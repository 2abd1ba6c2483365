/*
 * `perhaps bench`: what each kind of filter costs on this machine, beside what no filter could go
 * below, and beside the best filters that others have published.
 *
 * For every working set, from what fits in the second-level cache to what fits nowhere: the
 * machine's limit (limit.c), then each kind filled for 1 % false positives in that many bytes and
 * timed in turns with the limit and its rivals (cells.c).
 */
#include "bench.h"
#include "measure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const uint64_t least_items = 10000; /* fewer cannot be timed */
static const uint64_t composite_keys = 100000000;
static const double figure_seconds = 0.3;   /* for each; a default run must end within a minute */
static const uint64_t trial_items = 100000; /* fewer are for trying it out, in little time */

static const uint64_t sets[] = {1 * MIB, 16 * MIB, 128 * MIB, 1024 * MIB};
enum { DEFAULT_SETS = 3, FULL_SETS = 4 };

/* The kinds of a default run, which has to stay short. */
static const int main_kinds[] = {PERHAPS_BLOCKED, PERHAPS_BLOOM};

/* Kinds that are measured otherwise than for a rate of 1 %, or beside another limit. */
static const struct bench_shape {
    int kind;
    const char *name;
    double fpr;
    unsigned limit_lines; /* where it is not the most that a query touches; 0 = it is */
} shapes[] = {{PERHAPS_FUSE, "8 bits", 1. / 256, 0}, {PERHAPS_FUSE, "1 %", 0.01, 0}, {PERHAPS_RIBBON, NULL, 0.01, 2}};
static const struct bench_shape usual_shape = {.fpr = 0.01};

struct bench {
    const struct bench_options *options;
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

/* --- options --- */

static int is_static(const struct perhaps_kind_row *row) {
    return !!(perhaps_kind_traits(row->kind) & PERHAPS_STATIC);
}

static const struct perhaps_kind_row *named_kind(const struct bench_options *options) {
    const struct perhaps_kind_row *row;
    for (size_t i = 0; options->kind && (row = perhaps_kind(i)); i++)
        if (strcmp(options->kind, row->name) == 0) return row;
    return NULL;
}

static int is_taken(const struct bench_options *options, const struct perhaps_kind_row *row) {
    if (options->kind) return strcmp(options->kind, row->name) == 0;
    if (options->full) return !is_static(row);
    for (size_t i = 0; i < sizeof main_kinds / sizeof *main_kinds; i++)
        if (main_kinds[i] == row->kind) return 1;
    return 0;
}

/* Modes that give rows rather than cells. */
static int row_modes(const struct bench_options *options) {
    return options->combined + options->foreign + options->static_kinds + options->small;
}

static int check_modes(const struct bench_options *options) {
    if (row_modes(options) > 1) return complain("--combined, --foreign, --static, --small", "give only one of them");
    if (row_modes(options) && (options->full || options->plot || options->compare))
        return complain("--full, --plot, --compare", "do not go with --combined, --foreign, --static and --small");
    if ((options->combined || options->foreign) && options->kind)
        return complain("--kind", "does not go with --combined and --foreign");
    return 0;
}

/* The library reads the variable whenever it makes a filter. */
static int choose_isa(const struct bench_options *options) {
    perhaps_want want = PERHAPS_WANT(.kind = PERHAPS_BLOCKED, .items = 1000, .fpr = 0.01);
    perhaps *f = NULL;
    if (options->isa && setenv("PERHAPS_ISA", options->isa, 1) < 0) return complain("--isa", "no memory");
    if (perhaps_create(&f, &want) < 0)
        return options->isa ? complain(options->isa, "this machine has no such instructions; leave --isa out to take "
                                                     "the best that it has")
                            : complain("no filter can be made", perhaps_why());
    perhaps_free(f);
    return 0;
}

static int check_options(const struct bench_options *options) {
    const struct perhaps_kind_row *row = named_kind(options);
    if (options->kind && !row) return complain(options->kind, "no such kind of filter; 'perhaps plan' lists them");
    if (options->static_kinds && row && !is_static(row)) return complain("--static", "that kind is not a static one");
    if ((options->full || options->plot) && row && is_static(row))
        return complain("--kind", "static kinds do not go with --full and --plot");
    if (options->items && options->items < least_items)
        return complain("--items", "too few to be timed; take 10000 or more");
    if (check_modes(options) < 0 || choose_isa(options) < 0) return -1;
    if (options->compare && compare_ready(options->compare) < 0) return -1;
    return options->plot ? plot_ready(options->plot, options->replace) : 0;
}

/* --- cells --- */

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

/* One kind in one working set; 0 bytes: as many as options->items keys take. */
static int run_cell(struct bench *bench, int kind, const struct bench_shape *shape, uint64_t bytes) {
    struct figures *figures = &bench->figures;
    struct cell *cell = &figures->cells[figures->cell_count];
    struct perhaps_info info = {.size = sizeof info};
    perhaps_want want = kind_want(kind, shape->fpr, bytes, bytes ? 0 : bench->options->items);
    perhaps *f = NULL;
    int error = figures->cell_count == MOST_CELLS ? PERHAPS_ENOMEM : perhaps_create(&f, &want);
    if (error >= 0) error = perhaps_facts(f, &info);
    if (error < 0) return complain("the filter cannot be made", perhaps_why());
    cell->bytes = bytes ? bytes : info.bytes;
    cell->shape = shape->name;
    cell->limit_lines = shape->limit_lines;
    struct limit *limit = limit_for(bench, cell->bytes);
    error = limit ? cell_run(cell, f, limit, &bench->pass) : PERHAPS_ENOMEM;
    figures->cell_count += error == 0;
    perhaps_free(f);
    return error < 0 ? complain("a measurement failed", perhaps_strerror(error)) : 0;
}

/* All shapes of a kind in one working set. */
static int run_kind(struct bench *bench, int kind, uint64_t bytes) {
    int error = 0, has_shapes = 0;
    for (size_t i = 0; !error && i < sizeof shapes / sizeof *shapes; i++) {
        if (shapes[i].kind != kind) continue;
        has_shapes = 1;
        error = run_cell(bench, kind, &shapes[i], bytes);
    }
    return has_shapes ? error : run_cell(bench, kind, &usual_shape, bytes);
}

static int run_set(struct bench *bench, uint64_t bytes) {
    struct figures *figures = &bench->figures;
    const struct perhaps_kind_row *row;
    size_t first_limit = figures->limit_count, first_cell = figures->cell_count;
    int error = 0;
    for (size_t i = 0; !error && (row = perhaps_kind(i)); i++)
        if (is_taken(bench->options, row)) error = run_kind(bench, row->kind, bytes);
    for (size_t i = first_limit; i < figures->limit_count; i++) limit_close(&figures->limits[i]);
    hide_progress();
    if (!error && !bench->options->json) table_set(figures, first_limit, first_cell);
    return error;
}

static int run_sets(struct bench *bench) {
    if (bench->options->items) return run_set(bench, 0);
    for (size_t i = 0; i < (bench->options->full ? FULL_SETS : DEFAULT_SETS); i++) {
        if (sets[i] > bench->figures.machine.memory / 8) { /* the filter, the limit and rivals */
            fprintf(stderr, "perhaps: bench: leaving out %.0f MiB, this machine has too little memory for it\n",
                    (double)sets[i] / (double)MIB);
            continue;
        }
        if (run_set(bench, sets[i]) < 0) return -1;
    }
    return 0;
}

static int run_and_print(struct bench *bench) {
    const struct bench_options *options = bench->options;
    const struct figures *figures = &bench->figures;
    if (!options->json) table_machine(&figures->machine);
    if (!options->json) table_legend();
    if (run_sets(bench) < 0) return 2;
    if (options->json) {
        json_print(figures, options->goals);
    } else {
        table_summary(figures);
        if (options->goals) table_checks(figures);
        if (options->compare && compare_print(figures, options->compare) < 0) return 2;
    }
    return options->plot && plot_write(figures, options->plot, options->replace) < 0 ? 2 : 0;
}

/* --- rows --- */

static int measure_rows(struct bench *bench) {
    const struct bench_options *options = bench->options;
    struct figures *figures = &bench->figures;
    uint64_t keys = options->items ? options->items : composite_keys;
    if (options->static_kinds) return static_run(figures, &bench->pass, options->items, options->kind);
    if (options->small) return small_run(figures, &bench->pass, options->items, options->kind);
    return (options->foreign ? foreign_run : composite_run)(figures, &bench->pass, keys);
}

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
        if (options->goals) table_checks(figures);
    }
    return error < 0 ? 2 : 0;
}

static void open_pass(struct bench *bench, uint64_t *keys, uint8_t *answers) {
    const struct machine *machine = &bench->figures.machine;
    int is_trial = bench->options->items && bench->options->items < trial_items;
    bench->pass = (struct pass){.keys = keys,
                                .answers = answers,
                                .has_avx2 = strncmp(machine->isa, "avx", 3) == 0,
                                .seconds = is_trial ? 0 : figure_seconds,
                                .progress = isatty(STDERR_FILENO) ? show_progress : no_progress};
    for (uint64_t i = 0; i < PASS_KEYS + KEYS_BEYOND; i++) keys[i] = key_number(i);
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
        machine_describe(&bench->figures.machine);
        machine_pin();
        open_pass(bench, keys, answers);
        status = row_modes(options) ? run_rows(bench) : run_and_print(bench);
    } else {
        complain("no memory for the keys", "close other programs and try again");
    }
    machine_release(keys, key_bytes);
    machine_release(answers, PASS_KEYS);
    free(bench);
    return status;
}
