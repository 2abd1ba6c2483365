/* The figures of a benchmark for people: a table for each working set, and at the end the figures that have a goal. */
#include "measure.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define MIB ((uint64_t)1 << 20)

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
    puts("\nTimes are nanoseconds per key, on one core. \"x\" is how many times the machine's limit that is: the time "
         "to\n"
         "read a key, mix it and touch (load; for adds load and store) as many random cache lines as the kind\n"
         "does, three at most. \"vector\": the same with 8 keys mixed at a time.");
}

double cell_limit_ratio(const struct cell *cell, enum op op, enum hits hits) {
    int adds = op == OP_ADD || op == OP_ADD_MANY;
    return cell->ns[op][hits] / cell->limit_ns[adds ? LIMIT_RMW : LIMIT_LOAD];
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

static void print_cell(const struct cell *cell) {
    printf("  %s: %llu keys, %.2f bits per key, %.3f %% false positives, %u-line limit\n", cell->kind,
           (unsigned long long)cell->items, cell->bits_per_key, 100 * cell->fpr, cell->limit_lines);
    for (enum op op = 0; op < OP_COUNT; op++) {
        printf("    %-22s", op_names[op]);
        for (enum hits hits = 0; hits < HITS_COUNT; hits++)
            printf(" %8.2f %5.2fx", cell->ns[op][hits], cell_limit_ratio(cell, op, hits));
        putchar('\n');
    }
    if (cell->textbook_ns[HITS_0] == 0) return;
    printf("    %-22s", "textbook contains");
    for (enum hits hits = 0; hits < HITS_COUNT; hits++)
        printf(" %8.2f %5.2fx", cell->textbook_ns[hits], cell->textbook_ns[hits] / cell->limit_ns[LIMIT_LOAD]);
    putchar('\n');
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

/* --- goals --- */

struct checklist {
    struct check *checks;
    size_t count;
};

static void enter(struct checklist *list, const struct cell *cell, const char *what, double value, double goal) {
    if (list->count == MOST_CHECKS) return;
    struct check *check = &list->checks[list->count++];
    snprintf(check->what, sizeof check->what, "%s, %.4g MiB: %s", cell->kind, (double)cell->bytes / (double)MIB, what);
    check->value = value;
    check->goal = goal;
}

/* The nearer the working set is to the core, the more the arithmetic shows beside the memory. */
static double contains_goal(uint64_t bytes) {
    return bytes >= 128 * MIB ? 1.3 : bytes >= 16 * MIB ? 1.45 : 1.7;
}

static void check_cell(struct checklist *list, const struct cell *cell) {
    const double *batch = cell->ns[OP_CONTAINS_MANY];
    if (strcmp(cell->kind, "blocked") == 0) {
        enter(list, cell, "contains_many / limit", cell_limit_ratio(cell, OP_CONTAINS_MANY, HITS_50),
              contains_goal(cell->bytes));
        enter(list, cell, "add_many / limit", cell_limit_ratio(cell, OP_ADD_MANY, HITS_50), 1.4);
    }
    enter(list, cell, "contains_many, half hits / all hits", batch[HITS_50] / batch[HITS_100], 1.15);
    enter(list, cell, "contains / contains_many", cell->ns[OP_CONTAINS][HITS_50] / batch[HITS_50], 2.5);
    if (cell->textbook_ns[HITS_50] > 0 && cell->bytes >= 128 * MIB)
        enter(list, cell, "contains_many / textbook", batch[HITS_50] / cell->textbook_ns[HITS_50], 0.5);
}

size_t figures_checks(const struct figures *figures, struct check checks[MOST_CHECKS]) {
    struct checklist list = {checks, 0};
    for (size_t i = 0; i < figures->cell_count; i++) check_cell(&list, &figures->cells[i]);
    return list.count;
}

void table_checks(const struct figures *figures) {
    struct check checks[MOST_CHECKS];
    size_t count = figures_checks(figures, checks);
    puts("\nGoals, at 50 % hits");
    for (size_t i = 0; i < count; i++)
        printf("  %-58s %5.2f  <= %4.2f  %s\n", checks[i].what, checks[i].value, checks[i].goal,
               checks[i].value <= checks[i].goal ? "ok" : "missed");
}
