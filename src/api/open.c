/* Public calls that open a filter, and the checks before its image is used. */
#include "api/foreign_file.h"
#include "base/memory.h"
#include "base/error.h"
#include "core/children.h"

#include <stdio.h>
#include <string.h>

enum {
    OPEN_FLAGS =
        PERHAPS_OPEN_COPY | PERHAPS_OPEN_WRITE | PERHAPS_OPEN_NO_VERIFY | PERHAPS_OPEN_RECOVER | PERHAPS_OPEN_SHARED
};

/* Called on every image before it is used. */
static int check_image(const char *name, const struct file *map, const uint8_t *image, uint64_t length, unsigned flags,
                       struct header *header, uint8_t recipe[RECIPE_MAX]) {
    int rc = header_read(name, image, length, flags & PERHAPS_OPEN_RECOVER, header, recipe);
    if (rc < 0 || header->flags & HEADER_DIRTY) return rc;
    /* A directory is always verified: it is small, and the children are found by it. */
    if (flags & PERHAPS_OPEN_NO_VERIFY && !kind_find(header->kind)->composite) return rc;
    rc = image_verify(name, map, image, header);
    /* If a writer has begun since the header was read, it is dirty, not damaged. */
    return rc < 0 && header_is_dirty(image) ? header_refuse_dirty(name) : rc;
}

int take_open_options(perhaps_open_options *options, const perhaps_open_options *theirs, unsigned allowed) {
    *options = (perhaps_open_options){.size = sizeof *options};
    int rc = theirs ? take_sized(options, sizeof *options, theirs, "options") : PERHAPS_OK;
    if (rc == PERHAPS_OK && options->flags & ~allowed)
        rc = fail(PERHAPS_EINVAL, "options.flags has a bit that this call does not know");
    if (rc == PERHAPS_OK && options->flags & PERHAPS_OPEN_COPY && options->flags & PERHAPS_OPEN_WRITE)
        rc = fail(PERHAPS_EINVAL, "a copy is not a map to write to; give one of the two flags");
    if (rc == PERHAPS_OK && options->flags & PERHAPS_OPEN_SHARED && !(options->flags & PERHAPS_OPEN_COPY))
        rc = fail(PERHAPS_EINVAL, "only a copy can be changed by several threads; give PERHAPS_OPEN_COPY too");
    return rc;
}

/* A handle for a checked header. */
static int adopt(perhaps **f, const char *name, const struct header *header, const perhaps_open_options *options) {
    struct hash hash;
    int rc = filter_hash(name, header, options->hash_key, &hash);
    bool shared = options->flags & PERHAPS_OPEN_SHARED;
    const struct kind *kind = kind_find(header->kind);
    if (rc == PERHAPS_OK && shared && !kind_takes_threads(kind))
        rc = fail(PERHAPS_ECANNOT, "%s: %s filters are shared between threads only in shards", name, kind->row.name);
    return rc < 0 ? rc : filter_handle(f, options->allocator, header, &hash, NULL, shared);
}

/* A dirty image, opened for recovery, has a wrong number of items: they are counted again. */
static int use_found_image(perhaps *f, const char *name, uint8_t *image) {
    filter_use_image(f, image, READ_ONLY);
    if (f->header.flags & HEADER_DIRTY) filter_count_items(f);
    const struct foreign_checks *foreign = f->kind->foreign;
    const char *reason = foreign && foreign->check_array ? foreign->check_array(&f->array, f->header.items) : NULL;
    return reason ? fail(PERHAPS_EDAMAGED, "%s: it has %s", name, reason) : filter_make_guide(f, name);
}

/* ---- children ---- */

/* Where an image is: in memory, which may be a mapped file, or in a file to be read. */
struct source {
    const char *name;
    struct file *file;    /* NULL: only memory */
    const uint8_t *image; /* NULL: to be read from the file */
    uint64_t offset, length;
};

static int open_source(perhaps **f, const struct source *source, const perhaps_open_options *options);

static int read_source(const struct source *source, uint64_t from, uint8_t *bytes, uint64_t length) {
    if (!source->image) return file_read_part(source->file, bytes, source->offset + from, length);
    memcpy(bytes, source->image + from, (size_t)length);
    return PERHAPS_OK;
}

/* The padding before a child must be zero. */
static int check_gap(const struct source *parent, uint64_t from, uint64_t to) {
    uint8_t bytes[MEMORY_PAGE];
    int rc = read_source(parent, from, bytes, to - from);
    if (rc == PERHAPS_OK && !memory_is_zero(bytes, to - from))
        rc = fail(PERHAPS_EDAMAGED, "%s: padding between its parts that is not zero", parent->name);
    return rc;
}

/* Before a child is opened: if its kind were not checked, children could nest without end. */
static int check_child(const perhaps *parent, const struct source *source, const struct entry *entry) {
    uint8_t head[HEADER_BYTES];
    int rc = read_source(source, 0, head, sizeof head);
    if (rc < 0) return rc;
    if (header_kind(head) != (int)parent->header.layout[BASE])
        return fail(PERHAPS_EDAMAGED, "%s: it is of another kind than it should be", source->name);
    if (header_checksum(head) != entry->sum)
        return fail(PERHAPS_EDAMAGED, "%s: it is not the one that the directory knows", source->name);
    return PERHAPS_OK;
}

static int open_child(perhaps *f, unsigned i, const struct source *parent, const struct entry *entry,
                      const perhaps_open_options *options) {
    char name[256];
    struct source source = {name, parent->file, parent->image ? parent->image + entry->offset : NULL,
                            parent->offset + entry->offset, entry->length};
    struct child *child = &f->children->child[i];
    snprintf(name, sizeof name, "%s: part %u", parent->name, i + 1);
    int rc = check_child(f, &source, entry);
    if (rc == PERHAPS_OK) rc = open_source(&child->filter, &source, options);
    if (rc < 0) return rc;
    f->children->count++;
    child->since = entry->since;
    const char *reason = children_check(&f->header, &child->filter->header);
    return reason ? fail(PERHAPS_EDAMAGED, "%s: it has %s", parent->name, reason) : PERHAPS_OK;
}

/* Opens the children that the directory names; it ends at `end`. */
static int open_children(perhaps *f, const struct source *source, const uint8_t *directory, uint64_t end,
                         const perhaps_open_options *options) {
    unsigned count = (unsigned)f->header.layout[CHILDREN];
    uint8_t key[16];
    perhaps_open_options inner = *options;
    hash_key_bytes(f->hash.key, key);
    if (f->hash.id == PERHAPS_SIPHASH) inner.hash_key = key;
    if (f->children->locks) inner.flags &= (unsigned)~PERHAPS_OPEN_SHARED;
    int rc = PERHAPS_OK;
    for (unsigned i = 0; rc == PERHAPS_OK && i < count; i++) {
        struct entry entry = directory_get(directory, i);
        rc = check_gap(source, end, entry.offset);
        if (rc == PERHAPS_OK) rc = open_child(f, i, source, &entry, &inner);
        end = entry.offset + entry.length;
    }
    const char *reason = rc == PERHAPS_OK ? f->kind->composite->ops->check(f) : NULL;
    if (reason) rc = fail(PERHAPS_EDAMAGED, "%s: it has %s", source->name, reason);
    if (rc == PERHAPS_OK) children_settle(f);
    return rc;
}

/* `head` is header and directory. It may be a mapped file that another process changes: the
 * directory is copied once, and only the copy is used. */
static int open_composite(perhaps *f, const struct source *source, const uint8_t *head,
                          const perhaps_open_options *options) {
    uint64_t start = header_offset(&f->header), length = f->header.length, count = f->header.layout[CHILDREN];
    uint8_t *directory = memory_get(&f->allocator, length);
    if (!directory) return fail(PERHAPS_ENOMEM, "%s: no memory for its directory", source->name);
    memcpy(directory, head + start, (size_t)length);
    const char *reason = directory_check(directory, count, start + length, source->length);
    int rc =
        reason ? fail(PERHAPS_EDAMAGED, "%s: it has %s", source->name, reason) : children_start(f, (unsigned)count);
    if (rc == PERHAPS_OK) rc = open_children(f, source, directory, start + length, options);
    if (rc == PERHAPS_OK && source->image) f->state = READ_ONLY;
    memory_release(&f->allocator, directory, length);
    return rc;
}

/* ---- one image ---- */

/* The image was read into memory of ours, which a handle with an array takes over. */
static void own_read_image(perhaps *f) {
    if (!f->children) {
        f->owned = true;
        f->state = CHANGEABLE;
        f->header.flags &= (unsigned)~HEADER_DIRTY;
    }
    filter_keep_key(&f->header, &f->hash);
}

/* `image` is the source's, or a copy of its first `length` bytes. */
static int open_image(perhaps **f, const struct source *source, const uint8_t *image, uint64_t length, bool copy,
                      const perhaps_open_options *options) {
    struct header header;
    uint8_t recipe[RECIPE_MAX];
    perhaps *made = NULL;
    int rc = check_image(source->name, copy ? NULL : source->file, image, length, options->flags, &header, recipe);
    if (rc == PERHAPS_OK) rc = adopt(&made, source->name, &header, options);
    if (rc < 0) return rc;
    if (made->kind->composite)
        rc = open_composite(made, source, image, options);
    else /* the cast is safe: nothing writes through a read-only filter */
        rc = use_found_image(made, source->name, (uint8_t *)(uintptr_t)image);
    if (rc == PERHAPS_OK && copy) own_read_image(made);
    return filter_finish(f, made, rc);
}

/* ---- a copy: read, not mapped, so that no other process can change it ---- */

/* How much to read in one piece: all of an image, or what precedes the children of a composite. */
static int length_to_read(const struct source *source, uint64_t *length, bool *sparse) {
    uint8_t head[HEADER_BYTES] = {0};
    *length = source->length;
    *sparse = false;
    if (source->length < HEADER_BYTES) return PERHAPS_OK;
    int rc = file_read_part(source->file, head, source->offset, sizeof head);
    if (rc < 0) return rc;
    *sparse = header_is_sparse(head);
    uint64_t before_children = header_before_children(head);
    if (before_children && before_children < source->length) *length = before_children;
    return PERHAPS_OK;
}

static int open_copy(perhaps **f, const struct source *source, const perhaps_open_options *options) {
    perhaps_allocator allocator = options->allocator ? *options->allocator : memory_default;
    uint64_t length;
    bool sparse;
    int rc = length_to_read(source, &length, &sparse);
    if (rc < 0) return rc;
    uint64_t size = length ? length : 1;
    uint8_t *image = size <= memory_of_machine() ? memory_zeroed(&allocator, size) : NULL;
    if (!image) return fail(PERHAPS_ENOMEM, "%s: no memory for %llu bytes", source->name, (unsigned long long)size);
    if (sparse) memory_keep_sparse(&allocator, image, size);
    rc = file_read(source->file, image, source->offset, length);
    /* The header may have changed since length_to_read; open_image checks it against `length`. */
    if (rc == PERHAPS_OK) rc = open_image(f, source, image, length, true, options);
    if (rc < 0 || (*f)->children) memory_release(&allocator, image, size);
    return rc;
}

static int open_source(perhaps **f, const struct source *source, const perhaps_open_options *options) {
    if (!source->image) return open_copy(f, source, options);
    return open_image(f, source, source->image, source->length, false, options);
}

/* ---- the public calls ---- */

/* Replaces a filter on borrowed bytes by a copy. */
static int become_owner(perhaps **f) {
    perhaps *copy;
    int rc = filter_clone(*f, &copy);
    filter_free(*f);
    *f = copy;
    return rc;
}

/* Before a file or bytes are changed in place. */
static int check_not_sealed(const char *name, const perhaps *f) {
    if (!f->kind->solver) return PERHAPS_OK;
    return fail(PERHAPS_ESEALED, "%s: it is sealed, and cannot be changed; make a new one of all keys", name);
}

/* The bytes will be changed in place. No one else reads them meanwhile: they are not marked
 * dirty. */
static int borrow_for_changing(perhaps *f) {
    int rc = check_not_sealed("image", f);
    if (rc < 0) return rc;
    if (f->children)
        return fail(PERHAPS_ECANNOT, "image: %s filters cannot be changed in place; open a copy", f->kind->row.name);
    f->state = CHANGEABLE;
    return PERHAPS_OK;
}

int perhaps_open_memory(perhaps **f, const void *bytes, uint64_t length, const perhaps_open_options *theirs) {
    perhaps_open_options options;
    perhaps *made = NULL;
    *f = NULL;
    int rc = take_open_options(&options, theirs, OPEN_FLAGS);
    const struct kind *other;
    if (rc == PERHAPS_OK) rc = format_find(bytes, length, length, &options, &other);
    if (rc == PERHAPS_OK && other) return format_open_memory(f, other, bytes, length, &options);
    if (rc == PERHAPS_OK) rc = open_source(&made, &(struct source){"image", NULL, bytes, 0, length}, &options);
    if (rc == PERHAPS_OK && options.flags & PERHAPS_OPEN_COPY) rc = become_owner(&made);
    if (rc == PERHAPS_OK && options.flags & PERHAPS_OPEN_WRITE) rc = borrow_for_changing(made);
    return filter_finish(f, made, rc);
}

/* Files of sparse kinds keep their holes, although filling one on a full disk is a SIGBUS. */
static int check_in_place(const struct file *file, const perhaps *f) {
    int rc = check_not_sealed(file->path, f);
    if (rc < 0) return rc;
    if (!(filter_can(f) & PERHAPS_IN_PLACE))
        return fail(PERHAPS_ECANNOT, "%s: %s filters cannot be changed in place; open a copy and save it", file->path,
                    f->kind->row.name);
    return f->kind->sparse ? PERHAPS_OK : file_reserve(file);
}

static void advise(const struct file *file, bool writable) {
    if (file->length < HEADER_BYTES || !header_is_sparse(file->bytes))
        file_use_huge_pages(file);
    else if (writable)
        file_keep_sparse(file);
}

static int open_map(perhaps **f, struct file *file, const perhaps_open_options *options) {
    static const uint8_t nothing[1];
    perhaps *made = NULL;
    bool writable = options->flags & PERHAPS_OPEN_WRITE;
    int rc = file_map(file, writable);
    const uint8_t *image = file->bytes ? file->bytes : nothing;
    if (rc < 0) return rc;
    advise(file, writable);
    rc = open_source(&made, &(struct source){file->path, file, image, 0, file->length}, options);
    if (rc == PERHAPS_OK && writable) rc = check_in_place(file, made);
    if (rc == PERHAPS_OK) filter_take_file(made, file);
    if (rc == PERHAPS_OK && writable) made->state = made->header.flags & HEADER_DIRTY ? CHANGEABLE : CLEAN_MAP;
    return filter_finish(f, made, rc);
}

int perhaps_open(perhaps **f, const char *path, const perhaps_open_options *theirs) {
    perhaps_open_options options;
    struct file file;
    *f = NULL;
    int rc = take_open_options(&options, theirs, OPEN_FLAGS);
    if (rc == PERHAPS_OK) rc = file_open(&file, path, options.flags & PERHAPS_OPEN_WRITE);
    if (rc < 0) return rc;
    const struct kind *other;
    rc = format_find_file(&file, &options, &other);
    if (rc == PERHAPS_OK && other)
        rc = format_open_file(f, other, &file, &options);
    else if (rc == PERHAPS_OK && options.flags & PERHAPS_OPEN_COPY)
        rc = open_source(f, &(struct source){path, &file, NULL, 0, file.length}, &options);
    else if (rc == PERHAPS_OK)
        rc = open_map(f, &file, &options);
    file_close(&file);
    return rc;
}
