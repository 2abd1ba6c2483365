/* perhaps list: what is in a set that can tell. Integers come in decimal, digests in
 * hexadecimal. */
#include "backend/backend.h"
#include "commands.h"
#include "output/report.h"

/* Prints a member as a line, or as an element of the array in `json`. */
static int print_member(const struct target *target, struct json *json, struct printer *printer, uint64_t member) {
    char text[32];
    int length = snprintf(text, sizeof text, target->integers ? "%llu" : "%016llx", (unsigned long long)member);
    if (!json) {
        text[length] = '\n';
        return printer_put(printer, text, (size_t)length + 1);
    }
    if (target->integers)
        json_count(json, NULL, member);
    else
        json_text(json, NULL, text);
    return ferror(stdout) ? TROUBLE : FINE;
}

static int print_members(const struct target *target, struct json *json) {
    static struct printer printer;
    enum { SOME = 1024 };
    const struct options *options = target->options;
    uint64_t members[SOME], at = options->from;
    uint64_t left = given(options, OPT_LIMIT) ? options->limit : UINT64_MAX;
    while (left) {
        size_t wanted = left < SOME ? (size_t)left : SOME;
        size_t n = target->backend->list(target, &at, members, wanted);
        for (size_t i = 0; i < n; i++)
            if (print_member(target, json, &printer, members[i]) != FINE) return TROUBLE;
        left = n == wanted && at ? left - n : 0;
    }
    return printer_flush(&printer);
}

static int list(struct target *target) {
    struct json json = {0};
    if (given(target->options, OPT_FROM) && !target->integers)
        return failure("--from", "is for bitmaps; digests come in no order, so leave it out");
    if (!given(target->options, OPT_JSON)) return print_members(target, NULL);
    json_open(&json, NULL, '{');
    json_text(&json, "file", target->name);
    json_open(&json, "members", '[');
    int status = print_members(target, &json);
    json_close(&json, ']');
    json_end(&json);
    return status;
}

int cmd_list(const struct options *options) {
    return with_target(options, TO_QUERY, PERHAPS_LIST, list);
}
