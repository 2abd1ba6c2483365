#include "plan/plan.h"

#include "base/arith.h"
#include "base/memory.h"
#include "base/error.h"
#include "foreign/format.h"
#include "image/header.h"
#include "plan/composite_plan.h"

#include <math.h>
#include <string.h>

double plan_digest_fpr(double items) {
    return ldexp(items, -64);
}

double plan_kind_digest_fpr(const struct kind *kind, double items) {
    return kind->hashing.hash == PERHAPS_IDENTITY ? 0 : plan_digest_fpr(items);
}

double plan_loss(const struct kind *kind, double items) {
    return kind->model->lossy && items > 1 ? fmin(1, ldexp(items * (items - 1), -65)) : 0;
}

void plan_measure(const struct kind *kind, const struct array *array, struct measures *measures) {
    *measures = (struct measures){0};
    kind->model->measure(array, measures);
    measures->distinct = fmax(measures->distinct, 0) + 0.0; /* and not -0 */
    if (measures->copies == 0) measures->copies = measures->distinct;
    measures->fpr = fmin(1, measures->fpr + plan_kind_digest_fpr(kind, measures->distinct));
    measures->loss = plan_loss(kind, measures->distinct);
    measures->items = measures->copies < 0x1p62 ? (uint64_t)llround(measures->copies) : UINT64_C(1) << 62;
}

/* ---- checks of the want ---- */

static bool wants_memory(const perhaps_want *want) {
    return want->bits_per_key != 0 || want->bytes != 0;
}

static int check_rates(const perhaps_want *want) {
    if (want->fpr != 0 && !(want->fpr > 0 && want->fpr < 1))
        return fail(PERHAPS_EINVAL, "fpr is %g, but a false-positive rate lies between 0 and 1, such as 0.01",
                    want->fpr);
    if (want->bits_per_key != 0 && !(want->bits_per_key > 0 && want->bits_per_key <= 1e6))
        return fail(PERHAPS_EINVAL, "bits_per_key is %g; useful values are 1 to 64", want->bits_per_key);
    if (want->fpr != 0 && want->items && !plan_has_rule(want->kind) &&
        want->fpr <= plan_digest_fpr((double)want->items))
        return fail(PERHAPS_ERANGE, "fpr %g with %llu items is below items/2^64, which 64-bit digests cannot reach",
                    want->fpr, (unsigned long long)want->items);
    return PERHAPS_OK;
}

static bool is_exact(int kind) {
    return kind_find(kind) && kind_find(kind)->model && kind_find(kind)->model->exact;
}

bool plan_has_rule(int kind) {
    return kind_find(kind) && kind_find(kind)->model && kind_find(kind)->model->rule;
}

static bool takes_bucket(int kind) {
    return plan_has_rule(kind) && kind_find(kind)->model->takes_bucket;
}

int plan_fixed(const perhaps_want *want) {
    if (want->bits_per_key != 0 && want->bytes)
        return fail(PERHAPS_EINVAL, "both bits_per_key and bytes are given; give one of them");
    int fixed = (want->items != 0) + (want->fpr != 0) + wants_memory(want);
    if (fixed == 3) return fail(PERHAPS_EINVAL, "items, fpr and memory are all given; the third follows from any two");
    return fixed;
}

static int check_amounts(const perhaps_want *want) {
    int fixed = plan_fixed(want);
    if (fixed < 0) return fixed;
    bool enough = fixed == 2 || (fixed == 1 && is_exact(want->kind) && want->fpr == 0);
    if (!enough || (want->bits_per_key != 0 && !want->items))
        return fail(PERHAPS_EINVAL,
                    is_exact(want->kind)
                        ? "too little is given: say items (above 0) or bytes"
                        : "too little is given: fix two of items (above 0), fpr, and bits_per_key or bytes");
    return PERHAPS_OK;
}

static int check_want(const perhaps_want *want) {
    int rc = plan_has_rule(want->kind) ? PERHAPS_OK : check_amounts(want);
    if (rc < 0) return rc;
    if ((want->bucket || want->steps) && !takes_bucket(want->kind))
        return fail(PERHAPS_EINVAL, "bucket and steps are for redis_cuckoo filters only");
    if (want->needs & ~(unsigned)(2 * PERHAPS_IN_PLACE - 1))
        return fail(PERHAPS_EINVAL, "needs has a bit that is no ability");
    const struct kind *kind = kind_find(want->kind);
    if (want->kind != PERHAPS_ANY && !kind)
        return fail(PERHAPS_EINVAL, "there is no kind of filter with number %d", want->kind);
    if (kind && kind->composite)
        return fail(PERHAPS_EINVAL,
                    "a %s filter is made of another kind: name that one, and set grow, generations or shards",
                    kind->row.name);
    return PERHAPS_OK;
}

/* ---- one shape of one kind ---- */

/* The candidate with the smallest score wins. */
struct candidate {
    uint64_t layout[LAYOUT_WORDS];
    uint64_t items;
    unsigned shards; /* with as many keys each: a non-member may have the digest of any of them */
    double fpr, score;
};

static double rate(const struct kind *kind, const struct candidate *c) {
    double of_array = kind->model->fpr(c->layout, c->items);
    return isinf(of_array) ? INFINITY : fmin(1, of_array + plan_kind_digest_fpr(kind, (double)c->items * c->shards));
}

/* Static kinds are parallel: they collect keys with a lock for each bin. */
unsigned plan_traits(const struct kind *kind, const struct kind *inner, unsigned can) {
    bool parallel = kind->solver || kind_takes_threads(kind);
    return (inner->hashing.hash == PERHAPS_IDENTITY ? 0 : PERHAPS_TAKES_BYTES) |
           (inner->hashing.words == 1 ? PERHAPS_TAKES_DIGESTS : 0) | (inner->model->exact ? PERHAPS_EXACT : 0) |
           (inner->solver ? PERHAPS_STATIC : 0) | (can & PERHAPS_COUNT ? PERHAPS_MULTISET : 0) |
           (parallel ? PERHAPS_PARALLEL : 0);
}

double plan_rate(const struct kind *kind, const uint64_t layout[LAYOUT_WORDS], uint64_t items) {
    struct candidate c = {.items = items, .shards = 1};
    memcpy(c.layout, layout, sizeof c.layout);
    return plan_without_noise(rate(kind, &c));
}

static double handicap_of(const struct kind *kind, const uint64_t layout[LAYOUT_WORDS]) {
    return kind->model->search->handicap ? kind->model->search->handicap(layout) : 1;
}

/* Sets the candidate's size; false if the kind does not have it. */
static bool fits(const struct model *model, struct candidate *c, uint64_t steps) {
    uint64_t bits;
    return mul_fits(steps, model->search->step(c->layout), &bits) && model->search->resize(c->layout, bits);
}

static bool meets(const struct kind *kind, struct candidate *c, uint64_t steps, double fpr) {
    if (!fits(kind->model, c, steps)) return false;
    return rate(kind, c) <= fpr;
}

/* (items, fpr): the smallest size that meets the rate. */
static bool solve_size(const struct kind *kind, const perhaps_want *want, struct candidate *c) {
    c->items = want->items;
    uint64_t low = 0, high = 1; /* low is too small; high is to be enough */
    bool any = false;           /* the kind has a size up to here: a later failure is too large */
    while (!meets(kind, c, high, want->fpr)) {
        bool fit = fits(kind->model, c, high);
        if ((any && !fit) || high > UINT64_MAX / 2) break; /* too large */
        any |= fit;
        low = high;
        high *= 2;
    }
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        if (meets(kind, c, middle, want->fpr))
            high = middle;
        else
            low = middle;
    }
    c->score = (double)high * (double)kind->model->search->step(c->layout) * handicap_of(kind, c->layout);
    return meets(kind, c, high, want->fpr);
}

static bool wanted_bits(const perhaps_want *want, uint64_t *bits) {
    if (want->bytes) return mul_fits(want->bytes, 8, bits);
    double exact = floor(want->bits_per_key * (double)want->items);
    if (!(exact < 0x1p64)) return false;
    *bits = (uint64_t)exact;
    return true;
}

/* (items, memory): the rate follows. A handicap multiplies the rate by its eighth power. */
static bool solve_rate(const struct kind *kind, const perhaps_want *want, struct candidate *c) {
    uint64_t bits;
    if (!wanted_bits(want, &bits) || !kind->model->search->resize(c->layout, bits)) return false;
    c->items = want->items;
    c->score = rate(kind, c) * pow(handicap_of(kind, c->layout), 8);
    return !isinf(c->score);
}

static bool keeps(const struct kind *kind, struct candidate *c, uint64_t items, double fpr) {
    c->items = items;
    return rate(kind, c) <= fpr;
}

/* (memory, fpr): the largest number of items that keeps the rate. */
static bool solve_items(const struct kind *kind, const perhaps_want *want, struct candidate *c) {
    uint64_t bits, low = 0, high = 1; /* low keeps the rate; high is not to */
    if (!wanted_bits(want, &bits) || !kind->model->search->resize(c->layout, bits)) return false;
    while (high < UINT64_MAX / 2 && keeps(kind, c, high, want->fpr)) {
        low = high;
        high *= 2;
    }
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        if (keeps(kind, c, middle, want->fpr))
            low = middle;
        else
            high = middle;
    }
    c->items = low;
    c->score = handicap_of(kind, c->layout) / (double)low;
    return low > 0;
}

/* ---- one kind ---- */

double plan_without_noise(double x) {
    int exponent;
    double digits = frexp(x, &exponent);
    return ldexp(floor(ldexp(digits, 16)), exponent - 16);
}

/* The sentence for an error of plan_by_search or describe. */
static int explain(const struct kind *kind, const perhaps_want *want, const struct plan *plan, int error) {
    if (error == PERHAPS_ENOMEM)
        return fail(error, "%s would take %llu bytes, more than this machine's memory", kind->row.name,
                    (unsigned long long)plan->shown.image_bytes);
    if (want->hashes || want->lines)
        return fail(error, "%s has no layout with %u hashes and %u lines (0 = any) for this; leave them open",
                    kind->row.name, want->hashes, want->lines);
    const char *largest = kind->model->search ? kind->model->search->largest : NULL;
    return fail(error, "%s has no layout for this: too large, or too small to hold the keys%s%s", kind->row.name,
                largest ? "; the largest has " : "", largest ? largest : "");
}

/* Bytes of its file; false if they do not fit 63 bits. */
static bool file_length(const struct kind *kind, const struct level *level, uint64_t *total) {
    uint8_t head[FORMAT_HEAD];
    struct facts facts = {.capacity = level->capacity, .fpr = level->fpr};
    if (!kind->format) return image_length(level->length, 0, total);
    memcpy(facts.layout, level->layout, sizeof facts.layout);
    return add_fits(kind->format->write(&facts, head), level->length, total) && *total <= INT64_MAX;
}

static int describe(struct plan *plan, const struct kind *kind, const struct candidate *c) {
    struct perhaps_plan *shown = &plan->shown;
    const struct model *model = kind->model;
    const char *reason;
    shown->kind = kind->row.kind;
    shown->items = c->items;
    shown->fpr = c->fpr;
    shown->bytes = kind->payload_bytes(c->layout, &reason);
    plan->levels = 1;
    plan->level[0] = (struct level){.kind = kind, .capacity = shown->items, .length = shown->bytes, .fpr = shown->fpr};
    memcpy(plan->level[0].layout, c->layout, sizeof c->layout);
    if (!shown->bytes) return PERHAPS_ERANGE; /* the kind would refuse to open it */
    shown->hashes = model->hashes(c->layout);
    shown->lines = model->cache_lines(c->layout);
    shown->bits_per_key = 8 * (double)shown->bytes / (double)c->items;
    shown->limit_bits_per_key = shown->fpr > 0 ? log2(1 / shown->fpr) : 1; /* exact: 1 bit each */
    shown->loss = plan_loss(kind, (double)c->items);
    if (!file_length(kind, &plan->level[0], &shown->image_bytes)) return PERHAPS_ERANGE;
    return shown->image_bytes <= memory_of_machine() ? PERHAPS_OK : PERHAPS_ENOMEM;
}

/* For kinds without a rule. PERHAPS_ERANGE or PERHAPS_ENOMEM come without a sentence: see
 * explain. */
static int plan_by_search(const struct kind *kind, const perhaps_want *want, struct plan *plan) {
    struct candidate best = {.score = INFINITY};
    perhaps_want full = *want; /* exact kinds need no rate: any is met */
    if (kind->model->exact && want->fpr == 0 && !(want->items && wants_memory(want))) full.fpr = 0.5;
    if (want->grow == PERHAPS_GROW_LAYERS) {
        full.lines = plan_layer_lines(kind, want->items, want->fpr);
        full.fpr = plan_without_noise(
            full.fpr * plan_share(kind, want->growth, (double)want->items * (want->shards ? want->shards : 1)));
    }
    for (unsigned i = 0; i < kind->model->search->variants; i++) {
        struct candidate c = {.shards = want->shards ? want->shards : 1, .score = INFINITY};
        if (!kind->model->search->variant(i, &full, c.layout)) continue;
        bool solved = !wants_memory(want) ? solve_size(kind, &full, &c)
                      : full.fpr != 0     ? solve_items(kind, &full, &c)
                                          : solve_rate(kind, &full, &c);
        if (solved && c.score < best.score) best = c;
    }
    if (isinf(best.score)) return PERHAPS_ERANGE;
    best.fpr = plan_without_noise(rate(kind, &best));
    return describe(plan, kind, &best);
}

static int plan_by_rule(const struct kind *kind, const perhaps_want *want, struct plan *plan) {
    struct level level = {.kind = kind};
    int rc = kind->model->rule(want, &level);
    if (rc < 0) return rc;
    struct candidate c = {.items = level.capacity, .fpr = level.fpr};
    memcpy(c.layout, level.layout, sizeof c.layout);
    rc = describe(plan, kind, &c);
    return rc < 0 ? explain(kind, &(perhaps_want){0}, plan, rc) : rc;
}

static int plan_kind(const struct kind *kind, const perhaps_want *want, struct plan *plan) {
    if (kind->model->rule) return plan_by_rule(kind, want, plan);
    int rc = plan_by_search(kind, want, plan);
    return rc < 0 ? explain(kind, want, plan, rc) : rc;
}

int plan_single(const struct kind *kind, const perhaps_want *want, struct level *level) {
    struct plan plan;
    int rc = plan_kind(kind, want, &plan);
    if (rc == PERHAPS_OK) *level = plan.level[0];
    return rc;
}

/* ---- choosing a kind ---- */

/* A kind that touches fewer cache lines may be larger by this factor (or have twice the fpr). */
static const double speed_is_worth = 1.3;

/* How much worse plan a is than b; 1 = equal. */
static double cost_ratio(const struct perhaps_plan *a, const struct perhaps_plan *b, const perhaps_want *want) {
    if (!wants_memory(want)) return (double)a->image_bytes / (double)b->image_bytes;
    if (want->fpr != 0) return (double)b->items / (double)a->items;
    return pow(a->fpr / b->fpr, log(speed_is_worth) / log(2));
}

/* Kinds of integers and static kinds are chosen only by name, and multisets, whose adds always say
 * "new", only where their abilities are needed. */
static bool is_choice(const struct kind *kind, const struct outer *outer, const perhaps_want *want) {
    if (kind->hashing.hash == PERHAPS_IDENTITY || kind->solver) return false;
    if (kind->row.can & PERHAPS_COUNT && !(want->needs & (PERHAPS_REMOVE | PERHAPS_COUNT))) return false;
    return !(want->needs & ~combined_can(outer, kind));
}

static bool can_do(const struct kind *kind, const struct outer *outer, const perhaps_want *want) {
    return is_choice(kind, outer, want) && !combined_refusal(outer, kind, want).sentence;
}

/* No kind will do: the error of the first kind that could, or that has the abilities. */
static int none_will_do(const perhaps_want *want, const struct outer *outer, struct plan *plan) {
    for (size_t i = 0; i < kind_count; i++) {
        if (can_do(kinds[i], outer, want)) return plan_kind(kinds[i], want, plan);
    }
    for (size_t i = 0; i < kind_count; i++) {
        struct refusal refusal = combined_refusal(outer, kinds[i], want);
        if (is_choice(kinds[i], outer, want)) return fail(PERHAPS_EINVAL, refusal.sentence, refusal.kind->row.name);
    }
    const struct kind *bitmap = kind_find(PERHAPS_BITMAP);
    bool would_do = !(want->needs & ~combined_can(outer, bitmap)) && !combined_refusal(outer, bitmap, want).sentence;
    return fail(PERHAPS_ERANGE, "no kind that takes keys of every sort can do everything in needs%s",
                would_do ? "; bitmap, which is for integers, is chosen by its name" : "; ask for less");
}

/* The cheapest; then, among those not much worse, the one with the fewest cache lines. */
static int choose_kind(const perhaps_want *want, const struct outer *outer, struct plan *plan) {
    struct plan cheapest = {.levels = 0}, other;
    for (size_t i = 0; i < kind_count; i++) {
        if (!can_do(kinds[i], outer, want) || plan_by_search(kinds[i], want, &other) < 0) continue;
        if (!cheapest.levels || cost_ratio(&other.shown, &cheapest.shown, want) < 1) cheapest = other;
    }
    if (!cheapest.levels) return none_will_do(want, outer, plan);
    *plan = cheapest;
    for (size_t i = 0; i < kind_count; i++) {
        if (!can_do(kinds[i], outer, want) || plan_by_search(kinds[i], want, &other) < 0) continue;
        if (other.shown.lines < plan->shown.lines && cost_ratio(&other.shown, &cheapest.shown, want) <= speed_is_worth)
            *plan = other;
    }
    return PERHAPS_OK;
}

int plan_make(const perhaps_want *want, struct plan *plan) {
    perhaps_want inner = *want; /* for one of the innermost filters */
    struct outer outer;
    int rc = check_rates(want);
    if (rc == PERHAPS_OK) rc = combined_peel(&inner, &outer);
    if (rc == PERHAPS_OK) rc = check_want(&inner);
    if (rc < 0) return rc;
    const struct kind *kind = kind_find(inner.kind);
    if (kind) {
        struct refusal refusal = combined_refusal(&outer, kind, &inner);
        if (refusal.sentence) return fail(PERHAPS_EINVAL, refusal.sentence, refusal.kind->row.name);
    }
    if (kind && inner.needs & ~combined_can(&outer, kind))
        return fail(PERHAPS_EINVAL, "%s filters cannot do everything in needs; leave the kind open, or need less",
                    kind->row.name);
    rc = kind ? plan_kind(kind, &inner, plan) : choose_kind(&inner, &outer, plan);
    if (rc == PERHAPS_OK) rc = combined_wrap(want, &outer, plan);
    if (rc == PERHAPS_OK && plan->shown.fpr >= 1)
        return fail(PERHAPS_ERANGE, "with so little memory it would say \"perhaps\" to every key; give it more%s",
                    want->shards ? ", or take fewer shards" : "");
    return rc;
}
