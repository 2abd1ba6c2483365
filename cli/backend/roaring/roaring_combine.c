/* perhaps merge, intersect, subtract and differ, for Roaring bitmaps: one set of several, exactly. */
#include "roaring_file.h"
#include "backend/file/filter_file.h"

/* One at a time, so that only two are in memory at any moment. */
static int combine_one(struct roaring *into, const struct options *options, const char *path,
                       enum ids_combination what) {
    struct roaring from;
    if (roaring_open(&from, options, path) != FINE) return TROUBLE;
    int status = FINE;
    if (!ids_combine(&into->ids, &from.ids, what))
        status = failure(path, "takes more memory than there is; use a machine with more");
    ids_free(&from.ids);
    return status;
}

static int combine_into(const struct options *options, enum ids_combination what, struct output *output) {
    struct roaring into;
    if (roaring_open(&into, options, options->operands[0]) != FINE) return TROUBLE;
    int status = FINE;
    for (size_t i = 1; i < options->operand_count && status == FINE; i++)
        status = combine_one(&into, options, options->operands[i], what);
    into.path = options->output;
    if (status == FINE) status = roaring_output(&into, output);
    if (status == FINE && given(options, OPT_JSON)) roaring_print_json(&into);
    ids_free(&into.ids);
    return status;
}

static int combine(const struct options *options, enum ids_combination what) {
    struct output output;
    if (output_open(&output, options) != FINE) return TROUBLE;
    int status = combine_into(options, what, &output);
    output_close(&output);
    return status;
}

int roaring_merge(const struct options *options) {
    return combine(options, TOGETHER);
}

int roaring_intersect(const struct options *options) {
    return combine(options, IN_COMMON);
}

int roaring_subtract(const struct options *options) {
    return combine(options, ONLY_FIRST);
}

int roaring_differ(const struct options *options) {
    return combine(options, ONLY_ONE);
}
