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
 *   - a kind that may be full says so from `add`; if it can grow, it names the layout it wants, and gets a new array;
 *   - a static kind has a `solver`, which makes its array of all keys at once;
 *   - an array of zeros is an empty filter, but for static kinds.
 *
 * Filters of filters (src/combine/) have rows of the same struct. Their operations work on children, not on an array.
 */
#ifndef PERHAPS_KIND_KIND_H
#define PERHAPS_KIND_KIND_H

#include "base/cpu.h"
#include "perhaps_embed.h"

#include <limits.h>
#include <stdbool.h>

enum { LAYOUT_WORDS = 5 };

/* What a kind works on. `layout` is the shape in integers, as in the image's header; what each word means is the
 * kind's own affair, unused ones are zero. */
struct array {
    uint8_t *bytes;  /* little-endian words, at any alignment */
    uint64_t length; /* in bytes, as `check` gave it */
    uint64_t layout[LAYOUT_WORDS];
    const void *guide; /* static kinds: what `solver->guide` has made; else NULL */
    bool crowded;      /* one of many arrays that are used in turn: small as it is, it may not be in the cache */
    enum isa isa;      /* what the machine has, for work on the whole array */
};

/* An array that the second-level cache holds anyway need not be fetched into it. */
enum { NEAR_BYTES = 1 << 20 };
static inline bool is_near(const struct array *array) {
    return array->length <= NEAR_BYTES && !array->crowded;
}

/* A key, hashed. `second` is used only by kinds whose digests have two words; in batches digests are plain arrays of as
 * many words each. */
struct digest {
    uint64_t first, second;
};

/* All digests from one to another. */
struct span {
    uint64_t first, last;
};

enum { FULL = INT_MIN }; /* what `add` says when there is no room for the key, and nothing changed; no error number */

/* The operations on keys: one table for each instruction set, all giving the same bits and the same answers. Batches
 * are the same calls in order. */
struct kind_ops {
    int (*add)(struct array *array, struct digest digest);            /* 1 new, 0 perhaps there, FULL */
    int (*contains)(const struct array *array, struct digest digest); /* 1 perhaps, 0 not */

    /* `answers` is never NULL. `ahead` is memory that is read after this batch (the next keys): a kind may prefetch a
     * cache line of it for every eight keys. add_many gives the number of keys done: n, or fewer if the next one found
     * no room. */
    size_t (*add_many)(struct array *array, const uint64_t *digests, size_t n, uint8_t *answers, const char *ahead);
    void (*contains_many)(const struct array *array, const uint64_t *digests, size_t n, uint8_t *answers,
                          const char *ahead);

    /* Prefetches what the calls on single keys look at, for batches that are made of those. */
    void (*prefetch)(const struct array *array, struct digest digest);

    /* NULL for kinds that cannot. */
    int (*remove)(struct array *array, struct digest digest);           /* 1 one copy removed, 0 not there */
    uint64_t (*count)(const struct array *array, struct digest digest); /* copies */

    const struct batch_ops *batch; /* NULL if it has none */
};

/* The operations that every kind has, in a table. */
#define BASIC_OPS(add_name, contains_name, add_many_name, contains_many_name, prefetch_name)                           \
    .add = (add_name), .contains = (contains_name), .add_many = (add_many_name),                                       \
    .contains_many = (contains_many_name), .prefetch = (prefetch_name)

/* Faster ways for layouts in which a key's home position is monotone in its digest. Any of them may be NULL. */
enum { ARRAYS_AT_ONCE = 4 };
struct batch_ops {
    /* add_many for multisets. There are no answers, as all keys are new. Unless `next` is NULL, the memory of these keys
     * is taken to be in the cache, and that of the span is prefetched meanwhile. */
    size_t (*add_partition)(struct array *array, const uint64_t *digests, size_t n, const struct span *next);

    /* Whether any of several arrays has the key, all of them with this very operation. `next` as above. */
    void (*contains_any)(const struct array *const arrays[ARRAYS_AT_ONCE], const uint64_t *digests, size_t n,
                         uint8_t *answers, const struct span *next);

    /* The number of the cache line, where all of a key is in one: monotone in the digest. Threads can then share a filter
     * by ranges of lines, with plain operations. */
    uint64_t (*cache_line)(const struct array *array, uint64_t digest);

    /* `contains` of the digest that mix64 makes of this: one call less for a single integer key. */
    int (*contains_unmixed)(const struct array *array, uint64_t key);
};

struct kind;
struct model;  /* plan/plan.h: the false-positive rates of a kind's layouts */
struct format; /* foreign/format.h */
struct trace;  /* kind/trace.h */

/* A part of a static filter: what comes of solving it. */
enum { ENTRY_WORDS_MAX = 8 };
struct solution {
    uint64_t keys;                   /* different ones */
    uint64_t words;                  /* of data, which are at the beginning of the room */
    uint64_t entry[ENTRY_WORDS_MAX]; /* what the directory says of it, but for word PART_START */
};

/* How static kinds (kind/parts.h) make their arrays: build/ collects keys, cuts them into parts and puts the solved parts together. */
struct solver {
    unsigned entry_words; /* words of an entry of the directory */

    /* Writes what follows from the number of keys in a part into a layout that has the rest. */
    void (*settle)(uint64_t layout[LAYOUT_WORDS], uint64_t keys);

    /* Words of memory that solving a part of n keys takes. */
    uint64_t (*room)(const uint64_t layout[LAYOUT_WORDS], uint64_t n);

    /* Solves a part. Its n keys are in the order of their upper bits, up to 2^16 at a time in any order; some may be equal, and all
     * may be changed. False if there is no solution. */
    bool (*solve)(const uint64_t layout[LAYOUT_WORDS], enum isa isa, uint64_t *keys, uint64_t n, uint64_t *room,
                  struct solution *solution);

    /* The directory of an array, which may be hostile, as the operations use it: NULL, or what is wrong with it. They look at
     * nothing else of it afterwards, so that whoever changes the bytes later cannot make them leave the array. */
    uint64_t (*guide_bytes)(const uint64_t layout[LAYOUT_WORDS]);
    const char *(*guide)(const struct array *array, uint64_t items, void *guide);
};

/* How keys of this kind become digests. */
struct hashing {
    int hash;       /* what PERHAPS_HASH_DEFAULT means */
    unsigned words; /* of a digest: 1, or 2; a kind of two refuses the calls that take digests */
    bool own;       /* it takes no other hash, no other kind takes this one, and `seed` is its seed */
    uint64_t seed;
};

/* The words of a layout. */
struct layout_words {
    const char *name[LAYOUT_WORDS]; /* for messages about two that differ; NULL for unused words */
    unsigned may_differ;            /* set of bits: words in which two filters may differ and still combine */
};

/* Kinds that may be full, and can make room. */
struct growable {
    const char *full; /* half a sentence for the user */

    /* Writes a larger layout with room for this digest, and the number of keys it is for (unchanged if growth has
     * nothing to do with it); false if there is none. */
    bool (*grow)(const struct array *array, uint64_t digest, uint64_t layout[LAYOUT_WORDS], uint64_t *capacity);

    /* Fills a zeroed array of that layout; false if that has no room either, and a larger one is needed. */
    bool (*rehash)(struct array *into, const struct array *from);

    /* Writes the layout that a layer had before it grew; NULL for kinds that cannot be layers. */
    void (*ungrow)(uint64_t layout[LAYOUT_WORDS]);

    /* The first digest beyond the range of the array; NULL if every digest has a place. */
    uint64_t (*range)(const struct array *array);
};

/* What two filters can become. */
enum combination { COMBINE_MERGE, COMBINE_INTERSECT, COMBINE_SUBTRACT, COMBINE_DIFFER, COMBINATIONS };

struct combinable {
    /* into = into combined with from; NULL for what it cannot. False: no room, `into` must grow first; a kind that
     * `reinserts` has then left it half-changed, others as it was. */
    bool (*combine[COMBINATIONS])(struct array *into, const struct array *from);
    bool reinserts;
};

/* Kinds whose arrays can become smaller with all that is in them. Either may be NULL. */
struct shrinkable {
    /* Moves keys together, and writes the layout of what is then in use and the number of keys it is for. */
    void (*compact)(struct array *array, uint64_t layout[LAYOUT_WORDS], uint64_t *capacity);

    /* Makes the layout that of at most `bytes`; false if there is none. */
    bool (*fold)(uint64_t layout[LAYOUT_WORDS], uint64_t bytes);
    bool (*rehash)(struct array *into, const struct array *from); /* fills an array of that layout */
};

/* Kinds whose bytes come from another program, which may say more, or other things, than an image could. Both give NULL
 * or the reason why it is invalid; either may be NULL. Called on hostile bytes. */
struct foreign_checks {
    const char *(*check_facts)(uint64_t capacity, double fpr, uint64_t length);
    const char *(*check_array)(const struct array *array, uint64_t items); /* an array that counts its keys itself */
};

/* Composite filters: what is known of one without its children. The first word of a layout is the kind of the children,
 * the second how many there are. */
struct composite {
    /* Why it makes no sense over a kind, a sentence with one %s for the name of that kind; or NULL. */
    const char *(*refuses)(const struct kind *base);
    unsigned (*can)(const struct kind *base); /* what it can over that kind: set of enum perhaps_ability */
    bool key_in_one_child;                    /* all of a key is in one child; else a query may look at all of them */
    bool has_layers;                          /* children are layers: the newest takes the keys */
    const struct children_ops *ops;           /* core/children.h: its work on children */
};

struct kind {
    struct perhaps_kind_row row; /* number, abilities, name, summary */
    struct hashing hashing;
    struct layout_words words;

    /* The payload's length for a layout; or 0 and a reason in words, when the layout is not one that this kind could
     * have made. Called on hostile headers: it must accept nothing that could make an operation leave the array. */
    uint64_t (*payload_bytes)(const uint64_t layout[LAYOUT_WORDS], const char **reason);

    /* The operations for a layout that payload_bytes accepted, on a machine with that instruction set. If `shared`,
     * those that several threads may call at the same time, on an array aligned to eight bytes; `lock_free` kinds. */
    const struct kind_ops *(*ops)(const uint64_t layout[LAYOUT_WORDS], enum isa isa, bool shared);
    bool lock_free;
    bool sparse; /* untouched parts of the array cost no memory and no disk */

    /* NULL where it has none. */
    const struct model *model; /* all but composite filters have one */
    const struct growable *growable;
    const struct combinable *combinable;
    const struct shrinkable *shrinkable;
    const struct solver *solver; /* static kinds: their operations are for sealed filters, and do not add */
    const struct format *format; /* files of other programs */
    const struct foreign_checks *foreign;
    const struct composite *composite;

    /* Lists the members: the next digest at or after position *at, which moves on; false at the end. */
    bool (*next)(const struct array *array, uint64_t *at, uint64_t *digest);

    /* Explains an add or a query without changing the array, and answers as it would. If an add is FULL,
     * the step of the answer is left to the caller, trace_filter (composite/composite_trace.h). */
    int (*trace)(const struct array *array, struct digest digest, bool adding, struct trace *trace);
};

/* The words of the layout of a filter of filters: of all of them, of growing ones, and of windows. */
enum { BASE, CHILDREN, GROWTH = 2, MAX_BYTES, SIBLINGS, QUOTA = 2, PERIOD, CLEAR_AT, GENERATIONS = CLEAR_AT };
enum { GROWTH_ONE = 256 };                /* what a growth of 1 is in word GROWTH */
enum { RULED_GROWTH_MAX = 32768 };        /* the growth of filters that another program makes: whole numbers only */
enum { LAYERS_MAX = PERHAPS_LAYERS_MAX }; /* of a growing filter */
enum { GENERATIONS_MAX = 64 };            /* of a window, as planned; see combine/window.c */
#define CLEAR_AT_ONE (UINT64_C(1) << 32)  /* what a share of 1 is in word CLEAR_AT */

/* A layer's capacity makes the next one's size. Without a limit, a small image from a stranger could make a filter take all the
 * memory there is with the next key. Even a layer that says "perhaps" 999 times of 1000 has not so many keys to a byte. */
enum { KEYS_PER_BYTE_MAX = 4096 };

/* Merge and intersection of kinds that are nothing but bits, in whole words; and of those that only merge so. */
extern const struct combinable combinable_bits, combinable_bits_merge;

/* What two arrays become; NULL if this kind cannot. */
static inline bool (*kind_combine(const struct kind *kind, enum combination what))(struct array *,
                                                                                   const struct array *) {
    return kind->combinable ? kind->combinable->combine[what] : NULL;
}

/* The table of kinds, without filters of filters and filters of other programs. */
extern const struct kind *const kinds[];
extern const size_t kind_count;

/* Those of other programs that have files of their own. */
extern const struct kind *const file_kinds[];
extern const size_t file_kind_count;

/* By number; NULL if there is none. Filters of filters and of other programs are found too. */
const struct kind *kind_find(int id);

/* The kind that says how keys are hashed: of a filter of filters, it is that of its children. */
const struct kind *kind_of_keys(const struct kind *kind, const uint64_t layout[LAYOUT_WORDS]);

/* Whether filters of that kind have keys hashed so. */
bool kind_takes_hash(const struct kind *kind, int hash);

/* Whether several threads can add to a filter of that kind: without locks, or with one for each child. */
static inline bool kind_takes_threads(const struct kind *kind) {
    return kind->lock_free || (kind->composite && kind->composite->key_in_one_child);
}

extern const struct kind kind_bloom, kind_blocked, kind_counting, kind_cuckoo, kind_table, kind_bitmap;
extern const struct kind kind_fuse, kind_ribbon;
extern const struct kind kind_growing, kind_window, kind_sharded;
extern const struct kind kind_redis_bloom, kind_redis_cuckoo;
extern const struct kind kind_guava, kind_dcso, kind_parquet, kind_spark;

#endif
