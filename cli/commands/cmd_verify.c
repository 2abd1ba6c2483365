/* perhaps verify: is the file whole, are the keys in it, and how often is it wrong? */
#include "backend/backend.h"
#include "commands.h"
#include "output/numbers.h"
#include "output/report.h"

enum { TRIALS = 1000000 };

struct verifying {
    const struct target *target;
    struct verdict verdict;
    struct target_facts facts;
    uint64_t keys, missing;
    const char *first_path; /* where the first missing key stands */
    uint64_t first_line;
    uint64_t false_positives; /* of TRIALS keys that were never added */
};

static int verify_batch(void *context, const struct batch *batch) {
    struct verifying *v = context;
    uint8_t answers[BATCH];
    uint64_t present;
    if (v->target->backend->query_batch(v->target, batch, answers, &present) != FINE) return TROUBLE;
    for (size_t i = 0; i < batch->n && !v->first_path && present < batch->n; i++) {
        if (answers[i]) continue;
        v->first_path = batch->path;
        v->first_line = batch_line(batch, i);
    }
    v->keys += batch->n;
    v->missing += batch->n - present;
    return FINE;
}

/* Queries keys that were never added: random numbers of 64 bits for filters of numbers, random
 * strings of 128 bits for all others (among which no int32 or int64 key can be, being shorter). */
static int query_non_members(struct verifying *v, bool numbers) {
    uint64_t state = UINT64_C(0x70657268617073), words[2 * BATCH], present;
    const void *keys[BATCH];
    size_t lengths[BATCH], width = numbers ? 1 : 2; /* words of a key */
    uint8_t answers[BATCH];
    struct batch batch = {.path = v->target->name};
    if (numbers) {
        batch.numbers = words;
    } else {
        batch.keys = keys;
        batch.lengths = lengths;
    }
    for (size_t i = 0; i < BATCH; i++) {
        keys[i] = &words[2 * i];
        lengths[i] = 2 * sizeof *words;
    }
    for (size_t done = 0; done < TRIALS; done += batch.n) {
        batch.n = TRIALS - done < BATCH ? TRIALS - done : BATCH;
        for (size_t i = 0; i < width * batch.n; i++) {
            /* splitmix64: every state gives another number, so no key comes twice */
            uint64_t z = state += UINT64_C(0x9E3779B97F4A7C15);
            z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
            z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
            words[i] = z ^ z >> 31;
        }
        if (v->target->backend->query_batch(v->target, &batch, answers, &present) != FINE) return TROUBLE;
        v->false_positives += present;
    }
    return FINE;
}

static void print_json(const struct verifying *v, double fpr) {
    struct json json = {0};
    json_open(&json, NULL, '{');
    json_text(&json, "file", v->target->name);
    json_count(&json, "bytes_checked", v->verdict.bytes_checked);
    if (v->target->options->keys) {
        json_count(&json, "keys", v->keys);
        json_count(&json, "missing", v->missing);
    }
    if (v->target->options->keys && v->facts.planned) {
        json_real(&json, "fpr_target", v->facts.fpr_target);
        json_real(&json, "fpr_now", v->facts.fpr_now);
        json_real(&json, "fpr_measured", fpr);
        json_count(&json, "fpr_trials", TRIALS);
    }
    json_end(&json);
}

static void print_text(const struct verifying *v, double fpr) {
    char a[NUMBER_TEXT], b[NUMBER_TEXT], c[NUMBER_TEXT];
    printf("%s: %s\n", v->target->name, v->verdict.sentence);
    if (!v->target->options->keys) return;
    printf("  keys      %s of %s found\n", group_digits(v->keys - v->missing, a), group_digits(v->keys, b));
    if (!v->facts.planned) return;
    printf("  fpr       %-10s%s\n", v->facts.guessed ? "half set" : "planned", human_rate(v->facts.fpr_target, a));
    printf("            now       %s\n", human_rate(v->facts.fpr_now, a));
    printf("            measured  %s: %s false positives among %s random keys that were never added\n",
           human_rate(fpr, a), group_digits(v->false_positives, b), group_digits(TRIALS, c));
}

static int verify(struct target *target) {
    struct verifying v = {.target = target};
    struct input input;
    char missing[NUMBER_TEXT], keys[NUMBER_TEXT], *key_paths[] = {(char *)(uintptr_t)target->options->keys};
    if (target->backend->verify(target, &v.verdict) != FINE) return TROUBLE;
    if (target->backend->facts(target, &v.facts) != FINE) return TROUBLE;
    if (target->options->keys) {
        if (target_input_of(target, &input, key_paths, 1) != FINE) return TROUBLE;
        if (input_read(&input, verify_batch, &v) != FINE) return TROUBLE;
        if (v.facts.planned && query_non_members(&v, input_of_numbers(&input)) != FINE) return TROUBLE;
    }
    (given(target->options, OPT_JSON) ? print_json : print_text)(&v, (double)v.false_positives / TRIALS);
    if (!v.missing) return FINE;
    return failure(target->name, "%s of %s keys %s missing, the first on line %llu of %s; %s",
                   group_digits(v.missing, missing), group_digits(v.keys, keys), v.missing == 1 ? "is" : "are",
                   (unsigned long long)v.first_line, input_name(v.first_path), v.verdict.if_missing);
}

int cmd_verify(const struct options *options) {
    return with_target(options, TO_QUERY, 0, verify);
}
