/* PERHAPS.INFO: everything that `perhaps info --json` says of a file. */
#include "server_commands.h"

#include <stdio.h>

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

/* How many fields a child has, a filter, and in addition a composite filter. */
enum { CHILD_FIELDS = 9, FIELDS = 28, COMPOSITE_FIELDS = 6 };

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

static void reply_composite(RedisModuleCtx *ctx, const struct perhaps_info *info) {
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

static perhaps_recipe recipe_of(const perhaps *whole) {
    perhaps_recipe recipe = PERHAPS_RECIPE(.form = 0);
    perhaps_recipe_of(whole, &recipe);
    return recipe;
}

static int optional_fields(const perhaps *whole) {
    perhaps_recipe recipe = recipe_of(whole);
    return (*recipe.where != 0) + recipe.header + recipe.trim;
}

/* Keys that are transformed are not served; where they stood in records is kept for those who dump
 * the filter. */
static void reply_recipe(RedisModuleCtx *ctx, const perhaps *whole) {
    static const char *const records[] = {"lines", "zero-terminated", "raw", "csv", "tsv", "whitespace", "jsonl"};
    perhaps_recipe recipe = recipe_of(whole);
    char delimiter[2] = {(char)recipe.delimiter, 0};
    reply_text(ctx, "key", "bytes");
    reply_text(ctx, "records", recipe.unknown ? "unknown" : records[recipe.records]);
    reply_number(ctx, "field", recipe.field);
    reply_text(ctx, "delimiter", delimiter);
    if (*recipe.where) reply_text(ctx, "where", recipe.where);
    if (recipe.header) reply_number(ctx, "header", 1);
    if (recipe.trim) reply_number(ctx, "trim", 1);
}

/* The names are those of `perhaps info --json`. */
static void reply_info(struct named_filter *named, perhaps *whole) {
    RedisModuleCtx *ctx = named->ctx;
    struct perhaps_info info = {.size = sizeof info};
    perhaps_info(whole, &info);
    RedisModule_ReplyWithMap(ctx, FIELDS + (info.children ? COMPOSITE_FIELDS : 0) + optional_fields(whole));
    reply_text(ctx, "kind", info.kind_name);
    reply_text(ctx, "layout", named->value->foreign ? "redisbloom" : "native");
    if (info.children) reply_composite(ctx, &info);
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
