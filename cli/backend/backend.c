#include "backend.h"
#include "file_format.h"
#include "output/numbers.h"
#include "output/report.h"

#include <stdlib.h>
#include <string.h>

#if !PERHAPS_WITH_HIREDIS
const struct backend redis_backend = {
    .missing = "this perhaps was built without hiredis, and cannot talk to servers; install libhiredis-dev and build "
               "it again"};
#endif
#if !PERHAPS_WITH_ROARING
const struct backend roaring_backend = {
    .missing = "this perhaps was built without libroaring, and cannot read or write Roaring bitmaps; install "
               "libroaring-dev and build it again"};
#endif

/* ---- choosing ---- */

int roaring_kind(const char *name) {
    if (strcmp(name, "roaring") == 0) return KIND_ROARING;
    return strcmp(name, "roaring64") == 0 ? KIND_ROARING64 : -1;
}

int backend_choose(struct options *options) {
    bool at = given(options, OPT_AT), roaring = options->kind == KIND_ROARING || options->kind == KIND_ROARING64;
    const char *subject = options->kind ? "-k" : at ? "--at" : options->operands[0];
    bool opens_file = command_takes(options->command, &option_table[OPT_FILE_KIND]) && options->operand_count;
    if (opens_file && !at && !options->kind) roaring = file_format_of(options->operands[0]) == FORMAT_ROARING;
    const struct backend *backend = roaring ? &roaring_backend : at ? &redis_backend : &file_backend;
    options->backend = backend;
    if (backend->missing) return failure(subject, "%s", backend->missing);
    if (!(backend->commands >> (options->command - commands) & 1))
        return failure(subject, "'perhaps %s' %s", options->command->name, backend->not_its_commands);
    for (const enum option_id *id = backend->refused; id && *id != OPTIONS; id++) {
        char shown[OPTION_TEXT];
        if (given(options, *id)) return failure(option_shown(*id, shown), "%s", backend->why_refused);
    }
    return FINE;
}

/* ---- targets ---- */

void *target_new(struct target **target, size_t size, const struct backend *backend, const struct options *options,
                 const char *name) {
    *target = calloc(1, size);
    if (*target)
        **target = (struct target){.backend = backend, .options = options, .name = name, .opened = clock_now()};
    else
        failure(name, "not enough memory");
    return *target;
}

void target_close(struct target *target) {
    if (target) target->backend->close(target);
}

int target_tell(struct target *target, uint64_t keys, const char *changed) {
    struct target_facts facts;
    char count[NUMBER_TEXT], bytes[NUMBER_TEXT], odds[NUMBER_TEXT];
    double seconds = clock_now() - target->opened;
    if (!tells_terminal()) return FINE;
    if (target->backend->facts(target, &facts) != FINE) return TROUBLE;
    closing_line(strcmp(target->name, "-") == 0 ? "standard output" : target->name, "%s key%s%s, %s, %s, %.2f s",
                 group_digits(keys, count), keys == 1 ? "" : "s", changed, human_bytes(facts.bytes, bytes),
                 human_odds(facts.planned ? facts.fpr_now : 0, odds), seconds);
    return FINE;
}

int with_target(const struct options *options, enum access access, unsigned needs,
                int (*function)(struct target *target)) {
    const struct backend *backend = options->backend;
    const char *name = backend->by_operand ? options->operands[0] : options->at;
    struct target *target = NULL;
    int status = backend->open(&target, options, name, access, needs);
    if (status == FINE) status = function(target);
    target_close(target);
    return status;
}

/* If the target does not know how its keys are made, the options say it. */
int target_input_of(const struct target *target, struct input *input, char *const *paths, size_t path_count) {
    perhaps_recipe recipe = target->recipe;
    if (input_from_options(input, target->options, paths, path_count) != FINE) return TROUBLE;
    if (!target->tells_recipe) {
        perhaps_recipe asked = input_recipe(input);
        recipe.form = asked.form;
        recipe.ignore_case = asked.ignore_case;
    }
    input->integers = target->integers;
    return input_match_recipe(input, target->options, target->name, &recipe);
}

int target_input(const struct target *target, struct input *input) {
    const struct options *options = target->options;
    size_t first = target->backend->by_operand;
    return target_input_of(target, input, options->operands + first, options->operand_count - first);
}

void target_print_recipe(const struct target *target, const char *if_unknown) {
    const perhaps_recipe *recipe = &target->recipe;
    char options[RECIPE_TEXT];
    printf("  key       %s\n", target->tells_recipe ? recipe_key_name(recipe) : if_unknown);
    if (!target->tells_recipe || !recipe_extracts(recipe)) return;
    perhaps_recipe extraction = *recipe;
    extraction.form = extraction.ignore_case = 0;
    if (recipe->unknown)
        printf("  records   of a newer version of perhaps (step %d)\n", recipe->unknown);
    else
        printf("  records   as %s says\n", recipe_options(&extraction, options));
}

void target_print_recipe_json(const struct target *target, struct json *json) {
    const perhaps_recipe *recipe = &target->recipe;
    char delimiter[2] = {(char)recipe->delimiter, 0};
    json_text(json, "key", recipe_key_name(recipe));
    json_text(json, "records", recipe_records_name(recipe));
    json_count(json, "field", recipe->field);
    json_text(json, "delimiter", delimiter);
    if (*recipe->where) json_text(json, "where", recipe->where);
    if (recipe->header) json_flag(json, "header", true);
    if (recipe->trim) json_flag(json, "trim", true);
    if (recipe->ngram) json_count(json, "ngram", recipe->ngram);
}

/* ---- queries ---- */

struct query_block {
    const struct target *target;
    const struct query *query;
    void *context;
};

static int query_one_batch(void *context, const struct batch *batch) {
    const struct query_block *block = context;
    uint8_t answers[BATCH];
    uint64_t present;
    if (block->target->backend->query_batch(block->target, batch, answers, &present) != FINE) return TROUBLE;
    return block->query->answered(block->context, batch, answers, present);
}

static int finish_block(void *context, const char *path, uint64_t first_line) {
    const struct query_block *block = context;
    (void)path, (void)first_line;
    return block->query->in_order(block->context);
}

int query_in_threads(struct target *target, const struct input *input, const struct query *query) {
    struct query_block blocks[MOST_BLOCKS];
    void *contexts[MOST_BLOCKS];
    for (unsigned i = 0; i < blocks_on_the_way(query->threads); i++) {
        blocks[i] = (struct query_block){target, query, query->contexts[i]};
        contexts[i] = &blocks[i];
    }
    return input_work(input, &(struct key_work){.threads = query->threads,
                                                .in_thread = query_one_batch,
                                                .in_order = finish_block,
                                                .contexts = contexts});
}
