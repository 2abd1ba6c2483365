/* Errors that several commands reply with. */
#include "server_commands.h"

#include <stdio.h>

int reply_no_filter(RedisModuleCtx *ctx, enum lookup found, const char *missing) {
    const char *errors[] = {
        [LOOKUP_MISSING] = missing,
        [LOOKUP_WRONG_TYPE] = "WRONGTYPE Operation against a key holding the wrong kind of value",
        [LOOKUP_LOADING] = "ERR filter is still being loaded",
        [LOOKUP_NO_MEMORY] = "ERR Insufficient memory",
    };
    return RedisModule_ReplyWithError(ctx, errors[found]);
}

int reply_reason(RedisModuleCtx *ctx, const char *reason) {
    char text[512];
    snprintf(text, sizeof text, "ERR %s", reason);
    return RedisModule_ReplyWithError(ctx, text);
}

int reply_too_large(RedisModuleCtx *ctx, uint64_t bytes) {
    char reason[128];
    snprintf(reason, sizeof reason, "the filter would take %llu bytes, and perhaps.filter-memory-limit is %lld",
             (unsigned long long)bytes, settings.filter_memory_limit);
    return reply_reason(ctx, reason);
}

int reply_why(RedisModuleCtx *ctx) {
    return reply_reason(ctx, perhaps_why());
}
