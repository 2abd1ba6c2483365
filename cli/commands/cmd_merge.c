/* perhaps merge, intersect, subtract and differ: one set of several. */
#include "backend/backend.h"
#include "commands.h"
#include "output/report.h"

/* One at a time, so that only two are in memory at any moment. */
static int combine_one(struct target *into, const char *path, enum combination how) {
    const struct backend *backend = into->backend;
    struct target *from = NULL;
    int status = backend->open(&from, into->options, path, TO_INSPECT, 0);
    if (status == FINE) status = backend->combine(into, from, how);
    target_close(from);
    return status;
}

static int combine(const struct options *options, enum combination how) {
    struct target *into;
    int status = target_open(&into, options, TO_COMBINE, 0);
    for (size_t i = 1; i < options->operand_count && status == FINE; i++)
        status = combine_one(into, options->operands[i], how);
    if (status == FINE) status = options->backend->finish(into, FINE);
    if (status == FINE && given(options, OPT_JSON)) status = options->backend->print_info(into, true);
    target_close(into);
    return status;
}

int cmd_merge(const struct options *options) {
    return combine(options, MERGE);
}

int cmd_intersect(const struct options *options) {
    return combine(options, INTERSECT);
}

int cmd_subtract(const struct options *options) {
    return combine(options, SUBTRACT);
}

int cmd_differ(const struct options *options) {
    return combine(options, DIFFER);
}
