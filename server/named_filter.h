/*
 * A filter under its name on the server, for the length of a command: finding it, creating it,
 * adding to it, and telling replicas. Each named_open is followed by one named_close.
 *
 * The server sends the same to replicas and to the append-only file, in this order:
 *
 *     what has happened             what is sent                              by
 *     a filter was created          PERHAPS.CREATE with its shape             named_create
 *     a window by time forgot or    PERHAPS.ADVANCE with the time             named_advance
 *     began a generation
 *     adding may have begun one     PERHAPS.ADVANCE with its time             named_add
 *     adding has appended a layer,  PERHAPS.RESHAPE, the shape of all layers  named_close or
 *     or will soon: it is prepared                                            named_replicate_items
 *     something has changed         the client's command, verbatim            named_close
 *     instead, where some items     BF.INSERT or CF.INSERT with NOCREATE and  named_replicate_items
 *     may have found no room        the items that were added
 *     nothing has changed           nothing
 *
 * So a command that writes is sent like this:
 *
 *     BF.RESERVE, CF.RESERVE        as PERHAPS.CREATE; never verbatim
 *     BF.MADD, BF.INSERT            verbatim; as BF.INSERT if some items found no room
 *     BF.ADD, CF.ADD, CF.ADDNX      verbatim
 *     CF.INSERT                     verbatim if it is one batch and all was added; else as
 *     CF.INSERTNX                   CF.INSERT, one for each batch of items
 *     CF.DEL, CF.COMPACT, BF.MERGE, LOADCHUNK, PERHAPS.LOAD, .CREATE, .RESHAPE, .ADVANCE
 *                                   verbatim
 *     a query                       not at all
 *
 * Before each of them comes what it needs: CREATE for a new filter, ADVANCE for a window, RESHAPE
 * for a new layer. A query of a window by time may send ADVANCE too. If one command sends several,
 * the server puts MULTI and EXEC around them.
 *
 * Why shapes: layouts come from floating-point arithmetic, which may differ from machine to
 * machine, and secret keys are random. A shape has both as integers. Why layers first: the replica
 * keeps the new layer as a spare, fills the older one with the items, and goes on in the spare just
 * where the primary did. Why not always verbatim: a replica must not find room where its primary
 * found none.
 *
 * A rewrite of the append-only file does not use these commands but the value itself: see
 * aof_rewrite.c.
 *
 * A replica, and a server that loads its append-only file, does only what it is sent:
 *
 *     it may        answer queries, of a window by time as of its own clock (named_contains_many);
 *                   open and park values; enlarge a stash
 *     it may not    plan a layer or a filter, choose a secret key (it gets shapes)
 *                   let a window forget, or begin a generation, by its own clock (named_advance)
 *                   look at limits: cf-max-expansions, maxmemory (PERHAPS.CREATE does not)
 *
 * So its filters are equal to its primary's bit for bit. Only the forms of values (value.h) may
 * differ.
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
    perhaps *filter;  /* value_filter, if LOOKUP_FOUND */
    unsigned layers;  /* that replicas have; 0: nothing was added */
    uint64_t added;   /* items that came, new or not */
    uint64_t now;     /* milliseconds, where the clock was read for a window; else 0 */
    uint64_t as_of;   /* the same, where the window must stay as it is: answers are as of then */
    int parts;        /* of a cuckoo filter in RedisBloom's layout, for writing; else 0 */
    uint64_t refused; /* bytes that it would have grown to, beyond filter-memory-limit; else 0 */
    bool changed;     /* named_close tells listeners and replicas */
    bool replicated;  /* replicas have it already: no command verbatim */
};

/* Which filters a command takes: BF.* sets, CF.* multisets, PERHAPS.* both. */
enum command_family { FAMILY_ANY, FAMILY_BLOOM, FAMILY_CUCKOO };

/* Opens the key, and the filter if there is one. `mode` is REDISMODULE_READ, or with _WRITE. */
enum lookup named_open(struct named_filter *named, RedisModuleCtx *ctx, RedisModuleString *name, int mode,
                       enum command_family family);

/* Tells replicas what is left to tell, ends the filter and closes the key. `event` is what
 * listeners to the key hear if it changed. */
void named_close(struct named_filter *named, const char *event);

/* Puts a new filter under a name that has none, and tells replicas. It owns the filter from here
 * on, even on failure. False: no memory, or another module has the type. */
bool named_create(struct named_filter *named, perhaps *filter, const struct reported *reported);

/* Puts a value in the place of what is there; `filter` must have been ended. False: another module
 * has the type, and the value is still the caller's. */
bool named_set_value(struct named_filter *named, struct value *value);

/* As named_create, in place of what is there, and without telling replicas. */
bool named_set_filter(struct named_filter *named, perhaps *filter, const struct reported *reported);

/* Adds items, and layers if they are needed. The number of new items, or an error of the library:
 * then none was added. */
int64_t named_add(struct named_filter *named, const void *const *items, const size_t *lengths, size_t n,
                  uint8_t *answers);

/* Adds an item to a multiset if it is not there. */
int named_add_absent(struct named_filter *named, const void *item, size_t length);

/* Tells replicas of these items, not of the client's command. `command` is BF.INSERT or
 * CF.INSERT. */
void named_replicate_items(struct named_filter *named, const char *command, RedisModuleString **items, size_t count);

/* Opens a parked value. False: no memory. */
bool named_unpark(struct named_filter *named);

/* Whether this server is a replica or loads its data: see above. */
bool named_follows(const struct named_filter *named);

/* How many layers it has, or generations; and counts those that were appended since `before`. */
unsigned named_layers(const struct named_filter *named);
void named_count_layers(const struct named_filter *named, unsigned before);

/* Whether filter-memory-limit forbids a filter of this size. It is for clients: a replica takes
 * what its primary took, and a server what it had. */
bool named_is_too_large(const struct named_filter *named, uint64_t bytes);

/* How many more items the filter takes; UINT64_MAX unless `fixed`. */
uint64_t named_room(const struct named_filter *named);

/* Lets a window that forgets by time do so. A replica, and a server that loads its data or hands
 * over, leaves that to the commands it gets: its answers follow its clock, its data do not. */
void named_advance(struct named_filter *named);

/* Queries, and perhaps_facts: of a window by time as of now. */
void named_contains_many(const struct named_filter *named, const void *const *items, const size_t *lengths, size_t n,
                         uint8_t *answers);
void named_facts(const struct named_filter *named, struct perhaps_info *facts);

static inline int named_contains(const struct named_filter *named, const void *item, size_t length) {
    uint8_t answer = 0;
    if (!named->as_of) return perhaps_contains(named->filter, item, length);
    named_contains_many(named, &item, &length, 1, &answer);
    return answer;
}

#endif
