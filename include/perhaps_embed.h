/*
 * perhaps_embed.h: for databases that keep filters as values (small ones small, replicas equal,
 * memory packed, foreign dumps), and for tools that hash keys once, make them from records or share
 * files.
 *
 * Conventions and the words "reads", "changes" and "free" are those of perhaps.h.
 */
#ifndef PERHAPS_EMBED_H
#define PERHAPS_EMBED_H

#include <perhaps.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --------------------------------------------------------------------------------- memory --- */

/* Where memory comes from; copied with the want. `allocate` returns `size` bytes aligned to 64, of
 * any content, or NULL; `release` gets the same size. `allocate_zeroed` may be NULL; if the caller
 * has memory of zeros at hand, such as fresh pages of the system, a new filter is never touched as
 * a whole. `enlarge` may be NULL, and may give NULL: then arrays that grow at their end are copied.
 * Else it gives `larger` bytes, of which the first `size` are those of `memory`, which it releases,
 * and the rest zeros. Calls come only from within calls of this library, but from every thread that
 * makes one or seals: saving and cloning allocate too. */
struct perhaps_allocator {
    void *(*allocate)(void *context, size_t size);
    void (*release)(void *context, void *memory, size_t size);
    void *context;
    void *(*allocate_zeroed)(void *context, size_t size);
    void *(*enlarge)(void *context, void *memory, size_t size, size_t larger);
};

/* For memory that is packed while filters live in it: calls `move` for each piece of memory that
 * the filter has from its allocator, with its size. `move` returns the new place, with the same
 * content and alignment, the old one being released; or NULL where all stays as it is. The filter
 * itself is one of the pieces: returns where it is now. (changes) */
PERHAPS_API perhaps *perhaps_relocate(perhaps *f, void *(*move)(void *context, void *memory, size_t size),
                                      void *context);

/* The image itself, valid until the next call that changes `f`. Of a filter in memory it has the
 * secret key, if there is one. It is always in this library's format: of a foreign kind it has
 * other bytes than perhaps_write gives, and not info.image_bytes of them; what follows the filter
 * in a foreign file is not in it. (changes) */
PERHAPS_API int perhaps_image(perhaps *f, const void **bytes, uint64_t *length);

/* PERHAPS_REDIS_CUCKOO: moves keys of newer sub-filters to older ones, as CF.COMPACT does, and
 * frees those that are empty then. Other kinds have nothing to do. (changes) */
PERHAPS_API int perhaps_compact(perhaps *f);

/* PERHAPS_PARQUET: halves the array until it has at most `bytes` bytes. The result is the filter of
 * that size with the same keys, with its fpr. Returns the number of halvings. PERHAPS_ERANGE if the
 * blocks (32 bytes each) cannot be halved that often, PERHAPS_ECANNOT for other kinds and for what
 * is changed in place. (changes) */
PERHAPS_API int perhaps_fold(perhaps *f, uint64_t bytes);

/* --------------------------------------------------------------------------------- hashers --- */

/* A hash with its seed or secret key, for digests: a plain value, which may be copied. */
typedef struct perhaps_hasher {
    uint64_t opaque[5];
} perhaps_hasher;

/* A hasher from enum perhaps_hash (default: xxh3), with a hash_key for PERHAPS_SIPHASH only (free).
 * The filter's, valid while that lives; copy it if another thread may change the filter (reads). */
PERHAPS_API int perhaps_hasher_init(perhaps_hasher *h, int hash, uint64_t seed, const uint8_t *hash_key);
PERHAPS_API const perhaps_hasher *perhaps_hasher_of(const perhaps *f);

/* The digest of a key in each form. PERHAPS_IDENTITY has none of bytes. (free) */
PERHAPS_API uint64_t perhaps_digest(const perhaps_hasher *h, const void *key, size_t length);
PERHAPS_API uint64_t perhaps_digest_u64(const perhaps_hasher *h, uint64_t key);
PERHAPS_API int perhaps_digest_many(const perhaps_hasher *h, const perhaps_keys *keys, uint64_t *digests);

/* --------------------------------------------------------------------------------- layers --- */

/* No filter has more layers, or PERHAPS_REDIS_CUCKOO more sub-filters. One more is PERHAPS_ERANGE,
 * or PERHAPS_EFULL there. */
#define PERHAPS_LAYERS_MAX 256

/* A plain filter becomes the first layer of a growing one, which *f is from then on. Its fpr stays
 * below `fpr` forever; later layers share what the first layer's fpr leaves of it. growth and
 * max_bytes as in a want; or growth is -1 to -16: the next layer is 1 to 16 times as large as the
 * newest, and the shares are for a filter that grows little. So a filter that may stay small is
 * plain until it is full: its image is 320 bytes shorter. PERHAPS_EINVAL unless `fpr` is above the
 * fpr that the filter was planned for, PERHAPS_ECANNOT for a kind that cannot be a layer. Make a
 * cuckoo filter for this with hashes = 4: with five places the strictest fpr is 1 in 110,000, and
 * later layers may need more. (changes) */
PERHAPS_API int perhaps_grow_layers(perhaps **f, double fpr, double growth, uint64_t max_bytes);

/* The way back: *f becomes the only layer of a growing filter. PERHAPS_ECANNOT if it has several,
 * is not growing, or has a layer that perhaps_grow_layers would refuse. (changes) */
PERHAPS_API int perhaps_ungrow_layers(perhaps **f);

/* How many layers a growing filter has; 0 for others. (free) */
PERHAPS_API unsigned perhaps_layers(const perhaps *f);

/* PERHAPS_REDIS_CUCKOO: the number of sub-filters it may grow to, 1 to PERHAPS_LAYERS_MAX; 32 for
 * one that was just made or opened. RedisBloom has it as a setting of the server, and its bytes do
 * not tell. Returns how many it has. PERHAPS_ECANNOT for other kinds. (changes) */
PERHAPS_API int perhaps_set_parts(perhaps *f, unsigned parts);

/* ------------------------------------------------------------------------ plans and windows --- */

/* A bloom filter by name: "rough" 4 bits per key, k = 3, fpr 14.7 %; "fair" 8, 6, 2.2 %; "good" 16,
 * 12, 1 in 2,148; "fine" 32, 23, 1 in 4.7 million. (free) */
PERHAPS_API int perhaps_want_preset(perhaps_want *want, const char *name);

/* A clock that every adding call of a window with a `period` reads, in the place of
 * perhaps_advance; queries do not forget. NULL = none. (changes) */
PERHAPS_API int perhaps_set_clock(perhaps *f, uint64_t (*now)(void *context), void *context);

/* What queries and perhaps_facts would say after perhaps_advance(f, now), without that: for a
 * replica, whose data change only as its original says. PERHAPS_EINVAL for what has no `period`.
 * (reads) */
PERHAPS_API int64_t perhaps_contains_as_of(const perhaps *f, uint64_t now, const perhaps_keys *keys, uint8_t *answers);
PERHAPS_API int perhaps_facts_as_of(const perhaps *f, uint64_t now, struct perhaps_info *info);

/* --------------------------------------------------------------------------------- shapes --- */

/* The shape of a filter: layout, hash, recipe and secret key of it and of its children, in integers
 * and without keys. Returns its length; it is written only if `room` is enough. (reads) */
PERHAPS_API int64_t perhaps_shape(const perhaps *f, void *shape, size_t room);

/* An empty filter of that shape: the same layout on every machine. (free) */
PERHAPS_API int perhaps_create_shape(perhaps **f, const void *shape, size_t length, const perhaps_allocator *allocator);

/* Gives a growing filter the layers that the shape has beyond its own: a replica that gets the
 * shape first and then the keys has the layers of the original. PERHAPS_EMISMATCH if it is not the
 * shape of the same filter, grown. (changes) */
PERHAPS_API int perhaps_reshape(perhaps *f, const void *shape, size_t length);

/* Prepares a growing filter for its next layer, a little with each call, so that no add has to wait
 * for it: when the newest layer is nearly full, touches as much memory of the next one as is due
 * after `added` further keys. 1 if there is none yet: perhaps_make_layer makes it. Its shape has
 * that layer from then on; it holds no keys and is in no image. Filters that do not grow in layers
 * need nothing: 0. (changes) */
PERHAPS_API int perhaps_prepare_layer(perhaps *f, uint64_t added);

/* Makes the next layer ahead. Should that fail, perhaps_prepare_layer asks for it no more, and it
 * is tried again when the layer is needed. (changes) */
PERHAPS_API int perhaps_make_layer(perhaps *f);

/* --------------------------------------------------------------------------- packed filters --- */

/*
 * A small filter as a value of a database: its handle takes more memory than its bits, so between
 * two calls it is kept packed. `head` says in some dozen bytes what it is, `bytes` has its arrays;
 * while it has few keys, only their bytes that are not zero. It is for this process alone; files
 * and other machines get images.
 */
typedef struct perhaps_packed {
    void *head;
    size_t head_length;
    void *bytes;
    size_t length;
} perhaps_packed;

/* Packs a plain filter, or a growing one, into memory of these lengths, which become those that it
 * takes: if that is more, PERHAPS_ERANGE. `old` is what it was unpacked from, or NULL: where all
 * arrays are still there, packed->bytes becomes old->bytes and only the head is written.
 * PERHAPS_ECANNOT for other filters, and for those with a recipe. (reads) */
PERHAPS_API int perhaps_pack(const perhaps *f, const perhaps_packed *old, perhaps_packed *packed);

/* The filter, until perhaps_free. Its arrays may be changed in place, so `bytes` must stay as long;
 * _copy takes a copy. (free) */
PERHAPS_API int perhaps_unpack(perhaps **f, const perhaps_packed *packed, const perhaps_allocator *allocator);
PERHAPS_API int perhaps_unpack_copy(perhaps **f, const perhaps_packed *packed, const perhaps_allocator *allocator);

/* -------------------------------------------------------------------------- foreign dumps --- */

/*
 * Imports the bytes of another program. `kind` says whose they are:
 *
 *     PERHAPS_REDIS_BLOOM   the chunks of BF.SCANDUMP in order: header, then the bits of each layer
 *     PERHAPS_REDIS_CUCKOO  the same of CF.SCANDUMP
 *     PERHAPS_GUAVA, ...    a whole file, as perhaps_open_memory takes it with options.kind
 *
 * The filter is a copy in memory (a chain is a PERHAPS_GROWING filter over its layers) with all
 * verbs of its kind. perhaps_save writes those of RedisBloom in this library's format. (free)
 *
 * A want of kind PERHAPS_REDIS_BLOOM makes one layer, or a chain with PERHAPS_GROW_LAYERS. growth
 * is then a whole number up to 32,768: 0 = 2 for BF, 1 for CF. bucket is the number of slots of a
 * PERHAPS_REDIS_CUCKOO bucket, 1 to 255 (0 = 2); steps is how many fingerprints are moved for a new
 * key, 1 to 65,535 (0 = 20).
 */
PERHAPS_API int perhaps_open_foreign(perhaps **f, int kind, const void *bytes, uint64_t length,
                                     const perhaps_open_options *options);

/* The number of bytes there must be in all, header included, if these are the first ones; *header
 * becomes the header's length. PERHAPS_EDAMAGED for a header that is not whole or makes no sense.
 * For foreign files 64 bytes are enough, more may follow where perhaps_open allows it, and the kind
 * may be PERHAPS_ANY if the bytes tell (else PERHAPS_EFOREIGN). (free) */
PERHAPS_API int64_t perhaps_foreign_length(int kind, const void *bytes, uint64_t length, uint64_t *header);

/* Exports what perhaps_open_foreign can import; the header is a piece, and so is each layer.
 * PERHAPS_ECANNOT for other kinds and for a recipe with a transformation. (reads) */
PERHAPS_API int perhaps_write_foreign(const perhaps *f, int (*sink)(void *context, const void *bytes, size_t length),
                                      void *context);

/* --------------------------------------------------------------------------------- recipes --- */

/*
 * The recipe of keys: how a record of some input becomes a key; copied with the want. The library
 * keeps it in the image, through all copies, for the programs that make the keys. It does not apply
 * it. Zero in a field is the plain case, and a recipe of zeros takes no room.
 *
 * The transformation changes the bytes. Filters of different transformations do not combine, and a
 * program that cannot apply one must not use the filter: it would miss every key. The extraction
 * says where the key stands in a record. Filters of different extraction combine, and the first
 * one's is kept. Foreign files have no place for a recipe (PERHAPS_EINVAL).
 */
enum perhaps_key_form {
    PERHAPS_KEY_BYTES = 0, /* the key is the text */
    PERHAPS_KEY_HEX = 1,   /* pairs of hexadecimal digits: the key is the bytes that they mean */
    PERHAPS_KEY_U64 = 2,   /* a number below 2^64, for the _u64 calls */
    PERHAPS_KEY_INT32 = 3, /* a number: the key is its 4 bytes, little-endian, two's complement */
    PERHAPS_KEY_INT64 = 4, /* the same with 8 bytes */
    PERHAPS_KEY_UTF16 = 5  /* text in UTF-8: the key is the same in UTF-16LE */
};

enum perhaps_records {
    PERHAPS_LINES = 0,           /* records end in a newline */
    PERHAPS_ZERO_TERMINATED = 1, /* records end in a zero byte */
    PERHAPS_RAW = 2,             /* records are little-endian numbers of 8 bytes; PERHAPS_KEY_U64 */
    PERHAPS_CSV = 3,             /* fields may be quoted, as RFC 4180 has it */
    PERHAPS_TSV = 4,             /* lines; fields end in a tab, and nothing is quoted */
    PERHAPS_WHITESPACE = 5,      /* lines; fields stand between runs of spaces and tabs */
    PERHAPS_JSON_LINES = 6       /* each line is a JSON text */
};

#define PERHAPS_RECIPE_TEXT 256

struct perhaps_recipe {
    size_t size; /* of this struct; set by PERHAPS_RECIPE */
    /* transformation */
    int form;        /* enum perhaps_key_form */
    int ignore_case; /* 1 = ASCII letters in lower case; PERHAPS_KEY_BYTES */
    /* extraction */
    int records;    /* enum perhaps_records */
    uint32_t field; /* the key is field 1, 2, ... of the record; 0 = the whole record */
    int delimiter;  /* the byte between fields, 1 to 255; 0 = a tab, of PERHAPS_CSV a comma */
    int unknown;    /* from perhaps_recipe_of: a step that this version does not know; 0 = none */
    int header;     /* 1 = the first record of each file names the fields, and is no key */
    int trim;       /* 1 = white space of ASCII around a key, or a field of it, is no part */
    /* Where `field` does not say it: several fields or names ("2,3", "name,city"), of which the key
     * is the netstrings; or for PERHAPS_JSON_LINES the path to it (".user.id"). "" = neither. */
    char where[PERHAPS_RECIPE_TEXT];
    /* Keys are all runs of this many words of that text, with a space between two; 0 = it is one
     * key. Words stand between white space of ASCII; fewer are one key. PERHAPS_KEY_BYTES. */
    uint32_t ngram;
};

#define PERHAPS_RECIPE(...) ((perhaps_recipe){.size = sizeof(perhaps_recipe), __VA_ARGS__})

/* The recipe of a filter; all zero if there is none. A program that makes keys must follow it.
 * (reads) */
PERHAPS_API int perhaps_recipe_of(const perhaps *f, perhaps_recipe *recipe);

/* ----------------------------------------------------------------------------------- locks --- */

/* A lock on a file, or on the name of one to come, from before it is opened until it is saved, or
 * PERHAPS_EBUSY. Advisory (flock), for one thread; readers need none. (free) */
typedef struct perhaps_lock perhaps_lock;
PERHAPS_API int perhaps_lock_file(perhaps_lock **lock, const char *path);
PERHAPS_API void perhaps_unlock(perhaps_lock *lock);

/* Replaces the locked file, as perhaps_save does; the lock goes over to the new file. PERHAPS_EBUSY
 * if someone without a lock has made, moved or removed it. (reads) */
PERHAPS_API int perhaps_save_locked(const perhaps *f, perhaps_lock *lock);

/* Replaces a locked file, as perhaps_save_locked does, with what `write` writes to `fd`. If it
 * returns non-zero, the old file stays and the answer is PERHAPS_EIO; errno is then as it left it.
 * (free) */
PERHAPS_API int perhaps_replace_locked(perhaps_lock *lock, int (*write)(void *context, int fd), void *context);

#ifdef __cplusplus
}
#endif

#endif
