#include "value_types.h"

#include "chunk_header.h"
#include "settings.h"

#include <perhaps_embed.h>

RedisModuleType *type_bloom, *type_cuckoo;
static RedisModuleType *type_native_bloom, *type_native_cuckoo, *type_loading;

RedisModuleType *type_of(const struct value *value) {
    if (value->form == VALUE_LOADING) return type_loading;
    if (value->foreign) return value->multiset ? type_cuckoo : type_bloom;
    return value->multiset ? type_native_cuckoo : type_native_bloom;
}

bool type_is_ours(const RedisModuleType *type) {
    return type && (type == type_native_bloom || type == type_native_cuckoo || type == type_loading ||
                    type == type_bloom || type == type_cuckoo);
}

/* ---- RDB ---- */

/*
 * A native value: what clients are told (struct reported), and strings, of which the last one is
 * empty. Together they are the image.
 *
 * A value that is being loaded: its kind and the length of all of it; then the same, but what has
 * come so far.
 */
enum { NATIVE_ENCVER = 1, LOADING_ENCVER = 2 };

static int save_piece(void *rdb, const void *bytes, size_t length) {
    for (size_t from = 0; from < length; from += CHUNK_BYTES) {
        size_t some = length - from < CHUNK_BYTES ? length - from : CHUNK_BYTES;
        RedisModule_SaveStringBuffer(rdb, (const char *)bytes + from, some);
    }
    return 0;
}

static void save_reported(RedisModuleIO *rdb, const struct reported *reported) {
    RedisModule_SaveUnsigned(rdb, reported->bucket);
    RedisModule_SaveUnsigned(rdb, reported->iterations);
    RedisModule_SaveUnsigned(rdb, reported->expansion);
    RedisModule_SaveUnsigned(rdb, reported->deleted);
}

static void save_native(RedisModuleIO *rdb, void *context) {
    const struct value *value = context;
    save_reported(rdb, &value->reported);
    perhaps *whole = value_whole(value);
    if (!whole || perhaps_write(whole, save_piece, rdb) < 0)
        RedisModule_LogIOError(rdb, "warning", "perhaps: a filter is not saved: %s", perhaps_why());
    value_whole_done(value, whole);
    RedisModule_SaveStringBuffer(rdb, "", 0);
}

static void save_loading(RedisModuleIO *rdb, void *context) {
    const struct loading_value *loading = context;
    RedisModule_SaveUnsigned(rdb, (uint64_t)loading->kind);
    RedisModule_SaveUnsigned(rdb, loading->total);
    save_reported(rdb, &loading->value.reported);
    save_piece(rdb, loading->bytes, (size_t)loading->have);
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

static void load_reported(RedisModuleIO *rdb, struct reported *reported) {
    reported->bucket = (uint16_t)RedisModule_LoadUnsigned(rdb);
    reported->iterations = (uint16_t)RedisModule_LoadUnsigned(rdb);
    reported->expansion = (uint16_t)RedisModule_LoadUnsigned(rdb);
    reported->deleted = RedisModule_LoadUnsigned(rdb);
}

/* RESTORE of a client obeys the limit. What this server or its primary had is loaded. */
const char *restore_refused(RedisModuleIO *rdb, const struct value *value) {
    int flags = RedisModule_GetContextFlags(RedisModule_GetContextFromIO(rdb));
    uint64_t limit = (uint64_t)settings.filter_memory_limit, bytes = limit ? value_array_bytes(value) : 0;
    if (bytes <= limit || flags & (REDISMODULE_CTX_FLAGS_SLAVE | REDISMODULE_CTX_FLAGS_LOADING)) return NULL;
    count_refusal();
    return "it is larger than perhaps.filter-memory-limit";
}

static bool knows_version(RedisModuleIO *rdb, int encver, int known) {
    if (encver == known) return true;
    RedisModule_LogIOError(rdb, "warning", "perhaps: a filter of another version, %d, cannot be loaded", encver);
    return false;
}

/* `multiset`: what the type of the key says. */
static void *load_native(RedisModuleIO *rdb, int encver, bool multiset) {
    const char *reason = "it ends too early, or there is no memory for it";
    struct reported reported;
    struct value *value = NULL;
    if (!knows_version(rdb, encver, NATIVE_ENCVER)) return NULL;
    load_reported(rdb, &reported);
    struct value *loading = value_start_loading(0, UINT64_MAX / 2, &reported);
    if (loading && load_pieces(rdb, loading)) value = value_of_loaded(loading, &reason);
    if (value && (value->foreign || value->multiset != multiset)) {
        reason = "its type is that of another kind of filter";
        value_free(value);
        value = NULL;
    }
    const char *refused = value ? restore_refused(rdb, value) : NULL;
    if (refused) {
        reason = refused;
        value_free(value);
        value = NULL;
    }
    if (!value) RedisModule_LogIOError(rdb, "warning", "perhaps: a filter cannot be loaded: %s", reason);
    if (loading) value_free(loading);
    return value;
}

static void *load_native_bloom(RedisModuleIO *rdb, int encver) {
    return load_native(rdb, encver, false);
}

static void *load_native_cuckoo(RedisModuleIO *rdb, int encver) {
    return load_native(rdb, encver, true);
}

static void *load_loading(RedisModuleIO *rdb, int encver) {
    struct reported reported;
    uint64_t header;
    if (!knows_version(rdb, encver, LOADING_ENCVER)) return NULL;
    uint64_t kind = RedisModule_LoadUnsigned(rdb), total = RedisModule_LoadUnsigned(rdb);
    load_reported(rdb, &reported);
    if (RedisModule_IsIOError(rdb) || (kind && kind != PERHAPS_REDIS_BLOOM && kind != PERHAPS_REDIS_CUCKOO))
        return NULL;
    struct value *loading = value_start_loading((int)kind, UINT64_MAX / 2, &reported);
    struct loading_value *part = (struct loading_value *)loading;
    bool fine = loading && load_pieces(rdb, loading) && part->have <= total;
    if (fine && kind) fine = perhaps_foreign_length((int)kind, part->bytes, part->have, &header) == (int64_t)total;
    if (fine) part->total = total;
    if (fine && !restore_refused(rdb, loading)) return loading;
    if (loading) value_free(loading);
    return NULL;
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
    if (moved) {
        forget_fullest(value);
        *at = value = moved;
    }
    if (value->form == VALUE_OPEN) {
        struct open_value *opened = *at;
        opened->filter = defragment(ctx, opened->filter);
    } else if (value->form == VALUE_PARKED) {
        struct parked_value *parked = *at;
        uint8_t *bytes = parked->bytes ? RedisModule_DefragAlloc(ctx, parked->bytes) : NULL;
        if (bytes) parked->bytes = bytes;
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
    make_type(ctx, &type_native_bloom, "perhapsBF", NATIVE_ENCVER, load_native_bloom, save_native);
    make_type(ctx, &type_native_cuckoo, "perhapsCF", NATIVE_ENCVER, load_native_cuckoo, save_native);
    make_type(ctx, &type_loading, "perhaps--", LOADING_ENCVER, load_loading, save_loading);
    make_type(ctx, &type_bloom, "MBbloom--", REDISBLOOM_ENCVER, redisbloom_load_bloom, redisbloom_save_bloom);
    make_type(ctx, &type_cuckoo, "MBbloomCF", REDISBLOOM_ENCVER, redisbloom_load_cuckoo, redisbloom_save_cuckoo);
    if (!type_bloom || !type_cuckoo)
        RedisModule_Log(ctx, "notice",
                        "perhaps: another module has RedisBloom's types of values; filters in its layout "
                        "cannot be loaded or made here");
    return type_native_bloom && type_native_cuckoo && type_loading;
}
