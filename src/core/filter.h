/*
 * What a filter is inside, and how it is made, grows and ends: what the combinators (combine/) and the public calls (perhaps.c,
 * many.c, parallel.c, lifetime.c, look.c) have in common.
 */
#ifndef PERHAPS_CORE_FILTER_H
#define PERHAPS_CORE_FILTER_H

#include "base/file.h"
#include "base/sized.h"
#include "base/threads.h"
#include "static/bins.h"
#include "core/hash.h"
#include "image/directory.h"
#include "image/header.h"
#include "kind/kind.h"

#include <stdbool.h>

/* May it be changed? */
enum state {
    CHANGEABLE,
    CLEAN_MAP, /* a file mapped for changing, not marked dirty yet */
    READ_ONLY
};

/* Where the number of items is kept up to date. */
enum items_in {
    ITEMS_IN_HEADER,
    ITEMS_IN_TALLIES, /* of a filter that many threads change: the header's and all tallies together */
    ITEMS_IN_CHILDREN
};

/* A counter on a cache line of its own. There are TALLIES of them, so that two threads seldom want the same. */
enum { TALLIES = 32 };
struct tally {
    uint64_t items; /* may have wrapped around; only the sum means something */
    uint8_t rest_of_line[56];
};

/* A filter within a filter. */
#define NEVER UINT64_MAX
struct child {
    perhaps *filter;
    uint64_t since; /* generations of a window with a period: when it began, NEVER until a time is told; else 0 */
};

/* Memory to work in, for a batch of at most LARGE_BATCH keys, or whatever it is wanted for. A family keeps it for the next batch: taking
 * new memory from the system each time would cost more than the batch. */
enum { LARGE_BATCH = 131072, SCRATCH_BYTES = LARGE_BATCH * 20, SCRATCHES = 8 };
struct scratch {
    uint64_t bytes; /* of all this */
    uint8_t rest_of_line[56];
    uint8_t room[];
};

/* The children of a filter of filters. */
struct family {
    struct child *child; /* layers and generations from the oldest to the newest */
    unsigned count;      /* how many are in use */
    unsigned spare;      /* made ahead, behind those */
    unsigned room;       /* entries of `child` */
    unsigned can;        /* see filter_can. This and the next are facts that calls need while threads change children */
    bool may_be_full;    /* see filter_may_be_full */
    struct locks *locks; /* one for each child, if many threads may change it and the children cannot do that alone */
    uint64_t coming;     /* growing: keys for which there shall be room, while a batch is prepared */
    perhaps *coming_keys; /* the same of a set: which ones, so that none counts twice */
    uint64_t look_again; /* window with clear_at: items of the newest generation at which its fill is to be looked at */
    uint64_t now;        /* window with a period: the last time that was told, NEVER before the first */
    uint64_t (*clock)(void *context);
    void *clock_context;
    uint8_t *image; /* what perhaps_image gave, until the next change */
    uint64_t image_bytes;
    struct scratch *scratch[SCRATCHES]; /* or NULL; threads exchange them atomically */
};

/* A filter is a header (facts), an array (what the kind works on) and an image (the header's bytes and the array's bytes
 * in one piece), which is its own, borrowed or a mapped file. A filter of filters has a family in place of array and image. The
 * array comes first: operations of combinators get a pointer to it, which is one to the filter. */
struct perhaps {
    struct array array;
    struct kind_ops ops;
    struct hash hash;
    enum state state;
    enum items_in items_in;
    bool shared;    /* many threads may change it at the same time */
    bool two_words; /* digests have two words, as the kind of its keys says */
    enum isa isa;
    const struct kind *kind;
    struct header header; /* its items are up to date, see items_in; its flags are those of the image in memory */
    uint8_t *image;
    bool guessed;     /* a foreign file did not state its capacity: it is plan_guess's */
    bool owned;       /* the image, or the family, is memory of this filter's allocator */
    struct file file; /* the mapped file; fd -1 if there is none */
    struct tally *tallies;
    struct family *family; /* NULL unless it is a filter of filters */
    struct bins *bins;     /* NULL unless it is a static filter that still collects keys; it has no array then */
    uint8_t *tail; /* what follows the array in a file of another program: in the map, or memory of its own; or NULL */
    uint64_t tail_length;
    perhaps_allocator allocator;
};

/* What a combinator must do beyond the operations of every kind. */
struct combiner {
    /* Adds n keys; on failure none, as far as keys can be taken out again or `provide` has made room before. `answers` is never
     * NULL. */
    int (*add_many)(perhaps *f, const uint64_t *digests, size_t n, uint8_t *answers);

    /* After `add` has said FULL: makes room for this key, or gives the reason why not. */
    int (*make_room)(perhaps *f, uint64_t digest);

    /* For multisets: adds the key if it is not there, in one step. NULL where others need not be kept out meanwhile. */
    int (*add_absent)(perhaps *f, struct digest digest);

    /* Before a batch. For children that cannot take keys out again, so that it must not fail half-way: `expect` tells of keys
     * to come, `provide` makes room for all of them; but so many keys as `room` says surely have it. NULL where there is
     * nothing to do. */
    uint64_t (*room)(const perhaps *f);
    void (*expect)(perhaps *f, const uint64_t *digests, size_t n);
    void (*expect_one)(perhaps *f, struct digest digest); /* the same for digests of two words */
    int (*provide)(perhaps *f);

    void (*clear)(perhaps *f);

    /* For those that can PERHAPS_MERGE, but not child by child, two of equal hash, seed and base; else NULL. */
    int (*merge)(perhaps *into, const perhaps *from);

    /* Whether children that were just opened belong together: NULL, or what is wrong. */
    const char *(*misfit)(const perhaps *f);

    bool rates_add_up; /* a stranger is asked for in every child, not in one of them */
};

/* ---- facts ---- */

/* What this very filter can: set of enum perhaps_ability. */
static inline unsigned filter_can(const perhaps *f) {
    return f->family ? f->family->can : f->kind->row.can;
}

/* Whether an array may be full, so that a key finds no room. */
static inline bool filter_may_be_full(const perhaps *f) {
    return f->family ? f->family->may_be_full : f->kind->full != NULL;
}

uint64_t filter_items(const perhaps *f);

/* Keys it was made for; of children that grow, the sum. */
uint64_t filter_capacity(const perhaps *f);

/* Bytes of the arrays. */
uint64_t filter_bytes(const perhaps *f);

/* Bytes of the whole image. */
uint64_t filter_image_bytes(const perhaps *f);

/* The header as an image has it: with everything up to date; without the key, for a file whose owner does not want it
 * there. */
struct header filter_header(const perhaps *f, bool for_file);

/* Whether it is a window with a period. */
static inline bool filter_is_timed(const perhaps *f) {
    return f->kind == &kind_window && f->header.layout[PERIOD];
}

/* ---- changing ---- */

static inline struct digest one_word(uint64_t digest) {
    return (struct digest){digest, 0};
}

/* The digest of a key of bytes, or of an integer. */
static inline struct digest filter_digest(const perhaps *f, const void *key, size_t length) {
    if (__builtin_expect(!f->two_words, 1)) return one_word(hash_bytes(&f->hash, key, length));
    uint64_t words[2];
    hash_two_words(&f->hash, key, length, words);
    return (struct digest){words[0], words[1]};
}

struct digest filter_digest_u64_other(const perhaps *f, uint64_t key); /* hashed otherwise than with xxh3 */

static inline struct digest filter_digest_u64(const perhaps *f, uint64_t key) {
    return f->hash.id == PERHAPS_XXH3 ? one_word(hash_u64_xxh3(&f->hash, key)) : filter_digest_u64_other(f, key);
}

/* How many answers are 1. Sums of bytes, which cannot overflow in a part, are what compilers make vector code of. */
static inline uint64_t count_ones(const uint8_t *answers, size_t n) {
    enum { PART = 240 };
    uint64_t sum = 0;
    for (size_t from = 0; from < n; from += PART) {
        size_t some = n - from < PART ? n - from : PART;
        uint8_t part = 0;
        for (size_t i = from; i < from + some; i++) part = (uint8_t)(part + answers[i]);
        sum += part;
    }
    return sum;
}

/* For filters that are not CHANGEABLE: refuses, or marks the mapped file dirty. */
int filter_unlock(perhaps *f);

/* Called before each change. */
static inline int filter_prepare_change(perhaps *f) {
    return __builtin_expect(f->state == CHANGEABLE, 1) ? PERHAPS_OK : filter_unlock(f);
}

/* A static filter that still collects keys cannot be asked, copied or compared. */
int filter_unsealed(void);

/* And one that is sealed cannot be changed. */
int filter_sealed(void);

int filter_read_only(const perhaps *f);

static inline int filter_is_sealed(const perhaps *f) {
    return __builtin_expect(!f->bins, 1) ? PERHAPS_OK : filter_unsealed();
}

/* PERHAPS_ECANNOT: "NAME filters cannot WHAT", and which kinds can. */
int filter_cannot(const perhaps *f, const char *what);

/* Keys of bytes are not for kinds of integers; digests are for kinds whose digests are one word. */
static inline int filter_takes_bytes(const perhaps *f) {
    if (__builtin_expect(f->hash.id != PERHAPS_IDENTITY, 1)) return PERHAPS_OK;
    return filter_cannot(f, "take keys of bytes, only integers");
}

static inline int filter_takes_digests(const perhaps *f) {
    if (__builtin_expect(!f->two_words, 1)) return PERHAPS_OK;
    return filter_cannot(f, "take digests of 64 bits, only keys");
}

/* Counts keys added, or taken out. The digest picks a tally, so that it need not be that of any of the keys. */
void filter_tally(perhaps *f, uint64_t digest, uint64_t change);

static inline void filter_count_added(perhaps *f, uint64_t digest, uint64_t added) {
    if (__builtin_expect(f->items_in == ITEMS_IN_HEADER, 1))
        f->header.items += added;
    else
        filter_tally(f, digest, added);
}

static inline void filter_count_removed(perhaps *f, uint64_t digest, uint64_t removed) {
    if (__builtin_expect(f->items_in == ITEMS_IN_HEADER, 1))
        f->header.items -= removed < f->header.items ? removed : f->header.items;
    else
        filter_tally(f, digest, 0 - removed);
}

/* Adds a key and counts it, growing as needed: 1, 0, or an error. */
int filter_add(perhaps *f, struct digest digest);

/* What became of a batch. */
struct added {
    size_t done;    /* keys that were added, */
    uint64_t fresh; /* and how many of them were new */
};

/* Adds keys and counts them, growing as needed. *added also tells what was done before a failure. */
int filter_add_many(perhaps *f, const uint64_t *digests, size_t n, uint8_t *answers, const char *ahead,
                    struct added *added);

/* Takes out those of n keys whose answer was "new", where the filter can. */
void filter_undo(perhaps *f, const uint64_t *digests, size_t n, const uint8_t *answers);

/* Gives a full filter an array with room for this digest, or says PERHAPS_EFULL. */
int filter_grow(perhaps *f, uint64_t digest);

/* The same with a layout from elsewhere, which `check` has accepted. */
int filter_grow_to(perhaps *f, const uint64_t layout[LAYOUT_WORDS], uint64_t capacity);

/* Gives a filter that may be changed the smaller array of this layout, with all that is in it. */
int filter_fold_to(perhaps *f, const uint64_t layout[LAYOUT_WORDS]);

/* Forgets every key of a filter that may be changed. */
void filter_clear(perhaps *f);

/* Sets the number of items, which are not those of an intersection; and sets it from the bits, when counting adds no
 * longer tells. */
void filter_set_items(perhaps *f, uint64_t items);
void filter_count_items(perhaps *f);

/* Different keys in a filter with an array, of whose bits this is the sight. */
struct sight;
double filter_distinct(const perhaps *f, const struct sight *sight);

/* ---- making and ending ---- */

/* A handle for a checked header, without an image or children. What is made from a filter goes on with its instruction set. */
int filter_handle(perhaps **made, const perhaps_allocator *allocator, const struct header *header,
                  const struct hash *hash, const enum isa *isa, bool shared);

/* Gives a new handle an image of its own; zero bytes if `zero`, else for the caller to fill. */
int filter_own_image(perhaps *f, bool zero);

/* A clone with another recipe. */
int filter_clone_with(const perhaps *f, struct recipe recipe, perhaps **copy);

/* Makes it work on this image. */
void filter_use_image(perhaps *f, uint8_t *image, enum state state);

/* For static kinds, once the array is there: checks its directory, and makes the guide to it. `name` is for messages. */
int filter_make_guide(perhaps *f, const char *name);
void filter_drop_guide(perhaps *f);

/* Makes an empty filter, without children. `isa` as in filter_handle. */
int filter_make(perhaps **made, const perhaps_allocator *allocator, const struct header *header,
                const struct hash *hash, const enum isa *isa, bool shared);

/* Gives a handle of a filter of filters a family without children, but with room for so many. */
int filter_start_family(perhaps *f, unsigned room);

/* Once all children are there: finds out what it can, and takes away the operations that they do not have. */
void filter_settle(perhaps *f);

/* Makes room for one more entry in family->child. */
int filter_family_room(perhaps *f);

/* Scratch memory of any content for a filter of filters, so many bytes or more, or NULL; and back. Any number of threads may do that. */
struct scratch *filter_take_scratch(const perhaps *f, uint64_t bytes);
void filter_leave_scratch(const perhaps *f, struct scratch *scratch);

/* Exchanges two filters that were made by cloning one. */
void filter_swap(perhaps *a, perhaps *b);

/* The hash that a header names. `given` is the caller's key, or NULL; `name` is for messages. */
int filter_hash(const char *name, const struct header *header, const uint8_t *given, struct hash *hash);

/* Whether one filter can be the child of another: NULL, or what is wrong. */
const char *filter_child_misfit(const struct header *parent, const struct header *child);

/* An image in memory has the key; whether files have it too is the owner's choice. */
void filter_keep_key(struct header *header, const struct hash *hash);

/* The options of a call that knows these flags; `theirs` may be NULL. */
int take_open_options(perhaps_open_options *options, const perhaps_open_options *theirs, unsigned allowed);

#endif
