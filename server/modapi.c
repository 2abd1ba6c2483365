#include "modapi.h"

#include <string.h>

/* NOLINTNEXTLINE(bugprone-macro-parentheses): as in modapi.h */
#define DEFINE(type, name, arguments) type(*RedisModule_##name) arguments;
MODAPI_CALLS(DEFINE)
MODAPI_OPTIONAL(DEFINE)
#undef DEFINE

/* The first word of a context that a module is loaded with is the function that finds all
 * others. */
typedef int (*finder)(const char *name, void *call);

struct api_call {
    const char *name;
    void *pointer; /* the RedisModule_* variable to set */
};

#define ROW(type, name, arguments) {"RedisModule_" #name, (void *)&RedisModule_##name},
static const struct api_call required[] = {MODAPI_CALLS(ROW)}, optional[] = {MODAPI_OPTIONAL(ROW)};
#undef ROW

enum { REQUIRED = sizeof required / sizeof required[0], OPTIONAL = sizeof optional / sizeof optional[0] };

static bool is_valkey;

/* The variables of optional calls that the server does not have stay NULL. */
const char *modapi_find(RedisModuleCtx *ctx) {
    finder find = *(finder *)(void *)ctx;
    const char *missing = NULL;
    void *of_valkey;
    is_valkey = find("ValkeyModule_Alloc", &of_valkey) == REDISMODULE_OK;
    for (int i = 0; i < REQUIRED; i++)
        if (find(required[i].name, required[i].pointer) != REDISMODULE_OK)
            missing = required[i].name + strlen("RedisModule_");
    for (int i = 0; i < OPTIONAL; i++) find(optional[i].name, optional[i].pointer);
    return missing;
}

bool modapi_is_valkey(void) {
    return is_valkey;
}

bool modapi_has_aliases(void) {
    return !is_valkey && RedisModule_GetServerVersion && RedisModule_GetServerVersion() >= 0x080000;
}
