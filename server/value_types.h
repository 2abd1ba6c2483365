/*
 * The types of values: how the server saves, copies, digests, moves and frees them.
 *
 * Threads. The module has no lock and starts no thread. The server calls its commands and the
 * methods of its types (make_type in value_types.c):
 *
 *     where                  what                                    may touch
 *     main thread            commands, settings, INFO, rdb_load,     everything
 *                            copy, mem_usage, free_effort, digest
 *     main thread, while     defrag                                  one value and its filter
 *     no command runs
 *     main thread, or        rdb_save, aof_rewrite                   all values, for reading
 *     a child after fork
 *     main thread, or a      free                                    one value and its filter
 *     background thread
 *
 * A background thread frees values of much memory (free_effort), and all values of a database
 * after FLUSHDB ASYNC. No key leads to such a value any more, so no other thread can reach it.
 * value_free reads no setting, and counts with atomic operations.
 *
 * A child of the server writes RDB and AOF files from a snapshot of all memory. Each page that
 * either of them changes is copied. So rdb_save and aof_rewrite change no value: a parked filter is
 * not opened in place, but rebuilt in memory of the child (value_whole). A child has no client to
 * tell that memory is out: see sure_memory.
 *
 * Defragmentation. The server calls `defrag` for each value of a key, and each piece of memory may
 * be moved or not:
 *
 *     defrag ─▶ DefragAlloc(value)            the key gets the new address
 *        └─▶ defragment(filter), if open ─▶ perhaps_relocate ─▶ move_piece, for each piece
 *                                             the library exchanges its pointers to the piece
 *
 * The server copies and frees a piece within DefragAlloc; the old address is invalid from then on.
 * That is safe because no pointer to a value, a filter or a parked image outlives its command. A
 * parked value is one piece. The bytes of a loading value are not moved. The work is done in one
 * call, however large the filter is: `defrag` never asks to be called again.
 */
#ifndef PERHAPS_SERVER_VALUE_TYPES_H
#define PERHAPS_SERVER_VALUE_TYPES_H

#include "value.h"

/* RedisBloom's two, for filters in its layout. They are NULL if another module has them. */
extern RedisModuleType *type_bloom, *type_cuckoo;

/* The type that a value has. A loading one has a type of its own, whatever it becomes. */
RedisModuleType *type_of(const struct value *value);

/* Whether a type is of this module; NULL is not. */
bool type_is_ours(const RedisModuleType *type);

bool types_register(RedisModuleCtx *ctx);

/* ---- methods in files of their own ---- */

void aof_rewrite(RedisModuleIO *aof, RedisModuleString *key, void *value);

/* Why a client may not restore this value, or NULL. */
const char *restore_refused(RedisModuleIO *rdb, const struct value *value);

enum { REDISBLOOM_ENCVER = 4 };
void *redisbloom_load_bloom(RedisModuleIO *rdb, int encver);
void redisbloom_save_bloom(RedisModuleIO *rdb, void *value);
void *redisbloom_load_cuckoo(RedisModuleIO *rdb, int encver);
void redisbloom_save_cuckoo(RedisModuleIO *rdb, void *value);

#endif
