/* perhaps plan: what every kind of filter would cost. */
#include "options/abilities.h"
#include "commands.h"
#include "output/numbers.h"
#include "output/report.h"
#include "options/want.h"

#include <math.h>

/* A kind's answer to the want: a plan, or why there is none. */
struct answer {
    const struct perhaps_kind_row *row;
    struct perhaps_plan plan;
    int rc;
    unsigned can;
    bool recommended;
    char why[300];
};

enum { MOST_KINDS = 32 };

/* What is printed. */
struct comparison {
    const perhaps_want *want;
    struct perhaps_plan best;
    size_t n;
    struct answer answers[MOST_KINDS];
    double rate, limit; /* no filter can do with fewer bits per key at that rate */
};

static void ask(const perhaps_want *want, const struct options *options, struct answer *answer) {
    perhaps_want one = *want;
    one.kind = answer->row->kind;
    one.needs = 0;
    bool bloom = one.kind == PERHAPS_BLOOM;
    if (given(options, OPT_PRESET) && !bloom) one.hashes = 0; /* the k of a preset is for bloom */
    answer->plan = (struct perhaps_plan){.size = sizeof answer->plan};
    answer->rc = perhaps_plan(&one, &answer->plan);
    if (answer->rc < 0) snprintf(answer->why, sizeof answer->why, "%s", perhaps_why());
    answer->can = answer->rc < 0 ? answer->row->can : answer->plan.can;
    unsigned lacking = want->needs & ~answer->can;
    if (lacking) {
        char names[100];
        answer->rc = PERHAPS_ECANNOT;
        snprintf(answer->why, sizeof answer->why, "cannot %s", abilities_text(lacking, ", ", names, sizeof names));
    }
}

/* Asks the kind that -k names, or all that may be chosen; a bitmap never is, being for integers
 * only. A composite filter does not say what it is made of: the first kind with its plan does. */
static void ask_all(struct comparison *c, const struct options *options) {
    bool found = false;
    if (given(options, OPT_KIND)) c->answers[c->n++].row = kind_row(options->kind);
    for (size_t row = 0; !given(options, OPT_KIND) && perhaps_kind(row) && c->n < MOST_KINDS; row++)
        if (perhaps_kind(row)->kind != PERHAPS_BITMAP) c->answers[c->n++].row = perhaps_kind(row);
    for (struct answer *answer = c->answers; answer < c->answers + c->n; answer++) {
        const struct perhaps_plan *plan = &answer->plan, *best = &c->best;
        ask(c->want, options, answer);
        answer->recommended = !found && answer->rc == PERHAPS_OK && plan->kind == best->kind &&
                              plan->bytes == best->bytes && plan->hashes == best->hashes &&
                              plan->lines == best->lines && plan->items == best->items;
        found |= answer->recommended;
    }
}

/* The formula of the textbooks, for those who know it: m bits and k hashes for n keys at rate p. */
struct classic {
    double keys, bits, rate;
    unsigned hashes;
};

static struct classic classic_formula(const perhaps_want *want) {
    struct classic c = {.keys = (double)want->items, .rate = want->fpr};
    double ln2 = log(2);
    if (want->bytes) c.bits = (double)want->bytes * 8;
    if (want->bits_per_key > 0) c.bits = floor(c.keys * want->bits_per_key);
    if (c.bits == 0) c.bits = floor(-c.keys * log(c.rate) / (ln2 * ln2));
    if (c.keys == 0) c.keys = floor(c.bits * ln2 * ln2 / -log(c.rate));
    c.bits = fmin(c.bits, 0x1p63); /* beyond, no number of the program's can hold it */
    c.keys = fmin(fmax(c.keys, 1), 0x1p63);
    double hashes = round(c.bits / c.keys * ln2);
    c.hashes = hashes < 1 ? 1 : hashes > 1e6 ? 1000000 : (unsigned)hashes;
    if (c.rate == 0) c.rate = pow(1 - exp(-(double)c.hashes * c.keys / c.bits), c.hashes);
    return c;
}

/* The most that a window by time has, whatever the rhythm in which keys come. */
static unsigned generations_in_bursts(const perhaps_want *want) {
    return 2 * want->generations - 2;
}

static uint64_t bytes_in_bursts(const perhaps_want *want, const struct perhaps_plan *plan) {
    return plan->bytes / want->generations * generations_in_bursts(want);
}

static void print_row(const struct answer *answer, bool coloured) {
    char bytes[NUMBER_TEXT], items[NUMBER_TEXT], can[100];
    const struct perhaps_plan *plan = &answer->plan;
    bool marked = coloured && answer->recommended;
    if (answer->rc < 0) {
        printf("  %-10s %s\n", answer->row->name, answer->why);
        return;
    }
    printf("%s%c %-10s %9.2f %16s %14s %10.4g %4u %6u  %s%s\n", marked ? "\033[1;32m" : "",
           answer->recommended ? '*' : ' ', answer->row->name, plan->bits_per_key, group_digits(plan->bytes, bytes),
           group_digits(plan->items, items), plan->fpr, plan->hashes, plan->lines,
           answer->can ? abilities_text(answer->can, " ", can, sizeof can) : "static", marked ? "\033[0m" : "");
}

static void print_text(const struct comparison *c) {
    const perhaps_want *want = c->want;
    const struct perhaps_plan *best = &c->best;
    bool coloured = colour_for(stdout);
    char shards[40] = "", items[NUMBER_TEXT], bits[NUMBER_TEXT], rate[NUMBER_TEXT];
    printf("  %-10s %9s %16s %14s %10s %4s %6s  %s\n", "kind", "bits/key", "bytes", "keys", "fpr", "k", "lines", "can");
    for (size_t i = 0; i < c->n; i++) print_row(&c->answers[i], coloured);
    printf("\n  * recommended: what 'perhaps build' makes of the same options\n");

    /* Of composite filters: what the numbers are of. */
    if (want->shards) snprintf(shards, sizeof shards, ", in %u shards", want->shards);
    if (want->grow == PERHAPS_GROW_LAYERS)
        printf("  layers: this is the first, for %s keys%s; more are appended as it fills, and the rate holds\n",
               group_digits(best->items, items), shards);
    else if (want->shards)
        printf("  the whole filter%s, with some room for unequal shards\n", shards);
    if (best->kind == PERHAPS_WINDOW)
        printf("  window: all generations, which hold a little more than must be remembered\n");
    if (want->period)
        printf("  in bursts it has up to %u generations in place of %u: %s bytes\n", generations_in_bursts(want),
               want->generations, group_digits(bytes_in_bursts(want, best), items));
    if (want->kind == PERHAPS_ANY && !want->needs)
        printf("  static: built from all keys at once, query-only afterwards; see --static and --smallest\n");

    if (c->rate == 0) return; /* exact: nothing to compare with */
    printf("  minimum: %.2f bits per key at a false-positive rate of %s\n", c->limit, human_rate(c->rate, rate));
    struct classic classic = classic_formula(want);
    if (want->kind != PERHAPS_TABLE)
        printf("  classic Bloom formula: k = %u, %s bits before rounding, for %s keys at %s\n", classic.hashes,
               group_digits((uint64_t)classic.bits, bits), group_digits((uint64_t)classic.keys, items),
               human_rate(classic.rate, rate));
    if (want->kind == PERHAPS_ANY && !(want->needs & ~kind_row(PERHAPS_BITMAP)->can))
        printf("  for dense integers from 0 to N, a bitmap is exact in N / 8 bytes: see -k bitmap\n");
}

static void print_kind_json(struct json *json, const struct answer *answer, const perhaps_want *want) {
    const struct perhaps_plan *plan = &answer->plan;
    json_open(json, NULL, '{');
    json_text(json, "kind", answer->row->name);
    if (answer->rc < 0) {
        json_text(json, "error", answer->why);
    } else {
        json_real(json, "bits_per_key", plan->bits_per_key);
        json_count(json, "bytes", plan->bytes);
        if (want->period) json_count(json, "bytes_in_bursts", bytes_in_bursts(want, plan));
        json_count(json, "image_bytes", plan->image_bytes);
        json_count(json, "items", plan->items);
        json_real(json, "fpr", plan->fpr);
        json_real(json, "loss", plan->loss);
        json_count(json, "hashes", plan->hashes);
        json_count(json, "cache_lines", plan->lines);
    }
    json_abilities(json, answer->can);
    json_flag(json, "recommended", answer->recommended);
    json_close(json, '}');
}

static void print_json(const struct comparison *c) {
    struct json json = {0};
    struct classic classic = classic_formula(c->want);
    json_open(&json, NULL, '{');
    json_count(&json, "items", c->want->items ? c->want->items : c->best.items);
    json_real(&json, "fpr", c->rate);
    json_real(&json, "limit_bits_per_key", c->limit);
    json_open(&json, "classic", '{');
    json_count(&json, "hashes", classic.hashes);
    json_count(&json, "bits", (uint64_t)classic.bits);
    json_close(&json, '}');
    json_open(&json, "kinds", '[');
    for (size_t i = 0; i < c->n; i++) print_kind_json(&json, &c->answers[i], c->want);
    json_close(&json, ']');
    json_end(&json);
}

int cmd_plan(const struct options *options) {
    perhaps_want want;
    struct comparison c = {.want = &want, .best.size = sizeof c.best};
    struct options filled = *options;
    bool fixed = given(options, OPT_ITEMS) || options->window.keys || options->bytes ||
                 (options->bits_per_key > 0 && options->fpr > 0);
    if (options->plot && !fixed) filled.items = 1000000; /* for all rates, it hardly matters */
    if (want_from_options(&want, &filled) != FINE) return TROUBLE;
    int rc = perhaps_plan(&want, &c.best);
    if (rc < 0) return library_failure(NULL, rc);
    if (options->plot && plan_plot_ready(options) != FINE) return TROUBLE;
    ask_all(&c, options);
    /* A rate is wanted of a bitmap only for form's sake: it has no false positives. */
    c.rate = want.fpr > 0 && c.best.fpr > 0 ? want.fpr : c.best.fpr;
    c.limit = c.rate > 0 ? log2(1 / c.rate) : c.best.limit_bits_per_key;
    if (given(options, OPT_JSON))
        print_json(&c);
    else
        print_text(&c);
    if (!options->plot) return FINE;
    if (!want.items) want.items = c.best.items;
    return plan_plot(&want, options);
}
