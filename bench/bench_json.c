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
            const struct limit_figure *plain = &limit->figures[0][op][lines - 1];
            if (plain->ns == 0) continue;
            print_comma(first);
            printf("    {\"bytes\": %llu, \"lines\": %u, \"op\": \"%s\", \"ns\": %.4g, ",
                   (unsigned long long)limit->bytes, lines, limit_op_names[op], plain->ns);
            printf("\"depth\": %u, \"line_prefetch\": \"%s\", \"key_prefetch\": \"%s\"", plain->best.depth,
                   line_prefetch_names[plain->best.line_prefetch], key_prefetch_names[plain->best.key_prefetch]);
            if (limit->has_vector) printf(", \"vector_ns\": %.4g", limit->figures[1][op][lines - 1].ns);
            putchar('}');
        }
}

static void print_result(const struct cell *cell, enum op op, enum hits hits) {
    printf("    {\"kind\": \"%s\", \"items\": %llu, \"bytes\": %llu, \"op\": \"%s\", \"hits\": %d, ", cell->kind,
           (unsigned long long)cell->items, (unsigned long long)cell->bytes, op_names[op], hits_percent[hits]);
    printf("\"ns_per_key\": %.4g, \"bits_per_key\": %.5g, \"fpr\": %.5g", cell->ns[op][hits], cell->bits_per_key,
           cell->fpr);
    if (cell->limit_lines)
        printf(", \"limit_lines\": %u, \"limit_ratio\": %.4g", cell->limit_lines, cell_limit_ratio(cell, op, hits));
    if (cell->shape) printf(", \"case\": \"%s\"", cell->shape);
    if (op == OP_ADD_MANY && hits == HITS_0 && cell->first_ns > 0)
        printf(", \"first_percent_ns\": %.4g, \"last_percent_ns\": %.4g", cell->first_ns, cell->last_ns);
    putchar('}');
}

/* What was not measured, since it makes no sense for the kind, is left out. */
static void print_cell(const struct cell *cell, int *first) {
    for (enum op op = 0; op < OP_COUNT; op++)
        for (enum hits hits = 0; hits < HITS_COUNT; hits++) {
            if (cell->ns[op][hits] == 0) continue;
            print_comma(first);
            print_result(cell, op, hits);
        }
}

static void print_textbook_time(const struct cell *cell, const char *op, int hits, double ns, int *first) {
    if (ns == 0) return;
    print_comma(first);
    printf("    {\"kind\": \"%s\", \"bytes\": %llu, \"op\": \"%s\", \"hits\": %d, \"ns_per_key\": %.4g}", cell->kind,
           (unsigned long long)cell->bytes, op, hits, ns);
}

static void print_textbook(const struct cell *cell, int *first) {
    for (enum hits hits = 0; hits < HITS_COUNT; hits++)
        print_textbook_time(cell, "contains", hits_percent[hits], cell->textbook_ns[hits], first);
    print_textbook_time(cell, "add", 0, cell->textbook_add_ns, first);
}

static void print_row(const struct row *row, int *first) {
    const struct part_table *table = &part_tables[row->part];
    print_comma(first);
    printf("    {\"part\": \"%s\", \"case\": \"%s\"", table->name, row->name);
    for (size_t i = 0; i < MOST_COLUMNS && table->columns[i].name; i++)
        if (row->values[i] != 0) printf(", \"%s\": %.5g", table->columns[i].name, row->values[i]);
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
    for (size_t i = 0; i < figures->cell_count; i++) print_cell(&figures->cells[i], &first);
    printf("\n  ],\n  \"textbook\": [");
    first = 1;
    for (size_t i = 0; i < figures->cell_count; i++) print_textbook(&figures->cells[i], &first);
    printf("\n  ],\n  \"combined\": [");
    first = 1;
    for (size_t i = 0; i < figures->row_count; i++) print_row(&figures->rows[i], &first);
    fputs("\n  ]", stdout);
    if (goals) print_checks(figures);
    puts("\n}");
}
