/* The figures that have a goal: half of the queried keys are in the filter. */
#include "measure.h"

#include <stdio.h>
#include <string.h>

/* Working sets, by bytes: in the second-level cache, in the third-level one, in memory. */
#define ANY       0, UINT64_MAX
#define SMALL     0, 16 * MIB
#define MEDIUM    16 * MIB, 128 * MIB
#define LARGE     128 * MIB, UINT64_MAX
#define NOT_SMALL 16 * MIB, UINT64_MAX

/* Of the rivals that have the operation. */
#define FASTEST "fastest rival"

static const struct goal {
    const char *kind;
    enum op op;
    const char *to; /* "limit", FASTEST or a rival's name */
    uint64_t from, below;
    double most;
} goals[] = {
    {"blocked", OP_CONTAINS_MANY, "limit", SMALL, 1.5},
    {"blocked", OP_CONTAINS_MANY, "limit", NOT_SMALL, 1.3},
    {"blocked", OP_CONTAINS_MANY, FASTEST, ANY, 0.95},
    {"blocked", OP_CONTAINS_INLINE, FASTEST, ANY, 1.1},
    {"blocked", OP_ADD_MANY, "limit", SMALL, 1.5},
    {"blocked", OP_ADD_MANY, "limit", NOT_SMALL, 1.3},
    {"blocked", OP_ADD_MANY, FASTEST, ANY, 0.95},
    {"blocked", OP_ADD_INLINE, FASTEST, ANY, 1.1},
    {"bloom", OP_CONTAINS_MANY, "bulk Bloom", ANY, 0.9},
    {"bloom", OP_CONTAINS, "textbook", ANY, 1.1},
    {"bloom", OP_ADD_MANY, "bulk Bloom", ANY, 0.9},
    {"bloom", OP_ADD, "textbook", ANY, 1.1},
    {"counting", OP_CONTAINS, "textbook", ANY, 1},
    {"counting", OP_FILL, "textbook", ANY, 1},
    {"cuckoo", OP_CONTAINS_MANY, "limit", MEDIUM, 1.8},
    {"cuckoo", OP_CONTAINS_MANY, "limit", LARGE, 1.5},
    {"cuckoo", OP_CONTAINS, "textbook", ANY, 1.1},
    {"cuckoo", OP_FILL_MANY, "textbook", ANY, 1},
    {"fuse", OP_CONTAINS_MANY, "plain fuse", SMALL, 1},
    {"fuse", OP_CONTAINS_MANY, "limit", MEDIUM, 1.5},
    {"fuse", OP_CONTAINS_MANY, "limit", LARGE, 1.2},
    {"fuse", OP_CONTAINS, "plain fuse", ANY, 1},
    {"ribbon", OP_CONTAINS_MANY, "limit", ANY, 2.2},
    {"table", OP_CONTAINS, "flat set", ANY, 1},
    {"table", OP_FILL, "flat set", ANY, 1},
};

struct checklist {
    struct check *checks;
    size_t count;
};

static struct check *enter(struct checklist *list, double value, double goal) {
    struct check *check = &list->checks[list->count];
    if (list->count + 1 < MOST_CHECKS) list->count++;
    check->value = value;
    check->goal = goal;
    return check;
}

static void check_goal(struct checklist *list, const struct cell *cell, const struct goal *goal) {
    if (strcmp(cell->kind, goal->kind) != 0 || cell->bytes < goal->from || cell->bytes >= goal->below) return;
    const struct figure *figure = cell_figure(cell, goal->op, HITS_50);
    if (!figure) figure = cell_figure(cell, goal->op, HITS_0); /* fills */
    if (!figure) return;
    int is_fastest = strcmp(goal->to, FASTEST) == 0;
    const struct versus *versus = is_fastest ? figure_fastest(figure) : figure_versus(figure, goal->to);
    if (!versus) return;
    struct check *check = enter(list, versus->ratio.middle, goal->most);
    snprintf(check->what, sizeof check->what, "%s%s%s, %.4g MiB: %s / %s", cell->kind, cell->shape ? " " : "",
             cell->shape ? cell->shape : "", (double)cell->bytes / (double)MIB, op_names[goal->op], versus->name);
}

static void check_row(struct checklist *list, const struct row *row) {
    const struct part_table *table = &part_tables[row->part];
    for (size_t i = 0; i < MOST_COLUMNS && table->columns[i].name; i++) {
        double goal = row->goals[i] > 0 ? row->goals[i] : table->columns[i].goal;
        if (goal == 0 || row->values[i].middle == 0) continue;
        struct check *check = enter(list, row->values[i].middle, goal);
        snprintf(check->what, sizeof check->what, "%s, %s: %s", table->name, row->name, table->columns[i].name);
    }
}

size_t figures_checks(const struct figures *figures, struct check checks[MOST_CHECKS]) {
    struct checklist list = {checks, 0};
    for (size_t i = 0; i < figures->cell_count; i++)
        for (size_t j = 0; j < sizeof goals / sizeof *goals; j++) check_goal(&list, &figures->cells[i], &goals[j]);
    for (size_t i = 0; i < figures->row_count; i++) check_row(&list, &figures->rows[i]);
    return list.count;
}
