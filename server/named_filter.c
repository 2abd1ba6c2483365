#include "named_filter.h"

#include "counts.h"
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
    if (!type_is_ours(type)) return LOOKUP_WRONG_TYPE;
    named->value = RedisModule_ModuleTypeGetValue(named->handle);
    if (named->value->form == VALUE_LOADING) return LOOKUP_LOADING;
    if (family != FAMILY_ANY && named->value->multiset != (family == FAMILY_CUCKOO)) return LOOKUP_WRONG_TYPE;
    named->filter = value_filter(named->value);
    return named->filter ? LOOKUP_FOUND : LOOKUP_NO_MEMORY;
}

/* Valkey 9 moves slots by commands, as a primary sends them, to a node that is a primary itself. */
static bool must_obey(const struct named_filter *named) {
    return RedisModule_MustObeyClient && RedisModule_MustObeyClient(named->ctx);
}

bool named_follows(const struct named_filter *named) {
    if (must_obey(named)) return true;
    return RedisModule_GetContextFlags(named->ctx) & (REDISMODULE_CTX_FLAGS_SLAVE | REDISMODULE_CTX_FLAGS_LOADING);
}

/* The library has a limit of its own for RedisBloom's layout. Here commands look at the setting
 * before they add (cuckoo_commands.c). */
static void allow_parts(struct named_filter *named) {
    if (named->value->foreign && named->value->multiset)
        named->parts = perhaps_set_parts(named->filter, PERHAPS_LAYERS_MAX);
}

enum lookup named_open(struct named_filter *named, RedisModuleCtx *ctx, RedisModuleString *name, int mode,
                       enum command_family family) {
    *named = (struct named_filter){.ctx = ctx, .name = name, .handle = RedisModule_OpenKey(ctx, name, mode)};
    /* For reading, a key that does not exist has no handle. */
    enum lookup found = named->handle ? look_up(named, family) : LOOKUP_MISSING;
    if (found == LOOKUP_FOUND && named->value->timed) named_advance(named);
    if (found == LOOKUP_FOUND && mode & REDISMODULE_WRITE) allow_parts(named);
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

unsigned named_layers(const struct named_filter *named) {
    return perhaps_layers(named->filter);
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

void named_count_layers(const struct named_filter *named, unsigned before) {
    unsigned layers = named_layers(named);
    if (named->value->window || layers <= before) return;
    count_change((struct totals){.layers = layers - before});
    for (unsigned i = before; i < layers; i++) count_growth();
}

static void replicate_shape(const struct named_filter *named) {
    char *shape;
    size_t length = shape_of(named->filter, &shape);
    RedisModule_Replicate(named->ctx, command_name("PERHAPS.RESHAPE"), "sb", named->name, shape, length);
    RedisModule_Free(shape);
}

/* Layers first, then the items that need them: see named_filter.h. */
static void replicate_layers(struct named_filter *named) {
    unsigned layers = named->filter ? named_layers(named) : 0;
    if (layers <= named->layers) return;
    replicate_shape(named);
    named_count_layers(named, named->layers);
    named->layers = layers;
}

void named_replicate_items(struct named_filter *named, const char *command, RedisModuleString **items, size_t count) {
    if (named->layers) replicate_layers(named);
    if (count)
        RedisModule_Replicate(named->ctx, command_name(command), "sccv", named->name, "NOCREATE", "ITEMS", items,
                              count);
    named->replicated = true;
}

/* ---- the largest filter ---- */

bool named_is_too_large(const struct named_filter *named, uint64_t bytes) {
    return settings.filter_memory_limit && bytes > (uint64_t)settings.filter_memory_limit && !named_follows(named);
}

/* A layer is added to what there is; another kind that grows gets a larger array in its place.
 * Windows take what their plan allows. */
static void limit_growth(const struct named_filter *named) {
    uint64_t most = (uint64_t)settings.filter_memory_limit,
             has = named->value->grows ? facts_of(named->filter).bytes : 0;
    if (!most || named->value->window || named_follows(named)) return;
    piece_limit = (struct piece_limit){.most = most > has ? most - has : 0};
}

static void end_limit(struct named_filter *named) {
    uint64_t has = named->value->grows ? facts_of(named->filter).bytes : 0;
    if (piece_limit.refused) named->refused = has + piece_limit.refused;
    piece_limit = (struct piece_limit){.most = UINT64_MAX};
}

/* ---- closing ---- */

/* A replica does not make the next layer before it is told of it. A parked filter is small. */
static void prepare_layer(struct named_filter *named) {
    if (named->value->form == VALUE_PARKED || !perhaps_prepare_layer(named->filter, named->added)) return;
    if (named_follows(named)) return;
    uint64_t refused = named->refused;
    if (settings.filter_memory_limit) limit_growth(named);
    int rc = perhaps_make_layer(named->filter);
    if (settings.filter_memory_limit) end_limit(named);
    named->refused = refused;
    if (rc == PERHAPS_OK) replicate_shape(named);
}

/* A filter that cannot grow is full one day. */
static void note_how_full(const struct named_filter *named) {
    size_t length;
    struct perhaps_info facts = facts_of(named->filter);
    const char *name = RedisModule_StringPtrLen(named->name, &length);
    note_fullness(named->value, name, length, (double)facts.items / (double)facts.capacity);
}

/* Another form of the same filter. False: there is no such type, and the value is gone. */
static bool replace(struct named_filter *named, struct value *value) {
    struct value *old = named->value;
    old->replaced = true;
    if (named_set_value(named, value)) return true;
    old->replaced = false;
    value->replaced = true;
    value_free(value);
    return false;
}

/* Keeps what a command has changed. */
static void settle(struct named_filter *named) {
    struct value *settled = value_settled(named->value, named->filter);
    value_filter_done(named->value, named->filter);
    if (settled != named->value) replace(named, settled);
}

void named_close(struct named_filter *named, const char *event) {
    if (named->layers) replicate_layers(named);
    if (named->layers && named->changed) prepare_layer(named);
    if (named->filter && named->changed && named->value->fixed) note_how_full(named);
    if (named->filter && named->changed) value_recount(named->value);
    if (named->filter && named->changed)
        settle(named);
    else if (named->filter)
        value_filter_done(named->value, named->filter);
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
    allow_parts(named);
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
    bool follows = named_follows(named);
    uint64_t now = (uint64_t)RedisModule_Milliseconds();
    if (follows) recall_time(named);
    if (follows || RedisModule_AvoidReplicaTraffic()) {
        named->as_of = now;
        return;
    }
    named->now = now;
    uint64_t before = newest_generation(named).since;
    int forgotten = perhaps_advance(named->filter, named->now);
    if (forgotten <= 0 && newest_generation(named).since == before) return;
    value_recount(named->value);
    replicate_time(named, named->now);
    RedisModule_SignalModifiedKey(named->ctx, named->name);
}

void named_contains_many(const struct named_filter *named, const void *const *items, const size_t *lengths, size_t n,
                         uint8_t *answers) {
    const perhaps_keys *keys = &PERHAPS_KEYS_BYTES(items, lengths, n);
    if (named->as_of)
        perhaps_contains_as_of(named->filter, named->as_of, keys, answers);
    else
        perhaps_contains_many(named->filter, keys, answers);
}

void named_facts(const struct named_filter *named, struct perhaps_info *facts) {
    if (named->as_of)
        perhaps_facts_as_of(named->filter, named->as_of, facts);
    else
        perhaps_facts(named->filter, facts);
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

bool named_unpark(struct named_filter *named) {
    if (named->value->form != VALUE_PARKED) return true;
    struct value *opened = value_unparked(named->value, named->filter);
    if (!opened) return false;
    value_filter_done(named->value, named->filter);
    named->filter = NULL;
    if (!replace(named, opened)) return false;
    named->filter = value_filter(opened);
    return true;
}

uint64_t named_room(const struct named_filter *named) {
    if (!named->value->fixed) return UINT64_MAX;
    struct perhaps_info facts = facts_of(named->filter);
    return facts.items < facts.capacity ? facts.capacity - facts.items : 0;
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
    if (named->value->grows && !named->layers) named->layers = perhaps_layers(named->filter);
    bool begins = may_begin_generation(named, batch->n);
    named->added += batch->n;
    uint64_t pieces = pieces_taken;
    if (settings.filter_memory_limit) limit_growth(named);
    int64_t added = add_to_filter(named->filter, batch, answers);
    if (settings.filter_memory_limit) end_limit(named);
    /* A part in RedisBloom's layout is no layer: all parts get another array. */
    if (named->value->foreign && named->value->multiset && pieces_taken != pieces) count_growth();
    if (begins) replicate_generation(named);
    /* A window moves known items to its newest generation. */
    if (added > 0 && !named->value->window) count_change((struct totals){.items = added});
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
