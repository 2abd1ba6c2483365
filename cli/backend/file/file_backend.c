/* Filters in files: of perhaps, and of other programs. */
#include "filter_target.h"
#include "input/interrupt.h"
#include "options/abilities.h"
#include "output/numbers.h"
#include "output/report.h"

#include <stdlib.h>

/* ------------------------------------------------------------------------------------------------- opening --- */

void filter_describe(struct filter_target *t, const struct options *options, const char *name) {
    t->target.backend = &file_backend;
    t->target.options = options;
    t->target.name = name;
    t->target.integers = filter_of_integers(t->filter);
    t->target.recipe = filter_recipe(t->filter);
    t->target.tells_recipe = !filter_is_file(t->filter);
    t->threads = threads_from(options);
}

static int open_to_change(struct filter_target *t, const struct options *options, const char *path) {
    t->in_place = given(options, OPT_IN_PLACE);
    if (t->in_place) {
        /* The filter itself is locked while it is open; interrupts wait until the file is finished. */
        if (filter_open(options, path, PERHAPS_OPEN_WRITE, &t->filter) != FINE) return TROUBLE;
        if (finish_on_interrupt() != FINE) return TROUBLE;
    } else {
        if (filter_lock(options, path, &t->lock) != FINE) return TROUBLE;
        if (filter_open(options, path, PERHAPS_OPEN_COPY, &t->filter) != FINE) return TROUBLE;
    }
    return filter_refuse_sealed(t->filter, path);
}

static int open_to_combine(struct filter_target *t, const struct options *options, const char *path) {
    if (output_open(&t->output, options) != FINE) return TROUBLE;
    if (filter_open(options, path, PERHAPS_OPEN_COPY, &t->filter) != FINE) return TROUBLE;
    return filter_refuse_sealed(t->filter, path);
}

static int open_filter(struct target **target, const struct options *options, const char *path, enum access access,
                       unsigned needs) {
    struct filter_target *t = calloc(1, sizeof *t);
    if (!t) return failure(path, "not enough memory");
    t->access = access;
    *target = &t->target;
    t->target.backend = &file_backend;
    int status = access == TO_CHANGE    ? open_to_change(t, options, path)
                 : access == TO_COMBINE ? open_to_combine(t, options, path)
                 : access == TO_QUERY   ? filter_open_now(options, path, &t->filter)
                                        : filter_open(options, path, 0, &t->filter);
    if (status == FINE && needs) status = filter_require(t->filter, path, needs);
    if (status == FINE) filter_describe(t, options, path);
    return status == FINE && access == TO_CHANGE ? filter_advance(t->filter, path) : status;
}

static void close_filter(struct target *target) {
    struct filter_target *t = filter_target_of(target);
    perhaps_unlock(t->lock);
    output_close(&t->output);
    perhaps_free(t->filter);
    free(t);
}

/* ------------------------------------------------------------------------------------------------- queries --- */

static int query_batch(const struct target *target, const struct batch *batch, uint8_t *answers, uint64_t *present) {
    perhaps_keys keys = batch_keys(batch);
    int64_t rc = perhaps_contains_many(filter_of(target), &keys, answers);
    *present = (uint64_t)rc;
    return rc < 0 ? library_failure(batch->path, (int)rc) : FINE;
}

static int count_batch(const struct target *target, const struct batch *batch, uint64_t *counts, uint64_t *present) {
    perhaps_keys keys = batch_keys(batch);
    int64_t rc = perhaps_count_many(filter_of(target), &keys, counts);
    *present = (uint64_t)rc;
    return rc < 0 ? library_failure(batch->path, (int)rc) : FINE;
}

static size_t list(const struct target *target, uint64_t *at, uint64_t *members, size_t n) {
    size_t found = 0;
    while (found < n && perhaps_next(filter_of(target), at, &members[found]) == 1) found++;
    return found;
}

static int facts(struct target *target, struct target_facts *facts) {
    struct perhaps_info info;
    if (filter_info(filter_of(target), target->name, &info) != FINE) return TROUBLE;
    *facts = (struct target_facts){.items = info.items,
                                   .planned = true,
                                   .capacity = info.capacity,
                                   .fpr_target = info.fpr_target,
                                   .fpr_now = info.fpr_now,
                                   .guessed = info.guessed};
    return FINE;
}

/* Opening has compared all checksums. */
static int verify(struct target *target, struct verdict *verdict) {
    struct perhaps_info info;
    char bytes[NUMBER_TEXT];
    if (filter_info(filter_of(target), target->name, &info) != FINE) return TROUBLE;
    group_digits(info.image_bytes, bytes);
    verdict->bytes_checked = is_file_kind(info.kind) ? 0 : info.image_bytes;
    verdict->if_missing = info.kind == PERHAPS_WINDOW
                              ? "a window forgets old keys: verify it with those that it must remember"
                              : "it was made from other keys or has lost some: build it again";
    if (is_file_kind(info.kind))
        snprintf(verdict->sentence, sizeof verdict->sentence,
                 "has the length that its header speaks of (%s bytes); files of %s have no checksums, so damage to the "
                 "bits cannot be seen",
                 bytes, info.kind_name);
    else
        snprintf(verdict->sentence, sizeof verdict->sentence,
                 "whole; header and all of the array agree with their checksums (%s bytes)", bytes);
    return FINE;
}

/* ------------------------------------------------------------------------------------------------- finishing --- */

static void warn(const struct filter_target *t, const struct perhaps_info *info) {
    const struct target *target = &t->target;
    if (t->created)
        warn_if_overfull(info, target->name, KEYS_COUNTED, target->keys);
    else if (t->access == TO_COMBINE)
        warn_if_overfull(info, target->name, KEYS_ESTIMATED, 0);
    else if (t->direction == ADDING)
        warn_if_overfull(info, target->name, given(target->options, OPT_RECOVER) ? KEYS_ESTIMATED : KEYS_ADDED,
                         info->items - target->changed + target->keys);
}

/* In place, what was changed stays changed, whatever ended the reading. */
static int save(struct filter_target *t, int status) {
    const struct options *options = t->target.options;
    const char *path = t->target.name;
    if (t->in_place) {
        int rc = perhaps_sync(t->filter);
        if (status != TROUBLE) status = rc < 0 ? saving_failure(path, rc) : FINE;
    }
    if (status == FINE && filter_traits(t->filter) & PERHAPS_STATIC && !t->no_room.error) status = filter_seal(t);
    if (status != TROUBLE && t->no_room.error) return no_room_failure(t);
    if (status != FINE || t->in_place) return status;
    if (given(options, OPT_FOLD)) {
        int rc = perhaps_fold(t->filter, options->bytes);
        if (rc < 0) return library_failure("--fold", rc);
    }
    return t->lock ? filter_replace(t->lock, path, t->filter) : output_save(&t->output, t->filter);
}

static int finish(struct target *target, int status) {
    struct filter_target *t = filter_target_of(target);
    struct perhaps_info info;
    status = save(t, status);
    die_of_interrupt();
    if (t->access == TO_COMBINE) target->name = target->options->output;
    if (status != FINE || filter_info(t->filter, target->name, &info) != FINE) return TROUBLE;
    warn(t, &info);
    return FINE;
}

const struct backend file_backend = {
    .commands = ~0u,
    .by_operand = true,
    .open = open_filter,
    .create = filter_create,
    .close = close_filter,
    .query = query_in_threads,
    .query_batch = query_batch,
    .count_batch = count_batch,
    .list = list,
    .change = filter_change,
    .combine = filter_combine,
    .finish = finish,
    .facts = facts,
    .verify = verify,
    .print_info = filter_print_info,
};
