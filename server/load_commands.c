/*
 * BF.LOADCHUNK, CF.LOADCHUNK and PERHAPS.LOAD: a filter from bytes that come in pieces, in order.
 * Until all have come the value is loading (value.h). A piece that is refused leaves the key as it
 * was.
 */
#include "chunk_header.h"
#include "server_commands.h"

#include <perhaps_embed.h>

#include <stdio.h>

/* ---- bytes for a loading value ---- */

static int reply_damaged(RedisModuleCtx *ctx, const char *error, const char *reason) {
    char text[512];
    snprintf(text, sizeof text, "%s: %s", error, reason);
    return RedisModule_ReplyWithError(ctx, text);
}

/* If all has come, it becomes a filter. Otherwise, or if that fails, it stays as it is. False: it
 * has replied with an error. */
static bool finish(struct named_filter *named, const char *error) {
    const struct loading_value *loading = (const struct loading_value *)named->value;
    const char *reason;
    if (loading->have < loading->total) return true;
    struct value *value = value_of_loaded(named->value, &reason);
    if (!value) {
        reply_damaged(named->ctx, error, reason);
        return false;
    }
    if (!named_set_value(named, value)) {
        value_free(value);
        reply_damaged(named->ctx, error, "another module has the type of this value");
        return false;
    }
    return true;
}

/* Bytes for a loading value. If they are the last ones and make no filter, they are taken back. */
static bool take_bytes(struct named_filter *named, uint64_t offset, const void *bytes, size_t length,
                       const char *error) {
    struct loading_value *loading = (struct loading_value *)named->value;
    uint64_t have = loading->have;
    if (!value_load(named->value, offset, bytes, length)) {
        RedisModule_ReplyWithError(named->ctx, "ERR Insufficient memory");
        return false;
    }
    if (finish(named, error)) return true;
    loading->have = have < offset ? have : offset;
    return false;
}

static bool start_loading(struct named_filter *named, int kind, uint64_t total, const struct reported *reported) {
    if (named_is_too_large(named, total)) {
        count_refusal();
        reply_too_large(named->ctx, total);
        return false;
    }
    struct value *value = value_start_loading(kind, total, reported);
    if (value && named_set_value(named, value)) return true;
    if (value) value_free(value);
    RedisModule_ReplyWithError(named->ctx, "ERR Insufficient memory");
    return false;
}

/* The first bytes: if they are refused, there is no key as before. */
static bool take_first(struct named_filter *named, const void *bytes, size_t length, const char *error) {
    bool taken = take_bytes(named, 0, bytes, length, error);
    if (!taken) RedisModule_DeleteKey(named->handle);
    return taken;
}

/* ---- LOADCHUNK ---- */

/* What RedisBloom says, of BF and of CF. */
struct load_errors {
    const char *numeric, *header, *missing, *exists, *offset, *length, *data;
};

static const struct load_errors bloom_errors = {.numeric = "ERR Second argument must be numeric",
                                                .header = "ERR received bad data",
                                                .missing = "ERR not found",
                                                .exists = "ERR invalid offset - no link found",
                                                .offset = "ERR invalid offset - no link found",
                                                .length = "ERR invalid chunk - Too big for current filter",
                                                .data = "ERR received bad data"};

static const struct load_errors cuckoo_errors = {.numeric = "Invalid position",
                                                 .header = "Invalid header",
                                                 .missing = "ERR not found",
                                                 .exists = "ERR item exists",
                                                 .offset = "Couldn't load chunk!",
                                                 .length = "Couldn't load chunk!",
                                                 .data = "Couldn't load chunk!"};

/* The header chunk: from it follows how much there will be. RedisBloom's header is itself the
 * beginning of that. */
static bool take_header_chunk(struct named_filter *named, int kind, const char *bytes, size_t length,
                              const struct load_errors *errors) {
    struct reported reported = {0};
    uint64_t total, header = 0;
    if (chunk_header_read((const uint8_t *)bytes, length, &total, &reported))
        return start_loading(named, 0, total, &reported);
    int64_t whole = perhaps_foreign_length(kind, bytes, length, &header);
    if (whole < 0 || header != length) {
        RedisModule_ReplyWithError(named->ctx, errors->header);
        return false;
    }
    return start_loading(named, kind, (uint64_t)whole, &reported) && take_first(named, bytes, length, errors->data);
}

/* Where a chunk with this cursor goes in what is loaded; false if nowhere. */
static bool place_chunk(const struct loading_value *loading, uint64_t cursor, size_t length, uint64_t *offset,
                        bool *fits) {
    uint64_t header = 0;
    if (loading->kind) perhaps_foreign_length(loading->kind, loading->bytes, loading->have, &header);
    uint64_t room = loading->total - header;
    *fits = length <= room && cursor - 1 <= room;
    if (cursor - 1 < length || cursor - 1 - length > loading->have) return false;
    *offset = header + (cursor - 1 - length);
    return *offset <= loading->have;
}

static bool take_data_chunk(struct named_filter *named, uint64_t cursor, const char *bytes, size_t length,
                            const struct load_errors *errors) {
    const struct loading_value *loading = (const struct loading_value *)named->value;
    uint64_t offset;
    bool fits, placed = place_chunk(loading, cursor, length, &offset, &fits);
    if (!placed || !fits) {
        bool too_long = !fits && length > loading->total - loading->have;
        RedisModule_ReplyWithError(named->ctx, too_long ? errors->length : errors->offset);
        return false;
    }
    return take_bytes(named, offset, bytes, length, errors->data);
}

static bool take_chunk(struct named_filter *named, enum lookup found, int kind, long long cursor,
                       RedisModuleString *chunk, const struct load_errors *errors) {
    size_t length;
    const char *bytes = RedisModule_StringPtrLen(chunk, &length);
    if (found == LOOKUP_MISSING && cursor == 1) return take_header_chunk(named, kind, bytes, length, errors);
    if (found == LOOKUP_LOADING && cursor > 1) return take_data_chunk(named, (uint64_t)cursor, bytes, length, errors);
    if (found == LOOKUP_FOUND || found == LOOKUP_LOADING)
        RedisModule_ReplyWithError(named->ctx, errors->exists);
    else
        reply_no_filter(named->ctx, found, errors->missing);
    return false;
}

static int load_chunk_command(RedisModuleCtx *ctx, RedisModuleString **argv, int argc, int kind,
                              const struct load_errors *errors, const char *event) {
    struct named_filter named;
    long long cursor;
    if (argc != 4) return RedisModule_WrongArity(ctx);
    if (RedisModule_StringToLongLong(argv[2], &cursor) != REDISMODULE_OK || cursor < 0)
        return RedisModule_ReplyWithError(ctx, errors->numeric);
    enum lookup found = named_open(&named, ctx, argv[1], REDISMODULE_READ | REDISMODULE_WRITE, FAMILY_ANY);
    named.changed = take_chunk(&named, found, kind, cursor, argv[3], errors);
    if (named.changed) RedisModule_ReplyWithSimpleString(ctx, "OK");
    named_close(&named, event);
    return REDISMODULE_OK;
}

int bf_loadchunk(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    return load_chunk_command(ctx, argv, argc, PERHAPS_REDIS_BLOOM, &bloom_errors, "bf.loadchunk");
}

int cf_loadchunk(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    return load_chunk_command(ctx, argv, argc, PERHAPS_REDIS_CUCKOO, &cuckoo_errors, "cf.loadchunk");
}

/* ---- PERHAPS.LOAD ---- */

static bool load_image(struct named_filter *named, enum lookup found, const long long numbers[2],
                       const struct reported *reported, RedisModuleString *piece) {
    size_t length;
    const char *bytes = RedisModule_StringPtrLen(piece, &length);
    uint64_t offset = (uint64_t)numbers[0], total = (uint64_t)numbers[1];
    const struct loading_value *loading = found == LOOKUP_LOADING ? (const struct loading_value *)named->value : NULL;
    const char *error = NULL;
    if (found == LOOKUP_FOUND)
        error = "ERR item exists";
    else if (loading ? loading->kind || loading->total != total : offset != 0)
        error = "ERR loading begins at offset 0, and all pieces have the same total";
    else if (loading && offset != loading->have)
        error = "ERR pieces come in order, and this is not the next one";
    else if (length > total || offset > total - length)
        error = "ERR the piece is longer than the total";
    if (error || found == LOOKUP_WRONG_TYPE || found == LOOKUP_NO_MEMORY) {
        if (error)
            RedisModule_ReplyWithError(named->ctx, error);
        else
            reply_no_filter(named->ctx, found, NULL);
        return false;
    }
    static const char refused[] = "ERR the image is refused";
    if (loading) return take_bytes(named, offset, bytes, length, refused);
    return start_loading(named, 0, total, reported) && take_first(named, bytes, length, refused);
}

int load_command(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    struct named_filter named;
    struct reported reported = {0};
    long long numbers[2];
    if (argc != 5 && argc != 9) return RedisModule_WrongArity(ctx);
    for (int i = 0; i < 2; i++)
        if (RedisModule_StringToLongLong(argv[2 + i], &numbers[i]) != REDISMODULE_OK || numbers[i] < 0)
            return RedisModule_ReplyWithError(ctx, "ERR offset and total are numbers of bytes");
    if (argc == 9 && !read_reported(argv + 5, 4, &reported))
        return RedisModule_ReplyWithError(ctx, "ERR bad numbers at the end");
    enum lookup found = named_open(&named, ctx, argv[1], REDISMODULE_READ | REDISMODULE_WRITE, FAMILY_ANY);
    named.changed = load_image(&named, found, numbers, &reported, argv[4]);
    if (named.changed) RedisModule_ReplyWithSimpleString(ctx, "OK");
    named_close(&named, "perhaps.load");
    return REDISMODULE_OK;
}
