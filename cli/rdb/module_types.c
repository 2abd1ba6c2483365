#include "module_types.h"

#include <string.h>

/* What perhaps.so loads is what server/value_types.c registers. */
#define NONE       -1, -1
#define NATIVE     1, 1
#define LOADING    2, 2
#define REDISBLOOM 0, 4

static const struct module_type types[] = {
    {"perhapsBF", "perhaps", "Bloom filters", NATIVE},
    {"perhapsCF", "perhaps", "cuckoo filters", NATIVE},
    {"perhaps--", "perhaps", "filters that are being loaded", LOADING},
    {"MBbloom--", "RedisBloom", "Bloom filters", REDISBLOOM},
    {"MBbloomCF", "RedisBloom", "cuckoo filters", REDISBLOOM},
    {"CMSk-TYPE", "RedisBloom", "count-min sketches", NONE},
    {"TopK-TYPE", "RedisBloom", "top-k lists", NONE},
    {"TDIS-TYPE", "RedisBloom", "t-digests", NONE},
    {"bloomfltr", "valkey-bloom", "Bloom filters", NONE},
    {"ReJSON-RL", "RedisJSON or valkey-json", "documents", NONE},
    {"TSDB-TYPE", "RedisTimeSeries", "time series", NONE},
    {"ft_index0", "RediSearch", "indexes", NONE},
    {"ft_invidx", "RediSearch", "indexes", NONE},
    {"ft_tagidx", "RediSearch", "indexes", NONE},
    {"numericdx", "RediSearch", "indexes", NONE},
    {"trietype0", "RediSearch", "suggestions", NONE},
    {"vectorset", "Redis 8", "vector sets", NONE},
    {"graphdata", "RedisGraph or FalkorDB", "graphs", NONE},
    {"graphmeta", "RedisGraph or FalkorDB", "graphs", NONE},
    {"AI_TENSOR", "RedisAI", "tensors", NONE},
    {"AI__MODEL", "RedisAI", "models", NONE},
    {"AI_SCRIPT", "RedisAI", "scripts", NONE},
};

const struct module_type *module_type_find(const struct rdb_type *type) {
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(types[i].name, type->name) == 0) return &types[i];
    return NULL;
}

bool module_type_loads(const struct rdb_type *type) {
    const struct module_type *known = module_type_find(type);
    return known && type->need == RDB_KEY && (int)type->version >= known->oldest && (int)type->version <= known->newest;
}
