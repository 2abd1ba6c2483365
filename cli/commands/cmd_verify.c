/* perhaps verify: is the file whole, are the keys in it, and how often is it wrong? */
#include "options/abilities.h"
#include "commands.h"
#include "backend/file/filter_file.h"
#include "input/input.h"
#include "output/numbers.h"

enum { TRIALS = 1000000 };

struct verifying {
    const perhaps *filter;
    uint64_t keys, missing;
    const char *first_path; /* where the first missing key stands */
    uint64_t first_line;
    uint64_t false_positives; /* of TRIALS keys that nobody added, those that it took for its own */
};

static int verify_batch(void *context, const struct batch *batch) {
    struct verifying *v = context;
    uint8_t answers[BATCH];
    uint64_t present;
    if (filter_ask(v->filter, batch, answers, &present) != FINE) return TROUBLE;
    for (size_t i = 0; i < batch->n && !v->first_path && present < batch->n; i++) {
        if (answers[i]) continue;
        v->first_path = batch->path;
        v->first_line = batch->first_line + i;
    }
    v->keys += batch->n;
    v->missing += batch->n - present;
    return FINE;
}

/* splitmix64: every state gives another number, so no key comes twice. */
static uint64_t next_random(uint64_t *state) {
    uint64_t z = *state += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

/* Asks for keys that nobody added: random numbers of 64 bits for filters of numbers, random strings of 128 bits for all
 * others (among which no int32 or int64 key can be, being shorter). */
static int query_non_members(struct verifying *v, const char *path, bool numbers) {
    uint64_t state = UINT64_C(0x70657268617073), words[BATCH][2];
    for (size_t done = 0, n; done < TRIALS; done += n) {
        n = TRIALS - done < BATCH ? TRIALS - done : BATCH;
        for (size_t i = 0; i < n; i++) {
            words[i][0] = next_random(&state);
            words[i][1] = next_random(&state);
        }
        perhaps_keys keys =
            numbers ? PERHAPS_KEYS_U64(*words, sizeof *words, n) : PERHAPS_KEYS_FIXED(words, sizeof *words, 0, n);
        int64_t hits = perhaps_contains_many(v->filter, &keys, NULL);
        if (hits < 0) return library_failure(path, (int)hits);
        v->false_positives += (uint64_t)hits;
    }
    return FINE;
}

static double measured(const struct verifying *v) {
    return (double)v->false_positives / TRIALS;
}

static int verify_keys(const struct options *options, const char *path, struct verifying *v) {
    struct input input;
    char *key_paths[] = {(char *)(uintptr_t)options->keys};
    if (input_from_options(&input, options, key_paths, 1) != FINE) return TROUBLE;
    if (input_match(&input, options, path, v->filter) != FINE) return TROUBLE;
    if (input_read(&input, verify_batch, v) != FINE) return TROUBLE;
    return query_non_members(v, path, input_of_numbers(&input));
}

static void print_json(const struct perhaps_info *info, const char *path, const struct verifying *v, bool with_keys) {
    struct json json = {0};
    json_open(&json, NULL, '{');
    json_text(&json, "file", path);
    json_count(&json, "bytes_checked", is_file_kind(info->kind) ? 0 : info->image_bytes);
    if (with_keys) {
        json_count(&json, "keys", v->keys);
        json_count(&json, "missing", v->missing);
        json_real(&json, "fpr_target", info->fpr_target);
        json_real(&json, "fpr_now", info->fpr_now);
        json_real(&json, "fpr_measured", measured(v));
        json_count(&json, "fpr_trials", TRIALS);
    }
    json_end(&json);
}

static void print_text(const struct perhaps_info *info, const char *path, const struct verifying *v, bool with_keys) {
    char a[NUMBER_TEXT], b[NUMBER_TEXT], c[NUMBER_TEXT];
    if (is_file_kind(info->kind))
        printf("%s: has the length that its header speaks of (%s bytes); files of %s have no checksums, so damage to "
               "the bits cannot be seen\n",
               path, group_digits(info->image_bytes, a), info->kind_name);
    else
        printf("%s: whole; header and all of the array agree with their checksums (%s bytes)\n", path,
               group_digits(info->image_bytes, a));
    if (!with_keys) return;
    printf("  keys      %s of %s found\n", group_digits(v->keys - v->missing, a), group_digits(v->keys, b));
    printf("  fpr       %-10s%s\n", info->guessed ? "half set" : "planned", human_rate(info->fpr_target, a));
    printf("            now       %s\n", human_rate(info->fpr_now, a));
    printf("            measured  %s, by asking for %s random keys that were never added: %s seemed to be there\n",
           human_rate(measured(v), a), group_digits(TRIALS, b), group_digits(v->false_positives, c));
}

static int verify(const struct options *options, const char *path, const perhaps *filter) {
    struct perhaps_info info;
    struct verifying v = {.filter = filter};
    char missing[NUMBER_TEXT], keys[NUMBER_TEXT];
    if (filter_info(filter, path, &info) != FINE) return TROUBLE;
    if (options->keys && verify_keys(options, path, &v) != FINE) return TROUBLE;
    if (given(options, OPT_JSON))
        print_json(&info, path, &v, options->keys);
    else
        print_text(&info, path, &v, options->keys);
    if (!v.missing) return FINE;
    return failure(path, "%s of %s keys are missing, the first on line %llu of %s; %s",
                   group_digits(v.missing, missing), group_digits(v.keys, keys), (unsigned long long)v.first_line,
                   input_name(v.first_path),
                   info.kind == PERHAPS_WINDOW ? "a window forgets old keys: verify it with those that it must remember"
                                               : "it was made from other keys or has lost some: build it again");
}

int cmd_verify(const struct options *options) {
    perhaps *filter;
    const char *path = options->operands[0];
    if (filter_open_now(options, path, &filter) != FINE) return TROUBLE;
    int status = verify(options, path, filter);
    perhaps_free(filter);
    return status;
}
