/*
 * How a growing filter grows: the size of its next layer, and the layer's share of the
 * false-positive rate p. docs/growing.md has the reasons, bench/layers.c the simulation.
 *
 * With T keys of room in all layers, the next layer has room for (r - 1)·T: r is 4 while T is below
 * 2^12, 8 while it is below 2^18, then 2.
 *
 * The layers' rates add up, and the sum must stay below p forever. So the first layer, with room
 * for T = 2^x keys, gets the share p·w(x), where w has one hump. A later layer that brings the room
 * to T gets w(x) of what the first leaves of p: a filter that was plain before it began to grow
 * (perhaps_grow_layers) may have taken most of it.
 *
 *     w │      ┌──────────────┐
 *       │     ╱                ╲__
 *       │   _╱                    ╲___
 *       │__╱                          ╲______________
 *       └──────┴──────────────┴───────────────────────▶ x
 *              18             27
 *
 * Small layers take little memory, however small their rate: below 2^18, w halves with every
 * halving of T. From there to 2^27 it is flat, and beyond it falls as 1/x², so the sum is finite.
 * For a function with one hump, samples at least h apart add up to at most integral / h + maximum,
 * wherever they begin: this gives the height.
 *
 * Growth of the newest (word GROWTH has GROWTH_OF_NEWEST) is for filters that grow little, and in
 * which memory counts more than time. With room c in the first layer and n in the newest, the next
 * has room for growth · n keys, and from T = 16c on for at least T / 2. Its share is mostly that of
 * a series in T, 2c / (T + c), which falls from 1 to 0: with growth 2 the shares are
 * 1/2, 1/4, 1/8, ... Below growth 2 it is 4c / (T + 3c), which falls more slowly. The rest of the
 * share is w(x), so that layers that come late are not too strict.
 *
 *     2c / (T + c)    1     1/2      1/4              1/8
 *                     |  c  |   2c   |       4c       |              8c              |
 *
 * Where shards grow, T is the room in all of them together.
 *
 * Layers that must nest cannot have a smaller rate than a newer one. For them w is flat from x = 0.
 */
#include "base/error.h"
#include "plan/composite_plan.h"

#include <math.h>

static const double flat_from = 18, flat_to = 27, tail = 4;
static const double series_if_slow = 0.8, series_if_steep = 0.65, series_if_nested = 0.5;
enum { MANY_LAYERS = 16 };

/* The factor by which the room grows. `growth` is in 256ths; 0 is the rule above. */
static double factor(uint64_t growth, double total) {
    return growth ? (double)growth / GROWTH_ONE : total < 0x1p12 ? 4 : total < 0x1p18 ? 8 : 2;
}

/* The smallest distance between two layers, in powers of two. Nested layers are whole multiples of
 * the newest: rounding down may bring them nearer. */
static double distance(const struct kind *base, double growth) {
    double factor = growth == 0 ? 2 : growth;
    return log2(plan_nests(base) ? 1 + (factor - 1) * 0.75 : factor);
}

double plan_share(const struct kind *base, double growth, double room) {
    bool nests = plan_nests(base);
    double x = log2(room), integral = (nests ? flat_to : flat_to - flat_from + 1 / log(2)) + tail;
    double height = 1 / (integral / distance(base, growth) + 1);
    if (x > flat_to) return height * pow(tail / (tail + x - flat_to), 2);
    return x < flat_from && !nests ? height * exp2(x - flat_from) : height;
}

unsigned plan_layer_lines(const struct kind *base, uint64_t items, double fpr) {
    perhaps_want want = PERHAPS_WANT(.kind = base->row.kind, .items = items, .fpr = fpr);
    struct level level;
    const struct layout_search *search = base->model->search;
    if (!search || !search->handicap || plan_single(base, &want, &level) < 0) return 0;
    return base->model->cache_lines(level.layout);
}

static double siblings(const struct layers *layers) {
    return layers->siblings ? (double)layers->siblings : 1;
}

static bool of_newest(const struct layers *layers) {
    return layers->growth >= GROWTH_OF_NEWEST;
}

/* Whether each layer is at least twice as large as the one before. */
static bool is_steep(const struct layers *layers) {
    return layers->growth - GROWTH_OF_NEWEST >= 2 * GROWTH_ONE;
}

/* Whether it has grown so much that layers of one size would be too many. */
static bool has_many(const struct layers *layers) {
    return layers->total / MANY_LAYERS >= layers->first;
}

/* The least growth of all layers together where w(x) counts; in whole multiples of the newest from
 * three of a size to four. */
static double least_growth(const struct layers *layers) {
    return is_steep(layers) ? 2 : 4.0 / 3;
}

/* What of a series is left with that much room. */
static double rest_of_series(const struct layers *layers, double room) {
    double first = (double)layers->first, flat = is_steep(layers) ? 1 : 3;
    return (1 + flat) * first / (room + flat * first);
}

/* How much of all shares the series is. */
static double share_of_series(const struct layers *layers) {
    if (!is_steep(layers)) return series_if_slow;
    return plan_nests(layers->base) ? series_if_nested : series_if_steep;
}

/* The share of a layer that brings the room of one filter to `room`; all siblings count
 * together. */
static double share_of(const struct layers *layers, double room) {
    double all = room * siblings(layers);
    if (!of_newest(layers)) return plan_share(layers->base, (double)layers->growth / GROWTH_ONE, all);
    double in_series = rest_of_series(layers, (double)layers->total) - rest_of_series(layers, room);
    double late = is_steep(layers) || has_many(layers) ? plan_share(layers->base, least_growth(layers), all) : 0;
    double most = share_of_series(layers);
    return most * in_series + (1 - most) * late;
}

/* How many keys the next layer is to be for. */
static double wanted_of(const struct layers *layers) {
    double total = (double)layers->total, newest = (double)layers->newest, half = 0;
    if (!of_newest(layers)) return ceil((factor(layers->growth, total * siblings(layers)) - 1) * total);
    if (has_many(layers)) half = total / 2;
    return ceil(fmax((double)(layers->growth - GROWTH_OF_NEWEST) / GROWTH_ONE * newest, half));
}

static int too_large(const struct kind *base) {
    return fail(PERHAPS_ERANGE, "no further layer is possible: %s has no layout of that size and rate", base->row.name);
}

static int nest_layer(const struct layers *layers, double wanted, struct level *level) {
    const struct model *model = layers->base->model;
    double times = floor(wanted / (double)layers->newest);
    const char *reason;
    if (times < 1) times = 1;
    double room = (double)layers->total + times * (double)layers->newest;
    double rate = plan_without_noise(layers->rest * share_of(layers, room));
    level->kind = layers->base;
    if (!(times < 0x1p32) ||
        !model->layering->nest(layers->layout, (uint64_t)times, rate, level->layout, &level->capacity))
        return too_large(layers->base);
    level->length = layers->base->payload_bytes(level->layout, &reason);
    level->fpr = plan_without_noise(model->fpr(level->layout, level->capacity));
    return level->length ? PERHAPS_OK : too_large(layers->base);
}

double plan_growth_of(uint64_t word) {
    return word >= GROWTH_OF_NEWEST ? -(double)(word - GROWTH_OF_NEWEST) / GROWTH_ONE : (double)word / GROWTH_ONE;
}

int plan_next_layer(const struct layers *layers, struct level *level) {
    const struct layering *layering = layers->base->model->layering;
    if (layering && layering->next_layer) return layering->next_layer(layers, level);
    double total = (double)layers->total, wanted = wanted_of(layers);
    if (!(wanted < 0x1p62)) return too_large(layers->base);
    if (!(layers->rest > 0))
        return fail(PERHAPS_ERANGE, "no further layer is possible: the first has all of the rate of %g", layers->fpr);
    if (plan_nests(layers->base)) return nest_layer(layers, wanted, level);
    perhaps_want want =
        PERHAPS_WANT(.kind = layers->base->row.kind, .items = (uint64_t)wanted, .shards = (unsigned)layers->siblings);
    want.lines = of_newest(layers) ? 0 : plan_layer_lines(layers->base, want.items, layers->fpr);
    want.fpr = plan_without_noise(layers->rest * share_of(layers, total + wanted));
    return plan_single(layers->base, &want, level);
}
