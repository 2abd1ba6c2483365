/* The commands that there are for Roaring bitmaps, and the options that there are not. */
#include "roaring_file.h"
#include "verbs.h"
#include "output/report.h"

#include <stdio.h>

static int (*const verbs[COMMANDS])(const struct options *options) = {
    [CMD_BUILD] = roaring_build,       [CMD_ADD] = roaring_add,
    [CMD_REMOVE] = roaring_remove,     [CMD_CHECK] = roaring_check,
    [CMD_LIST] = roaring_list,         [CMD_INFO] = roaring_info,
    [CMD_MERGE] = roaring_merge,       [CMD_INTERSECT] = roaring_intersect,
    [CMD_SUBTRACT] = roaring_subtract, [CMD_DIFFER] = roaring_differ,
    [CMD_VERIFY] = roaring_verify,
};

/* What is about sizes, rates, hashes and mapped files. */
static const enum option_id of_filters[] = {
    OPT_ITEMS,     OPT_FPR,         OPT_BITS_PER_KEY, OPT_BYTES,       OPT_PRESET,   OPT_NEEDS,
    OPT_GROW,      OPT_GROWTH,      OPT_MAX_BYTES,    OPT_NO_GROW,     OPT_WINDOW,   OPT_GENERATIONS,
    OPT_CLEAR_AT,  OPT_SHARDS,      OPT_HASHES,       OPT_LINES,       OPT_HASH,     OPT_SEED,
    OPT_HASH_KEY,  OPT_KEY_IN_FILE, OPT_AT,           OPT_SHARD_BYTES, OPT_CONFIRM,  OPT_IN_PLACE,
    OPT_NO_VERIFY, OPT_RECOVER,     OPT_FOLD,         OPT_STATIC,      OPT_SMALLEST, OPT_SCRATCH,
};

static int refuse_option(enum option_id id) {
    char shown[20];
    const struct option *option = &option_table[id];
    if (option->letter)
        snprintf(shown, sizeof shown, "-%c", option->letter);
    else
        snprintf(shown, sizeof shown, "--%s", option->name);
    return failure(shown,
                   "is for filters; a Roaring bitmap is exact, takes the room that its ids need and is read as a "
                   "whole: leave it out");
}

int roaring_run(const struct options *options) {
    size_t command = (size_t)(options->command - commands);
    if (!verbs[command])
        return failure(options->kind ? "-k" : options->operands[0],
                       "'perhaps %s' is for filters, not for Roaring bitmaps, which have each id once and make no "
                       "mistakes; see 'perhaps help'",
                       options->command->name);
    for (size_t i = 0; i < sizeof of_filters / sizeof *of_filters; i++)
        if (given(options, of_filters[i])) return refuse_option(of_filters[i]);
    return verbs[command](options);
}
