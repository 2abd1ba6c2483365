/* perhaps merge, intersect, subtract and differ: one set of several. */
#include "backend/backend.h"
#include "commands.h"
#include "output/report.h"

_Static_assert((int)CMD_INTERSECT - CMD_MERGE == INTERSECT && (int)CMD_SUBTRACT - CMD_MERGE == SUBTRACT &&
                   (int)CMD_DIFFER - CMD_MERGE == DIFFER,
               "commands come in the order of enum set_operation");

/* One set at a time is opened, so that only two are in memory at any moment. */
static int combine(struct target *into) {
    const struct options *options = into->options;
    const struct backend *backend = into->backend;
    enum set_operation how = (enum set_operation)(options->command - &commands[CMD_MERGE]);
    for (size_t i = 1; i < options->operand_count; i++) {
        struct target *from = NULL;
        int status = backend->open(&from, options, options->operands[i], TO_INSPECT, 0);
        if (status == FINE) status = backend->combine(into, from, how);
        target_close(from);
        if (status != FINE) return status;
    }
    int status = backend->finish(into, FINE);
    struct target_facts facts;
    if (status == FINE) status = backend->facts(into, &facts);
    if (status != FINE) return status;
    return given(options, OPT_JSON) ? backend->print_info(into, true) : target_tell(into, facts.items, "");
}

int cmd_combine(const struct options *options) {
    return with_target(options, TO_COMBINE, 0, combine);
}
