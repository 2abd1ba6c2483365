/* perhaps check: like grep, with a filter for a pattern. */
#include "commands.h"
#include "filter.h"
#include "input.h"
#include "printer.h"

#include <stdlib.h>
#include <unistd.h>

struct checking {
    const perhaps *filter;
    bool invert, quiet, printing;
    uint64_t checked, present;
    uint64_t hits; /* keys that are printed or would be */
    struct printer printer;
};

/* Lines lie one after another in memory, so a batch of hits is one piece. */
static int print_all(const struct batch *batch) {
    size_t last = batch->n - 1;
    const char *end = batch->lines[last] + batch->line_lengths[last] + batch->terminator_length;
    return print_directly(batch->lines[0], (size_t)(end - batch->lines[0]));
}

/* Each batch ends with a write, so that a slow pipe's keys are answered as they come. */
static int print_hits(struct checking *c, const struct batch *batch, const uint8_t *answers) {
    uint16_t chosen[BATCH];
    size_t n = 0;
    for (size_t i = 0; i < batch->n; i++) { /* without a branch: hits come in no order that could be foretold */
        chosen[n] = (uint16_t)i;
        n += answers[i] ^ c->invert;
    }
    for (size_t i = 0; i < n; i++) {
        size_t line = chosen[i];
        size_t length = batch->line_lengths[line] + batch->terminator_length;
        if (printer_put(&c->printer, batch->lines[line], length) != FINE) return TROUBLE;
    }
    return printer_flush(&c->printer);
}

static int check_batch(void *context, const struct batch *batch) {
    struct checking *c = context;
    uint8_t answers[BATCH];
    int64_t present = batch->numbers ? perhaps_contains_many_u64(c->filter, batch->numbers, batch->n, answers)
                                     : perhaps_contains_many(c->filter, batch->keys, batch->lengths, batch->n, answers);
    if (present < 0) return library_failure(batch->path, (int)present);
    uint64_t hits = c->invert ? batch->n - (uint64_t)present : (uint64_t)present;
    c->checked += batch->n;
    c->present += (uint64_t)present;
    c->hits += hits;
    if (c->quiet && hits) return STOP;
    if (!c->printing || !hits) return FINE;
    return hits == batch->n ? print_all(batch) : print_hits(c, batch, answers);
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
    json_end(&json);
}

static int check_with(const struct options *options, struct checking *c) {
    struct input input;
    const char *path = options->operands[0];
    if (input_from_options(&input, options, options->operands + 1, options->operand_count - 1) != FINE) return TROUBLE;
    if (input_match(&input, options, path, c->filter) != FINE) return TROUBLE;
    input.silent = c->printing && isatty(STDOUT_FILENO);
    int status = input_read(&input, check_batch, c);
    if (status == TROUBLE) return TROUBLE;
    if (!c->printing && !c->quiet) print_counts(c, given(options, OPT_JSON));
    return c->hits ? FINE : NOT_FOUND;
}

int cmd_check(const struct options *options) {
    perhaps *filter;
    if (filter_open(options, options->operands[0], 0, &filter) != FINE) return TROUBLE;
    struct checking *checking = malloc(sizeof *checking);
    int status = TROUBLE;
    if (checking) {
        bool counting = given(options, OPT_COUNT) || given(options, OPT_JSON);
        *checking = (struct checking){
            .filter = filter, .invert = given(options, OPT_INVERT), .quiet = given(options, OPT_QUIET)};
        checking->printing = !counting && !checking->quiet;
        status = check_with(options, checking);
    } else {
        failure(NULL, "not enough memory to check keys");
    }
    free(checking);
    perhaps_free(filter);
    return status;
}
