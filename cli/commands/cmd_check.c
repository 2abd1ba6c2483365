/* perhaps check: like grep, with a set for a pattern. */
#include "backend/backend.h"
#include "commands.h"
#include "confirm.h"
#include "output/report.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What has been found out in some blocks, and what is to be printed when the turn of the last one
 * comes. */
struct checking {
    bool invert, quiet, printing;
    uint64_t checked, present;
    uint64_t hits; /* keys that are printed or would be */
    char *found;
    size_t filled, room;
    struct hits *doubted; /* all that is to be confirmed; NULL without --confirm */
    struct hits own;      /* what is added to them then */
    uint64_t false_positives;
};

static int gather(struct checking *c, const struct batch *batch, const uint8_t *answers) {
    size_t last = batch->n - 1;
    /* From the first line of the batch to the end of its last: no more can be found. */
    size_t most = (size_t)(batch->lines[last] - batch->lines[0]) + batch->line_lengths[last] + batch->terminator_length;
    if (most > c->room - c->filled) {
        size_t room = 2 * c->room + most;
        char *larger = realloc(c->found, room);
        if (!larger) return failure(NULL, "not enough memory to print keys; give a smaller -j, or -c");
        c->found = larger;
        c->room = room;
    }
    uint16_t chosen[BATCH];
    size_t n = 0;
    for (size_t i = 0; i < batch->n; i++) { /* without a branch, which could not be predicted */
        chosen[n] = (uint16_t)i;
        n += answers[i] ^ c->invert;
    }
    for (size_t i = 0; i < n; i++) {
        size_t line = chosen[i], length = batch->line_lengths[line] + batch->terminator_length;
        memcpy(c->found + c->filled, batch->lines[line], length);
        c->filled += length;
    }
    return FINE;
}

static int take_check_answers(void *context, const struct batch *batch, uint8_t *answers, uint64_t present) {
    struct checking *c = context;
    uint64_t hits = c->invert ? batch->n - present : c->doubted ? 0 : present;
    c->checked += batch->n;
    c->present += present;
    c->hits += hits;
    if (c->quiet && hits) return STOP;
    for (size_t i = 0; i < batch->n && c->doubted && present; i++)
        if (answers[i] && hits_put(&c->own, batch, i, c->printing) != FINE) return TROUBLE;
    return c->printing && hits ? gather(c, batch, answers) : FINE;
}

/* Each block ends with a write, so that a slow pipe's keys are answered as they come. */
static int print_found(void *context) {
    struct checking *c = context;
    size_t filled = c->filled;
    c->filled = 0;
    if (c->doubted && hits_move(c->doubted, &c->own) != FINE) return TROUBLE;
    return print_directly(c->found, filled);
}

/* Threads that query one set do not disturb one another; each has its block of the input for
 * itself. */
static int query_all(struct target *target, const struct input *input, struct checking *c) {
    struct checking parts[MOST_BLOCKS];
    void *contexts[MOST_BLOCKS];
    unsigned threads = threads_from(target->options), blocks = blocks_on_the_way(threads);
    for (unsigned i = 0; i < blocks; i++) {
        parts[i] = *c;
        contexts[i] = &parts[i];
    }
    int status = target->backend->query(target, input,
                                        &(struct query){.threads = threads,
                                                        .records = c->printing,
                                                        .prompt = c->quiet || (c->printing && !input_repeatable(input)),
                                                        .answered = take_check_answers,
                                                        .in_order = print_found,
                                                        .contexts = contexts});
    for (unsigned i = 0; i < blocks; i++) {
        c->checked += parts[i].checked;
        c->present += parts[i].present;
        c->hits += parts[i].hits;
        free(parts[i].found);
        free(parts[i].own.bytes);
    }
    return status;
}

/* Which hits are true? */
static int confirm(const struct target *target, const struct input *keys, struct checking *c) {
    int status = hits_confirm(c->doubted, target, keys, c->quiet && !c->invert);
    if (status == TROUBLE) return TROUBLE;
    c->present = hits_confirmed(c->doubted);
    c->false_positives = c->doubted->n - c->present;
    c->hits += c->invert ? c->false_positives : c->present;
    return c->printing ? hits_print(c->doubted, !c->invert) : FINE;
}

/* How the file of --confirm is read, before anything is printed. */
static int confirm_input(const struct target *target, const struct input *input, char **path, struct input *keys) {
    *path = (char *)(uintptr_t)target->options->confirm;
    *keys = *input;
    keys->paths = path;
    keys->path_count = 1;
    if (!*path) return input_without_confirm(target->options);
    if (input_for_confirm(keys, target->options, target->name, &target->recipe) != FINE) return TROUBLE;
    return confirm_possible(*path, input);
}

static int print_header(void *context, const char *header, size_t length) {
    (void)context;
    return print_directly(header, length);
}

static int check(struct target *target) {
    const struct options *options = target->options;
    bool counting = given(options, OPT_COUNT) || given(options, OPT_JSON);
    struct hits doubted = {0};
    struct input input, keys;
    char *key_path;
    struct json json = {0};
    struct checking c = {.invert = given(options, OPT_INVERT), .quiet = given(options, OPT_QUIET)};
    c.printing = !counting && !c.quiet;
    c.doubted = options->confirm ? &doubted : NULL;
    if (target_input(target, &input) != FINE) return TROUBLE;
    if (c.printing) input.take_header = print_header;
    input.quiet = c.quiet;
    if (confirm_input(target, &input, &key_path, &keys) != FINE) return TROUBLE;
    input.silent = c.printing && isatty(STDOUT_FILENO);
    int status = query_all(target, &input, &c);
    if (status == FINE && c.doubted) status = confirm(target, &keys, &c);
    free(doubted.bytes);
    if (status == TROUBLE) return TROUBLE;
    if (counting && !c.quiet && !given(options, OPT_JSON)) {
        printf("%llu\n", (unsigned long long)c.hits);
    } else if (counting && !c.quiet) {
        json_open(&json, NULL, '{');
        json_count(&json, "checked", c.checked);
        json_count(&json, "present", c.present);
        json_count(&json, "absent", c.checked - c.present);
        if (c.doubted) json_count(&json, "false_positives", c.false_positives);
        json_end(&json);
    }
    return c.hits ? FINE : NOT_FOUND;
}

int cmd_check(const struct options *options) {
    return with_target(options, TO_QUERY, 0, check);
}
