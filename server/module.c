/*
 * The module: filters in a Redis or Valkey server. Where to read:
 *
 *     value.h           what a filter is here, and the forms that it has
 *     named_filter.h    what a command does with it, and what replicas get
 *     value_types.h     what the server does with it, and in which thread
 *     server_memory.h   where its memory is from, and what is counted
 *     counts.h          what INFO shows of all filters
 *     *_commands.c      the commands; command_table.c lists them, command_docs.c their arguments
 *
 * docs/architecture.md follows one BF.MADD through them. A key of the library is called an item
 * here, as in RedisBloom: a key is a name on the server.
 */
#include "counts.h"
#include "server_commands.h"

static void info(RedisModuleInfoCtx *ctx, int for_crash_report) {
    struct value_counts counts = value_count();
    (void)for_crash_report;
    RedisModule_InfoAddSection(ctx, "filters");
    RedisModule_InfoAddFieldCString(ctx, "version", perhaps_version());
    RedisModule_InfoAddFieldULongLong(ctx, "filters", counts.parked + counts.open);
    RedisModule_InfoAddFieldULongLong(ctx, "filters_small", counts.parked);
    RedisModule_InfoAddFieldULongLong(ctx, "filters_being_loaded", counts.loading);
    counts_info(ctx);
}

enum { MODULE_VERSION = PERHAPS_VERSION_MAJOR * 10000 + PERHAPS_VERSION_MINOR * 100 + PERHAPS_VERSION_PATCH };

__attribute__((visibility("default"))) int RedisModule_OnLoad(RedisModuleCtx *ctx, RedisModuleString **argv, int argc);

int RedisModule_OnLoad(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    const char *missing = modapi_find(ctx);
    if (missing) {
        if (RedisModule_Log)
            RedisModule_Log(ctx, "warning", "perhaps was not loaded: it needs Redis 7.0 or Valkey 7.2 (no %s)",
                            missing);
        return REDISMODULE_ERR;
    }
    if (RedisModule_IsModuleNameBusy("perhaps")) return REDISMODULE_ERR;
    RedisModule_SetModuleAttribs(ctx, "perhaps", MODULE_VERSION, REDISMODULE_APIVER);
    RedisModule_SetModuleOptions(ctx, REDISMODULE_OPTIONS_HANDLE_IO_ERRORS |
                                          (modapi_is_valkey() ? VALKEYMODULE_OPTIONS_HANDLE_ATOMIC_SLOT_MIGRATION : 0));
    bool ready = settings_load(ctx, argv, argc) && types_register(ctx) && commands_register(ctx) &&
                 RedisModule_RegisterInfoFunc(ctx, info) == REDISMODULE_OK;
    return ready ? REDISMODULE_OK : REDISMODULE_ERR;
}
