/* A module that has BF.ADD already, for the test of that. It knows just the two calls it needs. */
#include <stddef.h>

typedef struct RedisModuleCtx RedisModuleCtx;
typedef int (*get_api)(const char *name, void *function);
typedef int (*command)(RedisModuleCtx *context, void **words, int count);

static int do_nothing(RedisModuleCtx *context, void **words, int count) {
    (void)context;
    (void)words;
    (void)count;
    return 0;
}

__attribute__((visibility("default"))) int RedisModule_OnLoad(RedisModuleCtx *context, void **words, int count);

int RedisModule_OnLoad(RedisModuleCtx *context, void **words, int count) {
    void (*set_attributes)(RedisModuleCtx *, const char *, int, int) = NULL;
    int (*create_command)(RedisModuleCtx *, const char *, command, const char *, int, int, int) = NULL;
    /* The server puts its lookup first into the context. */
    get_api get = *(get_api *)(void *)context;
    (void)words;
    (void)count;
    if (get("RedisModule_SetModuleAttribs", (void *)&set_attributes) || !set_attributes) return 1;
    if (get("RedisModule_CreateCommand", (void *)&create_command) || !create_command) return 1;
    set_attributes(context, "squatter", 1, 1);
    return create_command(context, "BF.ADD", do_nothing, "readonly", 1, 1, 1);
}
