/* perhaps merge, intersect, subtract and differ: one filter of several. */
#include "options/abilities.h"
#include "commands.h"
#include "backend/file/filter_file.h"
#include "input/input.h"
#include "output/numbers.h"
#include "output/output_file.h"

#include <perhaps_embed.h>

/* What is made of two filters, and what they must be able to do for it. */
struct combination {
    int (*combine)(perhaps *into, const perhaps *from);
    unsigned ability;
};

/* Two filters of numbers and of lines may look alike and yet have no key in common. Kinds of integers have them in
 * common however they were written. Where keys stand in records does not matter: the first filter's recipe is kept. */
static int check_recipes(const perhaps *into, const char *first, const perhaps *from, const char *path) {
    perhaps_recipe a = filter_recipe(into), b = filter_recipe(from);
    if ((a.form == b.form && a.ignore_case == b.ignore_case) || filter_of_integers(into)) return FINE;
    char name[32];
    snprintf(name, sizeof name, "%s", recipe_key_name(&a));
    return failure(path, "its keys are written as %s, those of %s as %s; build both with the same options",
                   recipe_key_name(&b), first, name);
}

/* Of filters with a fixed number of slots, the union may have no room. */
static int full_failure(const perhaps *into, const perhaps *from, const char *path) {
    struct perhaps_info a, b;
    if (filter_info(into, path, &a) != FINE || filter_info(from, path, &b) != FINE) return TROUBLE;
    return failure(path, "its keys do not all fit into the union; build all of them with -n %llu or more%s",
                   (unsigned long long)(a.items + b.items),
                   a.grow == PERHAPS_GROW_NEVER ? ", or without --no-grow" : "");
}

/* Made with the same options, except the number of keys and the rate? */
static bool made_alike(const struct perhaps_info *a, const struct perhaps_info *b) {
    return a->hash == b->hash && a->seed == b->seed && a->base == b->base && a->children == b->children;
}

/* Sizes say more than the words of a layout do. */
static int mismatch_failure(const perhaps *into, const char *first, const perhaps *from, const char *path) {
    struct perhaps_info a = {.size = sizeof a}, b = {.size = sizeof b};
    char keys[NUMBER_TEXT], bytes[NUMBER_TEXT], first_keys[NUMBER_TEXT], first_bytes[NUMBER_TEXT];
    perhaps_facts(into, &a);
    perhaps_facts(from, &b);
    if (a.kind != b.kind)
        return failure(path, "is a %s filter, %s a %s filter; build both with the same -k", b.kind_name, first,
                       a.kind_name);
    if (!made_alike(&a, &b) || a.bytes == b.bytes) return library_failure(path, PERHAPS_EMISMATCH);
    return failure(path,
                   "was made for %s keys in %s bytes, %s for %s keys in %s bytes; build both with the same -n and -p, "
                   "such as -n %llu -p %.1g",
                   group_digits(b.capacity, keys), group_digits(b.bytes, bytes), first,
                   group_digits(a.capacity, first_keys), group_digits(a.bytes, first_bytes),
                   (unsigned long long)(a.capacity > b.capacity ? a.capacity : b.capacity),
                   a.fpr_target < b.fpr_target ? a.fpr_target : b.fpr_target);
}

static int combine_two(const struct combination *what, perhaps *into, const char *first, const perhaps *from,
                       const char *path) {
    int rc = what->combine(into, from);
    if (rc == PERHAPS_EMISMATCH) return mismatch_failure(into, first, from, path);
    if (rc == PERHAPS_EFULL) return full_failure(into, from, path);
    if (rc == PERHAPS_ECANNOT) return cannot_failure(path, what->ability);
    return rc < 0 ? library_failure(path, rc) : FINE;
}

/* One at a time, so that only one file is mapped at any moment. */
static int combine_one(const struct options *options, const struct combination *what, perhaps *into, const char *path) {
    perhaps *from;
    if (filter_open(options, path, 0, &from) != FINE) return TROUBLE;
    int status = filter_refuse_sealed(from, path);
    if (status == FINE) status = check_recipes(into, options->operands[0], from, path);
    if (status == FINE) status = combine_two(what, into, options->operands[0], from, path);
    perhaps_free(from);
    return status;
}

static int fold(const struct options *options, perhaps *into) {
    int rc = given(options, OPT_FOLD) ? perhaps_fold(into, options->bytes) : PERHAPS_OK;
    return rc < 0 ? library_failure("--fold", rc) : FINE;
}

static int combine_into(const struct options *options, const struct combination *what, struct output *output) {
    perhaps *into;
    struct perhaps_info info;
    if (filter_open(options, options->operands[0], PERHAPS_OPEN_COPY, &into) != FINE) return TROUBLE;
    int status = filter_refuse_sealed(into, options->operands[0]);
    for (size_t i = 1; i < options->operand_count && status == FINE; i++)
        status = combine_one(options, what, into, options->operands[i]);
    if (status == FINE) status = fold(options, into);
    if (status == FINE) status = output_save(output, into);
    if (status == FINE) status = filter_info(into, options->output, &info);
    if (status == FINE) warn_if_overfull(&info, options->output, KEYS_ESTIMATED, 0);
    if (status == FINE && given(options, OPT_JSON)) print_info_json(into, &info, options->output);
    perhaps_free(into);
    return status;
}

static int combine_all(const struct options *options, const struct combination *what) {
    struct output output;
    if (output_open(&output, options) != FINE) return TROUBLE;
    int status = combine_into(options, what, &output);
    output_close(&output);
    return status;
}

int cmd_merge(const struct options *options) {
    return combine_all(options, &(struct combination){perhaps_merge, PERHAPS_MERGE});
}

int cmd_intersect(const struct options *options) {
    return combine_all(options, &(struct combination){perhaps_intersect, PERHAPS_INTERSECT});
}

int cmd_subtract(const struct options *options) {
    return combine_all(options, &(struct combination){perhaps_subtract, PERHAPS_SUBTRACT});
}

int cmd_differ(const struct options *options) {
    return combine_all(options, &(struct combination){perhaps_differ, PERHAPS_SUBTRACT});
}
