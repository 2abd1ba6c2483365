/* Sets on servers: Redis, Valkey, or a cluster of them, with the module or in plain strings. */
#include "backend/backend.h"
#include "item_batch.h"
#include "options/abilities.h"
#include "output/numbers.h"
#include "output/report.h"
#include "set_create.h"
#include "set_shards.h"
#include "set_totals.h"

#include <math.h>
#include <stdlib.h>

struct redis_target {
    struct target target;
    struct set set;
    struct set_totals totals;
    bool gathered;    /* the totals are */
    enum verb verb;   /* what was done to its items */
    uint64_t doubled; /* keys that may be in a cuckoo filter twice, since a connection broke */
    uint64_t doubted; /* lines that were taken for new, since a connection broke */
};

static struct redis_target *redis_target_of(struct target *target) {
    return (struct redis_target *)(void *)target;
}

/* Of sets that are made here: by build; and by dedup, which loses a line in a million. */
static const double usual_rate = 0.01, rate_of_dedup = 1e-6;

/* ---- opening ---- */

static int describe(struct redis_target *t, int status) {
    t->target.name = t->set.url.shown;
    t->target.recipe = t->set.recipe;
    t->target.tells_recipe = t->set.tells_recipe;
    return status;
}

static int redis_backend_open(struct target **target, const struct options *options, const char *url,
                              enum access access, unsigned needs) {
    struct redis_target *t = target_new(target, sizeof *t, &redis_backend, options, "--at");
    (void)url, (void)access;
    if (!t || describe(t, set_open(&t->set, options)) != FINE) return TROUBLE;
    if (!(needs & PERHAPS_REMOVE) || t->set.kind == SET_CUCKOO) return FINE;
    return failure(
        t->target.name,
        "cannot remove keys, since they share bits; build it with --needs remove, which makes cuckoo filters");
}

static int redis_backend_create(struct target **target, const struct options *options, struct input *input) {
    struct redis_target *t = target_new(target, sizeof *t, &redis_backend, options, "--at");
    uint64_t items = options->items; /* 0 = unknown */
    bool countable = false;
    if (!t || input_from_options(input, options, options->operands, options->operand_count) != FINE) return TROUBLE;
    if (set_connect(&t->set, options) != FINE) return TROUBLE;
    t->set.recipe = input_recipe(input);
    t->set.tells_recipe = true;
    t->set.fpr = usual_rate;
    if (given(options, OPT_ITEMS) && !items) return failure("-n", "a filter for 0 keys makes no sense; give 1 or more");
    if (!items && !given(options, OPT_GROW) && input_count(input, &countable, &items) != FINE) return TROUBLE;
    if (countable && !items) items = 1;
    if (set_shape(&t->set, options, items) != FINE) return TROUBLE;
    return describe(t, set_create(&t->set, options));
}

static int redis_backend_join(struct target **target, const struct options *options, struct input *input) {
    struct redis_target *t = target_new(target, sizeof *t, &redis_backend, options, "--at");
    if (!t || input_from_options(input, options, options->operands, options->operand_count) != FINE) return TROUBLE;
    return describe(t, set_join(&t->set, options, rate_of_dedup, input_recipe(input)));
}

static void redis_backend_close(struct target *target) {
    struct redis_target *t = redis_target_of(target);
    set_close(&t->set);
    free(t->totals.shares);
    free(t);
}

/* ---- totals ---- */

/* Gathers the totals, unless that is done. */
static int gather(struct target *target) {
    struct redis_target *t = redis_target_of(target);
    int status = t->gathered ? FINE : set_totals_gather(&t->totals, &t->set);
    t->gathered = status == FINE;
    return status;
}

static int redis_backend_facts(struct target *target, struct target_facts *facts) {
    const struct set_totals *f = &redis_target_of(target)->totals;
    if (gather(target) != FINE) return TROUBLE;
    *facts = (struct target_facts){.items = f->items,
                                   .bytes = f->bytes,
                                   .planned = true,
                                   .capacity = f->capacity,
                                   .fpr_target = f->fpr_target,
                                   .fpr_now = f->fpr_now};
    return FINE;
}

/* ---- items ---- */

static int send_items(struct target *target, const struct input *input, enum verb verb, const struct query *query) {
    struct redis_target *t = redis_target_of(target);
    struct item_batch batch = {.set = &t->set, .verb = verb, .query = query};
    int status = item_batch_read(&batch, input);
    target->keys = batch.keys;
    t->verb = verb;
    t->doubled = batch.doubled;
    t->doubted = batch.doubted;
    return status;
}

static int redis_backend_query(struct target *target, const struct input *input, const struct query *query) {
    return send_items(target, input, CHECK_ITEMS, query);
}

static int redis_backend_add_absent(struct target *target, const struct input *input, const struct query *query) {
    return send_items(target, input, ADD_ABSENT, query);
}

static int count_changed(void *context, const struct batch *batch, uint8_t *answers, uint64_t changed) {
    struct target *target = context;
    (void)batch, (void)answers;
    target->changed += changed;
    return FINE;
}

static int redis_backend_change(struct target *target, const struct input *input, enum direction direction) {
    void *contexts[] = {target};
    return send_items(target, input, direction == REMOVING ? REMOVE_ITEMS : ADD_ITEMS,
                      &(struct query){.answered = count_changed, .contexts = contexts});
}

static void warn_of_accidents(const struct redis_target *t) {
    char n[NUMBER_TEXT];
    bool dedup = t->verb == ADD_ABSENT;
    if (t->doubled)
        warning(t->target.name, "a connection broke: up to %s keys may have been added twice and then need two removes",
                group_digits(t->doubled, n));
    if (t->doubted)
        warning(t->target.name, "the answers for %s lines were lost; these lines were printed, and may be repeats",
                group_digits(t->doubted, n));
    if (t->set.cluster.restarts)
        warning(t->target.name, "a server was restarted or replaced%s",
                dedup ? "; lines that it had not stored are forgotten, and are printed when they come again"
                      : " during the command; keys that it had not stored are lost, so repeat the command to be sure");
}

/* Plain strings have no limit that a server would enforce, so it is checked here. */
static int redis_backend_finish(struct target *target, int status) {
    struct redis_target *t = redis_target_of(target);
    const struct set *set = &t->set;
    const struct set_totals *f = &t->totals;
    char items[NUMBER_TEXT], capacity[NUMBER_TEXT], now[NUMBER_TEXT];
    if (status == FINE || t->verb == ADD_ABSENT) warn_of_accidents(t);
    if (status == TROUBLE || set->kind != SET_BITS || t->verb == REMOVE_ITEMS) return status;
    if (gather(target) != FINE) return TROUBLE;
    if (f->items > set->items + set->items / 20) /* its number is an estimate */
        warning(
            set->url.shown,
            "holds about %s keys but was made for %s; its false-positive rate is now %s. Rebuild it with a larger -n",
            group_digits(f->items, items), group_digits(set->items, capacity), human_rate(f->fpr_now, now));
    return status;
}

/* ---- info ---- */

/* Another module's filters tell neither their rate nor how full they are. */
static void print_text(const struct redis_target *t) {
    static const char *const words[SET_KINDS] = {"bloom", "cuckoo", "bloom in plain strings"};
    const struct set *set = &t->set;
    const struct set_totals *f = &t->totals;
    char a[NUMBER_TEXT], b[NUMBER_TEXT];
    unsigned servers = 0;
    for (size_t i = 0; i < set->cluster.node_count; i++) servers += f->shares[i].shards > 0;
    if (set->single) /* which may be of any kind, if it was loaded from a file */
        printf("%s: one filter of %s\n", set->url.shown, set->kind == SET_CUCKOO ? "CF.*" : "BF.*");
    else
        printf("%s: %s, %u shard%s on %u server%s\n", set->url.shown, words[set->kind], set->shards,
               set->shards == 1 ? "" : "s", servers, servers == 1 ? "" : "s");

    printf("  keys      %s%s (made for %s)", set->kind == SET_BITS ? "about " : "", group_digits(f->items, a),
           group_digits(f->capacity, b));
    if (set->shards > 1) printf("; %s to %s a shard", group_digits(f->least_items, a), group_digits(f->most_items, b));
    putchar('\n');
    print_used(f->items, f->capacity);
    if (isfinite(f->fill)) {
        printf("  fill      ");
        print_bar(f->fill, BAR_WIDTH, false);
        printf(" %.1f %%\n", f->fill * 100);
    }
    printf("  fpr       now %s; planned %s\n", isfinite(f->fpr_now) ? human_rate(f->fpr_now, a) : "unknown",
           isfinite(f->fpr_target) ? human_rate(f->fpr_target, b) : "unknown");
    print_size(f->bytes);
    if (f->capacity) printf(", %.2f bits per key", 8 * (double)f->bytes / (double)f->capacity);
    if (set->shards > 1) printf("; the largest shard %s", human_bytes(f->most_bytes, a));
    putchar('\n');
    if (set->kind == SET_BITS) printf("  layout    %u bits set per key\n", set->hashes);
    target_print_recipe(&t->target, "unknown");

    printf("\n  %-40s %8s %20s\n", "server", "shards", "bytes");
    for (size_t i = 0; i < set->cluster.node_count; i++)
        if (f->shares[i].shards)
            printf("  %-40s %8u %20s\n", set->cluster.nodes[i]->shown, f->shares[i].shards,
                   group_digits(f->shares[i].bytes, a));
}

static void print_json(const struct redis_target *t) {
    const struct set *set = &t->set;
    const struct set_totals *f = &t->totals;
    struct json json = {0};
    json_open(&json, NULL, '{');
    json_text(&json, "at", set->url.shown);
    json_text(&json, "kind", set_kind_names[set->kind]);
    json_count(&json, "shards", set->shards);
    json_flag(&json, "single", set->single);
    json_count(&json, "capacity", f->capacity);
    json_count(&json, "items", f->items);
    json_count(&json, "least_items", f->least_items);
    json_count(&json, "most_items", f->most_items);
    json_real(&json, "fpr_target", f->fpr_target);
    json_real(&json, "fpr_now", f->fpr_now);
    json_count(&json, "bytes", f->bytes);
    json_count(&json, "most_bytes", f->most_bytes);
    json_real(&json, "bits_per_key", f->capacity ? 8 * (double)f->bytes / (double)f->capacity : NAN);
    json_real(&json, "fill", f->fill);
    if (set->kind == SET_BITS) {
        json_count(&json, "bits", set->bits);
        json_count(&json, "hashes", set->hashes);
        json_text(&json, "seed", set->seed);
    }
    if (t->target.tells_recipe)
        target_print_recipe_json(&t->target, &json);
    else
        json_text(&json, "key", "unknown");
    json_open(&json, "nodes", '[');
    for (size_t i = 0; i < set->cluster.node_count; i++) {
        if (!f->shares[i].shards) continue;
        json_open(&json, NULL, '{');
        json_text(&json, "server", set->cluster.nodes[i]->shown);
        json_count(&json, "shards", f->shares[i].shards);
        json_count(&json, "bytes", f->shares[i].bytes);
        json_close(&json, '}');
    }
    json_close(&json, ']');
    json_end(&json);
}

static int redis_backend_print_info(struct target *target, bool as_json) {
    if (gather(target) != FINE) return TROUBLE;
    (as_json ? print_json : print_text)(redis_target_of(target));
    return FINE;
}

/* What is about files, or about a filter in memory. */
static const enum option_id of_files[] = {
    OPT_BITS_PER_KEY, OPT_BYTES,    OPT_PRESET,  OPT_GROWTH,    OPT_MAX_BYTES, OPT_WINDOW,    OPT_GENERATIONS,
    OPT_CLEAR_AT,     OPT_HASHES,   OPT_LINES,   OPT_HASH,      OPT_HASH_KEY,  OPT_THREADS,   OPT_KEY_IN_FILE,
    OPT_OUTPUT,       OPT_IN_PLACE, OPT_RECOVER, OPT_NO_VERIFY, OPT_CONFIRM,   OPT_FILE_KIND, OPT_STATIC,
    OPT_SMALLEST,     OPT_SCRATCH,  OPT_BITS,    OPTIONS,
};

const struct backend redis_backend = {
    .commands = ~0u, /* only these take --at */
    .refused = of_files,
    .why_refused = "does not apply to a set on servers; leave it out",
    .open = redis_backend_open,
    .create = redis_backend_create,
    .join = redis_backend_join,
    .close = redis_backend_close,
    .query = redis_backend_query,
    .add_absent = redis_backend_add_absent,
    .change = redis_backend_change,
    .finish = redis_backend_finish,
    .facts = redis_backend_facts,
    .print_info = redis_backend_print_info,
};
