/* perhaps merge and perhaps intersect: filters of filters. */
#include "commands.h"
#include "filter.h"

typedef int combine_function(perhaps *into, const perhaps *from);

/* Two filters of numbers and of lines may look alike and yet have no key in common. */
static int check_tags(const perhaps *into, const char *first, const perhaps *from, const char *path) {
    if (perhaps_tag(into) == perhaps_tag(from)) return FINE;
    char name[16];
    snprintf(name, sizeof name, "%s", tag_name(perhaps_tag(into)));
    return failure(path, "its keys are written as %s, those of %s as %s; build both with the same --key",
                   tag_name(perhaps_tag(from)), first, name);
}

/* One at a time, so that only one file is mapped at any moment. */
static int combine_one(const struct options *options, combine_function *combine, perhaps *into, const char *path) {
    perhaps *from;
    if (filter_open(options, path, 0, &from) != FINE) return TROUBLE;
    int status = check_tags(into, options->operands[0], from, path);
    if (status == FINE) {
        int rc = combine(into, from);
        if (rc < 0) status = library_failure(path, rc);
    }
    perhaps_free(from);
    return status;
}

static int combine_all(const struct options *options, combine_function *combine) {
    perhaps *into;
    struct perhaps_info info;
    if (output_check(options) != FINE) return TROUBLE;
    if (filter_open(options, options->operands[0], PERHAPS_OPEN_COPY, &into) != FINE) return TROUBLE;
    int status = FINE;
    for (size_t i = 1; i < options->operand_count && status == FINE; i++)
        status = combine_one(options, combine, into, options->operands[i]);
    if (status == FINE) status = output_save(options, into);
    if (status == FINE) status = filter_info(into, options->output, &info);
    perhaps_free(into);
    if (status != FINE) return status;
    warn_if_overfull(&info, options->output, KEYS_ESTIMATED, 0);
    if (given(options, OPT_JSON)) print_info_json(&info, options->output);
    return FINE;
}

int cmd_merge(const struct options *options) {
    return combine_all(options, perhaps_merge);
}

int cmd_intersect(const struct options *options) {
    return combine_all(options, perhaps_intersect);
}
