/* The types of values: how they are saved, copied, summed and freed. */
#ifndef PERHAPS_SERVER_TYPES_H
#define PERHAPS_SERVER_TYPES_H

#include "value.h"

/* What the command line notes in a filter's tag: how its keys were written. */
enum { TAG_BYTES, TAG_HEX, TAG_U64, TAG_U64LE, TAG_INT32, TAG_INT64, TAG_UTF16, TAGS };

/* Our own; and RedisBloom's two, for filters in its layout. Those may be NULL, where another module has them. */
extern RedisModuleType *type_native, *type_bloom, *type_cuckoo;

/* The type that a value has. */
RedisModuleType *type_of(const struct value *value);

bool types_register(RedisModuleCtx *ctx);

/* The value that a whole LOADING one is, or NULL and a reason. */
struct value *value_of_loaded(const struct value *loading, const char **reason);

/* ---- of RedisBloom's types ---- */

enum { REDISBLOOM_ENCVER = 4 };
void *redisbloom_load_bloom(RedisModuleIO *rdb, int encver);
void redisbloom_save_bloom(RedisModuleIO *rdb, void *value);
void *redisbloom_load_cuckoo(RedisModuleIO *rdb, int encver);
void redisbloom_save_cuckoo(RedisModuleIO *rdb, void *value);

#endif
