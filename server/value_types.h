/* The types of values: how they are saved, copied, summed and freed. */
#ifndef PERHAPS_SERVER_VALUE_TYPES_H
#define PERHAPS_SERVER_VALUE_TYPES_H

#include "value.h"

/* Our own; and RedisBloom's two, for filters in its layout. Those may be NULL, where another module has them. */
extern RedisModuleType *type_native, *type_bloom, *type_cuckoo;

/* The type that a value has. */
RedisModuleType *type_of(const struct value *value);

bool types_register(RedisModuleCtx *ctx);

/* Why a filter cannot be served, or NULL. Clients send keys as they are, so one whose keys were transformed would
 * miss every key. Where a key stood in its record does not matter to a server. */
const char *value_unserved(const perhaps *filter);

/* The value that a whole VALUE_LOADING one is, or NULL and a reason. */
struct value *value_of_loaded(const struct value *loading, const char **reason);

/* ---- of RedisBloom's types ---- */

enum { REDISBLOOM_ENCVER = 4 };
void *redisbloom_load_bloom(RedisModuleIO *rdb, int encver);
void redisbloom_save_bloom(RedisModuleIO *rdb, void *value);
void *redisbloom_load_cuckoo(RedisModuleIO *rdb, int encver);
void redisbloom_save_cuckoo(RedisModuleIO *rdb, void *value);

#endif
