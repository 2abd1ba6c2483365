/*
 * The types of values: how the server saves, copies, sums, moves and frees them.
 *
 * Who runs what. The module has no lock and no thread. The server calls it like this:
 *
 *     where                    what                                     may
 *     main thread              commands, settings, INFO, load, copy,    read and change everything
 *                              mem_usage, free_effort, digest
 *     main thread, between     defrag                                   move what no command has open
 *     two commands
 *     main thread, or a        save, aof_rewrite                        read values; a child has a
 *     child after fork                                                  snapshot of them
 *     background thread        free, of a value with much to free       touch that value alone
 *
 * For the background thread: no key leads to the value any more, so nobody else touches it.
 * value_free reads no setting and counts with atomic operations.
 *
 * For the child: what it writes is lost when it ends, and each page that it writes is a page more of
 * memory. So save and aof_rewrite change nothing. A parked value is rebuilt in memory that the child
 * allocates (value_whole), and there is nobody to tell that memory is out: see sure_memory.
 *
 * For defrag: the value may move, and so may each piece of an open filter (server_memory.h). That is
 * safe because no pointer to a value, a filter or a parked image outlives its command. It is done in
 * one call, however large the filter is. The bytes of a loading value stay where they are.
 */
#ifndef PERHAPS_SERVER_VALUE_TYPES_H
#define PERHAPS_SERVER_VALUE_TYPES_H

#include "value.h"

/* Native, and RedisBloom's two for filters in its layout. Those are NULL if another module has
 * them. */
extern RedisModuleType *type_native, *type_bloom, *type_cuckoo;

/* The type that a value has. A loading one is native, whatever it becomes. */
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
