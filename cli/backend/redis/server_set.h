/* A set on servers. It is a hash at the key NAME, which describes it, and its shards at NAME:0,
 * NAME:1, ...: filters of the module, or plain strings of bits. An item belongs to the shard
 * CRC16(item) modulo the number of shards. */
#ifndef CLI_BACKEND_REDIS_SERVER_SET_H
#define CLI_BACKEND_REDIS_SERVER_SET_H

#include "input/input.h"
#include "dispatch.h"

#include <perhaps_embed.h>

enum set_kind { SET_BLOOM, SET_CUCKOO, SET_BITS, SET_KINDS };
extern const char *const set_kind_names[SET_KINDS];

enum { MOST_SHARDS = 32768, MOST_HASHES = 64, KEY_TEXT = URL_TEXT + 16, SEED_TEXT = 64, FIELDS_TEXT = 1024 };

/* The most bits that a string of the server can have. */
static const uint64_t most_bits = UINT64_C(1) << 32;

struct set {
    struct url url;
    struct cluster cluster;
    enum set_kind kind;
    bool single;       /* one filter, at NAME itself, and no hash */
    unsigned shards;   /* 1 to MOST_SHARDS */
    uint64_t items;    /* how many keys it was made for; 0 = unknown, it grows */
    double fpr;        /* 0 = unknown */
    bool tells_recipe; /* how its keys are made; a filter of another program does not */
    perhaps_recipe recipe;
    uint64_t bits;   /* SET_BITS: of each shard */
    unsigned hashes; /* SET_BITS: bits of each item */
    char seed[SEED_TEXT];
    char making[FIELDS_TEXT]; /* what it will be, if it is not finished; see set_join */
    unsigned *seen;           /* for each shard: 1 + restarts before it was seen; 0 = not yet */
};

/* Takes --at and --patience, and connects. */
int set_connect(struct set *set, const struct options *options);

/* The same, and finds out what is there. */
int set_open(struct set *set, const struct options *options);
void set_close(struct set *set);

/* Finds out what is there, of a set that is connected and of this type. */
int set_find(struct set *set, const char *type);

/* The type that the server has for the key NAME; "none" if there is no such key. */
int set_type(struct set *set, char type[32]);

/* Reads the hash at NAME. */
int set_read(struct set *set);

/* The hash as text, a field a line, "NAME VALUE\n"; and back, for those it has. */
void set_write_fields(const struct set *set, char text[FIELDS_TEXT]);
void set_read_fields(struct set *set, const char *text);

/* The shard of an item, and the key of a shard. Returns `key`. */
unsigned shard_of_item(const struct set *set, const void *item, size_t length);
const char *set_key(const struct set *set, unsigned shard, char key[KEY_TEXT]);

/* Says what a server answered about a key, and what to do. Returns TROUBLE. */
int set_refused(const struct set *set, const char *key, const redisReply *reply);

/* Runs one command and hands its reply to `function`. */
int set_ask(struct set *set, struct requests *requests, reply_function *function, void *context);

/* Runs the same command for each shard, with these words after the key, separated by spaces. */
int set_ask_shards(struct set *set, const char *command, const char *words, reply_function *function, void *context);

/* Is a value of this type a filter? */
bool set_type_is_filter(const char *type);

/* The reply to STRLEN, of plain strings, or TYPE says whether a shard is there and what it must be.
 * FINE, or TROUBLE after having said what is wrong. */
int set_check_shard(const struct set *set, unsigned shard, const redisReply *reply);

#endif
