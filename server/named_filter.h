/*
 * A key of the server for the length of a command: finding its filter, making one, adding to it, and telling replicas.
 *
 * What replicas get. Layouts come from floating-point arithmetic, which may differ from machine to machine, and hash keys from
 * chance. So a new filter goes out as its shape, and so does a layer that adding has brought, before the keys that need it;
 * the keys go out as the client's own command. What changes nothing does not go out.
 */
#ifndef PERHAPS_SERVER_NAMED_FILTER_H
#define PERHAPS_SERVER_NAMED_FILTER_H

#include "value_types.h"

enum found { FOUND, MISSING, WRONG_TYPE, STILL_LOADING, NO_MEMORY };

struct held {
    RedisModuleCtx *ctx;
    RedisModuleString *name;
    RedisModuleKey *key;
    struct value *value;
    perhaps *filter; /* if FOUND */
    unsigned layers; /* that replicas know of */
    uint64_t now;    /* what a window by time was told the time is; 0 = nothing */
    bool changed;    /* listeners must be told, and replicas */
    bool replicated; /* replicas know already */
};

/* What a command is for. */
enum family { ANY_FILTER, BLOOM_FILTER, CUCKOO_FILTER };

/* After each of these come let_go and nothing else. */
enum found hold(struct held *held, RedisModuleCtx *ctx, RedisModuleString *name, int mode, enum family family);

/* Ends it; `event` is what listeners to the key hear if it has changed. */
void let_go(struct held *held, const char *event);

/* The error for a command that needs a filter and has none; `missing` is the one for a key that does not exist. */
int reply_not_held(RedisModuleCtx *ctx, enum found found, const char *missing);

/* Puts a new filter, which it takes over, under a held key where there is none, and tells replicas. False: no memory. */
bool hold_new(struct held *held, perhaps *filter, const struct told *told);

/* Puts a value, which it takes over if it can, under a held key in place of what is there. A filter that is held must have been
 * ended. */
bool hold_value(struct held *held, struct value *value);

/* As hold_new, without telling. */
bool hold_quietly(struct held *held, perhaps *filter, const struct told *told);

/* Adds keys: how many are new, or an error of the library; then none was added. Enough memory and layers are taken. */
int64_t hold_add(struct held *held, const void *const *items, const size_t *lengths, size_t n, uint8_t *answers);

/* Adds a key to a multiset if it is not there. */
int hold_add_absent(struct held *held, const void *item, size_t length);

/* Tells replicas of these items, instead of the client's command of which some found no room. `command` is BF.INSERT or
 * CF.INSERT. */
void hold_replicate_items(struct held *held, const char *command, RedisModuleString **items, size_t count);

/* Gives a small filter a form in which it can grow; false: no memory. */
bool hold_unparked(struct held *held);

/* How many more items a filter of a fixed number takes. */
uint64_t hold_room(const struct held *held);

/* Lets a window that forgets by time do so. */
void hold_advance(struct held *held);

#endif
