#include "named_filter.h"

#include "settings.h"

#include <perhaps_embed.h>

static struct perhaps_info facts_of(const perhaps *filter) {
    struct perhaps_info facts = {.size = sizeof facts};
    perhaps_facts(filter, &facts);
    return facts;
}

/* ---- finding ---- */

static enum found look(struct held *held, enum family family) {
    RedisModuleType *type = RedisModule_ModuleTypeGetType(held->key);
    if (!type) return RedisModule_KeyType(held->key) == REDISMODULE_KEYTYPE_EMPTY ? MISSING : WRONG_TYPE;
    if (type != type_native && type != type_bloom && type != type_cuckoo) return WRONG_TYPE;
    held->value = RedisModule_ModuleTypeGetValue(held->key);
    if (held->value->form == LOADING) return STILL_LOADING;
    if (family != ANY_FILTER && held->value->multiset != (family == CUCKOO_FILTER)) return WRONG_TYPE;
    held->filter = value_filter(held->value);
    return held->filter ? FOUND : NO_MEMORY;
}

/* The limit is a setting of this server, and counts when it adds itself: what its primary or its AOF says was added before. */
static void limit_parts(struct held *held) {
    if (!held->value->foreign || !held->value->multiset) return;
    int told = REDISMODULE_CTX_FLAGS_SLAVE | REDISMODULE_CTX_FLAGS_LOADING;
    bool limited = !(RedisModule_GetContextFlags(held->ctx) & told) && settings.cf_max_expansions < PERHAPS_LAYERS_MAX;
    perhaps_set_parts(held->filter, limited ? (unsigned)settings.cf_max_expansions : PERHAPS_LAYERS_MAX);
}

enum found hold(struct held *held, RedisModuleCtx *ctx, RedisModuleString *name, int mode, enum family family) {
    *held = (struct held){.ctx = ctx, .name = name, .key = RedisModule_OpenKey(ctx, name, mode)};
    enum found found =
        held->key ? look(held, family) : MISSING; /* for reading, a key that is not there has no handle */
    if (found == FOUND && held->value->timed) hold_advance(held);
    if (found == FOUND && mode & REDISMODULE_WRITE) limit_parts(held);
    return found;
}

int reply_not_held(RedisModuleCtx *ctx, enum found found, const char *missing) {
    const char *errors[] = {
        [MISSING] = missing,
        [WRONG_TYPE] = "WRONGTYPE Operation against a key holding the wrong kind of value",
        [STILL_LOADING] = "ERR filter is still being loaded",
        [NO_MEMORY] = "ERR Insufficient memory",
    };
    return RedisModule_ReplyWithError(ctx, errors[found]);
}

/* ---- telling replicas ---- */

/* The shape of a filter, in memory of the server's, which is a few hundred bytes; its length. */
static size_t shape_of(const perhaps *filter, char **shape) {
    size_t length = (size_t)perhaps_shape(filter, NULL, 0);
    *shape = RedisModule_Alloc(length);
    perhaps_shape(filter, *shape, length);
    return length;
}

static unsigned layers_of(const struct held *held) {
    return facts_of(held->filter).children;
}

static void replicate_new(const struct held *held) {
    const struct told *told = &held->value->told;
    perhaps *whole = value_whole(held->value);
    char *shape;
    size_t length = shape_of(whole, &shape);
    RedisModule_Replicate(held->ctx, command_name("PERHAPS.CREATE"), "sblll", held->name, shape, length,
                          (long long)told->bucket, (long long)told->iterations, (long long)told->expansion);
    RedisModule_Free(shape);
    value_whole_done(held->value, whole);
}

static void replicate_layers(const struct held *held) {
    char *shape;
    size_t length = shape_of(held->filter, &shape);
    RedisModule_Replicate(held->ctx, command_name("PERHAPS.RESHAPE"), "sb", held->name, shape, length);
    RedisModule_Free(shape);
}

/* Layers first, then the items that need them. */
static void tell_of_layers(struct held *held) {
    unsigned layers = held->filter ? layers_of(held) : 0;
    if (layers <= held->layers) return;
    replicate_layers(held);
    held->layers = layers;
}

void hold_replicate_items(struct held *held, const char *command, RedisModuleString **items, size_t count) {
    if (held->layers) tell_of_layers(held);
    if (count)
        RedisModule_Replicate(held->ctx, command_name(command), "sccv", held->name, "NOCREATE", "ITEMS", items, count);
    held->replicated = true;
}

void let_go(struct held *held, const char *event) {
    if (held->layers) tell_of_layers(held);
    if (held->filter) value_filter_done(held->value, held->filter, held->changed);
    if (held->changed) {
        if (!held->replicated) RedisModule_ReplicateVerbatim(held->ctx);
        RedisModule_NotifyKeyspaceEvent(held->ctx, REDISMODULE_NOTIFY_MODULE, event, held->name);
    }
    if (held->key) RedisModule_CloseKey(held->key);
}

/* ---- making ---- */

/* A new value of another type is a new key to the server, which would forget when the old one expires. */
bool hold_value(struct held *held, struct value *value) {
    RedisModuleType *type = type_of(value);
    void *old = NULL;
    bool same = RedisModule_KeyType(held->key) == REDISMODULE_KEYTYPE_MODULE &&
                RedisModule_ModuleTypeGetType(held->key) == type;
    long long expire = RedisModule_GetAbsExpire(held->key);
    if (!type) return false;
    if (same ? RedisModule_ModuleTypeReplaceValue(held->key, type, value, &old) != REDISMODULE_OK
             : RedisModule_ModuleTypeSetValue(held->key, type, value) != REDISMODULE_OK)
        return false;
    if (old) value_free(old);
    if (!same && expire != REDISMODULE_NO_EXPIRE) RedisModule_SetAbsExpire(held->key, expire);
    held->value = value;
    return true;
}

bool hold_quietly(struct held *held, perhaps *filter, const struct told *told) {
    struct value *value = value_of_filter(filter, told);
    if (!value) return false;
    if (!hold_value(held, value)) {
        value_free(value);
        return false;
    }
    held->filter = value_filter(value);
    return held->filter;
}

bool hold_new(struct held *held, perhaps *filter, const struct told *told) {
    if (!hold_quietly(held, filter, told)) return false;
    replicate_new(held);
    limit_parts(held);
    if (held->value->timed) hold_advance(held);
    return true;
}

/* ---- forgetting by time ---- */

static struct perhaps_info newest_generation(const struct held *held) {
    struct perhaps_info facts = facts_of(held->filter), newest = {.size = sizeof newest};
    perhaps_child_facts(held->filter, facts.children - 1, &newest);
    return newest;
}

static void replicate_time(const struct held *held, uint64_t now) {
    RedisModule_Replicate(held->ctx, command_name("PERHAPS.ADVANCE"), "sl", held->name, (long long)now);
}

/* What was loaded knows no time but those at which its generations began, and must not begin another before its
 * primary does. */
static void recall_time(const struct held *held) {
    uint64_t since = newest_generation(held).since;
    if (since) perhaps_advance(held->filter, since);
}

/* A replica forgets when its primary says so, and a server that reads its AOF when that says so. While a server hands over to
 * another it must not change anything. */
void hold_advance(struct held *held) {
    int flags = RedisModule_GetContextFlags(held->ctx);
    bool told = flags & (REDISMODULE_CTX_FLAGS_SLAVE | REDISMODULE_CTX_FLAGS_LOADING);
    if (told) recall_time(held);
    if (told || RedisModule_AvoidReplicaTraffic()) return;
    held->now = (uint64_t)RedisModule_Milliseconds();
    uint64_t before = newest_generation(held).since;
    int forgotten = perhaps_advance(held->filter, held->now);
    if (forgotten <= 0 && newest_generation(held).since == before) return;
    replicate_time(held, held->now);
    RedisModule_SignalModifiedKey(held->ctx, held->name);
}

/* Whether n keys may be more than the newest generation of a window by time takes: its share of the whole, even if it
 * is a table that has grown. */
static bool may_begin_generation(const struct held *held, size_t n) {
    if (!held->value->timed || !held->now) return false;
    struct perhaps_info whole = facts_of(held->filter);
    return newest_generation(held).items + n > whole.capacity / (whole.generations - 1);
}

/* A generation that the keys have begun began at a time that replicas must know before they get the keys. The
 * filter's time may be later than the clock's, which may have gone back. */
static void tell_of_generations(const struct held *held) {
    uint64_t since = newest_generation(held).since;
    replicate_time(held, since > held->now ? since : held->now);
}

/* ---- adding ---- */

/* Gives a parked filter a form in which it can grow. */
bool hold_unparked(struct held *held) {
    if (held->value->form != PARKED) return true;
    if (held->changed) perhaps_sync(held->filter);
    struct value *opened = value_unparked(held->value);
    if (!opened) return false;
    value_filter_done(held->value, held->filter, false);
    held->filter = NULL;
    if (!hold_value(held, opened)) {
        value_free(opened);
        return false;
    }
    held->filter = value_filter(opened);
    return true;
}

uint64_t hold_room(const struct held *held) {
    if (!held->value->fixed) return UINT64_MAX;
    struct perhaps_info facts = facts_of(held->filter);
    return facts.items < facts.capacity ? facts.capacity - facts.items : 0;
}

/* A parked layer that is to grow must be opened before it is full. */
static bool prepare(struct held *held, size_t n) {
    if (!held->value->grows) return true;
    if (held->value->form == PARKED) {
        struct perhaps_info facts = facts_of(held->filter);
        if (facts.items <= facts.capacity && n <= facts.capacity - facts.items) return true;
        if (!hold_unparked(held)) return false;
    }
    if (!held->layers) held->layers = layers_of(held);
    return true;
}

/* Keys to add, all of them or only those that are not there; these come one at a time. */
struct keys {
    const void *const *items;
    const size_t *lengths;
    size_t n;
    bool absent;
};

static int64_t put(perhaps *filter, const struct keys *keys, uint8_t *answers) {
    if (keys->n > 1) return perhaps_add_many(filter, &PERHAPS_KEYS_BYTES(keys->items, keys->lengths, keys->n), answers);
    int added = keys->absent ? perhaps_add_absent(filter, keys->items[0], keys->lengths[0])
                             : perhaps_add(filter, keys->items[0], keys->lengths[0]);
    answers[0] = added == 1;
    return added;
}

static int64_t add(struct held *held, const struct keys *keys, uint8_t *answers) {
    if (!prepare(held, keys->n)) return PERHAPS_ENOMEM;
    bool begins = may_begin_generation(held, keys->n);
    int64_t added = put(held->filter, keys, answers);
    if (begins) tell_of_generations(held);
    /* In place it cannot even take a larger stash. */
    if (added == PERHAPS_EFULL && held->value->form == PARKED)
        return hold_unparked(held) ? add(held, keys, answers) : PERHAPS_ENOMEM;
    held->changed |= added > 0 || (added == 0 && held->value->window); /* there, known keys become young */
    return added;
}

int64_t hold_add(struct held *held, const void *const *items, const size_t *lengths, size_t n, uint8_t *answers) {
    return add(held, &(struct keys){items, lengths, n, false}, answers);
}

int hold_add_absent(struct held *held, const void *item, size_t length) {
    uint8_t answer;
    return (int)add(held, &(struct keys){&item, &length, 1, true}, &answer);
}
