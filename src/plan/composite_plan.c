#include "plan/composite_plan.h"

#include "base/memory.h"
#include "base/error.h"
#include "image/directory.h"

#include <math.h>
#include <string.h>

enum { FIRST_ITEMS = 1000, GROWTH_MAX = 16 };

static const double growth_min = 1.5, clear_at_min = 1.0 / CLEAR_AT_ONE;

/* ---- checks of the want ---- */

static bool wants_window(const perhaps_want *want) {
    return want->generations || want->period || want->clear_at != 0;
}

static int check_window(const perhaps_want *want) {
    if (want->clear_at != 0 && !(want->clear_at >= clear_at_min && want->clear_at <= 1 - clear_at_min))
        return fail(PERHAPS_EINVAL, "clear_at is %g, but it is a share between 0 and 1, such as 0.8", want->clear_at);
    if (want->period && want->clear_at != 0)
        return fail(PERHAPS_EINVAL, "a window forgets after a period or at a fill, not both");
    if (want->generations > GENERATIONS_MAX)
        return fail(PERHAPS_EINVAL, "%u generations are too many; up to %d are possible", want->generations,
                    GENERATIONS_MAX);
    if (want->generations == 1 && want->clear_at == 0)
        return fail(PERHAPS_EINVAL,
                    "a window of one generation forgets everything at once; it goes with clear_at only");
    if (want->shards || want->shared)
        return fail(PERHAPS_EINVAL,
                    "a window cannot be sharded or shared, since its keys age together; let threads take "
                    "turns with a lock");
    if (want->grow == PERHAPS_GROW_LAYERS)
        return fail(PERHAPS_EINVAL, "a window does not grow in layers: it forgets instead");
    return PERHAPS_OK;
}

static bool growth_of_newest_fits(double growth) {
    return growth <= -1 && growth >= -GROWTH_MAX;
}

int plan_growth(int kind, double growth, uint64_t *word) {
    bool ruled = plan_has_rule(kind);
    if (ruled && growth != 0 && !(growth >= 1 && growth <= RULED_GROWTH_MAX && growth == floor(growth)))
        return fail(PERHAPS_EINVAL, "growth is %g; it may be a whole number from 1 to %d", growth, RULED_GROWTH_MAX);
    if (!ruled && growth != 0 && !(growth >= growth_min && growth <= GROWTH_MAX) && !growth_of_newest_fits(growth))
        return fail(PERHAPS_EINVAL, "growth is %g; it may be %g to %d", growth, growth_min, GROWTH_MAX);
    *word = (uint64_t)llround(fabs(ruled && growth == 0 ? 2 : growth) * GROWTH_ONE);
    if (growth < 0) *word += GROWTH_OF_NEWEST;
    return PERHAPS_OK;
}

static int check_layers(const perhaps_want *want) {
    uint64_t word;
    if (want->grow < PERHAPS_GROW_DEFAULT || want->grow > PERHAPS_GROW_LAYERS)
        return fail(PERHAPS_EINVAL, "there is no way to grow with number %d", want->grow);
    if (want->growth < 0)
        return fail(PERHAPS_EINVAL, "growth is %g; only perhaps_grow_layers takes that of the newest layer",
                    want->growth);
    int rc = plan_growth(want->kind, want->growth, &word);
    if (rc < 0) return rc;
    if (want->grow != PERHAPS_GROW_LAYERS)
        return (want->growth != 0 && !plan_has_rule(want->kind)) || want->max_bytes
                   ? fail(PERHAPS_EINVAL, "growth and max_bytes are for filters that grow in layers; set grow")
                   : PERHAPS_OK;
    if (want->bits_per_key != 0 || want->bytes)
        return fail(PERHAPS_EINVAL,
                    "a filter that grows in layers has no fixed size: give fpr, and max_bytes if it matters");
    return PERHAPS_OK;
}

/* ---- from the outside to the inside ---- */

/* Shards get unequal numbers of keys: five standard deviations above the mean. */
static uint64_t items_of_shard(double items, unsigned shards) {
    double mean = items / shards;
    return (uint64_t)ceil(mean + 5 * sqrt(mean));
}

static double items_of_shards(double items_of_one, unsigned shards) {
    double root = sqrt(items_of_one + 6.25) - 2.5;
    return floor(shards * root * root);
}

uint64_t plan_capacity_of_shards(uint64_t planned, uint64_t sum, unsigned shards) {
    bool as_planned = sum == shards * items_of_shard((double)planned, shards) ||
                      (double)planned == items_of_shards((double)(sum / shards), shards);
    return as_planned ? planned : sum;
}

/* Rounded down to whole words: together they are not more than `bytes`. */
static uint64_t part_of(uint64_t bytes, unsigned parts) {
    return bytes / 8 / parts * 8;
}

static unsigned generations_of(const perhaps_want *want) {
    return want->generations ? want->generations : want->clear_at != 0 ? 1 : 4;
}

/* Generations whose keys are surely remembered. */
static unsigned whole_generations(const perhaps_want *want) {
    unsigned generations = generations_of(want);
    return generations > 1 ? generations - 1 : 1;
}

/* The memory is for all keys; the margin above the mean comes out of it. */
static void peel_shards(perhaps_want *want) {
    double items = (double)want->items;
    if (want->items) want->items = items_of_shard(items, want->shards);
    if (want->items) want->bits_per_key *= items / want->shards / (double)want->items;
    want->bytes = part_of(want->bytes, want->shards);
}

static void peel_window(perhaps_want *want) {
    unsigned generations = generations_of(want), whole = whole_generations(want);
    if (want->items) want->items = (want->items - 1) / whole + 1;
    want->fpr /= generations;
    want->bytes = part_of(want->bytes, generations);
    want->bits_per_key *= (double)whole / generations;
}

static bool grows_by_itself(const perhaps_want *want) {
    const struct kind *kind = kind_find(want->kind);
    return kind && kind->row.can & PERHAPS_GROW;
}

/* ---- how a level follows from that of its children ---- */

static void wrap_layers(const perhaps_want *want, struct perhaps_plan *shown, struct level *level) {
    plan_growth(want->kind, want->growth, &level->layout[GROWTH]);
    level->layout[MAX_BYTES] = want->shards ? want->max_bytes / want->shards : want->max_bytes;
    level->layout[SIBLINGS] = want->shards;
    level->fpr = shown->fpr = want->fpr;
}

static void wrap_window(const perhaps_want *want, struct perhaps_plan *shown, struct level *level) {
    unsigned generations = generations_of(want), whole = whole_generations(want);
    level->layout[CHILDREN] = generations;
    level->layout[QUOTA] = want->clear_at != 0 ? 0 : shown->items;
    level->layout[PERIOD] = want->period;
    if (want->period)
        level->layout[GENERATIONS] = generations;
    else
        level->layout[CLEAR_AT] = (uint64_t)llround(want->clear_at * CLEAR_AT_ONE);
    shown->items *= whole;
    level->capacity = want->items ? want->items : shown->items;
    level->fpr = shown->fpr = plan_without_noise(-expm1(generations * log1p(-shown->fpr)));
    shown->lines *= generations;
}

static void wrap_shards(const perhaps_want *want, struct perhaps_plan *shown, struct level *level) {
    double items_of_one = (double)shown->items;
    level->layout[CHILDREN] = want->shards;
    level->capacity = want->items ? want->items : (uint64_t)items_of_shards(items_of_one, want->shards);
    if (level->capacity == 0) level->capacity = 1;
}

/* ---- what the want puts around a filter ---- */

static void put_around(struct outer *outer, int kind,
                       void (*wrap)(const perhaps_want *, struct perhaps_plan *, struct level *)) {
    outer->wrapper[outer->count++] = (struct wrapper){kind_find(kind), wrap};
}

int combined_peel(perhaps_want *want, struct outer *outer) {
    uint64_t bytes = want->bytes;
    *outer = (struct outer){.count = 0};
    if (want->shards > CHILDREN_MAX)
        return fail(PERHAPS_EINVAL, "%u shards are too many; up to %d are possible", want->shards, CHILDREN_MAX);
    if (want->grow == PERHAPS_GROW_LAYERS && grows_by_itself(want) && !want->max_bytes &&
        (want->growth == 0 || plan_has_rule(want->kind)))
        want->grow = PERHAPS_GROW_DEFAULT;
    int rc = wants_window(want) ? check_window(want) : PERHAPS_OK;
    if (rc == PERHAPS_OK) rc = check_layers(want);
    if (rc < 0) return rc;
    if (want->grow == PERHAPS_GROW_LAYERS && !want->items) want->items = FIRST_ITEMS;
    if (want->shards) {
        put_around(outer, PERHAPS_SHARDED, wrap_shards);
        peel_shards(want);
    }
    if (wants_window(want)) {
        put_around(outer, PERHAPS_WINDOW, wrap_window);
        peel_window(want);
    }
    if (want->grow == PERHAPS_GROW_LAYERS) put_around(outer, PERHAPS_GROWING, wrap_layers);
    if (bytes && !want->bytes)
        return fail(PERHAPS_ERANGE, "%llu bytes are too few for that many filters", (unsigned long long)bytes);
    return PERHAPS_OK;
}

/* ---- over which kind? ---- */

/* The kind of the children of wrapper i. */
static const struct kind *inside(const struct outer *outer, unsigned i, const struct kind *kind) {
    return i + 1 < outer->count ? outer->wrapper[i + 1].kind : kind;
}

static struct refusal refusal_of_want(const struct outer *outer, const struct kind *kind, const perhaps_want *want) {
    if (want->grow == PERHAPS_GROW_LAYERS && (want->hashes || want->lines) && !plan_nests(kind))
        return (struct refusal){"the layers of a growing %s filter choose their hashes and lines", kind};
    if (want->clear_at > 0.9 && kind->model->exact)
        return (struct refusal){"%s filters do not get fuller than 90 %%, so clear_at must not be more", kind};
    if (want->shared && !kind->lock_free && kind_find(PERHAPS_SHARDED)->composite->refuses(kind))
        return (struct refusal){"%s filters cannot be changed by several threads", kind};
    if (want->shared && !want->shards && (outer->count || !kind->lock_free))
        return (struct refusal){"%s filters are shared between threads in shards, with a lock each: set shards too",
                                outer->count ? outer->wrapper[0].kind : kind};
    return (struct refusal){NULL, kind};
}

/* A composite filter must take what is next inside it, and the kind within all of them. */
struct refusal combined_refusal(const struct outer *outer, const struct kind *kind, const perhaps_want *want) {
    for (unsigned i = 0; i < outer->count; i++) {
        const struct composite *composite = outer->wrapper[i].kind->composite;
        const struct kind *next = inside(outer, i, kind);
        if (composite->refuses(next)) return (struct refusal){composite->refuses(next), next};
        if (composite->refuses(kind)) return (struct refusal){composite->refuses(kind), kind};
    }
    return refusal_of_want(outer, kind, want);
}

unsigned combined_can(const struct outer *outer, const struct kind *kind) {
    return outer->count ? outer->wrapper[0].kind->composite->can(inside(outer, 0, kind)) &
                              (outer->count > 1 ? outer->wrapper[1].kind->composite->can(kind) : ~0u)
                        : kind->row.can;
}

/* ---- from the inside to the outside ---- */

/* The image of `count` children of that length, with a recipe of that length. */
static bool composite_image(uint64_t count, uint64_t child, uint64_t recipe, uint64_t *total) {
    uint64_t end = image_offset(count * ENTRY_BYTES, recipe) + count * ENTRY_BYTES, offset;
    for (uint64_t i = 0; i < count; i++) {
        if (!directory_place(end, child, &offset)) return false;
        end = offset + child;
    }
    *total = end;
    return true;
}

static int wrap(const perhaps_want *want, const struct wrapper *wrapper, uint64_t recipe, struct plan *plan) {
    const struct kind *kind = wrapper->kind;
    struct perhaps_plan *shown = &plan->shown;
    memmove(plan->level + 1, plan->level, plan->levels * sizeof *plan->level);
    plan->levels++;
    struct level *level = plan->level, *inner = plan->level + 1;
    *level = (struct level){.kind = kind, .fpr = shown->fpr, .capacity = shown->items};
    level->layout[BASE] = (uint64_t)inner->kind->row.kind;
    level->layout[CHILDREN] = 1;
    wrapper->wrap(want, shown, level);
    uint64_t count = level->layout[CHILDREN];
    level->length = count * ENTRY_BYTES;
    shown->kind = kind->row.kind;
    shown->items = level->capacity;
    shown->loss = plan_loss(plan->level[plan->levels - 1].kind, (double)shown->items);
    shown->bytes *= count;
    shown->bits_per_key = 8 * (double)shown->bytes / (double)shown->items;
    if (!composite_image(count, shown->image_bytes, recipe, &shown->image_bytes) ||
        shown->image_bytes > memory_of_machine())
        return fail(PERHAPS_ENOMEM, "the filters would take more memory than this machine has");
    return PERHAPS_OK;
}

/* The outermost filter has the recipe. */
static int add_recipe(const perhaps_want *want, const struct kind *kind, uint64_t *length) {
    uint8_t room[RECIPE_MAX];
    struct recipe recipe;
    int rc = recipe_encode(want->recipe, room, &recipe);
    *length = recipe.length;
    if (rc == PERHAPS_OK && recipe.length && kind->format)
        rc = fail(PERHAPS_EINVAL, "files of %s cannot hold a recipe; leave it out", kind->row.name);
    return rc;
}

int combined_wrap(const perhaps_want *want, const struct outer *outer, struct plan *plan) {
    uint64_t most = want->shards ? want->max_bytes / want->shards : want->max_bytes;
    if (want->max_bytes && plan->shown.bytes > most)
        return fail(PERHAPS_ERANGE, "%smax_bytes is %llu, and the first layer would take %llu already",
                    want->shards ? "a shard's part of " : "", (unsigned long long)most,
                    (unsigned long long)plan->shown.bytes);
    uint64_t recipe;
    int rc = add_recipe(want, plan->level[0].kind, &recipe);
    if (recipe && !outer->count) image_length(plan->level[0].length, recipe, &plan->shown.image_bytes);
    for (unsigned i = outer->count; rc == PERHAPS_OK && i-- > 0;)
        rc = wrap(want, &outer->wrapper[i], i ? 0 : recipe, plan);
    if (rc < 0) return rc;
    const struct kind *inner = plan->level[plan->levels - 1].kind;
    plan->shown.can = combined_can(outer, inner);
    plan->shown.traits = plan_traits(plan->level[0].kind, inner, plan->shown.can);
    if (outer->count && plan->shown.fpr > 0) plan->shown.limit_bits_per_key = log2(1 / plan->shown.fpr);
    return PERHAPS_OK;
}
