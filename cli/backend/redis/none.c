/* Where hiredis was not to be had when this was built. */
#include "at.h"
#include "output/report.h"

static int missing(void) {
    return failure("--at", "this perhaps was built without hiredis, and cannot talk to servers; install libhiredis-dev "
                           "and build it again");
}

int at_build(const struct options *options) {
    (void)options;
    return missing();
}

int at_add(const struct options *options) {
    (void)options;
    return missing();
}

int at_remove(const struct options *options) {
    (void)options;
    return missing();
}

int at_check(const struct options *options) {
    (void)options;
    return missing();
}

int at_dedup(const struct options *options) {
    (void)options;
    return missing();
}

int at_info(const struct options *options) {
    (void)options;
    return missing();
}
