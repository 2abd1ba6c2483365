/* Any bytes as an RDB file: refused at a byte that it has, or read to its end; the same, however
 * the bytes come in. What is found lies in the file. */
#include "fuzz.h"
#include "rdb/module_types.h"

#include <stdlib.h>
#include <string.h>

struct reading {
    const uint8_t *bytes;
    size_t length, at, most; /* bytes at a time */
    uint64_t items, value_bytes, digest;
};

static ssize_t read_some(void *context, void *to, size_t room) {
    struct reading *r = context;
    size_t some = r->length - r->at < room ? r->length - r->at : room;
    if (some > r->most) some = r->most;
    memcpy(to, r->bytes + r->at, some);
    r->at += some;
    return (ssize_t)some;
}

static void mix(struct reading *r, const void *bytes, size_t length) {
    for (size_t i = 0; i < length; i++) r->digest = (r->digest ^ ((const uint8_t *)bytes)[i]) * UINT64_C(1099511628211);
}

static bool note(void *context, const struct rdb_item *item) {
    struct reading *r = context;
    promise(strlen(item->type.name) == RDB_TYPE_NAME - 1, "a type has a name");
    promise((item->type.need == RDB_AUX) == !item->key, "all but data of modules belongs to a key");
    promise(!module_type_loads(&item->type) || module_type_find(&item->type), "what loads is known");
    r->items++;
    r->value_bytes += item->bytes;
    mix(r, item->type.name, sizeof item->type.name);
    mix(r, &item->type.version, sizeof item->type.version);
    mix(r, &item->database, sizeof item->database);
    if (!item->key) return true;
    promise(item->key->kept <= item->key->length, "not more is kept than there is");
    mix(r, item->key->bytes, item->key->kept);
    return true;
}

static void read_bytes(struct rdb_file *file, struct reading *r, const uint8_t *bytes, size_t length, size_t most) {
    *r = (struct reading){.bytes = bytes, .length = length, .most = most};
    memset(file, 0, sizeof *file);
    file->found = note;
    file->context = r;
    rdb_reader_begin(&file->reader, read_some, r);
    bool fine = rdb_file_read(file);
    promise(fine == !*file->reader.fault, "there is a reason, or nothing is wrong");
    promise(file->reader.fault_at <= length && file->end <= length, "its places are in the file");
    promise(r->value_bytes <= length, "values are in the file");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static struct rdb_file whole, pieces;
    struct reading a, b;
    read_bytes(&whole, &a, data, size, SIZE_MAX);
    read_bytes(&pieces, &b, data, size, 1 + size % 7);
    promise(strcmp(whole.reader.fault, pieces.reader.fault) == 0, "the same fault, however the bytes come");
    promise(whole.reader.fault_at == pieces.reader.fault_at, "at the same place");
    promise(a.items == b.items && a.digest == b.digest && whole.keys == pieces.keys, "and the same is found");
    promise(whole.summed == pieces.summed && whole.end == pieces.end, "with the same end");
    if (!whole.end || whole.more) return 0;
    read_bytes(&pieces, &b, data, size - 1, SIZE_MAX);
    promise(*pieces.reader.fault, "without its last byte it is no whole file");
    return 0;
}
