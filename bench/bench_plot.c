/* The figures of a benchmark as a picture, drawn by gnuplot: time per key against working set, the limit below. */
#include "measure.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int complain(const char *path, const char *why) {
    fprintf(stderr, "perhaps: bench: the picture %s cannot be written: %s\n", path, why);
    return -1;
}

/* Before the measurements rather than after: it would be a pity to have waited for nothing. */
int plot_ready(const char *path) {
    if (system("command -v gnuplot >/dev/null 2>&1") != 0)
        return complain(path, "gnuplot is not installed; on Debian 'apt install gnuplot-nox' brings it");
    int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (file < 0) return complain(path, strerror(errno));
    close(file);
    return 0;
}

static int is_first_of_kind(const struct figures *figures, size_t cell) {
    for (size_t i = 0; i < cell; i++)
        if (strcmp(figures->cells[i].kind, figures->cells[cell].kind) == 0) return 0;
    return 1;
}

/* A block of data for each line of the picture: $kind_name, $limit. */
static void write_data(FILE *gnuplot, const struct figures *figures) {
    fputs("$limit << END\n", gnuplot);
    for (size_t i = 0; i < figures->limit_count; i++)
        fprintf(gnuplot, "%llu %g %g\n", (unsigned long long)figures->limits[i].bytes,
                figures->limits[i].figures[0][LIMIT_LOAD][0].ns, figures->limits[i].figures[0][LIMIT_RMW][0].ns);
    fputs("END\n", gnuplot);
    for (size_t i = 0; i < figures->cell_count; i++) {
        if (!is_first_of_kind(figures, i)) continue;
        fprintf(gnuplot, "$%s << END\n", figures->cells[i].kind);
        for (size_t j = i; j < figures->cell_count; j++) {
            const struct cell *cell = &figures->cells[j];
            if (strcmp(cell->kind, figures->cells[i].kind) != 0) continue;
            fprintf(gnuplot, "%llu", (unsigned long long)cell->bytes);
            for (enum op op = 0; op < OP_COUNT; op++) fprintf(gnuplot, " %g", cell->ns[op][cell_shown_hits(cell, op)]);
            fputc('\n', gnuplot);
        }
        fputs("END\n", gnuplot);
    }
}

static void write_half(FILE *gnuplot, const struct figures *figures, const char *title, enum op single, enum op many,
                       int limit_column) {
    fprintf(gnuplot, "set title '%s'\n", title);
    fprintf(
        gnuplot,
        "plot $limit using 1:%d title \"the machine's limit, 1 line\" with linespoints lc rgb '#000000' lw 2 dt 3 pt 0",
        limit_column);
    unsigned colour = 0; /* one for each kind */
    for (size_t i = 0; i < figures->cell_count; i++) {
        if (!is_first_of_kind(figures, i)) continue;
        const char *kind = figures->cells[i].kind;
        colour++;
        fprintf(gnuplot, ", \\\n  $%s using 1:%d title '%s %s' with linespoints lc %u pt 7", kind, many + 2, kind,
                op_names[many], colour);
        fprintf(gnuplot, ", \\\n  $%s using 1:%d title '%s %s' with linespoints lc %u dt 2 pt 6", kind, single + 2,
                kind, op_names[single], colour);
    }
    fputc('\n', gnuplot);
}

static void write_path(FILE *gnuplot, const char *path) {
    fputs("set output '", gnuplot);
    for (; *path; path++) fputs(*path == '\'' ? "''" : (char[]){*path, '\0'}, gnuplot);
    fputs("'\n", gnuplot);
}

/* Marks the working sets on the axis, and nothing between them. */
static void write_marks(FILE *gnuplot, const struct figures *figures) {
    fputs("set xtics (", gnuplot);
    for (size_t i = 0; i < figures->limit_count; i++)
        fprintf(gnuplot, "%s'%.3g' %llu", i ? ", " : "", (double)figures->limits[i].bytes / (1 << 20),
                (unsigned long long)figures->limits[i].bytes);
    fputs(")\n", gnuplot);
}

static void write_script(FILE *gnuplot, const struct figures *figures, const char *path) {
    write_data(gnuplot, figures);
    fputs("set terminal svg size 1100,600 background rgb 'white'\n", gnuplot);
    write_path(gnuplot, path);
    fprintf(gnuplot, "set multiplot layout 1,2 title \"perhaps %s on %s, %s\" noenhanced\n", perhaps_version(),
            figures->machine.cpu, figures->machine.isa);
    write_marks(gnuplot, figures);
    fputs("set logscale x 2\nset logscale y 2\nset grid\nset key below Left reverse samplen 3 noenhanced\n"
          "set offsets graph 0.02, graph 0.02, 0, 0\nset xlabel 'working set, MiB'\nset ylabel 'ns per key'\n",
          gnuplot);
    unsigned kinds = 0;
    for (size_t i = 0; i < figures->cell_count; i++) kinds += (unsigned)is_first_of_kind(figures, i);
    fprintf(gnuplot, "set bmargin %u\n", 2 * kinds + 5); /* room for the names of all lines */
    write_half(gnuplot, figures, "asking, 50 % hits", OP_CONTAINS, OP_CONTAINS_MANY, 2);
    write_half(gnuplot, figures, "adding, 50 % hits (multisets: new keys)", OP_ADD, OP_ADD_MANY, 3);
    fputs("unset multiplot\n", gnuplot);
}

int plot_write(const struct figures *figures, const char *path) {
    void (*before)(int) = signal(SIGPIPE, SIG_IGN); /* should gnuplot end early, its status tells */
    FILE *gnuplot = popen("gnuplot", "w");
    int status = -1;
    if (gnuplot) {
        write_script(gnuplot, figures, path);
        status = pclose(gnuplot);
    }
    signal(SIGPIPE, before);
    return status == 0 ? 0 : complain(path, "gnuplot failed; what it said stands above");
}
