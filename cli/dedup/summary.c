#include "summary.h"
#include "output/numbers.h"
#include "output/report.h"

#include <math.h>
#include <sys/resource.h>

/* The most that this program has had so far. */
static uint64_t peak_memory(void) {
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) == 0 ? (uint64_t)usage.ru_maxrss * 1024 : 0;
}

static double rate_of(const struct summary *s) {
    return s->seconds > 0 ? (double)s->lines / s->seconds : 0;
}

void summary_print(const struct summary *s) {
    char lines[NUMBER_TEXT], unique[NUMBER_TEXT], duplicates[NUMBER_TEXT], text[NUMBER_TEXT];
    remark(NULL, "%s lines: %s unique, %s duplicates", group_digits(s->lines, lines), group_digits(s->unique, unique),
           group_digits(s->lines - s->unique, duplicates));
    remark(NULL, "%s of memory, %.2f s, %s lines a second", human_bytes(peak_memory(), text), s->seconds,
           group_digits((uint64_t)rate_of(s), lines));
    if (isnan(s->fpr))
        remark(NULL, "how many of the new lines were taken for repeats, and lost, is not known: the set does not tell");
    else if (s->fpr > 0)
        remark(NULL, "up to %s of the new lines may have been taken for repeats, and lost", human_rate(s->fpr, text));
    else if (s->loss > 0)
        remark(NULL, "chance that any line was taken for another, and lost: %s", human_rate(s->loss, text));
    else
        remark(NULL, "exact: no line was lost");
}

void summary_print_json(const struct summary *s) {
    struct json json = {0};
    json_open(&json, NULL, '{');
    json_count(&json, "lines", s->lines);
    json_count(&json, "unique", s->unique);
    json_count(&json, "duplicates", s->lines - s->unique);
    json_real(&json, "loss", s->loss);
    json_real(&json, "fpr", s->fpr);
    json_count(&json, "memory_bytes", peak_memory());
    json_real(&json, "seconds", s->seconds);
    json_real(&json, "lines_per_second", rate_of(s));
    json_end(&json);
}
