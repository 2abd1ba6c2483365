/* The table of commands, and how the server gets to know them. */
#include "server_commands.h"

#include <stdio.h>
#include <string.h>

struct server_command {
    const char *name;
    RedisModuleCmdFunc run;
    const char *flags;      /* as the server's API names them */
    const char *categories; /* for ACLs */
    int arity;              /* negative: at least -arity */
    const char *summary;
    /* What follows the key: [..] may be left out, .. at the end repeats the last one. */
    const char *usage;
};

static const struct server_command commands[] = {
    {"BF.RESERVE", bf_reserve, "write deny-oom", "bloom write fast", -4, "Makes an empty Bloom filter",
     "error capacity [EXPANSION expansion] [NONSCALING] [WINDOW generations] [PERIOD milliseconds]"},
    {"BF.ADD", bf_add, "write deny-oom", "bloom write", 3,
     "Adds an item to a Bloom filter, which is made if there is none", "item"},
    {"BF.MADD", bf_madd, "write deny-oom", "bloom write", -3,
     "Adds items to a Bloom filter, which is made if there is none", "item.."},
    {"BF.INSERT", bf_insert, "write deny-oom", "bloom write", -4,
     "Adds items to a Bloom filter, which is made as the options say",
     "[CAPACITY capacity] [ERROR error] [EXPANSION expansion] [NOCREATE] [NONSCALING] ITEMS item.."},
    {"BF.EXISTS", bf_exists, "readonly fast", "bloom read", 3, "Tells whether an item is perhaps in a Bloom filter",
     "item"},
    {"BF.MEXISTS", bf_mexists, "readonly fast", "bloom read", -3, "Tells which items are perhaps in a Bloom filter",
     "item.."},
    {"BF.CARD", bf_card, "readonly fast", "bloom read fast", 2, "Tells how many items were added to a Bloom filter",
     ""},
    {"BF.INFO", bf_info, "readonly fast", "bloom read fast", -2, "Tells about a Bloom filter",
     "[CAPACITY] [SIZE] [FILTERS] [ITEMS] [EXPANSION]"},
    {"BF.DEBUG", bf_debug, "readonly fast", "bloom read", 2, "Tells about the layers of a Bloom filter", ""},
    {"BF.MERGE", bf_merge, "write deny-oom", "bloom write", -3, "Makes a Bloom filter the union of others and itself",
     "source.."},
    {"BF.SCANDUMP", bf_scandump, "readonly fast", "bloom read", 3, "Gives a chunk of a Bloom filter", "iterator"},
    {"BF.LOADCHUNK", bf_loadchunk, "write deny-oom", "bloom write", 4, "Takes a chunk of a Bloom filter",
     "iterator data"},

    {"CF.RESERVE", cf_reserve, "write deny-oom", "cuckoo write fast", -3, "Makes an empty cuckoo filter",
     "capacity [BUCKETSIZE bucketsize] [MAXITERATIONS iterations] [EXPANSION expansion] [ERROR error]"},
    {"CF.ADD", cf_add, "write deny-oom", "cuckoo write", 3,
     "Adds an item to a cuckoo filter, which is made if there is none", "item"},
    {"CF.ADDNX", cf_addnx, "write deny-oom", "cuckoo write", 3, "Adds an item to a cuckoo filter if it is not there",
     "item"},
    {"CF.INSERT", cf_insert, "write deny-oom", "cuckoo write", -4,
     "Adds items to a cuckoo filter, which is made if there is none", "[CAPACITY capacity] [NOCREATE] ITEMS item.."},
    {"CF.INSERTNX", cf_insertnx, "write deny-oom", "cuckoo write", -4,
     "Adds those items to a cuckoo filter that are not there", "[CAPACITY capacity] [NOCREATE] ITEMS item.."},
    {"CF.EXISTS", cf_exists, "readonly fast", "cuckoo read", 3, "Tells whether an item is perhaps in a cuckoo filter",
     "item"},
    {"CF.MEXISTS", cf_mexists, "readonly fast", "cuckoo read", -3, "Tells which items are perhaps in a cuckoo filter",
     "item.."},
    {"CF.COUNT", cf_count, "readonly fast", "cuckoo read", 3, "Tells how often an item is in a cuckoo filter", "item"},
    {"CF.DEL", cf_del, "write fast", "cuckoo write", 3, "Takes an item out of a cuckoo filter, once", "item"},
    {"CF.COMPACT", cf_compact, "write", "cuckoo write", 2,
     "Moves items to the oldest parts of a cuckoo filter in RedisBloom's layout", ""},
    {"CF.INFO", cf_info, "readonly fast", "cuckoo read fast", 2, "Tells about a cuckoo filter", ""},
    {"CF.DEBUG", cf_debug, "readonly fast", "cuckoo read", 2, "Tells about a cuckoo filter in one line", ""},
    {"CF.SCANDUMP", cf_scandump, "readonly fast", "cuckoo read", 3, "Gives a chunk of a cuckoo filter", "iterator"},
    {"CF.LOADCHUNK", cf_loadchunk, "write deny-oom", "cuckoo write", 4, "Takes a chunk of a cuckoo filter",
     "iterator data"},

    {"PERHAPS.INFO", info_command, "readonly", "perhaps read", 2, "Tells everything about a filter", ""},
    {"PERHAPS.DUMP", dump_command, "readonly", "perhaps read", -3, "Gives a piece of a filter's image",
     "offset [COUNT count]"},
    {"PERHAPS.LOAD", load_command, "write deny-oom", "perhaps write", -5, "Takes a piece of a filter's image",
     "offset total data"},
    {"PERHAPS.CREATE", create_command, "write deny-oom", "perhaps write", 6,
     "Makes an empty filter of a shape, for replicas", "shape bucketsize iterations expansion"},
    {"PERHAPS.RESHAPE", reshape_command, "write deny-oom", "perhaps write", 3,
     "Adds empty layers to a filter, for replicas", "shape"},
    {"PERHAPS.ADVANCE", advance_command, "write", "perhaps write", 3, "Tells a window the time, for replicas", "now"},
};

enum { COMMANDS = sizeof commands / sizeof commands[0] };

/* ---- for COMMAND DOCS ---- */

/* A usage, taken apart into arguments. Names live in the text, which is cut into pieces. */
enum { ARGUMENTS_MOST = 12, TEXT_MOST = 256 };
struct command_docs {
    char text[TEXT_MOST];
    RedisModuleCommandArg args[ARGUMENTS_MOST + 1];
    unsigned count;
};

static bool is_upper(const char *word) {
    return *word >= 'A' && *word <= 'Z';
}

static int type_of_argument(const char *name) {
    static const char *const integers[] = {"capacity",   "expansion",  "generations", "milliseconds",
                                           "bucketsize", "iterations", "iterator",    "offset",
                                           "total",      "count",      "now"};
    for (size_t i = 0; i < sizeof integers / sizeof integers[0]; i++)
        if (strcmp(name, integers[i]) == 0) return ARG_INTEGER;
    return strcmp(name, "error") == 0 ? ARG_DOUBLE : strcmp(name, "source") == 0 ? ARG_KEY : ARG_STRING;
}

/* One word of the usage: a token stands for itself, or belongs to the name that follows. */
static void take_word(struct command_docs *docs, char *word, const char **token, bool *optional) {
    size_t length = strlen(word);
    bool repeats = length > 2 && strcmp(word + length - 2, "..") == 0, ends = length && word[length - 1] == ']';
    if (*word == '[') {
        *optional = true;
        word++;
    }
    if (repeats) word[length - 2] = 0;
    if (ends) word[strlen(word) - 1] = 0;
    RedisModuleCommandArg *arg = &docs->args[docs->count];
    if (is_upper(word) && !(*optional && ends)) {
        *token = word;
        return;
    }
    *arg = (RedisModuleCommandArg){.name = word, .type = type_of_argument(word), .key_spec_index = -1, .token = *token};
    if (is_upper(word)) {
        arg->type = ARG_PURE_TOKEN;
        arg->token = word;
    }
    if (arg->type == ARG_KEY) arg->key_spec_index = 1;
    arg->flags = (*optional ? ARG_OPTIONAL : 0) | (repeats ? ARG_MULTIPLE : 0);
    docs->count++;
    *token = NULL;
    *optional = false;
}

static void take_usage(struct command_docs *docs, const char *usage) {
    const char *token = NULL;
    bool optional = false;
    char *rest = NULL;
    *docs = (struct command_docs){.count = 1};
    docs->args[0] = (RedisModuleCommandArg){.name = "key", .type = ARG_KEY};
    snprintf(docs->text, sizeof docs->text, "%s", usage);
    for (char *word = strtok_r(docs->text, " ", &rest); word && docs->count < ARGUMENTS_MOST;
         word = strtok_r(NULL, " ", &rest))
        take_word(docs, word, &token, &optional);
}

/* BF.MERGE has keys to its end; all others have one. */
static int last_key(const struct server_command *command) {
    return command->run == bf_merge ? -1 : 1;
}

static RedisModuleCommandKeySpec keys_from(int first, int last, uint64_t flags) {
    return (RedisModuleCommandKeySpec){.flags = flags,
                                       .begin_search_type = BEGIN_SEARCH_INDEX,
                                       .bs.index.pos = first,
                                       .find_keys_type = FIND_KEYS_RANGE,
                                       .fk.range = {.lastkey = last, .keystep = 1}};
}

static int describe(RedisModuleCommand *registered, const struct server_command *command) {
    static const RedisModuleCommandInfoVersion version = {
        1, sizeof(RedisModuleCommandHistoryEntry), sizeof(RedisModuleCommandKeySpec), sizeof(RedisModuleCommandArg)};
    bool writes = strstr(command->flags, "write");
    struct command_docs docs;
    take_usage(&docs, command->usage);
    RedisModuleCommandKeySpec keys[3] = {
        keys_from(1, 0, writes ? KEY_RW | KEY_ACCESS | KEY_UPDATE : KEY_RO | KEY_ACCESS)};
    if (last_key(command) < 0) keys[1] = keys_from(2, -1, KEY_RO | KEY_ACCESS);
    RedisModuleCommandInfo info = {.version = &version,
                                   .summary = command->summary,
                                   .complexity = "O(k) for each item, or O(n) for n bytes that are sent",
                                   .since = "0.1.0",
                                   .arity = command->arity,
                                   .key_specs = keys,
                                   .args = docs.args};
    return RedisModule_SetCommandInfo(registered, &info);
}

/* ---- registering ---- */

static bool register_one(RedisModuleCtx *ctx, const struct server_command *command) {
    const char *name = command_name(command->name);
    if (RedisModule_CreateCommand(ctx, name, command->run, command->flags, 1, last_key(command), 1) != REDISMODULE_OK) {
        RedisModule_Log(
            ctx, "warning",
            "perhaps was not loaded: the server has a command %s already, perhaps of another module; unload "
            "that, or load this one with PREFIX x, and its commands are x.%s and so on",
            name, command->name);
        return false;
    }
    RedisModuleCommand *registered = RedisModule_GetCommand(ctx, name);
    if (!registered || describe(registered, command) != REDISMODULE_OK) {
        RedisModule_Log(ctx, "warning", "perhaps was not loaded: the server refused the description of %s", name);
        return false;
    }
    /* Only newer servers let a module have categories. */
    if (RedisModule_AddACLCategory && RedisModule_SetCommandACLCategories)
        RedisModule_SetCommandACLCategories(registered, command->categories);
    return true;
}

bool commands_register(RedisModuleCtx *ctx) {
    static const char *const categories[] = {"bloom", "cuckoo", "perhaps"};
    for (size_t i = 0; RedisModule_AddACLCategory && i < 3; i++) RedisModule_AddACLCategory(ctx, categories[i]);
    for (int i = 0; i < COMMANDS; i++)
        if (!register_one(ctx, &commands[i])) return false;
    return true;
}
