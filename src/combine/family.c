#include "combine/family.h"

#include <string.h>

bool family_has(const perhaps *f, unsigned children, struct digest digest) {
    for (unsigned i = children; i-- > 0;) {
        const perhaps *child = f->family->child[i].filter;
        if (child->ops.contains(&child->array, digest)) return true;
    }
    return false;
}

int family_contains(const struct array *array, struct digest digest) {
    const perhaps *f = filter_of_const(array);
    return family_has(f, f->family->count, digest);
}

void keep_unanswered(struct some_keys *keys, size_t from, const uint8_t *answers) {
    size_t kept = 0;
    for (size_t i = from; i < keys->n; i++) {
        keys->digests[kept] = keys->digests[i];
        keys->at[kept] = keys->at[i];
        kept += !answers[i - from];
    }
    keys->n = kept;
}

static size_t note_found(const struct some_keys *keys, const uint8_t *found, uint8_t *answers) {
    size_t hits = 0;
    for (size_t i = 0; i < keys->n; i++) {
        answers[keys->at[i]] |= found[i];
        hits += found[i];
    }
    return hits;
}

/* The newest child has the most keys, and is asked for all; who is found there need not be asked for again. */
void family_have(const perhaps *f, unsigned children, const uint64_t *digests, size_t n, uint8_t *answers) {
    struct some_keys keys = {.n = n};
    uint8_t found[FAMILY_BLOCK];
    memset(answers, 0, n);
    memcpy(keys.digests, digests, n * sizeof *digests);
    for (size_t i = 0; i < n; i++) keys.at[i] = (uint16_t)i;
    for (unsigned i = children; i-- > 0 && keys.n;) {
        const perhaps *child = f->family->child[i].filter;
        child->ops.contains_many(&child->array, keys.digests, keys.n, found, (const char *)keys.digests);
        if (note_found(&keys, found, answers)) keep_unanswered(&keys, 0, found);
    }
}

void family_contains_many(const struct array *array, const uint64_t *digests, size_t n, uint8_t *answers,
                          const char *ahead) {
    const perhaps *f = filter_of_const(array);
    (void)ahead;
    for (size_t from = 0; from < n; from += FAMILY_BLOCK) {
        size_t some = n - from < FAMILY_BLOCK ? n - from : FAMILY_BLOCK;
        family_have(f, f->family->count, digests + from, some, answers + from);
    }
}

void family_clear(perhaps *f) {
    for (unsigned i = 0; i < f->family->count; i++) filter_clear(f->family->child[i].filter);
}
