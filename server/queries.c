/* What commands of both families do alike: EXISTS, MEXISTS, replies about one filter. */
#include "server_commands.h"

#include <string.h>

/* A key that is missing or something else contains nothing. */
static void query_batch(const struct named_filter *named, enum lookup found, struct command_batch *batch) {
    if (found != LOOKUP_FOUND)
        memset(batch->answers, 0, batch->n);
    else
        named_contains_many(named, batch->items, batch->lengths, batch->n, batch->answers);
}

int reply_exist_many(RedisModuleCtx *ctx, RedisModuleString **argv, int argc, enum command_family family) {
    struct named_filter named;
    struct command_batch batch;
    enum lookup found = named_open(&named, ctx, argv[1], REDISMODULE_READ, family);
    if (found == LOOKUP_LOADING || found == LOOKUP_NO_MEMORY) {
        reply_no_filter(ctx, found, NULL);
    } else {
        RedisModule_ReplyWithArray(ctx, argc - 2);
        for (int from = 2; from < argc; from += BATCH_ITEMS) {
            batch_fill(&batch, argv + from, argc - from);
            query_batch(&named, found, &batch);
            uint64_t positive = 0;
            for (size_t i = 0; i < batch.n; i++) {
                RedisModule_ReplyWithBool(ctx, batch.answers[i]);
                positive += batch.answers[i];
            }
            count_answers(family, batch.n, positive);
        }
    }
    named_close(&named, NULL);
    return REDISMODULE_OK;
}

/* Closing the key before the answer is used gives its cache lines time to arrive. */
int reply_exist(RedisModuleCtx *ctx, RedisModuleString **argv, enum command_family family) {
    struct named_filter named;
    size_t length;
    const char *item = RedisModule_StringPtrLen(argv[2], &length);
    enum lookup found = named_open(&named, ctx, argv[1], REDISMODULE_READ, family);
    int is_there = found == LOOKUP_FOUND ? named_contains(&named, item, length) : 0;
    named_close(&named, NULL);
    if (found == LOOKUP_LOADING || found == LOOKUP_NO_MEMORY) return reply_no_filter(ctx, found, NULL);
    count_answers(family, 1, is_there != 0);
    return RedisModule_ReplyWithBool(ctx, is_there != 0);
}

int reply_about(RedisModuleCtx *ctx, RedisModuleString *name, enum command_family family,
                void (*reply)(const struct named_filter *named)) {
    struct named_filter named;
    enum lookup found = named_open(&named, ctx, name, REDISMODULE_READ, family);
    if (found == LOOKUP_FOUND)
        reply(&named);
    else
        reply_no_filter(ctx, found, "ERR not found");
    named_close(&named, NULL);
    return REDISMODULE_OK;
}
