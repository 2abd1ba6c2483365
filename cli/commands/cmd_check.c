/* perhaps check: like grep, with a filter for a pattern. */
#include "backend/redis/at.h"
#include "check.h"
#include "commands.h"
#include "confirm.h"
#include "backend/file/filter_file.h"
#include "input/input.h"
#include "output/printer.h"
#include "input/threads.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What one thread has found out, and what it has to print when its turn comes. */
struct checking {
    struct asked asked;
    bool invert, quiet, printing;
    uint64_t checked, present;
    uint64_t hits; /* keys that are printed or would be */
    char *found;
    size_t filled, room;
    struct hits *doubted; /* all that is to be confirmed; NULL without --confirm */
    struct hits own;      /* what this thread adds to them when its turn comes */
    uint64_t false_positives;
};

static int make_room(struct checking *c, size_t length) {
    if (length <= c->room - c->filled) return FINE;
    size_t room = 2 * c->room + length;
    char *larger = realloc(c->found, room);
    if (!larger) return failure(NULL, "not enough memory to print keys; give a smaller -j, or -c");
    c->found = larger;
    c->room = room;
    return FINE;
}

/* The bytes from the first line of a batch to the end of its last: no more can be found. */
static size_t batch_bytes(const struct batch *batch) {
    size_t last = batch->n - 1;
    return (size_t)(batch->lines[last] - batch->lines[0]) + batch->line_lengths[last] + batch->terminator_length;
}

static int gather(struct checking *c, const struct batch *batch, const uint8_t *answers) {
    uint16_t chosen[BATCH];
    size_t n = 0;
    if (make_room(c, batch_bytes(batch)) != FINE) return TROUBLE;
    for (size_t i = 0; i < batch->n; i++) { /* without a branch: hits come in no order that could be foretold */
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

static int doubt(struct checking *c, const struct batch *batch, const uint8_t *answers) {
    for (size_t i = 0; i < batch->n; i++)
        if (answers[i] && hits_put(&c->own, batch, i, c->printing) != FINE) return TROUBLE;
    return FINE;
}

static int check_batch(void *context, const struct batch *batch) {
    struct checking *c = context;
    uint8_t answers[BATCH];
    uint64_t present;
    if (c->asked.ask(c->asked.set, batch, answers, &present) != FINE) return TROUBLE;
    uint64_t hits = c->invert ? batch->n - present : c->doubted ? 0 : present;
    c->checked += batch->n;
    c->present += present;
    c->hits += hits;
    if (c->quiet && hits) return STOP;
    if (c->doubted && present && doubt(c, batch, answers) != FINE) return TROUBLE;
    return c->printing && hits ? gather(c, batch, answers) : FINE;
}

/* Each chunk ends with a write, so that a slow pipe's keys are answered as they come. */
static int print_found(void *context, const char *path, uint64_t first_line) {
    struct checking *c = context;
    size_t filled = c->filled;
    (void)path;
    (void)first_line;
    c->filled = 0;
    if (c->doubted && hits_move(c->doubted, &c->own) != FINE) return TROUBLE;
    return print_directly(c->found, filled);
}

static void print_counts(const struct checking *c, bool as_json) {
    struct json json = {0};
    if (!as_json) {
        printf("%llu\n", (unsigned long long)c->hits);
        return;
    }
    json_open(&json, NULL, '{');
    json_count(&json, "checked", c->checked);
    json_count(&json, "present", c->present);
    json_count(&json, "absent", c->checked - c->present);
    if (c->doubted) json_count(&json, "false_positives", c->false_positives);
    json_end(&json);
}

static struct checking sum(const struct checking *parts, unsigned n) {
    struct checking all = parts[0];
    for (unsigned i = 1; i < n; i++) {
        all.checked += parts[i].checked;
        all.present += parts[i].present;
        all.hits += parts[i].hits;
    }
    return all;
}

/* Threads that ask one filter do not disturb one another; each has its chunk of the input for itself. */
static int read_and_check(const struct input *input, const struct checking *how, unsigned threads,
                          struct checking *result) {
    struct checking parts[MOST_THREADS];
    void *contexts[MOST_THREADS];
    for (unsigned i = 0; i < threads; i++) {
        parts[i] = *how;
        contexts[i] = &parts[i];
    }
    int status = input_work(
        input, &(struct key_work){
                   .threads = threads, .in_thread = check_batch, .in_order = print_found, .contexts = contexts});
    for (unsigned i = 0; i < threads; i++) {
        free(parts[i].found);
        free(parts[i].own.bytes);
    }
    *result = sum(parts, threads);
    return status;
}

/* Which hits are true? The file of --confirm has its keys where the filter's were, or else in the same way as the
 * input. */
static int confirm(const struct options *options, const struct input *input, struct checking *c) {
    char *key_paths[] = {(char *)(uintptr_t)options->confirm};
    struct input keys = *input;
    keys.paths = key_paths;
    keys.path_count = 1;
    input_follow(&keys, c->asked.set);
    int status = hits_confirm(c->doubted, c->asked.set, options->operands[0], &keys, c->quiet && !c->invert);
    if (status == TROUBLE) return TROUBLE;
    c->present = hits_confirmed(c->doubted);
    c->false_positives = c->doubted->n - c->present;
    c->hits += c->invert ? c->false_positives : c->present;
    return c->printing ? hits_print(c->doubted, !c->invert) : FINE;
}

/* Reads, checks and confirms. */
static int check_all(const struct options *options, const struct input *input, const struct checking *how,
                     struct checking *result) {
    int status = read_and_check(input, how, threads_from(options), result);
    return status == FINE && how->doubted ? confirm(options, input, result) : status;
}

int check_keys(const struct options *options, struct input *input, struct asked asked) {
    bool counting = given(options, OPT_COUNT) || given(options, OPT_JSON);
    struct hits doubted = {0};
    struct checking result, how = {.asked = asked};
    how.invert = given(options, OPT_INVERT);
    how.quiet = given(options, OPT_QUIET);
    how.printing = !counting && !how.quiet;
    how.doubted = options->confirm ? &doubted : NULL;
    input->silent = how.printing && isatty(STDOUT_FILENO);
    int status = check_all(options, input, &how, &result);
    free(doubted.bytes);
    if (status == TROUBLE) return TROUBLE;
    if (!how.printing && !how.quiet) print_counts(&result, given(options, OPT_JSON));
    return result.hits ? FINE : NOT_FOUND;
}

static int ask_filter(const void *filter, const struct batch *batch, uint8_t *answers, uint64_t *present) {
    return filter_ask(filter, batch, answers, present);
}

static int check_with(const struct options *options, const perhaps *filter) {
    struct input input;
    if (input_from_options(&input, options, options->operands + 1, options->operand_count - 1) != FINE) return TROUBLE;
    if (input_match(&input, options, options->operands[0], filter) != FINE) return TROUBLE;
    if (options->confirm && confirm_possible(options->confirm, &input) != FINE) return TROUBLE;
    return check_keys(options, &input, (struct asked){filter, ask_filter});
}

int cmd_check(const struct options *options) {
    if (given(options, OPT_AT)) return at_check(options);
    perhaps *filter;
    if (filter_open_now(options, options->operands[0], &filter) != FINE) return TROUBLE;
    int status = check_with(options, filter);
    perhaps_free(filter);
    return status;
}
