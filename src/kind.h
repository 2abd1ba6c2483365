/*
 * What a kind of filter is: pure arithmetic on one array.
 *
 * A kind never allocates, never does I/O, reads no clock and no global. It gets digests, never keys. perhaps.c and
 * lifetime.c do the rest: they hash the keys, count the items, allocate the array and map the file. Everything a kind is stands in
 * one struct kind; everything the library has stands in one table (kind.c), which the conformance suite, the command
 * line, the benchmark and the documentation loop over.
 *
 * The struct has room for kinds of every sort without a special case in perhaps.c:
 *   - a digest has one word, or two where a foreign format needs them, and the row names the hash that makes it;
 *   - an operation that a kind lacks is NULL, and the row's `can` says so to the outside;
 *   - a multiset is a kind whose row can PERHAPS_COUNT: its `add` stores a copy every time;
 *   - a kind that grows, is sealed or has children changes its array only through calls of perhaps.c, which owns it.
 */
#ifndef PERHAPS_KIND_H
#define PERHAPS_KIND_H

#include "base/cpu.h"
#include "perhaps.h"

enum { LAYOUT_WORDS = 5 };

/* What a kind works on. `layout` is the shape in integers, as in the image's header; what each word means is the
 * kind's own affair, unused ones are zero. */
struct array {
    uint8_t *bytes;  /* little-endian words, at any alignment */
    uint64_t length; /* in bytes, as `check` gave it */
    uint64_t layout[LAYOUT_WORDS];
};

/* A key, hashed. `second` is used only by kinds whose digests have two words; in batches digests are plain arrays of as
 * many words each. */
struct digest {
    uint64_t first, second;
};

/* The operations with a tight loop: one set for each instruction set, all giving the same bits and the same answers.
 * `answers` is never NULL. `ahead` is memory that will be read after this batch (the keys of the next one): a kind may
 * fetch a line of it for every eight keys, so that the stream of keys does not stall. */
struct kind_ops {
    int (*add)(struct array *array, struct digest digest);            /* 1 new, 0 perhaps there */
    int (*contains)(const struct array *array, struct digest digest); /* 1 perhaps, 0 not */
    void (*add_many)(struct array *array, const uint64_t *digests, size_t n, uint8_t *answers, const char *ahead);
    void (*contains_many)(const struct array *array, const uint64_t *digests, size_t n, uint8_t *answers,
                          const char *ahead);
};

struct model; /* plan.h: what rates a layout has */

struct kind {
    struct perhaps_kind_row row; /* number, name, abilities */
    unsigned digest_words;       /* 1, or 2: then the calls that take digests refuse it */
    int hash;                    /* what PERHAPS_HASH_DEFAULT means */

    /* The payload's length for a layout; or 0 and a reason in words, when the layout is not one this kind could have
     * made. Called on hostile headers: it must accept nothing that could make an operation leave the array. */
    uint64_t (*check)(const uint64_t layout[LAYOUT_WORDS], const char **reason);

    /* Names of the layout's words, for messages about two that differ; NULL for unused ones. */
    const char *layout_names[LAYOUT_WORDS];

    /* The operations for a layout that `check` accepted, on a machine with that instruction set. */
    const struct kind_ops *(*ops)(const uint64_t layout[LAYOUT_WORDS], enum isa isa);

    void (*merge)(struct array *into, const struct array *from);     /* equal layouts */
    void (*intersect)(struct array *into, const struct array *from); /* equal layouts */

    const struct model *model;
};

/* The table of kinds. */
extern const struct kind *const kinds[];
extern const size_t kind_count;

/* By number; NULL if there is none. */
const struct kind *kind_find(int id);

extern const struct kind kind_bloom, kind_blocked;

#endif
