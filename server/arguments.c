/* Arguments of commands. */
#include "server_commands.h"

#include <string.h>
#include <strings.h>

bool is_word(RedisModuleString *argument, const char *word) {
    size_t length;
    const char *text = RedisModule_StringPtrLen(argument, &length);
    return length == strlen(word) && strncasecmp(text, word, length) == 0;
}

void batch_fill(struct command_batch *batch, RedisModuleString **argv, int argc) {
    batch->n = argc < BATCH_ITEMS ? (size_t)argc : BATCH_ITEMS;
    for (size_t i = 0; i < batch->n; i++) batch->items[i] = RedisModule_StringPtrLen(argv[i], &batch->lengths[i]);
}

bool read_reported(RedisModuleString **argv, int count, struct reported *reported) {
    long long numbers[4] = {0};
    for (int i = 0; i < count; i++)
        if (RedisModule_StringToLongLong(argv[i], &numbers[i]) != REDISMODULE_OK || numbers[i] < 0 ||
            (i < 3 && numbers[i] > UINT16_MAX))
            return false;
    *reported =
        (struct reported){(uint16_t)numbers[0], (uint16_t)numbers[1], (uint16_t)numbers[2], (uint64_t)numbers[3]};
    return true;
}
