/*
 * The arguments of each command, for COMMAND DOCS. The key comes first in all of them.
 *
 * The server copies all of it while the module is loaded, and changes none.
 */
#include "command_docs.h"

/* What is no key has no key specification. */
#define NO_KEY .key_spec_index = -1
#define KEY(argument)                                                                                                  \
    { .name = argument, .type = ARG_KEY }
#define VALUE(kind, argument)                                                                                          \
    { .name = argument, .type = ARG_##kind, NO_KEY }
#define WORD(word, argument)                                                                                           \
    { .name = argument, .type = ARG_PURE_TOKEN, NO_KEY, .token = word }
#define FLAG(word, argument)                                                                                           \
    { .name = argument, .type = ARG_PURE_TOKEN, NO_KEY, .token = word, .flags = ARG_OPTIONAL }
#define OPTION(word, kind, argument)                                                                                   \
    { .name = argument, .type = ARG_##kind, NO_KEY, .token = word, .flags = ARG_OPTIONAL }
#define GROUP(kind, argument, parts)                                                                                   \
    { .name = argument, .type = ARG_##kind, NO_KEY, .flags = ARG_OPTIONAL, .subargs = parts }
#define ITEMS                                                                                                          \
    { .name = "item", .type = ARG_STRING, NO_KEY, .flags = ARG_MULTIPLE }
#define END                                                                                                            \
    { 0 }

static RedisModuleCommandArg window[] = {{.name = "generations", .type = ARG_INTEGER, NO_KEY, .token = "WINDOW"},
                                         OPTION("PERIOD", INTEGER, "milliseconds"),
                                         END};

static RedisModuleCommandArg fields[] = {WORD("CAPACITY", "capacity"),   WORD("SIZE", "size"),
                                         WORD("FILTERS", "filters"),     WORD("ITEMS", "items"),
                                         WORD("EXPANSION", "expansion"), END};

static RedisModuleCommandArg reported[] = {VALUE(INTEGER, "bucketsize"), VALUE(INTEGER, "iterations"),
                                           VALUE(INTEGER, "expansion"), VALUE(INTEGER, "deleted"), END};

const RedisModuleCommandArg docs_key[] = {KEY("key"), END};
const RedisModuleCommandArg docs_item[] = {KEY("key"), VALUE(STRING, "item"), END};
const RedisModuleCommandArg docs_items[] = {KEY("key"), ITEMS, END};
const RedisModuleCommandArg docs_iterator[] = {KEY("key"), VALUE(INTEGER, "iterator"), END};
const RedisModuleCommandArg docs_chunk[] = {KEY("key"), VALUE(INTEGER, "iterator"), VALUE(STRING, "data"), END};

const RedisModuleCommandArg docs_bf_reserve[] = {KEY("key"),
                                                 VALUE(DOUBLE, "error_rate"),
                                                 VALUE(INTEGER, "capacity"),
                                                 OPTION("EXPANSION", INTEGER, "expansion"),
                                                 FLAG("NONSCALING", "nonscaling"),
                                                 GROUP(BLOCK, "window", window),
                                                 END};

const RedisModuleCommandArg docs_bf_insert[] = {KEY("key"),
                                                OPTION("CAPACITY", INTEGER, "capacity"),
                                                OPTION("ERROR", DOUBLE, "error"),
                                                OPTION("EXPANSION", INTEGER, "expansion"),
                                                FLAG("NOCREATE", "nocreate"),
                                                FLAG("NONSCALING", "nonscaling"),
                                                WORD("ITEMS", "items"),
                                                ITEMS,
                                                END};

const RedisModuleCommandArg docs_bf_info[] = {KEY("key"), GROUP(ONEOF, "single_value", fields), END};

const RedisModuleCommandArg docs_bf_merge[] = {
    KEY("destination"), {.name = "source", .type = ARG_KEY, .key_spec_index = 1, .flags = ARG_MULTIPLE}, END};

const RedisModuleCommandArg docs_cf_reserve[] = {KEY("key"),
                                                 VALUE(INTEGER, "capacity"),
                                                 OPTION("BUCKETSIZE", INTEGER, "bucketsize"),
                                                 OPTION("MAXITERATIONS", INTEGER, "maxiterations"),
                                                 OPTION("EXPANSION", INTEGER, "expansion"),
                                                 OPTION("ERROR", DOUBLE, "error"),
                                                 END};

const RedisModuleCommandArg docs_cf_insert[] = {
    KEY("key"), OPTION("CAPACITY", INTEGER, "capacity"), FLAG("NOCREATE", "nocreate"), WORD("ITEMS", "items"), ITEMS,
    END};

const RedisModuleCommandArg docs_dump[] = {KEY("key"), VALUE(INTEGER, "offset"), OPTION("COUNT", INTEGER, "bytes"),
                                           END};

const RedisModuleCommandArg docs_load[] = {KEY("key"),
                                           VALUE(INTEGER, "offset"),
                                           VALUE(INTEGER, "total"),
                                           VALUE(STRING, "data"),
                                           GROUP(BLOCK, "reported", reported),
                                           END};

const RedisModuleCommandArg docs_create[] = {KEY("key"),
                                             VALUE(STRING, "shape"),
                                             VALUE(INTEGER, "bucketsize"),
                                             VALUE(INTEGER, "iterations"),
                                             VALUE(INTEGER, "expansion"),
                                             END};

const RedisModuleCommandArg docs_reshape[] = {KEY("key"), VALUE(STRING, "shape"), END};
const RedisModuleCommandArg docs_advance[] = {KEY("key"), VALUE(INTEGER, "now"), END};
