/* Where libroaring was not to be had when this was built. */
#include "verbs.h"
#include "output/report.h"

int roaring_run(const struct options *options) {
    return failure(options->kind ? "-k" : options->operands[0],
                   "this perhaps was built without libroaring, and cannot read or write Roaring bitmaps; install "
                   "libroaring-dev and build it again");
}
