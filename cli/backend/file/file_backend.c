/* Filters in files: images and foreign formats. */
#include "filter_target.h"
#include "options/abilities.h"
#include "output/numbers.h"
#include "output/report.h"

#include <stdlib.h>

/* ---- opening ---- */

void filter_describe(struct filter_target *t) {
    t->target.integers = filter_of_integers(t->filter);
    t->target.recipe = filter_recipe(t->filter);
    t->target.tells_recipe = !filter_is_file(t->filter);
    t->threads = threads_from(t->target.options);
}

/* In place, the filter itself is locked while it is open, and interrupts wait until the file is
 * finished. Else the lock comes after the journal, since that of a dedup may last for days. */
static int open_to_change(struct filter_target *t, const struct options *options, const char *path) {
    t->in_place = given(options, OPT_IN_PLACE);
    if (!t->in_place && filter_refuse_journal(path, false) != FINE) return TROUBLE;
    if (!t->in_place && lock_file(options, path, &t->lock) != FINE) return TROUBLE;
    if (filter_open(options, path, t->in_place ? PERHAPS_OPEN_WRITE : PERHAPS_OPEN_COPY, &t->filter) != FINE)
        return TROUBLE;
    return t->in_place ? finish_on_interrupt() : FINE;
}

/* Opens a filter mapped; but a window by time as a copy, which forgets what is too old. */
static int open_to_query(const struct options *options, const char *path, perhaps **filter) {
    perhaps *mapped;
    if (filter_open(options, path, 0, &mapped) != FINE) return TROUBLE;
    *filter = mapped;
    if (perhaps_advance(mapped, clock_of_windows(NULL)) != PERHAPS_EREADONLY) return FINE;
    int rc = perhaps_clone(mapped, filter);
    int status = rc < 0 ? library_failure(path, rc) : filter_advance(*filter, path);
    perhaps_free(mapped);
    return status;
}

static int file_backend_open(struct target **target, const struct options *options, const char *path,
                             enum access access, unsigned needs) {
    struct filter_target *t = target_new(target, sizeof *t, &file_backend, options, path);
    int status = FINE;
    if (!t) return TROUBLE;
    t->access = access;
    if (access == TO_COMBINE) status = output_open(&t->output, options);
    if (status == FINE)
        status = access == TO_CHANGE ? open_to_change(t, options, path)
                 : access == TO_QUERY
                     ? open_to_query(options, path, &t->filter)
                     : filter_open(options, path, access == TO_COMBINE ? PERHAPS_OPEN_COPY : 0, &t->filter);
    if (status != FINE) return status;
    if ((access == TO_CHANGE || access == TO_COMBINE) && filter_refuse_sealed(t->filter, path) != FINE) return TROUBLE;
    struct perhaps_info facts = filter_facts(t->filter);
    if (needs && !(facts.can & needs)) return lacks_failure(path, &facts, needs);
    filter_describe(t);
    return access == TO_CHANGE ? filter_advance(t->filter, path) : FINE;
}

static void file_backend_close(struct target *target) {
    struct filter_target *t = filter_target_of(target);
    perhaps_unlock(t->lock);
    output_close(&t->output);
    perhaps_free(t->filter);
    free(t);
}

/* ---- queries ---- */

static int file_backend_query_batch(const struct target *target, const struct batch *batch, uint8_t *answers,
                                    uint64_t *present) {
    perhaps_keys keys = batch_keys(batch);
    int64_t rc = perhaps_contains_many(filter_of(target), &keys, answers);
    *present = (uint64_t)rc;
    return rc < 0 ? library_failure(batch->path, (int)rc) : FINE;
}

static int file_backend_count_batch(const struct target *target, const struct batch *batch, uint64_t *counts,
                                    uint64_t *present) {
    perhaps_keys keys = batch_keys(batch);
    int64_t rc = perhaps_count_many(filter_of(target), &keys, counts);
    *present = (uint64_t)rc;
    return rc < 0 ? library_failure(batch->path, (int)rc) : FINE;
}

static int file_backend_trace(const struct target *target, const struct batch *batch, size_t i, perhaps_step *steps,
                              size_t room, size_t *n) {
    perhaps_keys key = batch->numbers ? PERHAPS_KEYS_U64(&batch->numbers[i], 0, 1)
                                      : PERHAPS_KEYS_BYTES(&batch->keys[i], &batch->lengths[i], 1);
    int64_t rc = perhaps_trace(filter_of(target), PERHAPS_VERB_QUERY, &key, steps, room);
    *n = (size_t)rc;
    return rc < 0 ? library_failure(batch->path, (int)rc) : FINE;
}

static size_t file_backend_list(const struct target *target, uint64_t *at, uint64_t *members, size_t n) {
    size_t found = 0;
    while (found < n && perhaps_next(filter_of(target), at, &members[found]) == 1) found++;
    return found;
}

static int file_backend_facts(struct target *target, struct target_facts *facts) {
    struct perhaps_info info;
    if (filter_info(filter_of(target), target->name, &info) != FINE) return TROUBLE;
    *facts = (struct target_facts){.items = info.items,
                                   .bytes = info.image_bytes,
                                   .planned = true,
                                   .capacity = info.capacity,
                                   .fpr_target = info.fpr_target,
                                   .fpr_now = info.fpr_now,
                                   .guessed = info.guessed};
    return FINE;
}

/* Opening has compared all checksums. */
static int file_backend_verify(struct target *target, struct verdict *verdict) {
    struct perhaps_info info;
    char bytes[NUMBER_TEXT];
    if (filter_info(filter_of(target), target->name, &info) != FINE) return TROUBLE;
    group_digits(info.image_bytes, bytes);
    verdict->bytes_checked = is_file_kind(info.kind) ? 0 : info.image_bytes;
    verdict->if_missing = info.kind == PERHAPS_WINDOW
                              ? "a window forgets old keys, so verify it with those that it must remember"
                              : "it was made from other keys or has lost some, so build it again";
    if (is_file_kind(info.kind))
        snprintf(verdict->sentence, sizeof verdict->sentence,
                 "has the length that its header says (%s bytes); files of %s have no checksums, so damage to the bits "
                 "cannot be detected",
                 bytes, info.kind_name);
    else
        snprintf(verdict->sentence, sizeof verdict->sentence, "intact; all checksums match (%s bytes)", bytes);
    return FINE;
}

/* ---- combining ---- */

/* Of filters with a fixed number of slots, the union may have no room. */
static int full_failure(const perhaps *into, const perhaps *from, const char *path) {
    struct perhaps_info a, b;
    if (filter_info(into, path, &a) != FINE || filter_info(from, path, &b) != FINE) return TROUBLE;
    return failure(path, "the union is full; build all filters with -n %llu or more%s",
                   (unsigned long long)(a.items + b.items),
                   a.grow == PERHAPS_GROW_NEVER ? ", or without --no-grow" : "");
}

static const char *advice_on_kinds(int one, int other) {
    static const struct {
        int kind;
        const char *advice;
    } composites[] = {{PERHAPS_SHARDED, "build both with the same --shards"},
                      {PERHAPS_WINDOW, "build both with the same --window"},
                      {PERHAPS_GROWING, "build both with --grow, or both with -n"}};
    for (size_t i = 0; i < sizeof composites / sizeof *composites; i++)
        if (one == composites[i].kind || other == composites[i].kind) return composites[i].advice;
    return "build both with the same -k";
}

/* Sizes say more than the words of a layout do. */
static int mismatch_failure(const perhaps *into, const char *first, const perhaps *from, const char *path) {
    struct perhaps_info a = filter_facts(into), b = filter_facts(from);
    char keys[NUMBER_TEXT], bytes[NUMBER_TEXT], first_keys[NUMBER_TEXT], first_bytes[NUMBER_TEXT];
    bool made_alike = a.hash == b.hash && a.seed == b.seed && a.base == b.base && a.children == b.children;
    if (a.kind != b.kind)
        return failure(path, "is a %s filter, but %s is a %s filter; %s", b.kind_name, first, a.kind_name,
                       advice_on_kinds(a.kind, b.kind));
    if (!made_alike || a.bytes == b.bytes) return library_failure(path, PERHAPS_EMISMATCH);
    return failure(path,
                   "was made for %s keys in %s bytes, but %s for %s keys in %s bytes; build both with the same -n and "
                   "-p, such as -n %llu -p %.1g",
                   group_digits(b.capacity, keys), group_digits(b.bytes, bytes), first,
                   group_digits(a.capacity, first_keys), group_digits(a.bytes, first_bytes),
                   (unsigned long long)(a.capacity > b.capacity ? a.capacity : b.capacity),
                   a.fpr_target < b.fpr_target ? a.fpr_target : b.fpr_target);
}

/* "whole", "N-grams of 3 words" */
static const char *units_text(const perhaps_recipe *recipe, char text[40]) {
    const char *plural = recipe->ngram == 1 ? "" : "s";
    if (!recipe->ngram) return "whole";
    snprintf(text, 40, "N-grams of %u word%s", (unsigned)recipe->ngram, plural);
    return text;
}

/* A filter of numbers and one of lines may look alike and yet have no key in common. Kinds of
 * integers have them in common however they were written. Where keys stand in records does not
 * matter: the first filter's recipe is kept. */
static int check_same_keys(const struct target *a, const struct target *b) {
    char name[32];
    bool same = a->recipe.form == b->recipe.form && a->recipe.ignore_case == b->recipe.ignore_case;
    if (!same && !a->integers) {
        snprintf(name, sizeof name, "%s", recipe_key_name(&a->recipe));
        return failure(b->name, "its keys are read as %s, but those of %s as %s; build both with the same options",
                       recipe_key_name(&b->recipe), a->name, name);
    }
    if (a->recipe.ngram == b->recipe.ngram) return FINE;
    char of_a[40], of_b[40];
    return failure(b->name, "its keys are %s, but those of %s are %s; combine only states of the same --ngram",
                   units_text(&b->recipe, of_b), a->name, units_text(&a->recipe, of_a));
}

static int file_backend_combine(struct target *into, struct target *from, enum set_operation how) {
    static const struct {
        int (*combine)(perhaps *into, const perhaps *from);
        unsigned ability;
    } combinations[] = {
        [MERGE] = {perhaps_merge, PERHAPS_MERGE},
        [INTERSECT] = {perhaps_intersect, PERHAPS_INTERSECT},
        [SUBTRACT] = {perhaps_subtract, PERHAPS_SUBTRACT},
        [DIFFER] = {perhaps_differ, PERHAPS_SUBTRACT},
    };
    perhaps *a = filter_of(into), *b = filter_of(from);
    const char *path = from->name;
    if (filter_refuse_sealed(b, path) != FINE) return TROUBLE;
    if (check_same_keys(into, from) != FINE) return TROUBLE;
    int rc = combinations[how].combine(a, b);
    if (rc == PERHAPS_EMISMATCH) return mismatch_failure(a, into->name, b, path);
    if (rc == PERHAPS_EFULL) return full_failure(a, b, path);
    if (rc == PERHAPS_ECANNOT) {
        struct perhaps_info facts = filter_facts(b);
        return cannot_failure(path, &facts, combinations[how].ability);
    }
    return rc < 0 ? library_failure(path, rc) : FINE;
}

static int compare(struct target *a, struct target *b, struct perhaps_overlap *overlap) {
    struct perhaps_info facts = filter_facts(filter_of(a));
    if (check_same_keys(a, b) != FINE) return TROUBLE;
    int rc = perhaps_overlap(filter_of(a), filter_of(b), overlap);
    if (rc == PERHAPS_EMISMATCH) return mismatch_failure(filter_of(a), a->name, filter_of(b), b->name);
    if (rc == PERHAPS_ECANNOT)
        return reason_failure(NULL, facts.traits & PERHAPS_STATIC ? "build blocked filters of the same keys"
                                    : facts.children              ? "build both with -n and without --grow and --window"
                                                                  : "give the filters it was made from");
    return rc < 0 ? library_failure(b->name, rc) : FINE;
}

static int file_backend_overlap(struct target *a, const char *name, struct perhaps_overlap *overlap) {
    struct target *b = NULL;
    int status = file_backend_open(&b, a->options, name, TO_INSPECT, 0);
    if (status == FINE) status = compare(a, b, overlap);
    target_close(b);
    return status;
}

/* ---- finishing ---- */

/* In place, what was changed stays changed, whatever ended the reading. */
static int save(struct filter_target *t, int status) {
    const struct options *options = t->target.options;
    const char *path = t->target.name;
    if (t->in_place) {
        int rc = perhaps_sync(t->filter);
        if (status != TROUBLE) status = rc < 0 ? saving_failure(path, rc) : FINE;
    }
    bool sealing = status == FINE && !t->no_room.error && filter_facts(t->filter).traits & PERHAPS_STATIC;
    if (sealing) status = filter_seal(t);
    if (status != TROUBLE && t->no_room.error) return no_room_failure(t);
    if (status != FINE || t->in_place) return status;
    int rc = given(options, OPT_FOLD) ? perhaps_fold(t->filter, options->bytes) : PERHAPS_OK;
    if (rc < 0) return library_failure("--fold", rc);
    return t->lock ? filter_replace(t->lock, path, t->filter) : output_save(&t->output, t->filter);
}

static int file_backend_finish(struct target *target, int status) {
    struct filter_target *t = filter_target_of(target);
    struct perhaps_info info;
    status = save(t, status);
    die_of_interrupt();
    if (t->access == TO_COMBINE) target->name = target->options->output;
    if (status != FINE || filter_info(t->filter, target->name, &info) != FINE) return TROUBLE;
    if (t->created)
        warn_if_overfull(&info, target->name, KEYS_COUNTED, target->keys);
    else if (t->access == TO_COMBINE)
        warn_if_overfull(&info, target->name, KEYS_ESTIMATED, 0);
    else if (t->direction == ADDING)
        warn_if_overfull(&info, target->name, given(target->options, OPT_RECOVER) ? KEYS_ESTIMATED : KEYS_ADDED,
                         info.items - target->changed + target->keys);
    return FINE;
}

static const enum option_id of_servers[] = {OPT_SHARD_BYTES, OPTIONS};

const struct backend file_backend = {
    .commands = ~0u,
    .refused = of_servers,
    .why_refused = "needs --at; give the URL of a set on servers",
    .by_operand = true,
    .open = file_backend_open,
    .create = filter_create,
    .close = file_backend_close,
    .query = query_in_threads,
    .query_batch = file_backend_query_batch,
    .count_batch = file_backend_count_batch,
    .trace = file_backend_trace,
    .list = file_backend_list,
    .change = filter_change,
    .combine = file_backend_combine,
    .finish = file_backend_finish,
    .facts = file_backend_facts,
    .verify = file_backend_verify,
    .print_info = filter_print_info,
    .overlap = file_backend_overlap,
};
