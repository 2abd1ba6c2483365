/*
 * The children of a composite filter: layers, generations or shards, each an ordinary filter.
 *
 * Invariants
 *   I1  children have the kind that the first word of the parent's layout names, and the parent's
 *       hash, seed and allocator. Only the outermost filter has a recipe.
 *   I2  child[0..count-1] are in use; child[count..count+spare-1] were made ahead and are empty.
 *       count >= 1 once settled, and count + spare <= room.
 *   I3  `can` and `may_be_full` follow from child[0]; they hold for all children.
 *   I4  with locks, an operation on keys reads or changes a child only under its lock. Calls on
 *       the whole filter (info, save, combine) take no locks: the caller lets no thread change it.
 */
#ifndef PERHAPS_CORE_CHILDREN_H
#define PERHAPS_CORE_CHILDREN_H

#include "core/filter.h"

#define NEVER UINT64_MAX
struct child {
    perhaps *filter;
    uint64_t since; /* window with a period: when it began, NEVER until a time is known; else 0 */
};

/* Memory for a batch: SCRATCH_BYTES for up to LARGE_BATCH keys, or another size. It is kept for the
 * next batch, because mapping new memory costs more than the batch. */
enum { LARGE_BATCH = 131072, SCRATCH_BYTES = LARGE_BATCH * 20, SCRATCHES = 8 };
struct scratch {
    uint64_t bytes;          /* of the whole struct */
    uint8_t to_line_end[56]; /* `room` begins on a cache line */
    uint8_t room[];
};

struct children {
    struct child *child;  /* layers and generations from the oldest to the newest */
    unsigned count;       /* in use */
    unsigned spare;       /* made ahead */
    unsigned room;        /* entries of `child` */
    unsigned can;         /* filter_can; a copy, safe to read while threads change children */
    bool may_be_full;     /* filter_may_be_full; likewise */
    struct locks *locks;  /* one for each child; NULL if not shared, or if the kind is lock-free */
    uint64_t touched;     /* growing: bytes of the next layer; NEVER if there is none to be had */
    uint64_t coming;      /* growing: keys that a batch needs room for, while it is prepared */
    perhaps *coming_keys; /* the same over sets: the keys themselves, so that each counts once */
    uint64_t look_again;  /* window with clear_at: items at which the newest's fill is measured */
    uint64_t now;         /* window with a period: the last known time, NEVER before the first */
    uint64_t (*clock)(void *context);
    void *clock_context;
    uint8_t *image; /* the last perhaps_image */
    uint64_t image_bytes;
    struct scratch *scratch[SCRATCHES]; /* or NULL; threads exchange them atomically */
};

/* Reserves room before a batch, for children that cannot remove keys: it could not be undone. */
struct reserving {
    uint64_t (*room)(const perhaps *f);                            /* this many keys surely fit */
    void (*expect)(perhaps *f, const uint64_t *digests, size_t n); /* announces keys */
    void (*expect_one)(perhaps *f, struct digest digest);          /* for digests of two words */
};

/* What a composite kind does beyond the operations of every kind. */
struct children_ops {
    /* Adds n keys; on failure none, if keys can be removed or room was reserved. `answers` is never
     * NULL. */
    int (*add_many)(perhaps *f, const uint64_t *digests, size_t n, uint8_t *answers);

    /* After FULL: makes room for this key, or fails with the reason. */
    int (*make_room)(perhaps *f, uint64_t digest);

    void (*clear)(perhaps *f);

    /* Whether children that were just made or opened belong together: NULL, or the reason why
     * not. */
    const char *(*check)(const perhaps *f);

    /* Fills in what only this kind knows. */
    void (*describe)(const perhaps *f, struct perhaps_info *info);

    /* The rest is optional. */
    const struct reserving *reserving;
    int (*provide)(perhaps *f);                          /* makes room for the announced keys */
    int (*add_absent)(perhaps *f, struct digest digest); /* multisets: one atomic step */
    uint64_t (*capacity)(const perhaps *f);              /* of children that grow */
    int (*merge)(perhaps *into, const perhaps *from);    /* if not child by child */
    int (*advance)(perhaps *f, uint64_t now);            /* windows with a period */

    /* The children that advance would forget: those before this one. */
    unsigned (*forgotten_at)(const perhaps *f, uint64_t now);

    void (*undo)(perhaps *f, const uint64_t *digests, size_t n, const uint8_t *answers);
};

/* Gives a new handle of a composite filter an empty list of children with this much room. */
int children_start(perhaps *f, unsigned room);

/* Once all children are there: sets `can`, and drops the operations that they do not have. */
void children_settle(perhaps *f);

/* Makes room for one more child. */
int children_reserve(perhaps *f);

int children_clone(const perhaps *f, perhaps *made);
void children_free(perhaps *f);

/* Uninitialised memory of at least `bytes`, or NULL; scratch_leave returns it, and takes NULL. Any
 * number of threads may call them. */
struct scratch *scratch_take(const perhaps *f, uint64_t bytes);
void scratch_leave(const perhaps *f, struct scratch *scratch);
void children_free_scratch(const perhaps *f);

/* The newest layer or generation. */
static inline perhaps *newest_of(const perhaps *f) {
    return f->children->child[f->children->count - 1].filter;
}

/* A window with a period. */
static inline bool is_timed(const perhaps *f) {
    return f->children && f->kind->composite->ops->advance && f->header.layout[PERIOD];
}

/* NULL, or why the one cannot be a child of the other. */
const char *children_check(const struct header *parent, const struct header *child);

#endif
