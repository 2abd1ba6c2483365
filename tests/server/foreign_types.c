/* A module with the types of other modules, as far as a server saves them: words after its path are
 * their names and versions, "TopK-TYPE:0"; of one with "aux:" before it there is also data beside
 * the keys. FOREIGN.SET key type makes a value, which consists of every piece that there is. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct RedisModuleCtx RedisModuleCtx;
typedef struct RedisModuleIO RedisModuleIO;
typedef struct RedisModuleType RedisModuleType;
typedef int (*get_api)(const char *name, void *function);
typedef int (*command)(RedisModuleCtx *context, void **words, int count);

struct methods {
    uint64_t version;
    void *(*load)(RedisModuleIO *rdb, int version);
    void (*save)(RedisModuleIO *rdb, void *value);
    void *aof_rewrite, *mem_usage, *digest;
    void (*free)(void *value);
    int (*aux_load)(RedisModuleIO *rdb, int version, int when);
    void (*aux_save)(RedisModuleIO *rdb, int when);
    int aux_save_triggers;
};

enum { METHODS_VERSION = 2, BEFORE_KEYS = 1, AFTER_KEYS = 2, WRITE = 2, MOST_TYPES = 32, LONG = 100000 };

static struct {
    char name[10];
    RedisModuleType *type;
} types[MOST_TYPES];
static int type_count;

static int (*create_command)(RedisModuleCtx *, const char *, command, const char *, int, int, int);
static void (*set_attributes)(RedisModuleCtx *, const char *, int, int);
static RedisModuleType *(*create_type)(RedisModuleCtx *, const char *, int, struct methods *);
static const char *(*text_of)(const void *, size_t *);
static void *(*open_key)(RedisModuleCtx *, void *, int);
static void (*close_key)(void *);
static int (*set_value)(void *, RedisModuleType *, void *);
static int (*reply_with_text)(RedisModuleCtx *, const char *);
static void (*save_unsigned)(RedisModuleIO *, uint64_t);
static void (*save_signed)(RedisModuleIO *, int64_t);
static void (*save_double)(RedisModuleIO *, double);
static void (*save_float)(RedisModuleIO *, float);
static void (*save_text)(RedisModuleIO *, const char *, size_t);

static const struct {
    const char *name;
    void *function;
} calls[] = {
    {"RedisModule_CreateCommand", (void *)&create_command},
    {"RedisModule_SetModuleAttribs", (void *)&set_attributes},
    {"RedisModule_CreateDataType", (void *)&create_type},
    {"RedisModule_StringPtrLen", (void *)&text_of},
    {"RedisModule_OpenKey", (void *)&open_key},
    {"RedisModule_CloseKey", (void *)&close_key},
    {"RedisModule_ModuleTypeSetValue", (void *)&set_value},
    {"RedisModule_ReplyWithSimpleString", (void *)&reply_with_text},
    {"RedisModule_SaveUnsigned", (void *)&save_unsigned},
    {"RedisModule_SaveSigned", (void *)&save_signed},
    {"RedisModule_SaveDouble", (void *)&save_double},
    {"RedisModule_SaveFloat", (void *)&save_float},
    {"RedisModule_SaveStringBuffer", (void *)&save_text},
};

static void save_pieces(RedisModuleIO *rdb) {
    char *text = calloc(1, LONG);
    if (!text) abort();
    save_unsigned(rdb, 7);
    save_unsigned(rdb, UINT64_MAX);
    save_signed(rdb, -1);
    save_double(rdb, 0.01);
    save_float(rdb, 0.5f);
    save_text(rdb, "", 0);
    save_text(rdb, "123", 3);
    save_text(rdb, text, LONG);
    for (int i = 0; i < LONG; i++) text[i] = (char)(i * i * 2654435761u >> 13);
    save_text(rdb, text, LONG);
    free(text);
}

static void save(RedisModuleIO *rdb, void *value) {
    (void)value;
    save_pieces(rdb);
}

static void save_aux(RedisModuleIO *rdb, int when) {
    (void)when;
    save_pieces(rdb);
}

static void *load(RedisModuleIO *rdb, int version) {
    (void)rdb, (void)version;
    return NULL;
}

static int load_aux(RedisModuleIO *rdb, int version, int when) {
    (void)rdb, (void)version, (void)when;
    return 1;
}

static void keep(void *value) {
    (void)value;
}

static int set(RedisModuleCtx *context, void **words, int count) {
    int i = 0;
    if (count != 3) return 1;
    while (i < type_count && strcmp(types[i].name, text_of(words[2], NULL)) != 0) i++;
    if (i == type_count) return reply_with_text(context, "there is no such type");
    void *key = open_key(context, words[1], WRITE);
    set_value(key, types[i].type, &types[i]);
    close_key(key);
    return reply_with_text(context, "OK");
}

__attribute__((visibility("default"))) int RedisModule_OnLoad(RedisModuleCtx *context, void **words, int count);

int RedisModule_OnLoad(RedisModuleCtx *context, void **words, int count) {
    /* The server puts its lookup first into the context. */
    get_api get = *(get_api *)(void *)context;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (get(calls[i].name, calls[i].function)) return 1;
    set_attributes(context, "foreign", 1, 1);
    for (; type_count < count && type_count < MOST_TYPES; type_count++) {
        const char *word = text_of(words[type_count], NULL);
        struct methods methods = {.version = METHODS_VERSION, .load = load, .save = save, .free = keep};
        if (strncmp(word, "aux:", 4) == 0) {
            word += 4;
            methods.aux_load = load_aux;
            methods.aux_save = save_aux;
            methods.aux_save_triggers = BEFORE_KEYS | AFTER_KEYS;
        }
        if (strlen(word) < 11) return 1;
        memcpy(types[type_count].name, word, 9);
        types[type_count].type = create_type(context, types[type_count].name, atoi(word + 10), &methods);
        if (!types[type_count].type) return 1;
    }
    return create_command(context, "FOREIGN.SET", set, "write", 1, 1, 1);
}
