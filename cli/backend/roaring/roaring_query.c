/* perhaps check, list and verify, for Roaring bitmaps. */
#include "roaring_file.h"
#include "commands/check.h"
#include "output/numbers.h"
#include "output/printer.h"
#include "output/report.h"

/* ---------------------------------------------------------------------------------------------------- check --- */

int roaring_check(const struct options *options) {
    struct roaring roaring;
    struct input input;
    if (roaring_input(&input, options, options->operands + 1, options->operand_count - 1) != FINE) return TROUBLE;
    if (roaring_open(&roaring, options, options->operands[0]) != FINE) return TROUBLE;
    int status = check_keys(options, &input, (struct asked){&roaring.ids, roaring_ask});
    ids_free(&roaring.ids);
    return status;
}

/* ----------------------------------------------------------------------------------------------------- list --- */

struct ids_listing {
    const struct ids *ids;
    uint64_t from, left; /* where to go on; how many more are wanted */
};

/* The next few; none at the end. */
static size_t next_ids(struct ids_listing *l, uint64_t numbers[IDS_BATCH]) {
    size_t wanted = l->left < IDS_BATCH ? (size_t)l->left : IDS_BATCH;
    size_t n = wanted ? ids_from(l->ids, l->from, numbers, wanted) : 0;
    l->left = n && numbers[n - 1] < UINT64_MAX ? l->left - n : 0;
    if (n) l->from = numbers[n - 1] + 1;
    return n;
}

static int list_text(struct ids_listing *l) {
    static struct printer printer;
    uint64_t numbers[IDS_BATCH];
    for (size_t n; (n = next_ids(l, numbers)) > 0;)
        for (size_t i = 0; i < n; i++) {
            char line[32];
            int length = snprintf(line, sizeof line, "%llu\n", (unsigned long long)numbers[i]);
            if (printer_put(&printer, line, (size_t)length) != FINE) return TROUBLE;
        }
    return printer_flush(&printer);
}

static int list_json(struct ids_listing *l, const char *path) {
    struct json json = {0};
    uint64_t numbers[IDS_BATCH];
    json_open(&json, NULL, '{');
    json_text(&json, "file", path);
    json_open(&json, "members", '[');
    for (size_t n; !ferror(stdout) && (n = next_ids(l, numbers)) > 0;)
        for (size_t i = 0; i < n; i++) json_count(&json, NULL, numbers[i]);
    json_close(&json, ']');
    json_end(&json);
    return ferror(stdout) ? TROUBLE : FINE;
}

int roaring_list(const struct options *options) {
    struct roaring roaring;
    if (roaring_open(&roaring, options, options->operands[0]) != FINE) return TROUBLE;
    struct ids_listing listing = {&roaring.ids, options->from, given(options, OPT_LIMIT) ? options->limit : UINT64_MAX};
    int status = given(options, OPT_JSON) ? list_json(&listing, roaring.path) : list_text(&listing);
    ids_free(&roaring.ids);
    return status;
}

/* --------------------------------------------------------------------------------------------------- verify --- */

struct ids_verification {
    const struct ids *ids;
    uint64_t keys, missing;
    const char *first_path; /* where the first missing key stands */
    uint64_t first_line;
};

static int verify_batch(void *context, const struct batch *batch) {
    struct ids_verification *v = context;
    uint8_t answers[BATCH];
    uint64_t present = ids_contain(v->ids, batch->numbers, batch->n, answers);
    for (size_t i = 0; i < batch->n && !v->first_path; i++) {
        if (answers[i]) continue;
        v->first_path = batch->path;
        v->first_line = batch->first_line + i;
    }
    v->keys += batch->n;
    v->missing += batch->n - present;
    return FINE;
}

static void print_verified(const struct options *options, const struct roaring *roaring,
                           const struct ids_verification *v) {
    char a[NUMBER_TEXT], b[NUMBER_TEXT];
    struct json json = {0};
    if (!given(options, OPT_JSON)) {
        printf("%s: whole; every byte is as it must be in a Roaring bitmap (%s bytes)\n", roaring->path,
               group_digits(roaring->bytes, a));
        if (options->keys)
            printf("  keys      %s of %s found\n", group_digits(v->keys - v->missing, a), group_digits(v->keys, b));
        return;
    }
    json_open(&json, NULL, '{');
    json_text(&json, "file", roaring->path);
    json_count(&json, "bytes_checked", roaring->bytes);
    if (options->keys) {
        json_count(&json, "keys", v->keys);
        json_count(&json, "missing", v->missing);
    }
    json_end(&json);
}

/* Opening has looked at every byte already. */
static int verify(const struct options *options, const struct roaring *roaring) {
    char *key_paths[] = {(char *)(uintptr_t)options->keys};
    char missing[NUMBER_TEXT], keys[NUMBER_TEXT];
    struct ids_verification v = {.ids = &roaring->ids};
    struct input input;
    if (options->keys && roaring_input(&input, options, key_paths, 1) != FINE) return TROUBLE;
    if (options->keys && input_read(&input, verify_batch, &v) != FINE) return TROUBLE;
    print_verified(options, roaring, &v);
    if (!v.missing) return FINE;
    return failure(roaring->path,
                   "%s of %s keys are missing, the first on line %llu of %s; it was made from other keys or has lost "
                   "some: build it again",
                   group_digits(v.missing, missing), group_digits(v.keys, keys), (unsigned long long)v.first_line,
                   input_name(v.first_path));
}

int roaring_verify(const struct options *options) {
    struct roaring roaring;
    if (roaring_open(&roaring, options, options->operands[0]) != FINE) return TROUBLE;
    int status = verify(options, &roaring);
    ids_free(&roaring.ids);
    return status;
}
