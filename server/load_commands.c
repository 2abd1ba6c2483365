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
 * All numbers are little-endian. Chunks are taken in order; until all have come, the value is LOADING.
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

static void write_header(uint8_t header[NATIVE_HEADER], uint64_t total, const struct told *told) {
    memcpy(header, native_magic, sizeof native_magic);
    put_number(header + 8, total, 8);
    put_number(header + 16, told->bucket, 2);
    put_number(header + 18, told->iterations, 2);
    put_number(header + 20, told->expansion, 2);
    put_number(header + 22, told->deleted, 8);
}

static bool read_header(const uint8_t *header, size_t length, uint64_t *total, struct told *told) {
    if (length != NATIVE_HEADER || memcmp(header, native_magic, sizeof native_magic) != 0) return false;
    *total = get_number(header + 8, 8);
    told->bucket = (uint16_t)get_number(header + 16, 2);
    told->iterations = (uint16_t)get_number(header + 18, 2);
    told->expansion = (uint16_t)get_number(header + 20, 2);
    told->deleted = get_number(header + 22, 8);
    return true;
}

/* ---- a part of an image ---- */

struct part {
    uint64_t offset, at; /* `at`: how far the writer is */
    uint8_t *bytes;
    size_t length, have;
};

static int take_part(void *context, const void *bytes, size_t length) {
    struct part *part = context;
    uint64_t wanted = part->offset + part->have, end = part->at + length;
    if (wanted < end) {
        size_t skip = (size_t)(wanted - part->at), some = length - skip;
        if (some > part->length - part->have) some = part->length - part->have;
        memcpy(part->bytes + part->have, (const uint8_t *)bytes + skip, some);
        part->have += some;
    }
    part->at = end;
    return part->have == part->length;
}

/* [next, bytes]: `next` is what the caller makes of the position after them. */
static int reply_part(RedisModuleCtx *ctx, const perhaps *whole, struct part *part, long long next) {
    part->bytes = try_alloc(part->length ? part->length : 1);
    /* Stopping the writer early is an error to it, but not to us. */
    int rc = part->bytes ? perhaps_write(whole, take_part, part) : PERHAPS_ENOMEM;
    if (part->have == part->length && (rc == PERHAPS_OK || rc == PERHAPS_EIO)) {
        RedisModule_ReplyWithArray(ctx, 2);
        RedisModule_ReplyWithLongLong(ctx, next);
        RedisModule_ReplyWithStringBuffer(ctx, (const char *)part->bytes, part->length);
    } else {
        RedisModule_ReplyWithError(ctx, "ERR Insufficient memory");
    }
    RedisModule_Free(part->bytes);
    return REDISMODULE_OK;
}

/* ---- SCANDUMP ---- */

static int reply_end(RedisModuleCtx *ctx, enum family family) {
    RedisModule_ReplyWithArray(ctx, 2);
    RedisModule_ReplyWithLongLong(ctx, 0);
    return family == CUCKOO_FILTER ? RedisModule_ReplyWithNull(ctx) : RedisModule_ReplyWithStringBuffer(ctx, "", 0);
}

static int dump_native(struct held *held, uint64_t cursor, enum family family) {
    perhaps *whole = value_whole(held->value);
    uint64_t total = whole ? image_length(whole) : 0, offset = cursor ? cursor - 1 : 0;
    int rc = REDISMODULE_OK;
    if (!whole) {
        RedisModule_ReplyWithError(held->ctx, "ERR Insufficient memory");
    } else if (!cursor) {
        uint8_t header[NATIVE_HEADER];
        write_header(header, total, &held->value->told);
        RedisModule_ReplyWithArray(held->ctx, 2);
        RedisModule_ReplyWithLongLong(held->ctx, 1);
        RedisModule_ReplyWithStringBuffer(held->ctx, (const char *)header, sizeof header);
    } else if (offset >= total) {
        rc = reply_end(held->ctx, family);
    } else {
        struct part part = {.offset = offset};
        part.length = total - offset < CHUNK_BYTES ? (size_t)(total - offset) : CHUNK_BYTES;
        rc = reply_part(held->ctx, whole, &part, (long long)(cursor + part.length));
    }
    if (whole) value_whole_done(held->value, whole);
    return rc;
}

/* Looks for the piece in which the cursor is; the header has none before it. */
struct scan {
    RedisModuleCtx *ctx;
    uint64_t cursor, at; /* `at`: the cursor of the next piece */
    bool replied;
};

static int scan_piece(void *context, const void *bytes, size_t length) {
    struct scan *scan = context;
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

static int dump_foreign(struct held *held, uint64_t cursor, enum family family) {
    struct scan scan = {.ctx = held->ctx, .cursor = cursor};
    perhaps_write_foreign(held->filter, scan_piece, &scan);
    return scan.replied ? REDISMODULE_OK : reply_end(held->ctx, family);
}

static int dump(RedisModuleCtx *ctx, RedisModuleString **argv, int argc, enum family family, const char *bad) {
    struct held held;
    long long cursor;
    if (argc != 3) return RedisModule_WrongArity(ctx);
    if (RedisModule_StringToLongLong(argv[2], &cursor) != REDISMODULE_OK || cursor < 0)
        return RedisModule_ReplyWithError(ctx, bad);
    enum found found = hold(&held, ctx, argv[1], REDISMODULE_READ, family);
    if (found != FOUND)
        reply_not_held(ctx, found, "ERR not found");
    else if (held.value->foreign)
        dump_foreign(&held, (uint64_t)cursor, family);
    else
        dump_native(&held, (uint64_t)cursor, family);
    let_go(&held, NULL);
    return REDISMODULE_OK;
}

int bf_scandump(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    return dump(ctx, argv, argc, BLOOM_FILTER, "Second argument must be numeric");
}

int cf_scandump(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    return dump(ctx, argv, argc, CUCKOO_FILTER, "Invalid position");
}

/* ---- loading ---- */

/* A key that is loaded into, or about to be. */
static enum found hold_loading(struct held *held, RedisModuleCtx *ctx, RedisModuleString *name) {
    return hold(held, ctx, name, REDISMODULE_READ | REDISMODULE_WRITE, ANY_FILTER);
}

static int reply_damaged(RedisModuleCtx *ctx, const char *error, const char *reason) {
    char text[512];
    snprintf(text, sizeof text, "%s: %s", error, reason);
    return RedisModule_ReplyWithError(ctx, text);
}

/* If all has come, it becomes a filter. Otherwise, or if that fails, it stays as it is. False: it has replied with an error. */
static bool finish(struct held *held, const char *error) {
    const struct loading_value *loading = (const struct loading_value *)held->value;
    const char *reason;
    if (loading->have < loading->total) return true;
    struct value *value = value_of_loaded(held->value, &reason);
    if (!value) {
        reply_damaged(held->ctx, error, reason);
        return false;
    }
    if (!hold_value(held, value)) {
        value_free(value);
        reply_damaged(held->ctx, error, "another module has the type of this value");
        return false;
    }
    return true;
}

/* Bytes for a LOADING value. If they are the last ones and make no filter, they are taken back. */
static bool take_bytes(struct held *held, uint64_t offset, const void *bytes, size_t length, const char *error) {
    struct loading_value *loading = (struct loading_value *)held->value;
    uint64_t have = loading->have;
    if (!value_load(held->value, offset, bytes, length)) {
        RedisModule_ReplyWithError(held->ctx, "ERR Insufficient memory");
        return false;
    }
    if (finish(held, error)) return true;
    loading->have = have < offset ? have : offset;
    return false;
}

static bool start(struct held *held, int kind, uint64_t total, const struct told *told) {
    struct value *value = value_start_loading(kind, total, told);
    if (value && hold_value(held, value)) return true;
    if (value) value_free(value);
    RedisModule_ReplyWithError(held->ctx, "ERR Insufficient memory");
    return false;
}

/* The first bytes: if they are refused, there is no key as before. */
static bool take_first(struct held *held, const void *bytes, size_t length, const char *error) {
    bool taken = take_bytes(held, 0, bytes, length, error);
    if (!taken) RedisModule_DeleteKey(held->key);
    return taken;
}

/* What RedisBloom says, of BF and of CF. */
struct errors {
    const char *numeric, *header, *missing, *exists, *offset, *length, *data;
};

static const struct errors bloom_errors = {.numeric = "ERR Second argument must be numeric",
                                           .header = "ERR received bad data",
                                           .missing = "ERR not found",
                                           .exists = "ERR invalid offset - no link found",
                                           .offset = "ERR invalid offset - no link found",
                                           .length = "ERR invalid chunk - Too big for current filter",
                                           .data = "ERR received bad data"};

static const struct errors cuckoo_errors = {.numeric = "Invalid position",
                                            .header = "Invalid header",
                                            .missing = "ERR not found",
                                            .exists = "ERR item exists",
                                            .offset = "Couldn't load chunk!",
                                            .length = "Couldn't load chunk!",
                                            .data = "Couldn't load chunk!"};

/* The header chunk: from it follows how much there will be. RedisBloom's header is itself the beginning of that. */
static bool start_chunks(struct held *held, int kind, const char *bytes, size_t length, const struct errors *errors) {
    struct told told = {0};
    uint64_t total, header = 0;
    if (read_header((const uint8_t *)bytes, length, &total, &told)) return start(held, 0, total, &told);
    int64_t whole = perhaps_foreign_length(kind, bytes, length, &header);
    if (whole < 0 || header != length) {
        RedisModule_ReplyWithError(held->ctx, errors->header);
        return false;
    }
    return start(held, kind, (uint64_t)whole, &told) && take_first(held, bytes, length, errors->data);
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

static bool load_chunk(struct held *held, uint64_t cursor, const char *bytes, size_t length,
                       const struct errors *errors) {
    const struct loading_value *loading = (const struct loading_value *)held->value;
    uint64_t offset;
    bool fits, placed = place_chunk(loading, cursor, length, &offset, &fits);
    if (!placed || !fits) {
        bool too_long = !fits && length > loading->total - loading->have;
        RedisModule_ReplyWithError(held->ctx, too_long ? errors->length : errors->offset);
        return false;
    }
    return take_bytes(held, offset, bytes, length, errors->data);
}

static bool load(struct held *held, enum found found, int kind, long long cursor, RedisModuleString *chunk,
                 const struct errors *errors) {
    size_t length;
    const char *bytes = RedisModule_StringPtrLen(chunk, &length);
    if (found == MISSING && cursor == 1) return start_chunks(held, kind, bytes, length, errors);
    if (found == STILL_LOADING && cursor > 1) return load_chunk(held, (uint64_t)cursor, bytes, length, errors);
    if (found == FOUND || found == STILL_LOADING)
        RedisModule_ReplyWithError(held->ctx, errors->exists);
    else
        reply_not_held(held->ctx, found, errors->missing);
    return false;
}

static int load_chunk_command(RedisModuleCtx *ctx, RedisModuleString **argv, int argc, int kind,
                              const struct errors *errors, const char *event) {
    struct held held;
    long long cursor;
    if (argc != 4) return RedisModule_WrongArity(ctx);
    if (RedisModule_StringToLongLong(argv[2], &cursor) != REDISMODULE_OK || cursor < 0)
        return RedisModule_ReplyWithError(ctx, errors->numeric);
    enum found found = hold_loading(&held, ctx, argv[1]);
    held.changed = load(&held, found, kind, cursor, argv[3], errors);
    if (held.changed) RedisModule_ReplyWithSimpleString(ctx, "OK");
    let_go(&held, event);
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
    struct held held;
    long long offset, count = CHUNK_BYTES;
    if (argc != 3 && argc != 5) return RedisModule_WrongArity(ctx);
    if (RedisModule_StringToLongLong(argv[2], &offset) != REDISMODULE_OK || offset < 0)
        return RedisModule_ReplyWithError(ctx, "ERR an offset is a number of bytes");
    if (argc == 5 && (!is_word(argv[3], "COUNT") || RedisModule_StringToLongLong(argv[4], &count) != REDISMODULE_OK ||
                      count < 1 || count > CAPACITY_MOST / 2))
        return RedisModule_ReplyWithError(ctx, "ERR COUNT is a number of bytes from 1 to 536870912");
    enum found found = hold(&held, ctx, argv[1], REDISMODULE_READ, ANY_FILTER);
    perhaps *whole = found == FOUND ? value_whole(held.value) : NULL;
    uint64_t total = whole ? image_length(whole) : 0, from = (uint64_t)offset;
    if (!whole) {
        reply_not_held(ctx, found == FOUND ? NO_MEMORY : found, "ERR not found");
    } else if (from >= total) {
        RedisModule_ReplyWithError(ctx, "ERR the offset is beyond the end");
    } else {
        struct part part = {.offset = from};
        part.length = total - from < (uint64_t)count ? (size_t)(total - from) : (size_t)count;
        reply_part(ctx, whole, &part, from + part.length == total ? 0 : (long long)(from + part.length));
    }
    if (whole) value_whole_done(held.value, whole);
    let_go(&held, NULL);
    return REDISMODULE_OK;
}

/* Four numbers at the end say what clients are told; only the AOF has them. */
static bool read_told(RedisModuleString **argv, struct told *told) {
    long long numbers[4];
    for (int i = 0; i < 4; i++)
        if (RedisModule_StringToLongLong(argv[i], &numbers[i]) != REDISMODULE_OK || numbers[i] < 0 ||
            (i < 3 && numbers[i] > UINT16_MAX))
            return false;
    *told = (struct told){(uint16_t)numbers[0], (uint16_t)numbers[1], (uint16_t)numbers[2], (uint64_t)numbers[3]};
    return true;
}

static bool load_image(struct held *held, enum found found, const long long numbers[2], const struct told *told,
                       RedisModuleString *piece) {
    size_t length;
    const char *bytes = RedisModule_StringPtrLen(piece, &length);
    uint64_t offset = (uint64_t)numbers[0], total = (uint64_t)numbers[1];
    const struct loading_value *loading = found == STILL_LOADING ? (const struct loading_value *)held->value : NULL;
    const char *error = NULL;
    if (found == FOUND)
        error = "ERR item exists";
    else if (loading ? loading->kind || loading->total != total : offset != 0)
        error = "ERR loading begins at offset 0, and all pieces have the same total";
    else if (loading && offset != loading->have)
        error = "ERR pieces come in order, and this is not the next one";
    else if (length > total || offset > total - length)
        error = "ERR the piece is longer than the total";
    if (error || found == WRONG_TYPE || found == NO_MEMORY) {
        if (error)
            RedisModule_ReplyWithError(held->ctx, error);
        else
            reply_not_held(held->ctx, found, NULL);
        return false;
    }
    static const char refused[] = "ERR the image is refused";
    if (loading) return take_bytes(held, offset, bytes, length, refused);
    return start(held, 0, total, told) && take_first(held, bytes, length, refused);
}

int load_command(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    struct held held;
    struct told told = {0};
    long long numbers[2];
    if (argc != 5 && argc != 9) return RedisModule_WrongArity(ctx);
    for (int i = 0; i < 2; i++)
        if (RedisModule_StringToLongLong(argv[2 + i], &numbers[i]) != REDISMODULE_OK || numbers[i] < 0)
            return RedisModule_ReplyWithError(ctx, "ERR offset and total are numbers of bytes");
    if (argc == 9 && !read_told(argv + 5, &told)) return RedisModule_ReplyWithError(ctx, "ERR bad numbers at the end");
    enum found found = hold_loading(&held, ctx, argv[1]);
    held.changed = load_image(&held, found, numbers, &told, argv[4]);
    if (held.changed) RedisModule_ReplyWithSimpleString(ctx, "OK");
    let_go(&held, "perhaps.load");
    return REDISMODULE_OK;
}

/* ---- the AOF ---- */

struct emission {
    RedisModuleIO *aof;
    RedisModuleString *key;
    const struct told *told;
    const char *command; /* of RedisBloom's layout; NULL: an image */
    uint64_t at, total;  /* `at`: the cursor of the next piece, or its offset */
};

static void emit(const struct emission *e, uint64_t cursor, const void *bytes, size_t length) {
    if (e->command)
        RedisModule_EmitAOF(e->aof, command_name(e->command), "slb", e->key, (long long)cursor, bytes, length);
    else
        RedisModule_EmitAOF(e->aof, command_name("PERHAPS.LOAD"), "sllbllll", e->key, (long long)cursor,
                            (long long)e->total, bytes, length, (long long)e->told->bucket,
                            (long long)e->told->iterations, (long long)e->told->expansion, (long long)e->told->deleted);
}

static int emit_piece(void *context, const void *piece, size_t length) {
    struct emission *e = context;
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

static void emit_loading(struct emission *e, const struct loading_value *loading) {
    uint64_t header = 0;
    if (loading->kind) perhaps_foreign_length(loading->kind, loading->bytes, loading->have, &header);
    if (header) emit_piece(e, loading->bytes, (size_t)header);
    if (!loading->kind && !loading->have) emit(e, 0, "", 0);
    if (loading->have > header) emit_piece(e, loading->bytes + header, (size_t)(loading->have - header));
}

void chunks_rewrite(RedisModuleIO *aof, RedisModuleString *key, void *context) {
    const struct value *value = context;
    const struct loading_value *loading = value->form == LOADING ? context : NULL;
    bool foreign = loading ? loading->kind != 0 : value->foreign;
    struct emission e = {.aof = aof, .key = key, .told = &value->told};
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
