/* perhaps dedup: each line once, in order, without sorting. Blocks of lines are read and hashed
 * by two workers in turn, who look the digests up and write the lines that are chosen
 * (dedup/pipeline.c). */
#include "backend/backend.h"
#include "commands.h"
#include "dedup/output.h"
#include "dedup/pipeline.h"
#include "dedup/seen.h"
#include "dedup/state.h"
#include "backend/file/filter_file.h"
#include "options/want.h"

#include <perhaps_embed.h>

#include <errno.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

/* A pipe is not opened for few lines; where it is, some megabytes do no harm. */
enum { FIRST_OF_MANY = 1000000 };

/* Shards of a table grow one at a time, so that the stream never waits long, and are small
 * enough to do so in the cache. */
enum { SHARDS = 256, GENERATIONS = 4 };

struct dedup {
    const struct options *options;
    struct seen seen;
    struct exact *exact;       /* NULL unless --exact */
    struct dedup_state *state; /* NULL unless --state */
    int out;                   /* where lines go; -1 = nowhere */
    uint8_t wanted;            /* the answer of lines to be printed */
    uint64_t lines, unique;
};

/* ---- options ---- */

static int check_options(const struct options *options) {
    static const struct {
        enum option_id one, other;
        const char *why;
    } foes[] = {
        {OPT_EXACT, OPT_LOSS, "one compares lines, the other loses some; leave out one of them"},
        {OPT_EXACT, OPT_STATE, "a state has digests, not lines; leave out one of them"},
        {OPT_EXACT, OPT_NGRAM, "one compares whole lines, the other parts of them; leave out one of them"},
        {OPT_EXACT, OPT_OVERLAP, "one compares whole lines, the other parts of them; leave out one of them"},
        {OPT_LAST, OPT_NGRAM, "N-grams are not forgotten; leave out one of them"},
        {OPT_LAST, OPT_OVERLAP, "N-grams are not forgotten; leave out one of them"},
        {OPT_AT, OPT_NGRAM, "servers remember whole lines; leave out one of them"},
        {OPT_AT, OPT_OVERLAP, "servers remember whole lines; leave out one of them"},
        {OPT_EXACT, OPT_LAST, "what is forgotten cannot be compared; leave out one of them"},
        {OPT_EXACT, OPT_AT, "servers have no lines to compare; leave out one of them"},
        {OPT_AT, OPT_STATE, "servers remember by themselves; leave out one of them"},
        {OPT_AT, OPT_LAST, "build the set on the servers first, with BF.RESERVE ... WINDOW"},
    };
    for (size_t i = 0; i < sizeof foes / sizeof *foes; i++) {
        char name[OPTION_TEXT];
        if (given(options, foes[i].one) && given(options, foes[i].other))
            return failure(option_shown(foes[i].one, name), "does not go with --%s: %s",
                           option_table[foes[i].other].name, foes[i].why);
    }
    if (given(options, OPT_SAVE_EVERY) && !given(options, OPT_STATE))
        return failure("--save-every", "needs --state; name the file to save to");
    if (given(options, OPT_PATIENCE) && !given(options, OPT_STATE) && !given(options, OPT_AT))
        return failure("--patience", "needs --state or --at; leave it out");
    if (given(options, OPT_SHARDS) && !given(options, OPT_AT))
        return failure("--shards", "needs --at; give the URL of a set on servers");
    if (given(options, OPT_NGRAM) && (options->ngram < 1 || options->ngram > NGRAM_MOST))
        return failure("--ngram", "an N-gram has 1 to 1,000 words; 13 is usual");
    if (given(options, OPT_DIFFERENT) && !options->items)
        return failure("-n", "0 lines need no memory; give 1 or more, or leave it out");
    if (options->last.keys && given(options, OPT_DIFFERENT))
        return failure("--last", "a number of lines takes the place of -n; leave out -n, or give a time");
    if (options->last.period && given(options, OPT_LOSS) && !given(options, OPT_DIFFERENT))
        return failure("--last", "with --fpr, the number of lines in that time must be known; give -n");
    return FINE;
}

/* The usual numbers are those of published tools for corpora. */
static int choose_ngram(struct input *input, const struct options *options) {
    enum { USUAL = 13 };
    if (!given(options, OPT_NGRAM) && !given(options, OPT_OVERLAP)) return FINE;
    input->ngram = given(options, OPT_NGRAM) ? (uint32_t)options->ngram : USUAL;
    const char *name = given(options, OPT_NGRAM) ? "--ngram" : "--overlap";
    if (input->encoding != ENCODING_BYTES)
        return failure(name, "only keys of bytes have words; leave out --key, --u64 or --hex");
    if (input->fields.n > 1) return failure(name, "takes the words of one field; give one with --field");
    return FINE;
}

static double overlap_from(const struct options *options) {
    static const double usual = 0.8;
    return given(options, OPT_OVERLAP) ? options->overlap : usual;
}

static bool has_numbers(const struct input *input) {
    return input_of_numbers(input) || input->encoding == ENCODING_INT32 || input->encoding == ENCODING_INT64;
}

/* Numbers of up to eight bytes never share a digest of xxh3, which is one-to-one on them. */
static bool exact_by_nature(const struct input *input, int hash) {
    return has_numbers(input) && hash == PERHAPS_XXH3;
}

/* Are lines remembered by where they are? Then the filter only hashes them. */
static bool compares_lines(const struct options *options, const struct input *input) {
    return given(options, OPT_EXACT) && !has_numbers(input);
}

/* How many lines plain files have, or N-grams, which are nearly as many as words. */
static int estimate(const struct input *input, uint64_t *items) {
    enum { BYTES_OF_A_WORD = 6 };
    if (!input->ngram) return input_estimate(input, items);
    *items = input_bytes(input) / BYTES_OF_A_WORD;
    return FINE;
}

/* What remembers: a table of digests, or with --fpr a filter in layers; with --last a window of
 * one of them. */
static int make_want(perhaps_want *want, const struct options *options, const struct input *input,
                     perhaps_recipe *recipe) {
    bool window = given(options, OPT_LAST), rough = given(options, OPT_LOSS);
    perhaps_want_init(want);
    want->kind = rough ? PERHAPS_BLOCKED : PERHAPS_TABLE;
    want->fpr = rough ? options->fpr : 0;
    want->items = window && options->last.keys ? options->last.keys : options->items;
    want->period = options->last.period;
    want->generations = window ? GENERATIONS : 0;
    want->shards = window || rough ? 0 : SHARDS;
    want->grow = rough && !window ? PERHAPS_GROW_LAYERS : PERHAPS_GROW_DEFAULT;
    *recipe = input_recipe(input);
    want->recipe = recipe;
    if (rough && !want->items && estimate(input, &want->items) != FINE) return TROUBLE;
    if (!want->items || compares_lines(options, input)) want->items = rough ? FIRST_OF_MANY : FIRST_GUESS;
    return FINE;
}

/* ---- lines ---- */

static int reader_gone(const struct dedup *d) {
    return failure(d->options->state, "the output was closed before its end, and only lines that were printed are "
                                      "remembered; run it again for the others");
}

/* Lines are printed before they are noted in the state: none is remembered that was not printed. */
static int take_block(void *context, struct line_block *job) {
    struct dedup *d = context;
    bool ngrams = job->ngrams.texts;
    size_t fresh;
    int status = d->exact ? exact_add(d->exact, job)
                 : ngrams ? seen_add_ngrams(&d->seen, job, overlap_from(d->options), &fresh)
                          : seen_add(&d->seen, job);
    if (status != FINE) return TROUBLE;
    if (d->out >= 0 && print_chosen(d->out, d->options->output, job, d->wanted) != FINE)
        return d->state && d->out == STDOUT_FILENO && errno == EPIPE ? reader_gone(d) : TROUBLE;
    d->lines += job->n;
    d->unique += job->added;
    if (!d->state) return FINE;
    return ngrams ? state_note(d->state, job->ngrams.digests, NULL, fresh)
                  : state_note(d->state, job->digests, job->answers, job->n);
}

static int pause_state(void *context) {
    struct dedup *d = context;
    return state_save_if_due(d->state);
}

static double patience_of_state(void *context) {
    const struct dedup *d = context;
    return state_patience(d->state);
}

/* ---- command ---- */

static bool wants_summary(const struct options *options) {
    return given(options, OPT_JSON) || given(options, OPT_SUMMARY);
}

static int print_summary(const struct options *options, const struct summary *summary) {
    if (given(options, OPT_JSON))
        summary_print_json(summary);
    else
        summary_print(summary);
    return finish_output();
}

static int open_memory(struct dedup *d, const perhaps_want *want, struct input *input) {
    int status;
    if (d->options->state) {
        perhaps *filter;
        status = finish_on_interrupt();
        if (status == FINE) status = state_open(&d->state, d->options, want, input, &filter);
        if (status == FINE) status = seen_of_state(&d->seen, d->options->state, filter);
    } else {
        status = seen_open(&d->seen, want);
    }
    if (status != FINE) return status;
    if (compares_lines(d->options, input)) {
        d->exact = exact_create(input, threads_from(d->options));
        if (!d->exact) return TROUBLE;
    }
    struct perhaps_info info = {.size = sizeof info};
    int rc = perhaps_facts(d->seen.filter, &info);
    if (rc == PERHAPS_OK && info.period) rc = perhaps_set_clock(d->seen.filter, clock_of_windows, NULL);
    return rc < 0 ? library_failure(d->options->state, rc) : FINE;
}

static int run_alone(struct dedup *d, struct input *input) {
    struct pipeline pipeline = {.input = input,
                                .threads = threads_from(d->options),
                                .hasher = &d->seen.hasher,
                                .with_keys = d->exact != NULL,
                                .take = take_block,
                                .pause = d->state ? pause_state : NULL,
                                .patience = patience_of_state,
                                .context = d};
    double began = clock_now();
    input->silent = isatty(STDOUT_FILENO) && d->out == STDOUT_FILENO;
    input_watch_output(d->out);
    int status = pipeline_run(&pipeline);
    if (status == TROUBLE || !wants_summary(d->options)) return status;

    struct summary summary = {
        .lines = d->lines, .unique = d->unique, .seconds = clock_now() - began, .ngram = input->ngram};
    struct perhaps_info info = {.size = sizeof info};
    int kind = perhaps_info(d->seen.filter, &info) < 0 ? 0 : info.base ? info.base : info.kind;
    bool exact = kind == PERHAPS_BITMAP || d->exact || exact_by_nature(input, info.hash);
    if (kind != PERHAPS_TABLE && kind != PERHAPS_BITMAP) /* a state may be too full */
        summary.fpr = fmax(info.fpr_now, info.fpr_target);
    else if (!exact) /* of n keys, any two share a digest with this chance */
        summary.loss = (double)info.items * (double)info.items / 0x1p65;
    return print_summary(d->options, &summary) == FINE ? status : TROUBLE;
}

/* ---- a set that others share ---- */

static int take_shared_answers(void *context, const struct batch *batch, uint8_t *answers, uint64_t added) {
    struct dedup *d = context;
    const char *lines[BATCH + 1], *ends[BATCH];
    size_t last = batch->n - 1;
    d->unique += added;
    if (d->out < 0) return FINE;
    memcpy(lines, batch->lines, batch->n * sizeof *lines);
    lines[batch->n] = lines[last] + batch->line_lengths[last] + batch->terminator_length;
    for (size_t i = 0; i < batch->n; i++) ends[i] = lines[i] + batch->line_lengths[i] + batch->terminator_length;
    return print_chosen(
        d->out, d->options->output,
        &(struct line_block){.n = batch->n, .lines = lines, .ends = ends, .answers = answers, .added = (size_t)added},
        d->wanted);
}

/* Ctrl-C and its like end the reading, not a batch: what the set has been told is printed. */
static int run_shared(struct dedup *d, struct target *target, struct input *input) {
    void *contexts[] = {d};
    struct query query = {.records = d->out >= 0,
                          .prompt = d->out >= 0 && !input_repeatable(input),
                          .answered = take_shared_answers,
                          .contexts = contexts};
    double began = clock_now();
    input->silent = d->out == STDOUT_FILENO && isatty(STDOUT_FILENO);
    int status = finish_on_interrupt();
    if (status == FINE) status = target->backend->add_absent(target, input, &query);
    double seconds = clock_now() - began;
    status = target->backend->finish(target, status);
    if (status == TROUBLE || !wants_summary(d->options)) return status;
    struct target_facts facts;
    if (target->backend->facts(target, &facts) != FINE) return TROUBLE;
    struct summary summary = {
        .lines = target->keys, .unique = d->unique, .seconds = seconds, .fpr = fmax(facts.fpr_target, facts.fpr_now)};
    return print_summary(d->options, &summary) == FINE ? status : TROUBLE;
}

static int print_header(void *context, const char *header, size_t length) {
    const struct dedup *d = context;
    if (d->out < 0 || write_all(d->out, header, length) == 0) return FINE;
    return d->out == STDOUT_FILENO ? output_failure()
                                   : failure(d->options->output,
                                             "cannot be written: %s; is there room "
                                             "on the disk?",
                                             strerror(errno));
}

static void pass_header(struct dedup *d, struct input *input) {
    input->take_header = print_header;
    input->header_context = d;
}

static int dedup_shared(struct dedup *d) {
    struct target *target = NULL;
    struct input input;
    int status = d->options->backend->join(&target, d->options, &input);
    if (status == FINE) status = target_input(target, &input);
    if (status == FINE) status = dedup_output_open(d->options, &input, &d->out);
    pass_header(d, &input);
    if (status == FINE) status = run_shared(d, target, &input);
    target_close(target);
    return status;
}

/* ---- a memory of our own ---- */

static int dedup_alone(struct dedup *d) {
    const struct options *options = d->options;
    struct input input;
    perhaps_want want;
    perhaps_recipe recipe;
    uint8_t hash_key[HASH_KEY_BYTES];
    int status = input_from_options(&input, options, options->operands, options->operand_count);
    if (status == FINE) status = choose_ngram(&input, options);
    if (status == FINE) status = make_want(&want, options, &input, &recipe);
    if (status == FINE) status = hash_from_options(&want, options, hash_key);
    if (status == FINE && want.hash == PERHAPS_XXH3) status = seed_from_options(&want.seed, options);
    /* Numbers can be written in several ways, and are not compared as lines. */
    if (status == FINE && given(options, OPT_EXACT) && has_numbers(&input) && !exact_by_nature(&input, want.hash))
        status = failure("--exact", "siphash may give two numbers the same digest; leave out one of the two, or --key");
    if (status == FINE) status = open_memory(d, &want, &input);
    if (status == FINE) status = dedup_output_open(options, &input, &d->out);
    pass_header(d, &input);
    if (status == FINE) status = run_alone(d, &input);
    seen_close(&d->seen);
    if (d->state) status = state_close(d->state, status);
    exact_free(d->exact);
    return status;
}

int cmd_dedup(const struct options *options) {
    struct dedup d = {.options = options, .out = -1, .wanted = !given(options, OPT_REPEATS)};
    if (check_options(options) != FINE) return TROUBLE;
    int status = options->backend->add_absent ? dedup_shared(&d) : dedup_alone(&d);
    status = dedup_output_close(options, d.out, status);
    die_of_interrupt();
    return status == STOP ? FINE : status;
}
