/* What `perhaps info --bits` draws: the cells of a small filter, as the library numbers them. */
#include "filter_target.h"
#include "output/numbers.h"
#include "output/report.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_CELLS = 4096, ROW = 72, GROUP = 8 };

/* A filter without children, or a child. */
struct cells {
    const char *name; /* "bit", "counter" or "slot" */
    uint64_t n, values[MOST_CELLS];
};

static int too_many(const char *path, uint64_t cells, const char *name) {
    char number[NUMBER_TEXT], most[NUMBER_TEXT];
    return failure(path,
                   "has %s %ss, and at most %s are drawn; give a smaller filter, such as one of --bytes 64, or see the "
                   "%ss of one key with 'perhaps explain %s KEY'",
                   group_digits(cells, number), name, group_digits(MOST_CELLS, most), name, path);
}

/* Of child i; -1 = of the filter itself. */
static int cells_of(const struct filter_target *t, int child, struct cells *cells) {
    int64_t rc = perhaps_cells(t->filter, child, 0, cells->values, MOST_CELLS, &cells->name);
    if (rc == PERHAPS_ECANNOT)
        return failure(t->target.name, "consists of composite filters, which are not drawn; build it without --shards");
    if (rc < 0) return library_failure(t->target.name, (int)rc);
    cells->n = (uint64_t)rc;
    return FINE;
}

int filter_bits_ready(const struct filter_target *t) {
    struct perhaps_info facts = filter_facts(t->filter);
    struct cells cells;
    uint64_t n = 0;
    for (unsigned i = 0; i < (facts.children ? facts.children : 1); i++) {
        if (cells_of(t, facts.children ? (int)i : -1, &cells) != FINE) return TROUBLE;
        n += cells.n;
    }
    return n > MOST_CELLS ? too_many(t->target.name, n, cells.name) : FINE;
}

/* Each as wide as the widest; bits and counters in groups. Zeros are dots, so that what is set
 * stands out. */
static void draw(const struct cells *cells) {
    unsigned width = 1, row = 1;
    uint64_t used = 0;
    char number[NUMBER_TEXT], all[NUMBER_TEXT];
    for (uint64_t i = 0; i < cells->n; i++) {
        while (width < 16 && cells->values[i] >> 4 * width) width++;
        used += cells->values[i] != 0;
    }
    bool grouped = strcmp(cells->name, "slot") != 0;
    unsigned group = grouped ? GROUP : 1;
    while (2 * row * (width * group + 1) <= ROW) row *= 2;
    for (uint64_t i = 0; i < cells->n; i++) {
        if (i % ((uint64_t)row * group) == 0) printf("%s  %6llu", i ? "\n" : "", (unsigned long long)i);
        if (i % group == 0) putchar(' ');
        if (cells->values[i])
            printf("%*llx", (int)width, (unsigned long long)cells->values[i]);
        else
            printf("%*s", (int)width, ".");
    }
    printf("\n  %s of %s %ss are not 0\n", group_digits(used, number), group_digits(cells->n, all), cells->name);
}

void filter_draw_bits(const struct filter_target *t, const char *children) {
    struct perhaps_info facts = filter_facts(t->filter);
    struct cells cells;
    for (unsigned i = 0; i < (facts.children ? facts.children : 1); i++) {
        if (cells_of(t, facts.children ? (int)i : -1, &cells) != FINE) return;
        if (facts.children)
            printf("\n  %.*s %u\n", (int)strlen(children) - 1, children, i + 1);
        else
            putchar('\n');
        draw(&cells);
    }
}

/* What is in slots is hexadecimal, as explain has it. */
void filter_bits_json(const struct filter_target *t, struct json *json) {
    struct perhaps_info facts = filter_facts(t->filter);
    struct cells cells;
    char text[20];
    json_open(json, "cells", '[');
    for (unsigned i = 0; i < (facts.children ? facts.children : 1); i++) {
        if (cells_of(t, facts.children ? (int)i : -1, &cells) != FINE) break;
        json_open(json, NULL, '{');
        json_text(json, "name", cells.name);
        json_open(json, "values", '[');
        for (uint64_t j = 0; j < cells.n; j++) {
            snprintf(text, sizeof text, "%llx", (unsigned long long)cells.values[j]);
            if (strcmp(cells.name, "slot") == 0)
                json_text(json, NULL, text);
            else
                json_count(json, NULL, cells.values[j]);
        }
        json_close(json, ']');
        json_close(json, '}');
    }
    json_close(json, ']');
}
