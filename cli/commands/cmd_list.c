/* perhaps list: what is in a filter that can tell. Integers of a bitmap come in decimal, digests of a table in
 * hexadecimal. */
#include "options/abilities.h"
#include "commands.h"
#include "backend/file/filter_file.h"
#include "output/printer.h"

#include <stdlib.h>

struct listing {
    const perhaps *filter;
    const char *path;
    bool integers, as_json;
    uint64_t at, left; /* where to look next; how many more are wanted */
    struct printer printer;
};

static int print_text(struct listing *l, uint64_t member) {
    char line[32];
    int length = snprintf(line, sizeof line, l->integers ? "%llu\n" : "%016llx\n", (unsigned long long)member);
    return printer_put(&l->printer, line, (size_t)length);
}

static int print_json(struct json *json, const struct listing *l, uint64_t member) {
    char digits[32];
    snprintf(digits, sizeof digits, "%016llx", (unsigned long long)member);
    if (l->integers)
        json_count(json, NULL, member);
    else
        json_text(json, NULL, digits);
    return ferror(stdout) ? TROUBLE : FINE;
}

static int list(struct listing *l) {
    struct json json = {0};
    uint64_t member;
    int status = FINE, found = perhaps_next(l->filter, &l->at, &member);
    if (l->as_json) {
        json_open(&json, NULL, '{');
        json_text(&json, "file", l->path);
        json_open(&json, "members", '[');
    }
    for (; found == 1 && l->left && status == FINE; l->left--) {
        status = l->as_json ? print_json(&json, l, member) : print_text(l, member);
        found = l->left > 1 ? perhaps_next(l->filter, &l->at, &member) : 0;
    }
    if (!l->as_json) return status == FINE ? printer_flush(&l->printer) : status;
    json_close(&json, ']');
    json_end(&json);
    return status;
}

static int list_with(const struct options *options, struct listing *l) {
    l->path = options->operands[0];
    l->integers = filter_of_integers(l->filter);
    l->as_json = given(options, OPT_JSON);
    l->left = given(options, OPT_LIMIT) ? options->limit : UINT64_MAX;
    l->at = options->from;
    if (filter_require(l->filter, l->path, PERHAPS_LIST) != FINE) return TROUBLE;
    if (!given(options, OPT_FROM) || l->integers) return list(l);
    return failure("--from", "is for bitmaps; the digests of other kinds come in no order, so leave it out");
}

int cmd_list(const struct options *options) {
    perhaps *filter;
    if (filter_open_now(options, options->operands[0], &filter) != FINE) return TROUBLE;
    struct listing *listing = calloc(1, sizeof *listing);
    int status = TROUBLE;
    if (listing) {
        listing->filter = filter;
        status = list_with(options, listing);
    } else {
        failure(NULL, "not enough memory to list keys");
    }
    free(listing);
    perhaps_free(filter);
    return status;
}
