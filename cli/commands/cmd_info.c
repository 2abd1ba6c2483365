/* perhaps info: what a set is and how full; or how much two sets have in common. */
#include "backend/backend.h"
#include "commands.h"
#include "output/numbers.h"
#include "output/report.h"

#include <math.h>

static void print_overlap_json(const struct target *a, const char *b, const struct perhaps_overlap *overlap) {
    struct json json = {0};
    json_open(&json, NULL, '{');
    json_open(&json, "files", '[');
    json_text(&json, NULL, a->name);
    json_text(&json, NULL, b);
    json_close(&json, ']');
    json_open(&json, "overlap", '{');
    json_real(&json, "a", overlap->a);
    json_real(&json, "b", overlap->b);
    json_real(&json, "intersection", overlap->both);
    json_real(&json, "union", overlap->either);
    json_real(&json, "jaccard", overlap->jaccard);
    json_real(&json, "a_error", overlap->a_error);
    json_real(&json, "b_error", overlap->b_error);
    json_real(&json, "intersection_error", overlap->both_error);
    json_real(&json, "union_error", overlap->either_error);
    json_real(&json, "jaccard_error", overlap->jaccard_error);
    json_flag(&json, "exact", overlap->exact);
    json_close(&json, '}');
    json_end(&json);
}

/* A number of keys with its standard error. */
static void print_keys(const char *label, double keys, double error, bool exact) {
    char number[NUMBER_TEXT], more[NUMBER_TEXT];
    printf("  %-9s ", label);
    if (isinf(error))
        printf("unknown: too full to tell; build both with a larger -n\n");
    else if (exact)
        printf("%s keys\n", group_digits((uint64_t)keys, number));
    else
        printf("about %s %s %s keys\n", group_digits((uint64_t)(keys + 0.5), number), plus_minus(),
               error < 9.5 ? human_error(error, more) : group_digits((uint64_t)(error + 0.5), more));
}

/* With as many digits as its error has. */
static void print_jaccard(double jaccard, double error) {
    char text[NUMBER_TEXT];
    if (isinf(error)) return;
    if (error > 0)
        printf("  jaccard   %.*f %s %s", (int)fmax(1 - floor(log10(error)), 0), jaccard, plus_minus(),
               human_error(error, text));
    else
        printf("  jaccard   %.4g", jaccard);
    printf("; the share of the union that is in both\n");
}

static void print_overlap(const struct target *a, const char *b, const struct perhaps_overlap *overlap) {
    printf("%s and %s, %s\n", a->name, b, overlap->exact ? "exactly" : "with standard errors");
    print_keys("first", overlap->a, overlap->a_error, overlap->exact);
    print_keys("second", overlap->b, overlap->b_error, overlap->exact);
    print_keys("shared", overlap->both, overlap->both_error, overlap->exact);
    print_keys("union", overlap->either, overlap->either_error, overlap->exact);
    print_jaccard(overlap->jaccard, overlap->jaccard_error);
}

/* The second of two sets, or NULL. */
static const char *other_of(const struct options *options) {
    size_t first = options->backend->by_operand;
    return options->operand_count > first ? options->operands[first] : NULL;
}

static int print_info(struct target *target) {
    return target->backend->print_info(target, given(target->options, OPT_JSON));
}

static int compare(struct target *a) {
    const char *b = other_of(a->options);
    struct perhaps_overlap overlap = {.size = sizeof overlap};
    if (a->backend->overlap(a, b, &overlap) != FINE) return TROUBLE;
    (given(a->options, OPT_JSON) ? print_overlap_json : print_overlap)(a, b, &overlap);
    return FINE;
}

int cmd_info(const struct options *options) {
    const char *other = other_of(options);
    if (other && given(options, OPT_BITS)) return failure("--bits", "draws one filter; leave out %s, or --bits", other);
    if (other && !options->backend->overlap)
        return failure(other, "sets on servers are not compared; get their filters as files with PERHAPS.DUMP, and "
                              "give two of those");
    return with_target(options, TO_INSPECT, 0, other ? compare : print_info);
}
