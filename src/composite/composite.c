#include "composite/composite.h"

#include <string.h>

bool any_child_has(const perhaps *f, unsigned children, struct digest digest) {
    for (unsigned i = children; i-- > 0;) {
        const perhaps *child = f->children->child[i].filter;
        if (child->ops.contains(&child->array, digest)) return true;
    }
    return false;
}

/* With one child no branch depends on its answer, which memory may keep waiting. */
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

void keep_unanswered(struct some_keys *keys, size_t from, const uint8_t *answers) {
    size_t kept = 0;
    for (size_t i = from; i < keys->n; i++) {
        keys->digests[kept] = keys->digests[i];
        keys->at[kept] = keys->at[i];
        kept += !answers[i - from];
    }
    keys->n = kept;
}

/* Keys that are asked for in one child after the other. Those that were found stay among them until they are many, since
 * moving the others together costs more than asking for a few in vain. */
struct child_query {
    const uint64_t *digests; /* at first the caller's, then `kept` */
    size_t n;
    uint8_t *known; /* which of them were found; at first the caller's answers, then `known_of_kept` */
    uint8_t *answers;
    uint64_t *kept;
    uint32_t *at; /* which keys of the caller's the kept ones are */
    uint8_t *known_of_kept, *found;
    bool together;           /* whether children that are alike are asked together */
    const struct span *next; /* see batch_ops.contains_any */
};

enum { MANY_KNOWN = 8 }; /* one in so many */

static size_t note_found(const struct child_query *asking) {
    uint8_t *restrict known = asking->known;
    const uint8_t *restrict found = asking->found;
    uint32_t sum = 0;
    for (size_t i = 0, n = asking->n; i < n; i++) {
        known[i] |= found[i];
        sum += known[i];
    }
    return sum;
}

static bool is_whole(const struct child_query *asking) {
    return asking->known == asking->answers;
}

static void give_answers(const struct child_query *asking) {
    const uint32_t *restrict at = asking->at;
    const uint8_t *restrict known = asking->known;
    uint8_t *restrict answers = asking->answers;
    for (size_t i = 0, n = asking->n; i < n; i++) answers[at[i]] = known[i];
}

static size_t keep_unknown(const struct child_query *asking) {
    const uint64_t *digests = asking->digests;
    const uint8_t *restrict known = asking->known;
    uint64_t *kept = asking->kept;
    uint32_t *restrict at = asking->at;
    size_t count = 0;
    for (size_t i = 0, n = asking->n; i < n; i++) {
        kept[count] = digests[i];
        at[count] = at[i];
        count += !known[i];
    }
    return count;
}

static void drop_known(struct child_query *asking) {
    if (is_whole(asking))
        for (size_t i = 0; i < asking->n; i++) asking->at[i] = (uint32_t)i;
    else
        give_answers(asking);
    asking->n = keep_unknown(asking);
    asking->digests = asking->kept;
    asking->known = asking->known_of_kept;
    memset(asking->known, 0, asking->n);
}

/* How many of the newest of so many children can be asked together, several at a time. */
static unsigned count_alike(const struct child *child, unsigned children) {
    const struct batch_ops *batch = child[children - 1].filter->ops.batch;
    unsigned alike = 0;
    if (!batch || !batch->contains_any) return 0;
    while (alike < children && child[children - 1 - alike].filter->ops.batch == batch) alike++;
    return alike;
}

static void query_one(const perhaps *child, const struct child_query *asking) {
    child->ops.contains_many(&child->array, asking->digests, asking->n, asking->found, (const char *)asking->digests);
}

/* Every so many-th child, beginning with `newest`: what must be fetched of large and small ones is then the same in each turn. */
static void query_together(const struct child *newest, unsigned turns, const struct child_query *asking) {
    const struct array *arrays[ARRAYS_AT_ONCE];
    for (unsigned i = 0; i < ARRAYS_AT_ONCE; i++) arrays[i] = &(newest - (size_t)i * turns)->filter->array;
    newest->filter->ops.batch->contains_any(arrays, asking->digests, asking->n, asking->found, asking->next);
}

static void settle_found(struct child_query *asking, bool more) {
    size_t known = note_found(asking);
    if (more && known > asking->n / MANY_KNOWN) drop_known(asking);
}

/* From the newest child, which has the most keys, to the oldest; where several are asked together, each turn has large and small ones. */
static void query_children(const perhaps *f, unsigned children, struct child_query *asking) {
    const struct child *child = f->children->child;
    memset(asking->answers, 0, asking->n);
    while (children && asking->n) {
        unsigned turns = asking->together ? count_alike(child, children) / ARRAYS_AT_ONCE : 0;
        unsigned rest = children - (turns ? turns * ARRAYS_AT_ONCE : 1);
        if (!turns) {
            query_one(child[rest].filter, asking);
            settle_found(asking, rest);
        }
        for (unsigned turn = 0; turn < turns && asking->n; turn++) {
            query_together(child + children - 1 - turn, turns, asking);
            settle_found(asking, rest || turn + 1 < turns);
        }
        children = rest;
    }
    if (!is_whole(asking)) give_answers(asking);
}

static void query_block(const perhaps *f, unsigned children, const uint64_t *digests, size_t n, uint8_t *answers,
                        bool together, const struct span *next) {
    uint64_t kept[CHILD_BLOCK];
    uint32_t at[CHILD_BLOCK];
    uint8_t known[CHILD_BLOCK], found[CHILD_BLOCK];
    struct child_query asking = {
        .digests = digests, .n = n, .known = answers, .answers = answers, .kept = kept, .at = at};
    asking.known_of_kept = known;
    asking.found = found;
    asking.together = together;
    asking.next = next;
    query_children(f, children, &asking);
}

void any_child_has_many(const perhaps *f, unsigned children, const uint64_t *digests, size_t n, uint8_t *answers) {
    query_block(f, children, digests, n, answers, false, NULL);
}

void any_child_has_partition(const perhaps *f, const uint64_t *digests, size_t n, uint8_t *answers,
                             const struct span *next) {
    query_block(f, f->children->count, digests, n, answers, true, next);
}

static void query_large(const perhaps *f, const uint64_t *digests, size_t n, uint8_t *answers, uint8_t *room) {
    struct child_query asking = {.digests = digests, .n = n, .known = answers, .answers = answers};
    asking.kept = (uint64_t *)(void *)room;
    asking.at = (uint32_t *)(void *)(asking.kept + LARGE_BATCH);
    asking.known_of_kept = (uint8_t *)(asking.at + LARGE_BATCH);
    asking.found = asking.known_of_kept + LARGE_BATCH;
    query_children(f, f->children->count, &asking);
}

/* The more keys go through a child at a time, the less it matters that the others have pushed it out of the cache. */
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
