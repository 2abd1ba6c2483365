#include "value_types.h"

#include "chunk_header.h"

#include <perhaps_embed.h>

RedisModuleType *type_native, *type_bloom, *type_cuckoo;

RedisModuleType *type_of(const struct value *value) {
    if (!value->foreign || value->form == VALUE_LOADING) return type_native;
    return value->multiset ? type_cuckoo : type_bloom;
}

/* ---- RDB ---- */

/*
 * A native value: whether it is being loaded, what clients are told, kind and length of what is
 * being loaded (else 0), and then strings, of which the last one is empty: together they are the
 * image.
 */
enum { NATIVE_ENCVER = 1 };

static int save_piece(void *rdb, const void *bytes, size_t length) {
    for (size_t from = 0; from < length; from += CHUNK_BYTES) {
        size_t some = length - from < CHUNK_BYTES ? length - from : CHUNK_BYTES;
        RedisModule_SaveStringBuffer(rdb, (const char *)bytes + from, some);
    }
    return 0;
}

static void save_pieces(RedisModuleIO *rdb, const struct value *value) {
    const struct loading_value *loading = (const struct loading_value *)value;
    if (value->form == VALUE_LOADING) {
        save_piece(rdb, loading->bytes, (size_t)loading->have);
        return;
    }
    perhaps *whole = value_whole(value);
    if (!whole || perhaps_write(whole, save_piece, rdb) < 0)
        RedisModule_LogIOError(rdb, "warning", "perhaps: a filter is not saved: %s", perhaps_why());
    value_whole_done(value, whole);
}

static void save_native(RedisModuleIO *rdb, void *context) {
    const struct value *value = context;
    const struct loading_value *loading = value->form == VALUE_LOADING ? context : NULL;
    RedisModule_SaveUnsigned(rdb, value->form == VALUE_LOADING);
    RedisModule_SaveUnsigned(rdb, value->reported.bucket);
    RedisModule_SaveUnsigned(rdb, value->reported.iterations);
    RedisModule_SaveUnsigned(rdb, value->reported.expansion);
    RedisModule_SaveUnsigned(rdb, value->reported.deleted);
    RedisModule_SaveUnsigned(rdb, loading ? (uint64_t)loading->kind : 0);
    RedisModule_SaveUnsigned(rdb, loading ? loading->total : 0);
    save_pieces(rdb, value);
    RedisModule_SaveStringBuffer(rdb, "", 0);
}

/* Collects the strings. */
static bool load_pieces(RedisModuleIO *rdb, struct value *loading) {
    uint64_t offset = 0;
    for (;;) {
        size_t length;
        char *bytes = RedisModule_LoadStringBuffer(rdb, &length);
        bool fits = !RedisModule_IsIOError(rdb) && bytes && length <= UINT64_MAX / 4 - offset;
        bool taken = fits && value_load(loading, offset, bytes, length);
        if (bytes) RedisModule_Free(bytes);
        if (!taken) return false;
        if (!length) return true;
        offset += length;
    }
}

static struct value *load_whole(RedisModuleIO *rdb, struct value *loading) {
    const char *reason = "it ends too early, or there is no memory for it";
    struct value *value = load_pieces(rdb, loading) ? value_of_loaded(loading, &reason) : NULL;
    if (!value) RedisModule_LogIOError(rdb, "warning", "perhaps: a filter cannot be loaded: %s", reason);
    value_free(loading);
    return value;
}

/* A filter that was being loaded when it was saved. */
static struct value *load_part(RedisModuleIO *rdb, struct value *loading, uint64_t total) {
    struct loading_value *part = (struct loading_value *)loading;
    uint64_t header;
    bool fine = load_pieces(rdb, loading) && part->have <= total;
    if (fine && part->kind)
        fine = perhaps_foreign_length(part->kind, part->bytes, part->have, &header) == (int64_t)total;
    if (fine) {
        part->total = total;
        return loading;
    }
    value_free(loading);
    return NULL;
}

static void *load_native(RedisModuleIO *rdb, int encver) {
    struct reported reported = {0};
    if (encver != NATIVE_ENCVER) {
        RedisModule_LogIOError(rdb, "warning", "perhaps: a filter of a newer version, %d, cannot be loaded", encver);
        return NULL;
    }
    bool is_part = RedisModule_LoadUnsigned(rdb) == 1;
    reported.bucket = (uint16_t)RedisModule_LoadUnsigned(rdb);
    reported.iterations = (uint16_t)RedisModule_LoadUnsigned(rdb);
    reported.expansion = (uint16_t)RedisModule_LoadUnsigned(rdb);
    reported.deleted = RedisModule_LoadUnsigned(rdb);
    uint64_t kind = RedisModule_LoadUnsigned(rdb), total = RedisModule_LoadUnsigned(rdb);
    if (RedisModule_IsIOError(rdb) || (kind && kind != PERHAPS_REDIS_BLOOM && kind != PERHAPS_REDIS_CUCKOO))
        return NULL;
    struct value *loading = value_start_loading(is_part ? (int)kind : 0, UINT64_MAX / 2, &reported);
    if (!loading) return NULL;
    return is_part ? load_part(rdb, loading, total) : load_whole(rdb, loading);
}

/* ---- digest, memory, copy, defragmentation ---- */

static int digest_piece(void *digest, const void *bytes, size_t length) {
    RedisModule_DigestAddStringBuffer(digest, bytes, length);
    return 0;
}

static void add_to_digest(RedisModuleDigest *digest, void *context) {
    const struct value *value = context;
    RedisModule_DigestAddLongLong(digest, (long long)value->reported.deleted);
    if (value->form == VALUE_LOADING) {
        const struct loading_value *loading = context;
        RedisModule_DigestAddStringBuffer(digest, (const char *)loading->bytes, (size_t)loading->have);
    } else {
        perhaps *whole = value_whole(value);
        /* Equal filters in RedisBloom's layout may differ in memory that is not in its bytes. */
        if (whole && value->foreign)
            perhaps_write_foreign(whole, digest_piece, digest);
        else if (whole)
            perhaps_write(whole, digest_piece, digest);
        value_whole_done(value, whole);
    }
    RedisModule_DigestEndSequence(digest);
}

/* The server has two small objects for each value of a module, which it does not count itself. */
enum { OBJECTS_OF_SERVER = 32 };

static size_t memory_usage(const void *value) {
    return OBJECTS_OF_SERVER + value_memory(value);
}

static void free_value(void *value) {
    value_free(value);
}

/* The server frees in another thread what is more than a few steps of work; sixteen kilobytes are
 * one. */
static size_t free_effort(RedisModuleString *key, const void *context) {
    const struct value *value = context;
    struct perhaps_info facts = {.size = sizeof facts};
    (void)key;
    if (value->form == VALUE_LOADING) return 1 + (size_t)(((const struct loading_value *)value)->room >> 14);
    if (value->form == VALUE_PARKED) return 1;
    perhaps_facts(((const struct open_value *)value)->filter, &facts);
    return 1 + facts.children + (size_t)(facts.bytes >> 14);
}

static void *copy(RedisModuleString *from, RedisModuleString *to, const void *value) {
    (void)from, (void)to;
    return value_copy(value);
}

/* See value_types.h. 0: there is nothing left to move. */
static int defrag(RedisModuleDefragCtx *ctx, RedisModuleString *key, void **at) {
    struct value *value = *at, *moved = RedisModule_DefragAlloc(ctx, value);
    (void)key;
    if (moved) *at = value = moved;
    if (value->form == VALUE_OPEN) {
        struct open_value *opened = *at;
        opened->filter = defragment(ctx, opened->filter);
    }
    return 0;
}

static void make_type(RedisModuleCtx *ctx, RedisModuleType **type, const char *name, int encver,
                      void *(*load_one)(RedisModuleIO *rdb, int encver),
                      void (*save_one)(RedisModuleIO *rdb, void *value)) {
    RedisModuleTypeMethods methods = {.version = REDISMODULE_TYPE_METHOD_VERSION,
                                      .rdb_load = load_one,
                                      .rdb_save = save_one,
                                      .aof_rewrite = aof_rewrite,
                                      .mem_usage = memory_usage,
                                      .digest = add_to_digest,
                                      .free = free_value,
                                      .free_effort = free_effort,
                                      .copy = copy,
                                      .defrag = defrag};
    *type = RedisModule_CreateDataType(ctx, name, encver, &methods);
}

bool types_register(RedisModuleCtx *ctx) {
    make_type(ctx, &type_native, "perhaps--", NATIVE_ENCVER, load_native, save_native);
    make_type(ctx, &type_bloom, "MBbloom--", REDISBLOOM_ENCVER, redisbloom_load_bloom, redisbloom_save_bloom);
    make_type(ctx, &type_cuckoo, "MBbloomCF", REDISBLOOM_ENCVER, redisbloom_load_cuckoo, redisbloom_save_cuckoo);
    if (!type_bloom || !type_cuckoo)
        RedisModule_Log(ctx, "notice",
                        "perhaps: another module has RedisBloom's types of values; filters in its layout "
                        "cannot be loaded or made here");
    return type_native;
}
