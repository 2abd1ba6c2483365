/* `perhaps bench --compare FILE.json`: the ratios of an earlier run beside those of this one. The
 * file is what --json printed, with a ratio on each line; other lines do not matter. */
#include "measure.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_WIDTH = 70 };

static const double slower = 1.1; /* is marked */

/* A ratio of the earlier run. */
struct old_ratio {
    char kind[32], shape[32], op[32], to[40];
    double bytes, hits, ratio, low, high;
};

static int complain(const char *path, const char *why) {
    fprintf(stderr, "perhaps: %s: %s\n", path, why);
    return -1;
}

/* What follows "name": on the line; NULL = nothing. */
static const char *value_of(const char *line, const char *name) {
    char quoted[40];
    snprintf(quoted, sizeof quoted, "\"%s\": ", name);
    const char *found = strstr(line, quoted);
    return found ? found + strlen(quoted) : NULL;
}

static void take_text(const char *line, const char *name, char *text, size_t size) {
    const char *value = value_of(line, name);
    size_t length = value && *value == '"' ? strcspn(value + 1, "\"") : 0;
    snprintf(text, size, "%.*s", (int)length, length ? value + 1 : "");
}

static double take_number(const char *line, const char *name) {
    const char *value = value_of(line, name);
    return value ? strtod(value, NULL) : 0;
}

/* 1 = there are two numbers in brackets. */
static int take_pair(const char *value, double *first, double *second) {
    char *end;
    if (!value || *value != '[') return 0;
    *first = strtod(value + 1, &end);
    if (*end != ',') return 0;
    *second = strtod(end + 1, &end);
    return *end == ']';
}

/* 1 = the line has a ratio. */
static int take_ratio(const char *line, struct old_ratio *old) {
    take_text(line, "kind", old->kind, sizeof old->kind);
    take_text(line, "case", old->shape, sizeof old->shape);
    take_text(line, "op", old->op, sizeof old->op);
    take_text(line, "to", old->to, sizeof old->to);
    old->bytes = take_number(line, "bytes");
    old->hits = take_number(line, "hits");
    old->ratio = take_number(line, "ratio");
    if (!take_pair(value_of(line, "ratio_quartiles"), &old->low, &old->high)) return 0;
    return *old->kind && *old->op && *old->to && old->ratio > 0;
}

static int next_ratio(FILE *file, struct old_ratio *old) {
    char line[1024];
    while (fgets(line, sizeof line, file))
        if (take_ratio(line, old)) return 1;
    return 0;
}

int compare_ready(const char *path) {
    struct old_ratio old;
    FILE *file = fopen(path, "r");
    if (!file) return complain(path, strerror(errno));
    int has_ratios = next_ratio(file, &old);
    fclose(file);
    return has_ratios ? 0 : complain(path, "no ratios in it; give what 'perhaps bench --json' printed");
}

/* With --items the size may differ a little between versions. */
static int is_cell(const struct cell *cell, const struct old_ratio *old) {
    return strcmp(cell->kind, old->kind) == 0 && strcmp(cell->shape ? cell->shape : "", old->shape) == 0 &&
           fabs((double)cell->bytes / old->bytes - 1) < 0.1;
}

static const struct versus *find(const struct figures *figures, const struct old_ratio *old) {
    for (size_t i = 0; i < figures->cell_count; i++) {
        const struct cell *cell = &figures->cells[i];
        for (size_t j = 0; is_cell(cell, old) && j < cell->figure_count; j++) {
            const struct figure *figure = &cell->figures[j];
            if (strcmp(op_names[figure->op], old->op) == 0 && hits_percent[figure->hits] == (int)old->hits)
                return figure_versus(figure, old->to);
        }
    }
    return NULL;
}

/* By more than a tenth, and beyond the noise: the quartiles do not overlap. */
static int is_slower(const struct old_ratio *old, const struct spread *now) {
    return now->middle > slower * old->ratio && now->low > old->high;
}

static int is_faster(const struct old_ratio *old, const struct spread *now) {
    return slower * now->middle < old->ratio && now->high < old->low;
}

static void print_change(const struct old_ratio *old, const struct versus *now) {
    double change = now->ratio.middle / old->ratio;
    const char *mark = is_slower(old, &now->ratio) ? "  slower" : is_faster(old, &now->ratio) ? "  faster" : "";
    int width = printf("  %s%s%s, %.4g MiB: %s, %.0f %% hits / %s", old->kind, *old->shape ? " " : "", old->shape,
                       old->bytes / (double)MIB, old->op, old->hits, old->to);
    printf("%*s %6.2f %6.2f %7.2f%s\n", width < NAME_WIDTH ? NAME_WIDTH - width : 0, "", old->ratio, now->ratio.middle,
           change, mark);
}

int compare_print(const struct figures *figures, const char *path) {
    struct old_ratio old;
    size_t shown = 0, worse = 0;
    FILE *file = fopen(path, "r");
    if (!file) return complain(path, strerror(errno));
    printf("\nBeside %s\n%*s %6s %6s %7s\n", path, NAME_WIDTH, "", "before", "now", "change");
    while (next_ratio(file, &old)) {
        const struct versus *now = find(figures, &old);
        if (!now) continue;
        print_change(&old, now);
        shown++;
        worse += (size_t)is_slower(&old, &now->ratio);
    }
    fclose(file);
    printf("%zu of %zu ratios are slower by more than 10 %%, with quartiles apart\n", worse, shown);
    return 0;
}
