/* The table of commands, and how the server gets to know them. */
#include "command_docs.h"
#include "server_commands.h"

#include <stdio.h>
#include <string.h>

struct server_command {
    const char *name; /* in lower case, as RedisBloom has it: INFO commandstats shows it */
    RedisModuleCmdFunc run;
    const char *flags;  /* as the server's API names them */
    const char *family; /* category for ACLs */
    const char *rules;  /* the server's own categories */
    int arity;          /* negative: at least -arity */
    const char *summary, *complexity;
    const RedisModuleCommandArg *args;
};

#define WRITE "write deny-oom"
#define READ  "readonly fast"

/* k: positions of an item in a layer. l: layers; a filter that was reserved in the right size has
 * one. n: items. b: bytes. */
#define EMPTY         "O(1) for a filter of any size"
#define ONE_BLOOM     "O(k * l) for k hash functions and l layers"
#define MANY_BLOOM    "O(n * k * l) for n items, k hash functions and l layers"
#define ONE_CUCKOO    "O(l) for l layers"
#define MANY_CUCKOO   "O(n * l) for n items and l layers"
#define ADD_CUCKOO    "O(l + i) for l layers and at most i items that are moved"
#define INSERT_CUCKOO "O(n * (l + i)) for n items, l layers and at most i items that are moved for each"
#define ALL_LAYERS    "O(l) for l layers"
#define CHUNK         "O(b) for b bytes of the chunk"
#define LAST_CHUNK    "O(b) for b bytes of the chunk; with the last one, for all bytes of the filter"

static const struct server_command commands[] = {
    {"bf.reserve", bf_reserve, WRITE, "bloom", "write fast", -4, "Makes an empty Bloom filter", EMPTY, docs_bf_reserve},
    {"bf.add", bf_add, WRITE, "bloom", "write", 3, "Adds an item to a Bloom filter, which is made if there is none",
     ONE_BLOOM, docs_item},
    {"bf.madd", bf_madd, WRITE, "bloom", "write", -3, "Adds items to a Bloom filter, which is made if there is none",
     MANY_BLOOM, docs_items},
    {"bf.insert", bf_insert, WRITE, "bloom", "write", -4,
     "Adds items to a Bloom filter, which is made as the options say", MANY_BLOOM, docs_bf_insert},
    {"bf.exists", bf_exists, READ, "bloom", "read", 3, "Tells whether an item is perhaps in a Bloom filter", ONE_BLOOM,
     docs_item},
    {"bf.mexists", bf_mexists, READ, "bloom", "read", -3, "Tells which items are perhaps in a Bloom filter", MANY_BLOOM,
     docs_items},
    {"bf.card", bf_card, READ, "bloom", "read fast", 2, "Tells how many items were added to a Bloom filter", ALL_LAYERS,
     docs_key},
    {"bf.info", bf_info, READ, "bloom", "read fast", -2, "Tells about a Bloom filter", ALL_LAYERS, docs_bf_info},
    {"bf.debug", bf_debug, READ, "bloom", "read", 2, "Tells about the layers of a Bloom filter", ALL_LAYERS, docs_key},
    {"bf.merge", bf_merge, WRITE, "bloom", "write", -3, "Makes a Bloom filter the union of others and itself",
     "O(n * b) for n filters of b bytes", docs_bf_merge},
    {"bf.scandump", bf_scandump, READ, "bloom", "read", 3, "Gives a chunk of a Bloom filter", CHUNK, docs_iterator},
    {"bf.loadchunk", bf_loadchunk, WRITE, "bloom", "write", 4, "Takes a chunk of a Bloom filter", LAST_CHUNK,
     docs_chunk},

    {"cf.reserve", cf_reserve, WRITE, "cuckoo", "write fast", -3, "Makes an empty cuckoo filter", EMPTY,
     docs_cf_reserve},
    {"cf.add", cf_add, WRITE, "cuckoo", "write", 3, "Adds an item to a cuckoo filter, which is made if there is none",
     ADD_CUCKOO, docs_item},
    {"cf.addnx", cf_addnx, WRITE, "cuckoo", "write", 3, "Adds an item to a cuckoo filter if it is not there",
     ADD_CUCKOO, docs_item},
    {"cf.insert", cf_insert, WRITE, "cuckoo", "write", -4,
     "Adds items to a cuckoo filter, which is made if there is none", INSERT_CUCKOO, docs_cf_insert},
    {"cf.insertnx", cf_insertnx, WRITE, "cuckoo", "write", -4, "Adds those items to a cuckoo filter that are not there",
     INSERT_CUCKOO, docs_cf_insert},
    {"cf.exists", cf_exists, READ, "cuckoo", "read", 3, "Tells whether an item is perhaps in a cuckoo filter",
     ONE_CUCKOO, docs_item},
    {"cf.mexists", cf_mexists, READ, "cuckoo", "read", -3, "Tells which items are perhaps in a cuckoo filter",
     MANY_CUCKOO, docs_items},
    {"cf.count", cf_count, READ, "cuckoo", "read", 3, "Tells how often an item is in a cuckoo filter", ONE_CUCKOO,
     docs_item},
    {"cf.del", cf_del, "write fast", "cuckoo", "write", 3, "Takes an item out of a cuckoo filter, once", ONE_CUCKOO,
     docs_item},
    {"cf.compact", cf_compact, "write", "cuckoo", "write", 2,
     "Moves items to the oldest parts of a cuckoo filter in RedisBloom's layout", "O(b) for a filter of b bytes",
     docs_key},
    {"cf.info", cf_info, READ, "cuckoo", "read fast", 2, "Tells about a cuckoo filter", ALL_LAYERS, docs_key},
    {"cf.debug", cf_debug, READ, "cuckoo", "read", 2, "Tells about a cuckoo filter in one line", ALL_LAYERS, docs_key},
    {"cf.scandump", cf_scandump, READ, "cuckoo", "read", 3, "Gives a chunk of a cuckoo filter", CHUNK, docs_iterator},
    {"cf.loadchunk", cf_loadchunk, WRITE, "cuckoo", "write", 4, "Takes a chunk of a cuckoo filter", LAST_CHUNK,
     docs_chunk},

    {"perhaps.info", info_command, "readonly", "perhaps", "read", 2, "Tells everything about a filter",
     "O(b) for a filter of b bytes: what is set in it is counted", docs_key},
    {"perhaps.dump", dump_command, "readonly", "perhaps", "read", -3, "Gives a piece of a filter's image",
     "O(b) for b bytes of the piece", docs_dump},
    {"perhaps.load", load_command, WRITE, "perhaps", "write", -5, "Takes a piece of a filter's image",
     "O(b) for b bytes of the piece; with the last one, for all bytes of the filter", docs_load},
    {"perhaps.create", create_command, WRITE, "perhaps", "write", 6, "Makes an empty filter of a shape, for replicas",
     EMPTY, docs_create},
    {"perhaps.reshape", reshape_command, WRITE, "perhaps", "write", 3, "Adds empty layers to a filter, for replicas",
     "O(b) for layers of b bytes, which are empty", docs_reshape},
    {"perhaps.advance", advance_command, "write", "perhaps", "write", 3, "Tells a window the time, for replicas",
     "O(b) for b bytes that are forgotten", docs_advance},
};

enum { COMMANDS = sizeof commands / sizeof commands[0] };

/* ---- for COMMAND DOCS ---- */

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
    RedisModuleCommandKeySpec keys[3] = {
        keys_from(1, 0, writes ? KEY_RW | KEY_ACCESS | KEY_UPDATE : KEY_RO | KEY_ACCESS)};
    if (last_key(command) < 0) keys[1] = keys_from(2, -1, KEY_RO | KEY_ACCESS);
    RedisModuleCommandInfo info = {.version = &version,
                                   .summary = command->summary,
                                   .complexity = command->complexity,
                                   .since = "0.1.0",
                                   .arity = command->arity,
                                   .key_specs = keys,
                                   .args = (RedisModuleCommandArg *)(uintptr_t)command->args};
    return RedisModule_SetCommandInfo(registered, &info);
}

/* ---- registering ---- */

/* A module can say categories since Redis 7.2, and have its own since Redis 7.4 and Valkey 8. */
static void categorize(RedisModuleCommand *registered, const struct server_command *command) {
    char all[64];
    if (!RedisModule_SetCommandACLCategories) return;
    snprintf(all, sizeof all, "%s %s", command->rules, command->family);
    RedisModule_SetCommandACLCategories(registered, RedisModule_AddACLCategory ? all : command->rules);
}

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
    categorize(registered, command);
    return true;
}

bool commands_register(RedisModuleCtx *ctx) {
    static const char *const families[] = {"bloom", "cuckoo", "perhaps"};
    for (size_t i = 0; RedisModule_AddACLCategory && i < 3; i++) RedisModule_AddACLCategory(ctx, families[i]);
    for (int i = 0; i < COMMANDS; i++)
        if (!register_one(ctx, &commands[i])) return false;
    return true;
}
