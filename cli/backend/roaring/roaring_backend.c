/* Roaring bitmaps in files: exact sets of integers, which Java, Go, Python and others read and
 * write. They are no filters, so the library does not know them; libroaring does. */
#include "backend/backend.h"
#include "ids.h"
#include "options/abilities.h"
#include "output/numbers.h"
#include "output/output_file.h"
#include "output/report.h"
#include "portable.h"

#include <perhaps_embed.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct roaring_target {
    struct target target;
    struct ids ids;
    uint64_t bytes;       /* of the file */
    struct output output; /* of a set that is created or combined */
    perhaps_lock *lock;   /* of a file that is changed and replaced */
};

static struct roaring_target *roaring_of(const struct target *target) {
    return (struct roaring_target *)(uintptr_t)target;
}

/* ---- opening ---- */

/* Reads a whole file. A pipe without a writer is not waited for: it is no file anyway. */
static int read_whole(const char *path, uint8_t **bytes, size_t *length) {
    struct stat status;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), result = FINE;
    FILE *file = fd < 0 ? NULL : fdopen(fd, "rb");
    *bytes = NULL;
    if (!file || fstat(fd, &status) != 0) {
        result = failure(path, "cannot be read: %s; check the name and its permissions", strerror(errno));
    } else if (!S_ISREG(status.st_mode)) {
        result = failure(path, "is not a regular file; give a Roaring bitmap");
    } else {
        *length = (size_t)status.st_size;
        *bytes = (uintmax_t)status.st_size < SIZE_MAX ? malloc(*length + 1) : NULL;
        if (!*bytes)
            result = failure(path, "is larger than memory; use a machine with more");
        else if (fread(*bytes, 1, *length, file) != *length)
            result =
                failure(path, "cannot be read to its end: %s; try again", ferror(file) ? strerror(errno) : "it shrank");
    }
    if (file) fclose(file);
    return result;
}

static int read_ids(struct roaring_target *t, const char *path) {
    uint8_t *bytes;
    size_t length = 0;
    bool wide = t->ids.wide;
    if (strcmp(path, "-") == 0) return failure(path, "a Roaring bitmap must be in a file; give its name");
    int status = read_whole(path, &bytes, &length);
    const char *why = status == FINE ? ids_read(&t->ids, bytes, length, wide) : NULL;
    t->bytes = length;
    if (why && !portable_check_file(bytes, length, !wide))
        status = failure(path, "is a Roaring bitmap of %d-bit ids; give -k %s", wide ? 32 : 64,
                         wide ? "roaring" : "roaring64");
    else if (why)
        status = failure(
            path,
            "is not a Roaring bitmap of %d-bit ids, or is damaged: it %s; restore it from a copy, or build it again",
            wide ? 64 : 32, why);
    free(bytes);
    return status;
}

static struct roaring_target *make(struct target **target, const struct options *options, const char *path) {
    struct roaring_target *t = target_new(target, sizeof *t, &roaring_backend, options, path);
    if (!t) return NULL;
    t->target.integers = t->target.tells_recipe = true;
    t->target.recipe = PERHAPS_RECIPE(.form = PERHAPS_KEY_U64);
    t->ids.wide = options->kind == KIND_ROARING64;
    return t;
}

static int roaring_backend_open(struct target **target, const struct options *options, const char *path,
                                enum access access, unsigned needs) {
    struct roaring_target *t = make(target, options, path);
    (void)needs; /* it can do all that its commands need */
    if (!t) return TROUBLE;
    if (access == TO_CHANGE && lock_file(options, path, &t->lock) != FINE) return TROUBLE;
    if (access == TO_COMBINE && output_open(&t->output, options) != FINE) return TROUBLE;
    return read_ids(t, path);
}

static int roaring_backend_create(struct target **target, const struct options *options, struct input *input) {
    struct roaring_target *t = make(target, options, options->output);
    if (!t || input_from_options(input, options, options->operands, options->operand_count) != FINE) return TROUBLE;
    if (input_for_integers(input, options) != FINE) return TROUBLE;
    return output_open(&t->output, options);
}

static void roaring_backend_close(struct target *target) {
    struct roaring_target *t = roaring_of(target);
    perhaps_unlock(t->lock);
    output_close(&t->output);
    ids_free(&t->ids);
    free(t);
}

/* ---- queries ---- */

static int roaring_backend_query_batch(const struct target *target, const struct batch *batch, uint8_t *answers,
                                       uint64_t *present) {
    *present = ids_contain(&roaring_of(target)->ids, batch->numbers, batch->n, answers);
    return FINE;
}

static size_t roaring_backend_list(const struct target *target, uint64_t *at, uint64_t *members, size_t n) {
    size_t found = ids_from(&roaring_of(target)->ids, *at, members, n);
    if (found) *at = members[found - 1] + 1; /* 0 after the largest number */
    return found;
}

static int roaring_backend_facts(struct target *target, struct target_facts *facts) {
    *facts = (struct target_facts){.items = ids_count(&roaring_of(target)->ids), .bytes = roaring_of(target)->bytes};
    return FINE;
}

/* Opening has looked at every byte. */
static int roaring_backend_verify(struct target *target, struct verdict *verdict) {
    char bytes[NUMBER_TEXT];
    verdict->bytes_checked = roaring_of(target)->bytes;
    verdict->if_missing = "it was made from other keys or has lost some, so build it again";
    snprintf(verdict->sentence, sizeof verdict->sentence, "intact; a valid Roaring bitmap (%s bytes)",
             group_digits(verdict->bytes_checked, bytes));
    return FINE;
}

/* ---- changes ---- */

_Static_assert((int)BATCH <= (int)IDS_BATCH, "a batch of the input is added in one call");

/* Only a set of 64-bit ids takes all numbers. */
static int add_batch(void *context, const struct batch *batch) {
    struct roaring_target *t = context;
    uint64_t added;
    for (size_t i = 0; i < batch->n && !t->ids.wide; i++)
        if (batch->numbers[i] > UINT32_MAX)
            return failure(input_name(batch->path),
                           "line %llu is %llu, but -k roaring holds ids below 2^32; build it with -k roaring64",
                           (unsigned long long)batch_line(batch, i), (unsigned long long)batch->numbers[i]);
    if (!ids_add(&t->ids, batch->numbers, batch->n, &added))
        return failure(input_name(batch->path), "not enough memory for the ids; use a machine with more");
    t->target.keys += batch->n;
    t->target.changed += added;
    return FINE;
}

static int remove_batch(void *context, const struct batch *batch) {
    struct roaring_target *t = context;
    t->target.keys += batch->n;
    t->target.changed += ids_remove(&t->ids, batch->numbers, batch->n);
    return FINE;
}

static int roaring_backend_change(struct target *target, const struct input *input, enum direction direction) {
    return input_read(input, direction == REMOVING ? remove_batch : add_batch, target);
}

static int roaring_backend_combine(struct target *into, struct target *from, enum set_operation how) {
    if (ids_combine(&roaring_of(into)->ids, &roaring_of(from)->ids, how)) return FINE;
    return failure(from->name, "not enough memory; use a machine with more");
}

static int roaring_backend_finish(struct target *target, int status) {
    struct roaring_target *t = roaring_of(target);
    size_t length;
    if (status != FINE) return status;
    if (!t->lock) target->name = target->options->output;
    char *bytes = ids_write(&t->ids, &length);
    if (!bytes) return failure(target->name, "not enough memory to write it; use a machine with more");
    status = t->lock ? replace_bytes(t->lock, target->name, bytes, length) : output_bytes(&t->output, bytes, length);
    t->bytes = length;
    free(bytes);
    return status;
}

/* ---- info ---- */

static int roaring_backend_print_info(struct target *target, bool as_json) {
    static const unsigned abilities = PERHAPS_ADD | PERHAPS_REMOVE | PERHAPS_MERGE | PERHAPS_INTERSECT |
                                      PERHAPS_SUBTRACT | PERHAPS_GROW | PERHAPS_LIST;
    const struct roaring_target *t = roaring_of(target);
    const char *kind = t->ids.wide ? "roaring64" : "roaring";
    struct json json = {0};
    char a[NUMBER_TEXT], b[NUMBER_TEXT], c[NUMBER_TEXT], can[100];
    uint64_t arrays = 0, bitsets = 0, runs = 0, items = ids_count(&t->ids), smallest, largest;
    bool empty = !ids_ends(&t->ids, &smallest, &largest);
    double bits_per_id = items ? 8 * (double)t->bytes / (double)items : 0;
    for (size_t i = 0; i < t->ids.n; i++) {
        roaring_statistics_t one;
        roaring_bitmap_statistics(t->ids.buckets[i].low, &one);
        arrays += one.n_array_containers;
        bitsets += one.n_bitset_containers;
        runs += one.n_run_containers;
    }
    if (as_json) {
        json_open(&json, NULL, '{');
        json_text(&json, "file", target->name);
        json_text(&json, "kind", kind);
        json_count(&json, "items", items);
        if (!empty) {
            json_count(&json, "smallest", smallest);
            json_count(&json, "largest", largest);
        }
        json_real(&json, "fpr_now", 0);
        json_count(&json, "bytes", t->bytes);
        json_count(&json, "image_bytes", t->bytes);
        json_real(&json, "bits_per_key", bits_per_id);
        json_count(&json, "arrays", arrays);
        json_count(&json, "bitsets", bitsets);
        json_count(&json, "runs", runs);
        json_text(&json, "key", "u64");
        json_abilities(&json, abilities);
        json_end(&json);
        return FINE;
    }
    printf("%s: %s, an exact set of %d-bit ids\n", target->name, kind, t->ids.wide ? 64 : 32);
    printf("  keys      %s\n", group_digits(items, a));
    if (!empty) printf("  range     %s to %s\n", group_digits(smallest, a), group_digits(largest, b));
    print_size(t->bytes);
    printf(", %.2f bits per key\n", bits_per_id);
    printf("  layout    %s arrays, %s bitsets and %s lists of runs\n", group_digits(arrays, a),
           group_digits(bitsets, b), group_digits(runs, c));
    printf("  can       %s\n", abilities_text(abilities, ", ", can, sizeof can));
    return FINE;
}

static int roaring_backend_overlap(struct target *a, const char *name, struct perhaps_overlap *overlap) {
    struct target *b = NULL;
    int status = roaring_backend_open(&b, a->options, name, TO_INSPECT, 0);
    if (status == FINE) {
        const struct ids *first = &roaring_of(a)->ids, *second = &roaring_of(b)->ids;
        uint64_t in_a = ids_count(first), in_b = ids_count(second), both = ids_common(first, second);
        uint64_t either = in_a + in_b - both;
        *overlap = (struct perhaps_overlap){.size = sizeof *overlap, .exact = 1};
        overlap->a = (double)in_a;
        overlap->b = (double)in_b;
        overlap->both = (double)both;
        overlap->either = (double)either;
        overlap->jaccard = either ? (double)both / (double)either : 1;
    }
    target_close(b);
    return status;
}

/* What is about sizes, rates, hashes and mapped files. */
static const enum option_id of_filters[] = {
    OPT_ITEMS,       OPT_FPR,       OPT_BITS_PER_KEY, OPT_BYTES,     OPT_PRESET,      OPT_NEEDS,       OPT_GROW,
    OPT_GROWTH,      OPT_MAX_BYTES, OPT_NO_GROW,      OPT_WINDOW,    OPT_GENERATIONS, OPT_CLEAR_AT,    OPT_SHARDS,
    OPT_HASHES,      OPT_LINES,     OPT_HASH,         OPT_SEED,      OPT_HASH_KEY,    OPT_KEY_IN_FILE, OPT_AT,
    OPT_SHARD_BYTES, OPT_CONFIRM,   OPT_IN_PLACE,     OPT_NO_VERIFY, OPT_RECOVER,     OPT_FOLD,        OPT_STATIC,
    OPT_SMALLEST,    OPT_SCRATCH,   OPT_BITS,         OPTIONS,
};

const struct backend roaring_backend = {
    .commands = 1u << CMD_BUILD | 1u << CMD_ADD | 1u << CMD_REMOVE | 1u << CMD_CHECK | 1u << CMD_LIST | 1u << CMD_INFO |
                1u << CMD_MERGE | 1u << CMD_INTERSECT | 1u << CMD_SUBTRACT | 1u << CMD_DIFFER | 1u << CMD_VERIFY,
    .not_its_commands = "is for filters, not for Roaring bitmaps, which have each id once and no false positives; "
                        "see 'perhaps help'",
    .refused = of_filters,
    .why_refused = "does not apply to Roaring bitmaps, which are exact and read as a whole; leave it out",
    .by_operand = true,
    .open = roaring_backend_open,
    .create = roaring_backend_create,
    .close = roaring_backend_close,
    .query = query_in_threads,
    .query_batch = roaring_backend_query_batch,
    .list = roaring_backend_list,
    .change = roaring_backend_change,
    .combine = roaring_backend_combine,
    .finish = roaring_backend_finish,
    .facts = roaring_backend_facts,
    .verify = roaring_backend_verify,
    .print_info = roaring_backend_print_info,
    .overlap = roaring_backend_overlap,
};
