/* Saving: a filter becomes the pieces of its image, which go to a file, a callback or memory. */
#include "base/memory.h"
#include "base/error.h"
#include "core/children.h"
#include "foreign/format.h"
#include "api/foreign_file.h"
#include "image/write.h"
#include "perhaps_embed.h"

/* ---- gathering ---- */

/* One piece for the head of each filter, which the gathering owns, and one for each array. The
 * directory of a composite filter is in one piece with its head. */
struct gathering {
    struct pieces pieces;
    size_t room;
    bool for_file; /* leave out secret keys that are not to be in files */
    const perhaps_allocator *allocator;
};

static size_t pieces_of(const perhaps *f) {
    size_t count = f->children ? 1 : 2;
    for (unsigned i = 0; f->children && i < f->children->count; i++) count += pieces_of(f->children->child[i].filter);
    return count;
}

static int gather(struct gathering *g, const perhaps *f, uint64_t offset);

/* Writes the directory, which ends at `end`; offsets in it are from `start`. */
static int gather_children(struct gathering *g, const perhaps *f, uint64_t start, uint8_t *directory, uint64_t end) {
    for (unsigned i = 0; i < f->children->count; i++) {
        const struct child *child = &f->children->child[i];
        struct entry entry = {.length = filter_image_bytes(child->filter), .since = child->since};
        if (!directory_place(end, entry.length, &entry.offset))
            return fail(PERHAPS_ERANGE, "the image would be larger than a file can be");
        size_t first = g->pieces.count;
        int rc = gather(g, child->filter, start + entry.offset);
        if (rc < 0) return rc;
        entry.sum = header_checksum(g->pieces.piece[first].bytes);
        directory_put(directory, i, &entry);
        end = entry.offset + entry.length;
    }
    return PERHAPS_OK;
}

static int gather(struct gathering *g, const perhaps *f, uint64_t offset) {
    struct header header = filter_header(f, g->for_file);
    uint64_t before = header_offset(&header), length = before + (f->children ? header.length : 0);
    uint8_t *head = memory_zeroed(g->allocator, length);
    if (!head) return fail(PERHAPS_ENOMEM, "no memory for the image's header");
    const uint8_t *payload = f->children ? head + before : f->array.bytes;
    header_write(&header, head);
    g->pieces.piece[g->pieces.count++] = (struct piece){.offset = offset, .length = length, .bytes = head};
    int rc = f->children ? gather_children(g, f, offset, head + before, length) : PERHAPS_OK;
    if (rc < 0) return rc;
    header_sum(NULL, head, payload, header.length, header.recipe.length);
    if (!f->children)
        g->pieces.piece[g->pieces.count++] = (struct piece){offset + length, header.length, payload, head};
    return PERHAPS_OK;
}

/* Heads are the pieces that are not payloads. */
static void end_gathering(struct gathering *g) {
    for (size_t i = 0; i < g->pieces.count; i++) {
        struct piece *piece = &g->pieces.piece[i];
        if (!piece->head) memory_release(g->allocator, (void *)(uintptr_t)piece->bytes, piece->length);
    }
    memory_release(g->allocator, g->pieces.piece, g->room * sizeof(struct piece));
}

static int start_gathering(struct gathering *g, const perhaps *f, bool for_file) {
    *g = (struct gathering){.for_file = for_file, .allocator = &f->allocator, .room = pieces_of(f)};
    g->pieces.total = filter_image_bytes(f);
    g->pieces.piece = memory_zeroed(&f->allocator, g->room * sizeof(struct piece));
    if (!g->pieces.piece) return fail(PERHAPS_ENOMEM, "no memory for the parts of an image");
    int rc = gather(g, f, 0);
    if (rc < 0) end_gathering(g);
    return rc;
}

/* ---- the public calls ---- */

/* A foreign file: replaces the locked one, or goes to the sink if `lock` is NULL. */
static int save_format(const perhaps *f, struct file_lock *lock, image_sink *sink, void *context) {
    uint8_t head[FORMAT_HEAD];
    struct piece piece[FORMAT_PIECES];
    struct pieces pieces = {.piece = piece};
    format_gather(f, head, &pieces);
    return lock ? image_save(&pieces, lock) : image_write(&pieces, sink, context);
}

static int save(const perhaps *f, struct file_lock *lock, image_sink *sink, void *context) {
    struct gathering g;
    if (f->kind->format) return save_format(f, lock, sink, context);
    int rc = filter_check_sealed(f);
    if (rc == PERHAPS_OK) rc = start_gathering(&g, f, true);
    if (rc < 0) return rc;
    rc = lock ? image_save(&g.pieces, lock) : image_write(&g.pieces, sink, context);
    end_gathering(&g);
    return rc;
}

int perhaps_save(const perhaps *f, const char *path) {
    struct file_lock lock;
    int rc = file_lock(&lock, path, FILE_SHARED);
    if (rc < 0) return rc;
    rc = save(f, &lock, NULL, NULL);
    file_unlock(&lock);
    return rc;
}

struct perhaps_lock {
    struct file_lock file;
};

int perhaps_lock_file(perhaps_lock **lock, const char *path) {
    *lock = memory_get(&memory_default, sizeof **lock);
    if (!*lock) return fail(PERHAPS_ENOMEM, "no memory for a lock");
    int rc = file_lock(&(*lock)->file, path, FILE_ALONE);
    if (rc == PERHAPS_OK) return rc;
    perhaps_unlock(*lock);
    *lock = NULL;
    return rc;
}

void perhaps_unlock(perhaps_lock *lock) {
    if (!lock) return;
    file_unlock(&lock->file);
    memory_release(&memory_default, lock, sizeof *lock);
}

int perhaps_save_locked(const perhaps *f, perhaps_lock *lock) {
    return save(f, &lock->file, NULL, NULL);
}

int perhaps_replace_locked(perhaps_lock *lock, int (*write)(void *context, int fd), void *context) {
    struct replacement r;
    int rc = replacement_begin(&r, &lock->file);
    if (rc < 0) return rc;
    if (write(context, r.fd) == 0) return replacement_commit(&r);
    rc = file_refused(lock->file.path, "cannot write the new file; the old one is as it was");
    replacement_abandon(&r);
    return rc;
}

int perhaps_write(const perhaps *f, int (*sink)(void *context, const void *bytes, size_t length), void *context) {
    return save(f, NULL, sink, context);
}

/* The children of a composite filter are not contiguous: its image is a copy. */
static int assemble(perhaps *f) {
    struct gathering g;
    struct children *children = f->children;
    int rc = start_gathering(&g, f, false);
    if (rc < 0) return rc;
    uint8_t *image = memory_zeroed(&f->allocator, g.pieces.total);
    if (image) {
        image_copy(&g.pieces, image);
        memory_release(&f->allocator, children->image, children->image_bytes);
        children->image = image;
        children->image_bytes = g.pieces.total;
    } else {
        rc = fail(PERHAPS_ENOMEM, "no memory for an image of %llu bytes", (unsigned long long)g.pieces.total);
    }
    end_gathering(&g);
    return rc;
}

int perhaps_image(perhaps *f, const void **bytes, uint64_t *length) {
    int rc = filter_check_sealed(f);
    if (rc < 0) return rc;
    if (f->children) {
        rc = assemble(f);
    } else if (f->owned) {
        struct header header = filter_header(f, false);
        header_write(&header, f->image);
        header_sum(NULL, f->image, f->array.bytes, f->array.length, f->header.recipe.length);
    } else if (!f->image) {
        return fail(PERHAPS_ECANNOT,
                    "a file of another program, as it is, is no image of this library; clone the filter first");
    } else {
        if (f->state == READ_ONLY && f->header.flags & HEADER_DIRTY)
            return fail(PERHAPS_EREADONLY, "the image is a dirty file, opened for reading; clone the filter first");
        rc = perhaps_sync(f);
    }
    if (rc < 0) return rc;
    *bytes = f->children ? f->children->image : f->image;
    *length = filter_image_bytes(f);
    return PERHAPS_OK;
}

static void set_items(perhaps *f) {
    header_set_items(f->image, filter_items(f), f->header.flags & HEADER_INTERSECTED);
}

/* In this order: the payload, the header with its checksums, the dirty flag. */
static int sync_file(perhaps *f) {
    uint64_t offset = header_offset(&f->header);
    int rc = file_sync(&f->file, offset, f->array.length);
    if (rc < 0) return rc;
    set_items(f);
    header_sum(&f->file, f->image, f->array.bytes, f->array.length, f->header.recipe.length);
    rc = file_sync(&f->file, 0, offset);
    return rc < 0 ? rc : filter_mark_file(f, false);
}

int perhaps_sync(perhaps *f) {
    if (f->owned || !f->image || f->state != CHANGEABLE) return PERHAPS_OK;
    if (f->file.fd >= 0) return sync_file(f);
    set_items(f);
    header_set_dirty(f->image, false); /* set if it was opened for recovery */
    header_sum(NULL, f->image, f->array.bytes, f->array.length, f->header.recipe.length);
    f->header.flags &= (unsigned)~HEADER_DIRTY;
    return PERHAPS_OK;
}
