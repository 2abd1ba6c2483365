#include "api/foreign_file.h"

#include "base/arith.h"
#include "base/memory.h"
#include "base/error.h"
#include "foreign/format.h"
#include "plan/plan.h"

#include <string.h>

/* ---- which format it is ---- */

static bool has_its_length(const struct kind *kind, const uint8_t *bytes, uint64_t given, uint64_t length) {
    struct facts facts;
    const char *reason = kind->format->read(bytes, given, length, &facts);
    uint64_t array = reason ? 0 : kind->payload_bytes(facts.layout, &reason);
    return array && length == facts.start + array;
}

static const struct kind *recognise(const uint8_t *bytes, uint64_t given, uint64_t length) {
    for (size_t i = 0; i < file_kind_count; i++) {
        const struct format *format = file_kinds[i]->format;
        if (format->recognise && format->recognise(bytes, given, length)) return file_kinds[i];
        if (format->told_by_length && has_its_length(file_kinds[i], bytes, given, length)) return file_kinds[i];
    }
    return NULL;
}

int format_find(const uint8_t *bytes, uint64_t given, uint64_t length, const perhaps_open_options *options,
                const struct kind **kind) {
    *kind = NULL;
    if (options->kind != PERHAPS_ANY) {
        *kind = kind_find_file(options->kind);
        if (!*kind) return fail(PERHAPS_EINVAL, "options.kind is for foreign formats; see perhaps_file_kind()");
    } else if (!header_has_magic(bytes, given)) {
        *kind = recognise(bytes, given, length);
    }
    return PERHAPS_OK;
}

int format_find_file(const struct file *file, const perhaps_open_options *options, const struct kind **kind) {
    uint8_t head[FORMAT_HEAD];
    uint64_t given = file->length < sizeof head ? file->length : sizeof head;
    int rc = given ? file_read_part(file, head, 0, given) : PERHAPS_OK;
    return rc < 0 ? rc : format_find(head, given, file->length, options, kind);
}

int64_t format_length(int kind, const uint8_t *bytes, uint64_t given, uint64_t *start) {
    struct facts facts;
    const struct kind *found = kind ? kind_find(kind) : recognise(bytes, given, INT64_MAX);
    if (!kind && !found) return fail(PERHAPS_EFOREIGN, "these bytes do not tell which format they are");
    if (!found || !found->format) return fail(PERHAPS_EINVAL, "kind %d is not one of another program", kind);
    const char *reason = found->format->read(bytes, given, INT64_MAX, &facts);
    uint64_t array = reason ? 0 : found->payload_bytes(facts.layout, &reason), end;
    if (!reason && (!add_fits(facts.start, array, &end) || end > INT64_MAX)) reason = "more bytes than there can be";
    if (reason) return fail(PERHAPS_EDAMAGED, "as a file of %s it has %s", found->row.name, reason);
    *start = facts.start;
    return (int64_t)end;
}

/* ---- opening ---- */

/* Checks everything that later calls rely on. */
static const char *check_facts(const struct kind *kind, struct facts *facts, uint64_t length, struct header *header) {
    const char *reason;
    uint64_t array = kind->payload_bytes(facts->layout, &reason), end;
    if (!array) return reason;
    if (!add_fits(facts->start, array, &end) || end > length) return "fewer bytes than its header says";
    if (end < length && !kind->format->has_tail) return "more bytes than its header says";
    plan_guess(kind, facts->layout, &facts->capacity, &facts->fpr);
    reason = kind->foreign && kind->foreign->check_facts
                 ? kind->foreign->check_facts(facts->capacity, facts->fpr, array)
                 : NULL;
    if (reason) return reason;
    *header = (struct header){.kind = kind->row.kind,
                              .hash = kind->hashing.hash,
                              .seed = kind->hashing.seed,
                              .items = facts->items,
                              .capacity = facts->capacity,
                              .fpr = facts->fpr,
                              .length = array};
    memcpy(header->layout, facts->layout, sizeof header->layout);
    return NULL;
}

/* A handle for a file that begins with these bytes. */
static int start(perhaps **made, const struct kind *kind, const char *name, const uint8_t *bytes, uint64_t given,
                 uint64_t length, const perhaps_open_options *options, struct facts *facts) {
    struct header header;
    struct hash hash = hash_unkeyed(kind->hashing.hash, kind->hashing.seed);
    const char *reason = kind->format->read(bytes, given, length, facts);
    bool guessed = !reason && facts->capacity == 0;
    if (!reason) reason = check_facts(kind, facts, length, &header);
    if (reason) return fail(PERHAPS_EDAMAGED, "%s: as a file of %s it has %s", name, kind->row.name, reason);
    if (options->flags & PERHAPS_OPEN_WRITE)
        return fail(PERHAPS_ECANNOT, "%s: %s filters cannot be changed in place; open a copy and save it", name,
                    kind->row.name);
    if (options->flags & PERHAPS_OPEN_SHARED)
        return fail(PERHAPS_ECANNOT, "%s: %s filters cannot be changed by several threads", name, kind->row.name);
    int rc = filter_handle(made, options->allocator, &header, &hash, NULL, false);
    if (rc == PERHAPS_OK) (*made)->guessed = guessed;
    return rc;
}

static void borrow(perhaps *f, const uint8_t *bytes, uint64_t length, uint64_t start) {
    uint8_t *mine = (uint8_t *)(uintptr_t)bytes; /* never written through a read-only filter */
    uint64_t end = start + f->array.length;
    f->array.bytes = mine + start;
    f->state = READ_ONLY;
    f->tail = end < length ? mine + end : NULL;
    f->tail_length = length - end;
}

/* Copying reads all of it anyway, so the keys are counted where the format does not say how
 * many. */
static int finish(perhaps **f, perhaps *made, unsigned flags) {
    *f = made;
    if (!(flags & PERHAPS_OPEN_COPY)) return PERHAPS_OK;
    int rc = filter_clone(made, f);
    if (rc == PERHAPS_OK && !made->kind->format->counts) filter_count_items(*f);
    filter_free(made);
    return rc;
}

int format_open_memory(perhaps **f, const struct kind *kind, const uint8_t *bytes, uint64_t length,
                       const perhaps_open_options *options) {
    struct facts facts;
    perhaps *made;
    int rc = start(&made, kind, "image", bytes, length, length, options, &facts);
    if (rc < 0) return rc;
    borrow(made, bytes, length, facts.start);
    return finish(f, made, options->flags);
}

static int map_file(perhaps **f, const struct kind *kind, struct file *file, const perhaps_open_options *options) {
    static const uint8_t nothing[1];
    struct facts facts;
    int rc = file_map(file, false);
    if (rc < 0) return rc;
    const uint8_t *bytes = file->bytes ? file->bytes : nothing;
    rc = start(f, kind, file->path, bytes, file->length, file->length, options, &facts);
    if (rc < 0) return rc;
    borrow(*f, bytes, file->length, facts.start);
    filter_take_file(*f, file);
    return PERHAPS_OK;
}

static int read_tail(perhaps *f, const struct file *file, uint64_t offset) {
    uint64_t length = file->length - offset;
    f->tail = memory_zeroed(&f->allocator, length);
    if (!f->tail)
        return fail(PERHAPS_ENOMEM, "%s: no memory for the %llu bytes after the filter", file->path,
                    (unsigned long long)length);
    f->tail_length = length;
    return file_read(file, f->tail, offset, length);
}

static int read_rest(perhaps *f, const struct file *file, uint64_t start) {
    uint64_t end = start + f->array.length;
    if (file->length > memory_of_machine())
        return fail(PERHAPS_ENOMEM, "%s: no memory for %llu bytes", file->path, (unsigned long long)file->length);
    int rc = filter_own_image(f, true);
    if (rc == PERHAPS_OK) rc = file_read(file, f->array.bytes, start, f->array.length);
    if (rc == PERHAPS_OK && end < file->length) rc = read_tail(f, file, end);
    if (rc == PERHAPS_OK && !f->kind->format->counts) filter_count_items(f);
    return rc;
}

/* A copy is read, not mapped: no other process can truncate it meanwhile. */
static int copy_file(perhaps **f, const struct kind *kind, const struct file *file,
                     const perhaps_open_options *options) {
    uint8_t head[FORMAT_HEAD];
    uint64_t given = file->length < sizeof head ? file->length : sizeof head;
    struct facts facts;
    perhaps *made;
    int rc = file_read_part(file, head, 0, given);
    if (rc == PERHAPS_OK) rc = start(&made, kind, file->path, head, given, file->length, options, &facts);
    if (rc < 0) return rc;
    return filter_finish(f, made, read_rest(made, file, facts.start));
}

int format_open_file(perhaps **f, const struct kind *kind, struct file *file, const perhaps_open_options *options) {
    bool copy = options->flags & PERHAPS_OPEN_COPY;
    return copy ? copy_file(f, kind, file, options) : map_file(f, kind, file, options);
}

/* ---- writing ---- */

void format_gather(const perhaps *f, uint8_t *head, struct pieces *pieces) {
    struct facts facts = {.items = filter_items(f), .capacity = f->header.capacity, .fpr = f->header.fpr};
    memcpy(facts.layout, f->header.layout, sizeof facts.layout);
    uint64_t length = f->kind->format->write(&facts, head);
    pieces->piece[0] = (struct piece){.length = length, .bytes = head};
    pieces->piece[1] = (struct piece){.offset = length, .length = f->array.length, .bytes = f->array.bytes};
    pieces->piece[2] = (struct piece){.offset = length + f->array.length, .length = f->tail_length, .bytes = f->tail};
    pieces->count = f->tail_length ? 3 : 2;
    pieces->total = length + f->array.length + f->tail_length;
}

uint64_t format_bytes(const perhaps *f) {
    uint8_t head[FORMAT_HEAD];
    struct piece piece[FORMAT_PIECES];
    struct pieces pieces = {.piece = piece};
    format_gather(f, head, &pieces);
    return pieces.total;
}
