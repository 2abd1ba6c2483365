/* perhaps rdb: what in an RDB file needs a module, and can perhaps.so load it? */
#include "commands.h"
#include "input/encode.h"
#include "input/source.h"
#include "output/numbers.h"
#include "output/report.h"
#include "rdb/module_types.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Of one type and version. Those of more types than a sound file can have are counted together. */
struct type_total {
    struct rdb_type type;
    uint64_t items, bytes;
};
enum { TOTALS = 256 };

struct listing {
    const char *name; /* of the file */
    struct input_source source;
    bool lines, as_json, begun;
    struct json json;
    struct rdb_file file;
    size_t totals;
    struct type_total total[TOTALS], others;
    uint64_t lost; /* of items that perhaps.so cannot load */
    int error;     /* of the last read that failed */
};

/* What stands in the place of a database. */
static const char *const needs[RDB_NEEDS] = {"key", "aux", "metadata"};

static ssize_t read_source(void *context, void *to, size_t room) {
    struct listing *l = context;
    progress_at(l->file.reader.start, l->file.keys);
    for (;;) {
        ssize_t some = read(l->source.fd, to, room);
        if (some < 0) l->error = errno;
        if (some >= 0 || l->error != EINTR) return some;
    }
}

/* ---- counting ---- */

static bool same_type(const struct rdb_type *a, const struct rdb_type *b) {
    return a->need == b->need && a->version == b->version && strcmp(a->name, b->name) == 0;
}

static void count(struct listing *l, const struct rdb_item *item) {
    size_t i = 0;
    while (i < l->totals && !same_type(&l->total[i].type, &item->type)) i++;
    struct type_total *total = i < TOTALS ? &l->total[i] : &l->others;
    if (i == l->totals && i < TOTALS) l->total[l->totals++].type = item->type;
    total->items++;
    total->bytes += item->bytes;
    if (!module_type_loads(&item->type)) l->lost++;
}

static uint64_t counted(const struct listing *l) {
    uint64_t items = l->others.items;
    for (size_t i = 0; i < l->totals; i++) items += l->total[i].items;
    return items;
}

/* ---- lines ---- */

static const char *loads_text(const struct rdb_type *type) {
    return module_type_loads(type) ? "loads" : "no";
}

/* The name comes last, since it may be of any length. Of a very long one only the beginning was
 * kept. */
static void print_line(struct listing *l, const struct rdb_item *item) {
    char bytes[NUMBER_TEXT], database[NUMBER_TEXT], name[RDB_KEPT + 1] = "";
    if (!l->begun) printf("  %8s  %-9s  version  %15s  perhaps.so  key\n", "database", "type", "bytes");
    snprintf(database, sizeof database, "%llu", (unsigned long long)item->database);
    if (item->key) *shown_text((const char *)item->key->bytes, item->key->kept, name) = 0;
    printf("  %8s  %-9s  %7u  %15s  ", item->type.need == RDB_KEY ? database : needs[item->type.need], item->type.name,
           item->type.version, group_digits(item->bytes, bytes));
    if (item->key)
        printf("%-10s  %s%s\n", loads_text(&item->type), name, item->key->kept < item->key->length ? "..." : "");
    else
        printf("%s\n", loads_text(&item->type));
}

static bool is_utf8(const struct rdb_text *text) {
    const char *at = (const char *)text->bytes, *end = at + text->kept;
    uint32_t code;
    while (at && at < end) at = utf8_next(at, end, &code);
    return at;
}

static void json_key(struct json *json, const struct rdb_text *key) {
    char hex[2 * RDB_KEPT + 1] = "";
    json_bytes(json, "key", key->bytes, key->kept);
    if (key->kept < key->length) json_count(json, "key_length", key->length);
    if (is_utf8(key)) return;
    for (size_t i = 0; i < key->kept; i++) snprintf(hex + 2 * i, 3, "%02x", key->bytes[i]);
    json_text(json, "key_hex", hex);
}

static void json_type(struct json *json, const struct rdb_type *type) {
    const struct module_type *known = module_type_find(type);
    json_text(json, "need", needs[type->need]);
    json_text(json, "type", type->name);
    json_count(json, "version", type->version);
    if (known) json_text(json, "module", known->module);
    if (known) json_text(json, "holds", known->holds);
    json_flag(json, "loads", module_type_loads(type));
}

static void json_line(struct listing *l, const struct rdb_item *item) {
    json_open(&l->json, NULL, '{');
    if (item->type.need != RDB_AUX) json_count(&l->json, "database", item->database);
    if (item->key) json_key(&l->json, item->key);
    json_type(&l->json, &item->type);
    json_count(&l->json, "bytes", item->bytes);
    json_close(&l->json, '}');
}

static bool take_item(void *context, const struct rdb_item *item) {
    struct listing *l = context;
    count(l, item);
    if (l->lines) (l->as_json ? json_line : print_line)(l, item);
    l->begun = true;
    return !ferror(stdout);
}

/* ---- the summary ---- */

static void print_total(const struct type_total *total) {
    char items[NUMBER_TEXT], bytes[NUMBER_TEXT], what[80] = "of an unknown module";
    const struct module_type *known = module_type_find(&total->type);
    if (known) snprintf(what, sizeof what, "%s of %s", known->holds, known->module);
    printf("  %-9s  %7u  %-8s  %13s  %15s  %-10s  %s\n", total->type.name, total->type.version, needs[total->type.need],
           group_digits(total->items, items), group_digits(total->bytes, bytes), loads_text(&total->type), what);
}

static void print_summary(struct listing *l) {
    char keys[NUMBER_TEXT], number[NUMBER_TEXT], server[sizeof l->file.server + 4] = "";
    if (*l->file.server) *shown_text(l->file.server, strlen(l->file.server), stpcpy(server, " of ")) = 0;
    if (l->lines && l->begun) putchar('\n');
    printf("%s: RDB version %u%s, %s key%s; the checksum is %s\n", input_name(l->name), l->file.version, server,
           group_digits(l->file.keys, keys), l->file.keys == 1 ? "" : "s", l->file.summed ? "right" : "not there");
    if (!counted(l)) {
        printf("Nothing in it needs a module.\n");
        return;
    }
    printf("  %-9s  version  %-8s  %13s  %15s  perhaps.so\n", "type", "need", "count", "bytes");
    for (size_t i = 0; i < l->totals; i++) print_total(&l->total[i]);
    if (l->others.items) printf("  and %s of other types\n", group_digits(l->others.items, number));
    if (l->lost)
        printf("perhaps.so cannot load %s of them: a server with this file and without their modules ends while it "
               "starts.\n",
               group_digits(l->lost, number));
    else
        printf("perhaps.so can load all of them.\n");
}

static void json_summary(struct listing *l) {
    struct json *json = &l->json;
    if (l->lines) json_close(json, ']');
    json_open(json, "types", '[');
    for (size_t i = 0; i < l->totals; i++) {
        json_open(json, NULL, '{');
        json_type(json, &l->total[i].type);
        json_count(json, "count", l->total[i].items);
        json_count(json, "bytes", l->total[i].bytes);
        json_close(json, '}');
    }
    json_close(json, ']');
    json_count(json, "other_types", l->others.items);
    json_count(json, "rdb_version", l->file.version);
    if (*l->file.server) json_text(json, "server", l->file.server);
    json_count(json, "keys", l->file.keys);
    json_flag(json, "checksum", l->file.summed);
    json_count(json, "bytes_read", l->file.end);
    json_flag(json, "more", l->file.more);
    json_count(json, "lost", l->lost);
    json_end(json);
}

/* ---- the command ---- */

static void start(struct listing *l) {
    struct stat status;
    bool known = !l->source.how && fstat(l->source.fd, &status) == 0 && S_ISREG(status.st_mode);
    if (!l->lines || !isatty(STDOUT_FILENO)) progress_start(known ? (uint64_t)status.st_size : 0, false);
    if (!l->as_json) return;
    json_open(&l->json, NULL, '{');
    json_text(&l->json, "file", l->name);
    if (l->lines) json_open(&l->json, "needs", '[');
}

/* Why the reading ended early. A decompressor that failed has cut the file off. */
static int tell_fault(struct listing *l) {
    const struct rdb_reader *reader = &l->file.reader;
    char at[NUMBER_TEXT];
    if (ferror(stdout)) return finish_output();
    if (reader->failed)
        return failure(input_name(l->name), "cannot be read: %s; check that it is a file, and the disk",
                       strerror(l->error));
    if (l->source.how && reader->at == reader->filled && source_ended(&l->source) != FINE) return TROUBLE;
    return failure(input_name(l->name),
                   "cannot be read beyond byte %s: %s; copy it again, or have the server save it again",
                   group_digits(reader->fault_at, at), reader->fault);
}

static int list_needs(struct listing *l) {
    char at[NUMBER_TEXT];
    start(l);
    bool fine = rdb_file_read(&l->file);
    progress_end();
    if (!fine) return tell_fault(l);
    if (!l->file.more && source_ended(&l->source) != FINE) return TROUBLE;
    (l->as_json ? json_summary : print_summary)(l);
    if (l->file.more)
        warning(input_name(l->name), "commands of an append-only file follow, from byte %s on, and are not looked at",
                group_digits(l->file.end, at));
    return l->lost ? NOT_FOUND : FINE;
}

int cmd_rdb(const struct options *options) {
    static struct listing l;
    l.name = options->operands[0];
    l.as_json = given(options, OPT_JSON);
    l.lines = !given(options, OPT_COUNT);
    l.file.found = take_item;
    l.file.context = &l;
    rdb_reader_begin(&l.file.reader, read_source, &l);
    if (strcmp(l.name, "-") == 0 && isatty(STDIN_FILENO))
        return failure("standard input", "is a terminal; give an RDB file");
    int status = source_open(&l.source, l.name, decompressor_of(l.name));
    if (status != FINE) return status;
    status = list_needs(&l);
    source_close(&l.source);
    return status;
}
