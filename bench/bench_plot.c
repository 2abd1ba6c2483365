/* Draws the figures with gnuplot: time per key against working set, the limit below. */
#include "measure.h"
#include "picture.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static int complain(const char *path, const char *why) {
    if (why) fprintf(stderr, "perhaps: %s: the picture cannot be written: %s\n", path, why);
    return why ? -1 : 0;
}

int plot_ready(const char *path, int replace) {
    return complain(path, picture_ready(path, replace));
}

static int is_first_of_kind(const struct figures *figures, size_t cell) {
    for (size_t i = 0; i < cell; i++)
        if (strcmp(figures->cells[i].kind, figures->cells[cell].kind) == 0) return 0;
    return 1;
}

static unsigned kind_count(const struct figures *figures) {
    unsigned kinds = 0;
    for (size_t i = 0; i < figures->cell_count; i++) kinds += (unsigned)is_first_of_kind(figures, i);
    return kinds;
}

/* At half hits; kinds without such adds have their fill. */
static double drawn_time(const struct cell *cell, enum op op) {
    const struct figure *figure = cell_figure(cell, op, HITS_50);
    if (!figure) figure = cell_figure(cell, op == OP_ADD ? OP_FILL : OP_FILL_MANY, HITS_0);
    return figure ? figure->ns.middle : 0;
}

/* A block of data for each line of the picture: $kind_name, $limit. */
static void write_data(FILE *gnuplot, const struct figures *figures) {
    fputs("$limit << END\n", gnuplot);
    for (size_t i = 0; i < figures->limit_count; i++)
        fprintf(gnuplot, "%llu %g %g\n", (unsigned long long)figures->limits[i].bytes,
                figures->limits[i].figures[LIMIT_LOAD][0].ns, figures->limits[i].figures[LIMIT_RMW][0].ns);
    fputs("END\n", gnuplot);
    for (size_t i = 0; i < figures->cell_count; i++) {
        if (!is_first_of_kind(figures, i)) continue;
        fprintf(gnuplot, "$%s << END\n", figures->cells[i].kind);
        for (size_t j = i; j < figures->cell_count; j++) {
            const struct cell *cell = &figures->cells[j];
            if (strcmp(cell->kind, figures->cells[i].kind) != 0) continue;
            fprintf(gnuplot, "%llu", (unsigned long long)cell->bytes);
            for (enum op op = 0; op < OP_COUNT; op++) fprintf(gnuplot, " %g", drawn_time(cell, op));
            fputc('\n', gnuplot);
        }
        fputs("END\n", gnuplot);
    }
}

static void write_half(FILE *gnuplot, const struct figures *figures, const char *title, enum op single, enum op many,
                       int limit_column) {
    fprintf(gnuplot, "set title '%s'\n", title);
    fprintf(gnuplot,
            "plot $limit using 1:%d smooth unique title \"the machine's limit, 1 line\" with linespoints lc rgb "
            "'#000000' lw 2 dt 3 pt 0",
            limit_column);
    unsigned kinds = 0;
    for (size_t i = 0; i < figures->cell_count; i++) {
        if (!is_first_of_kind(figures, i)) continue;
        const char *kind = figures->cells[i].kind, *colour = picture_colour(kinds++);
        fprintf(gnuplot, ", \\\n  $%s using 1:%d title '%s %s' with linespoints lc rgb '%s' lw 2 pt 7 ps 0.7", kind,
                many + 2, kind, op_names[many], colour);
        fprintf(gnuplot, ", \\\n  $%s using 1:%d title '%s %s' with linespoints lc rgb '%s' lw 2 dt 2 pt 6 ps 0.7",
                kind, single + 2, kind, op_names[single], colour);
    }
    fputc('\n', gnuplot);
}

/* Would its number stand on that of one before? */
static int is_marked(const struct figures *figures, size_t set) {
    double bytes = (double)figures->limits[set].bytes;
    for (size_t i = 0; i < set; i++) {
        double other = (double)figures->limits[i].bytes;
        if (bytes < other * 1.6 && other < bytes * 1.6) return 1;
    }
    return 0;
}

/* Marks the working sets on the axis, and nothing between them. There is some room beside them,
 * even if there is only one. With --items they are as many as there are kinds, and in their
 * order. */
static void write_marks(FILE *gnuplot, const struct figures *figures) {
    uint64_t least = UINT64_MAX, most = 0;
    fputs("set xtics (", gnuplot);
    for (size_t i = 0; i < figures->limit_count; i++) {
        uint64_t bytes = figures->limits[i].bytes;
        if (!is_marked(figures, i))
            fprintf(gnuplot, "%s'%.3g' %llu", i ? ", " : "", (double)bytes / (1 << 20), (unsigned long long)bytes);
        least = bytes < least ? bytes : least;
        most = bytes > most ? bytes : most;
    }
    fprintf(gnuplot, ")\nset xrange [%g:%g]\n", (double)least / 1.2, (double)most * 1.2);
}

static void write_script(FILE *gnuplot, const struct figures *figures) {
    write_data(gnuplot, figures);
    fprintf(gnuplot, "set multiplot layout 1,2 title \"perhaps %s on %s, %s\"\n", perhaps_version(),
            figures->machine.cpu, figures->machine.isa);
    write_marks(gnuplot, figures);
    fputs("set logscale x 2\nset logscale y 2\nset key below Left reverse samplen 3\n"
          "set xlabel 'working set, MiB'\nset ylabel 'ns per key'\n",
          gnuplot);
    /* Room for the names of all lines. */
    fprintf(gnuplot, "set bmargin %u\n", 2 * kind_count(figures) + 5);
    write_half(gnuplot, figures, "querying, 50 % hits", OP_CONTAINS, OP_CONTAINS_MANY, 2);
    write_half(gnuplot, figures, "adding, 50 % hits (multisets: new keys)", OP_ADD, OP_ADD_MANY, 3);
    fputs("unset multiplot\n", gnuplot);
}

int plot_write(const struct figures *figures, const char *path, int replace) {
    FILE *gnuplot = picture_script(1100, 560 + 40 * kind_count(figures));
    if (!gnuplot) return complain(path, strerror(errno));
    write_script(gnuplot, figures);
    return complain(path, picture_draw(gnuplot, path, replace));
}
