/* BF.SCANDUMP, CF.SCANDUMP and PERHAPS.DUMP: a filter as bytes, in pieces. */
#include "chunk_header.h"
#include "server_commands.h"

#include <perhaps_embed.h>

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
    uint64_t total = whole ? value_image_bytes(whole) : 0, offset = cursor ? cursor - 1 : 0;
    int rc = REDISMODULE_OK;
    if (!whole) {
        RedisModule_ReplyWithError(named->ctx, "ERR Insufficient memory");
    } else if (!cursor) {
        uint8_t header[CHUNK_HEADER_BYTES];
        chunk_header_write(header, total, &named->value->reported);
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
    struct perhaps_info facts = {.size = sizeof facts};
    perhaps_facts(named->filter, &facts);
    /* As in RedisBloom: there is nothing to carry elsewhere. */
    if (family == FAMILY_CUCKOO && !facts.items) return reply_end(named->ctx, family);
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

/* ---- PERHAPS.DUMP ---- */

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
    uint64_t total = whole ? value_image_bytes(whole) : 0, from = (uint64_t)offset;
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
