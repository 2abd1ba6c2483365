/*
 * The children of a composite filter: layers, generations or shards, each an ordinary filter.
 *
 * Invariants
 *   I1  children have the kind that the first word of the parent's layout names, and the parent's hash, seed and
 *       allocator; only the parent has a recipe.
 *   I2  child[0..count-1] are in use; child[count..count+spare-1] were made ahead and are empty; count >= 1 once settled.
 *   I3  `can` and `may_be_full` are those of child[0], which all others share.
 *   I4  with locks, a child is looked at and changed only under its lock.
 */
#ifndef PERHAPS_CORE_CHILDREN_H
#define PERHAPS_CORE_CHILDREN_H

#include "core/filter.h"

#define NEVER UINT64_MAX
struct child {
    perhaps *filter;
    uint64_t since; /* generations of a window with a period: when it began, NEVER until a time is told; else 0 */
};

/* Memory for a batch of at most LARGE_BATCH keys, or of another size. It is kept for the next batch: new memory from the
 * system each time would cost more than the batch. */
enum { LARGE_BATCH = 131072, SCRATCH_BYTES = LARGE_BATCH * 20, SCRATCHES = 8 };
struct scratch {
    uint64_t bytes; /* of all this */
    uint8_t rest_of_line[56];
    uint8_t room[];
};

struct children {
    struct child *child;  /* layers and generations from the oldest to the newest */
    unsigned count;       /* in use */
    unsigned spare;       /* made ahead, behind those */
    unsigned room;        /* entries of `child` */
    unsigned can;         /* see filter_can; a copy, which threads may read while others change children */
    bool may_be_full;     /* see filter_may_be_full; likewise */
    struct locks *locks;  /* one for each child, if threads share it and the children cannot be shared; else NULL */
    uint64_t coming;      /* growing: keys for which there must be room, while a batch is prepared */
    perhaps *coming_keys; /* the same of a set: which ones, so that none counts twice */
    uint64_t look_again;  /* window with clear_at: items of the newest generation at which its fill is measured */
    uint64_t now;         /* window with a period: the last time that was told, NEVER before the first */
    uint64_t (*clock)(void *context);
    void *clock_context;
    uint8_t *image; /* what perhaps_image gave, until the next change */
    uint64_t image_bytes;
    struct scratch *scratch[SCRATCHES]; /* or NULL; threads exchange them atomically */
};

/* Before a batch for children that cannot take keys out again, so that it must not fail half-way. */
struct reserving {
    uint64_t (*room)(const perhaps *f);                            /* so many keys surely have room */
    void (*expect)(perhaps *f, const uint64_t *digests, size_t n); /* keys to come */
    void (*expect_one)(perhaps *f, struct digest digest);          /* the same for digests of two words */
};

/* What a composite kind does beyond the operations of every kind. */
struct children_ops {
    /* Adds n keys; on failure none, as far as keys can be removed again or room was reserved. `answers` is never NULL. */
    int (*add_many)(perhaps *f, const uint64_t *digests, size_t n, uint8_t *answers);

    /* After `add` has said FULL: makes room for this key, or gives the reason why not. */
    int (*make_room)(perhaps *f, uint64_t digest);

    void (*clear)(perhaps *f);

    /* Whether children that were just made or opened belong together: NULL, or why they are invalid. */
    const char *(*check)(const perhaps *f);

    /* Fills in what only this kind knows; `info` has the rest. */
    void (*describe)(const perhaps *f, struct perhaps_info *info);

    /* The rest is optional. */
    const struct reserving *reserving;
    int (*provide)(perhaps *f);                          /* before a batch: makes room for what `expect` was told of */
    int (*add_absent)(perhaps *f, struct digest digest); /* multisets: queries and adds in one step */
    uint64_t (*capacity)(const perhaps *f);              /* of children that grow; else the planned one holds */
    void (*undo)(perhaps *f, const uint64_t *digests, size_t n, const uint8_t *answers); /* see filter_undo */
    int (*merge)(perhaps *into, const perhaps *from); /* for those that can, but not child by child */
    int (*advance)(perhaps *f, uint64_t now);         /* windows with a period */
};

/* Gives a new handle of a composite filter no children, and room for `room` of them. */
int children_start(perhaps *f, unsigned room);

/* Once all children are there: sets `can`, and takes away the operations that they do not have. */
void children_settle(perhaps *f);

/* Makes room for one more entry. */
int children_reserve(perhaps *f);

int children_clone(const perhaps *f, perhaps *made);
void children_free(perhaps *f);

/* Memory of any content, `bytes` or more, or NULL; and back. Any number of threads may do that. */
struct scratch *scratch_take(const perhaps *f, uint64_t bytes);
void scratch_leave(const perhaps *f, struct scratch *scratch);

/* The newest layer or generation. */
static inline perhaps *newest_of(const perhaps *f) {
    return f->children->child[f->children->count - 1].filter;
}

/* Whether it is a window with a period. */
static inline bool is_timed(const perhaps *f) {
    return f->children && f->kind->composite->ops->advance && f->header.layout[PERIOD];
}

/* NULL, or why a filter cannot be the child of another. */
const char *children_check(const struct header *parent, const struct header *child);

#endif
