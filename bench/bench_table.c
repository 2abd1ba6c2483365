/* Prints the figures as text: a table per working set, a summary, the figures that have a goal. */
#include "measure.h"

#include <stdio.h>

static void print_bytes(uint64_t bytes) {
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
    double number = (double)bytes;
    size_t unit = 0;
    for (; number >= 1024 && unit < 4; unit++) number /= 1024;
    printf("%.4g %s", number, units[unit]);
}

static void print_cache(const char *name, uint64_t bytes) {
    if (!bytes) return;
    printf(", %s ", name);
    print_bytes(bytes);
}

void table_machine(const struct machine *machine) {
    printf("%s, %u core%s", machine->cpu, machine->cores, machine->cores == 1 ? "" : "s");
    print_cache("L1d", machine->l1d);
    print_cache("L2", machine->l2);
    print_cache("L3", machine->l3);
    print_cache("memory", machine->memory);
    printf("\nmeasured with %s (--isa); huge pages: %s; compiler: %s\n", machine->isa, machine->huge_pages,
           machine->compiler);
}

void table_legend(void) {
    puts(
        "\nTimes are nanoseconds per key, on one core, medians; then ratios to the machine's limit and to the rivals "
        "of the\nkind, as medians (and quartiles) over rounds in which all take turns. The limit is the time to read a "
        "key, mix it and\ntouch (load; for adds load and store) as many random cache lines as the kind does, three at "
        "most. Rivals are filters\nof others' design, written for this benchmark; they get as many bytes. A fill adds "
        "all keys to an empty filter.");
}

static void print_limit(const struct limit *limit) {
    printf("\nWorking set ");
    print_bytes(limit->bytes);
    printf("\n  %-24s %8s  %8s  %8s\n", "limit", "1 line", "2 lines", "3 lines");
    static const char *const names[LIMIT_OP_COUNT] = {"load", "load and store"};
    for (enum limit_op op = 0; op < LIMIT_OP_COUNT; op++) {
        const struct limit_figure *figures = limit->figures[op];
        printf("  %-24s %8.2f  %8.2f  %8.2f\n", names[op], figures[0].ns, figures[1].ns, figures[2].ns);
    }
}

static void print_ratio(const char *name, const struct spread *ratio) {
    printf("  %s %.2f (%.2f-%.2f)", name, ratio->middle, ratio->low, ratio->high);
}

static void print_figure(const struct figure *figure) {
    const int has_hits = figure->op != OP_FILL_MANY && figure->op != OP_FILL;
    char name[40];
    snprintf(name, sizeof name, has_hits ? "%s, %d %% hits" : "%s", op_names[figure->op], hits_percent[figure->hits]);
    printf("    %-26s %7.2f", name, figure->ns.middle);
    for (size_t i = 0; i < figure->versus_count; i++) print_ratio(figure->versus[i].name, &figure->versus[i].ratio);
    putchar('\n');
    for (size_t i = 0; i < figure->versus_count; i++) {
        const struct versus *versus = &figure->versus[i];
        if (!versus->kept) continue;
        printf("    %-34s", "");
        printf("  our %s /", versus->kept);
        print_ratio(versus->name, &versus->kept_ratio);
        putchar('\n');
    }
}

/* "fuse 8 bits 16 MiB" */
static void print_cell_name(const struct cell *cell) {
    printf("%s%s%s ", cell->kind, cell->shape ? " " : "", cell->shape ? cell->shape : "");
    print_bytes(cell->bytes);
}

static void print_cell(const struct cell *cell) {
    printf("  ");
    print_cell_name(cell);
    printf(": %llu keys, %.2f bits per key, %.3f %% false positives, %u-line limit\n", (unsigned long long)cell->items,
           cell->bits_per_key, 100 * cell->fpr, cell->limit_lines);
    for (enum op op = 0; op < OP_COUNT; op++)
        for (enum hit_share hits = 0; hits < HITS_COUNT; hits++)
            if (cell_figure(cell, op, hits)) print_figure(cell_figure(cell, op, hits));
}

void table_set(const struct figures *figures, size_t first_limit, size_t first_cell) {
    for (size_t l = first_limit; l < figures->limit_count; l++) {
        print_limit(&figures->limits[l]);
        for (size_t c = first_cell; c < figures->cell_count; c++)
            if (figures->cells[c].bytes == figures->limits[l].bytes) print_cell(&figures->cells[c]);
    }
    fflush(stdout);
}

/* At half hits. Single calls are compared with rivals only, if there are any. */
static void print_summary(const struct cell *cell) {
    static const char *const short_names[OP_COUNT] = {
        "query", "single query", "inline query", "add", "single add", "inline add", "fill", "single fill", "remove"};
    const char *separator = ": ";
    print_cell_name(cell);
    for (enum op op = 0; op < OP_COUNT; op++) {
        const struct figure *figure = cell_figure(cell, op, op == OP_FILL_MANY || op == OP_FILL ? HITS_0 : HITS_50);
        const int is_single = op != OP_CONTAINS_MANY && op != OP_ADD_MANY && op != OP_FILL_MANY;
        const char *comma = "";
        if (!figure) continue;
        printf("%s%s", separator, short_names[op]);
        for (size_t i = 0; i < figure->versus_count; i++) {
            const struct versus *versus = &figure->versus[i];
            if (versus->kept || (i == 0 && is_single && figure->versus_count > 1)) continue;
            printf("%s %.2f x %s", comma, versus->ratio.middle, versus->name);
            comma = ",";
        }
        separator = "; ";
    }
    putchar('\n');
}

void table_summary(const struct figures *figures) {
    puts("\nSummary, half of the keys in the filter");
    for (size_t i = 0; i < figures->cell_count; i++) print_summary(&figures->cells[i]);
}

static void print_row(const struct row *row) {
    const struct part_table *table = &part_tables[row->part];
    printf("  %-28s", row->name);
    for (size_t i = 0; i < MOST_COLUMNS && table->columns[i].name; i++) {
        if (row->values[i].middle != 0)
            printf(" %13.4g", row->values[i].middle);
        else
            printf(" %13s", "-");
    }
    putchar('\n');
}

static int has_rows(const struct figures *figures, enum bench_part part) {
    for (size_t i = 0; i < figures->row_count; i++)
        if (figures->rows[i].part == part) return 1;
    return 0;
}

void table_rows(const struct figures *figures) {
    for (enum bench_part part = 0; part < PART_COUNT; part++) {
        if (!has_rows(figures, part)) continue;
        printf("\n%s\n  %-28s", part_tables[part].title, "");
        for (size_t i = 0; i < MOST_COLUMNS && part_tables[part].columns[i].name; i++)
            printf(" %13s", part_tables[part].columns[i].name);
        putchar('\n');
        for (size_t i = 0; i < figures->row_count; i++)
            if (figures->rows[i].part == part) print_row(&figures->rows[i]);
    }
}

void table_checks(const struct figures *figures) {
    struct check checks[MOST_CHECKS];
    size_t count = figures_checks(figures, checks);
    if (count) puts("\nGoals, at 50 % hits or over a whole fill");
    for (size_t i = 0; i < count; i++)
        printf("  %-58s %6.3g  <= %4.3g  %s\n", checks[i].what, checks[i].value, checks[i].goal,
               checks[i].value <= checks[i].goal ? "ok" : "missed");
}
