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

enum lookup { LOOKUP_FOUND, LOOKUP_MISSING, LOOKUP_WRONG_TYPE, LOOKUP_LOADING, LOOKUP_NO_MEMORY };

struct named_filter {
    RedisModuleCtx *ctx;
    RedisModuleString *name;
    RedisModuleKey *handle;
    struct value *value;
    perhaps *filter; /* if LOOKUP_FOUND */
    unsigned layers; /* that replicas know of */
    uint64_t now;    /* what a window by time was told the time is; 0 = nothing */
    bool changed;    /* listeners must be told, and replicas */
    bool replicated; /* replicas know already */
};

/* What a command is for. */
enum command_family { FAMILY_ANY, FAMILY_BLOOM, FAMILY_CUCKOO };

/* After each of these come named_close and nothing else. */
enum lookup named_open(struct named_filter *named, RedisModuleCtx *ctx, RedisModuleString *name, int mode,
                       enum command_family family);

/* Ends it; `event` is what listeners to the key hear if it has changed. */
void named_close(struct named_filter *named, const char *event);

/* Puts a new filter, which it takes over, under a named key where there is none, and tells replicas. False: no memory. */
bool named_create(struct named_filter *named, perhaps *filter, const struct reported *reported);

/* Puts a value, which it takes over if it can, under a named key in place of what is there. A filter that is named must have been
 * ended. */
bool named_set_value(struct named_filter *named, struct value *value);

/* As named_create, without telling. */
bool named_set_filter(struct named_filter *named, perhaps *filter, const struct reported *reported);

/* Adds keys: how many are new, or an error of the library; then none was added. Enough memory and layers are taken. */
int64_t named_add(struct named_filter *named, const void *const *items, const size_t *lengths, size_t n,
                  uint8_t *answers);

/* Adds a key to a multiset if it is not there. */
int named_add_absent(struct named_filter *named, const void *item, size_t length);

/* Tells replicas of these items, instead of the client's command of which some found no room. `command` is BF.INSERT or
 * CF.INSERT. */
void named_replicate_items(struct named_filter *named, const char *command, RedisModuleString **items, size_t count);

/* Gives a small filter a form in which it can grow; false: no memory. */
bool named_unpark(struct named_filter *named);

/* How many more items a filter of a fixed number takes. */
uint64_t named_room(const struct named_filter *named);

/* Lets a window that forgets by time do so. */
void named_advance(struct named_filter *named);

#endif
