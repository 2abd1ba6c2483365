#include "rdb_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OLDEST = 5 }; /* version, the first with a checksum */

enum { TYPE_MODULE_UNFINISHED = 6, TYPE_MODULE = 7, TYPE_HASH_TIMES = 22, TYPES = 28 };

enum {
    OPCODE_NODE_LRU = 107, /* these two of Redis Enterprise */
    OPCODE_NODE_SLOT = 121,
    OPCODE_OWN = 243, /* Redis: metadata of a key; Valkey: an import of slots */
    OPCODE_SLOT = 244,
    OPCODE_FUNCTION = 245,
    OPCODE_MODULE_AUX = 247,
    OPCODE_IDLE,
    OPCODE_FREQUENCY,
    OPCODE_AUX,
    OPCODE_SIZES,
    OPCODE_EXPIRE_MILLISECONDS,
    OPCODE_EXPIRE_SECONDS,
    OPCODE_DATABASE,
    OPCODE_END
};

/* The layouts of values by their types, for rdb_skip_layout. What is missing is of modules, or not
 * known: with a new type of value servers also begin a new version. */
static const char *const layouts[TYPES] = {
    [0] = "s", /* a string */
    /* lists, sets, sorted sets, hashes */
    [1] = "[s]",
    [2] = "[s]",
    [3] = "[sd]",
    [4] = "[ss]",
    [5] = "[st]",
    /* the same, small, in one string */
    [9] = "s",
    [10] = "s",
    [11] = "s",
    [12] = "s",
    [13] = "s",
    [16] = "s",
    [17] = "s",
    [20] = "s",
    /* lists of pieces */
    [14] = "[s]",
    [18] = "[ns]",
    /* streams: entries, numbers, groups with what is pending and consumers; later of producers */
    [15] = "[ss]nnn[snn[itn][st[i]]]",
    [19] = "[ss]nnnnnnnn[snnn[itn][st[i]]]",
    [21] = "[ss]nnnnnnnn[snnn[itn][stt[i]]]",
    [26] = "[ss]nnnnnnnn[snnn[itn][stt[i]]]nn[s[snn]]nn",
    [27] = "[ss]nnnnnnnn[snnn[itn][stt[i]][i]]nn[s[snn]]nn",
    /* hashes whose fields expire */
    [TYPE_HASH_TIMES] = "[nss]",
    [23] = "s",
    [24] = "t[nss]",
    [25] = "ts",
};
static const char valkey_hash_times[] = "[sst]";

/* ---- modules ---- */

/* Nine letters of 6 bits, and 10 bits of version. */
static void read_type(struct rdb_type *type, enum rdb_need need, uint64_t id) {
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    *type = (struct rdb_type){.need = need, .version = id & 1023};
    id >>= 10;
    for (int i = RDB_TYPE_NAME - 2; i >= 0; i--, id >>= 6) type->name[i] = letters[id & 63];
}

/* The pieces of a module's value up to the one that ends it. */
static bool skip_pieces(struct rdb_reader *reader) {
    static const char *const pieces[] = {NULL, "n", "n", "w", "t", "s"};
    for (;;) {
        uint64_t piece, at = rdb_offset(reader);
        if (!rdb_number(reader, &piece)) return false;
        if (piece == 0) return true;
        if (piece >= sizeof pieces / sizeof *pieces)
            return rdb_fault(reader, at, "a module's value has no pieces of type %llu", (unsigned long long)piece);
        if (!rdb_skip_layout(reader, pieces[piece])) return false;
    }
}

static bool report(struct rdb_file *file, const struct rdb_type *type, const struct rdb_text *key, uint64_t bytes) {
    const struct rdb_item item = {*type, file->database, key, bytes};
    return file->found(file->context, &item);
}

static bool read_module_aux(struct rdb_file *file) {
    struct rdb_reader *reader = &file->reader;
    struct rdb_type type;
    uint64_t at = rdb_offset(reader), id, piece, when;
    if (!rdb_number(reader, &id) || !rdb_number(reader, &piece) || !rdb_number(reader, &when)) return false;
    if (piece != 2) return rdb_fault(reader, at, "a module's data does not say when it was saved");
    read_type(&type, RDB_AUX, id);
    return skip_pieces(reader) && report(file, &type, NULL, rdb_offset(reader) - at);
}

/* ---- keys ---- */

/* What modules keep with the key that comes next. */
struct metadata {
    size_t count;
    struct {
        struct rdb_type type;
        uint64_t bytes;
    } of[8];
};

/* Classes of four letters of 6 bits, 5 bits of version, and 3 of flags: the first one says that
 * servers without the module may ignore it. */
static bool read_metadata(struct rdb_file *file, struct metadata *metadata) {
    struct rdb_reader *reader = &file->reader;
    uint64_t classes, at = rdb_offset(reader);
    if (!rdb_number(reader, &classes)) return false;
    for (; classes; classes--) {
        uint8_t bytes[4];
        uint64_t from = rdb_offset(reader);
        if (!rdb_take(reader, bytes, sizeof bytes) || !skip_pieces(reader)) return false;
        uint64_t class = bytes[0] | (uint64_t)bytes[1] << 8 | (uint64_t)bytes[2] << 16 | (uint64_t)bytes[3] << 24;
        if (class & 1) continue;
        if (metadata->count == sizeof metadata->of / sizeof *metadata->of)
            return rdb_fault(reader, at, "a key has the metadata of more modules than there can be");
        struct rdb_type *type = &metadata->of[metadata->count].type;
        read_type(type, RDB_METADATA, class >> 8 << 10 | (class >> 3 & 31));
        memcpy(type->name, "META-", 5);
        metadata->of[metadata->count++].bytes = rdb_offset(reader) - from;
    }
    return true;
}

/* NULL for those of modules, and for those that are not known. */
static const char *layout_of_value(const struct rdb_file *file, unsigned type) {
    if (type >= TYPES) return NULL;
    if (!file->valkey || type < TYPE_HASH_TIMES) return layouts[type];
    return type == TYPE_HASH_TIMES ? valkey_hash_times : NULL;
}

static bool unknown_type(struct rdb_reader *reader, unsigned type, uint64_t at) {
    if (type == TYPE_MODULE_UNFINISHED)
        return rdb_fault(reader, at, "the module's value there was saved before 4.0, and no server reads it");
    return rdb_fault(reader, at, "type %u is not known here, so it is of a newer server, or damage", type);
}

/* A key whose type is at byte `at`. Its name is kept if something is to be said about it. */
static bool read_key(struct rdb_file *file, unsigned type, uint64_t at, struct metadata *metadata) {
    struct rdb_reader *reader = &file->reader;
    const char *layout = layout_of_value(file, type);
    struct rdb_text key;
    struct rdb_type module;
    uint64_t id;
    if (!layout && type != TYPE_MODULE) return unknown_type(reader, type, at);
    bool named = !layout || metadata->count;
    if (named ? !rdb_string(reader, &key) : !rdb_skip_string(reader)) return false;
    file->keys++;
    for (; metadata->count; metadata->count--)
        if (!report(file, &metadata->of[metadata->count - 1].type, &key, metadata->of[metadata->count - 1].bytes))
            return false;
    if (layout) return rdb_skip_layout(reader, layout);
    uint64_t from = rdb_offset(reader);
    if (!rdb_number(reader, &id) || !skip_pieces(reader)) return false;
    read_type(&module, RDB_KEY, id);
    return report(file, &module, &key, rdb_offset(reader) - from);
}

/* ---- the file ---- */

static bool text_is(const struct rdb_text *text, const char *word) {
    return text->length == strlen(word) && memcmp(text->bytes, word, text->length) == 0;
}

/* A name and a value that tell about the server. */
static bool read_aux(struct rdb_file *file) {
    struct rdb_text name, value;
    if (!rdb_string(&file->reader, &name) || !rdb_string(&file->reader, &value)) return false;
    if (text_is(&name, "redis-ver") || text_is(&name, "valkey-ver"))
        snprintf(file->server, sizeof file->server, "%.*s %.*s", (int)name.length - 4, (const char *)name.bytes,
                 value.kept < 32 ? (int)value.kept : 32, (const char *)value.bytes);
    if (text_is(&name, "aof-preamble") || text_is(&name, "aof-base")) file->begins_aof = text_is(&value, "1");
    return true;
}

static bool read_header(struct rdb_file *file) {
    struct rdb_reader *reader = &file->reader;
    char header[10] = {0};
    uint64_t digits_at = 5;
    if (!rdb_take(reader, header, 9)) return false;
    file->valkey = memcmp(header, "VALKEY", 6) == 0;
    if (!file->valkey && memcmp(header, "REDIS", 5) != 0)
        return rdb_fault(reader, 0, "it does not begin with REDIS or VALKEY, as RDB files do");
    if (file->valkey) digits_at = 6;
    if (strspn(header + digits_at, "0123456789") != 9 - digits_at)
        return rdb_fault(reader, digits_at, "its version is no number");
    file->version = (unsigned)strtoul(header + digits_at, NULL, 10);
    if (file->version < OLDEST)
        return rdb_fault(reader, digits_at, "version %u is of servers before 2.6", file->version);
    return true;
}

static bool read_end(struct rdb_file *file) {
    struct rdb_reader *reader = &file->reader;
    uint64_t sum = rdb_checksum(reader), at = rdb_offset(reader), saved = 0;
    uint8_t bytes[8];
    if (!rdb_take(reader, bytes, sizeof bytes)) return false;
    for (int i = 7; i >= 0; i--) saved = saved << 8 | bytes[i];
    if (saved && saved != sum) return rdb_fault(reader, at, "the checksum there is not that of the bytes before it");
    file->summed = saved;
    file->end = rdb_offset(reader);
    file->more = rdb_more(reader);
    if (file->more && !file->begins_aof)
        return rdb_fault(reader, file->end, "its end mark stands there, and more follows");
    return !reader->failed;
}

/* Opcodes that say nothing of interest; NULL for all else. */
static const char *layout_of_opcode(const struct rdb_file *file, unsigned opcode) {
    switch (opcode) {
    case OPCODE_NODE_LRU:
    case OPCODE_NODE_SLOT:
    case OPCODE_IDLE:
        return "n";
    case OPCODE_OWN:
        return file->valkey ? "s[nn]" : NULL;
    case OPCODE_SLOT:
        return "nnn";
    case OPCODE_FUNCTION:
        return "s";
    case OPCODE_FREQUENCY:
        return "b";
    case OPCODE_SIZES:
        return "nn";
    case OPCODE_EXPIRE_MILLISECONDS:
        return "t";
    case OPCODE_EXPIRE_SECONDS:
        return "w";
    default:
        return NULL;
    }
}

bool rdb_file_read(struct rdb_file *file) {
    struct rdb_reader *reader = &file->reader;
    struct metadata metadata = {0};
    if (!read_header(file)) return false;
    for (bool fine = true; fine;) {
        uint64_t at = rdb_offset(reader);
        uint8_t opcode;
        if (!rdb_take(reader, &opcode, 1)) return false;
        const char *layout = layout_of_opcode(file, opcode);
        if (opcode == OPCODE_END) return read_end(file);
        if (layout)
            fine = rdb_skip_layout(reader, layout);
        else if (opcode == OPCODE_AUX)
            fine = read_aux(file);
        else if (opcode == OPCODE_DATABASE)
            fine = rdb_number(reader, &file->database);
        else if (opcode == OPCODE_MODULE_AUX)
            fine = read_module_aux(file);
        else if (opcode == OPCODE_OWN)
            fine = read_metadata(file, &metadata);
        else
            fine = read_key(file, opcode, at, &metadata);
    }
    return false;
}
