/* PERHAPS.CREATE, PERHAPS.RESHAPE and PERHAPS.ADVANCE: what a primary sends, see named_filter.h. */
#include "server_commands.h"

#include <perhaps_embed.h>

/* A client may send a shape, too. True: it has replied. */
static bool is_too_large(const struct named_filter *named, const perhaps *filter) {
    struct perhaps_info facts = {.size = sizeof facts};
    perhaps_facts(filter, &facts);
    if (!named_is_too_large(named, facts.bytes)) return false;
    count_refusal();
    reply_too_large(named->ctx, facts.bytes);
    return true;
}

static bool create_from_shape(struct named_filter *named, enum lookup found, RedisModuleString **argv) {
    size_t length;
    struct reported reported;
    perhaps *filter;
    const char *shape = RedisModule_StringPtrLen(argv[2], &length);
    if (!read_reported(argv + 3, 3, &reported)) {
        RedisModule_ReplyWithError(named->ctx, "ERR bad numbers at the end");
    } else if (found != LOOKUP_MISSING) {
        if (found == LOOKUP_WRONG_TYPE)
            reply_no_filter(named->ctx, found, NULL);
        else
            RedisModule_ReplyWithError(named->ctx, "ERR item exists");
    } else if (perhaps_create_shape(&filter, shape, length, &server_memory) < 0) {
        reply_why(named->ctx);
    } else if (value_unserved(filter)) {
        reply_reason(named->ctx, value_unserved(filter));
        perhaps_free(filter);
    } else if (is_too_large(named, filter)) {
        perhaps_free(filter);
    } else if (!named_set_filter(named, filter, &reported)) {
        RedisModule_ReplyWithError(named->ctx, "ERR Insufficient memory to create filter");
    } else {
        return true;
    }
    return false;
}

int create_command(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    struct named_filter named;
    if (argc != 6) return RedisModule_WrongArity(ctx);
    enum lookup found = named_open(&named, ctx, argv[1], REDISMODULE_READ | REDISMODULE_WRITE, FAMILY_ANY);
    named.changed = create_from_shape(&named, found, argv);
    if (named.changed) RedisModule_ReplyWithSimpleString(ctx, "OK");
    named_close(&named, "perhaps.create");
    return REDISMODULE_OK;
}

static void reshape(struct named_filter *named, const char *shape, size_t length) {
    unsigned before = named_layers(named);
    if (perhaps_reshape(named->filter, shape, length) < 0) {
        reply_why(named->ctx);
        return;
    }
    named_count_layers(named, before);
    named->changed = true;
    RedisModule_ReplyWithSimpleString(named->ctx, "OK");
}

int reshape_command(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    struct named_filter named;
    size_t length;
    if (argc != 3) return RedisModule_WrongArity(ctx);
    enum lookup found = named_open(&named, ctx, argv[1], REDISMODULE_READ | REDISMODULE_WRITE, FAMILY_ANY);
    const char *shape = RedisModule_StringPtrLen(argv[2], &length);
    if (found != LOOKUP_FOUND) {
        reply_no_filter(ctx, found, "ERR not found");
    } else if (!named_unpark(&named)) {
        reply_no_filter(ctx, LOOKUP_NO_MEMORY, NULL);
    } else {
        reshape(&named, shape, length);
    }
    named_close(&named, "perhaps.reshape");
    return REDISMODULE_OK;
}

int advance_command(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    struct named_filter named;
    long long now;
    if (argc != 3) return RedisModule_WrongArity(ctx);
    if (RedisModule_StringToLongLong(argv[2], &now) != REDISMODULE_OK || now < 0)
        return RedisModule_ReplyWithError(ctx, "ERR a time is a number of milliseconds");
    enum lookup found = named_open(&named, ctx, argv[1], REDISMODULE_READ | REDISMODULE_WRITE, FAMILY_ANY);
    if (found != LOOKUP_FOUND) {
        reply_no_filter(ctx, found, "ERR not found");
    } else if (!named.value->timed) {
        RedisModule_ReplyWithError(ctx, "ERR only a window with a period has a time");
    } else {
        named.changed = perhaps_advance(named.filter, (uint64_t)now) >= 0;
        RedisModule_ReplyWithSimpleString(ctx, "OK");
    }
    named_close(&named, "perhaps.advance");
    return REDISMODULE_OK;
}
