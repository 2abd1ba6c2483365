/*
 * How should a filter of unknown size grow, and how should its layers share the error? Works out,
 * for some rules, what layers they lay, and prints what these cost beside one filter planned for
 * the true number of keys. Not a part of the library; perhaps_plan says what a layer takes.
 *
 *     perhaps_layers [FPR] [ITEMS]      of the whole filter, 0.01; of the first layer, 1,000
 *
 * A rule says two things. With T keys in all full layers, growth r makes the next layer one of (r -
 * 1) · T keys:
 *
 *     |1|  3  |          12           |                        48  ...          r = 4
 *     |1|1| 2 |   4   |       8       |              16            |  ...       r = 2
 *
 * And each layer gets a share of the rate p. A non-member is looked up in every layer, so the
 * shares of all layers that will ever come must sum to at most 1. Geometric shares, 1, f, f^2, ...
 * times 1 - f, depend on the number of the layer; equal ones end after that many layers. The hump
 * depends on the number of keys after the layer, x = log2(T):
 *
 *     share       ________________
 *                /                \__
 *             __/                    \___
 *     _______/                           \______________
 *     x         from            27                     40
 *
 * It falls by half with each halving of T below `from`, by (4 / (4 + x - 27))^2 beyond 27. For a
 * function with a single hump, samples at least h apart sum to at most integral / h + maximum; with
 * h = log2(r) that gives the height.
 *
 * Layers of a cuckoo filter nest: fingerprints only get longer, so shares must not grow again, and
 * a layer is a whole number of times as large as the one before. There the hump begins at 0, flat.
 */
#include <math.h>
#include <perhaps.h>
#include <stdio.h>
#include <stdlib.h>

static const double flat_end = 27, tail = 4;
/* Layers in whole multiples grow by so much less. */
static const double multiples = 0.75;
/* Costs are looked at between these numbers of keys. */
static const double from_keys = 1e6, to_keys = 1e8;
static const double far_keys = 0x1p40; /* and sums of shares up to here */

enum sharing { HUMP, GEOMETRIC, EQUAL };

/* Growth of small filters: this much below that many keys, in rising order; 0 past the last. */
struct start {
    double until, growth;
};

static const struct start steady[] = {{0, 0}};
static const struct start by_4[] = {{0x1p18, 4}, {0, 0}};
static const struct start by_16_and_8[] = {{0x1p15, 16}, {0x1p18, 8}, {0, 0}};
static const struct start by_4_and_8[] = {{0x1p12, 4}, {0x1p18, 8}, {0, 0}};

struct rule {
    const char *name;
    const struct start *start;
    double growth; /* of larger filters */
    double value;  /* hump: from; geometric: factor; equal: number of layers */
    enum sharing sharing;
    int any_lines; /* blocked: 0 = a layer touches no more cache lines than the planned filter */
};

/* The first is the library's, as in src/plan/layers.c. */
static const struct rule rules[] = {
    {"hump 18, r = 4, 8, 2", by_4_and_8, 2, 18, HUMP, 0},
    {"  the same, any lines", by_4_and_8, 2, 18, HUMP, 1},
    {"hump 19, r = 4, 8, 2", by_4_and_8, 2, 19, HUMP, 0},
    {"hump 18, r = 16, 8, 2", by_16_and_8, 2, 18, HUMP, 0},
    {"hump 18, r = 4, 2", by_4, 2, 18, HUMP, 0},
    {"hump 18, r = 1.5", steady, 1.5, 18, HUMP, 0},
    {"hump 18, r = 2", steady, 2, 18, HUMP, 0},
    {"hump 18, r = 2.2", steady, 2.2, 18, HUMP, 0},
    {"hump 18, r = 3", steady, 3, 18, HUMP, 0},
    {"hump 18, r = 4", steady, 4, 18, HUMP, 0},
    {"geometric 0.5, r = 2", steady, 2, .5, GEOMETRIC, 0},
    {"geometric 0.5, r = 4", steady, 4, .5, GEOMETRIC, 0},
    {"geometric 0.85, r = 2", steady, 2, .85, GEOMETRIC, 0},
    {"geometric 0.85, r = 4", steady, 4, .85, GEOMETRIC, 0},
    {"geometric 0.9, r = 4, 8, 2", by_4_and_8, 2, .9, GEOMETRIC, 0},
    {"16 equal, r = 4, 8, 2", by_4_and_8, 2, 16, EQUAL, 0},
    {"32 equal, r = 4, 8, 2", by_4_and_8, 2, 32, EQUAL, 0},
};

/* Batch query of a non-member in a filter of that many bytes, in ns, from `perhaps bench`. */
enum { COSTS = 6 };
static const double cost_bytes[COSTS] = {0x1p19, 0x1p20, 0x1p24, 0x1p27, 0x1p28, 0x1p30};

struct base {
    int kind;
    const char *name;
    int nested;
    double ns[COSTS];
};

static const struct base bases[] = {
    {PERHAPS_BLOCKED, "blocked", 0, {1.4, 1.6, 3.8, 7, 9.5, 11}},
    {PERHAPS_BLOOM, "bloom", 0, {10, 12, 18, 25, 29, 35}},
    {PERHAPS_CUCKOO, "cuckoo", 1, {3.5, 4.5, 8, 16, 21, 25}},
};

/* What one filter takes: all layers, or one. */
struct cost {
    double bytes, ns;
};

/* All layers so far. */
struct filter {
    const struct rule *rule;
    const struct base *base;
    double fpr;
    double total, last; /* keys in all layers, in the newest */
    double shares;      /* their sum */
    double first;       /* that of the first */
    unsigned layers;
    struct cost cost;
};

/* What came of a rule: the worst over all first layers tried. */
struct outcome {
    double layers, shares, far_shares; /* at to_keys, at far_keys */
    double full, worst, time;          /* beside the planned filter */
};

/* ---- rules ---- */

/* `from` 0 stands for a hump that has no left side. */
static double hump(double from, double spacing, double x) {
    double left = from > 0 ? 1 / log(2) : 0;
    double top = 1 / ((flat_end - from + left + tail) / spacing + 1);
    if (x < from) return top * exp2(x - from);
    return x <= flat_end ? top : top * pow(tail / (tail + x - flat_end), 2);
}

/* Under a hump, later layers share what the first has left. */
static double share(const struct filter *f, double total) {
    const struct rule *rule = f->rule;
    if (rule->sharing == EQUAL) return 1 / rule->value;
    if (rule->sharing == GEOMETRIC) return (1 - rule->value) * pow(rule->value, f->layers);
    double from = f->base->nested ? 0 : rule->value;
    double spacing = log2(f->base->nested ? 1 + (rule->growth - 1) * multiples : rule->growth);
    return (1 - f->first) * hump(from, spacing, log2(total));
}

static double growth(const struct rule *rule, double total) {
    for (const struct start *start = rule->start; start->until > 0; start++)
        if (total < start->until) return start->growth;
    return rule->growth;
}

static double next_capacity(const struct filter *f) {
    double wanted = floor((growth(f->rule, f->total) - 1) * f->total);
    if (f->base->nested) wanted = fmax(1, floor(wanted / f->last)) * f->last;
    return fmax(1, wanted);
}

/* ---- costs ---- */

static double query_ns(const struct base *base, double bytes) {
    if (bytes <= cost_bytes[0]) return base->ns[0];
    for (int i = 1; i < COSTS; i++)
        if (bytes <= cost_bytes[i]) {
            double part = log2(bytes / cost_bytes[i - 1]) / log2(cost_bytes[i] / cost_bytes[i - 1]);
            return base->ns[i - 1] + part * (base->ns[i] - base->ns[i - 1]);
        }
    return base->ns[COSTS - 1];
}

static struct perhaps_plan plan_of(const struct base *base, double items, double fpr, unsigned lines) {
    perhaps_want want = PERHAPS_WANT(.kind = base->kind, .items = (uint64_t)items, .fpr = fpr, .lines = lines);
    struct perhaps_plan plan = {.size = sizeof plan};
    if (perhaps_plan(&want, &plan) >= 0) return plan;
    fprintf(stderr, "layers: %s\n", perhaps_why());
    exit(1);
}

static struct cost cost_of(const struct base *base, const struct perhaps_plan *plan) {
    /* A non-member costs all cache lines of blocked; else the first bit or two slots decide. */
    double lines = base->kind == PERHAPS_BLOCKED ? plan->lines : 1;
    return (struct cost){(double)plan->bytes, lines * query_ns(base, (double)plan->bytes)};
}

/* One filter for n keys. */
static struct cost planned(const struct filter *f, double n) {
    struct perhaps_plan plan = plan_of(f->base, n, f->fpr, 0);
    return cost_of(f->base, &plan);
}

static struct cost cost_of_layer(const struct filter *f, double capacity, double fpr) {
    int limited = f->base->kind == PERHAPS_BLOCKED && !f->rule->any_lines;
    unsigned lines = limited ? plan_of(f->base, capacity, f->fpr, 0).lines : 0;
    struct perhaps_plan plan = plan_of(f->base, capacity, fpr, lines);
    return cost_of(f->base, &plan);
}

/* ---- growing ---- */

/* Only shares, since no machine can plan so far. */
static double far_shares(struct filter f) {
    while (f.total < far_keys) {
        f.last = next_capacity(&f);
        f.total += f.last;
        f.shares += share(&f, f.total);
        f.layers++;
    }
    return f.shares;
}

static void add_layer(struct filter *f, double capacity) {
    double part = share(f, f->total + capacity);
    struct cost layer = cost_of_layer(f, capacity, part * f->fpr);
    if (f->layers == 0) f->first = part;
    f->last = capacity;
    f->total += capacity;
    f->shares += part;
    f->layers++;
    f->cost.bytes += layer.bytes;
    f->cost.ns += layer.ns;
}

/* All bytes beside those of a filter planned for n keys. */
static double size_ratio(const struct filter *f, double n) {
    return f->cost.bytes / planned(f, n).bytes;
}

static void keep_worst(double *worst, double value) {
    *worst = fmax(*worst, value);
}

/* Grows from one layer to the last that is looked at. */
static void grow(struct filter f, double items, struct outcome *outcome) {
    add_layer(&f, items);
    while (f.total < to_keys) {
        double before = f.total;
        add_layer(&f, next_capacity(&f));
        if (f.total < from_keys) continue;
        keep_worst(&outcome->worst, size_ratio(&f, fmax(before, from_keys)));
        if (f.total <= to_keys) keep_worst(&outcome->full, size_ratio(&f, f.total));
    }
    keep_worst(&outcome->layers, f.layers);
    keep_worst(&outcome->shares, f.shares);
    keep_worst(&outcome->far_shares, far_shares(f));
    keep_worst(&outcome->time, f.cost.ns / planned(&f, to_keys).ns);
}

/* ---- printing ---- */

static void print_rule(const struct filter *f, double items) {
    enum { STARTS = 8 };
    struct outcome outcome = {0};
    /* Where a layer ends relative to the hump is chance; all cases lie between one first layer and
     * one of growth times as many keys. */
    for (int i = 0; i < STARTS; i++) grow(*f, floor(items * pow(growth(f->rule, items), (double)i / STARTS)), &outcome);
    printf("  %-29s %6.0f %9.3f %8.3f %8.2f %8.2f %8.2f\n", f->rule->name, outcome.layers, outcome.shares,
           outcome.far_shares, outcome.full, outcome.worst, outcome.time);
    fflush(stdout);
}

static void print_rules(const struct base *base, double fpr, double items) {
    printf("\n%-31s %6s %9s %8s %8s %8s %8s\n", base->name, "layers", "shares", "at 2^40", "full", "worst", "time");
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        print_rule(&(struct filter){.rule = &rules[i], .base = base, .fpr = fpr}, items);
}

/* The first rule, layer by layer. */
static void print_layers(const struct base *base, double fpr, double items) {
    struct filter f = {.rule = rules, .base = base, .fpr = fpr};
    printf("\n%s: %s\n  %5s %11s %11s %8s %8s %8s %8s\n", base->name, rules->name, "layer", "keys", "in all", "share",
           "bits/key", "full", "time");
    while (f.total < to_keys) {
        double bytes = f.cost.bytes, shares = f.shares;
        add_layer(&f, f.layers ? next_capacity(&f) : items);
        printf("  %5u %11.0f %11.0f %8.4f %8.2f %8.2f %8.2f\n", f.layers, f.last, f.total, f.shares - shares,
               8 * (f.cost.bytes - bytes) / f.last, size_ratio(&f, f.total), f.cost.ns / planned(&f, f.total).ns);
    }
}

static double argument(const char *text, double least, double most) {
    char *end;
    double number = strtod(text, &end);
    if (*end == '\0' && end != text && number >= least && number <= most) return number;
    fprintf(stderr, "layers: '%s' is not a number from %g to %g; usage: perhaps_layers [FPR] [ITEMS]\n", text, least,
            most);
    exit(2);
}

int main(int count, char **arguments) {
    double fpr = count > 1 ? argument(arguments[1], 1e-9, 0.5) : 0.01;
    double items = count > 2 ? floor(argument(arguments[2], 1, from_keys)) : 1000;
    printf("layers for a rate of %g, the first of %g keys and up to r times as many; the worst of these\n", fpr, items);
    puts("layers, shares: their number and the sum of their shares at 10^8 keys; at 2^40: the sum there\n"
         "full, worst: bytes beside a planned filter's with 10^6 to 10^8 keys, when the newest layer is full and when "
         "it\n"
         "is new; time: of a query of a non-member at 10^8 keys, beside the planned filter's, estimated");
    for (size_t i = 0; i < sizeof bases / sizeof *bases; i++) print_rules(&bases[i], fpr, items);
    for (size_t i = 0; i < sizeof bases / sizeof *bases; i++) print_layers(&bases[i], fpr, items);
    return 0;
}
