/* Draws the figures with gnuplot: time per key against working set, the limit below. Two pictures
 * share an axis, and each line has its name at its end. */
#include "measure.h"
#include "picture.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 1100, HEIGHT = 560 };

/* A name beside the end of its line. */
struct line_name {
    char text[60];
    const char *colour;
    double height;
};

/* What both halves share. */
struct bounds {
    double least, most;
};

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

/* The same kind has the same colour in all pictures. */
static const char *kind_colour(const char *kind) {
    unsigned i = 0;
    while (perhaps_kind(i) && strcmp(perhaps_kind(i)->name, kind) != 0) i++;
    return picture_colour(i);
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
            for (enum op op = 0; op < OP_COUNT; op++)
                fprintf(gnuplot, drawn_time(cell, op) > 0 ? " %g" : " NaN", drawn_time(cell, op));
            fputc('\n', gnuplot);
        }
        fputs("END\n", gnuplot);
    }
}

/* The time at the largest working set that has one; 0 if none has. */
static double last_time(const struct figures *figures, const char *kind, enum op op) {
    double time = 0;
    uint64_t bytes = 0;
    for (size_t i = 0; i < figures->cell_count; i++) {
        const struct cell *cell = &figures->cells[i];
        if (strcmp(cell->kind, kind) != 0 || cell->bytes < bytes || drawn_time(cell, op) <= 0) continue;
        bytes = cell->bytes;
        time = drawn_time(cell, op);
    }
    return time;
}

static double last_limit(const struct figures *figures, int what) {
    const struct limit *last = &figures->limits[0];
    for (size_t i = 1; i < figures->limit_count; i++)
        if (figures->limits[i].bytes > last->bytes) last = &figures->limits[i];
    return last->figures[what][0].ns;
}

static int higher_first(const void *a, const void *b) {
    const struct line_name *x = a, *y = b;
    return (x->height < y->height) - (x->height > y->height);
}

/* From the top downwards, so that no two stand on one another. The axis is logarithmic. */
static void write_names(FILE *gnuplot, struct line_name *names, size_t n, const struct bounds *bounds) {
    double gap = pow(bounds->most / bounds->least, 1.0 / 22), room = INFINITY;
    qsort(names, n, sizeof *names, higher_first);
    fputs("unset label\n", gnuplot);
    for (size_t i = 0; i < n; i++) {
        names[i].height = fmin(names[i].height, room);
        room = names[i].height / gap;
        fprintf(gnuplot, "set label \"%s\" at graph 1.02, first %g textcolor rgb '%s'\n", names[i].text,
                names[i].height, names[i].colour);
    }
}

static void write_half(FILE *gnuplot, const struct figures *figures, const char *title, enum op single, enum op many,
                       int limit_column, const struct bounds *bounds) {
    struct line_name names[2 * MOST_CELLS + 1] = {{"machine's limit", "#000000", 0}};
    size_t n = 1;
    names[0].height = last_limit(figures, limit_column == 2 ? LIMIT_LOAD : LIMIT_RMW);
    for (size_t i = 0; i < figures->cell_count; i++) {
        const char *kind = figures->cells[i].kind;
        for (int batch = 0; batch < 2 && is_first_of_kind(figures, i); batch++) {
            enum op op = batch ? many : single;
            struct line_name *name = &names[n];
            *name = (struct line_name){.colour = kind_colour(kind), .height = last_time(figures, kind, op)};
            snprintf(name->text, sizeof name->text, "%s %s", kind, op_names[op]);
            n += name->height > 0;
        }
    }
    write_names(gnuplot, names, n, bounds);
    fprintf(gnuplot, "set title '%s'\nplot $limit using 1:%d with lines lc rgb '#000000' lw 2 dt 3", title,
            limit_column);
    for (size_t i = 0; i < figures->cell_count; i++) {
        if (!is_first_of_kind(figures, i)) continue;
        const char *kind = figures->cells[i].kind, *colour = kind_colour(kind);
        if (last_time(figures, kind, many) > 0)
            fprintf(gnuplot, ", \\\n  $%s using 1:%d with linespoints lc rgb '%s' lw 2.5 pt 7 ps 0.6", kind, many + 2,
                    colour);
        if (last_time(figures, kind, single) > 0)
            fprintf(gnuplot, ", \\\n  $%s using 1:%d with linespoints lc rgb '%s' lw 2 dt 2 pt 7 ps 0.4", kind,
                    single + 2, colour);
    }
    fputc('\n', gnuplot);
}

/* Powers of two around all that is drawn. */
static struct bounds find_bounds(const struct figures *figures) {
    static const enum op drawn[] = {OP_CONTAINS, OP_CONTAINS_MANY, OP_ADD, OP_ADD_MANY};
    double least = INFINITY, most = 0;
    for (size_t i = 0; i < figures->limit_count; i++) {
        const struct limit *limit = &figures->limits[i];
        least = fmin(least, fmin(limit->figures[LIMIT_LOAD][0].ns, limit->figures[LIMIT_RMW][0].ns));
        most = fmax(most, fmax(limit->figures[LIMIT_LOAD][0].ns, limit->figures[LIMIT_RMW][0].ns));
    }
    for (size_t i = 0; i < figures->cell_count; i++) {
        for (size_t j = 0; j < sizeof drawn / sizeof *drawn; j++) {
            double time = drawn_time(&figures->cells[i], drawn[j]);
            if (time > 0) least = fmin(least, time);
            most = fmax(most, time);
        }
    }
    return (struct bounds){exp2(floor(log2(least))), exp2(ceil(log2(most)))};
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
    struct bounds bounds = find_bounds(figures);
    write_data(gnuplot, figures);
    fprintf(gnuplot,
            "set multiplot title \"Nanoseconds per key, in batches (solid) and one at a time (dashed)\\nperhaps %s on "
            "%s, %s\"\n",
            perhaps_version(), figures->machine.cpu, figures->machine.isa);
    write_marks(gnuplot, figures);
    fprintf(gnuplot, "set logscale x 2\nset logscale y 2\nset yrange [%g:%g]\nunset key\n", bounds.least, bounds.most);
    fputs("set xlabel 'size of the filter, MiB'\nset tmargin at screen 0.80\nset bmargin at screen 0.14\n"
          "set lmargin at screen 0.06\nset rmargin at screen 0.355\nset ylabel 'ns per key'\n",
          gnuplot);
    write_half(gnuplot, figures, "queries, half of the keys are there", OP_CONTAINS, OP_CONTAINS_MANY, 2, &bounds);
    fputs("set lmargin at screen 0.555\nset rmargin at screen 0.85\nunset ylabel\nset format y ''\n", gnuplot);
    write_half(gnuplot, figures, "adds, half of the keys are there", OP_ADD, OP_ADD_MANY, 3, &bounds);
    fputs("unset multiplot\n", gnuplot);
}

int plot_write(const struct figures *figures, const char *path, int replace) {
    FILE *gnuplot = picture_script(WIDTH, HEIGHT);
    if (!gnuplot) return complain(path, strerror(errno));
    write_script(gnuplot, figures);
    return complain(path, picture_draw(gnuplot, "Nanoseconds per key against the size of the filter", path, replace));
}
