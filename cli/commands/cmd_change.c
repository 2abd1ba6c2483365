/* perhaps build, add and remove: keys into a set or out of it. */
#include "backend/backend.h"
#include "commands.h"
#include "output/numbers.h"
#include "output/report.h"

static int print_json(struct target *target, enum direction direction) {
    struct json json = {0};
    struct target_facts facts;
    if (target->backend->facts(target, &facts) != FINE) return TROUBLE;
    json_open(&json, NULL, '{');
    json_count(&json, "keys", target->keys);
    json_count(&json, direction == REMOVING ? "removed" : "new", target->changed);
    if (direction == REMOVING) json_count(&json, "not_found", target->keys - target->changed);
    json_count(&json, "items", facts.items);
    if (facts.planned) {
        json_count(&json, "capacity", facts.capacity);
        json_real(&json, "fpr_target", facts.fpr_target);
        json_real(&json, "fpr_now", facts.fpr_now);
    }
    json_end(&json);
    return FINE;
}

/* Success is silent, but for what users should know. */
static int report(struct target *target, enum direction direction) {
    char removed[NUMBER_TEXT], rest[NUMBER_TEXT];
    if (given(target->options, OPT_JSON)) return print_json(target, direction);
    if (direction == REMOVING && target->changed < target->keys)
        remark(target->name, "%s removed, %s not found", group_digits(target->changed, removed),
               group_digits(target->keys - target->changed, rest));
    return FINE;
}

static int change(const struct options *options, enum direction direction) {
    struct target *target;
    struct input input;
    int status = target_open(&target, options, TO_CHANGE, direction == REMOVING ? PERHAPS_REMOVE : PERHAPS_ADD);
    if (status == FINE) status = target_input(target, &input);
    if (status == FINE) status = target->backend->finish(target, target->backend->change(target, &input, direction));
    if (status == FINE) status = report(target, direction);
    target_close(target);
    return status;
}

int cmd_add(const struct options *options) {
    return change(options, ADDING);
}

int cmd_remove(const struct options *options) {
    return change(options, REMOVING);
}

int cmd_build(const struct options *options) {
    const struct backend *backend = options->backend;
    struct target *target = NULL;
    struct input input;
    int status = backend->create(&target, options, &input);
    if (status == FINE) status = backend->finish(target, backend->change(target, &input, ADDING));
    if (status == FINE && given(options, OPT_JSON)) status = backend->print_info(target, true);
    target_close(target);
    return status;
}
