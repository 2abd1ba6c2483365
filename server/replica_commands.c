/* PERHAPS.INFO, and what replicas and the AOF are told: PERHAPS.CREATE, PERHAPS.RESHAPE, PERHAPS.ADVANCE. */
#include "server_commands.h"

#include <perhaps_embed.h>

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

/* What a child has; the fields of a whole filter, and those that only a filter of filters has. */
enum { CHILD_FIELDS = 9, FIELDS = 28, FAMILY_FIELDS = 6 };

static void reply_child(RedisModuleCtx *ctx, const struct perhaps_info *info) {
    RedisModule_ReplyWithMap(ctx, CHILD_FIELDS);
    reply_text(ctx, "kind", info->kind_name);
    reply_number(ctx, "capacity", info->capacity);
    reply_number(ctx, "items", info->items);
    reply_real(ctx, "fpr_target", info->fpr_target);
    reply_real(ctx, "fpr_now", info->fpr_now);
    reply_number(ctx, "bytes", info->bytes);
    reply_real(ctx, "bits_per_key", info->bits_per_key);
    reply_real(ctx, "fill", info->fill);
    reply_number(ctx, "since", info->since);
}

static void reply_children(RedisModuleCtx *ctx, const perhaps *whole, unsigned children) {
    RedisModule_ReplyWithCString(ctx, "children");
    RedisModule_ReplyWithArray(ctx, children);
    for (unsigned i = 0; i < children; i++) {
        struct perhaps_info child = {.size = sizeof child};
        perhaps_child(whole, i, &child);
        reply_child(ctx, &child);
    }
}

static const char *name_of_kind(int kind) {
    for (size_t row = 0; perhaps_kind(row); row++)
        if (perhaps_kind(row)->kind == kind) return perhaps_kind(row)->name;
    return kind == PERHAPS_GROWING ? "growing" : "unknown";
}

static void reply_family(RedisModuleCtx *ctx, const struct perhaps_info *info) {
    reply_text(ctx, "base", name_of_kind(info->base));
    reply_number(ctx, "max_bytes", info->max_bytes);
    reply_number(ctx, "period", info->period);
    reply_number(ctx, "generations", info->generations);
    reply_number(ctx, "flooded", (uint64_t)info->flooded);
    reply_real(ctx, "clear_at", info->clear_at);
}

static void reply_abilities(RedisModuleCtx *ctx, const struct perhaps_info *info) {
    static const char *const names[] = {"add",      "remove", "count", "merge",   "intersect",
                                        "subtract", "grow",   "list",  "in-place"};
    unsigned can = info->grow == PERHAPS_GROW_NEVER ? info->can & ~(unsigned)PERHAPS_GROW : info->can;
    long count = 0;
    RedisModule_ReplyWithCString(ctx, "can");
    RedisModule_ReplyWithArray(ctx, REDISMODULE_POSTPONED_LEN);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (!(can >> i & 1)) continue;
        RedisModule_ReplyWithCString(ctx, names[i]);
        count++;
    }
    RedisModule_ReplySetArrayLength(ctx, count);
}

/* How the array is used, and by what. */
static void reply_use(RedisModuleCtx *ctx, const struct perhaps_info *info) {
    const char *grow = info->grow == PERHAPS_GROW_NEVER    ? "never"
                       : info->grow == PERHAPS_GROW_LAYERS ? "layers"
                                                           : "default";
    char seed[24];
    snprintf(seed, sizeof seed, "%016llx", (unsigned long long)info->seed);
    reply_real(ctx, "bits_per_key", info->bits_per_key);
    reply_real(ctx, "fill", info->fill);
    reply_real(ctx, "loss", info->loss);
    reply_number(ctx, "stuck", info->stuck);
    reply_number(ctx, "stashed", info->stashed);
    reply_text(ctx, "grow", grow);
    reply_number(ctx, "hashes", info->hashes);
    reply_number(ctx, "cache_lines", info->lines);
    reply_text(ctx, "hash", info->hash_name);
    reply_text(ctx, "seed", seed);
    reply_number(ctx, "format_version", info->format_version);
    reply_text(ctx, "isa", info->isa);
}

/* Keys that are transformed are not served; where they stood in records is kept for those who dump the filter. */
static void reply_recipe(RedisModuleCtx *ctx, const perhaps *whole) {
    static const char *const records[] = {"lines", "zero-terminated", "raw"};
    perhaps_recipe recipe = PERHAPS_RECIPE(.form = 0);
    perhaps_recipe_of(whole, &recipe);
    char delimiter[2] = {(char)recipe.delimiter, 0};
    reply_text(ctx, "key", "bytes");
    reply_text(ctx, "records", recipe.unknown ? "unknown" : records[recipe.records]);
    reply_number(ctx, "field", recipe.field);
    reply_text(ctx, "delimiter", delimiter);
}

/* The names are those of `perhaps info --json`. */
static void reply_info(struct named_filter *named, perhaps *whole) {
    RedisModuleCtx *ctx = named->ctx;
    struct perhaps_info info = {.size = sizeof info};
    perhaps_info(whole, &info);
    RedisModule_ReplyWithMap(ctx, FIELDS + (info.children ? FAMILY_FIELDS : 0));
    reply_text(ctx, "kind", info.kind_name);
    reply_text(ctx, "layout", named->value->foreign ? "redisbloom" : "native");
    if (info.children) reply_family(ctx, &info);
    reply_number(ctx, "capacity", info.capacity);
    reply_number(ctx, "items", info.items);
    reply_real(ctx, "distinct", info.distinct);
    reply_real(ctx, "fpr_target", info.fpr_target);
    reply_real(ctx, "fpr_now", info.fpr_now);
    reply_number(ctx, "bytes", info.bytes);
    reply_number(ctx, "image_bytes", info.image_bytes);
    reply_number(ctx, "memory", value_memory(named->value));
    reply_use(ctx, &info);
    reply_recipe(ctx, whole);
    reply_abilities(ctx, &info);
    reply_children(ctx, whole, info.children);
}

int info_command(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    struct named_filter named;
    if (argc != 2) return RedisModule_WrongArity(ctx);
    enum lookup found = named_open(&named, ctx, argv[1], REDISMODULE_READ, FAMILY_ANY);
    perhaps *whole = found == LOOKUP_FOUND ? value_whole(named.value) : NULL;
    if (whole) {
        reply_info(&named, whole);
        value_whole_done(named.value, whole);
    } else {
        reply_no_filter(ctx, found == LOOKUP_FOUND ? LOOKUP_NO_MEMORY : found, "ERR not found");
    }
    named_close(&named, NULL);
    return REDISMODULE_OK;
}

/* ---- for replicas ---- */

static bool create(struct named_filter *named, enum lookup found, RedisModuleString **argv) {
    size_t length;
    long long numbers[3];
    perhaps *filter;
    const char *shape = RedisModule_StringPtrLen(argv[2], &length);
    for (int i = 0; i < 3; i++) {
        if (RedisModule_StringToLongLong(argv[3 + i], &numbers[i]) == REDISMODULE_OK && numbers[i] >= 0 &&
            numbers[i] <= UINT16_MAX)
            continue;
        RedisModule_ReplyWithError(named->ctx, "ERR bad numbers at the end");
        return false;
    }
    struct reported reported = {(uint16_t)numbers[0], (uint16_t)numbers[1], (uint16_t)numbers[2], 0};
    if (found != LOOKUP_MISSING) {
        if (found == LOOKUP_WRONG_TYPE)
            reply_no_filter(named->ctx, found, NULL);
        else
            RedisModule_ReplyWithError(named->ctx, "ERR item exists");
    } else if (perhaps_create_shape(&filter, shape, length, &server_memory) < 0) {
        reply_why(named->ctx);
    } else if (value_unserved(filter)) {
        reply_reason(named->ctx, value_unserved(filter));
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
    named.changed = create(&named, found, argv);
    if (named.changed) RedisModule_ReplyWithSimpleString(ctx, "OK");
    named_close(&named, "perhaps.create");
    return REDISMODULE_OK;
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
    } else if (perhaps_reshape(named.filter, shape, length) < 0) {
        reply_why(ctx);
    } else {
        named.changed = true;
        RedisModule_ReplyWithSimpleString(ctx, "OK");
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
