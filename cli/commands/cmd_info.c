/* perhaps info: what a set is and how full. */
#include "backend/backend.h"
#include "commands.h"
#include "output/report.h"

static int print_info(struct target *target) {
    return target->backend->print_info(target, given(target->options, OPT_JSON));
}

int cmd_info(const struct options *options) {
    return with_target(options, TO_INSPECT, 0, print_info);
}
