/*
 * perhaps.h: membership filters. Is the key in the set? Definitely not, or perhaps.
 *
 * A filter answers in a few bits per key. It never misses a key that was added. For a key that was
 * never added it says "perhaps" with a small chance, the false-positive rate (fpr):
 *
 *     perhaps_want want = PERHAPS_WANT(.items = 5000000, .fpr = 0.01);
 *     perhaps *f;
 *     if (perhaps_create(&f, &want) < 0) return fprintf(stderr, "%s\n", perhaps_why()), 1;
 *     perhaps_add(f, "13800138000", 11);
 *     if (perhaps_contains(f, key, length)) look_it_up(key);
 *     perhaps_save(f, "phones.ph");
 *     perhaps_free(f);
 *
 * Beside it: perhaps_embed.h (for databases and tools: hashers, layers, recipes, locks),
 * perhaps_inline.h (the fastest single calls), perhaps_trace.h (explains a query), perhaps.hpp
 * (C++); docs/kinds.md, growing.md, threads-and-files.md.
 *
 * Errors: a call that fails returns a negative number, adds and loses no key, and leaves a sentence
 * in perhaps_why(). The filter may have grown, or moved keys; threads-and-files.md has exceptions
 * for windows and for several threads. The library never prints, exits or reads a clock. The same
 * calls give the same bytes on every machine.
 *
 * Threads: each call says what it promises, in one of three words.
 *     reads    any number of threads may make such calls on one filter at the same time
 *     changes  no other call on the same filter may run at the same time
 *     free     touches no filter: any thread, any time
 * With want.shared, the add, contains, add_absent, remove and count calls may run in any number of
 * threads at the same time: without locks in bloom, blocked, counting and bitmap, where several
 * threads that add one new key are told "new" at least once; with a lock for each shard otherwise,
 * where it is exactly once.
 */
#ifndef PERHAPS_H
#define PERHAPS_H

#include <stddef.h>
#include <stdint.h>

#define PERHAPS_VERSION_MAJOR 0
#define PERHAPS_VERSION_MINOR 1
#define PERHAPS_VERSION_PATCH 0

#if defined(_WIN32)
#error "perhaps supports POSIX systems; Windows is not one of them"
#elif defined(__GNUC__)
#define PERHAPS_API __attribute__((visibility("default")))
#else
#define PERHAPS_API
#endif

#ifdef __cplusplus
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow" /* some calls are structs too */
extern "C" {
#endif

typedef struct perhaps perhaps;                     /* a filter of any kind */
typedef struct perhaps_recipe perhaps_recipe;       /* how records become keys; perhaps_embed.h */
typedef struct perhaps_allocator perhaps_allocator; /* where memory comes from; perhaps_embed.h */

/* ----------------------------------------------------------------------------------- errors --- */
/* The numbers are fixed forever; new ones are appended. */
enum perhaps_error {
    PERHAPS_OK = 0,
    PERHAPS_EINVAL = -1,     /* an argument makes no sense */
    PERHAPS_ENOMEM = -2,     /* an allocation failed */
    PERHAPS_EIO = -3,        /* the system refused a file operation; errno says why */
    PERHAPS_EFOREIGN = -4,   /* not an image of this library */
    PERHAPS_EVERSION = -5,   /* an image of a newer format or recipe, or of an early format */
    PERHAPS_EDAMAGED = -6,   /* an image that is truncated, changed or inconsistent */
    PERHAPS_EKEY = -7,       /* the secret key is missing or wrong */
    PERHAPS_ECANNOT = -8,    /* this kind of filter cannot do that */
    PERHAPS_EMISMATCH = -9,  /* two filters that do not fit together */
    PERHAPS_EREADONLY = -10, /* the filter was opened for reading only */
    PERHAPS_EDIRTY = -11,    /* a file whose writer has not ended, or ended without perhaps_sync */
    PERHAPS_ERANGE = -12,    /* no layout can do what was wanted */
    PERHAPS_EBUSY = -13,     /* another process or filter is changing the file */
    PERHAPS_EFULL = -14,     /* no room for the key; nothing was added or lost */
    PERHAPS_ESEALED = -15,   /* the filter is static and sealed: it takes no more keys */
    PERHAPS_EUNSEALED = -16  /* the filter is static and still collects keys: seal it first */
};

/* The version of the library that runs: "0.1.0". One sentence for an error number. Why the last
 * failed call of this thread failed, and what to do, until its next failure. Never NULL. (free) */
PERHAPS_API const char *perhaps_version(void);
PERHAPS_API const char *perhaps_strerror(int error);
PERHAPS_API const char *perhaps_why(void);

/* ------------------------------------------------------------------------------------ kinds --- */
enum perhaps_kind {
    PERHAPS_ANY = 0,      /* choose for me */
    PERHAPS_BLOOM = 1,    /* Bloom filter: k bits anywhere in one array; small */
    PERHAPS_BLOCKED = 2,  /* Bloom filter in cache lines: one or two of them per key; the fastest */
    PERHAPS_COUNTING = 3, /* Bloom filter of 4-bit counters: can remove; four times the size */
    PERHAPS_CUCKOO = 4,   /* cuckoo filter: can remove and count; smaller than bloom below 1 % */
    PERHAPS_TABLE = 5,    /* hash table of digests: practically exact, grows, can be listed */
    PERHAPS_BITMAP = 6,   /* one bit for each integer of a range: exact, grows, can be listed */
    /* Composite filters are built on another kind: set want.grow, generations or shards. */
    PERHAPS_GROWING = 7, /* layers, each larger than the last: for sets of unknown size */
    PERHAPS_WINDOW = 8,  /* generations that age out: for the last N keys, or the last T seconds */
    PERHAPS_SHARDED = 9, /* shards: for threads, and to grow in small steps */
    /* Foreign formats, bit for bit, with the hash of that program. */
    PERHAPS_REDIS_BLOOM = 10,  /* RedisBloom's BF.*; see perhaps_embed.h */
    PERHAPS_REDIS_CUCKOO = 11, /* RedisBloom's CF.*; see perhaps_embed.h */
    PERHAPS_GUAVA = 12,        /* a file of Guava's BloomFilter.writeTo */
    PERHAPS_DCSO = 13,         /* a file of DCSO's bloom, as hashlookup and MISP have them */
    PERHAPS_PARQUET = 14,      /* header and blocks of Parquet; made in powers of two */
    PERHAPS_SPARK = 15,        /* a file of Apache Spark's BloomFilter.writeTo, version 1 */
    /* Static filters, for sets that are complete before the first query; see perhaps_seal. */
    PERHAPS_FUSE = 16,  /* binary fuse filter: 1.13 times the theoretical minimum */
    PERHAPS_RIBBON = 17 /* bumped ribbon filter: 1.01 to 1.02 times the theoretical minimum */
};

/* What a kind can do besides queries: `needs` of a want, `can` of a kind. */
enum perhaps_ability {
    PERHAPS_ADD = 1 << 0,       /* keys can be added at any time */
    PERHAPS_REMOVE = 1 << 1,    /* keys can be removed */
    PERHAPS_COUNT = 1 << 2,     /* it knows how often a key was added */
    PERHAPS_MERGE = 1 << 3,     /* two filters become their union */
    PERHAPS_INTERSECT = 1 << 4, /* two filters become (roughly) their intersection */
    PERHAPS_SUBTRACT = 1 << 5,  /* exact difference and symmetric difference of two filters */
    PERHAPS_GROW = 1 << 6,      /* it makes room for more keys than it was planned for */
    PERHAPS_LIST = 1 << 7,      /* its members can be listed with perhaps_next */
    PERHAPS_IN_PLACE = 1 << 8   /* a file of it can be opened with PERHAPS_OPEN_WRITE */
};

/* Facts about a kind or a filter. */
enum perhaps_trait {
    PERHAPS_TAKES_BYTES = 1 << 0,   /* keys may be bytes; otherwise only integers and digests */
    PERHAPS_TAKES_DIGESTS = 1 << 1, /* keys may be digests; otherwise only bytes and integers */
    PERHAPS_EXACT = 1 << 2,         /* no false positives, except for keys of equal digest */
    PERHAPS_STATIC = 1 << 3,        /* collects keys, is sealed, and is query-only from then on */
    PERHAPS_MULTISET = 1 << 4,      /* stores a copy with each add; otherwise it is a set */
    PERHAPS_PARALLEL = 1 << 5       /* perhaps_add_parallel works; kinds without it need shards */
};

/* A row of the table of kinds, for programs that loop over it. */
struct perhaps_kind_row {
    int kind;            /* enum perhaps_kind */
    unsigned can;        /* set of enum perhaps_ability */
    const char *name;    /* "bloom", as on the command line */
    const char *summary; /* half a sentence for people */
};

/* Row 0, 1, ... of the kinds, without composite and foreign ones, and of foreign formats that are
 * files; NULL past the end. The traits of any kind; 0 for composite ones. (free) */
PERHAPS_API const struct perhaps_kind_row *perhaps_kind(size_t row);
PERHAPS_API const struct perhaps_kind_row *perhaps_file_kind(size_t row);
PERHAPS_API unsigned perhaps_kind_traits(int kind);

/* ------------------------------------------------------------------------------------- plan --- */
/* How keys become 64-bit digests. */
enum perhaps_hash {
    PERHAPS_HASH_DEFAULT = 0, /* the kind's: xxh3, or the only one it takes */
    PERHAPS_XXH3 = 1,         /* XXH3-64 with a seed: fastest */
    PERHAPS_SIPHASH = 2,      /* SipHash-1-3 with a secret key: for attacker-chosen keys */
    PERHAPS_IDENTITY = 3,     /* integers as they are; bitmap only */
    PERHAPS_MURMUR = 4,       /* MurmurHash64A; RedisBloom only */
    PERHAPS_MURMUR3 = 5,      /* MurmurHash3 of 128 bits; Guava only */
    PERHAPS_FNV = 6,          /* FNV-1 of 64 bits; DCSO only */
    PERHAPS_XXH64 = 7,        /* XXH64; Parquet only */
    PERHAPS_MURMUR3_32 = 8    /* MurmurHash3 of 32 bits; Spark only */
};

/* What a filter does when it is full. */
enum perhaps_growth {
    PERHAPS_GROW_DEFAULT = 0, /* a kind that can PERHAPS_GROW grows; others do not */
    PERHAPS_GROW_NEVER = 1,   /* adding returns PERHAPS_EFULL */
    PERHAPS_GROW_LAYERS = 2   /* appends layers (PERHAPS_GROWING); table and bitmap need none */
};

/*
 * What the caller wants; zero means "choose for me". Fix two of items, fpr and memory (bits_per_key
 * or bytes); the third follows. Exact kinds need items or memory only (a bitmap's items are the
 * integers 0..items-1), static kinds fpr or bits_per_key only. PERHAPS_ANY chooses no bitmap or
 * static kind, and a multiset only for PERHAPS_REMOVE or PERHAPS_COUNT. Filters to be merged need
 * equal kind, items, fpr (or size), hash and seed. These make a composite filter:
 *
 *   grow = PERHAPS_GROW_LAYERS  for sets of unknown size: `items` is a first guess (0 = 1,000), and
 *                               the fpr holds forever; queries visit every layer
 *   generations = g             a window: finds the last `items` keys, and forgets a key at the
 *                               latest after items*g/(g-1) others; adding it again makes it young
 *     period = t                ... by time (perhaps_advance): `items` is the adds in a period
 *     clear_at = s              ... or at a fill: the oldest goes when the newest's fill reaches s
 *   shards = N                  N filters, each with its share of the keys
 */
typedef struct perhaps_want {
    size_t size;             /* of this struct; set by PERHAPS_WANT and perhaps_want_init */
    int kind;                /* enum perhaps_kind; 0 = the fastest that is not too large */
    unsigned needs;          /* set of enum perhaps_ability */
    uint64_t items;          /* keys, or copies of a multiset; more raise the fpr, or do not fit */
    double fpr;              /* with `items` keys, between 0 and 1 */
    double bits_per_key;     /* memory for each of `items` keys */
    uint64_t bytes;          /* memory in all, in words of 8, without the header */
    int grow;                /* enum perhaps_growth */
    double growth;           /* layers: how much larger the next is, 1.5 to 16 */
    uint64_t max_bytes;      /* layers: bytes in all, at most; then PERHAPS_EFULL */
    unsigned generations;    /* window: 2 to 64, or 1 with clear_at; 0 = 4 or 1 if it is a window */
    uint64_t period;         /* window: how long keys are remembered, in the caller's units */
    double clear_at;         /* window: between 0 and 1 */
    unsigned shards;         /* 0 = not sharded; at most 65,536 */
    int shared;              /* 1 = several threads may change it; see Threads above */
    unsigned hashes, lines;  /* bits (or places) per key; cache lines per query; docs/kinds.md */
    unsigned bucket, steps;  /* PERHAPS_REDIS_CUCKOO: see perhaps_embed.h */
    int hash;                /* enum perhaps_hash */
    uint64_t seed;           /* PERHAPS_XXH3: any number; 0 makes files of all programs mergeable */
    const uint8_t *hash_key; /* PERHAPS_SIPHASH: 16 secret bytes; copied */
    int key_in_file;         /* PERHAPS_SIPHASH: 1 = files hold the secret key; 0 = a check of it */
    uint64_t max_scratch;    /* static: memory for collected keys, at least 16 MiB; 0 = no limit */
    const char *scratch_dir; /* static: folder for the keys beyond it; NULL = "."; copied */
    const perhaps_recipe *recipe;
    const perhaps_allocator *allocator;
} perhaps_want;
#define PERHAPS_WANT(...) ((perhaps_want){.size = sizeof(perhaps_want), __VA_ARGS__})

/* Sets every field to "choose for me", where there are no designated initialisers. (free) */
static inline void perhaps_want_init(perhaps_want *want) {
    static perhaps_want nothing; /* zero in C and C++ */
    *want = nothing;
    want->size = sizeof *want;
}

/* What a filter would be: `struct perhaps_plan plan = {.size = sizeof plan};`. */
struct perhaps_plan {
    size_t size;                 /* of this struct; set it before the call */
    int kind;                    /* as wanted or as chosen */
    uint64_t items;              /* keys it is for */
    double fpr;                  /* of this layout with `items` keys, digest collisions included */
    uint64_t bytes, image_bytes; /* of the array; of a file of it, as perhaps_save writes it */
    double bits_per_key;         /* of the array */
    double limit_bits_per_key;   /* theoretical minimum, log2(1/fpr) */
    double loss;                 /* table: the chance that any two keys share a digest */
    unsigned hashes, lines;      /* bits set per key; cache lines per query, at most */
    unsigned can, traits;        /* sets of enum perhaps_ability and enum perhaps_trait */
};

/* Finds the layout for a want, and makes nothing. PERHAPS_EINVAL for nonsense, PERHAPS_ERANGE where
 * no layout does it, PERHAPS_ENOMEM for more memory than the machine has. (free) */
PERHAPS_API int perhaps_plan(const perhaps_want *want, struct perhaps_plan *plan);

/* ----------------------------------------------------------------------------------- create --- */
/* Makes an empty filter. Errors as perhaps_plan, and PERHAPS_EINVAL for hash, seed and secret key
 * that do not go together; *f is then NULL. (free) */
PERHAPS_API int perhaps_create(perhaps **f, const perhaps_want *want);

/* A copy in memory, changeable even if `f` is not; not of an unsealed static filter. (reads) */
PERHAPS_API int perhaps_clone(const perhaps *f, perhaps **copy);

/* Removes every key; a static filter collects again. Ends a filter; NULL is fine. After
 * PERHAPS_OPEN_WRITE call perhaps_sync first. (changes) */
PERHAPS_API int perhaps_clear(perhaps *f);
PERHAPS_API void perhaps_free(perhaps *f);

/* ------------------------------------------------------------------------------------- open --- */
enum perhaps_open_flag {
    PERHAPS_OPEN_COPY = 1 << 0,      /* read it into memory: changeable */
    PERHAPS_OPEN_WRITE = 1 << 1,     /* map the file, or borrow the bytes, for changing in place */
    PERHAPS_OPEN_NO_VERIFY = 1 << 2, /* skip the payload's checksums: damage makes answers wrong,
                                        never a call unsafe */
    PERHAPS_OPEN_RECOVER = 1 << 3,   /* open a dirty file: payload as it is, items estimated */
    PERHAPS_OPEN_SHARED = 1 << 4     /* with COPY: like want.shared */
};

typedef struct perhaps_open_options {
    size_t size;                        /* of this struct; set by PERHAPS_OPEN */
    unsigned flags;                     /* set of enum perhaps_open_flag */
    int kind;                           /* foreign format: PERHAPS_DCSO, ...; 0 = by its bytes */
    const uint8_t *hash_key;            /* for a SipHash filter whose file does not hold its key */
    const perhaps_allocator *allocator; /* as in the want */
} perhaps_open_options;
#define PERHAPS_OPEN(...) ((perhaps_open_options){.size = sizeof(perhaps_open_options), __VA_ARGS__})

/*
 * Opens a file: mapped, verified and read-only unless a flag says otherwise; options may be NULL.
 * With PERHAPS_OPEN_WRITE the file changes with every add. It is locked against other writers, and
 * dirty from the first call that could change it, even one that fails, until perhaps_sync. Foreign
 * files open likewise, but not for writing. Truncating a mapped file ends the process with SIGBUS:
 * see docs/threads-and-files.md. (free)
 */
PERHAPS_API int perhaps_open(perhaps **f, const char *path, const perhaps_open_options *options);

/* Opens an image in memory, at any alignment: borrowed and read-only; `bytes` must stay unchanged
 * while the filter lives. With PERHAPS_OPEN_WRITE the bytes change with every add; that cannot grow
 * (PERHAPS_EFULL), is not for composite and static filters, and ends with perhaps_sync. (free) */
PERHAPS_API int perhaps_open_memory(perhaps **f, const void *bytes, uint64_t length,
                                    const perhaps_open_options *options);

/* ------------------------------------------------------------------------------------- keys --- */
/* Keys have three forms. A filter must be queried in the form in which it was filled:
 *     bytes    any bytes, any length, NULs and the empty key included; not for bitmaps
 *     _u64     integers; under PERHAPS_XXH3 two integers never share a digest
 *     _digest  64 bits from a perhaps_hasher (perhaps_embed.h): hash a key once, query many
 *              filters; not for kinds without PERHAPS_TAKES_DIGESTS */

/* Adds a key. 1 = new; 0 = perhaps there already, nothing changed. A multiset stores a copy and
 * answers 1, so that every add has its remove. PERHAPS_EFULL: no room. (changes) */
PERHAPS_API int perhaps_add(perhaps *f, const void *key, size_t length);
PERHAPS_API int perhaps_add_u64(perhaps *f, uint64_t key);
PERHAPS_API int perhaps_add_digest(perhaps *f, uint64_t digest);

/* Is it in the set? 0 = definitely not, 1 = perhaps. Negative only for an unsealed static filter or
 * a form that the kind does not take; non-zero is safe to read as "perhaps". (reads) */
PERHAPS_API int perhaps_contains(const perhaps *f, const void *key, size_t length);
PERHAPS_API int perhaps_contains_u64(const perhaps *f, uint64_t key);
PERHAPS_API int perhaps_contains_digest(const perhaps *f, uint64_t digest);

/* Multisets: adds a key unless it is perhaps there; for sets the same as perhaps_add. Do not mix it
 * with removes of the same keys: where it answered 0 because of another key that looks the same,
 * nothing was stored, and the remove takes the other key's only copy. (changes) */
PERHAPS_API int perhaps_add_absent(perhaps *f, const void *key, size_t length);
PERHAPS_API int perhaps_add_absent_u64(perhaps *f, uint64_t key);
PERHAPS_API int perhaps_add_absent_digest(perhaps *f, uint64_t digest);

/* Removes a key, or one copy from a multiset. 1 = done, 0 = definitely not there. Remove only what
 * was added: in cuckoo and counting, removing a false positive takes the copy of another key, which
 * is then missed. table and bitmap can tell the two apart. (changes) */
PERHAPS_API int perhaps_remove(perhaps *f, const void *key, size_t length);
PERHAPS_API int perhaps_remove_u64(perhaps *f, uint64_t key);
PERHAPS_API int perhaps_remove_digest(perhaps *f, uint64_t digest);

/* Copies of a key in a multiset: never too few, and too many only if another key looks the same.
 * counting counts to 15, which means "15 or more". PERHAPS_ECANNOT for sets. (reads) */
PERHAPS_API int64_t perhaps_count(const perhaps *f, const void *key, size_t length);
PERHAPS_API int64_t perhaps_count_u64(const perhaps *f, uint64_t key);
PERHAPS_API int64_t perhaps_count_digest(const perhaps *f, uint64_t digest);

/* Lists the members of a table (digests, in no order) or a bitmap (integers, rising; *at may be any
 * of them). 1 = *digest is the next, 0 = that was all. Begin with *at = 0. (reads) */
PERHAPS_API int perhaps_next(const perhaps *f, uint64_t *at, uint64_t *digest);

typedef struct perhaps_seal_options {
    size_t size;      /* of this struct; set by PERHAPS_SEAL */
    unsigned threads; /* 0 = one for each processor; the filter is the same with any number */
    void (*progress)(void *context, uint64_t done, uint64_t all); /* or NULL */
    void *context;
} perhaps_seal_options;
#define PERHAPS_SEAL(...) ((perhaps_seal_options){.size = sizeof(perhaps_seal_options), __VA_ARGS__})

/* Ends the collecting phase of a static filter. Until then adding answers 1; queries and saving are
 * PERHAPS_EUNSEALED. From then on it is query-only (PERHAPS_ESEALED), until perhaps_clear. A
 * failure keeps all keys. The memory it takes: docs/kinds.md. options NULL = the caller's thread
 * alone. Other kinds have nothing to do. (changes) */
PERHAPS_API int perhaps_seal(perhaps *f, const perhaps_seal_options *options);

/* Tells a window with a `period` the time, in the caller's units; it never goes back. Returns how
 * many generations with keys were forgotten. Keys added before that count as added then.
 * (changes) */
PERHAPS_API int perhaps_advance(perhaps *f, uint64_t now);

/* ---------------------------------------------------------------------------------- batches --- */
enum perhaps_keys_form {
    PERHAPS_KEYS_FORM_BYTES = 0, /* pointers and lengths */
    PERHAPS_KEYS_FORM_PACKED,    /* bytes in one buffer, and n + 1 offsets that never fall */
    PERHAPS_KEYS_FORM_FIXED,     /* bytes of equal length, at equal distances */
    PERHAPS_KEYS_FORM_U64,       /* integers, as for the _u64 calls */
    PERHAPS_KEYS_FORM_DIGEST     /* digests, as for the _digest calls */
};

/* A batch of keys, made by one of the macros below, such as PERHAPS_KEYS_U64(ids, 0, n). It borrows
 * the caller's memory. */
typedef struct perhaps_keys {
    int form;            /* enum perhaps_keys_form */
    size_t n;            /* number of keys */
    const void *data;    /* bytes: n pointers; packed: the buffer; others: the first key */
    const void *lengths; /* bytes: n of size_t; packed: n + 1 offsets; others: NULL */
    size_t width;        /* bytes of a length, of an offset (4 or 8), or of a key */
    size_t stride;       /* others: bytes from one key to the next; 0 = side by side */
} perhaps_keys;

#ifdef __cplusplus
#define PERHAPS_KEYS_(...) (perhaps_keys{__VA_ARGS__})
#else
#define PERHAPS_KEYS_(...) ((perhaps_keys){__VA_ARGS__})
#endif
#define PERHAPS_KEYS_BYTES(pointers, lengths, n)                                                                       \
    PERHAPS_KEYS_(PERHAPS_KEYS_FORM_BYTES, (size_t)(n), (pointers), (lengths), sizeof *(lengths), 0)
#define PERHAPS_KEYS_PACKED(data, offsets, n) /* offsets of 32 or 64 bits */                                           \
    PERHAPS_KEYS_(PERHAPS_KEYS_FORM_PACKED, (size_t)(n), (data), (offsets), sizeof *(offsets), 0)
#define PERHAPS_KEYS_FIXED(data, width, stride, n)                                                                     \
    PERHAPS_KEYS_(PERHAPS_KEYS_FORM_FIXED, (size_t)(n), (data), NULL, (size_t)(width), (size_t)(stride))
#define PERHAPS_KEYS_U64(keys, stride, n) /* uint64_t, or bytes at any alignment */                                    \
    PERHAPS_KEYS_(PERHAPS_KEYS_FORM_U64, (size_t)(n), (keys), NULL, sizeof *(keys), (size_t)(stride))
#define PERHAPS_KEYS_DIGEST(digests, n)                                                                                \
    PERHAPS_KEYS_(PERHAPS_KEYS_FORM_DIGEST, (size_t)(n), (digests), NULL, sizeof *(digests), 0)

/* The same as single calls in order, and several times as fast. answers[i], or counts[i], is what
 * the single call for key i answers; both may be NULL. Returns how many of them are not 0. After a
 * failure they mean nothing. A batch of no keys is 0 even where keys would be refused. Large
 * batches for large cuckoo and composite filters take up to 12 bytes for each of up to 4 million
 * keys. (add and remove: changes; contains and count: reads) */
PERHAPS_API int64_t perhaps_add_many(perhaps *f, const perhaps_keys *keys, uint8_t *answers);
PERHAPS_API int64_t perhaps_contains_many(const perhaps *f, const perhaps_keys *keys, uint8_t *answers);
PERHAPS_API int64_t perhaps_remove_many(perhaps *f, const perhaps_keys *keys, uint8_t *answers);
PERHAPS_API int64_t perhaps_count_many(const perhaps *f, const perhaps_keys *keys, uint64_t *counts);

/* --------------------------------------------------------------------------------- parallel --- */
/* A batch with that many threads (0 = one for each processor), which end before the call returns. A
 * key that the batch has twice is new at least once, and the order of adds is not fixed. Adding
 * needs PERHAPS_PARALLEL; queries work on all filters. (changes; reads) */
PERHAPS_API int64_t perhaps_add_parallel(perhaps *f, const perhaps_keys *keys, uint8_t *answers, unsigned threads);
PERHAPS_API int64_t perhaps_contains_parallel(const perhaps *f, const perhaps_keys *keys, uint8_t *answers,
                                              unsigned threads);

/* ---------------------------------------------------------------------------------- combine --- */
/* into = the union: the filter that adding the keys of both would have made; of multisets, the sum.
 * Both need equal kind, layout, hash, seed and transformation of keys; tables and bitmaps may have
 * any size, growing sets any layers. Otherwise PERHAPS_EMISMATCH: perhaps_why() names the field.
 * `items` may become an estimate. (changes `into`, reads `from`) */
PERHAPS_API int perhaps_merge(perhaps *into, const perhaps *from);

/* into = what both perhaps contain: every common key is kept, and the fpr is at most the smaller of
 * the two; exact for bitmaps. Of bitmaps also the difference (in `into`, not in `from`) and the
 * symmetric difference (in one, not in both). (changes `into`, reads `from`) */
PERHAPS_API int perhaps_intersect(perhaps *into, const perhaps *from);
PERHAPS_API int perhaps_subtract(perhaps *into, const perhaps *from);
PERHAPS_API int perhaps_differ(perhaps *into, const perhaps *from);

/* Different keys of two filters that could be merged (else PERHAPS_EMISMATCH, as there): in the
 * first, the second, both, one or both, and both / either, which is 1 of two empty ones; with
 * standard errors. What a full filter cannot tell is NAN, its error INFINITY. Exact for bitmaps,
 * and for tables as far as digests are. PERHAPS_ECANNOT for static filters, several layers or
 * generations, and what perhaps_intersect made. docs/kinds.md has the formula. (reads both) */
struct perhaps_overlap {
    size_t size; /* of this struct; set it before the call */
    double a, b, both, either, jaccard;
    double a_error, b_error, both_error, either_error, jaccard_error;
    int exact; /* 1 = counted, not estimated: the errors are 0 */
};
PERHAPS_API int perhaps_overlap(const perhaps *a, const perhaps *b, struct perhaps_overlap *overlap);

/* 1 = same kind, layout, hash, seed, transformation of keys and array; 0 = not. In cuckoo filters
 * and tables the array depends on the order of adds. (reads both) */
PERHAPS_API int perhaps_equal(const perhaps *a, const perhaps *b);

/* ------------------------------------------------------------------------------------- info --- */
struct perhaps_info {
    size_t size;                 /* of this struct; set it before the call */
    int kind;                    /* enum perhaps_kind */
    const char *kind_name;       /* "bloom" */
    unsigned can, traits;        /* sets of enum perhaps_ability and enum perhaps_trait */
    uint64_t capacity;           /* keys it was made for */
    uint64_t items;              /* adds that answered 1, less removes that did; an estimate after
                                    merge, intersect and recovery, unless the array tells */
    double distinct, fill;       /* different keys, estimated; share of bits in use, 0..1 */
    double fpr_target, fpr_now;  /* the fpr of the plan; the one it has now, from the bits */
    double loss;                 /* table: the chance that any two keys share a digest */
    uint64_t stuck;              /* counting: counters that have reached 15 and stay there */
    uint64_t stashed;            /* cuckoo, table: copies or keys kept outside the slots */
    uint64_t bytes, image_bytes; /* of the array; of a file of it, as perhaps_save writes it */
    double bits_per_key;         /* of the array, per key of capacity */
    unsigned hashes, lines;      /* bits set per key; cache lines per query, at most */
    int hash;                    /* enum perhaps_hash */
    const char *hash_name;       /* "xxh3" */
    uint64_t seed;               /* PERHAPS_XXH3: the seed; PERHAPS_SIPHASH: a check of the key */
    unsigned format_version;     /* of the image */
    const char *isa;             /* instruction set: "scalar", "avx2", "avx512", "neon" or "wasm" */
    int read_only, shared;       /* 1 = cannot be changed; 1 = several threads may change it */
    int grow;                    /* enum perhaps_growth */
    int base;                    /* composite: enum perhaps_kind of the children; else 0 */
    unsigned children;           /* composite: layers, generations or shards; else 0 */
    uint64_t max_bytes, period;  /* as in the want, like the next three */
    double growth, clear_at;     /* layers; window */
    unsigned generations;        /* window; in bursts one by time has more children */
    uint64_t since;              /* a generation of a window by time: when it began */
    int flooded;                 /* window by time: 1 = more than `capacity` keys in a period */
    int collecting;              /* 1 = static, not sealed: items are adds, sizes are planned */
    int guessed;                 /* 1 = a foreign file does not state capacity and fpr_target */
};

/* Everything about a filter, and about child i of a composite one, the oldest first. They read the
 * whole array; the other two do not, and leave distinct, fill, fpr_now, loss, stuck and stashed 0.
 * `struct perhaps_info info = {.size = sizeof info};` (reads) */
PERHAPS_API int perhaps_info(const perhaps *f, struct perhaps_info *info);
PERHAPS_API int perhaps_child(const perhaps *f, unsigned i, struct perhaps_info *info);
PERHAPS_API int perhaps_facts(const perhaps *f, struct perhaps_info *info);
PERHAPS_API int perhaps_child_facts(const perhaps *f, unsigned i, struct perhaps_info *info);

/* ------------------------------------------------------------------------------------- save --- */
/* Writes a file, atomically and durably: after a crash there is the old one or the new one. Links
 * are followed, permissions kept. PERHAPS_EBUSY if it is open with PERHAPS_OPEN_WRITE, or locked as
 * in perhaps_embed.h. A foreign kind is saved in its own format. (reads) */
PERHAPS_API int perhaps_save(const perhaps *f, const char *path);

/* Hands the bytes that perhaps_save writes, which perhaps_open_memory takes, to `sink` in pieces,
 * until it returns non-zero: PERHAPS_EIO. (reads) */
PERHAPS_API int perhaps_write(const perhaps *f, int (*sink)(void *context, const void *bytes, size_t length),
                              void *context);

/* After PERHAPS_OPEN_WRITE: makes the changes of a file durable and marks it clean; brings header
 * and checksums of borrowed bytes up to date. Others have nothing to do. (changes) */
PERHAPS_API int perhaps_sync(perhaps *f);

#ifdef __cplusplus
}
#pragma GCC diagnostic pop
#endif

#endif
