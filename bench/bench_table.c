/* Prints the figures as text: a table per working set, then the figures that have a goal. */
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
    printf("\nhuge pages: %s; instructions: %s; compiler: %s\n", machine->huge_pages, machine->isa, machine->compiler);
}

void table_legend(void) {
    puts("\nTimes are nanoseconds per key, on one core. \"x\" is how many times the machine's limit that is: the time "
         "to\n"
         "read a key, mix it and touch (load; for adds load and store) as many random cache lines as the kind\n"
         "does, three at most. \"vector\": the same with 8 keys mixed at a time. Kinds that can forget: adding new "
         "keys\n"
         "(0 % hits) is the average from empty to full; a multiset stores every key, so its adds have no hits.");
}

double cell_limit_ratio(const struct cell *cell, enum op op, enum hits hits) {
    int queries = op == OP_CONTAINS || op == OP_CONTAINS_MANY;
    return cell->ns[op][hits] / cell->limit_ns[queries ? LIMIT_LOAD : LIMIT_RMW];
}

enum hits cell_shown_hits(const struct cell *cell, enum op op) {
    return cell->ns[op][HITS_50] > 0 ? HITS_50 : HITS_0;
}

static void print_limit(const struct limit *limit) {
    printf("\nWorking set ");
    print_bytes(limit->bytes);
    printf("\n  %-24s %8s  %8s  %8s\n", "limit", "1 line", "2 lines", "3 lines");
    static const char *const names[2][LIMIT_OP_COUNT] = {{"load", "load and store"},
                                                         {"load, vector", "load and store, vector"}};
    for (int vector = 0; vector <= limit->has_vector; vector++)
        for (enum limit_op op = 0; op < LIMIT_OP_COUNT; op++) {
            const struct limit_figure *figures = limit->figures[vector][op];
            printf("  %-24s %8.2f  %8.2f  %8.2f\n", names[vector][op], figures[0].ns, figures[1].ns, figures[2].ns);
        }
}

/* A line of times and their ratios to a limit; nothing if none was measured. */
static void print_times(const char *name, const double ns[HITS_COUNT], double limit_ns) {
    if (ns[HITS_0] == 0) return;
    printf("    %-22s", name);
    for (enum hits hits = 0; hits < HITS_COUNT; hits++) {
        if (ns[hits] > 0)
            printf(" %8.2f %5.2fx", ns[hits], ns[hits] / limit_ns);
        else
            printf(" %8s %6s", "-", "");
    }
    putchar('\n');
}

static void print_cell(const struct cell *cell) {
    printf("  %s: %llu keys, %.2f bits per key, %.3f %% false positives, %u-line limit\n", cell->kind,
           (unsigned long long)cell->items, cell->bits_per_key, 100 * cell->fpr, cell->limit_lines);
    for (enum op op = 0; op < OP_COUNT; op++)
        print_times(op_names[op], cell->ns[op], cell->ns[op][HITS_0] / cell_limit_ratio(cell, op, HITS_0));
    print_times("textbook contains", cell->textbook_ns, cell->limit_ns[LIMIT_LOAD]);
    print_times("textbook add", (double[HITS_COUNT]){cell->textbook_add_ns}, cell->limit_ns[LIMIT_RMW]);
    if (cell->first_ns > 0)
        printf("    add_many, first 1 %%    %8.2f; last 1 %% %.2f\n", cell->first_ns, cell->last_ns);
}

void table_set(const struct figures *figures, size_t first_limit, size_t first_cell) {
    for (size_t l = first_limit; l < figures->limit_count; l++) {
        const struct limit *limit = &figures->limits[l];
        print_limit(limit);
        printf("  %-24s %15s %15s %15s\n", "", "0 % hits", "50 % hits", "100 % hits");
        for (size_t c = first_cell; c < figures->cell_count; c++)
            if (figures->cells[c].bytes == limit->bytes) print_cell(&figures->cells[c]);
    }
    fflush(stdout);
}

static void print_row(const struct row *row) {
    const struct part_table *table = &part_tables[row->part];
    printf("  %-28s", row->name);
    for (size_t i = 0; i < MOST_COLUMNS && table->columns[i].name; i++) {
        if (row->values[i] != 0)
            printf(" %13.4g", row->values[i]);
        else
            printf(" %13s", "-");
    }
    putchar('\n');
}

static int has_rows(const struct figures *figures, enum part part) {
    for (size_t i = 0; i < figures->row_count; i++)
        if (figures->rows[i].part == part) return 1;
    return 0;
}

void table_rows(const struct figures *figures) {
    for (enum part part = 0; part < PART_COUNT; part++) {
        if (!has_rows(figures, part)) continue;
        printf("\n%s\n  %-28s", part_tables[part].title, "");
        for (size_t i = 0; i < MOST_COLUMNS && part_tables[part].columns[i].name; i++)
            printf(" %13s", part_tables[part].columns[i].name);
        putchar('\n');
        for (size_t i = 0; i < figures->row_count; i++)
            if (figures->rows[i].part == part) print_row(&figures->rows[i]);
    }
}

void table_checks(const struct figures *figures, const char *title) {
    struct check checks[MOST_CHECKS];
    size_t count = figures_checks(figures, checks);
    if (count) printf("\n%s\n", title);
    for (size_t i = 0; i < count; i++)
        printf("  %-58s %6.3g  <= %4.3g  %s\n", checks[i].what, checks[i].value, checks[i].goal,
               checks[i].value <= checks[i].goal ? "ok" : "missed");
}
