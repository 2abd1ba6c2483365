/* perhaps build, add and remove --at: lines into a set on servers, or out of it. */
#include "at.h"
#include "set_create.h"
#include "set_facts.h"
#include "item_batch.h"
#include "options/abilities.h"
#include "output/numbers.h"
#include "output/report.h"

static const double usual_rate = 0.01;

/* How many keys of a batch were new, or were taken out. */
static int count_changed(struct item_batch *batch) {
    uint64_t *changed = batch->context;
    for (size_t i = 0; i < batch->n; i++) *changed += batch->answers[i];
    return FINE;
}

/* What users should know about how it went. */
static void warn_of_accidents(const struct item_batch *batch) {
    char n[NUMBER_TEXT];
    const struct set *set = batch->set;
    if (batch->doubled)
        warning(set->url.shown,
                "a connection broke: up to %s keys may have been added twice, and then take two removes",
                group_digits(batch->doubled, n));
    if (set->cluster.restarts)
        warning(set->url.shown,
                "a server was started anew, or another took its place, while keys were on their way; what it did not "
                "have yet is lost: give the command once more to be sure");
}

static void print_json(const struct item_batch *batch, uint64_t changed, const struct set_facts *f) {
    struct json json = {0};
    bool removing = batch->verb == REMOVE_ITEMS;
    json_open(&json, NULL, '{');
    json_count(&json, "keys", batch->keys);
    json_count(&json, removing ? "removed" : "new", changed);
    if (removing) json_count(&json, "not_found", batch->keys - changed);
    json_count(&json, "items", f->items);
    json_count(&json, "capacity", f->capacity);
    json_real(&json, "fpr_target", f->fpr_target);
    json_real(&json, "fpr_now", f->fpr_now);
    json_end(&json);
}

static void tell(const struct options *options, const struct item_batch *batch, uint64_t changed,
                 const struct set_facts *f) {
    char removed[NUMBER_TEXT], rest[NUMBER_TEXT];
    warn_of_accidents(batch);
    if (batch->verb == ADD_ITEMS) set_facts_warn_if_overfull(f, batch->set);
    if (given(options, OPT_JSON) && options->command == &commands[CMD_BUILD])
        set_facts_print_json(f, batch->set);
    else if (given(options, OPT_JSON))
        print_json(batch, changed, f);
    else if (batch->verb == REMOVE_ITEMS && changed < batch->keys)
        remark(batch->set->url.shown, "%s removed, %s not found", group_digits(changed, removed),
               group_digits(batch->keys - changed, rest));
}

/* All keys of the input. Facts are gathered only where somebody wants to know. */
static int change(struct set *set, const struct options *options, const struct input *input, enum verb verb) {
    uint64_t changed = 0;
    struct item_batch batch = {.set = set, .verb = verb, .done = count_changed, .context = &changed};
    struct set_facts facts = {0};
    int status = item_batch_read(&batch, input);
    bool curious = given(options, OPT_JSON) || (set->kind == SET_BITS && verb == ADD_ITEMS);
    if (status == FINE && curious) status = set_facts_gather(&facts, set);
    if (status == FINE) tell(options, &batch, changed, &facts);
    set_facts_free(&facts);
    item_batch_free(&batch);
    return status;
}

static int change_old(const struct options *options, enum verb verb) {
    struct set set;
    struct input input;
    char who[KINDS_TEXT];
    int status = input_from_options(&input, options, options->operands, options->operand_count);
    if (status != FINE) return status;
    status = set_open(&set, options);
    if (status == FINE) status = set_match(&set, options, &input);
    if (status == FINE && verb == REMOVE_ITEMS && set.kind != SET_CUCKOO)
        status = failure(set.url.shown,
                         "cannot forget single keys, since they share bits; %s, and of these a server "
                         "has cuckoo: build it with --needs remove",
                         who_can(PERHAPS_REMOVE, who));
    if (status == FINE) status = change(&set, options, &input, verb);
    set_close(&set);
    return status;
}

int at_add(const struct options *options) {
    return change_old(options, ADD_ITEMS);
}

int at_remove(const struct options *options) {
    return change_old(options, REMOVE_ITEMS);
}

/* How many keys the set is for: as said, or as counted, or 0 where nobody knows. */
static int count_items(const struct options *options, const struct input *input, uint64_t *items) {
    bool countable = true;
    *items = options->items;
    if (given(options, OPT_ITEMS) && !*items)
        return failure("-n", "a filter for 0 keys makes no sense; give 1 or more");
    if (*items || given(options, OPT_GROW)) return FINE;
    if (input_count(input, &countable, items) != FINE) return TROUBLE;
    if (countable && !*items) *items = 1;
    return FINE;
}

int at_build(const struct options *options) {
    struct set set;
    struct input input;
    uint64_t items;
    int status = input_from_options(&input, options, options->operands, options->operand_count);
    if (status != FINE) return status;
    status = set_connect(&set, options);
    set.recipe = input_recipe(&input);
    set.tells_recipe = true;
    set.fpr = usual_rate;
    if (status == FINE) status = count_items(options, &input, &items);
    if (status == FINE) status = set_shape(&set, options, items);
    if (status == FINE) status = set_create(&set, options);
    if (status == FINE) status = change(&set, options, &input, ADD_ITEMS);
    set_close(&set);
    return status;
}
