/*
 * A value in the append-only file, when the server rewrites it: the commands that make it again.
 *
 *     native, or loading an image               PERHAPS.LOAD with struct reported
 *     in RedisBloom's layout, or loading that   BF.LOADCHUNK or CF.LOADCHUNK, RedisBloom's commands
 *
 * Pieces have at most CHUNK_BYTES. A value that was loading has only some of them, and so goes on
 * loading. With aof-use-rdb-preamble, the default, the server writes an RDB instead and this is not
 * called.
 */
#include "chunk_header.h"
#include "settings.h"
#include "value_types.h"

#include <perhaps_embed.h>

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
    if (whole) e.total = value_image_bytes(whole);
    int rc = !whole    ? PERHAPS_ENOMEM
             : foreign ? perhaps_write_foreign(whole, emit_piece, &e)
                       : perhaps_write(whole, emit_piece, &e);
    if (rc < 0) RedisModule_LogIOError(aof, "warning", "perhaps: a filter is not rewritten: %s", perhaps_why());
    if (whole) value_whole_done(value, whole);
}
