/* perhaps add and perhaps remove: lines into a filter or out of it, through a copy that replaces the file, or in the
 * file itself. */
#include "options/abilities.h"
#include "backend/redis/at.h"
#include "backend/file/filter_change.h"
#include "commands.h"
#include "backend/file/filter_file.h"
#include "input/interrupt.h"
#include "output/numbers.h"

static void print_json(const struct change *change, const struct perhaps_info *info) {
    struct json json = {0};
    bool removing = change->direction == REMOVING;
    json_open(&json, NULL, '{');
    json_count(&json, "keys", change->keys);
    json_count(&json, removing ? "removed" : "new", change->changed);
    if (removing) json_count(&json, "not_found", change->keys - change->changed);
    json_count(&json, "items", info->items);
    json_count(&json, "capacity", info->capacity);
    json_real(&json, "fpr_target", info->fpr_target);
    json_real(&json, "fpr_now", info->fpr_now);
    json_end(&json);
}

/* Success is silent, but for what users should know. */
static void tell(const struct options *options, const char *path, const struct change *change,
                 const struct perhaps_info *info) {
    char removed[NUMBER_TEXT], rest[NUMBER_TEXT];
    if (change->direction == ADDING)
        warn_if_overfull(info, path, given(options, OPT_RECOVER) ? KEYS_ESTIMATED : KEYS_ADDED,
                         info->items - change->changed + change->keys);
    if (given(options, OPT_JSON))
        print_json(change, info);
    else if (change->direction == REMOVING && change->changed < change->keys)
        remark(path, "%s removed, %s not found", group_digits(change->changed, removed),
               group_digits(change->keys - change->changed, rest));
}

/* In place, what was changed stays changed, whatever ended the reading. */
static int finish(const struct change *change, const char *path, perhaps_lock *lock, int status) {
    if (change->in_place) {
        int rc = perhaps_sync(change->filter);
        int finished = rc < 0 ? saving_failure(path, rc) : FINE;
        if (status != TROUBLE) status = finished;
    }
    if (status != TROUBLE && change->error) status = change_failure(change, path);
    if (status == FINE && !change->in_place) status = filter_replace(lock, path, change->filter);
    return status;
}

static int change_filter(const struct options *options, const char *path, perhaps_lock *lock, struct change *change) {
    struct input input;
    struct perhaps_info info;
    if (input_from_options(&input, options, options->operands + 1, options->operand_count - 1) != FINE) return TROUBLE;
    if (input_match(&input, options, path, change->filter) != FINE) return TROUBLE;
    if (filter_advance(change->filter, path) != FINE) return TROUBLE;
    int status = change_all(change, path, &input);
    status = finish(change, path, lock, status);
    die_of_interrupt();
    if (status != FINE || filter_info(change->filter, path, &info) != FINE) return TROUBLE;
    tell(options, path, change, &info);
    return FINE;
}

static int open_and_change(const struct options *options, const char *path, perhaps_lock *lock,
                           enum direction direction) {
    struct change change = {
        .direction = direction, .threads = threads_from(options), .in_place = given(options, OPT_IN_PLACE)};
    unsigned how = change.in_place ? PERHAPS_OPEN_WRITE : PERHAPS_OPEN_COPY;
    if (filter_open(options, path, how, &change.filter) != FINE) return TROUBLE;
    int status = change.in_place ? finish_on_interrupt() : FINE; /* so that the file can be finished */
    if (status == FINE) status = filter_refuse_sealed(change.filter, path);
    if (status == FINE && direction == REMOVING) status = filter_require(change.filter, path, PERHAPS_REMOVE);
    if (status == FINE) status = change_filter(options, path, lock, &change);
    perhaps_free(change.filter);
    return status;
}

/* In place, the filter itself is locked while it is open. */
static int run(const struct options *options, enum direction direction) {
    const char *path = options->operands[0];
    perhaps_lock *lock = NULL;
    if (!given(options, OPT_IN_PLACE) && filter_lock(options, path, &lock) != FINE) return TROUBLE;
    int status = open_and_change(options, path, lock, direction);
    perhaps_unlock(lock);
    return status;
}

int cmd_add(const struct options *options) {
    return given(options, OPT_AT) ? at_add(options) : run(options, ADDING);
}

int cmd_remove(const struct options *options) {
    return given(options, OPT_AT) ? at_remove(options) : run(options, REMOVING);
}
