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

/* Success is silent in pipes, except for what users should know. */
static int change(struct target *target) {
    const struct backend *backend = target->backend;
    enum direction direction = target->options->command == &commands[CMD_REMOVE] ? REMOVING : ADDING;
    struct input input;
    char removed[NUMBER_TEXT], rest[NUMBER_TEXT];
    if (target_input(target, &input) != FINE) return TROUBLE;
    int status = backend->finish(target, backend->change(target, &input, direction));
    if (status != FINE) return status;
    if (given(target->options, OPT_JSON)) return print_json(target, direction);
    if (direction == REMOVING && target->changed < target->keys)
        remark(target->name, "%s removed, %s not found", group_digits(target->changed, removed),
               group_digits(target->keys - target->changed, rest));
    return direction == REMOVING ? target_tell(target, target->changed, " removed")
                                 : target_tell(target, target->keys, " added");
}

int cmd_add(const struct options *options) {
    return with_target(options, TO_CHANGE, PERHAPS_ADD, change);
}

int cmd_remove(const struct options *options) {
    return with_target(options, TO_CHANGE, PERHAPS_REMOVE, change);
}

int cmd_build(const struct options *options) {
    const struct backend *backend = options->backend;
    struct target *target = NULL;
    struct input input;
    int status = backend->create(&target, options, &input);
    if (status == FINE) status = backend->finish(target, backend->change(target, &input, ADDING));
    if (status == FINE)
        status = given(options, OPT_JSON) ? backend->print_info(target, true) : target_tell(target, target->keys, "");
    target_close(target);
    return status;
}
