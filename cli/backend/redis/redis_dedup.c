/* perhaps dedup --at: each line once, among all who share a set on servers. */
#include "at.h"
#include "set_create.h"
#include "set_facts.h"
#include "item_batch.h"
#include "dedup/output.h"
#include "dedup/printing.h"
#include "dedup/summary.h"
#include "input/interrupt.h"
#include "output/numbers.h"
#include "output/report.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

/* Of a set that is made here: a line in a million is lost. */
static const double usual_rate = 1e-6;

struct deduping {
    const struct options *options;
    int out;            /* where lines go; -1 = nowhere */
    uint8_t wanted;     /* the answer of lines to be printed */
    const char **lines; /* of a batch, and where the last one ends */
    uint64_t unique;
};

static int print(struct deduping *d, const struct item_batch *batch) {
    const char *line = batch->lines.bytes;
    if (!d->lines) d->lines = malloc((batch->room + 1) * sizeof *d->lines);
    if (!d->lines) return failure(NULL, "not enough memory for so many lines at a time");
    for (size_t i = 0; i < batch->n; i++) {
        d->lines[i] = line;
        line += batch->items[i].line_length;
    }
    d->lines[batch->n] = line;
    struct line_block job = {.n = batch->n, .lines = d->lines, .answers = batch->answers};
    return print_chosen(d->out, d->options->output, &job, d->wanted);
}

static int take_answers(struct item_batch *batch) {
    struct deduping *d = batch->context;
    for (size_t i = 0; i < batch->n; i++) d->unique += batch->answers[i] == 1;
    return d->out < 0 ? FINE : print(d, batch);
}

static void warn_of_accidents(const struct item_batch *batch) {
    char n[NUMBER_TEXT];
    const char *set = batch->set->url.shown;
    if (batch->doubted)
        warning(set, "a connection broke: %s lines that may be repeats were taken for new, lest one be lost",
                group_digits(batch->doubted, n));
    if (batch->set->cluster.restarts)
        warning(set, "a server was started anew, or another took its place; what it did not have yet is forgotten, and "
                     "such lines are new when they come again");
}

static int tell(const struct deduping *d, const struct item_batch *batch, double seconds) {
    bool json = given(d->options, OPT_JSON), curious = json || given(d->options, OPT_SUMMARY);
    struct set_facts facts = {0};
    if (!curious && batch->set->kind != SET_BITS) return FINE;
    int status = set_facts_gather(&facts, batch->set);
    struct summary summary = {
        .lines = batch->keys, .unique = d->unique, .seconds = seconds, .fpr = fmax(facts.fpr_target, facts.fpr_now)};
    if (status == FINE) set_facts_warn_if_overfull(&facts, batch->set);
    if (status == FINE && json)
        summary_print_json(&summary);
    else if (status == FINE && curious)
        summary_print(&summary);
    set_facts_free(&facts);
    return status == FINE ? finish_output() : status;
}

/* Ctrl-C and its like end the reading, not a batch: what servers have been told is printed. */
static int run(struct deduping *d, struct set *set, struct input *input) {
    struct item_batch batch = {.set = set,
                               .verb = ADD_ABSENT,
                               .eager = d->out >= 0 && !input_repeatable(input),
                               .keep_lines = d->out >= 0,
                               .done = take_answers,
                               .context = d};
    double began = clock_now();
    input->silent = d->out == STDOUT_FILENO && isatty(STDOUT_FILENO);
    int status = finish_on_interrupt();
    if (status == FINE) status = item_batch_read(&batch, input);
    double seconds = clock_now() - began;
    warn_of_accidents(&batch);
    if (status != TROUBLE && tell(d, &batch, seconds) != FINE) status = TROUBLE;
    item_batch_free(&batch);
    free(d->lines);
    return status;
}

int at_dedup(const struct options *options) {
    struct deduping d = {.options = options, .out = -1, .wanted = !given(options, OPT_REPEATS)};
    struct set set;
    struct input input;
    int status = input_from_options(&input, options, options->operands, options->operand_count);
    if (status != FINE) return status;
    status = set_join(&set, options, usual_rate, input_recipe(&input));
    if (status == FINE) status = set_match(&set, options, &input);
    if (status == FINE) status = dedup_output_open(options, &input, &d.out);
    if (status == FINE) status = run(&d, &set, &input);
    set_close(&set);
    status = dedup_output_close(options, d.out, status);
    die_of_interrupt();
    return status == STOP ? FINE : status;
}
