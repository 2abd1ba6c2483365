/* What the commands have in common: arguments, batches, replies. */
#include "server_commands.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

bool is_word(RedisModuleString *argument, const char *word) {
    size_t length;
    const char *text = RedisModule_StringPtrLen(argument, &length);
    return length == strlen(word) && strncasecmp(text, word, length) == 0;
}

void batch_fill(struct batch *batch, RedisModuleString **argv, int argc) {
    batch->n = argc < BATCH ? (size_t)argc : BATCH;
    for (size_t i = 0; i < batch->n; i++) batch->items[i] = RedisModule_StringPtrLen(argv[i], &batch->lengths[i]);
}

/* A key that is missing or something else contains nothing. */
static void ask(const struct held *held, enum found found, struct batch *batch) {
    if (found != FOUND)
        memset(batch->answers, 0, batch->n);
    else
        perhaps_contains_many(held->filter, &PERHAPS_KEYS_BYTES(batch->items, batch->lengths, batch->n),
                              batch->answers);
}

int reply_exist_many(RedisModuleCtx *ctx, RedisModuleString **argv, int argc, enum family family) {
    struct held held;
    struct batch batch;
    enum found found = hold(&held, ctx, argv[1], REDISMODULE_READ, family);
    if (found == STILL_LOADING || found == NO_MEMORY) {
        reply_not_held(ctx, found, NULL);
    } else {
        RedisModule_ReplyWithArray(ctx, argc - 2);
        for (int from = 2; from < argc; from += BATCH) {
            batch_fill(&batch, argv + from, argc - from);
            ask(&held, found, &batch);
            for (size_t i = 0; i < batch.n; i++) RedisModule_ReplyWithBool(ctx, batch.answers[i]);
        }
    }
    let_go(&held, NULL);
    return REDISMODULE_OK;
}

/* While the filter's memory is on its way, the key is let go. */
int reply_exist(RedisModuleCtx *ctx, RedisModuleString **argv, enum family family) {
    struct held held;
    size_t length;
    const char *item = RedisModule_StringPtrLen(argv[2], &length);
    enum found found = hold(&held, ctx, argv[1], REDISMODULE_READ, family);
    int is_there = found == FOUND ? perhaps_contains(held.filter, item, length) : 0;
    let_go(&held, NULL);
    if (found == STILL_LOADING || found == NO_MEMORY) return reply_not_held(ctx, found, NULL);
    return RedisModule_ReplyWithBool(ctx, is_there != 0);
}

int reply_reason(RedisModuleCtx *ctx, const char *reason) {
    char text[512];
    snprintf(text, sizeof text, "ERR %s", reason);
    return RedisModule_ReplyWithError(ctx, text);
}

int reply_why(RedisModuleCtx *ctx) {
    return reply_reason(ctx, perhaps_why());
}
