/*
 * What a kind of filter is: pure arithmetic on one array.
 *
 * A kind never allocates, never does I/O, reads no clock and no global. It gets digests, never
 * keys. api/ and core/ do the rest: they hash keys, count items, allocate arrays and map files. A
 * kind is one struct kind, in a table of registry.c: kinds, composites, foreign kinds, and foreign
 * kinds that have files. The conformance suite, the command line, the benchmark and the
 * documentation loop over kinds and files.
 *
 * Kinds differ only in what is in the struct:
 *   - a digest has one word, or two where a foreign format needs them; `hashing` names the hash;
 *   - an operation that a kind lacks is NULL, and the row's `can` tells users so;
 *   - a multiset is a kind that can PERHAPS_COUNT: its `add` stores a copy every time;
 *   - a kind that may be full returns FULL from `add`; if it can grow, it names the next layout,
 *     and gets a new array;
 *   - a static kind has a `solver`, which builds its array from all keys at once;
 *   - an array of zeros is an empty filter, except in static kinds.
 *
 * Composite filters (src/composite/) have the same struct. Their operations work on children.
 */
#ifndef PERHAPS_KIND_KIND_H
#define PERHAPS_KIND_KIND_H

#include "base/cpu.h"
#include "perhaps_embed.h"

#include <limits.h>
#include <stdbool.h>

enum { LAYOUT_WORDS = 5, DERIVED_WORDS = 8 };

/* What adds, removes, combines, plans, builds or explains, as a field of a kind. The query-only
 * module of bindings/wasm leaves it out; the compiler then drops the functions. */
#ifdef PERHAPS_QUERY_ONLY
#define BEYOND_QUERIES(...) NULL
#else
#define BEYOND_QUERIES(...) (__VA_ARGS__)
#endif

/* What a kind works on. `layout` is the shape in integers, as in the image's header. The kind says
 * what each word means; unused ones are zero. */
struct array {
    uint8_t *bytes;  /* little-endian words, at any alignment */
    uint64_t length; /* bytes, from payload_bytes */
    uint64_t layout[LAYOUT_WORDS];
    uint64_t derived[DERIVED_WORDS]; /* from the layout, by `derive` */
    const void *guide;               /* made by solver->guide, else NULL */
    uint64_t near_bytes;             /* longer arrays do not stay in the second-level cache */
    enum isa isa;                    /* for work on the whole array */
};

/* An array in the second-level cache is not prefetched from memory. */
static inline bool is_near(const struct array *array) {
    return array->length <= array->near_bytes;
}

/* A hashed key. `second` is for kinds whose digests have two words; batches are arrays of one or
 * two words for each key. */
struct digest {
    uint64_t first, second;
};

/* The digests first..last. */
struct span {
    uint64_t first, last;
};

enum { FULL = INT_MIN }; /* from `add`: no room for the key, nothing changed. Not an error number */

/* The operations on keys: one table for each instruction set, with the same bits and answers. A
 * batch is the same as single calls in order. */
struct kind_ops {
    int (*add)(struct array *array, struct digest digest);            /* 1 new, 0 known, FULL */
    int (*contains)(const struct array *array, struct digest digest); /* 1 perhaps, 0 not */

    /* `answers` is never NULL. `ahead` is memory that is read after this batch (the next keys): a
     * kind may prefetch a cache line of it for every eight keys. add_many gives the number of keys
     * done: n, or fewer if the next one found no room. */
    size_t (*add_many)(struct array *array, const uint64_t *digests, size_t n, uint8_t *answers, const char *ahead);
    void (*contains_many)(const struct array *array, const uint64_t *digests, size_t n, uint8_t *answers,
                          const char *ahead);

    /* Prefetches what the single operations read, for batches made of them. */
    void (*prefetch)(const struct array *array, struct digest digest);

    /* NULL for kinds that cannot. */
    int (*remove)(struct array *array, struct digest digest);           /* 1 removed, 0 not there */
    uint64_t (*count)(const struct array *array, struct digest digest); /* copies */

    const struct batch_ops *batch; /* NULL if it has none */
};

/* The operations that every kind has, in a table. */
#define BASIC_OPS(add_name, contains_name, add_many_name, contains_many_name, prefetch_name)                           \
    .add = BEYOND_QUERIES(add_name), .contains = (contains_name), .add_many = BEYOND_QUERIES(add_many_name),           \
    .contains_many = (contains_many_name), .prefetch = (prefetch_name)

/* Faster ways for layouts in which a key's home position is monotone in its digest. Any of them may
 * be NULL. */
enum { ARRAYS_AT_ONCE = 4 };
struct batch_ops {
    /* add_many for multisets. There are no answers: all keys are new. If `next` is not NULL, the
     * memory of these keys is in the cache, and that of the span is prefetched meanwhile. */
    size_t (*add_partition)(struct array *array, const uint64_t *digests, size_t n, const struct span *next);

    /* Whether any of several arrays has the key; all have this operation. `next` as above. */
    void (*contains_any)(const struct array *const arrays[ARRAYS_AT_ONCE], const uint64_t *digests, size_t n,
                         uint8_t *answers, const struct span *next);

    /* The number of the cache line, where all of a key is in one: monotone in the digest. Threads
     * can then share a filter by ranges of cache lines, with plain operations. */
    uint64_t (*cache_line)(const struct array *array, uint64_t digest);

    /* contains(mix64(key)): saves a call for a single integer key. */
    int (*contains_unmixed)(const struct array *array, uint64_t key);
};

struct kind;
struct model;  /* plan/plan.h: the false-positive rates of a kind's layouts */
struct format; /* foreign/format.h */
struct trace;  /* kind/trace.h */
struct perhaps_view;

/* A solved part of a static filter. */
enum { ENTRY_WORDS_MAX = 8 };
struct solution {
    uint64_t keys;                   /* different keys */
    uint64_t words;                  /* of data, at the beginning of the room */
    uint64_t entry[ENTRY_WORDS_MAX]; /* of the directory, without word PART_START */
};

/* How static kinds (static/parts.h) build their arrays: static/ collects the keys, cuts them into
 * parts and assembles the solved parts. */
struct solver {
    unsigned entry_words; /* of an entry of the directory */

    /* Completes a layout with what follows from the number of keys in a part. */
    void (*settle)(uint64_t layout[LAYOUT_WORDS], uint64_t keys);

    /* Words of memory for solving a part of n keys. */
    uint64_t (*room)(const uint64_t layout[LAYOUT_WORDS], uint64_t n);

    /* Solves a part. Its n keys are ordered by their upper bits, with runs of up to 2^16 in any
     * order; some may be equal, and all may be changed. False if there is no solution. */
    bool (*solve)(const uint64_t layout[LAYOUT_WORDS], enum isa isa, uint64_t *keys, uint64_t n, uint64_t *room,
                  struct solution *solution);

    /* Explains what `solve` has just done with n keys, from what it left in its room; NULL if it
     * cannot. */
    void (*trace)(const uint64_t layout[LAYOUT_WORDS], const uint64_t *room, uint64_t n,
                  const struct solution *solution, struct trace *trace);

    /* Copies the directory of an array, which may be hostile, into the form that the operations
     * use: NULL, or the reason why it is invalid. They never read the directory afterwards: bytes
     * that change later cannot make them leave the array. */
    uint64_t (*guide_bytes)(const uint64_t layout[LAYOUT_WORDS]);
    const char *(*guide)(const struct array *array, uint64_t items, void *guide);
};

/* How keys of this kind become digests. */
struct hashing {
    int hash;       /* what PERHAPS_HASH_DEFAULT means for this kind */
    unsigned words; /* of a digest: 1 or 2; kinds of two take no digests from the caller */
    bool own;       /* it takes this hash only, with `seed`, and no other kind takes it */
    uint64_t seed;
};

struct layout_words {
    const char *name[LAYOUT_WORDS]; /* for messages; NULL for unused words */
    unsigned may_differ;            /* bit i: filters that differ in word i can still combine */
};

/* Kinds that may be full, and can make room. */
struct growable {
    const char *full; /* half a sentence for the user */

    /* Writes a larger layout with room for this digest, and the number of keys it is for (unchanged
     * if that stays the same); false if there is none. */
    bool (*grow)(const struct array *array, uint64_t digest, uint64_t layout[LAYOUT_WORDS], uint64_t *capacity);

    /* Fills a zeroed array of that layout; false if it is too small as well. */
    bool (*rehash)(struct array *into, const struct array *from);

    /* Puts the array in order after zeros were appended to its `length` bytes of the layout before;
     * NULL for kinds that do not grow at their end. */
    void (*extend)(struct array *array, uint64_t length);

    /* Writes the layout that a layer had before it grew; NULL for kinds that cannot be layers. */
    void (*ungrow)(uint64_t layout[LAYOUT_WORDS]);

    /* The first digest beyond the range of the array; NULL if every digest has a place. */
    uint64_t (*range)(const struct array *array);

    /* Writes the number of parts that it may grow to, up to LAYERS_MAX; NULL for kinds without
     * parts. */
    void (*set_parts)(uint64_t layout[LAYOUT_WORDS], unsigned parts);
    unsigned (*parts)(const struct array *array); /* with set_parts: how many it has */
};

enum combination { COMBINE_MERGE, COMBINE_INTERSECT, COMBINE_SUBTRACT, COMBINE_DIFFER, COMBINATIONS };

struct combinable {
    /* into = into combined with from; NULL if the kind cannot. False: no room, `into` must grow
     * first. A kind that `reinserts` has then half-changed it, others have not changed it. */
    bool (*combine[COMBINATIONS])(struct array *into, const struct array *from);
    bool reinserts;
};

/* Kinds whose arrays can become smaller and keep their keys. Either may be NULL. */
struct shrinkable {
    /* Moves keys together, and writes the layout of the part in use and the number of keys it is
     * for. */
    void (*compact)(struct array *array, uint64_t layout[LAYOUT_WORDS], uint64_t *capacity);

    /* Reduces the layout to at most `bytes`; false if it cannot. */
    bool (*fold)(uint64_t layout[LAYOUT_WORDS], uint64_t bytes);
    bool (*rehash)(struct array *into, const struct array *from); /* into that layout */
};

/* Foreign kinds: further checks of hostile bytes. Both give NULL, or the reason why they are
 * invalid; either may be NULL. */
struct foreign_checks {
    const char *(*check_facts)(uint64_t capacity, double fpr, uint64_t length);
    const char *(*check_array)(const struct array *array, uint64_t items);
};

/* Composite filters: what is known without children. The first word of a layout is the kind of the
 * children, the second their number. */
struct composite {
    /* Why it cannot have children of a kind, a sentence with one %s for the kind's name; or
     * NULL. */
    const char *(*refuses)(const struct kind *base);
    unsigned (*can)(const struct kind *base); /* over that kind: set of enum perhaps_ability */
    bool key_in_one_child;                    /* a query looks in one child, else in all of them */
    bool has_layers;                          /* children are layers: the newest takes the keys */
    const struct children_ops *ops;           /* core/children.h */
};

struct kind {
    struct perhaps_kind_row row; /* number, abilities, name, summary */
    struct hashing hashing;
    struct layout_words words;

    /* The payload's length for a layout; or 0 and a reason if this kind could not have made it.
     * Called on hostile headers: it must accept nothing that could make an operation leave the
     * array. */
    uint64_t (*payload_bytes)(const uint64_t layout[LAYOUT_WORDS], const char **reason);

    /* The operations for a layout that payload_bytes accepted. If `shared`, which is for lock_free
     * kinds, several threads may call them at the same time, on an array aligned to eight bytes. */
    const struct kind_ops *(*ops)(const uint64_t layout[LAYOUT_WORDS], enum isa isa, bool shared);

    /* Works out what follows from the layout alone, so that not every operation has to; NULL if
     * that is nothing. */
    void (*derive)(struct array *array);
    bool lock_free;
    bool sparse; /* untouched parts of the array take no memory and no disk space */

    /* How many bytes at the end of the array are counters: words of 8. */
    unsigned counter_bytes;

    /* NULL where it has none. */
    const struct model *model; /* only composite filters have none */
    const struct growable *growable;
    const struct combinable *combinable;
    const struct shrinkable *shrinkable;
    const struct solver *solver; /* static kinds: ops are for sealed filters; add is FULL */
    const struct format *format; /* foreign files */
    const struct foreign_checks *foreign;
    const struct composite *composite;

    /* Lists the members: the next digest at or after position *at, which moves on; false at the
     * end. */
    bool (*next)(const struct array *array, uint64_t *at, uint64_t *digest);

    /* Describes the array to the inline functions of perhaps_inline.h, which have the kind's
     * arithmetic; NULL if they have not. A kind that cannot add clears `items`. */
    void (*view)(const struct array *array, struct perhaps_view *view);

    /* Explains an add or a query without changing the array, and answers as it would. If an add is
     * FULL, the step of the answer is left to the caller, trace_filter
     * (composite/composite_trace.h). */
    int (*trace)(const struct array *array, struct digest digest, bool adding, struct trace *trace);

    /* What the steps of a trace count, for whoever draws the array; NULL where it is nothing but
     * bits. Returns the number of cells; if there is a cell i, *value is what it has. */
    uint64_t (*cells)(const struct array *array, uint64_t i, uint64_t *value);
    const char *cell; /* what one is called; NULL = "bit" */
};

/* Layout words of composite filters: of all, then of growing filters, then of windows. */
enum { BASE, CHILDREN, GROWTH = 2, MAX_BYTES, SIBLINGS, QUOTA = 2, PERIOD, CLEAR_AT, GENERATIONS = CLEAR_AT };
enum { GROWTH_ONE = 256 };                /* a growth of 1 in word GROWTH */
enum { GROWTH_OF_NEWEST = 1 << 30 };      /* added to it: see plan/layers.c */
enum { RULED_GROWTH_MAX = 32768 };        /* by the rule of a foreign format; whole numbers */
enum { LAYERS_MAX = PERHAPS_LAYERS_MAX }; /* of a growing filter */
enum { GENERATIONS_MAX = 64 };            /* of a window, as planned; see composite/window.c */
#define CLEAR_AT_ONE (UINT64_C(1) << 32)  /* a share of 1 in word CLEAR_AT */

/* A layer's capacity sets the size of the next one: without a limit, a small hostile image could
 * take all memory at the next add. Even a layer with a false-positive rate of 99.9 % has fewer keys
 * to a byte than this. */
enum { KEYS_PER_BYTE_MAX = 4096 };

/* Merge and intersection of kinds that are bits in whole words; merge only. */
extern const struct combinable combinable_bits, combinable_bits_merge;

/* NULL if this kind cannot. */
static inline bool (*kind_combine(const struct kind *kind, enum combination what))(struct array *,
                                                                                   const struct array *) {
    return kind->combinable ? kind->combinable->combine[what] : NULL;
}

/* The table of kinds, without composite and foreign ones. */
extern const struct kind *const kinds[];
extern const size_t kind_count;

/* Foreign kinds that have files. */
extern const struct kind *const file_kinds[];
extern const size_t file_kind_count;

/* Any kind by its number; NULL if there is none. */
const struct kind *kind_find(int id);
const struct kind *kind_find_file(int id); /* of file_kinds */

/* The kind that says how keys are hashed: for a composite filter, that of its children. */
const struct kind *kind_of_keys(const struct kind *kind, const uint64_t layout[LAYOUT_WORDS]);

bool kind_takes_hash(const struct kind *kind, int hash);

/* Whether several threads can add to it: without locks, or with one for each child. */
static inline bool kind_takes_threads(const struct kind *kind) {
    return kind->lock_free || (kind->composite && kind->composite->key_in_one_child);
}

extern const struct kind kind_bloom, kind_blocked, kind_counting, kind_cuckoo, kind_table, kind_bitmap;
extern const struct kind kind_fuse, kind_ribbon;
extern const struct kind kind_growing, kind_window, kind_sharded;
extern const struct kind kind_redis_bloom, kind_redis_cuckoo;
extern const struct kind kind_guava, kind_dcso, kind_parquet, kind_spark;

#endif
