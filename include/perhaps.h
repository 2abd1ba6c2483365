/*
 * perhaps.h: membership filters. Is the key in the set? Definitely not, or perhaps.
 *
 * A filter answers that question in a few bits per key. It never misses a key that was added; for a key that was
 * not, it says "perhaps" with a small chance that you choose, the false-positive rate (fpr). The ten lines that
 * matter:
 *
 *     perhaps_want want = PERHAPS_WANT(.items = 5000000, .fpr = 0.01);
 *     perhaps *f;
 *     int rc = perhaps_create(&f, &want);
 *     if (rc < 0) return fprintf(stderr, "%s\n", perhaps_why()), 1;
 *     perhaps_add(f, "13800138000", 11);
 *     if (perhaps_contains(f, key, length)) look_it_up(key);
 *     rc = perhaps_save(f, "phones.ph");
 *     perhaps_free(f);
 *
 * This header is the manual. It is in the order in which data flows: wanting and planning a filter, making or
 * opening one, putting keys in and asking for them, whole-filter work, looking at it, saving it, ending it.
 *
 * Conventions
 *   - Every call that can fail returns a negative number of enum perhaps_error; zero and positive numbers are answers.
 *   - A failed call changes nothing: the filter has the keys and copies it had. (One that grows may have grown, and in a
 *     cuckoo filter or a table keys may have moved. A batch that fails may have made a window forget, or made keys of it
 *     young. Where several threads add to one filter, a batch of one of them that fails may leave some of its keys, and
 *     take out keys that it was the first to add and another thread was told are there.) perhaps_why() then has the
 *     reason in a sentence.
 *   - The library never prints, never exits and reads no clock. Kinds of filter are pure arithmetic: the same calls
 *     give the same bytes on every machine.
 *   - Sizes and counts are 64 bits wide everywhere.
 *   - Structs with a `size` field begin with it, so that later versions can append fields.
 *
 * Threads
 *   Each call below says what it promises, in one of three words:
 *     reads    any number of threads may make such calls on one filter at the same time;
 *     changes  no other call on the same filter may run at the same time;
 *     free     touches no filter: any thread, any time.
 *   Different filters never disturb one another.
 *
 *   A filter made with want.shared goes further: its add, contains, add_absent, remove and count calls, in all forms, may run
 *   in any number of threads at the same time. bloom, blocked, counting and bitmap do that without locks, and readers
 *   never wait; there `add` answers "new" at least once for a key that several threads add at the same time. The others do it
 *   in shards with a lock each; there `add` answers "new" exactly once. All other calls on it stay as they say.
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
extern "C" {
#endif

/* A filter of any kind. */
typedef struct perhaps perhaps;

/* "0.1.0": the version of the library that runs, which may differ from the macros above. (free) */
PERHAPS_API const char *perhaps_version(void);

/* ------------------------------------------------------------------------------------------------- errors --- */

/* The numbers are fixed for ever; new ones are appended. */
enum perhaps_error {
    PERHAPS_OK = 0,
    PERHAPS_EINVAL = -1,     /* an argument makes no sense */
    PERHAPS_ENOMEM = -2,     /* an allocation failed */
    PERHAPS_EIO = -3,        /* the system refused a file operation; errno and perhaps_why() say why */
    PERHAPS_EFOREIGN = -4,   /* not an image of this library */
    PERHAPS_EVERSION = -5,   /* an image of a newer format, with a newer recipe, or of an early format */
    PERHAPS_EDAMAGED = -6,   /* an image that is truncated, changed or inconsistent */
    PERHAPS_EKEY = -7,       /* the hash key is missing or is not the one the filter was made with */
    PERHAPS_ECANNOT = -8,    /* this kind of filter cannot do that */
    PERHAPS_EMISMATCH = -9,  /* two filters that do not fit together */
    PERHAPS_EREADONLY = -10, /* the filter was opened for reading only */
    PERHAPS_EDIRTY = -11,    /* a file that is being changed in place, or was when its writer ended */
    PERHAPS_ERANGE = -12,    /* no layout can do what was wanted */
    PERHAPS_EBUSY = -13,     /* another process, or another filter of this one, is changing the file */
    PERHAPS_EFULL = -14,     /* the filter has no room for the key; nothing was added, all others are still found */
    PERHAPS_ESEALED = -15,   /* the filter is static and sealed: it takes no more keys */
    PERHAPS_EUNSEALED = -16  /* the filter is static and still collects keys: seal it first */
};

/* One sentence for an error number, for any thread at any time; never NULL. (free) */
PERHAPS_API const char *perhaps_strerror(int error);

/* Why the last failed call of this thread failed: which file, which field, which limit, and what to do. Until the
 * next failure of this thread. Never NULL. (free) */
PERHAPS_API const char *perhaps_why(void);

/* -------------------------------------------------------------------------------------------------- kinds --- */

enum perhaps_kind {
    PERHAPS_ANY = 0,      /* choose for me */
    PERHAPS_BLOOM = 1,    /* classic Bloom filter: k bits anywhere in one array; the smallest that can be changed */
    PERHAPS_BLOCKED = 2,  /* Bloom filter in cache lines: one (or two) memory accesses a key; the fastest */
    PERHAPS_COUNTING = 3, /* Bloom filter of 4-bit counters: keys can be removed; four times the size */
    PERHAPS_CUCKOO = 4,   /* cuckoo filter: keys can be removed and counted, and it is smaller than bloom below 1 % */
    PERHAPS_TABLE = 5,    /* hash table of whole 64-bit digests: practically exact, grows, its digests can be listed */
    PERHAPS_BITMAP = 6,   /* one bit for each integer of a range: exact, grows; only the _u64 and _digest forms */

    /* Filters of filters. They are not made by name, but of the kinds above, by want.grow, want.generations and want.shards; this
     * is what perhaps_info then calls them. */
    PERHAPS_GROWING = 7, /* layers, each larger than those before: for sets of unknown size */
    PERHAPS_WINDOW = 8,  /* generations, of which the oldest is forgotten: for the last N keys, or the last T seconds */
    PERHAPS_SHARDED = 9, /* shards, all of a key in one of them: for many threads, and for growing in small steps */

    /* Filters of other programs, bit for bit, with the hash of that program; see perhaps_open_foreign. */
    PERHAPS_REDIS_BLOOM = 10,  /* of RedisBloom's BF.*: one layer, or with PERHAPS_GROW_LAYERS a chain of them */
    PERHAPS_REDIS_CUCKOO = 11, /* of its CF.* */

    /* Files of other programs, bit for bit: what is made, opened or saved as one of these kinds has the other program's bytes
     * for its file. See perhaps_open. */
    PERHAPS_GUAVA = 12,   /* of Guava's BloomFilter.writeTo; made with its default strategy, opened with either */
    PERHAPS_DCSO = 13,    /* of DCSO's bloom, as hashlookup and MISP have them */
    PERHAPS_PARQUET = 14, /* of Parquet: header and blocks; made in powers of two up to 128 MiB, opened in any size */
    PERHAPS_SPARK = 15,   /* of Apache Spark's BloomFilter.writeTo, version 1 */

    /* Static filters, for sets that are complete before the first question: the smallest from some thousand keys on. See
     * perhaps_seal. */
    PERHAPS_FUSE = 16,  /* binary fuse filter: 1.13 times the least possible size, for rates that are powers of two */
    PERHAPS_RIBBON = 17 /* bumped ribbon filter: 1.01 to 1.02 times the least possible size, from 1 % down */
};

/* What a kind can do, as a set of bits: `needs` of a want, `can` of a kind. Every kind can be asked. */
enum perhaps_ability {
    PERHAPS_ADD = 1 << 0,       /* keys can be added one at a time, at any time */
    PERHAPS_REMOVE = 1 << 1,    /* keys can be taken out again */
    PERHAPS_COUNT = 1 << 2,     /* a multiset: it knows how often a key was added */
    PERHAPS_MERGE = 1 << 3,     /* two filters become their union */
    PERHAPS_INTERSECT = 1 << 4, /* two filters become (roughly) their intersection */
    PERHAPS_SUBTRACT = 1 << 5,  /* exact set difference and symmetric difference of two filters */
    PERHAPS_GROW = 1 << 6,      /* it makes room for more keys than it was planned for */
    PERHAPS_LIST = 1 << 7,      /* what is in it can be walked through with perhaps_next */
    PERHAPS_IN_PLACE = 1 << 8   /* a file of it can be opened with PERHAPS_OPEN_WRITE */
};

/* Facts about a kind or a filter, as a set of bits: perhaps_kind_traits, perhaps_info.traits. */
enum perhaps_trait {
    PERHAPS_TAKES_BYTES = 1 << 0,   /* keys may be bytes; otherwise only integers */
    PERHAPS_TAKES_DIGESTS = 1 << 1, /* keys may be digests; otherwise only bytes and integers */
    PERHAPS_EXACT = 1 << 2,         /* no false positives, except by equal digests */
    PERHAPS_STATIC = 1 << 3,        /* collects keys until it is sealed */
    PERHAPS_MULTISET = 1 << 4,      /* stores a copy with each add */
    PERHAPS_PARALLEL = 1 << 5       /* perhaps_add_parallel works */
};

/* A row of the table of kinds, for programs that show or loop over it. Filters of filters are not in it. */
struct perhaps_kind_row {
    int kind;            /* PERHAPS_BLOOM ... */
    unsigned can;        /* set of enum perhaps_ability */
    const char *name;    /* "bloom", as on the command line */
    const char *summary; /* half a sentence for people */
};

/* The table of kinds: row 0, 1, ...; NULL past the end. (free) */
PERHAPS_API const struct perhaps_kind_row *perhaps_kind(size_t row);

/* The same of the kinds that are files of other programs. (free) */
PERHAPS_API const struct perhaps_kind_row *perhaps_file_kind(size_t row);

/* The facts about a kind: set of enum perhaps_trait. (free) */
PERHAPS_API unsigned perhaps_kind_traits(int kind);

/* --------------------------------------------------------------------------------------------------- wants --- */

/* How keys become 64-bit digests. */
enum perhaps_hash {
    PERHAPS_HASH_DEFAULT = 0, /* the kind's own: xxh3 unless its documentation says otherwise */
    PERHAPS_XXH3 = 1,         /* XXH3-64 with a seed: fastest; for keys that nobody chooses against you */
    PERHAPS_SIPHASH = 2,      /* SipHash-1-3 with a secret 128-bit key: for keys that strangers choose */
    PERHAPS_IDENTITY = 3,     /* integers as they are: what PERHAPS_BITMAP has, and only it */
    PERHAPS_MURMUR = 4,       /* MurmurHash64A: what filters of RedisBloom have, and only they */
    PERHAPS_MURMUR3 = 5,      /* and so on, each of one other program: MurmurHash3 of 128 bits, */
    PERHAPS_FNV = 6,          /* FNV-1 of 64 bits, */
    PERHAPS_XXH64 = 7,        /* XXH64, */
    PERHAPS_MURMUR3_32 = 8    /* MurmurHash3 of 32 bits */
};

/* What a filter does when it is full. */
enum perhaps_growth {
    PERHAPS_GROW_DEFAULT = 0, /* a kind that can PERHAPS_GROW grows, as long as memory lasts; others do not */
    PERHAPS_GROW_NEVER =
        1, /* adding says PERHAPS_EFULL; also in a cuckoo filter, whose stash grows for copies of keys */
    PERHAPS_GROW_LAYERS = 2 /* it becomes a PERHAPS_GROWING filter, see below; a table or bitmap grows by itself */
};

/* No filter has more layers, or PERHAPS_REDIS_CUCKOO more sub-filters. What would need one more is PERHAPS_ERANGE, or
 * PERHAPS_EFULL there. */
#define PERHAPS_LAYERS_MAX 256

/* Where memory comes from. `allocate` returns at least `size` bytes aligned to 64 (any content) or NULL; `release`
 * gets what `allocate` gave, with the same size. Calls come only from within calls of this library; if several threads
 * share a filter, both must be safe to call from all of them (saving and cloning allocate too). */
typedef struct perhaps_allocator {
    void *(*allocate)(void *context, size_t size);
    void (*release)(void *context, void *memory, size_t size);
    void *context;
} perhaps_allocator;

/*
 * The recipe of keys: how a record of some input becomes the bytes of a key. The library does not apply it. It keeps
 * the recipe in the image, from perhaps_create on and through all copies, for programs that make the keys. It has two
 * parts.
 *
 * The transformation changes the bytes. Filters of different transformations are not combined, and a program that
 * cannot apply one must not use the filter: it would miss every key. The extraction only says where the key stands in
 * a record. Filters of different extraction combine, and the first one's is kept.
 *
 * Zero in a field is the plain case; a recipe of zeros takes no room. Files of other programs have no place for one
 * (PERHAPS_EINVAL), nor have their bytes (perhaps_write_foreign: PERHAPS_ECANNOT for a transformation).
 */
enum perhaps_key_form {
    PERHAPS_KEY_BYTES = 0, /* the key is the text */
    PERHAPS_KEY_HEX = 1,   /* pairs of hexadecimal digits: the key is the bytes that they mean */
    PERHAPS_KEY_U64 = 2,   /* a number below 2^64, for the _u64 calls */
    PERHAPS_KEY_INT32 = 3, /* a number: the key is its 4 bytes, little-endian, in two's complement */
    PERHAPS_KEY_INT64 = 4, /* the same with 8 bytes */
    PERHAPS_KEY_UTF16 = 5  /* text in UTF-8: the key is the same in UTF-16LE */
};

enum perhaps_records {
    PERHAPS_LINES = 0,           /* records end in a newline */
    PERHAPS_ZERO_TERMINATED = 1, /* records end in a zero byte */
    PERHAPS_RAW = 2              /* records are numbers of 8 bytes, little-endian; PERHAPS_KEY_U64 */
};

typedef struct perhaps_recipe {
    size_t size; /* of this struct; set by PERHAPS_RECIPE */
    /* transformation */
    int form;        /* enum perhaps_key_form */
    int ignore_case; /* 1 = ASCII letters are taken in lower case; PERHAPS_KEY_BYTES */
    /* extraction */
    int records;    /* enum perhaps_records */
    uint32_t field; /* 1, 2, ...: the key is this field of the record; 0 = the whole record */
    int delimiter;  /* the byte between fields, 1 to 255; 0 = a tab, which perhaps_recipe_of tells as such */
    int unknown;    /* told by perhaps_recipe_of: a step of the extraction that this version does not know; 0 = none */
} perhaps_recipe;

#define PERHAPS_RECIPE(...) ((perhaps_recipe){.size = sizeof(perhaps_recipe), __VA_ARGS__})

/*
 * What you want. Zero in a field means "choose for me". Fix two of the three:
 *
 *     how many keys      items
 *     how many mistakes  fpr
 *     how much memory    bits_per_key or bytes
 *
 * and the third follows; for table and bitmap, which make no mistakes to speak of, one of items and memory is enough (the
 * items of a bitmap are the integers 0..items-1). Make one with PERHAPS_WANT(.items = ..., .fpr = ...), or, where designated initialisers do
 * not exist (C++17), with perhaps_want_init(&want) and assignments.
 *
 * Filters that shall be merged later must be made with equal kind, items, fpr (or size), hash and seed.
 *
 * A static kind (fuse, ribbon) is sized when it is sealed, for the keys that it has then. So fpr or bits_per_key is enough for it.
 * Without items, bits_per_key is that of a million keys; small sets take more. bytes serve only plans.
 *
 * A filter of filters comes from one of these, over the kind that `kind` says (or that is chosen):
 *
 *   grow = PERHAPS_GROW_LAYERS: for sets of unknown size. `items` is a first guess (1,000 if it is 0), and fpr holds for ever:
 *       when the newest layer has its share of keys, a larger one is laid over it, and the layers' rates together stay
 *       below fpr. Over bloom, blocked, counting (no remove, then) and cuckoo. From a million keys on it takes at most 1.75
 *       times the memory of a filter made for the true number of keys when the newest layer is full, and 3.5 times when
 *       that is new. Asking costs more: a stranger is looked up in every layer.
 *
 *   generations = g: a window, which remembers the last `items` keys and forgets older ones. Over bloom, blocked and
 *       table. A key belongs to the newest generation; when that has items/(g-1) keys, the oldest is forgotten and
 *       becomes the newest. So every key of the last `items` adds is found, and none is remembered, other than by chance, that
 *       has items·g/(g-1) different younger ones. `add` of a key of an older generation answers 0, and makes it young again,
 *       for which it takes a place among the newest.
 *       With `period` it remembers keys by time instead: every key that was added less than `period` ago is found, none
 *       that is older than period·g/(g-1), rounded up. `items` is then how many adds come in a period, at most. They
 *       may come in any rhythm, all at once too: the fpr holds. A generation takes keys for period/(g-1), or until it
 *       has items/(g-1); in a burst there are up to 2g-2 generations in place of g, and those beyond g are freed when
 *       they are forgotten. Plans tell what g take. More than `items` in a period raise the rate (info.flooded), and
 *       nothing is lost. The same is so without memory for more than g generations; keys may then be remembered for
 *       longer, too.
 *       With `clear_at` it forgets the oldest generation when the newest's fill (perhaps_info) has reached this share;
 *       with one generation that is everything: the classic filter that clears itself at, say, 0.8.
 *
 *   shards = N: N filters, each for its share of the keys. Over every kind but bitmap and static ones, and over growing
 *       layers. A sharded table grows one shard at a time, so that growing never takes twice the memory.
 */
typedef struct perhaps_want {
    size_t size;    /* of this struct; set by PERHAPS_WANT and perhaps_want_init */
    int kind;       /* enum perhaps_kind; PERHAPS_ANY picks the fastest kind that is not much larger than the best */
    unsigned needs; /* what it must be able to do: set of enum perhaps_ability. PERHAPS_ANY takes
                       a bitmap never, and a multiset only for PERHAPS_REMOVE or PERHAPS_COUNT */
    uint64_t items; /* how many different keys it is for ("expected insertions"), or copies of a multiset; more raise
                       the fpr, or do not fit */
    double fpr;     /* chance of "perhaps" for a key never added, when `items` keys are in: between 0 and 1 */
    double bits_per_key; /* memory for each of `items` keys */
    uint64_t bytes;      /* memory in all, in whole words of 8, without the header (about 128) */
    int grow;            /* enum perhaps_growth */
    double growth; /* layers: by what the capacity grows with each, 1.5 to 16; 0 = 4 and 8 while it is small, then 2.
                      PERHAPS_REDIS_BLOOM and PERHAPS_REDIS_CUCKOO: a whole number up to 32,768; 0 = 2, and 1 */
    uint64_t max_bytes;   /* layers: at most so many bytes in all; what does not fit then is PERHAPS_EFULL */
    unsigned generations; /* window: 2 to 64 (1 with clear_at); 0 = no window, or 4 with period, 1 with clear_at */
    uint64_t period;      /* window: how long keys are remembered, in the units of the caller's clock; see
                                perhaps_advance */
    double clear_at;      /* window: the fill at which the oldest generation is forgotten, between 0 and 1 */
    unsigned shards;      /* 0 = not sharded; at most 65,536 */
    int shared;           /* 1 = many threads may add, ask and remove at the same time; see Threads above. cuckoo, table
                                and growing layers need shards for it */
    unsigned hashes;      /* bits set per key, if it matters: bloom and counting 1..64, blocked 8, 16 or 32;
                                cuckoo: places a key can be in, 4, 5, 6 or 8; fuse: places that a key looks at, 3 or 4 */
    unsigned lines;       /* at most so many cache lines touched per question (blocked has layouts of 1 and 2) */
    unsigned bucket;      /* PERHAPS_REDIS_CUCKOO: slots of a bucket, 1 to 255; 0 = 2 */
    unsigned steps;       /* PERHAPS_REDIS_CUCKOO: how many fingerprints are moved for a new one, 1 to 65,535; 0 = 20 */
    int hash;             /* enum perhaps_hash */
    uint64_t seed;        /* PERHAPS_XXH3: any number; the default 0 makes files of all programs mergeable */
    const uint8_t *hash_key; /* PERHAPS_SIPHASH: 16 secret bytes; copied */
    int key_in_file;         /* PERHAPS_SIPHASH: 1 = save() writes the key into the file; 0 = only a check of it */
    const struct perhaps_recipe *recipe; /* how records become keys, kept in the image; NULL = keys are what they are;
                                            copied. See perhaps_recipe */
    const perhaps_allocator *allocator;  /* NULL = the library's own; copied */
    uint64_t max_scratch;    /* static: memory for keys before they are sealed, 16 MiB at least; 0 = all of it */
    const char *scratch_dir; /* static: where the others wait, in a file without a name; NULL = here; copied */
} perhaps_want;

#define PERHAPS_WANT(...) ((perhaps_want){.size = sizeof(perhaps_want), __VA_ARGS__})

/* Sets every field to "choose for me". (free) */
static inline void perhaps_want_init(perhaps_want *want) {
#ifdef __cplusplus
    *want = perhaps_want();
#else
    *want = (perhaps_want){0};
#endif
    want->size = sizeof *want;
}

/*
 * Sets memory and hashes from a name, for those who think in bits per key:
 *
 *     "rough"   4 bits, k = 3    14.7 % false positives
 *     "fair"    8 bits, k = 6     2.2 %
 *     "good"   16 bits, k = 12    1 in 2,148
 *     "fine"   32 bits, k = 23    1 in 4.7 million
 *
 * It sets kind (PERHAPS_BLOOM), bits_per_key and hashes. PERHAPS_EINVAL for another name. (free)
 */
PERHAPS_API int perhaps_want_preset(perhaps_want *want, const char *name);

/* What a filter would be, before making it. */
struct perhaps_plan {
    size_t size;               /* of this struct; set it before the call */
    int kind;                  /* as wanted or as chosen */
    uint64_t items;            /* keys it is for */
    double fpr;                /* the rate this very layout has with `items` keys, digest collisions included */
    uint64_t bytes;            /* of the array */
    uint64_t image_bytes;      /* of the whole image: what a file takes */
    double bits_per_key;       /* of the array */
    double limit_bits_per_key; /* log2(1/fpr): what no filter can go below */
    double loss;               /* table: the chance that any two of `items` keys share a digest, and so are one */
    unsigned hashes;           /* bits set per key */
    unsigned lines;            /* cache lines touched per question, at most */
};

/*
 * Works out the layout for a want without making anything: `struct perhaps_plan plan = {.size = sizeof plan};`.
 * PERHAPS_EINVAL for nonsense (fpr not between 0 and 1, nothing fixed, three things fixed, ...), PERHAPS_ERANGE where
 * no layout does it (fpr below items/2^64, sizes beyond 64 bits, ...), PERHAPS_ENOMEM for more memory than the machine
 * has. (free)
 *
 * (The function and the struct share a name, as with stat(2).)
 */
PERHAPS_API int perhaps_plan(const perhaps_want *want, struct perhaps_plan *plan);

/* --------------------------------------------------------------------------------------- making and opening --- */

/* Makes an empty filter. Errors as perhaps_plan. On failure *f is NULL. (free) */
PERHAPS_API int perhaps_create(perhaps **f, const perhaps_want *want);

enum perhaps_open_flag {
    PERHAPS_OPEN_COPY = 1 << 0,      /* read it into memory of its own: changeable, independent of the source */
    PERHAPS_OPEN_WRITE = 1 << 1,     /* map the file, or borrow the bytes, for changing in place; see perhaps_sync */
    PERHAPS_OPEN_NO_VERIFY = 1 << 2, /* skip the payload's checksums: opens at once, however large. The header is always
                                        checked, and no damage to a payload can make a call unsafe, only wrong */
    PERHAPS_OPEN_RECOVER = 1 << 3,   /* open a file that was left dirty: payload taken as it is, items estimated anew */
    PERHAPS_OPEN_SHARED = 1 << 4     /* with COPY: like want.shared */
};

/* How to open. NULL for all defaults: map (or borrow) for reading, verify everything. */
typedef struct perhaps_open_options {
    size_t size;                        /* of this struct; set it before the call */
    unsigned flags;                     /* set of enum perhaps_open_flag */
    const uint8_t *hash_key;            /* 16 bytes, for a SipHash filter whose file does not hold its key */
    const perhaps_allocator *allocator; /* for the handle and for copies; NULL = the library's own; copied */
    int kind; /* PERHAPS_DCSO, ...: it is such a file of another program; PERHAPS_ANY = see for yourself */
} perhaps_open_options;

#define PERHAPS_OPEN(...) ((perhaps_open_options){.size = sizeof(perhaps_open_options), __VA_ARGS__})

/*
 * Opens a file that perhaps_save wrote. By default the file is mapped: nothing is copied, many processes share the
 * memory, and the filter is read-only. Everything that later calls rely on is checked before the first use; a damaged,
 * truncated or foreign file is refused and perhaps_why() says what is wrong with it.
 *
 * A file that another program truncates while it is mapped kills this one with SIGBUS, as with any mapping: replace
 * files by renaming (perhaps_save does), or open with PERHAPS_OPEN_COPY. So does a disk without room for a change in
 * place, for a bitmap: its files have holes, and get disk space as they fill. All other kinds get theirs when they are opened.
 *
 * With PERHAPS_OPEN_WRITE the file itself changes with every add, without save. The file is locked against a second
 * writer, against perhaps_lock_file and against being replaced by perhaps_save (all get PERHAPS_EBUSY), and marked
 * dirty from the first change until perhaps_sync. Filters that have mapped it for reading see the changes; do not
 * save or clone those meanwhile.
 *
 * Files of other programs open likewise, mapped or as a copy, and perhaps_save writes such a file again; they cannot be changed
 * in place, and have no checksums. Some can be told by their first bytes; others only if options.kind says what they are. (free)
 */
PERHAPS_API int perhaps_open(perhaps **f, const char *path, const perhaps_open_options *options);

/*
 * Opens an image in memory. Borrowed by default: zero copy, read-only, and `bytes` must stay unchanged as long as the
 * filter lives; any alignment will do. With PERHAPS_OPEN_COPY it becomes a filter of its own. With PERHAPS_OPEN_WRITE the
 * bytes, which must be the caller's to change, change with every add: of all kinds but filters of filters, which are
 * PERHAPS_ECANNOT. What would have to grow is PERHAPS_EFULL then. Before anyone else looks at the bytes: perhaps_sync. (free)
 */
PERHAPS_API int perhaps_open_memory(perhaps **f, const void *bytes, uint64_t length,
                                    const perhaps_open_options *options);

/*
 * Opens what another program keeps or saves. `kind` says whose it is, as such bytes seldom tell:
 *
 *     PERHAPS_REDIS_BLOOM   the chunks of BF.SCANDUMP, one after the other: the header, then the bits of every layer
 *     PERHAPS_REDIS_CUCKOO  the same of CF.SCANDUMP
 *     PERHAPS_GUAVA, ...    a whole file, as perhaps_open_memory takes it with options.kind
 *
 * What is opened is a copy of its own (a chain is a PERHAPS_GROWING filter over its layers) with all the verbs of its kind.
 * It can also be saved like any other, those of RedisBloom in this library's format. (free)
 */
PERHAPS_API int perhaps_open_foreign(perhaps **f, int kind, const void *bytes, uint64_t length,
                                     const perhaps_open_options *options);

/* How many bytes there must be in all, header included, if these are the first ones; a header that is not whole, or makes no
 * sense, is PERHAPS_EDAMAGED. `header` becomes the header's length. Also for the kinds that are files of other programs, of which
 * the first 64 bytes are enough, and more may follow what there must be, where perhaps_open allows it; their kind may be
 * PERHAPS_ANY, if the bytes tell (else PERHAPS_EFOREIGN). (free) */
PERHAPS_API int64_t perhaps_foreign_length(int kind, const void *bytes, uint64_t length, uint64_t *header);

/* A copy in memory of its own, changeable even if `f` is not; not of a static filter that still collects keys. (reads) */
PERHAPS_API int perhaps_clone(const perhaps *f, perhaps **copy);

/* Ends a filter; NULL is fine. A file opened with PERHAPS_OPEN_WRITE stays dirty unless perhaps_sync came before.
 * (changes) */
PERHAPS_API void perhaps_free(perhaps *f);

/* ----------------------------------------------------------------------------------------- adding and asking --- */

/*
 * Keys come in three forms, and a filter must be asked in the form in which it was filled:
 *
 *     bytes    any bytes, any length, NULs and the empty key included;
 *     _u64     integers, mixed by a bijection: two integers never share a digest (under PERHAPS_XXH3);
 *     _digest  64 bits that are already a uniform hash of the key. perhaps_digest gives the one that the bytes form
 *              would use, so a key may be hashed once and asked in many filters of equal hash and seed.
 *
 * Each form has a _many variant for n keys at a time. It gives the same answers as n single calls in order, two
 * to three times as fast, because memory is fetched ahead; use it wherever there is more than one key at hand. `answers` may be
 * NULL; otherwise answers[i] is 1 or 0, what the single call for key i would have returned.
 */

/* The keys of a batch, in one of five forms. */
enum perhaps_keys_form {
    PERHAPS_KEYS_FORM_BYTES = 0, /* pointers and lengths */
    PERHAPS_KEYS_FORM_PACKED,    /* one buffer, and n + 1 offsets into it */
    PERHAPS_KEYS_FORM_FIXED,     /* keys of equal length, at equal distances */
    PERHAPS_KEYS_FORM_U64,       /* integers */
    PERHAPS_KEYS_FORM_DIGEST     /* digests */
};

typedef struct perhaps_keys {
    int form;            /* enum perhaps_keys_form */
    size_t n;            /* number of keys */
    const void *data;    /* bytes: n pointers; packed: the buffer; others: the first key */
    const void *lengths; /* bytes: n lengths, size_t each; packed: n + 1 offsets */
    size_t width;        /* bytes: of a length; packed: of an offset, 4 or 8; others: of a key */
    size_t stride;       /* fixed, u64 and digest: bytes from one key to the next; 0 = width */
} perhaps_keys;

#ifdef __cplusplus
#define PERHAPS_KEYS_(...) (perhaps_keys{__VA_ARGS__})
#else
#define PERHAPS_KEYS_(...) ((perhaps_keys){__VA_ARGS__})
#endif
#define PERHAPS_KEYS_BYTES(pointers, lengths, n)                                                                       \
    PERHAPS_KEYS_(PERHAPS_KEYS_FORM_BYTES, (size_t)(n), (pointers), (lengths), sizeof *(lengths), 0)
#define PERHAPS_KEYS_PACKED(data, offsets, n)                                                                          \
    PERHAPS_KEYS_(PERHAPS_KEYS_FORM_PACKED, (size_t)(n), (data), (offsets), sizeof *(offsets), 0)
#define PERHAPS_KEYS_FIXED(data, width, stride, n)                                                                     \
    PERHAPS_KEYS_(PERHAPS_KEYS_FORM_FIXED, (size_t)(n), (data), NULL, (size_t)(width), (size_t)(stride))
#define PERHAPS_KEYS_U64(keys, stride, n)                                                                              \
    PERHAPS_KEYS_(PERHAPS_KEYS_FORM_U64, (size_t)(n), (keys), NULL, 8, (size_t)(stride))
#define PERHAPS_KEYS_DIGEST(digests, n)                                                                                \
    PERHAPS_KEYS_(PERHAPS_KEYS_FORM_DIGEST, (size_t)(n), (digests), NULL, sizeof *(digests), 0)

/*
 * Adds a key. 1 = it is new; 0 = it was perhaps there already (nothing changed). "add" and "mightContain" in one pass,
 * the addIfNotExist of other libraries. Kinds that can PERHAPS_COUNT are multisets: they store a copy every time and
 * answer 1, so that every add has its remove. PERHAPS_EFULL: no room, the key was not added. Negative on error. (changes)
 */
PERHAPS_API int perhaps_add(perhaps *f, const void *key, size_t length);
PERHAPS_API int perhaps_add_u64(perhaps *f, uint64_t key);
PERHAPS_API int perhaps_add_digest(perhaps *f, uint64_t digest);

/* The number of new keys, or a negative error, in which case no key was added: those before a PERHAPS_EFULL are taken out
 * again, and `answers` means nothing. A cuckoo filter of 4 MiB or more takes a batch of 32,768 keys or more, if it has no more
 * than 256 bytes for each of them, in another order and twice as fast. For that it takes 9 to 11 bytes for each of up to 4 million keys
 * (PERHAPS_ENOMEM without them). (changes) */
PERHAPS_API int64_t perhaps_add_many(perhaps *f, const perhaps_keys *keys, uint8_t *answers);

/*
 * Static kinds (fuse, ribbon) collect keys first: add answers 1 to each, and every question is PERHAPS_EUNSEALED. perhaps_seal then
 * makes the filter, after which it can be asked, and takes no more keys (PERHAPS_ESEALED). perhaps_save, perhaps_write and
 * perhaps_image seal what is not sealed, and it stays so if they then fail. perhaps_clear begins anew; what was sealed then has no
 * max_scratch any more. Keys may be added more than once, but count once when it is sealed. For other kinds perhaps_seal does nothing.
 *
 * Sealing takes memory for the filter (twice with an allocator that gives memory back late), and for each thread about 60 MiB, or
 * 50 bytes for each 256th of the keys if that is more; up to twice as much where most keys come several times. The allocator is called
 * from all threads. Where it fails, the keys are all still there. That no filter can be found for them, PERHAPS_ERANGE, has a
 * chance of less than one in 2^60, unless somebody chose them who knows the hash. (changes)
 */
typedef struct perhaps_seal_options {
    size_t size;      /* of this struct; set it before the call */
    unsigned threads; /* 0 = one for each processor; the filter is the same with any number */
    void (*progress)(void *context, uint64_t done, uint64_t all); /* keys; by one thread at a time; or NULL */
    void *context;
} perhaps_seal_options;

#define PERHAPS_SEAL(...) ((perhaps_seal_options){.size = sizeof(perhaps_seal_options), __VA_ARGS__})

/* NULL: with the caller's thread alone. */
PERHAPS_API int perhaps_seal(perhaps *f, const perhaps_seal_options *options);

/* Is it in the set? 0 = definitely not, 1 = perhaps ("mightContain"). Cannot fail for kinds that can be added to at any
 * time, but for the bytes form of a bitmap; if it ever returns a negative error, reading non-zero as "perhaps" is safe.
 * So it is for a static filter that is not sealed, which answers PERHAPS_EUNSEALED to all. (reads) */
PERHAPS_API int perhaps_contains(const perhaps *f, const void *key, size_t length);
PERHAPS_API int perhaps_contains_u64(const perhaps *f, uint64_t key);
PERHAPS_API int perhaps_contains_digest(const perhaps *f, uint64_t digest);

/* The number of keys that are perhaps in the set. (reads) */
PERHAPS_API int64_t perhaps_contains_many(const perhaps *f, const perhaps_keys *keys, uint8_t *answers);

/*
 * Multisets: adds the key only if it is not perhaps there already; for sets it is the same as perhaps_add. Do not mix it
 * with removes of the same keys: where it answered 0 because of another key that looks the same, nothing was stored, and
 * the remove that belongs to this key takes the other's only copy. (changes)
 */
PERHAPS_API int perhaps_add_absent(perhaps *f, const void *key, size_t length);
PERHAPS_API int perhaps_add_absent_u64(perhaps *f, uint64_t key);
PERHAPS_API int perhaps_add_absent_digest(perhaps *f, uint64_t digest);

/*
 * Takes a key out: one copy of it, of a multiset. 1 = done, 0 = it is definitely not there (nothing changed).
 *
 * Remove only what you added. A key that was never added, but for which the filter says "perhaps", takes away the
 * copy of another key that looks the same, and that one is then not found any more: cuckoo and counting cannot tell the two
 * apart. table and bitmap can: theirs is the kind to take where removes come from strangers. (changes)
 */
PERHAPS_API int perhaps_remove(perhaps *f, const void *key, size_t length);
PERHAPS_API int perhaps_remove_u64(perhaps *f, uint64_t key);
PERHAPS_API int perhaps_remove_digest(perhaps *f, uint64_t digest);

/* The number of keys that were taken out. (changes) */
PERHAPS_API int64_t perhaps_remove_many(perhaps *f, const perhaps_keys *keys, uint8_t *answers);

/* How many copies of a key are in a multiset: never too few, and too many only if another key looks the same. counting
 * counts to 15, which then means "15 or more". PERHAPS_ECANNOT for sets. (reads) */
PERHAPS_API int64_t perhaps_count(const perhaps *f, const void *key, size_t length);
PERHAPS_API int64_t perhaps_count_u64(const perhaps *f, uint64_t key);
PERHAPS_API int64_t perhaps_count_digest(const perhaps *f, uint64_t digest);

/* counts[i] becomes the count of key i; returns how many of them are not 0. (reads) */
PERHAPS_API int64_t perhaps_count_many(const perhaps *f, const perhaps_keys *keys, uint64_t *counts);

/*
 * Adds or asks n keys with so many threads (0 = one for each processor), which end before the call returns. Answers and errors
 * as of the _many calls; keys that the batch has twice are "new" at least once, and the order in which keys are added is not
 * fixed, so where the array depends on the order, it does. Adding needs a filter that could be `shared`, see perhaps_want (it
 * need not be); asking works on all. (changes; reads)
 */
PERHAPS_API int64_t perhaps_add_parallel(perhaps *f, const perhaps_keys *keys, uint8_t *answers, unsigned threads);
PERHAPS_API int64_t perhaps_contains_parallel(const perhaps *f, const perhaps_keys *keys, uint8_t *answers,
                                              unsigned threads);

/*
 * Tells a window with a `period` what time it is, in units of the caller's choice (seconds, milliseconds) that never go
 * back; a time before the last one is taken as the last one. Keys that were added before the first time is told count
 * as added then; so do keys that are added to a filter that was opened before it is told the time again. Generations
 * whose time is over are forgotten. The number of generations forgotten, without empty ones; 0 for all other filters.
 * (changes)
 */
PERHAPS_API int perhaps_advance(perhaps *f, uint64_t now);

/* A clock for a window with a `period`, asked once in each call that adds, so that perhaps_advance need not be called; the
 * library reads none by itself. Asking does not forget: between adds that may be long apart, call perhaps_advance. NULL takes
 * it away. Not part of the image. (changes) */
PERHAPS_API int perhaps_set_clock(perhaps *f, uint64_t (*now)(void *context), void *context);

/*
 * Walks through what is in the filter, for kinds that can PERHAPS_LIST: 1 = *digest is the next; 0 = that was all.
 *
 *     uint64_t at = 0, digest;
 *     while (perhaps_next(f, &at, &digest) == 1) use(digest);
 *
 * A table gives its digests in no particular order, each once, if the filter is not changed meanwhile; what comes out can be
 * put into another filter of equal hash and seed with perhaps_add_digest. A bitmap gives its integers in rising order,
 * and `at` may be set to any integer: the answer is the first in the set that is not below it. (reads)
 */
PERHAPS_API int perhaps_next(const perhaps *f, uint64_t *at, uint64_t *digest);

typedef struct perhaps_hasher {
    uint64_t opaque[5];
} perhaps_hasher;

PERHAPS_API int perhaps_hasher_init(perhaps_hasher *h, int hash, uint64_t seed, const uint8_t *hash_key);
PERHAPS_API const perhaps_hasher *perhaps_hasher_of(const perhaps *f);
PERHAPS_API uint64_t perhaps_digest(const perhaps_hasher *h, const void *key, size_t length);
PERHAPS_API uint64_t perhaps_digest_u64(const perhaps_hasher *h, uint64_t key);
PERHAPS_API int perhaps_digest_many(const perhaps_hasher *h, const perhaps_keys *keys, uint64_t *digests);

/* --------------------------------------------------------------------------------------------- whole filters --- */

/*
 * into = the union of both: exactly the filter that would have come from adding the keys of both; of multisets, the sum.
 * The two must have equal kind, layout, hash, seed and transformation of keys (tables and bitmaps may differ in
 * size); otherwise PERHAPS_EMISMATCH, and perhaps_why() names the field that differs. `items` becomes an estimate
 * where it cannot be exact. PERHAPS_EFULL or PERHAPS_ENOMEM if both do not fit into `into`, which then is as it was.
 *
 * Growing filters over sets need equal base, hash and seed only. Layers of `from` become part of layers like them, or layers of
 * their own: the union may have the layers of both, and a rate of up to twice the higher of the two. fpr_target is then the
 * higher one, for which further layers are planned. (changes `into`, reads `from`)
 */
PERHAPS_API int perhaps_merge(perhaps *into, const perhaps *from);

/* into = what both perhaps contain. Every key that is in both is kept; its fpr is at most the smaller of the two, but
 * higher than that of a filter made from the common keys alone. Exact for bitmaps. items and distinct become an
 * estimate of the common keys, |A| + |B| - |A or B|; foreign files do not keep it. (changes `into`, reads `from`) */
PERHAPS_API int perhaps_intersect(perhaps *into, const perhaps *from);

/* into = what is in `into` and not in `from`; what is in one of the two but not in both. Bitmaps. (changes `into`, reads
 * `from`) */
PERHAPS_API int perhaps_subtract(perhaps *into, const perhaps *from);
PERHAPS_API int perhaps_differ(perhaps *into, const perhaps *from);

/* PERHAPS_REDIS_CUCKOO: moves what is in newer sub-filters to older ones, as CF.COMPACT does, and gives back the memory of those
 * that are empty then. Other kinds have nothing to do. (changes) */
PERHAPS_API int perhaps_compact(perhaps *f);

/* PERHAPS_PARQUET: halves the array until it has at most so many bytes. It is then the filter that would have come from adding the
 * same keys to one made of that size, with the rate of that. How often it was halved; PERHAPS_ERANGE, and it is as it was, if
 * that takes halving an odd number of blocks (32 bytes each); PERHAPS_ECANNOT for other kinds, and for what is changed in
 * place. (changes) */
PERHAPS_API int perhaps_fold(perhaps *f, uint64_t bytes);

/* Forgets every key; a static filter then collects keys again. (changes) */
PERHAPS_API int perhaps_clear(perhaps *f);

/* 1 = same kind, layout, hash, seed, transformation of keys and array; 0 = not. cuckoo filters and tables with the
 * same keys, added in another order, may have different arrays. (reads both) */
PERHAPS_API int perhaps_equal(const perhaps *a, const perhaps *b);

/* ------------------------------------------------------------------------------------------------ looking in --- */

struct perhaps_info {
    size_t size;             /* of this struct; set it before the call */
    int kind;                /* enum perhaps_kind */
    const char *kind_name;   /* "bloom" */
    unsigned can;            /* set of enum perhaps_ability */
    unsigned traits;         /* set of enum perhaps_trait */
    uint64_t capacity;       /* keys it was made for */
    uint64_t items;          /* adds that answered 1, less removes that did; an estimate after merge, intersect and
                                recovery, except where the array tells exactly */
    double distinct;         /* different keys in it, estimated from the array */
    double fill;             /* share of bits (counters, slots) in use, 0..1 (the "use rate") */
    double fpr_target;       /* the rate it was planned for */
    double fpr_now;          /* the rate it has now, from the bits */
    double loss;             /* table: the chance that any two keys in it share a digest */
    uint64_t stuck;          /* counting: counters that have reached 15 and stay there */
    uint64_t stashed;        /* cuckoo: copies kept outside the slots; table: keys */
    uint64_t bytes;          /* of the array */
    uint64_t image_bytes;    /* of the whole image */
    double bits_per_key;     /* of the array, per key of capacity */
    unsigned hashes;         /* bits set per key */
    unsigned lines;          /* cache lines touched per question, at most */
    int hash;                /* enum perhaps_hash */
    const char *hash_name;   /* "xxh3" */
    uint64_t seed;           /* PERHAPS_XXH3: the seed; PERHAPS_SIPHASH: a check of the key */
    unsigned format_version; /* of the image */
    const char *isa;         /* instruction set in use: "scalar", "avx2", "avx512", "neon" */
    int read_only;           /* 1 = cannot be changed */
    int grow;                /* enum perhaps_growth */
    int shared;              /* 1 = many threads may change it */
    int base;                /* enum perhaps_kind: what a filter of filters is made of; else 0 */
    unsigned children;       /* layers, generations, shards; else 0 */
    uint64_t max_bytes;      /* layers: as in the want */
    uint64_t period;         /* window: as in the want */
    double clear_at;         /* window: as in the want */
    uint64_t since;          /* a generation of a window with a period: the time at which it began */
    double growth;           /* layers: as in the want */
    int collecting;          /* 1 = of a static kind, and not sealed yet: items are adds, and sizes those of the plan */
    unsigned generations;    /* window: as in the want; with a period there may be more children, in bursts */
    int flooded; /* window with a period, of a kind that does not grow: 1 = more than `capacity` keys came in
                                a period, so that fpr_now is above fpr_target, or may be when more come */
    int guessed; /* 1 = a foreign file that does not state capacity and fpr_target: they are those of a filter
                                with half of its bits set */
};

/* Everything about a filter: `struct perhaps_info info = {.size = sizeof info}; perhaps_info(f, &info);`. Counts
 * bits, so it reads the whole array. (reads) */
PERHAPS_API int perhaps_info(const perhaps *f, struct perhaps_info *info);

/* The same about child i of a filter of filters: layers and generations from the oldest to the newest, shards in order.
 * PERHAPS_EINVAL if there is none. (reads) */
PERHAPS_API int perhaps_child(const perhaps *f, unsigned i, struct perhaps_info *info);

/* Both without what takes counting bits, at once, however large the filter is: distinct, fill, fpr_now, loss, stuck and stashed
 * are 0. (reads) */
PERHAPS_API int perhaps_facts(const perhaps *f, struct perhaps_info *info);
PERHAPS_API int perhaps_child_facts(const perhaps *f, unsigned i, struct perhaps_info *info);

/* The recipe that the filter was made with; all zero if there is none. A program that makes keys must follow it.
 * (reads) */
PERHAPS_API int perhaps_recipe_of(const perhaps *f, perhaps_recipe *recipe);

/* ---------------------------------------------------------------------------------------------------- saving --- */

/*
 * Writes the filter to a file, atomically and durably: a temporary file beside it, fsync, rename, fsync of the folder.
 * After a crash at any moment there is the old file or the new one, and where the system knows files without names
 * (Linux does, on most file systems) nothing beside it; elsewhere the next save removes the leftover. A link is
 * followed. The new file keeps the permissions of the old one, its group if the caller is in it, and its owner if the
 * caller is root; an old file that cannot be read is not replaced.
 *
 * PERHAPS_EBUSY over a file that is locked: by perhaps_lock_file, or by a filter, this one included, that has it open
 * with PERHAPS_OPEN_WRITE; that one takes perhaps_sync. Several processes may save over one file at the same time:
 * the last one stays. (reads; changes what it seals)
 */
PERHAPS_API int perhaps_save(const perhaps *f, const char *path);

/*
 * Opening a file as a copy, changing it and saving it loses what another process has saved in between. A lock, taken
 * before the file is opened, keeps the others out until then:
 *
 *     perhaps_lock *lock;
 *     while ((rc = perhaps_lock_file(&lock, path)) == PERHAPS_EBUSY) sleep(1);
 *     rc = perhaps_open(&f, path, &PERHAPS_OPEN(.flags = PERHAPS_OPEN_COPY));
 *     perhaps_add(f, key, length);
 *     rc = perhaps_save_locked(f, lock);
 *     perhaps_unlock(lock);
 *
 * The lock is the library's because all who replace a file must respect it: perhaps_save and PERHAPS_OPEN_WRITE do,
 * and the command line is made of these calls. How long to wait is the caller's: the library never waits, but says
 * PERHAPS_EBUSY. Readers need no lock, and are not kept out: what they open is the old file or the new one, and stays
 * that. The lock is advisory (flock), and ends with the process. Do not use one lock in two threads at the same time.
 *
 * Locks a file, or the name of one that is not there yet. A save says PERHAPS_EBUSY if someone without a lock has made,
 * moved or removed the file in the meantime. PERHAPS_EIO on a file system without locks. (free)
 */
typedef struct perhaps_lock perhaps_lock;
PERHAPS_API int perhaps_lock_file(perhaps_lock **lock, const char *path);

/* Replaces the file that is locked, as perhaps_save does. The lock goes over to the new file, without a moment in
 * between. (reads; changes what it seals) */
PERHAPS_API int perhaps_save_locked(const perhaps *f, perhaps_lock *lock);

/* The same for any other file: with what `write` writes to `fd`. If it returns non-zero, the old file stays, and the
 * answer is PERHAPS_EIO; errno is then as it left it. (free) */
PERHAPS_API int perhaps_replace_locked(perhaps_lock *lock, int (*write)(void *context, int fd), void *context);

/* Ends a lock; NULL is fine. (free) */
PERHAPS_API void perhaps_unlock(perhaps_lock *lock);

/* Hands the image to `sink` piece by piece, in order; a sink that returns non-zero stops it and perhaps_write returns
 * PERHAPS_EIO. For pipes, sockets, objects in a store. (reads; changes what it seals) */
PERHAPS_API int perhaps_write(const perhaps *f, int (*sink)(void *context, const void *bytes, size_t length),
                              void *context);

/* The same in the format of the other program, for what perhaps_open_foreign can open; PERHAPS_ECANNOT for the rest. The header is
 * a piece of its own, and so is each layer. (reads) */
PERHAPS_API int perhaps_write_foreign(const perhaps *f, int (*sink)(void *context, const void *bytes, size_t length),
                                      void *context);

/* The image itself, in place, checksums brought up to date: valid until the next call that changes `f`. Of a
 * filter in memory of its own it contains the SipHash key, if there is one: memory images are for where the filter
 * lives. Of a file of another program it has the filter, but not the data that may have followed it. (changes) */
PERHAPS_API int perhaps_image(perhaps *f, const void **bytes, uint64_t *length);

/* For a file opened with PERHAPS_OPEN_WRITE: makes all changes durable and marks the file clean. For bytes opened with it:
 * brings number of items and checksums up to date. For others it does nothing. (changes) */
PERHAPS_API int perhaps_sync(perhaps *f);

/* ------------------------------------------------------------------------------------------ inside a database --- */

/*
 * What a database needs that keeps filters as values of its own: the small ones small, replicas equal, memory packed.
 *
 * A plain filter becomes the first layer of a growing one, which *f is from then on, and stays below `fpr` for ever; what
 * the first layer's own rate leaves of it is for those to come. growth and max_bytes as in a want. A filter that may stay small
 * can so be kept plain until it is full: an image of it is 320 bytes shorter. PERHAPS_EINVAL if `fpr` is not above the
 * rate that the filter was planned for, PERHAPS_ECANNOT for a kind that cannot be a layer. Make a cuckoo filter for this with
 * hashes = 4, as growing ones are made: with five places the strictest rate is 1 in 110,000, and later layers may need more. (changes)
 */
PERHAPS_API int perhaps_lay_over(perhaps **f, double fpr, double growth, uint64_t max_bytes);

/* The way back: *f becomes the only layer of a growing filter. PERHAPS_ECANNOT if it has several, or is none, or the layer is one
 * that perhaps_lay_over would refuse, as it may be in an image that was not made here. (changes) */
PERHAPS_API int perhaps_peel(perhaps **f);

/*
 * The shape of a filter: layout, hash, recipe and secret key of it and of all its children, without keys and in
 * integers. What is made from a shape is empty and has the very layout, on every machine, whatever its floating
 * point. The shape's length; it is written only if `room` is enough. (reads)
 */
PERHAPS_API int64_t perhaps_shape(const perhaps *f, void *shape, size_t room);
PERHAPS_API int perhaps_create_shape(perhaps **f, const void *shape, size_t length, const perhaps_allocator *allocator);

/* Gives a growing filter the layers that the shape has beyond its own, for when they are needed: a replica that gets the shape
 * first and then the keys has the same layers as the original. PERHAPS_EMISMATCH if the shape is not that of the same
 * filter, grown; nothing happens if it has no more layers. (changes) */
PERHAPS_API int perhaps_reshape(perhaps *f, const void *shape, size_t length);

/* PERHAPS_REDIS_CUCKOO: how many sub-filters it may grow to from now on, 1 to PERHAPS_LAYERS_MAX. It is 32 for what was just
 * made or opened: RedisBloom has this as a setting of the server, not of the filter, and its bytes do not tell.
 * PERHAPS_ECANNOT for other kinds. (changes) */
PERHAPS_API int perhaps_set_parts(perhaps *f, unsigned parts);

/* For memory that is packed while filters live in it: calls `move` for each piece of memory that the filter has from its
 * allocator, with its size. `move` gives the new place, with the same content and alignment, the old one being released, or
 * NULL where all stays as it is. The filter itself is one of the pieces; returns where it is now. (changes) */
PERHAPS_API perhaps *perhaps_relocate(perhaps *f, void *(*move)(void *context, void *memory, size_t size),
                                      void *context);

/* -------------------------------------------------------------------------------- explaining --- */

/* What a trace explains. */
enum perhaps_verb { PERHAPS_VERB_QUERY = 1, PERHAPS_VERB_ADD };

/* The steps of a trace. `name` says what is meant by the numbers. */
enum perhaps_step_kind {
    PERHAPS_STEP_DIGEST = 1, /* word `index` of the digest is `value` */
    PERHAPS_STEP_CHILD,      /* layer, generation or shard `index`: `value` keys of `wanted` */
    PERHAPS_STEP_POSITION,   /* bit, counter, bucket ... `index` has `value`, for a member `wanted` */
    PERHAPS_STEP_SLOT,       /* slot `index` has `value`, if it has the key `wanted` */
    PERHAPS_STEP_MOVE,       /* eviction: `value` in slot `index` goes to slot `to` as `wanted` */
    PERHAPS_STEP_STORE,      /* slot `index` has `value` and becomes `wanted` */
    PERHAPS_STEP_STASH,      /* cell `index` of the stash has `value`; it is or becomes `wanted` */
    PERHAPS_STEP_ROOM,       /* room is made: an array of `wanted` bytes; layer, generation `index` */
    PERHAPS_STEP_ANSWER      /* `value`, as int64_t, is what the call answers, and `why` the reason */
};

typedef struct perhaps_step {
    int step;                          /* enum perhaps_step_kind */
    unsigned depth;                    /* 0 = the filter, 1 = a child, 2 = a child of a child */
    int holds;                         /* 1 = it speaks for "perhaps" */
    uint64_t index, value, wanted, to; /* 0 where a step has none */
    const char *name;                  /* "bit", "layer" ...: static text */
    const char *why;                   /* answers: a sentence, static text; NULL for other steps */
} perhaps_step;

/*
 * Explains a query or an add of one key (a batch of one, in any form) and changes nothing. Returns the
 * number of steps, of which at most `room` are written, or a negative error. The last is the answer.
 *
 * A key is perhaps a member if all its positions hold; in kinds with slots, if a slot or the stash does.
 * Children come in the order of the call, up to the one that answers. All positions of a key are listed,
 * even if a query ends at the first that does not hold. An add sets the bits that do not hold, or
 * increments the counters; moves and stores come in its order. Bit i is bit i%8 of byte i/8 of the array.
 *
 * A trace of an add reads a window's clock. It foresees a full filter, which is an answer, but no lack of
 * memory. For a read-only filter it tells of an add to a copy. (reads)
 */
PERHAPS_API int64_t perhaps_trace(const perhaps *f, int verb, const perhaps_keys *key, perhaps_step *steps,
                                  size_t room);

#ifdef __cplusplus
}
#endif

#endif
