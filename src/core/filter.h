/*
 * The handle of a filter: a header (its facts), an array (what its kind works on) and an image (the
 * bytes of both). This module makes, changes, copies, grows and frees it.
 *
 * A filter is in one of these states:
 *
 *     create (static kind) ──▶ COLLECTING ──seal──▶ SEALED ──clear──▶ COLLECTING
 *
 *     create, clone, open a copy ──▶ OWNED      any but COLLECTING ──clone──▶ OWNED or SEALED
 *
 *     open bytes ──▶ BORROWED                   open bytes to write ──▶ BORROWED, changeable
 *
 *     open a file ──▶ MAPPED                    open a file to write ──▶ MAPPED CLEAN
 *
 *     MAPPED CLEAN ──first call that could change it──▶ MAPPED DIRTY ──sync──▶ MAPPED CLEAN
 *
 *     create, open with grow, window, shards ──▶ COMPOSITE: each child is in a state above
 *
 *     OWNED ──grow_layers──▶ COMPOSITE, with it as the only child ──ungrow_layers──▶ OWNED
 *
 *     open a dirty file to recover it ──▶ MAPPED, or to write ──▶ MAPPED DIRTY; items are estimated
 *
 *     state          state field           owned   file.fd   bins    children
 *     collecting     CHANGEABLE            yes     -1        bins    NULL       no array yet
 *     sealed         any but CLEAN_MAP     *       *         NULL    NULL       static kinds only
 *     owned          CHANGEABLE            yes     -1        NULL    NULL
 *     borrowed       READ_ONLY, CHANGEABLE no      -1        NULL    NULL
 *     mapped         READ_ONLY             no      >= 0      NULL    NULL
 *     mapped clean   CLEAN_MAP             no      >= 0      NULL    NULL
 *     mapped dirty   CHANGEABLE            no      >= 0      NULL    NULL       dirty flag on disk
 *     composite      READ_ONLY if mapped   yes     *         NULL    children   no array, no image
 *                    or borrowed, else
 *                    CHANGEABLE
 *
 * Only what is owned can grow. A failed call leaves the state as it was, except that a mapped file
 * may be dirty: it is marked before an operation runs, whatever that answers.
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

enum state {
    CHANGEABLE,
    CLEAN_MAP, /* a file mapped for changing, not marked dirty yet */
    READ_ONLY
};

/* Where the number of items is kept up to date. */
enum items_in {
    ITEMS_IN_HEADER,
    ITEMS_IN_TALLIES, /* shared filters: the sum of the header's and all tallies */
    ITEMS_IN_CHILDREN
};

/* A counter that fills a cache line. With TALLIES of them, two threads seldom use the same. */
enum { TALLIES = 32 };
struct tally {
    uint64_t items; /* may wrap around; only the sum is meaningful */
    uint8_t to_line_end[56];
};

/* Composite and collecting filters get a pointer to `array` as every kind does: see filter_of. */
struct perhaps {
    struct array array;
    struct kind_ops ops;
    int (*contains_unmixed)(const struct array *array, uint64_t key); /* xxh3 only; or NULL */
    struct hash hash;
    enum state state;
    enum items_in items_in;
    bool shared;    /* several threads may change it at the same time */
    bool two_words; /* digests have two words */
    bool guessed;   /* a foreign file did not state its capacity: plan_guess did */
    bool owned;     /* image or children are memory of this filter's allocator */
    enum isa isa;
    const struct kind *kind;
    struct header header; /* items: see items_in; flags are those of the image in memory */
    uint8_t *image;
    struct file file; /* the mapped file; fd -1 if there is none */
    struct tally *tallies;
    struct children *children; /* core/children.h; NULL unless composite */
    struct bins *bins;         /* NULL unless collecting; it has no array then */
    uint8_t *tail;             /* what follows a foreign array, mapped or owned; or NULL */
    uint64_t tail_length;
    perhaps_allocator allocator;
};

/* The filter that an operation of a composite or collecting filter was called on. */
_Static_assert(offsetof(struct perhaps, array) == 0, "a pointer to a filter's array is one to the filter");
static inline perhaps *filter_of(struct array *array) {
    return (perhaps *)array;
}

static inline const perhaps *filter_of_const(const struct array *array) {
    return (const perhaps *)array;
}

/* ---- facts ---- */

static inline uint64_t (*filter_cache_line(const perhaps *f))(const struct array *array, uint64_t digest) {
    return f->ops.batch ? f->ops.batch->cache_line : NULL;
}

/* Set of enum perhaps_ability. */
unsigned filter_can(const perhaps *f);

/* Whether an add may find no room. */
bool filter_may_be_full(const perhaps *f);

uint64_t filter_items(const perhaps *f);

/* Keys it is for; of children that grow, the sum. */
uint64_t filter_capacity(const perhaps *f);

uint64_t filter_bytes(const perhaps *f);       /* of the arrays */
uint64_t filter_image_bytes(const perhaps *f); /* of the whole image */

/* The header for an image, up to date. For a file, without the secret key unless the owner wants it
 * there. */
struct header filter_header(const perhaps *f, bool for_file);

/* ---- changing ---- */

static inline struct digest one_word(uint64_t digest) {
    return (struct digest){digest, 0};
}

static inline struct digest filter_digest(const perhaps *f, const void *key, size_t length) {
    if (__builtin_expect(!f->two_words, 1)) return one_word(hash_bytes(&f->hash, key, length));
    uint64_t words[2];
    hash_two_words(&f->hash, key, length, words);
    return (struct digest){words[0], words[1]};
}

struct digest filter_digest_u64_other(const perhaps *f, uint64_t key); /* hashes other than xxh3 */

static inline struct digest filter_digest_u64(const perhaps *f, uint64_t key) {
    return f->hash.id == PERHAPS_XXH3 ? one_word(hash_u64_xxh3(&f->hash, key)) : filter_digest_u64_other(f, key);
}

/* Of a filter under xxh3 that is sealed or needs no sealing. */
static inline int filter_contains_u64(const perhaps *f, uint64_t key) {
    if (f->contains_unmixed) return f->contains_unmixed(&f->array, key ^ f->hash.stir);
    return f->ops.contains(&f->array, one_word(hash_u64_xxh3(&f->hash, key)));
}

/* How many answers are 1. Sums of bytes, which cannot overflow in a part, become vector code. */
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

/* Marks the mapped file dirty or clean, on disk. */
int filter_mark_file(perhaps *f, bool dirty);

/* For filters that are not CHANGEABLE: fails, or marks the mapped file dirty. */
int filter_begin_change(perhaps *f);

/* Called before each operation that may change the array. */
static inline int filter_prepare_change(perhaps *f) {
    return __builtin_expect(f->state == CHANGEABLE, 1) ? PERHAPS_OK : filter_begin_change(f);
}

/* The errors PERHAPS_EUNSEALED, ESEALED, EREADONLY, and ECANNOT: "NAME filters cannot WHAT". */
int fail_unsealed(void);
int fail_sealed(void);
int filter_read_only(const perhaps *f);
int filter_cannot(const perhaps *f, const char *what);

static inline int filter_check_sealed(const perhaps *f) {
    return __builtin_expect(!f->bins, 1) ? PERHAPS_OK : fail_unsealed();
}

static inline int filter_takes_bytes(const perhaps *f) {
    if (__builtin_expect(f->hash.id != PERHAPS_IDENTITY, 1)) return PERHAPS_OK;
    return filter_cannot(f, "take keys of bytes, only integers");
}

static inline int filter_takes_digests(const perhaps *f) {
    if (__builtin_expect(!f->two_words, 1)) return PERHAPS_OK;
    return filter_cannot(f, "take digests of 64 bits, only keys");
}

/* Counts keys added or removed. The digest only picks a tally: any value is right. */
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

struct added {
    size_t done;    /* keys that were added */
    uint64_t fresh; /* keys among them that were new */
};

/* Adds keys and counts them, growing as needed. *added is valid after a failure too. */
int filter_add_many(perhaps *f, const uint64_t *digests, size_t n, uint8_t *answers, const char *ahead,
                    struct added *added);

/* Removes those of n keys whose answer was "new", where the filter can; all if `answers` is
 * NULL. */
void filter_undo(perhaps *f, const uint64_t *digests, size_t n, const uint8_t *answers);

/* Gives a full filter an array with room for this digest, or fails with PERHAPS_EFULL. */
int filter_grow(perhaps *f, uint64_t digest);

/* The same with a layout that payload_bytes has accepted. */
int filter_grow_to(perhaps *f, const uint64_t layout[LAYOUT_WORDS], uint64_t capacity);

/* Folds the filter into the smaller array of this layout. */
int filter_fold_to(perhaps *f, const uint64_t layout[LAYOUT_WORDS]);

void filter_clear(perhaps *f);

/* Sets the number of items, and clears HEADER_INTERSECTED; to an estimate from the bits. */
void filter_set_items(perhaps *f, uint64_t items);
void filter_count_items(perhaps *f);

/* Different keys in a filter with an array that has these measures. */
struct measures;
double filter_distinct(const perhaps *f, const struct measures *measures);

/* ---- making and freeing ---- */

/* A handle for a checked header, without an image or children. `isa` NULL: the machine's best. */
int filter_handle(perhaps **made, const perhaps_allocator *allocator, const struct header *header,
                  const struct hash *hash, const enum isa *isa, bool shared);

/* Allocates the image of a new handle; uninitialised unless `zero`. */
int filter_own_image(perhaps *f, bool zero);

/* A copy with the same allocator; with another recipe. */
int filter_clone(const perhaps *f, perhaps **copy);
int filter_clone_with(const perhaps *f, struct recipe recipe, perhaps **copy);

/* Makes it work on this image. */
void filter_use_image(perhaps *f, uint8_t *image, enum state state);

/* Takes over a mapped file. */
void filter_take_file(perhaps *f, struct file *file);

/* For static kinds, once the array is there: checks its directory, and makes the guide to it.
 * `name` is for messages, here and below. */
int filter_make_guide(perhaps *f, const char *name);
void filter_drop_guide(perhaps *f);

/* Makes an empty filter, without children. `isa` as in filter_handle. */
int filter_make(perhaps **made, const perhaps_allocator *allocator, const struct header *header,
                const struct hash *hash, const enum isa *isa, bool shared);

/* Takes NULL. */
void filter_free(perhaps *f);

/* The end of a call that makes a filter: frees f if rc is an error, else *made = f. Returns rc. */
int filter_finish(perhaps **made, perhaps *f, int rc);

/* Exchanges two filters of the same allocator. */
void filter_swap(perhaps *a, perhaps *b);

/* The hash that a header names. `given` is the caller's secret key, or NULL. */
int filter_hash(const char *name, const struct header *header, const uint8_t *given, struct hash *hash);

/* Puts the secret key into the header: images in memory have it, files if the owner wants it. */
void filter_keep_key(struct header *header, const struct hash *hash);

#endif
