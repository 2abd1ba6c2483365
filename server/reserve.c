/* From a wish to a filter, in the layout of the settings. */
#include "server_commands.h"

#include <perhaps_embed.h>

/* What the first layer of a filter that grows may take of the whole rate; the rest is for the layers to come. So a large filter
 * that keeps to what it was reserved for is hardly larger than one that cannot grow. A smaller one takes less: it is likely to
 * be outgrown, strictness costs it little, and the layers to come are smaller. */
static double first_share(long long capacity) {
    return capacity < 100000 ? 0.5 : 0.88;
}

static const double error_most = 0.25;

struct wish bloom_wish(void) {
    return (struct wish){.error = settings.bf_error_rate,
                         .capacity = settings.bf_initial_size,
                         .expansion = settings.bf_expansion_factor};
}

struct wish cuckoo_wish(void) {
    return (struct wish){.error = settings.cf_error_rate,
                         .capacity = settings.cf_initial_size,
                         .expansion = settings.cf_expansion_factor,
                         .bucket = settings.cf_bucket_size,
                         .iterations = settings.cf_max_iterations};
}

/* By what the room of all layers together grows with the next one. What most ask for is the library's rule (0), which takes
 * larger steps while a filter is small, for fewer layers and faster answers; 1 is for those to whom memory counts for more. */
static double growth_of(long long expansion) {
    if (expansion == 2) return 0;
    return expansion < 2 ? 2 : expansion > 16 ? 16 : (double)expansion;
}

static int make_native(perhaps **filter, int kind, const struct wish *wish) {
    uint8_t key[16];
    bool grows = wish->expansion && !wish->fixed && !wish->generations;
    double error = wish->error < error_most ? wish->error : error_most;
    if (settings.has_hash_key)
        for (size_t i = 0; i < sizeof key; i++) key[i] = settings.hash_key[i];
    else
        RedisModule_GetRandomBytes(key, sizeof key);
    perhaps_want want =
        PERHAPS_WANT(.kind = kind, .items = (uint64_t)wish->capacity,
                     .fpr = grows ? error * first_share(wish->capacity) : error,
                     .hashes = grows && kind == PERHAPS_CUCKOO ? 4 : 0, .generations = (unsigned)wish->generations,
                     .period = (uint64_t)wish->period, .hash = PERHAPS_SIPHASH, .hash_key = key, .key_in_file = 1,
                     .allocator = &server_memory);
    int rc = perhaps_create(filter, &want);
    if (rc < 0 || !grows) return rc;
    rc = perhaps_grow_layers(filter, error, growth_of(wish->expansion), 0);
    if (rc < 0) perhaps_free(*filter);
    return rc;
}

static int make_redisbloom(perhaps **filter, int kind, const struct wish *wish) {
    bool bloom = kind == PERHAPS_REDIS_BLOOM;
    perhaps_want want = PERHAPS_WANT(.kind = kind, .items = (uint64_t)wish->capacity, .allocator = &server_memory);
    want.growth = (double)wish->expansion;
    want.grow = !wish->expansion        ? PERHAPS_GROW_NEVER
                : bloom && !wish->fixed ? PERHAPS_GROW_LAYERS
                                        : PERHAPS_GROW_DEFAULT;
    if (bloom) want.fpr = wish->error < error_most ? wish->error : error_most;
    want.bucket = (unsigned)wish->bucket;
    want.steps = (unsigned)wish->iterations;
    return perhaps_create(filter, &want);
}

/* Whether so many more bytes are within the server's limit, if it has one and may not make room by evicting others. */
static bool fits(RedisModuleCtx *ctx, uint64_t bytes) {
    int bad = 0;
    if (bytes < 1 << 20) return true;
    RedisModuleServerInfoData *info = RedisModule_GetServerInfo(ctx, "memory");
    uint64_t most = RedisModule_ServerInfoGetFieldUnsigned(info, "maxmemory", &bad);
    uint64_t used = RedisModule_ServerInfoGetFieldUnsigned(info, "used_memory", &bad);
    const char *policy = RedisModule_ServerInfoGetFieldC(info, "maxmemory_policy");
    bool evicts = policy && policy[0] != 'n'; /* noeviction */
    RedisModule_FreeServerInfo(ctx, info);
    return bad || !most || (evicts ? bytes <= most : used <= most && bytes <= most - used);
}

static bool keep(struct held *held, perhaps *filter, const struct wish *wish) {
    struct perhaps_info facts = {.size = sizeof facts};
    struct told told = {(uint16_t)wish->bucket, (uint16_t)wish->iterations, (uint16_t)wish->expansion, 0};
    perhaps_facts(filter, &facts);
    if (facts.hash == PERHAPS_MURMUR) told = (struct told){0}; /* RedisBloom's layout has these facts in it */
    if (!fits(held->ctx, facts.bytes))
        perhaps_free(filter);
    else if (hold_new(held, filter, &told))
        return true;
    RedisModule_ReplyWithError(held->ctx, "ERR Insufficient memory to create filter");
    return false;
}

/* BF filters are blocked: for a twentieth more memory than bloom, the server spends half the time on a question. But the smallest
 * would have two or three lines of unequal fill, and rates that are right only on average: those are bloom. */
enum { SMALL_BLOOM = 1000 };

static int make_filter(perhaps **filter, const struct wish *wish, enum family family, bool redisbloom) {
    bool bloom = family == BLOOM_FILTER;
    int native = !bloom ? PERHAPS_CUCKOO : wish->capacity < SMALL_BLOOM ? PERHAPS_BLOOM : PERHAPS_BLOCKED;
    return redisbloom ? make_redisbloom(filter, bloom ? PERHAPS_REDIS_BLOOM : PERHAPS_REDIS_CUCKOO, wish)
                      : make_native(filter, native, wish);
}

/* Makes what is wished for under a held key without one; false: it has replied with an error. */
static bool make(struct held *held, const struct wish *wish, enum family family) {
    perhaps *filter;
    bool redisbloom = settings.layout == REDISBLOOM && !wish->generations;
    if (redisbloom && !(family == BLOOM_FILTER ? type_bloom : type_cuckoo)) {
        RedisModule_ReplyWithError(held->ctx,
                                   "ERR another module has RedisBloom's types: set perhaps.layout to native");
        return false;
    }
    int rc = make_filter(&filter, wish, family, redisbloom);
    if (rc == PERHAPS_OK) return keep(held, filter, wish);
    RedisModule_ReplyWithError(held->ctx, rc == PERHAPS_ENOMEM ? "ERR Insufficient memory to create filter"
                                                               : "ERR could not create filter");
    return false;
}

int reserve(RedisModuleCtx *ctx, RedisModuleString *name, const struct wish *wish, enum family family) {
    struct held held;
    const char *event = family == BLOOM_FILTER ? "bf.reserve" : "cf.reserve";
    enum found found = hold(&held, ctx, name, REDISMODULE_READ | REDISMODULE_WRITE, family);
    if (found == FOUND || found == STILL_LOADING)
        RedisModule_ReplyWithError(ctx, "ERR item exists");
    else if (found != MISSING)
        reply_not_held(ctx, found, NULL);
    else if (make(&held, wish, family)) {
        RedisModule_NotifyKeyspaceEvent(ctx, REDISMODULE_NOTIFY_MODULE, event, name);
        RedisModule_ReplyWithSimpleString(ctx, "OK");
    }
    let_go(&held, NULL);
    return REDISMODULE_OK;
}

bool find_or_make(struct held *held, RedisModuleCtx *ctx, RedisModuleString *name, const struct wish *wish,
                  enum family family, bool may_make) {
    enum found found = hold(held, ctx, name, REDISMODULE_READ | REDISMODULE_WRITE, family);
    if (found == FOUND) return true;
    if (found == MISSING && may_make) return make(held, wish, family);
    reply_not_held(ctx, found, "ERR not found");
    return false;
}
