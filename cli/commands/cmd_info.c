/* perhaps info: what a set is and how full. */
#include "backend/backend.h"
#include "commands.h"
#include "output/report.h"

int cmd_info(const struct options *options) {
    struct target *target;
    int status = target_open(&target, options, TO_INSPECT, 0);
    if (status == FINE) status = options->backend->print_info(target, given(options, OPT_JSON));
    target_close(target);
    return status;
}
