#include "composite/composite.h"

#include <string.h>

bool any_child_has(const perhaps *f, unsigned children, struct digest digest) {
    for (unsigned i = children; i-- > 0;) {
        const perhaps *child = f->children->child[i].filter;
        if (child->ops.contains(&child->array, digest)) return true;
    }
    return false;
}

/* With one child, no branch waits for its answer from memory. */
int composite_contains(const struct array *array, struct digest digest) {
    const perhaps *f = filter_of_const(array), *first = f->children->child[0].filter;
    return f->children->count == 1 ? first->ops.contains(&first->array, digest)
                                   : any_child_has(f, f->children->count, digest);
}

void composite_prefetch(const struct array *array, struct digest digest) {
    const struct children *children = filter_of_const(array)->children;
    for (unsigned i = 0; i < children->count; i++) {
        const perhaps *child = children->child[i].filter;
        child->ops.prefetch(&child->array, digest);
    }
}

/* A batch that is queried in one child after the other. Keys that were found are dropped only once
 * they are many: compacting the others costs more than a few queries in vain. */
struct child_query {
    const uint64_t *digests; /* at first the caller's, then `kept` */
    size_t n;
    uint8_t *known; /* whether each was found; at first `answers`, then `known_of_kept` */
    uint8_t *answers;
    uint64_t *kept;
    uint32_t *at; /* index of each kept key in the caller's batch */
    uint8_t *known_of_kept, *found;
    bool together;           /* query children of one shape together, with contains_any */
    const struct span *next; /* see batch_ops.contains_any */
};

enum { MANY_KNOWN = 8 }; /* known keys are dropped once they are more than one in this many */

static size_t note_found(const struct child_query *query) {
    uint8_t *restrict known = query->known;
    const uint8_t *restrict found = query->found;
    uint32_t sum = 0;
    for (size_t i = 0, n = query->n; i < n; i++) {
        known[i] |= found[i];
        sum += known[i];
    }
    return sum;
}

static bool is_whole(const struct child_query *query) {
    return query->known == query->answers;
}

static void give_answers(const struct child_query *query) {
    const uint32_t *restrict at = query->at;
    const uint8_t *restrict known = query->known;
    uint8_t *restrict answers = query->answers;
    for (size_t i = 0, n = query->n; i < n; i++) answers[at[i]] = known[i];
}

static size_t keep_unknown(const struct child_query *query) {
    const uint64_t *digests = query->digests;
    const uint8_t *restrict known = query->known;
    uint64_t *kept = query->kept;
    uint32_t *restrict at = query->at;
    size_t count = 0;
    for (size_t i = 0, n = query->n; i < n; i++) {
        kept[count] = digests[i];
        at[count] = at[i];
        count += !known[i];
    }
    return count;
}

static void drop_known(struct child_query *query) {
    if (is_whole(query))
        for (size_t i = 0; i < query->n; i++) query->at[i] = (uint32_t)i;
    else
        give_answers(query);
    query->n = keep_unknown(query);
    query->digests = query->kept;
    query->known = query->known_of_kept;
    memset(query->known, 0, query->n);
}

/* How many of the newest of `children` have the same contains_any. */
static unsigned count_alike(const struct child *child, unsigned children) {
    const struct batch_ops *batch = child[children - 1].filter->ops.batch;
    unsigned alike = 0;
    if (!batch || !batch->contains_any) return 0;
    while (alike < children && child[children - 1 - alike].filter->ops.batch == batch) alike++;
    return alike;
}

/* Every `turns`-th child, beginning with `newest`: each turn then has large and small children, and
 * prefetches about the same. */
static void query_together(const struct child *newest, unsigned turns, const struct child_query *query) {
    const struct array *arrays[ARRAYS_AT_ONCE];
    for (unsigned i = 0; i < ARRAYS_AT_ONCE; i++) arrays[i] = &(newest - (size_t)i * turns)->filter->array;
    newest->filter->ops.batch->contains_any(arrays, query->digests, query->n, query->found, query->next);
}

static void settle_found(struct child_query *query, bool more) {
    size_t known = note_found(query);
    if (more && known > query->n / MANY_KNOWN) drop_known(query);
}

/* From the newest child, which has the most keys, to the oldest. */
static void query_children(const perhaps *f, unsigned children, struct child_query *query) {
    const struct child *child = f->children->child;
    memset(query->answers, 0, query->n);
    while (children && query->n) {
        unsigned turns = query->together ? count_alike(child, children) / ARRAYS_AT_ONCE : 0;
        unsigned rest = children - (turns ? turns * ARRAYS_AT_ONCE : 1);
        if (!turns) {
            const perhaps *one = child[rest].filter;
            one->ops.contains_many(&one->array, query->digests, query->n, query->found, (const char *)query->digests);
            settle_found(query, rest);
        }
        for (unsigned turn = 0; turn < turns && query->n; turn++) {
            query_together(child + children - 1 - turn, turns, query);
            settle_found(query, rest || turn + 1 < turns);
        }
        children = rest;
    }
    if (!is_whole(query)) give_answers(query);
}

static void query_block(const perhaps *f, unsigned children, const uint64_t *digests, size_t n, uint8_t *answers,
                        bool together, const struct span *next) {
    uint64_t kept[CHILD_BLOCK];
    uint32_t at[CHILD_BLOCK];
    uint8_t known[CHILD_BLOCK], found[CHILD_BLOCK];
    struct child_query query = {
        .digests = digests, .n = n, .known = answers, .answers = answers, .kept = kept, .at = at};
    query.known_of_kept = known;
    query.found = found;
    query.together = together;
    query.next = next;
    query_children(f, children, &query);
}

void any_child_has_many(const perhaps *f, unsigned children, const uint64_t *digests, size_t n, uint8_t *answers) {
    query_block(f, children, digests, n, answers, false, NULL);
}

void any_child_has_partition(const perhaps *f, const uint64_t *digests, size_t n, uint8_t *answers,
                             const struct span *next) {
    query_block(f, f->children->count, digests, n, answers, true, next);
}

static void query_large(const perhaps *f, const uint64_t *digests, size_t n, uint8_t *answers, uint8_t *room) {
    struct child_query query = {.digests = digests, .n = n, .known = answers, .answers = answers};
    query.kept = (uint64_t *)(void *)room;
    query.at = (uint32_t *)(void *)(query.kept + LARGE_BATCH);
    query.known_of_kept = (uint8_t *)(query.at + LARGE_BATCH);
    query.found = query.known_of_kept + LARGE_BATCH;
    query_children(f, f->children->count, &query);
}

/* Large blocks: the other children push each child out of the cache once per block. */
void composite_contains_many(const struct array *array, const uint64_t *digests, size_t n, uint8_t *answers,
                             const char *ahead) {
    const perhaps *f = filter_of_const(array);
    struct scratch *scratch = n > CHILD_BLOCK ? scratch_take(f, SCRATCH_BYTES) : NULL;
    size_t block = scratch ? LARGE_BATCH : CHILD_BLOCK;
    (void)ahead;
    for (size_t from = 0; from < n; from += block) {
        size_t some = n - from < block ? n - from : block;
        if (scratch)
            query_large(f, digests + from, some, answers + from, scratch->room);
        else
            any_child_has_many(f, f->children->count, digests + from, some, answers + from);
    }
    scratch_leave(f, scratch);
}

void composite_clear(perhaps *f) {
    for (unsigned i = 0; i < f->children->count; i++) filter_clear(f->children->child[i].filter);
}
