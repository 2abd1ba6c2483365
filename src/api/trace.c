/* Explaining: the steps of one query or add or of sealing, and the cells that they count. */
#include "api/batch.h"

#include "base/error.h"
#include "composite/composite_trace.h"
#include "static/seal.h"

static int check_room(const perhaps_step *steps, size_t room) {
    if (room && !steps) return fail(PERHAPS_EINVAL, "there is no memory for the %zu steps of a trace", room);
    return PERHAPS_OK;
}

static int trace_check(const perhaps *f, int verb, const perhaps_keys *key, const perhaps_step *steps, size_t room) {
    int rc = batch_check(f, key);
    if (rc < 0) return rc;
    if (key->n != 1) return fail(PERHAPS_EINVAL, "a trace is of one key, not of %zu", key->n);
    if (verb != PERHAPS_VERB_QUERY && verb != PERHAPS_VERB_ADD)
        return fail(PERHAPS_EINVAL, "a trace has no verb %d; see enum perhaps_verb", verb);
    rc = check_room(steps, room);
    if (rc == PERHAPS_OK) rc = filter_check_sealed(f);
    return rc == PERHAPS_OK && verb == PERHAPS_VERB_ADD && f->kind->solver ? fail_sealed() : rc;
}

static int64_t trace_sealing(const perhaps *f, const perhaps_keys *key, perhaps_step *steps, size_t room) {
    struct trace trace = {.steps = steps, .room = room};
    if (key) return fail(PERHAPS_EINVAL, "sealing takes no key");
    int rc = check_room(steps, room);
    if (rc == PERHAPS_OK && f->bins)
        rc = seal_trace(f, &trace);
    else if (rc == PERHAPS_OK)
        trace_answer(&trace, false, PERHAPS_OK, "There is nothing to seal.");
    return rc < 0 ? rc : (int64_t)trace.count;
}

int64_t perhaps_trace(const perhaps *f, int verb, const perhaps_keys *key, perhaps_step *steps, size_t room) {
    if (verb == PERHAPS_VERB_SEAL) return trace_sealing(f, key, steps, room);
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

/* The filter whose cells are meant, or NULL with *rc. */
static const perhaps *with_cells(const perhaps *f, int child, int *rc) {
    unsigned children = f->children ? f->children->count : 0;
    if (child >= 0 && (unsigned)child >= children) {
        *rc = fail(PERHAPS_ERANGE, "there is no child %d; the filter has %u", child, children);
        return NULL;
    }
    if (child >= 0) f = f->children->child[child].filter;
    if (f->children) {
        *rc = fail(PERHAPS_ECANNOT, "a composite filter has no cells; its children have");
        return NULL;
    }
    *rc = filter_check_sealed(f);
    return *rc < 0 ? NULL : f;
}

int64_t perhaps_cells(const perhaps *f, int child, uint64_t from, uint64_t *values, size_t room, const char **name) {
    int rc;
    uint64_t cells, value = 0;
    if (room && !values) return fail(PERHAPS_EINVAL, "there is no memory for the %zu cells", room);
    if (!(f = with_cells(f, child, &rc))) return rc;
    const struct array *array = &f->array;
    cells = f->kind->cells ? f->kind->cells(array, UINT64_MAX, &value) : 8 * array->length;
    for (uint64_t i = from; i < cells && i - from < room; i++) {
        if (f->kind->cells)
            f->kind->cells(array, i, &values[i - from]);
        else
            values[i - from] = array->bytes[i / 8] >> i % 8 & 1;
    }
    if (name) *name = f->kind->cell ? f->kind->cell : "bit";
    return (int64_t)cells;
}
