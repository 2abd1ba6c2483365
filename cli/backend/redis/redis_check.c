/* perhaps check --at: like grep, with a set on servers for a pattern. */
#include "at.h"
#include "item_batch.h"
#include "output/report.h"
#include "output/printer.h"

#include <unistd.h>

struct server_check {
    bool invert, quiet, printing;
    uint64_t present, hits; /* hits are printed, or would be */
    struct printer printer;
};

/* A pause of the input ends with a write, so that a slow pipe's keys are answered as they come. */
static int take_answers(struct item_batch *batch) {
    struct server_check *c = batch->context;
    const char *line = batch->lines.bytes;
    for (size_t i = 0; i < batch->n; i++) {
        bool hit = batch->answers[i] ^ c->invert;
        c->present += batch->answers[i];
        c->hits += hit;
        if (hit && c->printing && printer_put(&c->printer, line, batch->items[i].line_length) != FINE) return TROUBLE;
        if (c->printing) line += batch->items[i].line_length;
    }
    if (c->quiet && c->hits) return STOP;
    return c->printing ? printer_flush(&c->printer) : FINE;
}

static void print_counts(const struct server_check *c, uint64_t checked, bool as_json) {
    struct json json = {0};
    if (!as_json) {
        printf("%llu\n", (unsigned long long)c->hits);
        return;
    }
    json_open(&json, NULL, '{');
    json_count(&json, "checked", checked);
    json_count(&json, "present", c->present);
    json_count(&json, "absent", checked - c->present);
    json_end(&json);
}

static int check(struct set *set, const struct options *options, struct input *input) {
    static struct server_check c;
    struct item_batch batch = {.set = set, .verb = CHECK_ITEMS, .done = take_answers, .context = &c};
    c.invert = given(options, OPT_INVERT);
    c.quiet = given(options, OPT_QUIET);
    c.printing = !c.quiet && !given(options, OPT_COUNT) && !given(options, OPT_JSON);
    batch.keep_lines = c.printing;
    batch.eager = (c.printing && !input_repeatable(input)) || c.quiet;
    input->silent = c.printing && isatty(STDOUT_FILENO);
    int status = item_batch_read(&batch, input);
    uint64_t checked = batch.keys;
    item_batch_free(&batch);
    if (status == TROUBLE) return TROUBLE;
    if (!c.printing && !c.quiet) print_counts(&c, checked, given(options, OPT_JSON));
    return c.hits ? FINE : NOT_FOUND;
}

int at_check(const struct options *options) {
    struct set set;
    struct input input;
    int status = input_from_options(&input, options, options->operands, options->operand_count);
    if (status != FINE) return status;
    status = set_open(&set, options);
    if (status == FINE) status = set_match(&set, options, &input);
    if (status == FINE) status = check(&set, options, &input);
    set_close(&set);
    return status;
}
