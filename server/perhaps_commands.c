/* PERHAPS.INFO, and what replicas and the AOF are told: PERHAPS.CREATE, PERHAPS.RESHAPE, PERHAPS.ADVANCE. */
#include "server_commands.h"

#include <stdio.h>
#include <string.h>

/* ---- PERHAPS.INFO ---- */

static void reply_text(RedisModuleCtx *ctx, const char *name, const char *text) {
    RedisModule_ReplyWithCString(ctx, name);
    RedisModule_ReplyWithCString(ctx, text);
}

static void reply_number(RedisModuleCtx *ctx, const char *name, uint64_t number) {
    RedisModule_ReplyWithCString(ctx, name);
    RedisModule_ReplyWithLongLong(ctx, (long long)number);
}

static void reply_real(RedisModuleCtx *ctx, const char *name, double number) {
    RedisModule_ReplyWithCString(ctx, name);
    RedisModule_ReplyWithDouble(ctx, number);
}

enum { COMMON_FIELDS = 8, WHOLE_FIELDS = 9 };

static void reply_common(RedisModuleCtx *ctx, const struct perhaps_info *info) {
    reply_text(ctx, "kind", info->kind_name);
    reply_number(ctx, "capacity", info->capacity);
    reply_number(ctx, "items", info->items);
    reply_real(ctx, "fpr_target", info->fpr_target);
    reply_real(ctx, "fpr_now", info->fpr_now);
    reply_number(ctx, "bytes", info->bytes);
    reply_real(ctx, "bits_per_key", info->bits_per_key);
    reply_real(ctx, "fill", info->fill);
}

static void reply_info(struct held *held, perhaps *whole) {
    RedisModuleCtx *ctx = held->ctx;
    struct perhaps_info info = {.size = sizeof info}, child = {.size = sizeof child};
    char seed[24];
    perhaps_info(whole, &info);
    snprintf(seed, sizeof seed, "%016llx", (unsigned long long)info.seed);
    RedisModule_ReplyWithMap(ctx, COMMON_FIELDS + WHOLE_FIELDS);
    reply_common(ctx, &info);
    reply_text(ctx, "layout", held->value->foreign ? "redisbloom" : "native");
    reply_number(ctx, "image_bytes", info.image_bytes);
    reply_number(ctx, "memory", value_memory(held->value));
    reply_real(ctx, "distinct", info.distinct);
    reply_text(ctx, "hash", info.hash_name);
    reply_text(ctx, "seed", seed);
    reply_number(ctx, "format_version", info.format_version);
    reply_number(ctx, "period", info.period);
    RedisModule_ReplyWithCString(ctx, "children");
    RedisModule_ReplyWithArray(ctx, info.children);
    for (unsigned i = 0; i < info.children; i++) {
        perhaps_child(whole, i, &child);
        RedisModule_ReplyWithMap(ctx, COMMON_FIELDS);
        reply_common(ctx, &child);
    }
}

int info_command(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    struct held held;
    if (argc != 2) return RedisModule_WrongArity(ctx);
    enum found found = hold(&held, ctx, argv[1], REDISMODULE_READ, ANY_FILTER);
    perhaps *whole = found == FOUND ? value_whole(held.value) : NULL;
    if (whole) {
        reply_info(&held, whole);
        value_whole_done(held.value, whole);
    } else {
        reply_not_held(ctx, found == FOUND ? NO_MEMORY : found, "ERR not found");
    }
    let_go(&held, NULL);
    return REDISMODULE_OK;
}

/* ---- for replicas ---- */

static int reply_why(RedisModuleCtx *ctx) {
    char text[512];
    snprintf(text, sizeof text, "ERR %s", perhaps_why());
    return RedisModule_ReplyWithError(ctx, text);
}

static bool create(struct held *held, enum found found, RedisModuleString **argv) {
    size_t length;
    long long numbers[3];
    perhaps *filter;
    const char *shape = RedisModule_StringPtrLen(argv[2], &length);
    for (int i = 0; i < 3; i++) {
        if (RedisModule_StringToLongLong(argv[3 + i], &numbers[i]) == REDISMODULE_OK && numbers[i] >= 0) continue;
        RedisModule_ReplyWithError(held->ctx, "ERR bad numbers at the end");
        return false;
    }
    struct told told = {(uint16_t)numbers[0], (uint16_t)numbers[1], (uint16_t)numbers[2], 0};
    if (found != MISSING) {
        if (found == WRONG_TYPE)
            reply_not_held(held->ctx, found, NULL);
        else
            RedisModule_ReplyWithError(held->ctx, "ERR item exists");
    } else if (perhaps_create_shape(&filter, shape, length, &server_memory) < 0) {
        reply_why(held->ctx);
    } else if (!hold_quietly(held, filter, &told)) {
        RedisModule_ReplyWithError(held->ctx, "ERR Insufficient memory to create filter");
    } else {
        return true;
    }
    return false;
}

int create_command(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    struct held held;
    if (argc != 6) return RedisModule_WrongArity(ctx);
    enum found found = hold(&held, ctx, argv[1], REDISMODULE_READ | REDISMODULE_WRITE, ANY_FILTER);
    held.changed = create(&held, found, argv);
    if (held.changed) RedisModule_ReplyWithSimpleString(ctx, "OK");
    let_go(&held, "perhaps.create");
    return REDISMODULE_OK;
}

int reshape_command(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    struct held held;
    size_t length;
    if (argc != 3) return RedisModule_WrongArity(ctx);
    enum found found = hold(&held, ctx, argv[1], REDISMODULE_READ | REDISMODULE_WRITE, ANY_FILTER);
    const char *shape = RedisModule_StringPtrLen(argv[2], &length);
    if (found != FOUND) {
        reply_not_held(ctx, found, "ERR not found");
    } else if (!hold_unparked(&held)) {
        reply_not_held(ctx, NO_MEMORY, NULL);
    } else if (perhaps_reshape(held.filter, shape, length) < 0) {
        reply_why(ctx);
    } else {
        held.changed = true;
        RedisModule_ReplyWithSimpleString(ctx, "OK");
    }
    let_go(&held, "perhaps.reshape");
    return REDISMODULE_OK;
}

int advance_command(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    struct held held;
    long long now;
    if (argc != 3) return RedisModule_WrongArity(ctx);
    if (RedisModule_StringToLongLong(argv[2], &now) != REDISMODULE_OK || now < 0)
        return RedisModule_ReplyWithError(ctx, "ERR a time is a number of milliseconds");
    enum found found = hold(&held, ctx, argv[1], REDISMODULE_READ | REDISMODULE_WRITE, ANY_FILTER);
    if (found != FOUND) {
        reply_not_held(ctx, found, "ERR not found");
    } else {
        held.changed = perhaps_advance(held.filter, (uint64_t)now) >= 0;
        RedisModule_ReplyWithSimpleString(ctx, "OK");
    }
    let_go(&held, "perhaps.advance");
    return REDISMODULE_OK;
}
