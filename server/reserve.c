/* From options to an empty filter, in the layout of the settings. */
#include "server_commands.h"

#include <perhaps_embed.h>

#include <stdio.h>

/* The share of the false-positive rate for the first layer of a filter that grows; the rest is for
 * later layers. RedisBloom's is a half: with this, a blocked filter that has not grown takes hardly
 * more memory. A large filter that never needs later layers is hardly larger than one that cannot
 * grow. Cuckoo filters become little larger by a smaller share. */
static double first_share(int kind, long long capacity) {
    return kind == PERHAPS_CUCKOO ? 0.5 : capacity < 1000000 ? 0.65 : 0.88;
}

static const double error_most = 0.25;

struct filter_options bloom_defaults(void) {
    return (struct filter_options){.error = settings.bf_error_rate,
                                   .capacity = settings.bf_initial_size,
                                   .expansion = settings.bf_expansion_factor};
}

struct filter_options cuckoo_defaults(void) {
    return (struct filter_options){.error = settings.cf_error_rate,
                                   .capacity = settings.cf_initial_size,
                                   .expansion = settings.cf_expansion_factor,
                                   .bucket = settings.cf_bucket_size,
                                   .iterations = settings.cf_max_iterations};
}

/* From EXPANSION to perhaps_grow_layers: how much larger than the newest layer the next one is. */
static double growth_of(long long expansion) {
    return expansion > 16 ? -16 : -(double)expansion;
}

static int create_native(perhaps **filter, int kind, const struct filter_options *options) {
    uint8_t key[16];
    bool grows = options->expansion && !options->fixed && !options->generations;
    double error = options->error < error_most ? options->error : error_most;
    if (settings.has_hash_key)
        for (size_t i = 0; i < sizeof key; i++) key[i] = settings.hash_key[i];
    else
        RedisModule_GetRandomBytes(key, sizeof key);
    perhaps_want want =
        PERHAPS_WANT(.kind = kind, .items = (uint64_t)options->capacity,
                     .fpr = grows ? error * first_share(kind, options->capacity) : error,
                     .hashes = grows && kind == PERHAPS_CUCKOO ? 4 : 0, .generations = (unsigned)options->generations,
                     .period = (uint64_t)options->period, .hash = PERHAPS_SIPHASH, .hash_key = key, .key_in_file = 1,
                     .allocator = &server_memory);
    int rc = perhaps_create(filter, &want);
    if (rc < 0 || !grows) return rc;
    rc = perhaps_grow_layers(filter, error, growth_of(options->expansion), 0);
    if (rc < 0) perhaps_free(*filter);
    return rc;
}

static int create_redisbloom(perhaps **filter, int kind, const struct filter_options *options) {
    bool bloom = kind == PERHAPS_REDIS_BLOOM;
    perhaps_want want = PERHAPS_WANT(.kind = kind, .items = (uint64_t)options->capacity, .allocator = &server_memory);
    want.growth = (double)options->expansion;
    want.grow = !options->expansion        ? PERHAPS_GROW_NEVER
                : bloom && !options->fixed ? PERHAPS_GROW_LAYERS
                                           : PERHAPS_GROW_DEFAULT;
    if (bloom) want.fpr = options->error < error_most ? options->error : error_most;
    want.bucket = (unsigned)options->bucket;
    want.steps = (unsigned)options->iterations;
    return perhaps_create(filter, &want);
}

/* Whether `bytes` more are within maxmemory, if the server has that limit. A server that evicts
 * other keys makes room for all that is not larger than the limit. */
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

static bool refuse(const struct named_filter *named, uint64_t bytes) {
    count_refusal();
    reply_too_large(named->ctx, bytes);
    return false;
}

/* Why there is no filter: what RedisBloom says, and the library's reason. False. */
static bool reply_not_created(const struct named_filter *named, int rc) {
    char reason[512];
    count_refusal();
    snprintf(reason, sizeof reason, "%s: %s",
             rc == PERHAPS_ENOMEM ? "Insufficient memory to create filter" : "could not create filter", perhaps_why());
    reply_reason(named->ctx, reason);
    return false;
}

/* Puts a new filter under its name, if there is memory for it. False: it has replied with an error.
 * RedisBloom's layout has what is `reported` in its bytes. */
static bool put_filter(struct named_filter *named, perhaps *filter, const struct filter_options *options) {
    struct perhaps_info facts = {.size = sizeof facts};
    struct reported reported = {(uint16_t)options->bucket, (uint16_t)options->iterations, (uint16_t)options->expansion,
                                0};
    perhaps_facts(filter, &facts);
    if (facts.hash == PERHAPS_MURMUR) reported = (struct reported){0};
    bool too_large = named_is_too_large(named, facts.bytes); /* all of a window */
    if (too_large || !fits(named->ctx, facts.bytes))
        perhaps_free(filter);
    else if (named_create(named, filter, &reported))
        return true;
    if (too_large) return refuse(named, facts.bytes);
    count_refusal();
    char reason[128];
    snprintf(reason, sizeof reason, "Insufficient memory to create filter: it would take %llu bytes",
             (unsigned long long)facts.bytes);
    reply_reason(named->ctx, reason);
    return false;
}

/* BF filters are blocked where they can grow, and the error rate is such that they take about as
 * much memory as RedisBloom's: for a twentieth more than bloom, a query takes the server half the
 * time. All others are bloom. So are the smallest: blocked, they would have two or three cache
 * lines of unequal fill, and false-positive rates that are right only on average. */
enum { SMALL_BLOOM = 1000 };
static const double blocked_least = 0.006, blocked_most = 0.04;

static int bloom_kind(const struct filter_options *options) {
    bool good = options->error >= blocked_least && options->error <= blocked_most;
    bool grows = options->expansion && !options->fixed;
    return options->capacity >= SMALL_BLOOM && ((good && grows) || options->generations) ? PERHAPS_BLOCKED
                                                                                         : PERHAPS_BLOOM;
}

/* Creates a filter under a name that has none. RedisBloom's layout has no windows: they are always
 * native. False: it has replied with an error. */
static bool create(struct named_filter *named, const struct filter_options *options, enum command_family family) {
    perhaps *filter;
    bool bloom = family == FAMILY_BLOOM;
    bool redisbloom = settings.layout == LAYOUT_REDISBLOOM && !options->generations;
    int native = bloom ? bloom_kind(options) : PERHAPS_CUCKOO;
    if (redisbloom && !(bloom ? type_bloom : type_cuckoo)) {
        RedisModule_ReplyWithError(named->ctx,
                                   "ERR another module has RedisBloom's types: set perhaps.layout to native");
        return false;
    }
    if (settings.filter_memory_limit) piece_limit.most = (uint64_t)settings.filter_memory_limit;
    int rc = redisbloom ? create_redisbloom(&filter, bloom ? PERHAPS_REDIS_BLOOM : PERHAPS_REDIS_CUCKOO, options)
                        : create_native(&filter, native, options);
    uint64_t refused = piece_limit.refused;
    piece_limit = (struct piece_limit){.most = UINT64_MAX};
    if (rc == PERHAPS_OK) return put_filter(named, filter, options);
    return refused ? refuse(named, refused) : reply_not_created(named, rc);
}

int reserve(RedisModuleCtx *ctx, RedisModuleString *name, const struct filter_options *options,
            enum command_family family) {
    struct named_filter named;
    const char *event = family == FAMILY_BLOOM ? "bf.reserve" : "cf.reserve";
    enum lookup found = named_open(&named, ctx, name, REDISMODULE_READ | REDISMODULE_WRITE, family);
    if (found == LOOKUP_FOUND || found == LOOKUP_LOADING)
        RedisModule_ReplyWithError(ctx, "ERR item exists");
    else if (found != LOOKUP_MISSING)
        reply_no_filter(ctx, found, NULL);
    else if (create(&named, options, family)) {
        RedisModule_NotifyKeyspaceEvent(ctx, REDISMODULE_NOTIFY_MODULE, event, name);
        RedisModule_ReplyWithSimpleString(ctx, "OK");
    }
    named_close(&named, NULL);
    return REDISMODULE_OK;
}

bool find_or_create(struct named_filter *named, RedisModuleCtx *ctx, RedisModuleString *name,
                    const struct filter_options *options, enum command_family family, bool may_create) {
    enum lookup found = named_open(named, ctx, name, REDISMODULE_READ | REDISMODULE_WRITE, family);
    if (found == LOOKUP_FOUND) return true;
    if (found == LOOKUP_MISSING && may_create) return create(named, options, family);
    reply_no_filter(ctx, found, "ERR not found");
    return false;
}
