/*
 * BF.SCANDUMP, BF.LOADCHUNK, the same of CF, PERHAPS.DUMP and PERHAPS.LOAD.
 *
 * RedisBloom's chunks have a cursor: the position after the chunk, plus one. The header's is 1, and what follows is counted
 * from there. A filter in its layout gives and takes just those. A native filter gives its image in the same manner, behind
 * a header of its own:
 *
 *     bytes  what
 *         8  "perhaps\1"
 *         8  the image's length
 *         6  what clients are told: bucket size, iterations, expansion
 *         8  deletions
 *
 * All numbers are little-endian. Chunks are taken in order; until all have come, the value is VALUE_LOADING.
 */
#include "aof_rewrite.h"

#include "little_endian.h"
#include "server_commands.h"

#include <perhaps_embed.h>

#include <stdio.h>
#include <string.h>

enum { NATIVE_HEADER = 30 };
static const char native_magic[8] = "perhaps\1";

static uint64_t image_length(const perhaps *whole) {
    struct perhaps_info facts = {.size = sizeof facts};
    return perhaps_facts(whole, &facts) < 0 ? 0 : facts.image_bytes;
}

static void write_header(uint8_t header[NATIVE_HEADER], uint64_t total, const struct reported *reported) {
    memcpy(header, native_magic, sizeof native_magic);
    put_number(header + 8, total, 8);
    put_number(header + 16, reported->bucket, 2);
    put_number(header + 18, reported->iterations, 2);
    put_number(header + 20, reported->expansion, 2);
    put_number(header + 22, reported->deleted, 8);
}

static bool read_header(const uint8_t *header, size_t length, uint64_t *total, struct reported *reported) {
    if (length != NATIVE_HEADER || memcmp(header, native_magic, sizeof native_magic) != 0) return false;
    *total = get_number(header + 8, 8);
    reported->bucket = (uint16_t)get_number(header + 16, 2);
    reported->iterations = (uint16_t)get_number(header + 18, 2);
    reported->expansion = (uint16_t)get_number(header + 20, 2);
    reported->deleted = get_number(header + 22, 8);
    return true;
}

/* ---- a piece of an image ---- */

struct image_piece {
    uint64_t offset, at; /* `at`: how far the writer is */
    uint8_t *bytes;
    size_t length, have;
};

static int take_piece(void *context, const void *bytes, size_t length) {
    struct image_piece *piece = context;
    uint64_t wanted = piece->offset + piece->have, end = piece->at + length;
    if (wanted < end) {
        size_t skip = (size_t)(wanted - piece->at), some = length - skip;
        if (some > piece->length - piece->have) some = piece->length - piece->have;
        memcpy(piece->bytes + piece->have, (const uint8_t *)bytes + skip, some);
        piece->have += some;
    }
    piece->at = end;
    return piece->have == piece->length;
}

/* [next, bytes]: `next` is what the caller makes of the position after them. */
static int reply_piece(RedisModuleCtx *ctx, const perhaps *whole, struct image_piece *piece, long long next) {
    piece->bytes = try_alloc(piece->length ? piece->length : 1);
    /* Stopping the writer early is an error to it, but not to us. */
    int rc = piece->bytes ? perhaps_write(whole, take_piece, piece) : PERHAPS_ENOMEM;
    if (piece->have == piece->length && (rc == PERHAPS_OK || rc == PERHAPS_EIO)) {
        RedisModule_ReplyWithArray(ctx, 2);
        RedisModule_ReplyWithLongLong(ctx, next);
        RedisModule_ReplyWithStringBuffer(ctx, (const char *)piece->bytes, piece->length);
    } else {
        RedisModule_ReplyWithError(ctx, "ERR Insufficient memory");
    }
    RedisModule_Free(piece->bytes);
    return REDISMODULE_OK;
}

/* ---- SCANDUMP ---- */

static int reply_end(RedisModuleCtx *ctx, enum command_family family) {
    RedisModule_ReplyWithArray(ctx, 2);
    RedisModule_ReplyWithLongLong(ctx, 0);
    return family == FAMILY_CUCKOO ? RedisModule_ReplyWithNull(ctx) : RedisModule_ReplyWithStringBuffer(ctx, "", 0);
}

static int dump_native(struct named_filter *named, uint64_t cursor, enum command_family family) {
    perhaps *whole = value_whole(named->value);
    uint64_t total = whole ? image_length(whole) : 0, offset = cursor ? cursor - 1 : 0;
    int rc = REDISMODULE_OK;
    if (!whole) {
        RedisModule_ReplyWithError(named->ctx, "ERR Insufficient memory");
    } else if (!cursor) {
        uint8_t header[NATIVE_HEADER];
        write_header(header, total, &named->value->reported);
        RedisModule_ReplyWithArray(named->ctx, 2);
        RedisModule_ReplyWithLongLong(named->ctx, 1);
        RedisModule_ReplyWithStringBuffer(named->ctx, (const char *)header, sizeof header);
    } else if (offset >= total) {
        rc = reply_end(named->ctx, family);
    } else {
        struct image_piece piece = {.offset = offset};
        piece.length = total - offset < CHUNK_BYTES ? (size_t)(total - offset) : CHUNK_BYTES;
        rc = reply_piece(named->ctx, whole, &piece, (long long)(cursor + piece.length));
    }
    if (whole) value_whole_done(named->value, whole);
    return rc;
}

/* Looks for the piece in which the cursor is; the header has none before it. */
struct chunk_search {
    RedisModuleCtx *ctx;
    uint64_t cursor, at; /* `at`: the cursor of the next piece */
    bool replied;
};

static int scan_piece(void *context, const void *bytes, size_t length) {
    struct chunk_search *scan = context;
    bool is_header = scan->at == 0;
    size_t skip = is_header ? 0 : (size_t)(scan->cursor - scan->at), some = 0;
    if (is_header ? scan->cursor == 0 : scan->cursor < scan->at + length) {
        some = length - skip < CHUNK_BYTES ? length - skip : CHUNK_BYTES;
        RedisModule_ReplyWithArray(scan->ctx, 2);
        RedisModule_ReplyWithLongLong(scan->ctx, is_header ? 1 : (long long)(scan->cursor + some));
        RedisModule_ReplyWithStringBuffer(scan->ctx, (const char *)bytes + skip, some);
        scan->replied = true;
    }
    scan->at = is_header ? 1 : scan->at + length;
    return scan->replied;
}

static int dump_foreign(struct named_filter *named, uint64_t cursor, enum command_family family) {
    struct chunk_search scan = {.ctx = named->ctx, .cursor = cursor};
    perhaps_write_foreign(named->filter, scan_piece, &scan);
    return scan.replied ? REDISMODULE_OK : reply_end(named->ctx, family);
}

static int dump(RedisModuleCtx *ctx, RedisModuleString **argv, int argc, enum command_family family, const char *bad) {
    struct named_filter named;
    long long cursor;
    if (argc != 3) return RedisModule_WrongArity(ctx);
    if (RedisModule_StringToLongLong(argv[2], &cursor) != REDISMODULE_OK || cursor < 0)
        return RedisModule_ReplyWithError(ctx, bad);
    enum lookup found = named_open(&named, ctx, argv[1], REDISMODULE_READ, family);
    if (found != LOOKUP_FOUND)
        reply_no_filter(ctx, found, "ERR not found");
    else if (named.value->foreign)
        dump_foreign(&named, (uint64_t)cursor, family);
    else
        dump_native(&named, (uint64_t)cursor, family);
    named_close(&named, NULL);
    return REDISMODULE_OK;
}

int bf_scandump(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    return dump(ctx, argv, argc, FAMILY_BLOOM, "Second argument must be numeric");
}

int cf_scandump(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    return dump(ctx, argv, argc, FAMILY_CUCKOO, "Invalid position");
}

/* ---- loading ---- */

/* A key that is loaded into, or about to be. */
static enum lookup open_to_load(struct named_filter *named, RedisModuleCtx *ctx, RedisModuleString *name) {
    return named_open(named, ctx, name, REDISMODULE_READ | REDISMODULE_WRITE, FAMILY_ANY);
}

static int reply_damaged(RedisModuleCtx *ctx, const char *error, const char *reason) {
    char text[512];
    snprintf(text, sizeof text, "%s: %s", error, reason);
    return RedisModule_ReplyWithError(ctx, text);
}

/* If all has come, it becomes a filter. Otherwise, or if that fails, it stays as it is. False: it has replied with an error. */
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

/* Bytes for a VALUE_LOADING value. If they are the last ones and make no filter, they are taken back. */
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

static bool start(struct named_filter *named, int kind, uint64_t total, const struct reported *reported) {
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

/* The header chunk: from it follows how much there will be. RedisBloom's header is itself the beginning of that. */
static bool start_chunks(struct named_filter *named, int kind, const char *bytes, size_t length,
                         const struct load_errors *errors) {
    struct reported reported = {0};
    uint64_t total, header = 0;
    if (read_header((const uint8_t *)bytes, length, &total, &reported)) return start(named, 0, total, &reported);
    int64_t whole = perhaps_foreign_length(kind, bytes, length, &header);
    if (whole < 0 || header != length) {
        RedisModule_ReplyWithError(named->ctx, errors->header);
        return false;
    }
    return start(named, kind, (uint64_t)whole, &reported) && take_first(named, bytes, length, errors->data);
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

static bool load_chunk(struct named_filter *named, uint64_t cursor, const char *bytes, size_t length,
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

static bool load(struct named_filter *named, enum lookup found, int kind, long long cursor, RedisModuleString *chunk,
                 const struct load_errors *errors) {
    size_t length;
    const char *bytes = RedisModule_StringPtrLen(chunk, &length);
    if (found == LOOKUP_MISSING && cursor == 1) return start_chunks(named, kind, bytes, length, errors);
    if (found == LOOKUP_LOADING && cursor > 1) return load_chunk(named, (uint64_t)cursor, bytes, length, errors);
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
    enum lookup found = open_to_load(&named, ctx, argv[1]);
    named.changed = load(&named, found, kind, cursor, argv[3], errors);
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

/* ---- PERHAPS.DUMP and PERHAPS.LOAD ---- */

int dump_command(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    struct named_filter named;
    long long offset, count = CHUNK_BYTES;
    if (argc != 3 && argc != 5) return RedisModule_WrongArity(ctx);
    if (RedisModule_StringToLongLong(argv[2], &offset) != REDISMODULE_OK || offset < 0)
        return RedisModule_ReplyWithError(ctx, "ERR an offset is a number of bytes");
    if (argc == 5 && (!is_word(argv[3], "COUNT") || RedisModule_StringToLongLong(argv[4], &count) != REDISMODULE_OK ||
                      count < 1 || count > MOST_CAPACITY / 2))
        return RedisModule_ReplyWithError(ctx, "ERR COUNT is a number of bytes from 1 to 536870912");
    enum lookup found = named_open(&named, ctx, argv[1], REDISMODULE_READ, FAMILY_ANY);
    perhaps *whole = found == LOOKUP_FOUND ? value_whole(named.value) : NULL;
    uint64_t total = whole ? image_length(whole) : 0, from = (uint64_t)offset;
    if (!whole) {
        reply_no_filter(ctx, found == LOOKUP_FOUND ? LOOKUP_NO_MEMORY : found, "ERR not found");
    } else if (from >= total) {
        RedisModule_ReplyWithError(ctx, "ERR the offset is beyond the end");
    } else {
        struct image_piece piece = {.offset = from};
        piece.length = total - from < (uint64_t)count ? (size_t)(total - from) : (size_t)count;
        reply_piece(ctx, whole, &piece, from + piece.length == total ? 0 : (long long)(from + piece.length));
    }
    if (whole) value_whole_done(named.value, whole);
    named_close(&named, NULL);
    return REDISMODULE_OK;
}

/* Four numbers at the end say what clients are told; only the AOF has them. */
static bool read_reported(RedisModuleString **argv, struct reported *reported) {
    long long numbers[4];
    for (int i = 0; i < 4; i++)
        if (RedisModule_StringToLongLong(argv[i], &numbers[i]) != REDISMODULE_OK || numbers[i] < 0 ||
            (i < 3 && numbers[i] > UINT16_MAX))
            return false;
    *reported =
        (struct reported){(uint16_t)numbers[0], (uint16_t)numbers[1], (uint16_t)numbers[2], (uint64_t)numbers[3]};
    return true;
}

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
    return start(named, 0, total, reported) && take_first(named, bytes, length, refused);
}

int load_command(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    struct named_filter named;
    struct reported reported = {0};
    long long numbers[2];
    if (argc != 5 && argc != 9) return RedisModule_WrongArity(ctx);
    for (int i = 0; i < 2; i++)
        if (RedisModule_StringToLongLong(argv[2 + i], &numbers[i]) != REDISMODULE_OK || numbers[i] < 0)
            return RedisModule_ReplyWithError(ctx, "ERR offset and total are numbers of bytes");
    if (argc == 9 && !read_reported(argv + 5, &reported))
        return RedisModule_ReplyWithError(ctx, "ERR bad numbers at the end");
    enum lookup found = open_to_load(&named, ctx, argv[1]);
    named.changed = load_image(&named, found, numbers, &reported, argv[4]);
    if (named.changed) RedisModule_ReplyWithSimpleString(ctx, "OK");
    named_close(&named, "perhaps.load");
    return REDISMODULE_OK;
}

/* ---- the AOF ---- */

struct aof_writer {
    RedisModuleIO *aof;
    RedisModuleString *key;
    const struct reported *reported;
    const char *command; /* of RedisBloom's layout; NULL: an image */
    uint64_t at, total;  /* `at`: the cursor of the next piece, or its offset */
};

static void emit(const struct aof_writer *e, uint64_t cursor, const void *bytes, size_t length) {
    if (e->command)
        RedisModule_EmitAOF(e->aof, command_name(e->command), "slb", e->key, (long long)cursor, bytes, length);
    else
        RedisModule_EmitAOF(e->aof, command_name("PERHAPS.LOAD"), "sllbllll", e->key, (long long)cursor,
                            (long long)e->total, bytes, length, (long long)e->reported->bucket,
                            (long long)e->reported->iterations, (long long)e->reported->expansion,
                            (long long)e->reported->deleted);
}

static int emit_piece(void *context, const void *piece, size_t length) {
    struct aof_writer *e = context;
    const char *bytes = piece;
    bool is_header = e->command && e->at == 0;
    for (size_t from = 0; from < length; from += CHUNK_BYTES) {
        size_t some = length - from < CHUNK_BYTES ? length - from : CHUNK_BYTES;
        uint64_t next = is_header ? 1 : e->at + some;
        emit(e, e->command ? next : e->at, bytes + from, some);
        e->at = next;
    }
    return 0;
}

static void emit_loading(struct aof_writer *e, const struct loading_value *loading) {
    uint64_t header = 0;
    if (loading->kind) perhaps_foreign_length(loading->kind, loading->bytes, loading->have, &header);
    if (header) emit_piece(e, loading->bytes, (size_t)header);
    if (!loading->kind && !loading->have) emit(e, 0, "", 0);
    if (loading->have > header) emit_piece(e, loading->bytes + header, (size_t)(loading->have - header));
}

void aof_rewrite(RedisModuleIO *aof, RedisModuleString *key, void *context) {
    const struct value *value = context;
    const struct loading_value *loading = value->form == VALUE_LOADING ? context : NULL;
    bool foreign = loading ? loading->kind != 0 : value->foreign;
    struct aof_writer e = {.aof = aof, .key = key, .reported = &value->reported};
    if (foreign) e.command = value->multiset ? "CF.LOADCHUNK" : "BF.LOADCHUNK";
    if (loading) {
        e.total = loading->total;
        emit_loading(&e, loading);
        return;
    }
    perhaps *whole = value_whole(value);
    if (whole) e.total = image_length(whole);
    int rc = !whole    ? PERHAPS_ENOMEM
             : foreign ? perhaps_write_foreign(whole, emit_piece, &e)
                       : perhaps_write(whole, emit_piece, &e);
    if (rc < 0) RedisModule_LogIOError(aof, "warning", "perhaps: a filter is not rewritten: %s", perhaps_why());
    if (whole) value_whole_done(value, whole);
}
