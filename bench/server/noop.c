/*
 * The floor: what a command of a module costs the server before the module does anything. It reads
 * and replies as the commands that are compared with it do, and looks at nothing. Its names are as
 * long as theirs: the server hashes and compares the name of every command.
 *
 *     NO.EXISTS key item         0 or 1, as BF.EXISTS
 *     NO.MEXISTS key item...     an array of 0 and 1, as BF.MEXISTS
 */
#include "modapi.h"

static int no_exists(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    (void)argv;
    if (argc != 3) return RedisModule_WrongArity(ctx);
    return RedisModule_ReplyWithBool(ctx, 1);
}

static int no_mexists(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    (void)argv;
    if (argc < 3) return RedisModule_WrongArity(ctx);
    RedisModule_ReplyWithArray(ctx, argc - 2);
    for (int i = 2; i < argc; i++) RedisModule_ReplyWithBool(ctx, i & 1);
    return REDISMODULE_OK;
}

__attribute__((visibility("default"))) int RedisModule_OnLoad(RedisModuleCtx *ctx);

int RedisModule_OnLoad(RedisModuleCtx *ctx) {
    if (modapi_find(ctx)) return REDISMODULE_ERR;
    RedisModule_SetModuleAttribs(ctx, "noop", 1, REDISMODULE_APIVER);
    if (RedisModule_CreateCommand(ctx, "no.exists", no_exists, "readonly fast", 1, 1, 1) != REDISMODULE_OK ||
        RedisModule_CreateCommand(ctx, "no.mexists", no_mexists, "readonly fast", 1, 1, 1) != REDISMODULE_OK)
        return REDISMODULE_ERR;
    return REDISMODULE_OK;
}
