/* perhaps build: a filter from lines. The number of keys comes from -n or from counting files that can be read twice; a
 * pipe of unknown length makes a filter that grows. */
#include "options/abilities.h"
#include "backend/file/filter_change.h"
#include "backend/redis/at.h"
#include "commands.h"
#include "backend/file/filter_file.h"
#include "options/hashing.h"
#include "output/numbers.h"
#include "output/output_file.h"
#include "backend/file/sealing.h"
#include "options/want.h"

#include <perhaps_embed.h>

/* ---------------------------------------------------------------------------------------------------- filling --- */

static int create(perhaps **filter, const perhaps_want *want) {
    int rc = perhaps_create(filter, want);
    return rc < 0 ? library_failure(NULL, rc) : FINE;
}

static void warn_of_no_keys(void) {
    warning(NULL, "there are no keys, so the filter is made for one; if more are to come, build it with -n");
}

/* How many keys there are, or how large they get, need not be known for every want. */
static bool needs_number(const perhaps_want *want) {
    return !want->items && !(want->bytes && want->fpr > 0) && want->kind != PERHAPS_BITMAP;
}

/* What cannot grow must know how many keys a pipe will bring. */
static int check_can_grow(const perhaps_want *want) {
    bool window = want->period || want->clear_at > 0;
    if (is_file_kind(want->kind))
        return failure(NULL,
                       "%s filters cannot grow, and how many keys a pipe will bring is not known; give -n, or the keys "
                       "in a file",
                       kind_name(want->kind));
    const char *option = want->grow == PERHAPS_GROW_NEVER ? "--no-grow"
                         : want->period                   ? "--window"
                         : want->clear_at > 0             ? "--clear-at"
                         : want->bytes                    ? "--bytes"
                         : want->bits_per_key > 0         ? "--bits-per-key"
                                                          : NULL;
    if (!option) return FINE;
    return failure(option, "how many keys a pipe will bring is not known; give -n%s",
                   window       ? ", for how many keys it is"
                   : want->grow ? ""
                                : ", or -p in place of the size");
}

/* Begins small: in layers, or, if these cannot do what is needed, as a kind that grows by itself. */
static int expect_any_number(perhaps_want *want, unsigned threads) {
    enum { SHARDS = 16 };
    struct perhaps_plan plan = {.size = sizeof plan};
    if (check_can_grow(want) != FINE) return TROUBLE;
    if (threads > 1 && !want->shards) want->shards = SHARDS; /* layers as such take one thread */
    want->items = FIRST_GUESS;
    perhaps_want single = *want;
    want->grow = PERHAPS_GROW_LAYERS;
    single.needs |= PERHAPS_GROW;
    if (perhaps_plan(want, &plan) == PERHAPS_OK) return FINE;
    if (perhaps_plan(&single, &plan) == PERHAPS_OK) {
        *want = single;
        return FINE;
    }
    perhaps_plan(want, &plan); /* for its reason */
    return reason_failure(NULL, "give -n, how many keys the pipe will bring");
}

static int build_from_input(struct change *building, perhaps_want *want, const struct input *input) {
    if (needs_number(want)) {
        bool countable;
        if (input_count(input, &countable, &want->items) != FINE) return TROUBLE;
        if (!countable && expect_any_number(want, building->threads) != FINE) return TROUBLE;
    }
    if (!want->items && !want->bytes) {
        if (needs_number(want)) warn_of_no_keys();
        want->items = 1; /* no keys at all; or a bitmap, which grows with its keys */
    }
    if (create(&building->filter, want) != FINE) return TROUBLE;
    if (filter_advance(building->filter, NULL) != FINE) return TROUBLE;
    return change_all(building, NULL, input);
}

/* How many keys a static filter is for need not be known before all are read. */
static int build_static(const struct options *options, struct change *building, const perhaps_want *want,
                        const struct input *input) {
    if (sealing_create(&building->filter, want, options) != FINE) return TROUBLE;
    int status = change_all(building, NULL, input);
    return status == FINE && !building->error ? sealing_finish(building->filter, building->threads) : status;
}

/* ---------------------------------------------------------------------------------------------------- command --- */

static int finish(const struct options *options, struct output *output, const struct change *building) {
    struct perhaps_info info;
    if (building->error) return change_failure(building, options->output);
    if (output_save(output, building->filter) != FINE) return TROUBLE;
    if (filter_info(building->filter, options->output, &info) != FINE) return TROUBLE;
    warn_if_overfull(&info, options->output, KEYS_COUNTED, building->keys);
    if (given(options, OPT_JSON)) print_info_json(building->filter, &info, options->output);
    return FINE;
}

/* What a filter remembers beside its keys is lost in a file of another program. */
static int check_file_kind(const perhaps_want *want, const struct input *input) {
    if (!is_file_kind(want->kind) || !input->ignore_case) return FINE;
    return failure("--ignore-case", "a file of %s cannot remember it; leave it out, and make the keys alike yourself",
                   kind_name(want->kind));
}

int cmd_build(const struct options *options) {
    if (given(options, OPT_AT)) return at_build(options);
    perhaps_want want;
    struct input input;
    struct output output;
    uint8_t key[HASH_KEY_BYTES];
    struct change building = {.direction = ADDING, .threads = threads_from(options)};
    if (want_from_options(&want, options) != FINE || hash_from_options(&want, options, key) != FINE) return TROUBLE;
    if (input_from_options(&input, options, options->operands, options->operand_count) != FINE) return TROUBLE;
    unsigned traits = perhaps_kind_traits(want.kind);
    if (traits && !(traits & PERHAPS_TAKES_BYTES) && input_for_integers(&input, options) != FINE) return TROUBLE;
    if (check_file_kind(&want, &input) != FINE || output_open(&output, options) != FINE) return TROUBLE;
    perhaps_recipe recipe = input_recipe(&input);
    if (!is_file_kind(want.kind)) want.recipe = &recipe;
    int status = is_static_kind(want.kind) ? build_static(options, &building, &want, &input)
                                           : build_from_input(&building, &want, &input);
    if (status == FINE) status = finish(options, &output, &building);
    output_close(&output);
    perhaps_free(building.filter);
    return status;
}
