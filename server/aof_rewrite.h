/* Filters as bytes, in pieces: the dump and load commands, and the AOF, which is made of them. */
#ifndef PERHAPS_SERVER_AOF_REWRITE_H
#define PERHAPS_SERVER_AOF_REWRITE_H

#include "value.h"

enum { CHUNK_BYTES = 16 << 20 };

/* Writes the commands that make this value again. */
void aof_rewrite(RedisModuleIO *aof, RedisModuleString *key, void *value);

#endif
