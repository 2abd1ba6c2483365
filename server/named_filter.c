#include "named_filter.h"

#include "settings.h"

#include <perhaps_embed.h>

static struct perhaps_info facts_of(const perhaps *filter) {
    struct perhaps_info facts = {.size = sizeof facts};
    perhaps_facts(filter, &facts);
    return facts;
}

/* ---- finding ---- */

static enum lookup look_up(struct named_filter *named, enum command_family family) {
    RedisModuleType *type = RedisModule_ModuleTypeGetType(named->handle);
    if (!type)
        return RedisModule_KeyType(named->handle) == REDISMODULE_KEYTYPE_EMPTY ? LOOKUP_MISSING : LOOKUP_WRONG_TYPE;
    if (type != type_native && type != type_bloom && type != type_cuckoo) return LOOKUP_WRONG_TYPE;
    named->value = RedisModule_ModuleTypeGetValue(named->handle);
    if (named->value->form == VALUE_LOADING) return LOOKUP_LOADING;
    if (family != FAMILY_ANY && named->value->multiset != (family == FAMILY_CUCKOO)) return LOOKUP_WRONG_TYPE;
    named->filter = value_filter(named->value);
    return named->filter ? LOOKUP_FOUND : LOOKUP_NO_MEMORY;
}

/* The limit is a setting of this server. Items of its primary or its AOF found room before. */
static void limit_parts(struct named_filter *named) {
    if (!named->value->foreign || !named->value->multiset) return;
    int follows = REDISMODULE_CTX_FLAGS_SLAVE | REDISMODULE_CTX_FLAGS_LOADING;
    bool limited =
        !(RedisModule_GetContextFlags(named->ctx) & follows) && settings.cf_max_expansions < PERHAPS_LAYERS_MAX;
    perhaps_set_parts(named->filter, limited ? (unsigned)settings.cf_max_expansions : PERHAPS_LAYERS_MAX);
}

enum lookup named_open(struct named_filter *named, RedisModuleCtx *ctx, RedisModuleString *name, int mode,
                       enum command_family family) {
    *named = (struct named_filter){.ctx = ctx, .name = name, .handle = RedisModule_OpenKey(ctx, name, mode)};
    /* For reading, a key that does not exist has no handle. */
    enum lookup found = named->handle ? look_up(named, family) : LOOKUP_MISSING;
    if (found == LOOKUP_FOUND && named->value->timed) named_advance(named);
    if (found == LOOKUP_FOUND && mode & REDISMODULE_WRITE) limit_parts(named);
    return found;
}

/* ---- telling replicas ---- */

/* The shape of a filter, a few hundred bytes that the caller frees; its length. */
static size_t shape_of(const perhaps *filter, char **shape) {
    size_t length = (size_t)perhaps_shape(filter, NULL, 0);
    *shape = RedisModule_Alloc(length);
    perhaps_shape(filter, *shape, length);
    return length;
}

static unsigned layers_of(const struct named_filter *named) {
    return facts_of(named->filter).children;
}

static void replicate_new(const struct named_filter *named) {
    const struct reported *reported = &named->value->reported;
    perhaps *whole = value_whole(named->value);
    char *shape;
    size_t length = shape_of(whole, &shape);
    RedisModule_Replicate(named->ctx, command_name("PERHAPS.CREATE"), "sblll", named->name, shape, length,
                          (long long)reported->bucket, (long long)reported->iterations, (long long)reported->expansion);
    RedisModule_Free(shape);
    value_whole_done(named->value, whole);
}

/* Layers first, then the items that need them: see named_filter.h. */
static void replicate_layers(struct named_filter *named) {
    unsigned layers = named->filter ? layers_of(named) : 0;
    char *shape;
    if (layers <= named->layers) return;
    size_t length = shape_of(named->filter, &shape);
    RedisModule_Replicate(named->ctx, command_name("PERHAPS.RESHAPE"), "sb", named->name, shape, length);
    RedisModule_Free(shape);
    named->layers = layers;
}

void named_replicate_items(struct named_filter *named, const char *command, RedisModuleString **items, size_t count) {
    if (named->layers) replicate_layers(named);
    if (count)
        RedisModule_Replicate(named->ctx, command_name(command), "sccv", named->name, "NOCREATE", "ITEMS", items,
                              count);
    named->replicated = true;
}

void named_close(struct named_filter *named, const char *event) {
    if (named->layers) replicate_layers(named);
    if (named->filter) value_filter_done(named->value, named->filter, named->changed);
    if (named->changed) {
        if (!named->replicated) RedisModule_ReplicateVerbatim(named->ctx);
        RedisModule_NotifyKeyspaceEvent(named->ctx, REDISMODULE_NOTIFY_MODULE, event, named->name);
    }
    if (named->handle) RedisModule_CloseKey(named->handle);
}

/* ---- creating ---- */

/* A value of another type is a new key to the server: it would forget when the old one expires. */
bool named_set_value(struct named_filter *named, struct value *value) {
    RedisModuleType *type = type_of(value);
    void *old = NULL;
    bool same = RedisModule_KeyType(named->handle) == REDISMODULE_KEYTYPE_MODULE &&
                RedisModule_ModuleTypeGetType(named->handle) == type;
    long long expire = RedisModule_GetAbsExpire(named->handle);
    if (!type) return false;
    if (same ? RedisModule_ModuleTypeReplaceValue(named->handle, type, value, &old) != REDISMODULE_OK
             : RedisModule_ModuleTypeSetValue(named->handle, type, value) != REDISMODULE_OK)
        return false;
    if (old) value_free(old);
    if (!same && expire != REDISMODULE_NO_EXPIRE) RedisModule_SetAbsExpire(named->handle, expire);
    named->value = value;
    return true;
}

bool named_set_filter(struct named_filter *named, perhaps *filter, const struct reported *reported) {
    struct value *value = value_of_filter(filter, reported);
    if (!value) return false;
    if (!named_set_value(named, value)) {
        value_free(value);
        return false;
    }
    named->filter = value_filter(value);
    return named->filter;
}

bool named_create(struct named_filter *named, perhaps *filter, const struct reported *reported) {
    if (!named_set_filter(named, filter, reported)) return false;
    replicate_new(named);
    limit_parts(named);
    if (named->value->timed) named_advance(named);
    return true;
}

/* ---- forgetting by time ---- */

static struct perhaps_info newest_generation(const struct named_filter *named) {
    struct perhaps_info facts = facts_of(named->filter), newest = {.size = sizeof newest};
    perhaps_child_facts(named->filter, facts.children - 1, &newest);
    return newest;
}

static void replicate_time(const struct named_filter *named, uint64_t now) {
    RedisModule_Replicate(named->ctx, command_name("PERHAPS.ADVANCE"), "sl", named->name, (long long)now);
}

/* A filter that was loaded has no time but those at which its generations began. It must not begin
 * another before the primary does. */
static void recall_time(const struct named_filter *named) {
    uint64_t since = newest_generation(named).since;
    if (since) perhaps_advance(named->filter, since);
}

/* A replica forgets when its primary says so, and a server that loads its AOF when that says so.
 * While a server hands over to another (AvoidReplicaTraffic) it must not change anything. */
void named_advance(struct named_filter *named) {
    int flags = RedisModule_GetContextFlags(named->ctx);
    bool follows = flags & (REDISMODULE_CTX_FLAGS_SLAVE | REDISMODULE_CTX_FLAGS_LOADING);
    if (follows) recall_time(named);
    if (follows || RedisModule_AvoidReplicaTraffic()) return;
    named->now = (uint64_t)RedisModule_Milliseconds();
    uint64_t before = newest_generation(named).since;
    int forgotten = perhaps_advance(named->filter, named->now);
    if (forgotten <= 0 && newest_generation(named).since == before) return;
    replicate_time(named, named->now);
    RedisModule_SignalModifiedKey(named->ctx, named->name);
}

/* Whether n items may be more than the newest generation of a window by time takes: its share of
 * the whole, even if it is a table that has grown. */
static bool may_begin_generation(const struct named_filter *named, size_t n) {
    if (!named->value->timed || !named->now) return false;
    struct perhaps_info whole = facts_of(named->filter);
    return newest_generation(named).items + n > whole.capacity / (whole.generations - 1);
}

/* If the items have begun a generation, replicas must know its time before they get the items. The
 * filter's time may be later than the clock's, which may have gone back. */
static void replicate_generation(const struct named_filter *named) {
    uint64_t since = newest_generation(named).since;
    replicate_time(named, since > named->now ? since : named->now);
}

/* ---- adding ---- */

/* The image must be up to date before it is copied. The handle is ended before its value is. */
bool named_unpark(struct named_filter *named) {
    if (named->value->form != VALUE_PARKED) return true;
    if (named->changed) perhaps_sync(named->filter);
    struct value *opened = value_unparked(named->value);
    if (!opened) return false;
    value_filter_done(named->value, named->filter, false);
    named->filter = NULL;
    if (!named_set_value(named, opened)) {
        value_free(opened);
        return false;
    }
    named->filter = value_filter(opened);
    return true;
}

uint64_t named_room(const struct named_filter *named) {
    if (!named->value->fixed) return UINT64_MAX;
    struct perhaps_info facts = facts_of(named->filter);
    return facts.items < facts.capacity ? facts.capacity - facts.items : 0;
}

/* A parked layer that is to grow must be opened before it is full. */
static bool prepare(struct named_filter *named, size_t n) {
    if (!named->value->grows) return true;
    if (named->value->form == VALUE_PARKED) {
        struct perhaps_info facts = facts_of(named->filter);
        if (facts.items <= facts.capacity && n <= facts.capacity - facts.items) return true;
        if (!named_unpark(named)) return false;
    }
    if (!named->layers) named->layers = layers_of(named);
    return true;
}

/* Items to add. `absent`: only if it is not there, one at a time. */
struct items_to_add {
    const void *const *items;
    const size_t *lengths;
    size_t n;
    bool absent;
};

static int64_t add_to_filter(perhaps *filter, const struct items_to_add *batch, uint8_t *answers) {
    if (batch->n > 1)
        return perhaps_add_many(filter, &PERHAPS_KEYS_BYTES(batch->items, batch->lengths, batch->n), answers);
    int added = batch->absent ? perhaps_add_absent(filter, batch->items[0], batch->lengths[0])
                              : perhaps_add(filter, batch->items[0], batch->lengths[0]);
    answers[0] = added == 1;
    return added;
}

static int64_t add(struct named_filter *named, const struct items_to_add *batch, uint8_t *answers) {
    if (!prepare(named, batch->n)) return PERHAPS_ENOMEM;
    bool begins = may_begin_generation(named, batch->n);
    int64_t added = add_to_filter(named->filter, batch, answers);
    if (begins) replicate_generation(named);
    /* A parked filter has no room for a larger stash. */
    if (added == PERHAPS_EFULL && named->value->form == VALUE_PARKED)
        return named_unpark(named) ? add(named, batch, answers) : PERHAPS_ENOMEM;
    /* A window moves known items to its newest generation. */
    named->changed |= added > 0 || (added == 0 && named->value->window);
    return added;
}

int64_t named_add(struct named_filter *named, const void *const *items, const size_t *lengths, size_t n,
                  uint8_t *answers) {
    return add(named, &(struct items_to_add){items, lengths, n, false}, answers);
}

int named_add_absent(struct named_filter *named, const void *item, size_t length) {
    uint8_t answer;
    return (int)add(named, &(struct items_to_add){&item, &length, 1, true}, &answer);
}
