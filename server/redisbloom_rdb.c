/*
 * RedisBloom's RDB: type MBbloom-- and MBbloomCF, encoding versions 0 to 4. Both have the same
 * facts as the chunks of BF.SCANDUMP and CF.SCANDUMP in another order, so loading writes such
 * chunks, for perhaps_open_foreign to check, and saving reads them.
 */
#include "redisbloom_header.h"
#include "value_types.h"

#include <perhaps_embed.h>

#include <string.h>

enum { LAYERS_MOST = PERHAPS_LAYERS_MAX };

/* ---- little-endian bytes ---- */

/* Each moves on. */
static void put(uint8_t **at, uint64_t number, unsigned bytes) {
    put_little_endian(*at, number, bytes);
    *at += bytes;
}

static uint64_t get(const uint8_t **at, unsigned bytes) {
    *at += bytes;
    return get_little_endian(*at - bytes, bytes);
}

static uint64_t bits_of(double number) {
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    return bits;
}

static double number_of(uint64_t bits) {
    double number;
    memcpy(&number, &bits, sizeof number);
    return number;
}

/* ---- loading ---- */

/* The header of chunks comes first, but its parts come between the layers' bytes: there is room for
 * it, until it is whole. */
struct rdb_loader {
    RedisModuleIO *rdb;
    uint8_t header[BLOOM_HEAD + LAYERS_MOST * BLOOM_LAYER];
    uint8_t *end;         /* of the header so far */
    struct value *chunks; /* the header's room, and the bytes so far */
    uint64_t length;
};

static bool leave_room(struct rdb_loader *loader, uint64_t header) {
    loader->length = header;
    return value_load(loader->chunks, 0, loader->header, (size_t)header);
}

/* A string of layer bytes, appended; false if it is not so long as it should be. */
static bool load_bytes(struct rdb_loader *loader, uint64_t *length) {
    size_t got = 0;
    char *bytes = RedisModule_LoadStringBuffer(loader->rdb, &got);
    bool taken = !RedisModule_IsIOError(loader->rdb) && bytes && value_load(loader->chunks, loader->length, bytes, got);
    if (bytes) RedisModule_Free(bytes);
    loader->length += got;
    *length = got;
    return taken;
}

/* The first version did not say how many. */
static uint64_t bits_of_oldest(uint64_t entries, double bits_per_entry) {
    double bits = (double)entries * bits_per_entry;
    return bits >= 0 && bits < 0x1p62 ? (uint64_t)bits : 0;
}

static bool load_bloom_layer(struct rdb_loader *loader, int encver) {
    RedisModuleIO *rdb = loader->rdb;
    uint64_t entries = RedisModule_LoadUnsigned(rdb), length;
    double error = RedisModule_LoadDouble(rdb);
    uint64_t hashes = RedisModule_LoadUnsigned(rdb);
    double bits_per_entry = RedisModule_LoadDouble(rdb);
    uint64_t bits = encver >= 1 ? RedisModule_LoadUnsigned(rdb) : bits_of_oldest(entries, bits_per_entry);
    uint64_t n2 = encver >= 1 ? RedisModule_LoadUnsigned(rdb) : 0;
    if (RedisModule_IsIOError(rdb) || !load_bytes(loader, &length)) return false;
    uint64_t size = RedisModule_LoadUnsigned(rdb);
    put(&loader->end, length, 8);
    put(&loader->end, bits, 8);
    put(&loader->end, size, 8);
    put(&loader->end, bits_of(error), 8);
    put(&loader->end, bits_of(bits_per_entry), 8);
    put(&loader->end, hashes, 4);
    put(&loader->end, entries, 8);
    put(&loader->end, n2, 1);
    return !RedisModule_IsIOError(rdb) && hashes <= UINT32_MAX && n2 <= UINT8_MAX;
}

static bool load_bloom(struct rdb_loader *loader, int encver) {
    RedisModuleIO *rdb = loader->rdb;
    uint64_t size = RedisModule_LoadUnsigned(rdb), layers = RedisModule_LoadUnsigned(rdb);
    uint64_t options = encver >= 2 ? RedisModule_LoadUnsigned(rdb) : 0;
    uint64_t growth = encver >= 4 ? RedisModule_LoadUnsigned(rdb) : 2;
    bool fine = !RedisModule_IsIOError(rdb) && layers <= LAYERS_MOST && options <= UINT32_MAX && growth <= UINT32_MAX;
    put(&loader->end, size, 8);
    put(&loader->end, layers, 4);
    put(&loader->end, options, 4);
    put(&loader->end, growth, 4);
    if (fine) fine = leave_room(loader, BLOOM_HEAD + layers * BLOOM_LAYER);
    for (uint64_t i = 0; fine && i < layers; i++) fine = load_bloom_layer(loader, encver);
    return fine;
}

static bool load_cuckoo(struct rdb_loader *loader, int encver) {
    RedisModuleIO *rdb = loader->rdb;
    uint64_t filters = RedisModule_LoadUnsigned(rdb), buckets = RedisModule_LoadUnsigned(rdb);
    uint64_t items = RedisModule_LoadUnsigned(rdb), deletes = encver >= 4 ? RedisModule_LoadUnsigned(rdb) : 0;
    uint64_t bucket = encver >= 4 ? RedisModule_LoadUnsigned(rdb) : 2;
    uint64_t iterations = encver >= 4 ? RedisModule_LoadUnsigned(rdb) : 20;
    uint64_t expansion = encver >= 4 ? RedisModule_LoadUnsigned(rdb) : 1, length;
    bool fine = !RedisModule_IsIOError(rdb) && filters <= LAYERS_MOST && bucket <= UINT16_MAX &&
                iterations <= UINT16_MAX && expansion <= UINT16_MAX;
    put(&loader->end, items, 8);
    put(&loader->end, buckets, 8);
    put(&loader->end, deletes, 8);
    put(&loader->end, filters, 8);
    put(&loader->end, bucket, 2);
    put(&loader->end, iterations, 2);
    put(&loader->end, expansion, 2);
    if (fine) fine = leave_room(loader, CUCKOO_HEAD);
    for (uint64_t i = 0; fine && i < filters; i++) {
        if (encver >= 4) RedisModule_LoadUnsigned(rdb); /* its buckets follow from the first's */
        fine = load_bytes(loader, &length);
    }
    return fine;
}

static void *load_redisbloom(RedisModuleIO *rdb, int encver, int kind,
                             bool (*load_all)(struct rdb_loader *loader, int encver)) {
    struct rdb_loader loader = {.rdb = rdb, .end = loader.header};
    const char *reason = "it is damaged, or there is no memory for it";
    struct value *value = NULL;
    loader.chunks = value_start_loading(kind, UINT64_MAX / 2, &(struct reported){0});
    if (encver > REDISBLOOM_ENCVER) reason = "it is of a newer version";
    if (loader.chunks && encver <= REDISBLOOM_ENCVER && load_all(&loader, encver) &&
        value_load(loader.chunks, 0, loader.header, (size_t)(loader.end - loader.header)))
        value = value_of_loaded(loader.chunks, &reason);
    const char *refused = value ? restore_refused(rdb, value) : NULL;
    if (refused) {
        reason = refused;
        value_free(value);
        value = NULL;
    }
    if (!value) RedisModule_LogIOError(rdb, "warning", "perhaps: a filter of RedisBloom cannot be loaded: %s", reason);
    if (loader.chunks) value_free(loader.chunks);
    return value;
}

void *redisbloom_load_bloom(RedisModuleIO *rdb, int encver) {
    return load_redisbloom(rdb, encver, PERHAPS_REDIS_BLOOM, load_bloom);
}

void *redisbloom_load_cuckoo(RedisModuleIO *rdb, int encver) {
    return load_redisbloom(rdb, encver, PERHAPS_REDIS_CUCKOO, load_cuckoo);
}

/* ---- saving ---- */

/* The header is the first piece that the library writes; then come the layers. Facts about layer i
 * stand at the i-th place. */
struct rdb_saver {
    RedisModuleIO *rdb;
    uint8_t header[BLOOM_HEAD + LAYERS_MOST * BLOOM_LAYER];
    uint64_t pieces;
};

static void save_bloom_head(const struct rdb_saver *saver) {
    const uint8_t *at = saver->header;
    for (unsigned i = 0; i < 4; i++) RedisModule_SaveUnsigned(saver->rdb, get(&at, i == 0 ? 8 : 4));
}

static void save_bloom_layer(const struct rdb_saver *saver, uint64_t layer, const void *bytes, size_t length) {
    const uint8_t *at = saver->header + BLOOM_HEAD + layer * BLOOM_LAYER + 8;
    uint64_t bits = get(&at, 8), size = get(&at, 8), error = get(&at, 8), bits_per_entry = get(&at, 8);
    uint64_t hashes = get(&at, 4), entries = get(&at, 8), n2 = get(&at, 1);
    RedisModule_SaveUnsigned(saver->rdb, entries);
    RedisModule_SaveDouble(saver->rdb, number_of(error));
    RedisModule_SaveUnsigned(saver->rdb, hashes);
    RedisModule_SaveDouble(saver->rdb, number_of(bits_per_entry));
    RedisModule_SaveUnsigned(saver->rdb, bits);
    RedisModule_SaveUnsigned(saver->rdb, n2);
    RedisModule_SaveStringBuffer(saver->rdb, bytes, length);
    RedisModule_SaveUnsigned(saver->rdb, size);
}

static void save_cuckoo_head(const struct rdb_saver *saver) {
    const uint8_t *at = saver->header;
    uint64_t items = get(&at, 8), buckets = get(&at, 8), deletes = get(&at, 8), filters = get(&at, 8);
    RedisModule_SaveUnsigned(saver->rdb, filters);
    RedisModule_SaveUnsigned(saver->rdb, buckets);
    RedisModule_SaveUnsigned(saver->rdb, items);
    RedisModule_SaveUnsigned(saver->rdb, deletes);
    for (unsigned i = 0; i < 3; i++) RedisModule_SaveUnsigned(saver->rdb, get(&at, 2));
}

static void save_cuckoo_layer(const struct rdb_saver *saver, const void *bytes, size_t length) {
    uint64_t bucket = get_little_endian(saver->header + CUCKOO_BUCKET_SIZE_AT, 2);
    RedisModule_SaveUnsigned(saver->rdb, length / bucket);
    RedisModule_SaveStringBuffer(saver->rdb, bytes, length);
}

static int save_bloom_piece(void *context, const void *bytes, size_t length) {
    struct rdb_saver *saver = context;
    if (saver->pieces++) {
        save_bloom_layer(saver, saver->pieces - 2, bytes, length);
        return 0;
    }
    if (length > sizeof saver->header) return 1;
    memcpy(saver->header, bytes, length);
    save_bloom_head(saver);
    return 0;
}

static int save_cuckoo_piece(void *context, const void *bytes, size_t length) {
    struct rdb_saver *saver = context;
    if (saver->pieces++) {
        save_cuckoo_layer(saver, bytes, length);
        return 0;
    }
    memcpy(saver->header, bytes, length);
    save_cuckoo_head(saver);
    return 0;
}

static void save_redisbloom(RedisModuleIO *rdb, const struct value *value,
                            int (*save_piece)(void *context, const void *bytes, size_t length)) {
    struct rdb_saver saver = {.rdb = rdb};
    perhaps *whole = value_whole(value);
    if (!whole || perhaps_write_foreign(whole, save_piece, &saver) < 0)
        RedisModule_LogIOError(rdb, "warning", "perhaps: a filter is not saved: %s", perhaps_why());
    if (whole) value_whole_done(value, whole);
}

void redisbloom_save_bloom(RedisModuleIO *rdb, void *value) {
    save_redisbloom(rdb, value, save_bloom_piece);
}

void redisbloom_save_cuckoo(RedisModuleIO *rdb, void *value) {
    save_redisbloom(rdb, value, save_cuckoo_piece);
}
