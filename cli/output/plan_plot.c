#include "plan_plot.h"
#include "bench/picture.h"
#include "options/abilities.h"
#include "numbers.h"
#include "report.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 800, HEIGHT = 520, POINTS = 241, MOST_CURVES = 32 };

/* A kind's bits per key at every rate; 0 where it has no layout. */
struct curve {
    const struct perhaps_kind_row *row;
    const char *colour;
    double bits[POINTS];
};

/* A name in the right margin, at the height of what it names. */
struct name {
    char text[80];
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

/* -------------------------------------------------------------------------------------------------- figures --- */

/* The wanted filter, but of one kind and with the rate given instead of the size. The k of a preset belongs to its size. */
static perhaps_want want_at(const perhaps_want *want, const struct options *options, int kind, double rate) {
    perhaps_want one = *want;
    one.kind = kind;
    one.fpr = rate;
    one.bits_per_key = 0;
    one.bytes = 0;
    if (!given(options, OPT_HASHES)) one.hashes = 0;
    return one;
}

static bool fill_curve(const struct plot *plot, struct curve *curve, const perhaps_want *want,
                       const struct options *options) {
    bool any = false;
    for (size_t i = 0; i < POINTS; i++) {
        perhaps_want one = want_at(want, options, curve->row->kind, rate_at(plot, i));
        struct perhaps_plan plan = {.size = sizeof plan};
        bool planned = perhaps_plan(&one, &plan) == PERHAPS_OK;
        curve->bits[i] = planned ? plan.bits_per_key : 0;
        any |= planned;
    }
    return any;
}

/* The kinds, and after them the files of other programs. */
static const struct perhaps_kind_row *row_at(size_t i) {
    size_t kinds = 0;
    while (perhaps_kind(kinds)) kinds++;
    return i < kinds ? perhaps_kind(i) : perhaps_file_kind(i - kinds);
}

static void fill_curves(struct plot *plot, const perhaps_want *want, const struct options *options) {
    const struct perhaps_kind_row *row;
    for (unsigned i = 0; (row = row_at(i)) && plot->curve_count < MOST_CURVES; i++) {
        struct curve *curve = &plot->curves[plot->curve_count];
        bool usual = row->kind != PERHAPS_BITMAP && !is_file_kind(row->kind);
        bool shown = given(options, OPT_KIND) ? row->kind == options->kind : usual;
        *curve = (struct curve){.row = row, .colour = picture_colour(i)};
        if (shown && fill_curve(plot, curve, want, options)) plot->curve_count++;
    }
}

static double most_bits(const struct curve *curve) {
    double most = 0;
    for (size_t i = 0; i < POINTS; i++) most = fmax(most, curve->bits[i]);
    return most;
}

static double least_bits(const struct curve *curve) {
    double least = INFINITY;
    for (size_t i = 0; i < POINTS; i++)
        if (curve->bits[i] > 0) least = fmin(least, curve->bits[i]);
    return least;
}

/* A kind several times as large as the others would press them down to the axis: it may leave through the upper edge. */
static void choose_top(struct plot *plot) {
    double least = INFINITY;
    for (size_t i = 0; i < plot->curve_count; i++) least = fmin(least, most_bits(&plot->curves[i]));
    for (size_t i = 0; i < plot->curve_count; i++) {
        double most = most_bits(&plot->curves[i]);
        if (most <= 2 * least) plot->top = fmax(plot->top, 1.15 * most);
    }
}

/* ---------------------------------------------------------------------------------------------------- names --- */

static void add_name(struct plot *plot, const char *colour, double height) {
    struct name *name = &plot->names[plot->name_count++];
    name->colour = colour;
    name->height = height;
}

static void name_limit(struct plot *plot) {
    snprintf(plot->names[plot->name_count].text, sizeof plot->names->text, "limit, log2(1/p)");
    add_name(plot, "#000000", log2(1 / plot->last));
}

/* A curve above the upper edge all along has its numbers in place of a line. */
static void name_beyond(struct plot *plot, const struct curve *curve) {
    double least = least_bits(curve), most = most_bits(curve);
    char *text = plot->names[plot->name_count].text;
    int length = snprintf(text, sizeof plot->names->text, "\u2191 %s, %.3g", curve->row->name, least);
    if (most > 1.01 * least) snprintf(text + length, sizeof plot->names->text - (size_t)length, " to %.3g", most);
    add_name(plot, curve->colour, plot->top);
}

/* The last point of it that can be seen, or POINTS. */
static size_t last_seen(const struct plot *plot, const struct curve *curve) {
    for (size_t i = POINTS; i-- > 0;)
        if (curve->bits[i] > 0 && curve->bits[i] <= plot->top) return i;
    return POINTS;
}

/* A curve that ends within the picture has its name there, all others in the margin. */
static void name_curve(struct plot *plot, const struct curve *curve, FILE *gnuplot) {
    size_t end = last_seen(plot, curve);
    if (end == POINTS) {
        name_beyond(plot, curve);
    } else if (end == POINTS - 1) {
        snprintf(plot->names[plot->name_count].text, sizeof plot->names->text, "%s", curve->row->name);
        add_name(plot, curve->colour, curve->bits[end]);
    } else {
        fprintf(gnuplot, "set label '%s' at %g,%g offset 1,0 textcolor rgb '%s'\n", curve->row->name,
                rate_at(plot, end), curve->bits[end], curve->colour);
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

/* ---------------------------------------------------------------------------------------------------- script --- */

/* The rates of the axis, as -p takes them. */
static void write_marks(const struct plot *plot, FILE *gnuplot) {
    int first = (int)ceil(-log10(plot->first) - 1e-9), last = (int)floor(-log10(plot->last) + 1e-9);
    int step = (last - first) / 8 + 1;
    fputs("set xtics (", gnuplot);
    for (int i = first; i <= last; i += step)
        fprintf(gnuplot, "%s'%s%.*f' 1e-%d", i > first ? ", " : "", i > 3 ? "1e-" : "", i > 3 ? 0 : i,
                i > 3 ? (double)i : pow(10, -i), i);
    fputs(")\n", gnuplot);
}

static void write_axes(const struct plot *plot, FILE *gnuplot) {
    static const double margin = 1.0001; /* without it, gnuplot leaves out marks at the edges */
    char keys[NUMBER_TEXT];
    fprintf(gnuplot, "set title 'What a filter for %s keys takes'\n", group_digits(plot->keys, keys));
    fputs("set xlabel 'false-positive rate p'\nset ylabel 'bits per key'\nset logscale x 10\n", gnuplot);
    fprintf(gnuplot, "set xrange [%g:%g]\nset yrange [0:%g]\nset rmargin 17\nunset key\n", plot->first * margin,
            plot->last / margin, plot->top);
    write_marks(plot, gnuplot);
}

/* Lines break where a kind has no layout. */
static void write_data(const struct plot *plot, FILE *gnuplot) {
    for (size_t i = 0; i < plot->curve_count; i++) {
        const struct curve *curve = &plot->curves[i];
        fprintf(gnuplot, "$%s << END\n", curve->row->name);
        for (size_t j = 0; j < POINTS; j++) {
            if (curve->bits[j] > 0) fprintf(gnuplot, "%g %g", rate_at(plot, j), curve->bits[j]);
            fputc('\n', gnuplot);
        }
        fputs("END\n", gnuplot);
    }
    fprintf(gnuplot, "$limit << END\n%g %g\n%g %g\nEND\n", plot->first, log2(1 / plot->first), plot->last,
            log2(1 / plot->last));
}

static void write_script(struct plot *plot, const struct options *options, FILE *gnuplot) {
    write_axes(plot, gnuplot);
    for (size_t i = 0; i < plot->curve_count; i++) name_curve(plot, &plot->curves[i], gnuplot);
    name_limit(plot);
    write_names(plot, gnuplot);
    if (given(options, OPT_FPR))
        fprintf(gnuplot, "set arrow from %g,graph 0 to %g,graph 1 nohead dt 3 lc rgb '#888888'\n", options->fpr,
                options->fpr);
    write_data(plot, gnuplot);
    fputs("plot $limit title 'limit' with lines lc rgb '#000000' lw 2 dt 2", gnuplot);
    for (size_t i = 0; i < plot->curve_count; i++)
        fprintf(gnuplot, ", \\\n  $%s title '%s' with lines lc rgb '%s' lw 2.5", plot->curves[i].row->name,
                plot->curves[i].row->name, plot->curves[i].colour);
    fputc('\n', gnuplot);
}

static int cannot_draw(const char *path, const char *why) {
    return why ? failure(path, "the picture cannot be written: %s", why) : FINE;
}

static int draw(struct plot *plot, const struct options *options) {
    FILE *gnuplot = picture_script(WIDTH, HEIGHT);
    if (!gnuplot) return cannot_draw(options->plot, strerror(errno));
    write_script(plot, options, gnuplot);
    return cannot_draw(options->plot, picture_draw(gnuplot, options->plot, given(options, OPT_FORCE)));
}

int plan_plot_ready(const struct options *options) {
    if (options->kind == PERHAPS_BITMAP)
        return failure("--plot", "a bitmap makes no mistakes, so that there is no rate to draw; leave out -k bitmap");
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
    choose_top(plot);
    int status =
        plot->curve_count ? draw(plot, options) : cannot_draw(options->plot, "no kind can do what is asked for");
    free(plot);
    return status;
}
