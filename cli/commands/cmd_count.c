/* perhaps count: how often each key is in a multiset. */
#include "backend/backend.h"
#include "commands.h"
#include "output/report.h"

#include <unistd.h>

struct counting {
    const struct target *target;
    bool printing;
    uint64_t checked, present, copies;
    struct printer printer;
};

/* "3<tab>line", as it stands in the input. A raw record is no line: its number is printed as
 * one. */
static int print_count(struct counting *c, const struct batch *batch, size_t i, uint64_t count) {
    char text[64];
    bool record = batch->terminator_length == 0;
    int length = snprintf(text, sizeof text, "%llu\t", (unsigned long long)count);
    if (record)
        length +=
            snprintf(text + length, sizeof text - (size_t)length, "%llu\n", (unsigned long long)batch->numbers[i]);
    if (printer_put(&c->printer, text, (size_t)length) != FINE) return TROUBLE;
    return record ? FINE : printer_put(&c->printer, batch->lines[i], batch->line_lengths[i] + batch->terminator_length);
}

static int count_batch(void *context, const struct batch *batch) {
    struct counting *c = context;
    uint64_t counts[BATCH], present;
    if (c->target->backend->count_batch(c->target, batch, counts, &present) != FINE) return TROUBLE;
    c->checked += batch->n;
    c->present += present;
    for (size_t i = 0; i < batch->n; i++) {
        c->copies += counts[i];
        if (c->printing && print_count(c, batch, i, counts[i]) != FINE) return TROUBLE;
    }
    return printer_flush(&c->printer);
}

static int count(struct target *target) {
    static struct counting c;
    struct input input;
    struct json json = {0};
    if (target_input(target, &input) != FINE) return TROUBLE;
    c.target = target;
    c.printing = !given(target->options, OPT_JSON);
    input.silent = c.printing && isatty(STDOUT_FILENO);
    if (input_read(&input, count_batch, &c) == TROUBLE) return TROUBLE;
    if (!c.printing) {
        json_open(&json, NULL, '{');
        json_count(&json, "checked", c.checked);
        json_count(&json, "present", c.present);
        json_count(&json, "absent", c.checked - c.present);
        json_count(&json, "copies", c.copies);
        json_end(&json);
    }
    return c.present ? FINE : NOT_FOUND;
}

int cmd_count(const struct options *options) {
    return with_target(options, TO_QUERY, PERHAPS_COUNT, count);
}
