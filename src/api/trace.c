/* Explaining: the steps of one query or add. */
#include "api/batch.h"

#include "base/error.h"
#include "composite/composite_trace.h"

static int trace_check(const perhaps *f, int verb, const perhaps_keys *key, const perhaps_step *steps, size_t room) {
    int rc = batch_check(f, key);
    if (rc < 0) return rc;
    if (key->n != 1) return fail(PERHAPS_EINVAL, "a trace is of one key, not of %zu", key->n);
    if (verb != PERHAPS_VERB_QUERY && verb != PERHAPS_VERB_ADD)
        return fail(PERHAPS_EINVAL, "a trace has no verb %d; see enum perhaps_verb", verb);
    if (room && !steps) return fail(PERHAPS_EINVAL, "there is no memory for the %zu steps of a trace", room);
    rc = filter_check_sealed(f);
    return rc == PERHAPS_OK && verb == PERHAPS_VERB_ADD && f->kind->solver ? fail_sealed() : rc;
}

int64_t perhaps_trace(const perhaps *f, int verb, const perhaps_keys *key, perhaps_step *steps, size_t room) {
    int rc = trace_check(f, verb, key, steps, room);
    if (rc < 0) return rc;
    struct trace trace = {.steps = steps, .room = room};
    uint64_t words[2];
    const uint64_t *made = keys_digests(&f->hash, f->two_words, key, 0, 1, words);
    struct digest digest = {made[0], f->two_words ? made[1] : 0};
    trace_step(&trace, PERHAPS_STEP_DIGEST, "digest", false, 0, digest.first, 0);
    if (f->two_words) trace_step(&trace, PERHAPS_STEP_DIGEST, "digest", false, 1, digest.second, 0);
    trace_filter(f, digest, verb == PERHAPS_VERB_ADD, &trace);
    return (int64_t)trace.count;
}
