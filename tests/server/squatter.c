/* A module that has BF.ADD already, and the setting bf-error-rate where a module can have that
 * name, for tests of both. It knows just the calls it needs. */
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

static long long no_number(const char *name, void *unused) {
    (void)name;
    (void)unused;
    return 1;
}

static int keep_number(const char *name, long long value, void *unused, void **error) {
    (void)name;
    (void)value;
    (void)unused;
    (void)error;
    return 0;
}

/* Older servers refuse the flag: then there is no such setting. */
static void take_setting(RedisModuleCtx *context, get_api get) {
    enum { UNPREFIXED = 1 << 9 };
    int (*register_number)(RedisModuleCtx *, const char *, long long, unsigned, long long, long long,
                           long long (*)(const char *, void *), int (*)(const char *, long long, void *, void **),
                           void *, void *) = NULL;
    int (*load)(RedisModuleCtx *) = NULL;
    if (get("RedisModule_RegisterNumericConfig", (void *)&register_number) || !register_number) return;
    if (get("RedisModule_LoadConfigs", (void *)&load) || !load) return;
    register_number(context, "bf-error-rate", 1, UNPREFIXED, 0, 9, no_number, keep_number, NULL, NULL);
    load(context);
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
    take_setting(context, get);
    return create_command(context, "BF.ADD", do_nothing, "readonly", 1, 1, 1);
}
