/*
 * A filter under its name on the server, for the length of a command: finding it, creating it, adding
 * to it, and telling replicas. Each named_open is followed by one named_close.
 *
 * What goes to replicas and to the append-only file, in this order:
 *
 *     what has happened              what is sent                                    by
 *     a filter was created           PERHAPS.CREATE with its shape                   named_create
 *     a window forgot by time        PERHAPS.ADVANCE with the time                   named_advance
 *     adding may have begun a        PERHAPS.ADVANCE with its time                   named_add
 *     generation of such a window
 *     adding has appended a layer    PERHAPS.RESHAPE with the shape of all layers    named_close
 *     something has changed          the client's command, verbatim                  named_close
 *     some items found no room, or   BF.INSERT or CF.INSERT with NOCREATE and only   named_replicate_items
 *     CF.INSERT or CF.INSERTNX       the items that were added, not the command
 *     nothing has changed            nothing
 *
 * So of each command that writes, a replica gets:
 *
 *     BF.RESERVE, CF.RESERVE         PERHAPS.CREATE; never the command itself
 *     BF.ADD, BF.MADD, BF.INSERT     the command; BF.INSERT if the filter was full half-way
 *     CF.ADD, CF.ADDNX               the command
 *     CF.INSERT, CF.INSERTNX         CF.INSERT, one for each batch of items
 *     CF.DEL, CF.COMPACT, BF.MERGE, LOADCHUNK, PERHAPS.*       the command
 *     a query of a window by time    PERHAPS.ADVANCE, if the window forgot something
 *
 * Why shapes: layouts come from floating-point arithmetic, which may differ from machine to machine,
 * and secret keys from chance. A shape has both as integers. A layer comes before the keys that need
 * it, so that a replica never plans one itself. Why not always the command: a replica must not find
 * room where its primary found none.
 *
 * A replica, and a server that loads its append-only file, does only what it is sent. It does not
 * read the clock for a window (named_advance), and has no limit of parts (limit_parts): its primary
 * had one when the items were added. Its filters are equal to its primary's bit for bit; only the
 * forms of values (value.h) may differ.
 */
#ifndef PERHAPS_SERVER_NAMED_FILTER_H
#define PERHAPS_SERVER_NAMED_FILTER_H

#include "value_types.h"

/* What is under a name. A filter of the other family is the wrong type. */
enum lookup { LOOKUP_FOUND, LOOKUP_MISSING, LOOKUP_WRONG_TYPE, LOOKUP_LOADING, LOOKUP_NO_MEMORY };

struct named_filter {
    RedisModuleCtx *ctx;
    RedisModuleString *name;
    RedisModuleKey *handle;
    struct value *value;
    perhaps *filter; /* value_filter, if LOOKUP_FOUND */
    unsigned layers; /* that replicas have; 0: nothing was added to a growing filter */
    uint64_t now;    /* milliseconds, where the clock was read for a window; else 0 */
    bool changed;    /* named_close tells listeners and replicas */
    bool replicated; /* replicas have it already: no command verbatim */
};

/* Which filters a command takes: BF.* sets, CF.* multisets, PERHAPS.* both. */
enum command_family { FAMILY_ANY, FAMILY_BLOOM, FAMILY_CUCKOO };

/* Opens the key, and the filter if there is one. `mode` is REDISMODULE_READ, or with _WRITE. */
enum lookup named_open(struct named_filter *named, RedisModuleCtx *ctx, RedisModuleString *name, int mode,
                       enum command_family family);

/* Tells replicas what is left to tell. `event` is what listeners to the key hear if it changed. */
void named_close(struct named_filter *named, const char *event);

/* Puts a new filter under a name that has none, and tells replicas. It owns the filter from here
 * on, even on failure. False: no memory, or another module has the type. */
bool named_create(struct named_filter *named, perhaps *filter, const struct reported *reported);

/* Puts a value in the place of what is there; `filter` must have been ended. False: another module
 * has the type, and the value is still the caller's. */
bool named_set_value(struct named_filter *named, struct value *value);

/* As named_create, in place of what is there, and without telling replicas. */
bool named_set_filter(struct named_filter *named, perhaps *filter, const struct reported *reported);

/* Adds keys, and layers if they are needed. How many are new, or an error of the library: then none
 * was added. */
int64_t named_add(struct named_filter *named, const void *const *items, const size_t *lengths, size_t n,
                  uint8_t *answers);

/* Adds a key to a multiset if it is not there. */
int named_add_absent(struct named_filter *named, const void *item, size_t length);

/* Tells replicas of these items, not of the client's command. `command` is BF.INSERT or
 * CF.INSERT. */
void named_replicate_items(struct named_filter *named, const char *command, RedisModuleString **items, size_t count);

/* Opens a parked value. False: no memory. */
bool named_unpark(struct named_filter *named);

/* How many more items the filter takes; UINT64_MAX unless `fixed`. */
uint64_t named_room(const struct named_filter *named);

/* Lets a window that forgets by time do so, unless this server is a replica. */
void named_advance(struct named_filter *named);

#endif
