/* The types of values: how they are saved, copied, summed and freed. */
#ifndef PERHAPS_SERVER_VALUE_TYPES_H
#define PERHAPS_SERVER_VALUE_TYPES_H

#include "value.h"

/* Our own; and RedisBloom's two, for filters in its layout. Those may be NULL, where another module has them. */
extern RedisModuleType *type_native, *type_bloom, *type_cuckoo;

/* The type that a value has. */
RedisModuleType *type_of(const struct value *value);

bool types_register(RedisModuleCtx *ctx);

/* ---- methods in files of their own ---- */

void aof_rewrite(RedisModuleIO *aof, RedisModuleString *key, void *value);

enum { REDISBLOOM_ENCVER = 4 };
void *redisbloom_load_bloom(RedisModuleIO *rdb, int encver);
void redisbloom_save_bloom(RedisModuleIO *rdb, void *value);
void *redisbloom_load_cuckoo(RedisModuleIO *rdb, int encver);
void redisbloom_save_cuckoo(RedisModuleIO *rdb, void *value);

#endif
