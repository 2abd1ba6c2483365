#include "modapi.h"

/* NOLINTNEXTLINE(bugprone-macro-parentheses): as in modapi.h */
#define DEFINE(type, name, arguments) type(*RedisModule_##name) arguments;
MODAPI_CALLS(DEFINE)
MODAPI_OPTIONAL(DEFINE)
#undef DEFINE

/* The first word of a context that a module is loaded with is the function that finds all
 * others. */
typedef int (*finder)(const char *name, void *call);

const char *modapi_find(RedisModuleCtx *ctx) {
    finder find = *(finder *)(void *)ctx;
    const char *missing = NULL;
#define FIND(type, name, arguments)                                                                                    \
    if (find("RedisModule_" #name, (void *)&RedisModule_##name) != REDISMODULE_OK) missing = #name;
    MODAPI_CALLS(FIND)
#undef FIND
#define LOOK(type, name, arguments)                                                                                    \
    if (find("RedisModule_" #name, (void *)&RedisModule_##name) != REDISMODULE_OK) RedisModule_##name = NULL;
    MODAPI_OPTIONAL(LOOK)
#undef LOOK
    return missing;
}
