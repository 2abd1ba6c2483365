/* perhaps build: makes the filter that the options want. The number of keys comes from -n or from
 * counting files that can be read twice; a pipe of unknown length makes a filter that grows. */
#include "filter_target.h"
#include "options/abilities.h"
#include "options/want.h"

#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* How many keys there are, or how large they get, need not be known for every want. */
static bool needs_number(const perhaps_want *want) {
    return !want->items && !(want->bytes && want->fpr > 0) && want->kind != PERHAPS_BITMAP;
}

/* What cannot grow must know how many keys a pipe will bring. */
static int check_can_grow(const perhaps_want *want) {
    bool window = want->period || want->clear_at > 0;
    if (is_file_kind(want->kind))
        return failure(
            NULL, "%s filters cannot grow, and the number of keys in a pipe is unknown; give -n, or the keys in a file",
            kind_name(want->kind));
    const char *option = want->grow == PERHAPS_GROW_NEVER ? "--no-grow"
                         : want->period                   ? "--window"
                         : want->clear_at > 0             ? "--clear-at"
                         : want->bytes                    ? "--bytes"
                         : want->bits_per_key > 0         ? "--bits-per-key"
                                                          : NULL;
    if (!option) return FINE;
    return failure(option, "the number of keys in a pipe is unknown; give -n%s",
                   window       ? ", the number of keys to remember"
                   : want->grow ? ""
                                : ", or -p instead of the size");
}

/* Begins small: in layers, or, if these cannot do what is needed, as a kind that grows by
 * itself. */
static int expect_any_number(perhaps_want *want) {
    struct perhaps_plan plan = {.size = sizeof plan};
    if (check_can_grow(want) != FINE) return TROUBLE;
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
    return reason_failure(NULL, "give -n, the number of keys in the pipe");
}

static int fix_number(perhaps_want *want, const struct input *input) {
    if (needs_number(want)) {
        bool countable;
        if (input_count(input, &countable, &want->items) != FINE) return TROUBLE;
        if (!countable && expect_any_number(want) != FINE) return TROUBLE;
    }
    if (want->items || want->bytes) return FINE;
    if (needs_number(want))
        warning(NULL, "there are no keys, so the filter has room for one; to add more later, build it with -n");
    want->items = 1; /* no keys at all; or a bitmap, which grows with its keys */
    return FINE;
}

/* A quarter of the machine's memory: the filter itself and the threads that seal it need some, too.
 * Not all of that can be had where addresses are short. */
static uint64_t usual_scratch(void) {
    static const uint64_t most = SIZE_MAX / 8;
    long pages = sysconf(_SC_PHYS_PAGES), bytes = sysconf(_SC_PAGESIZE);
    uint64_t quarter = pages > 0 && bytes > 0 ? (uint64_t)pages * (uint64_t)bytes / 4 : most;
    return quarter < most ? quarter : most;
}

/* It collects keys in as much memory as --scratch says, and beyond it in the folder of -o: where a
 * file will be there is room for it, and so for its keys. How many they are need not be known. */
static int create_static(perhaps **filter, perhaps_want *want, const struct options *options) {
    struct stat status;
    bool is_file =
        !is_standard_output(options->output) && (stat(options->output, &status) != 0 || S_ISREG(status.st_mode));
    char *output = strdup(is_file ? options->output : ".");
    if (!output) return failure(NULL, "not enough memory");
    want->scratch_dir = dirname(output);
    want->max_scratch = given(options, OPT_SCRATCH) ? options->scratch : usual_scratch();
    int rc = perhaps_create(filter, want);
    free(output);
    return rc < 0 ? library_failure(NULL, rc) : FINE;
}

static void show_progress(void *context, uint64_t done, uint64_t all) {
    (void)context, (void)all;
    progress_at(done, done);
}

int filter_seal(struct filter_target *t) {
    progress_start(filter_facts(t->filter).items, true);
    int rc = perhaps_seal(t->filter, &PERHAPS_SEAL(.threads = t->threads, .progress = show_progress));
    progress_end();
    if (rc == PERHAPS_EIO) return scratch_failure();
    if (rc == PERHAPS_ENOMEM)
        return reason_failure(NULL, "give a smaller -j or --scratch, or use a machine with more memory");
    return rc < 0 ? library_failure(NULL, rc) : FINE;
}

int filter_create(struct target **target, const struct options *options, struct input *input) {
    perhaps_want want;
    uint8_t key[HASH_KEY_BYTES];
    struct filter_target *t = target_new(target, sizeof *t, &file_backend, options, NULL);
    if (!t) return TROUBLE;
    t->target.name = options->output;
    t->created = true;
    if (want_from_options(&want, options) != FINE || hash_from_options(&want, options, key) != FINE) return TROUBLE;
    if (input_from_options(input, options, options->operands, options->operand_count) != FINE) return TROUBLE;
    unsigned traits = perhaps_kind_traits(want.kind);
    if (traits && !(traits & PERHAPS_TAKES_BYTES) && input_for_integers(input, options) != FINE) return TROUBLE;
    if (is_file_kind(want.kind) && input->ignore_case)
        return failure("--ignore-case",
                       "files of %s cannot remember it; leave it out, and change the case of the keys yourself",
                       kind_name(want.kind));
    if (output_open(&t->output, options) != FINE) return TROUBLE;

    perhaps_recipe recipe = input_recipe(input);
    if (!is_file_kind(want.kind)) want.recipe = &recipe;
    if (is_static_kind(want.kind)) {
        if (create_static(&t->filter, &want, options) != FINE) return TROUBLE;
    } else {
        if (fix_number(&want, input) != FINE) return TROUBLE;
        int rc = perhaps_create(&t->filter, &want);
        if (rc < 0) return library_failure(NULL, rc);
        if (filter_advance(t->filter, NULL) != FINE) return TROUBLE;
    }
    filter_describe(t);
    return FINE;
}
