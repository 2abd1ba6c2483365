/* perhaps count: how often each key is in a multiset. */
#include "options/abilities.h"
#include "commands.h"
#include "backend/file/filter_file.h"
#include "input/input.h"
#include "output/printer.h"

#include <stdlib.h>
#include <unistd.h>

struct counting {
    const perhaps *filter;
    bool printing;
    uint64_t checked, present, copies;
    struct printer printer;
};

/* "3<tab>line", as it stands in the input. A raw record is no line: its number is printed as one. */
static int print_count(struct counting *c, const struct batch *batch, size_t i, uint64_t count) {
    char number[64];
    bool record = batch->terminator_length == 0;
    int length = snprintf(number, sizeof number, "%llu\t", (unsigned long long)count);
    if (record)
        length +=
            snprintf(number + length, sizeof number - (size_t)length, "%llu\n", (unsigned long long)batch->numbers[i]);
    if (printer_put(&c->printer, number, (size_t)length) != FINE) return TROUBLE;
    return record ? FINE : printer_put(&c->printer, batch->lines[i], batch->line_lengths[i] + batch->terminator_length);
}

static int count_batch(void *context, const struct batch *batch) {
    struct counting *c = context;
    uint64_t counts[BATCH];
    perhaps_keys keys = batch_keys(batch);
    int64_t present = perhaps_count_many(c->filter, &keys, counts);
    if (present < 0) return library_failure(batch->path, (int)present);
    c->checked += batch->n;
    c->present += (uint64_t)present;
    for (size_t i = 0; i < batch->n; i++) {
        c->copies += counts[i];
        if (c->printing && print_count(c, batch, i, counts[i]) != FINE) return TROUBLE;
    }
    return printer_flush(&c->printer);
}

static void print_json(const struct counting *c) {
    struct json json = {0};
    json_open(&json, NULL, '{');
    json_count(&json, "checked", c->checked);
    json_count(&json, "present", c->present);
    json_count(&json, "absent", c->checked - c->present);
    json_count(&json, "copies", c->copies);
    json_end(&json);
}

static int count_with(const struct options *options, struct counting *c) {
    struct input input;
    const char *path = options->operands[0];
    if (filter_require(c->filter, path, PERHAPS_COUNT) != FINE) return TROUBLE;
    if (input_from_options(&input, options, options->operands + 1, options->operand_count - 1) != FINE) return TROUBLE;
    if (input_match(&input, options, path, c->filter) != FINE) return TROUBLE;
    input.silent = c->printing && isatty(STDOUT_FILENO);
    if (input_read(&input, count_batch, c) == TROUBLE) return TROUBLE;
    if (!c->printing) print_json(c);
    return c->present ? FINE : NOT_FOUND;
}

int cmd_count(const struct options *options) {
    perhaps *filter;
    if (filter_open_now(options, options->operands[0], &filter) != FINE) return TROUBLE;
    struct counting *counting = calloc(1, sizeof *counting);
    int status = TROUBLE;
    if (counting) {
        counting->filter = filter;
        counting->printing = !given(options, OPT_JSON);
        status = count_with(options, counting);
    } else {
        failure(NULL, "not enough memory to count keys");
    }
    free(counting);
    perhaps_free(filter);
    return status;
}
