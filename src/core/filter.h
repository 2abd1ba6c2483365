/*
 * The handle of a filter: a header (its facts), an array (what its kind works on) and an image (the bytes of both in one
 * piece). This file owns it: how it is made, changed, copied, grown and freed.
 *
 * A filter is in one of these states, and changes between them only along the arrows:
 *
 *     create (static kind) ──▶ COLLECTING ──seal──▶ SEALED ──clear──▶ COLLECTING
 *
 *     create, clone, open a copy ──▶ OWNED          any state ──clone──▶ OWNED (SEALED if static)
 *
 *     open bytes ──▶ BORROWED                       open bytes to write ──▶ BORROWED, changeable
 *
 *     open a file ──▶ MAPPED                        open a file to write ──▶ MAPPED CLEAN
 *                                                   MAPPED CLEAN ──first change──▶ MAPPED DIRTY ──sync──▶ MAPPED CLEAN
 *
 *     create, open with grow, window, shards ──▶ COMPOSITE: each child is in one of the states above
 *
 *     state          state field           owned   file.fd   bins    children
 *     collecting     CHANGEABLE            yes     -1        bins    NULL     no array yet
 *     sealed         any but CLEAN_MAP     *       *         NULL    NULL     kind->solver; its operations do not add
 *     owned          CHANGEABLE            yes     -1        NULL    NULL
 *     borrowed       READ_ONLY, CHANGEABLE no      -1        NULL    NULL
 *     mapped         READ_ONLY             no      >= 0      NULL    NULL
 *     mapped clean   CLEAN_MAP             no      >= 0      NULL    NULL
 *     mapped dirty   CHANGEABLE            no      >= 0      NULL    NULL     the file's dirty flag is on disk
 *     composite      READ_ONLY if mapped   yes     *         NULL    children   has no array and no image
 *                    or borrowed, else
 *                    CHANGEABLE
 *
 * Only what is owned can grow. A failed call leaves the state as it was.
 */
#ifndef PERHAPS_CORE_FILTER_H
#define PERHAPS_CORE_FILTER_H

#include "base/file.h"
#include "base/sized.h"
#include "base/threads.h"
#include "core/hash.h"
#include "image/directory.h"
#include "image/header.h"
#include "kind/kind.h"
#include "static/bins.h"

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
    ITEMS_IN_TALLIES, /* of a filter that threads share: the header's and all tallies together */
    ITEMS_IN_CHILDREN
};

/* A counter on a cache line of its own. There are TALLIES of them, so that two threads seldom want the same. */
enum { TALLIES = 32 };
struct tally {
    uint64_t items; /* may have wrapped around; only the sum means something */
    uint8_t rest_of_line[56];
};

/* The operations of composite and collecting filters get a pointer to `array`, and find the filter by it: see
 * filter_of. */
struct perhaps {
    struct array array;
    struct kind_ops ops;
    int (*contains_unmixed)(const struct array *array, uint64_t key); /* of ops.batch, where keys are hashed so */
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
    bool owned;       /* the image, or the children, is memory of this filter's allocator */
    struct file file; /* the mapped file; fd -1 if there is none */
    struct tally *tallies;
    struct children *children; /* core/children.h; NULL unless it is a composite filter */
    struct bins *bins;         /* NULL unless it is a static filter that still collects keys; it has no array then */
    uint8_t *tail; /* what follows the array in a file of another program: in the map, or memory of its own; or NULL */
    uint64_t tail_length;
    perhaps_allocator allocator;
};

/* The filter of an array that is not the array of a plain filter. */
_Static_assert(offsetof(struct perhaps, array) == 0, "a pointer to a filter's array is one to the filter");
static inline perhaps *filter_of(struct array *array) {
    return (perhaps *)array;
}

static inline const perhaps *filter_of_const(const struct array *array) {
    return (const perhaps *)array;
}

/* ---- facts ---- */

/* batch_ops.cache_line, or NULL. */
static inline uint64_t (*filter_cache_line(const perhaps *f))(const struct array *array, uint64_t digest) {
    return f->ops.batch ? f->ops.batch->cache_line : NULL;
}

/* What this very filter can: set of enum perhaps_ability. */
unsigned filter_can(const perhaps *f);

/* Whether an array may be full, so that a key finds no room. */
bool filter_may_be_full(const perhaps *f);

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
struct measures;
double filter_distinct(const perhaps *f, const struct measures *sight);

/* ---- making and ending ---- */

/* A handle for a checked header, without an image or children. What is made from a filter goes on with its instruction set. */
int filter_handle(perhaps **made, const perhaps_allocator *allocator, const struct header *header,
                  const struct hash *hash, const enum isa *isa, bool shared);

/* Gives a new handle an image of its own; zero bytes if `zero`, else for the caller to fill. */
int filter_own_image(perhaps *f, bool zero);

/* A copy in memory of its own, of the same allocator; with another recipe. */
int filter_clone(const perhaps *f, perhaps **copy);
int filter_clone_with(const perhaps *f, struct recipe recipe, perhaps **copy);

/* Makes it work on this image. */
void filter_use_image(perhaps *f, uint8_t *image, enum state state);

/* For static kinds, once the array is there: checks its directory, and makes the guide to it. `name` is for messages. */
int filter_make_guide(perhaps *f, const char *name);
void filter_drop_guide(perhaps *f);

/* Makes an empty filter, without children. `isa` as in filter_handle. */
int filter_make(perhaps **made, const perhaps_allocator *allocator, const struct header *header,
                const struct hash *hash, const enum isa *isa, bool shared);

/* NULL is fine. */
void filter_free(perhaps *f);

/* Exchanges two filters of one allocator. */
void filter_swap(perhaps *a, perhaps *b);

/* The hash that a header names. `given` is the caller's key, or NULL; `name` is for messages. */
int filter_hash(const char *name, const struct header *header, const uint8_t *given, struct hash *hash);

/* An image in memory has the key; whether files have it too is the owner's choice. */
void filter_keep_key(struct header *header, const struct hash *hash);

#endif
