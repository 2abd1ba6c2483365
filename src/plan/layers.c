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
 * Where shards grow, T is the room in all of them together.
 *
 * Layers that must nest cannot have a smaller rate than a newer one. For them w is flat from x = 0.
 */
#include "base/error.h"
#include "plan/composite_plan.h"

#include <math.h>

static const double flat_from = 18, flat_to = 27, tail = 4;

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

/* The share of a layer that brings the room of one filter to `room`; all siblings count
 * together. */
static double share_of(const struct layers *layers, double room) {
    return plan_share(layers->base, (double)layers->growth / GROWTH_ONE, room * siblings(layers));
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

int plan_next_layer(const struct layers *layers, struct level *level) {
    const struct layering *layering = layers->base->model->layering;
    if (layering && layering->next_layer) return layering->next_layer(layers, level);
    double total = (double)layers->total, wanted = ceil((factor(layers->growth, total * siblings(layers)) - 1) * total);
    if (!(wanted < 0x1p62)) return too_large(layers->base);
    if (!(layers->rest > 0))
        return fail(PERHAPS_ERANGE, "no further layer is possible: the first has all of the rate of %g", layers->fpr);
    if (plan_nests(layers->base)) return nest_layer(layers, wanted, level);
    perhaps_want want = PERHAPS_WANT(.kind = layers->base->row.kind, .items = (uint64_t)wanted);
    want.lines = plan_layer_lines(layers->base, want.items, layers->fpr);
    want.fpr = plan_without_noise(layers->rest * share_of(layers, total + wanted));
    return plan_single(layers->base, &want, level);
}
