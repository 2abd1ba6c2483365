/* The figures of a benchmark for scripts. */
#include "measure.h"

#include <stdio.h>

static void print_string(const char *text) {
    putchar('"');
    for (; *text; text++) {
        if (*text == '"' || *text == '\\') putchar('\\');
        if ((unsigned char)*text >= ' ') putchar(*text);
    }
    putchar('"');
}

/* Between two entries of a list, but not before the first. */
static void print_comma(int *first) {
    puts(*first ? "" : ",");
    *first = 0;
}

static void print_machine(const struct machine *machine) {
    printf("  \"machine\": {\"cpu\": ");
    print_string(machine->cpu);
    printf(", \"cores\": %u, \"l1d\": %llu, \"l2\": %llu, \"l3\": %llu, \"memory\": %llu", machine->cores,
           (unsigned long long)machine->l1d, (unsigned long long)machine->l2, (unsigned long long)machine->l3,
           (unsigned long long)machine->memory);
    printf(", \"huge_pages\": ");
    print_string(machine->huge_pages);
    printf(", \"isa\": ");
    print_string(machine->isa);
    printf(", \"compiler\": ");
    print_string(machine->compiler);
    printf(", \"version\": ");
    print_string(perhaps_version());
    puts("},");
}

static void print_limit(const struct limit *limit, int *first) {
    for (enum limit_op op = 0; op < LIMIT_OP_COUNT; op++)
        for (unsigned lines = 1; lines <= MOST_LIMIT_LINES; lines++) {
            const struct limit_figure *figure = &limit->figures[op][lines - 1];
            print_comma(first);
            printf("    {\"bytes\": %llu, \"lines\": %u, \"op\": \"%s\", \"ns\": %.4g, ",
                   (unsigned long long)limit->bytes, lines, limit_op_names[op], figure->ns);
            printf("\"depth\": %u, \"line_prefetch\": \"%s\", \"key_prefetch\": \"%s\"}", figure->best.depth,
                   line_prefetch_names[figure->best.line_prefetch], key_prefetch_names[figure->best.key_prefetch]);
        }
}

/* A number and its quartiles: "ns_per_key": 1.2, "ns_per_key_quartiles": [1.1, 1.3] */
static void print_spread(const char *name, const struct spread *spread) {
    printf(", \"%s\": %.5g", name, spread->middle);
    if (spread->low != 0) printf(", \"%s_quartiles\": [%.5g, %.5g]", name, spread->low, spread->high);
}

/* What says which figure of the run it is. */
static void print_figure_name(const struct cell *cell, const struct figure *figure, int *first) {
    print_comma(first);
    printf("    {\"kind\": \"%s\", ", cell->kind);
    if (cell->shape) printf("\"case\": \"%s\", ", cell->shape);
    printf("\"items\": %llu, \"bytes\": %llu, \"op\": \"%s\", \"hits\": %d", (unsigned long long)cell->items,
           (unsigned long long)cell->bytes, op_names[figure->op], hits_percent[figure->hits]);
}

/* What was not measured, since it makes no sense for the kind, is left out. */
static void print_results(const struct cell *cell, int *first) {
    for (size_t i = 0; i < cell->figure_count; i++) {
        const struct figure *figure = &cell->figures[i];
        print_figure_name(cell, figure, first);
        print_spread("ns_per_key", &figure->ns);
        printf(", \"bits_per_key\": %.5g, \"fpr\": %.5g, \"limit_lines\": %u", cell->bits_per_key, cell->fpr,
               cell->limit_lines);
        print_spread("limit_ratio", &figure->versus[0].ratio);
        putchar('}');
    }
}

static void print_ratios(const struct cell *cell, int *first) {
    for (size_t i = 0; i < cell->figure_count; i++)
        for (size_t j = 0; j < cell->figures[i].versus_count; j++) {
            const struct versus *versus = &cell->figures[i].versus[j];
            print_figure_name(cell, &cell->figures[i], first);
            printf(", \"to\": \"%s\"", versus->name);
            print_spread("ratio", &versus->ratio);
            print_spread("ns_per_key", &versus->ns);
            if (versus->kept) print_spread("kept_ratio", &versus->kept_ratio);
            putchar('}');
        }
}

static void print_row(const struct row *row, int *first) {
    const struct part_table *table = &part_tables[row->part];
    print_comma(first);
    printf("    {\"part\": \"%s\", \"case\": \"%s\"", table->name, row->name);
    for (size_t i = 0; i < MOST_COLUMNS && table->columns[i].name; i++)
        if (row->values[i].middle != 0) print_spread(table->columns[i].name, &row->values[i]);
    putchar('}');
}

static void print_checks(const struct figures *figures) {
    struct check checks[MOST_CHECKS];
    size_t count = figures_checks(figures, checks);
    int first = 1;
    printf(",\n  \"checks\": [");
    for (size_t i = 0; i < count; i++) {
        print_comma(&first);
        printf("    {\"what\": \"%s\", \"value\": %.4g, \"goal\": %.4g, \"ok\": %s}", checks[i].what, checks[i].value,
               checks[i].goal, checks[i].value <= checks[i].goal ? "true" : "false");
    }
    fputs("\n  ]", stdout);
}

void json_print(const struct figures *figures, int goals) {
    puts("{");
    print_machine(&figures->machine);
    int first = 1;
    printf("  \"limit\": [");
    for (size_t i = 0; i < figures->limit_count; i++) print_limit(&figures->limits[i], &first);
    printf("\n  ],\n  \"results\": [");
    first = 1;
    for (size_t i = 0; i < figures->cell_count; i++) print_results(&figures->cells[i], &first);
    printf("\n  ],\n  \"ratios\": [");
    first = 1;
    for (size_t i = 0; i < figures->cell_count; i++) print_ratios(&figures->cells[i], &first);
    printf("\n  ],\n  \"combined\": [");
    first = 1;
    for (size_t i = 0; i < figures->row_count; i++) print_row(&figures->rows[i], &first);
    fputs("\n  ]", stdout);
    if (goals) print_checks(figures);
    puts("\n}");
}
