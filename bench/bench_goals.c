/* The figures that have a goal. Where hits matter, half of the keys are in the filter. */
#include "measure.h"

#include <stdio.h>
#include <string.h>

#define MIB ((uint64_t)1 << 20)

/* From here on memory decides, and most goals hold. */
static const uint64_t far_from_core = 128 * MIB;

struct checklist {
    struct check *checks;
    size_t count;
};

static struct check *enter_figure(struct checklist *list, double value, double goal) {
    struct check *check = &list->checks[list->count];
    if (list->count + 1 < MOST_CHECKS) list->count++;
    check->value = value;
    check->goal = goal;
    return check;
}

static void enter(struct checklist *list, const struct cell *cell, const char *what, double value, double goal) {
    struct check *check = enter_figure(list, value, goal);
    snprintf(check->what, sizeof check->what, "%s, %.4g MiB: %s", cell->kind, (double)cell->bytes / (double)MIB, what);
}

static int is(const struct cell *cell, const char *kind) {
    return strcmp(cell->kind, kind) == 0;
}

/* The nearer the working set is to the core, the more the arithmetic shows beside the memory. */
static double contains_goal(uint64_t bytes) {
    return bytes >= far_from_core ? 1.3 : bytes >= 16 * MIB ? 1.45 : 1.7;
}

static void check_blocked(struct checklist *list, const struct cell *cell) {
    enter(list, cell, "contains_many / limit", cell_limit_ratio(cell, OP_CONTAINS_MANY, HITS_50),
          contains_goal(cell->bytes));
    enter(list, cell, "add_many / limit", cell_limit_ratio(cell, OP_ADD_MANY, HITS_50), 1.4);
}

/* Batches are no slower where answers cannot be guessed, and worth their while. */
static void check_batches(struct checklist *list, const struct cell *cell) {
    const double *batch = cell->ns[OP_CONTAINS_MANY];
    enter(list, cell, "contains_many, half hits / all hits", batch[HITS_50] / batch[HITS_100], 1.15);
    enter(list, cell, "contains / contains_many", cell->ns[OP_CONTAINS][HITS_50] / batch[HITS_50], 2.5);
}

static void check_cuckoo(struct checklist *list, const struct cell *cell) {
    double fill = cell->ns[OP_ADD_MANY][HITS_0];
    enter(list, cell, "contains_many / limit", cell_limit_ratio(cell, OP_CONTAINS_MANY, HITS_50), 1.4);
    enter(list, cell, "add_many, empty to full / limit", cell_limit_ratio(cell, OP_ADD_MANY, HITS_0), 3);
    enter(list, cell, "add_many, last 1 % / first 1 %", cell->last_ns / cell->first_ns, 30);
    if (cell->textbook_add_ns > 0)
        enter(list, cell, "add_many, empty to full / textbook", fill / cell->textbook_add_ns, 0.5);
}

static void check_table(struct checklist *list, const struct cell *cell) {
    enter(list, cell, "contains_many / limit", cell_limit_ratio(cell, OP_CONTAINS_MANY, HITS_50), 1.4);
    enter(list, cell, "add_many, empty to full / limit", cell_limit_ratio(cell, OP_ADD_MANY, HITS_0), 1.6);
}

static void check_cell(struct checklist *list, const struct cell *cell) {
    if (!(cell->can & PERHAPS_ADD)) return; /* the goals of static kinds are in rows */
    if (is(cell, "blocked")) check_blocked(list, cell);
    if (!(cell->can & PERHAPS_REMOVE)) check_batches(list, cell);
    if (cell->bytes < far_from_core) return;
    if (is(cell, "cuckoo")) check_cuckoo(list, cell);
    if (is(cell, "table")) check_table(list, cell);
    if (cell->textbook_ns[HITS_50] > 0)
        enter(list, cell, "contains_many / textbook", cell->ns[OP_CONTAINS_MANY][HITS_50] / cell->textbook_ns[HITS_50],
              0.5);
}

static void check_row(struct checklist *list, const struct row *row) {
    const struct part_table *table = &part_tables[row->part];
    for (size_t i = 0; i < MOST_COLUMNS && table->columns[i].name; i++) {
        double goal = row->goals[i] > 0 ? row->goals[i] : table->columns[i].goal;
        if (goal == 0 || row->values[i] == 0) continue;
        struct check *check = enter_figure(list, row->values[i], goal);
        snprintf(check->what, sizeof check->what, "%s, %s: %s", table->name, row->name, table->columns[i].name);
    }
}

size_t figures_checks(const struct figures *figures, struct check checks[MOST_CHECKS]) {
    struct checklist list = {checks, 0};
    for (size_t i = 0; i < figures->cell_count; i++) check_cell(&list, &figures->cells[i]);
    for (size_t i = 0; i < figures->row_count; i++) check_row(&list, &figures->rows[i]);
    return list.count;
}
