/* perhaps plan --plot: bits per key against the false-positive rate, for every kind. */
#include "bench/picture.h"
#include "commands/commands.h"
#include "options/abilities.h"
#include "numbers.h"
#include "report.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 800, HEIGHT = 520, POINTS = 241, MOST_CURVES = 32, NAME_TEXT = 80 };

/* A kind's bits per key at every rate; 0 where it has no layout. */
struct curve {
    const struct perhaps_kind_row *row;
    const char *colour;
    double bits[POINTS], most;
};

/* A name in the right margin, at the height of what it names. */
struct name {
    char text[NAME_TEXT];
    const char *colour;
    double height;
};

struct plot {
    double first, last; /* rates */
    double top;         /* bits per key at the upper edge */
    uint64_t keys;
    size_t curve_count, name_count;
    struct curve curves[MOST_CURVES];
    struct name names[MOST_CURVES + 1];
};

static double rate_at(const struct plot *plot, size_t point) {
    return plot->first * pow(plot->last / plot->first, (double)point / (POINTS - 1));
}

/* ---- figures ---- */

/* The wanted filter, but of one kind and with the rate given instead of the size. The k of a preset
 * belongs to its size. False if the kind has no layout at any rate. */
static bool fill_curve(const struct plot *plot, struct curve *curve, const perhaps_want *want,
                       const struct options *options) {
    perhaps_want one = *want;
    one.kind = curve->row->kind;
    one.bits_per_key = 0;
    one.bytes = 0;
    if (!given(options, OPT_HASHES)) one.hashes = 0;
    for (size_t i = 0; i < POINTS; i++) {
        struct perhaps_plan plan = {.size = sizeof plan};
        one.fpr = rate_at(plot, i);
        if (perhaps_plan(&one, &plan) == PERHAPS_OK) curve->bits[i] = plan.bits_per_key;
        curve->most = fmax(curve->most, curve->bits[i]);
    }
    return curve->most > 0;
}

/* The kinds, and after them the foreign formats, which are shown only if -k names them. */
static void fill_curves(struct plot *plot, const perhaps_want *want, const struct options *options) {
    const struct perhaps_kind_row *row;
    double least = INFINITY;
    unsigned kinds = 0;
    while (perhaps_kind(kinds)) kinds++;
    for (unsigned i = 0; plot->curve_count < MOST_CURVES; i++) {
        if (!(row = i < kinds ? perhaps_kind(i) : perhaps_file_kind(i - kinds))) break;
        bool usual = i < kinds && row->kind != PERHAPS_BITMAP;
        if (given(options, OPT_KIND) ? row->kind != options->kind : !usual) continue;
        struct curve *curve = &plot->curves[plot->curve_count];
        *curve = (struct curve){.row = row, .colour = picture_colour(i)};
        if (!fill_curve(plot, curve, want, options)) continue;
        least = fmin(least, curve->most);
        plot->curve_count++;
    }
    /* A kind several times as large as the others would press them down: it may leave above. */
    for (const struct curve *curve = plot->curves; curve < plot->curves + plot->curve_count; curve++)
        if (curve->most <= 2 * least) plot->top = fmax(plot->top, 1.15 * curve->most);
}

/* ---- names ---- */

/* Returns the text, which is still empty. */
static char *add_name(struct plot *plot, const char *colour, double height) {
    struct name *name = &plot->names[plot->name_count++];
    name->colour = colour;
    name->height = height;
    return name->text;
}

/* A curve that ends within the picture has its name there, all others in the margin; one that is
 * above the upper edge all along has its numbers, too. */
static void name_curve(struct plot *plot, const struct curve *curve, FILE *gnuplot) {
    const char *name = curve->row->name;
    size_t end = POINTS; /* behind the last point that can be seen */
    while (end && !(curve->bits[end - 1] > 0 && curve->bits[end - 1] <= plot->top)) end--;
    if (end == POINTS) {
        append_text(add_name(plot, curve->colour, curve->bits[end - 1]), NAME_TEXT, "%s", name);
    } else if (end) {
        fprintf(gnuplot, "set label '%s' at %g,%g offset 1,0 textcolor rgb '%s'\n", name, rate_at(plot, end - 1),
                curve->bits[end - 1], curve->colour);
    } else {
        char *text = add_name(plot, curve->colour, plot->top);
        double least = curve->most;
        for (size_t i = 0; i < POINTS; i++)
            if (curve->bits[i] > 0) least = fmin(least, curve->bits[i]);
        append_text(text, NAME_TEXT, "\u2191 %s, %.3g", name, least);
        if (curve->most > 1.01 * least) append_text(text, NAME_TEXT, " to %.3g", curve->most);
    }
}

static int higher_first(const void *a, const void *b) {
    const struct name *x = a, *y = b;
    return (x->height < y->height) - (x->height > y->height);
}

/* From the top downwards, so that no two stand on one another. */
static void write_names(struct plot *plot, FILE *gnuplot) {
    double gap = plot->top / 22, room = INFINITY;
    qsort(plot->names, plot->name_count, sizeof *plot->names, higher_first);
    for (size_t i = 0; i < plot->name_count; i++) {
        struct name *name = &plot->names[i];
        name->height = fmin(name->height, room);
        room = name->height - gap;
        fprintf(gnuplot, "set label '%s' at graph 1.015, first %g textcolor rgb '%s'\n", name->text, name->height,
                name->colour);
    }
}

/* ---- script ---- */

/* The marks of the axis are rates as -p takes them. */
static void write_axes(const struct plot *plot, FILE *gnuplot) {
    static const double margin = 1.0001; /* without it, gnuplot leaves out marks at the edges */
    char keys[NUMBER_TEXT];
    fprintf(gnuplot, "set title 'What a filter for %s keys takes'\n", group_digits(plot->keys, keys));
    fputs("set xlabel 'false-positive rate p'\nset ylabel 'bits per key'\nset logscale x 10\n", gnuplot);
    fprintf(gnuplot, "set xrange [%g:%g]\nset yrange [0:%g]\nset rmargin 17\nunset key\n", plot->first * margin,
            plot->last / margin, plot->top);
    int first = (int)ceil(-log10(plot->first) - 1e-9), last = (int)floor(-log10(plot->last) + 1e-9);
    int step = (last - first) / 8 + 1;
    fputs("set xtics (", gnuplot);
    for (int i = first; i <= last; i += step)
        fprintf(gnuplot, "%s'%s%.*f' 1e-%d", i > first ? ", " : "", i > 3 ? "1e-" : "", i > 3 ? 0 : i,
                i > 3 ? (double)i : pow(10, -i), i);
    fputs(")\n", gnuplot);
}

static void write_script(struct plot *plot, const struct options *options, FILE *gnuplot) {
    const struct curve *end = plot->curves + plot->curve_count;
    write_axes(plot, gnuplot);
    for (const struct curve *curve = plot->curves; curve < end; curve++) name_curve(plot, curve, gnuplot);
    append_text(add_name(plot, "#000000", log2(1 / plot->last)), NAME_TEXT, "minimum, log2(1/p)");
    write_names(plot, gnuplot);
    if (given(options, OPT_FPR))
        fprintf(gnuplot, "set arrow from %g,graph 0 to %g,graph 1 nohead dt 3 lc rgb '#888888'\n", options->fpr,
                options->fpr);

    /* Lines break where a kind has no layout. */
    for (const struct curve *curve = plot->curves; curve < end; curve++) {
        fprintf(gnuplot, "$%s << END\n", curve->row->name);
        for (size_t i = 0; i < POINTS; i++) {
            if (curve->bits[i] > 0) fprintf(gnuplot, "%g %g", rate_at(plot, i), curve->bits[i]);
            fputc('\n', gnuplot);
        }
        fputs("END\n", gnuplot);
    }
    fprintf(gnuplot, "$limit << END\n%g %g\n%g %g\nEND\n", plot->first, log2(1 / plot->first), plot->last,
            log2(1 / plot->last));

    fputs("plot $limit title 'limit' with lines lc rgb '#000000' lw 2 dt 2", gnuplot);
    for (const struct curve *curve = plot->curves; curve < end; curve++)
        fprintf(gnuplot, ", \\\n  $%s title '%s' with lines lc rgb '%s' lw 2.5", curve->row->name, curve->row->name,
                curve->colour);
    fputc('\n', gnuplot);
}

static int cannot_draw(const char *path, const char *why) {
    return why ? failure(path, "the picture cannot be written: %s", why) : FINE;
}

int plan_plot_ready(const struct options *options) {
    if (options->kind == PERHAPS_BITMAP)
        return failure("--plot",
                       "a bitmap has no false positives, so that there is no rate to draw; leave out -k bitmap");
    return cannot_draw(options->plot, picture_ready(options->plot, given(options, OPT_FORCE)));
}

/* A rate beyond the usual ones widens the picture. */
int plan_plot(const perhaps_want *want, const struct options *options) {
    struct plot *plot = calloc(1, sizeof *plot);
    if (!plot) return cannot_draw(options->plot, strerror(errno));
    plot->keys = want->items;
    plot->first = fmax(0.1, options->fpr);
    plot->last = given(options, OPT_FPR) ? fmin(1e-6, options->fpr) : 1e-6;
    fill_curves(plot, want, options);
    const char *why = "no kind can do what is asked for";
    FILE *gnuplot = NULL;
    if (plot->curve_count && !(gnuplot = picture_script(WIDTH, HEIGHT))) why = strerror(errno);
    if (gnuplot) {
        write_script(plot, options, gnuplot);
        why = picture_draw(gnuplot, "Bits per key against the false-positive rate", options->plot,
                           given(options, OPT_FORCE));
    }
    free(plot);
    return cannot_draw(options->plot, why);
}
