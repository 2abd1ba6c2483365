/* perhaps build, add and remove, for Roaring bitmaps: numbers into a set, or out of it. */
#include "roaring_file.h"
#include "verbs.h"
#include "backend/file/filter_file.h"
#include "output/numbers.h"

struct ids_change {
    struct ids *ids;
    bool removing;
    uint64_t keys, changed;
};

_Static_assert((int)BATCH <= (int)IDS_BATCH, "a batch of the input is added in one call");

/* Only a set of 64-bit ids takes all numbers. */
static int check_range(const struct ids *ids, const struct batch *batch) {
    for (size_t i = 0; i < batch->n && !ids->wide; i++)
        if (batch->numbers[i] > UINT32_MAX)
            return failure(input_name(batch->path),
                           "line %llu is %llu, and -k roaring holds ids below 2^32; build it with -k roaring64",
                           (unsigned long long)(batch->first_line + i), (unsigned long long)batch->numbers[i]);
    return FINE;
}

static int add_batch(void *context, const struct batch *batch) {
    struct ids_change *c = context;
    uint64_t added;
    if (check_range(c->ids, batch) != FINE) return TROUBLE;
    if (!ids_add(c->ids, batch->numbers, batch->n, &added))
        return failure(input_name(batch->path), "so many ids take more memory than there is; use a machine with more");
    c->keys += batch->n;
    c->changed += added;
    return FINE;
}

static int remove_batch(void *context, const struct batch *batch) {
    struct ids_change *c = context;
    c->keys += batch->n;
    c->changed += ids_remove(c->ids, batch->numbers, batch->n);
    return FINE;
}

/* Success is silent, but for what users should know. */
static void tell(const struct options *options, const char *path, const struct ids_change *c) {
    char removed[NUMBER_TEXT], rest[NUMBER_TEXT];
    struct json json = {0};
    if (given(options, OPT_JSON)) {
        json_open(&json, NULL, '{');
        json_count(&json, "keys", c->keys);
        json_count(&json, c->removing ? "removed" : "new", c->changed);
        if (c->removing) json_count(&json, "not_found", c->keys - c->changed);
        json_count(&json, "items", ids_count(c->ids));
        json_end(&json);
    } else if (c->removing && c->changed < c->keys) {
        remark(path, "%s removed, %s not found", group_digits(c->changed, removed),
               group_digits(c->keys - c->changed, rest));
    }
}

static int change_locked(const struct options *options, bool removing, perhaps_lock *lock) {
    struct roaring roaring;
    struct input input;
    if (roaring_input(&input, options, options->operands + 1, options->operand_count - 1) != FINE) return TROUBLE;
    if (roaring_open(&roaring, options, options->operands[0]) != FINE) return TROUBLE;
    struct ids_change c = {.ids = &roaring.ids, .removing = removing};
    int status = input_read(&input, removing ? remove_batch : add_batch, &c);
    if (status == FINE) status = roaring_replace(&roaring, lock);
    if (status == FINE) tell(options, roaring.path, &c);
    ids_free(&roaring.ids);
    return status;
}

static int change(const struct options *options, bool removing) {
    perhaps_lock *lock;
    if (lock_file(options, options->operands[0], &lock) != FINE) return TROUBLE;
    int status = change_locked(options, removing, lock);
    perhaps_unlock(lock);
    return status;
}

int roaring_add(const struct options *options) {
    return change(options, false);
}

int roaring_remove(const struct options *options) {
    return change(options, true);
}

int roaring_build(const struct options *options) {
    struct roaring roaring = {.path = options->output, .ids.wide = options->kind == KIND_ROARING64};
    struct ids_change c = {.ids = &roaring.ids};
    struct input input;
    struct output output;
    if (roaring_input(&input, options, options->operands, options->operand_count) != FINE) return TROUBLE;
    if (output_open(&output, options) != FINE) return TROUBLE;
    int status = input_read(&input, add_batch, &c);
    if (status == FINE) status = roaring_output(&roaring, &output);
    output_close(&output);
    if (status == FINE && given(options, OPT_JSON)) roaring_print_json(&roaring);
    ids_free(&roaring.ids);
    return status;
}
