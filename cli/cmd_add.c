/* perhaps add: more lines into a filter, through a copy that replaces the file, or in the file itself. */
#include "commands.h"
#include "filter.h"
#include "input.h"

#include <signal.h>

struct adding {
    perhaps *filter;
    uint64_t keys, new_keys;
};

static int add_batch(void *context, const struct batch *batch) {
    struct adding *adding = context;
    int64_t added = batch->numbers ? perhaps_add_many_u64(adding->filter, batch->numbers, batch->n, NULL)
                                   : perhaps_add_many(adding->filter, batch->keys, batch->lengths, batch->n, NULL);
    if (added < 0) return library_failure(batch->path, (int)added);
    adding->keys += batch->n;
    adding->new_keys += (uint64_t)added;
    return FINE;
}

/* In place, an interruption ends the reading, so that the file can be finished. */
static volatile sig_atomic_t interrupting_signal;

static void on_interrupt(int number) {
    interrupting_signal = number;
    input_interrupted = 1;
}

static void finish_on_interrupt(void) {
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct sigaction before, action = {.sa_handler = on_interrupt};
        sigaction(numbers[i], NULL, &before);
        if (before.sa_handler != SIG_IGN) sigaction(numbers[i], &action, NULL);
    }
}

/* Ends as the signal would have ended it. */
static void die_of_interrupt(void) {
    if (!interrupting_signal) return;
    signal(interrupting_signal, SIG_DFL);
    raise(interrupting_signal);
}

static int finish_in_place(perhaps *filter, const char *path) {
    int rc = perhaps_sync(filter);
    return rc < 0 ? saving_failure(path, rc) : FINE;
}

static void print_json(const struct adding *adding, const struct perhaps_info *info) {
    struct json json = {0};
    json_open(&json, NULL, '{');
    json_count(&json, "keys", adding->keys);
    json_count(&json, "new", adding->new_keys);
    json_count(&json, "items", info->items);
    json_count(&json, "capacity", info->capacity);
    json_real(&json, "fpr_target", info->fpr_target);
    json_real(&json, "fpr_now", info->fpr_now);
    json_end(&json);
}

static int add_to(const struct options *options, const char *path, perhaps *filter) {
    struct input input;
    struct perhaps_info info;
    struct adding adding = {.filter = filter};
    bool in_place = given(options, OPT_IN_PLACE);
    if (input_from_options(&input, options, options->operands + 1, options->operand_count - 1) != FINE) return TROUBLE;
    if (input_match_tag(&input, options, path, perhaps_tag(filter)) != FINE) return TROUBLE;
    int status = input_read(&input, add_batch, &adding);
    if (in_place) { /* what was added stays added, whatever ended the reading */
        int finished = finish_in_place(filter, path);
        if (status != TROUBLE) status = finished;
    } else if (status == FINE) {
        status = filter_save(filter, path);
    }
    die_of_interrupt();
    if (status != FINE || filter_info(filter, path, &info) != FINE) return TROUBLE;
    warn_if_overfull(&info, path, given(options, OPT_RECOVER) ? KEYS_ESTIMATED : KEYS_ADDED,
                     info.items - adding.new_keys + adding.keys);
    if (given(options, OPT_JSON)) print_json(&adding, &info);
    return FINE;
}

int cmd_add(const struct options *options) {
    perhaps *filter;
    const char *path = options->operands[0];
    bool in_place = given(options, OPT_IN_PLACE);
    if (filter_open(options, path, in_place ? PERHAPS_OPEN_WRITE : PERHAPS_OPEN_COPY, &filter) != FINE) return TROUBLE;
    if (in_place) finish_on_interrupt();
    int status = add_to(options, path, filter);
    perhaps_free(filter);
    return status;
}
