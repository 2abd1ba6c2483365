/*
 * The calls of the server that this module makes, for Redis 7.0 and later and Valkey 7.2 and later.
 *
 * A server gives its modules one function, which finds all others by name. The module needs every
 * call of MODAPI_CALLS. A call of MODAPI_OPTIONAL is NULL if the server does not have it, and
 * callers must check.
 */
#ifndef PERHAPS_MODAPI_H
#define PERHAPS_MODAPI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { REDISMODULE_OK, REDISMODULE_ERR, REDISMODULE_APIVER = 1 };
enum { REDISMODULE_READ = 1 << 0, REDISMODULE_WRITE = 1 << 1 };
enum { REDISMODULE_KEYTYPE_EMPTY = 0, REDISMODULE_KEYTYPE_MODULE = 6 };
enum { REDISMODULE_POSTPONED_LEN = -1, REDISMODULE_NO_EXPIRE = -1 };
enum {
    REDISMODULE_OPTIONS_HANDLE_IO_ERRORS = 1 << 0,
    VALKEYMODULE_OPTIONS_HANDLE_ATOMIC_SLOT_MIGRATION = 1 << 5 /* of Valkey 9 */
};
enum { REDISMODULE_NOTIFY_MODULE = 1 << 13 };
enum {
    REDISMODULE_CTX_FLAGS_SLAVE = 1 << 3,
    REDISMODULE_CTX_FLAGS_LOADING = 1 << 13,
    REDISMODULE_CTX_FLAGS_RESP3 = 1 << 22
};
enum {
    REDISMODULE_CONFIG_DEFAULT = 0,
    REDISMODULE_CONFIG_SENSITIVE = 1 << 1,
    REDISMODULE_CONFIG_MEMORY = 1 << 7,
    REDISMODULE_CONFIG_UNPREFIXED = 1 << 9 /* not everywhere: modapi_has_aliases */
};

typedef struct RedisModuleCtx RedisModuleCtx;
typedef struct RedisModuleString RedisModuleString;
typedef struct RedisModuleKey RedisModuleKey;
typedef struct RedisModuleType RedisModuleType;
typedef struct RedisModuleIO RedisModuleIO;
typedef struct RedisModuleDigest RedisModuleDigest;
typedef struct RedisModuleCommand RedisModuleCommand;
typedef struct RedisModuleInfoCtx RedisModuleInfoCtx;
typedef struct RedisModuleDefragCtx RedisModuleDefragCtx;
typedef struct RedisModuleServerInfoData RedisModuleServerInfoData;

typedef int (*RedisModuleCmdFunc)(RedisModuleCtx *ctx, RedisModuleString **argv, int argc);

/* What a type of values does. Version 3 of this struct; later ones only append. */
enum { REDISMODULE_TYPE_METHOD_VERSION = 3 };
typedef struct RedisModuleTypeMethods {
    uint64_t version;
    void *(*rdb_load)(RedisModuleIO *rdb, int encver);
    void (*rdb_save)(RedisModuleIO *rdb, void *value);
    void (*aof_rewrite)(RedisModuleIO *aof, RedisModuleString *key, void *value);
    size_t (*mem_usage)(const void *value);
    void (*digest)(RedisModuleDigest *digest, void *value);
    void (*free)(void *value);
    int (*aux_load)(RedisModuleIO *rdb, int encver, int when);
    void (*aux_save)(RedisModuleIO *rdb, int when);
    int aux_save_triggers;
    size_t (*free_effort)(RedisModuleString *key, const void *value);
    void (*unlink)(RedisModuleString *key, const void *value);
    void *(*copy)(RedisModuleString *from, RedisModuleString *to, const void *value);
    int (*defrag)(RedisModuleDefragCtx *ctx, RedisModuleString *key, void **value);
} RedisModuleTypeMethods;

/* What a command is, for COMMAND DOCS and for clients that route by key. A server reads lists of
 * these structs in steps of the sizes in RedisModuleCommandInfoVersion, and of each entry the
 * fields that it knows. So a struct must have all fields of the newest server, and an older one
 * passes over the last of them. */
enum { ARG_STRING, ARG_INTEGER, ARG_DOUBLE, ARG_KEY, ARG_PATTERN, ARG_UNIX_TIME, ARG_PURE_TOKEN, ARG_ONEOF, ARG_BLOCK };
enum { ARG_OPTIONAL = 1 << 0, ARG_MULTIPLE = 1 << 1 };
typedef struct RedisModuleCommandArg {
    const char *name;
    int type;
    int key_spec_index;
    const char *token, *summary, *since;
    int flags;
    const char *deprecated_since;
    struct RedisModuleCommandArg *subargs;
    const char *display_text; /* since Redis 7.2 */
} RedisModuleCommandArg;

typedef struct RedisModuleCommandHistoryEntry {
    const char *since, *changes;
} RedisModuleCommandHistoryEntry;

enum {
    KEY_RO = 1 << 0,
    KEY_RW = 1 << 1,
    KEY_OW = 1 << 2,
    KEY_ACCESS = 1 << 4,
    KEY_UPDATE = 1 << 5,
    KEY_INSERT = 1 << 6
};
enum { BEGIN_SEARCH_INDEX = 2, FIND_KEYS_RANGE = 2 };
typedef struct RedisModuleCommandKeySpec {
    const char *notes;
    uint64_t flags;
    int begin_search_type;
    union {
        struct {
            int pos;
        } index;
        struct {
            const char *keyword;
            int startfrom;
        } keyword;
    } bs;
    int find_keys_type;
    union {
        struct {
            int lastkey, keystep, limit;
        } range;
        struct {
            int keynumidx, firstkey, keystep;
        } keynum;
    } fk;
} RedisModuleCommandKeySpec;

typedef struct RedisModuleCommandInfoVersion {
    int version;
    size_t sizeof_historyentry, sizeof_keyspec, sizeof_arg;
} RedisModuleCommandInfoVersion;

typedef struct RedisModuleCommandInfo {
    const RedisModuleCommandInfoVersion *version;
    const char *summary, *complexity, *since;
    RedisModuleCommandHistoryEntry *history;
    const char *tips;
    int arity;
    RedisModuleCommandKeySpec *key_specs;
    RedisModuleCommandArg *args;
} RedisModuleCommandInfo;

/* Settings. */
typedef RedisModuleString *(*RedisModuleGetStringFunc)(const char *name, void *privdata);
typedef int (*RedisModuleSetStringFunc)(const char *name, RedisModuleString *value, void *privdata,
                                        RedisModuleString **error);
typedef long long (*RedisModuleGetNumericFunc)(const char *name, void *privdata);
typedef int (*RedisModuleSetNumericFunc)(const char *name, long long value, void *privdata, RedisModuleString **error);
typedef int (*RedisModuleGetEnumFunc)(const char *name, void *privdata);
typedef int (*RedisModuleSetEnumFunc)(const char *name, int value, void *privdata, RedisModuleString **error);
typedef int (*RedisModuleApplyFunc)(RedisModuleCtx *ctx, void *privdata, RedisModuleString **error);

#define MODAPI_CALLS(CALL)                                                                                             \
    CALL(void *, Alloc, (size_t bytes))                                                                                \
    CALL(void *, Calloc, (size_t count, size_t bytes))                                                                 \
    CALL(void *, Realloc, (void *memory, size_t bytes))                                                                \
    CALL(void, Free, (void *memory))                                                                                   \
    CALL(size_t, MallocSize, (void *memory))                                                                           \
    CALL(void, SetModuleAttribs, (RedisModuleCtx * ctx, const char *name, int version, int api))                       \
    CALL(int, IsModuleNameBusy, (const char *name))                                                                    \
    CALL(void, SetModuleOptions, (RedisModuleCtx * ctx, int options))                                                  \
    CALL(int, CreateCommand,                                                                                           \
         (RedisModuleCtx * ctx, const char *name, RedisModuleCmdFunc command, const char *flags, int first, int last,  \
          int step))                                                                                                   \
    CALL(RedisModuleCommand *, GetCommand, (RedisModuleCtx * ctx, const char *name))                                   \
    CALL(int, SetCommandInfo, (RedisModuleCommand * command, const RedisModuleCommandInfo *info))                      \
    CALL(RedisModuleType *, CreateDataType,                                                                            \
         (RedisModuleCtx * ctx, const char *name, int encver, RedisModuleTypeMethods *methods))                        \
    CALL(RedisModuleCtx *, GetContextFromIO, (RedisModuleIO * io))                                                     \
    CALL(int, GetContextFlags, (RedisModuleCtx * ctx))                                                                 \
    CALL(void, Log, (RedisModuleCtx * ctx, const char *level, const char *format, ...))                                \
    CALL(void, LogIOError, (RedisModuleIO * io, const char *level, const char *format, ...))                           \
    CALL(void, GetRandomBytes, (unsigned char *bytes, size_t length))                                                  \
    CALL(long long, Milliseconds, (void))                                                                              \
    CALL(RedisModuleKey *, OpenKey, (RedisModuleCtx * ctx, RedisModuleString * name, int mode))                        \
    CALL(void, CloseKey, (RedisModuleKey * key))                                                                       \
    CALL(int, KeyType, (RedisModuleKey * key))                                                                         \
    CALL(RedisModuleType *, ModuleTypeGetType, (RedisModuleKey * key))                                                 \
    CALL(void *, ModuleTypeGetValue, (RedisModuleKey * key))                                                           \
    CALL(int, ModuleTypeSetValue, (RedisModuleKey * key, RedisModuleType * type, void *value))                         \
    CALL(int, ModuleTypeReplaceValue, (RedisModuleKey * key, RedisModuleType * type, void *value, void **old))         \
    CALL(int, DeleteKey, (RedisModuleKey * key))                                                                       \
    CALL(long long, GetAbsExpire, (RedisModuleKey * key))                                                              \
    CALL(int, SetAbsExpire, (RedisModuleKey * key, long long expire))                                                  \
    CALL(int, SignalModifiedKey, (RedisModuleCtx * ctx, RedisModuleString * key))                                      \
    CALL(int, AvoidReplicaTraffic, (void))                                                                             \
    CALL(int, NotifyKeyspaceEvent, (RedisModuleCtx * ctx, int type, const char *event, RedisModuleString *key))        \
    CALL(int, Replicate, (RedisModuleCtx * ctx, const char *command, const char *format, ...))                         \
    CALL(int, ReplicateVerbatim, (RedisModuleCtx * ctx))                                                               \
    CALL(RedisModuleString *, CreateString, (RedisModuleCtx * ctx, const char *bytes, size_t length))                  \
    CALL(void, FreeString, (RedisModuleCtx * ctx, RedisModuleString * string))                                         \
    CALL(const char *, StringPtrLen, (const RedisModuleString *string, size_t *length))                                \
    CALL(int, StringToLongLong, (const RedisModuleString *string, long long *number))                                  \
    CALL(int, StringToDouble, (const RedisModuleString *string, double *number))                                       \
    CALL(int, WrongArity, (RedisModuleCtx * ctx))                                                                      \
    CALL(int, ReplyWithError, (RedisModuleCtx * ctx, const char *error))                                               \
    CALL(int, ReplyWithSimpleString, (RedisModuleCtx * ctx, const char *string))                                       \
    CALL(int, ReplyWithCString, (RedisModuleCtx * ctx, const char *string))                                            \
    CALL(int, ReplyWithStringBuffer, (RedisModuleCtx * ctx, const char *bytes, size_t length))                         \
    CALL(int, ReplyWithLongLong, (RedisModuleCtx * ctx, long long number))                                             \
    CALL(int, ReplyWithDouble, (RedisModuleCtx * ctx, double number))                                                  \
    CALL(int, ReplyWithBool, (RedisModuleCtx * ctx, int boolean))                                                      \
    CALL(int, ReplyWithNull, (RedisModuleCtx * ctx))                                                                   \
    CALL(int, ReplyWithArray, (RedisModuleCtx * ctx, long length))                                                     \
    CALL(int, ReplyWithMap, (RedisModuleCtx * ctx, long pairs))                                                        \
    CALL(void, ReplySetArrayLength, (RedisModuleCtx * ctx, long length))                                               \
    CALL(int, IsIOError, (RedisModuleIO * io))                                                                         \
    CALL(void, SaveUnsigned, (RedisModuleIO * io, uint64_t number))                                                    \
    CALL(uint64_t, LoadUnsigned, (RedisModuleIO * io))                                                                 \
    CALL(void, SaveDouble, (RedisModuleIO * io, double number))                                                        \
    CALL(double, LoadDouble, (RedisModuleIO * io))                                                                     \
    CALL(void, SaveStringBuffer, (RedisModuleIO * io, const char *bytes, size_t length))                               \
    CALL(char *, LoadStringBuffer, (RedisModuleIO * io, size_t * length))                                              \
    CALL(void, EmitAOF, (RedisModuleIO * io, const char *command, const char *format, ...))                            \
    CALL(void, DigestAddStringBuffer, (RedisModuleDigest * digest, const char *bytes, size_t length))                  \
    CALL(void, DigestAddLongLong, (RedisModuleDigest * digest, long long number))                                      \
    CALL(void, DigestEndSequence, (RedisModuleDigest * digest))                                                        \
    CALL(void *, DefragAlloc, (RedisModuleDefragCtx * ctx, void *memory))                                              \
    CALL(int, RegisterInfoFunc, (RedisModuleCtx * ctx, void (*info)(RedisModuleInfoCtx * ctx, int for_crash_report)))  \
    CALL(int, InfoAddSection, (RedisModuleInfoCtx * ctx, const char *name))                                            \
    CALL(int, InfoAddFieldULongLong, (RedisModuleInfoCtx * ctx, const char *field, unsigned long long number))         \
    CALL(int, InfoAddFieldCString, (RedisModuleInfoCtx * ctx, const char *field, const char *string))                  \
    CALL(RedisModuleServerInfoData *, GetServerInfo, (RedisModuleCtx * ctx, const char *section))                      \
    CALL(void, FreeServerInfo, (RedisModuleCtx * ctx, RedisModuleServerInfoData * data))                               \
    CALL(unsigned long long, ServerInfoGetFieldUnsigned,                                                               \
         (RedisModuleServerInfoData * data, const char *field, int *error))                                            \
    CALL(const char *, ServerInfoGetFieldC, (RedisModuleServerInfoData * data, const char *field))                     \
    CALL(int, RegisterStringConfig,                                                                                    \
         (RedisModuleCtx * ctx, const char *name, const char *initial, unsigned flags, RedisModuleGetStringFunc get,   \
          RedisModuleSetStringFunc set, RedisModuleApplyFunc apply, void *privdata))                                   \
    CALL(int, RegisterNumericConfig,                                                                                   \
         (RedisModuleCtx * ctx, const char *name, long long initial, unsigned flags, long long least, long long most,  \
          RedisModuleGetNumericFunc get, RedisModuleSetNumericFunc set, RedisModuleApplyFunc apply, void *privdata))   \
    CALL(int, RegisterEnumConfig,                                                                                      \
         (RedisModuleCtx * ctx, const char *name, int initial, unsigned flags, const char **names, const int *values,  \
          int count, RedisModuleGetEnumFunc get, RedisModuleSetEnumFunc set, RedisModuleApplyFunc apply,               \
          void *privdata))                                                                                             \
    CALL(int, LoadConfigs, (RedisModuleCtx * ctx))

#define MODAPI_OPTIONAL(CALL)                                                                                          \
    CALL(void *, TryAlloc, (size_t bytes))                                                                             \
    CALL(void *, TryCalloc, (size_t count, size_t bytes))                                                              \
    CALL(void *, TryRealloc, (void *memory, size_t bytes))                                                             \
    CALL(int, GetServerVersion, (void))                                                                                \
    CALL(int, MustObeyClient, (RedisModuleCtx * ctx))                                                                  \
    CALL(int, AddACLCategory, (RedisModuleCtx * ctx, const char *name))                                                \
    CALL(int, SetCommandACLCategories, (RedisModuleCommand * command, const char *categories))

/* NOLINTNEXTLINE(bugprone-macro-parentheses): arguments are those of a declaration, with their
 * parentheses */
#define MODAPI_DECLARE(type, name, arguments) extern type(*RedisModule_##name) arguments;
MODAPI_CALLS(MODAPI_DECLARE)
MODAPI_OPTIONAL(MODAPI_DECLARE)
#undef MODAPI_DECLARE

/* Finds the calls. NULL, or the name of one that the server should have and has not. */
const char *modapi_find(RedisModuleCtx *ctx);

/* Valkey has other numbers of versions and options than Redis. */
bool modapi_is_valkey(void);

/* Whether a setting may have an alias without the module's name. */
bool modapi_has_aliases(void);

#endif
