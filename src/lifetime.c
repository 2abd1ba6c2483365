/*
 * Making, opening, saving and ending filters: where the image of a filter lives, and what is checked before it is used.
 */
#include "base/memory.h"
#include "base/why.h"
#include "filter.h"
#include "image/save.h"
#include "plan.h"

#include <string.h>

/* -------------------------------------------------------------------------------------------- sized structs --- */

int take_sized(void *ours, size_t our_size, const void *theirs, const char *name) {
    size_t size = *(const size_t *)theirs;
    if (size < 2 * sizeof(size_t) || size > 4096)
        return fail(PERHAPS_EINVAL, "%s has no size; make it with the macro or the init call of perhaps.h", name);
    memset(ours, 0, our_size);
    memcpy(ours, theirs, size < our_size ? size : our_size);
    for (size_t i = our_size; i < size; i++) {
        if (((const uint8_t *)theirs)[i])
            return fail(PERHAPS_EINVAL, "%s uses a field that this version of the library does not know", name);
    }
    return PERHAPS_OK;
}

int give_sized(void *theirs, void *ours, size_t our_size, const char *name) {
    size_t size = *(size_t *)theirs;
    if (size < 2 * sizeof(size_t) || size > 4096)
        return fail(PERHAPS_EINVAL, "%s.size is not set; initialise it with {sizeof %s}", name, name);
    *(size_t *)ours = size;
    memcpy(theirs, ours, size < our_size ? size : our_size);
    return PERHAPS_OK;
}

/* ----------------------------------------------------------------------------------------- making and ending --- */

static int choose_hash(const perhaps_want *want, const struct kind *kind, struct hash *hash) {
    int id = want->hash == PERHAPS_HASH_DEFAULT ? kind->hash : want->hash;
    if ((id == PERHAPS_IDENTITY) != (kind->hash == PERHAPS_IDENTITY))
        return fail(PERHAPS_EINVAL, "%s filters do not take the hash %s", kind->row.name,
                    hash_name(id) ? hash_name(id) : "with that number");
    if (!hash_name(id)) return fail(PERHAPS_EINVAL, "there is no hash with number %d", id);
    if (id == PERHAPS_SIPHASH) {
        if (!want->hash_key) return fail(PERHAPS_EINVAL, "siphash needs a hash_key of 16 bytes");
        if (want->seed) return fail(PERHAPS_EINVAL, "siphash takes a hash_key, not a seed");
        *hash = hash_siphash(want->hash_key);
        return PERHAPS_OK;
    }
    if (want->hash_key || want->key_in_file) return fail(PERHAPS_EINVAL, "a hash key goes with siphash only");
    if (id == PERHAPS_IDENTITY && want->seed)
        return fail(PERHAPS_EINVAL, "%s filters do not hash, so they take no seed", kind->row.name);
    *hash = id == PERHAPS_IDENTITY ? hash_identity() : hash_xxh3(want->seed);
    return PERHAPS_OK;
}

/* A handle without an image. What is made from a filter goes on with its instruction set. */
static int new_handle(perhaps **made, const perhaps_allocator *given, const struct header *header,
                      const struct hash *hash, const perhaps *like) {
    perhaps_allocator allocator = given ? *given : memory_default;
    enum isa isa = like ? like->isa : ISA_SCALAR;
    int rc = like ? PERHAPS_OK : isa_choose(&isa);
    if (rc < 0) return rc;
    perhaps *f = memory_zeroed(&allocator, sizeof *f);
    if (!f) return fail(PERHAPS_ENOMEM, "no memory for a filter's handle");
    f->allocator = allocator;
    f->header = *header;
    f->hash = *hash;
    f->kind = kind_find(header->kind);
    f->isa = isa;
    f->ops = *f->kind->ops(header->layout, isa, false);
    f->file.fd = -1;
    f->array.length = header->length;
    memcpy(f->array.layout, header->layout, sizeof f->array.layout);
    *made = f;
    return PERHAPS_OK;
}

static void use_image(perhaps *f, uint8_t *image, enum state state) {
    f->image = image;
    f->array.bytes = image + image_offset(f->header.length);
    f->state = state;
}

/* Gives a new handle an image of its own; zero bytes if `zero`, else for the caller to fill. */
static int own_image(perhaps *f, bool zero) {
    uint64_t size = filter_image_bytes(f);
    uint8_t *image = zero ? memory_zeroed(&f->allocator, size) : memory_get(&f->allocator, size);
    if (!image) return fail(PERHAPS_ENOMEM, "no memory for a filter of %llu bytes", (unsigned long long)size);
    if (f->kind->sparse) memory_keep_sparse(&f->allocator, image, size);
    f->owned = true;
    use_image(f, image, CHANGEABLE);
    return PERHAPS_OK;
}

/* An image in memory has the key; whether files have it too is the owner's choice. */
static void keep_key(struct header *header, const struct hash *hash) {
    if (hash->id != PERHAPS_SIPHASH) return;
    header->flags |= HEADER_HAS_KEY;
    memcpy(header->key, hash->key, sizeof header->key);
}

static unsigned flags_of(const perhaps_want *want, const struct kind *kind) {
    return (want->key_in_file ? HEADER_KEY_IN_FILE : 0) |
           (want->grow == PERHAPS_GROW_NEVER && kind->grow ? HEADER_FIXED : 0);
}

int perhaps_create(perhaps **f, const perhaps_want *theirs) {
    perhaps_want want;
    struct plan plan;
    struct hash hash;
    *f = NULL;
    int rc = take_sized(&want, sizeof want, theirs, "want");
    if (rc == PERHAPS_OK) rc = plan_make(&want, &plan);
    if (rc == PERHAPS_OK) rc = choose_hash(&want, plan.kind, &hash);
    if (rc == PERHAPS_OK && want.tag > 255) rc = fail(PERHAPS_EINVAL, "tag is %u; it has one byte", want.tag);
    if (rc == PERHAPS_OK && want.grow != PERHAPS_GROW_DEFAULT && want.grow != PERHAPS_GROW_NEVER)
        rc = fail(PERHAPS_EINVAL, "there is no way to grow with number %d", want.grow);
    if (rc < 0) return rc;
    struct header header = {.kind = plan.kind->row.kind,
                            .hash = hash.id,
                            .tag = want.tag,
                            .flags = flags_of(&want, plan.kind),
                            .seed = hash.seed,
                            .capacity = plan.shown.items,
                            .fpr = plan.shown.fpr,
                            .length = plan.shown.bytes};
    memcpy(header.layout, plan.layout, sizeof header.layout);
    keep_key(&header, &hash);
    perhaps *made;
    rc = new_handle(&made, want.allocator, &header, &hash, NULL);
    if (rc < 0) return rc;
    rc = own_image(made, true);
    if (rc < 0)
        perhaps_free(made);
    else
        *f = made;
    return rc;
}

int perhaps_clone(const perhaps *f, perhaps **copy) {
    struct header header = f->header;
    header.flags &= (unsigned)~HEADER_DIRTY;
    keep_key(&header, &f->hash);
    *copy = NULL;
    perhaps *made;
    int rc = new_handle(&made, &f->allocator, &header, &f->hash, f);
    if (rc < 0) return rc;
    rc = own_image(made, f->kind->sparse);
    if (rc < 0) {
        perhaps_free(made);
        return rc;
    }
    if (f->kind->sparse)
        memory_copy_sparse(made->array.bytes, f->array.bytes, f->array.length);
    else
        memcpy(made->array.bytes, f->array.bytes, (size_t)f->array.length);
    *copy = made;
    return PERHAPS_OK;
}

void perhaps_free(perhaps *f) {
    if (!f) return;
    perhaps_allocator allocator = f->allocator;
    if (f->owned) memory_release(&allocator, f->image, filter_image_bytes(f));
    file_close(&f->file);
    memory_release(&allocator, f, sizeof *f);
}

/* -------------------------------------------------------------------------------------------------- opening --- */

static int open_hash(const char *name, const struct header *header, const uint8_t *given, struct hash *hash) {
    if (header->hash != PERHAPS_SIPHASH) {
        *hash = header->hash == PERHAPS_XXH3 ? hash_xxh3(header->seed) : hash_identity();
        return PERHAPS_OK;
    }
    uint8_t key[16];
    bool has_key = header->flags & HEADER_HAS_KEY;
    hash_key_bytes(header->key, key);
    if (has_key && hash_siphash(key).seed != header->seed)
        return fail(PERHAPS_EDAMAGED, "%s: the hash key in it is not the one it was made with", name);
    if (!has_key && !given)
        return fail(PERHAPS_EKEY, "%s: its keys are hashed with a secret key, which is not in the file; give it", name);
    *hash = hash_siphash(given ? given : key);
    if (hash->seed != header->seed)
        return fail(PERHAPS_EKEY, "%s: made with another hash key than the one given", name);
    return PERHAPS_OK;
}

/* What is checked of every image, wherever it comes from, before it is used. */
static int check_image(const char *name, const struct file *map, const uint8_t *image, uint64_t length, unsigned flags,
                       struct header *header) {
    int rc = header_read(name, image, length, flags & PERHAPS_OPEN_RECOVER, header);
    if (rc < 0 || header->flags & HEADER_DIRTY || flags & PERHAPS_OPEN_NO_VERIFY) return rc;
    rc = image_verify(name, map, image, header->length);
    /* A writer that has come since the header was read makes it dirty, not damaged. */
    return rc < 0 && header_is_dirty(image) ? header_refuse_dirty(name) : rc;
}

static int take_open_options(perhaps_open_options *options, const perhaps_open_options *theirs, unsigned allowed) {
    *options = (perhaps_open_options){.size = sizeof *options};
    int rc = theirs ? take_sized(options, sizeof *options, theirs, "options") : PERHAPS_OK;
    if (rc == PERHAPS_OK && options->flags & ~allowed)
        rc = fail(PERHAPS_EINVAL, "options.flags has a bit that this call does not know");
    if (rc == PERHAPS_OK && options->flags & PERHAPS_OPEN_COPY && options->flags & PERHAPS_OPEN_WRITE)
        rc = fail(PERHAPS_EINVAL, "a copy is not a map to write to; give one of the two flags");
    return rc;
}

void filter_count_items(perhaps *f) {
    struct sight sight;
    plan_look(f->kind, &f->array, &sight);
    f->header.items = sight.items;
}

/* A handle for a checked image. A dirty one was let in for recovery: count it anew. */
static int adopt(perhaps **f, const char *name, uint8_t *image, const struct header *header,
                 const perhaps_open_options *options) {
    struct hash hash;
    int rc = open_hash(name, header, options->hash_key, &hash);
    if (rc < 0) return rc;
    perhaps *made;
    rc = new_handle(&made, options->allocator, header, &hash, NULL);
    if (rc < 0) return rc;
    use_image(made, image, READ_ONLY);
    if (header->flags & HEADER_DIRTY) filter_count_items(made);
    *f = made;
    return PERHAPS_OK;
}

/* Turns a filter over bytes of others into one of its own. */
static int become_owner(perhaps **f) {
    perhaps *copy;
    int rc = perhaps_clone(*f, &copy);
    perhaps_free(*f);
    *f = copy;
    return rc;
}

int perhaps_open_memory(perhaps **f, const void *bytes, uint64_t length, const perhaps_open_options *theirs) {
    perhaps_open_options options;
    struct header header;
    *f = NULL;
    int rc = take_open_options(&options, theirs, PERHAPS_OPEN_COPY | PERHAPS_OPEN_NO_VERIFY | PERHAPS_OPEN_RECOVER);
    if (rc == PERHAPS_OK) rc = check_image("image", NULL, bytes, length, options.flags, &header);
    /* The array is never written through a read-only filter, so the cast takes nothing from the caller. */
    if (rc == PERHAPS_OK) rc = adopt(f, "image", (uint8_t *)(uintptr_t)bytes, &header, &options);
    if (rc == PERHAPS_OK && options.flags & PERHAPS_OPEN_COPY) rc = become_owner(f);
    return rc;
}

/* A copy is read, not mapped, so that nobody can change it under our hands; then it is adopted as memory. */
static int open_copy(perhaps **f, struct file *file, const perhaps_open_options *options) {
    perhaps_allocator allocator = options->allocator ? *options->allocator : memory_default;
    struct header header;
    uint8_t head[HEADER_BYTES] = {0};
    uint64_t size = file->length ? file->length : 1;
    uint8_t *image = size <= memory_of_machine() ? memory_zeroed(&allocator, size) : NULL;
    if (!image)
        return fail(PERHAPS_ENOMEM, "%s: no memory for %llu bytes", file->path, (unsigned long long)file->length);
    int rc = file_read_start(file, head, sizeof head);
    if (rc == PERHAPS_OK && header_is_sparse(head)) memory_keep_sparse(&allocator, image, size);
    if (rc == PERHAPS_OK) rc = file_read(file, image);
    if (rc == PERHAPS_OK) rc = check_image(file->path, NULL, image, file->length, options->flags, &header);
    if (rc == PERHAPS_OK) rc = adopt(f, file->path, image, &header, options);
    if (rc < 0) {
        memory_release(&allocator, image, size);
        return rc;
    }
    (*f)->owned = true;
    (*f)->state = CHANGEABLE;
    (*f)->header.flags &= (unsigned)~HEADER_DIRTY;
    keep_key(&(*f)->header, &(*f)->hash);
    return PERHAPS_OK;
}

/* A file of a kind that stays sparse keeps its holes: filling one on a full disk is then a SIGBUS. */
static int check_in_place(const struct file *file, const struct kind *kind) {
    if (!(kind->row.can & PERHAPS_IN_PLACE))
        return fail(PERHAPS_ECANNOT, "%s: %s filters cannot be changed in place; open a copy and save it", file->path,
                    kind->row.name);
    return kind->sparse ? PERHAPS_OK : file_reserve(file);
}

static void advise(const struct file *file, bool writable) {
    if (file->length < HEADER_BYTES || !header_is_sparse(file->bytes))
        file_use_huge_pages(file);
    else if (writable)
        file_keep_sparse(file);
}

static int open_map(perhaps **f, struct file *file, const perhaps_open_options *options) {
    static const uint8_t nothing[1];
    bool writable = options->flags & PERHAPS_OPEN_WRITE;
    struct header header;
    int rc = file_map(file, writable);
    const uint8_t *image = file->bytes ? file->bytes : nothing;
    if (rc == PERHAPS_OK) advise(file, writable);
    if (rc == PERHAPS_OK) rc = check_image(file->path, file, image, file->length, options->flags, &header);
    if (rc == PERHAPS_OK && writable) rc = check_in_place(file, kind_find(header.kind));
    if (rc == PERHAPS_OK) rc = adopt(f, file->path, file->bytes, &header, options);
    if (rc < 0) return rc;
    (*f)->file = *file;
    (*f)->file.path = "the mapped file"; /* the caller's name may be gone when a message needs one */
    *file = (struct file){.fd = -1};
    if (writable) (*f)->state = header.flags & HEADER_DIRTY ? CHANGEABLE : CLEAN_MAP;
    return PERHAPS_OK;
}

int perhaps_open(perhaps **f, const char *path, const perhaps_open_options *theirs) {
    perhaps_open_options options;
    struct file file;
    *f = NULL;
    int rc = take_open_options(&options, theirs,
                               PERHAPS_OPEN_COPY | PERHAPS_OPEN_WRITE | PERHAPS_OPEN_NO_VERIFY | PERHAPS_OPEN_RECOVER);
    if (rc == PERHAPS_OK) rc = file_open(&file, path, options.flags & PERHAPS_OPEN_WRITE);
    if (rc < 0) return rc;
    rc = options.flags & PERHAPS_OPEN_COPY ? open_copy(f, &file, &options) : open_map(f, &file, &options);
    file_close(&file);
    return rc;
}

/* -------------------------------------------------------------------------------------------------- growing --- */

int filter_cannot(const perhaps *f, const char *what) {
    return fail(PERHAPS_ECANNOT, "%s filters cannot %s; see perhaps_kind() for what each kind can", f->kind->row.name,
                what);
}

void filter_swap(perhaps *a, perhaps *b) {
    perhaps swapped = *a;
    *a = *b;
    *b = swapped;
}

/* An empty filter like this one, but with another layout. */
static int make_like(const perhaps *f, const uint64_t layout[LAYOUT_WORDS], uint64_t capacity, perhaps **made) {
    struct header header = f->header;
    const char *reason;
    uint64_t total;
    memcpy(header.layout, layout, sizeof header.layout);
    header.capacity = capacity;
    header.length = f->kind->check(layout, &reason);
    if (!header.length || !image_length(header.length, &total) || total > memory_of_machine() || total > SIZE_MAX / 2)
        return fail(PERHAPS_ENOMEM, "growing would take more memory than this machine has; nothing was added");
    int rc = new_handle(made, &f->allocator, &header, &f->hash, f);
    if (rc < 0) return rc;
    rc = own_image(*made, true);
    if (rc < 0) perhaps_free(*made);
    return rc;
}

static int refuse_growth(const perhaps *f) {
    const char *remedy = f->header.flags & HEADER_FIXED ? "it was made not to grow"
                         : !f->owned                    ? "a file changed in place cannot grow; open a copy and save it"
                                                        : "make one for more items, or take a table";
    return fail(PERHAPS_EFULL, "%s, and nothing was added: %s", f->kind->full, remedy);
}

int filter_grow_to(perhaps *f, const uint64_t layout[LAYOUT_WORDS], uint64_t capacity) {
    perhaps *grown = NULL;
    if (!f->kind->grow || f->header.flags & HEADER_FIXED || !f->owned) return refuse_growth(f);
    int rc = make_like(f, layout, capacity, &grown);
    if (rc < 0) return rc;
    if (f->kind->rehash(&grown->array, &f->array)) {
        filter_swap(f, grown);
        perhaps_free(grown);
        return PERHAPS_OK;
    }
    /* Not even that has room for all: try the next size. */
    uint64_t larger[LAYOUT_WORDS];
    bool can = f->kind->grow(&grown->array, 0, larger, &capacity);
    perhaps_free(grown);
    return can ? filter_grow_to(f, larger, capacity) : refuse_growth(f);
}

int filter_grow(perhaps *f, uint64_t digest) {
    uint64_t layout[LAYOUT_WORDS], capacity = f->header.capacity;
    if (!f->kind->grow || !f->kind->grow(&f->array, digest, layout, &capacity)) return refuse_growth(f);
    return filter_grow_to(f, layout, capacity);
}

/* --------------------------------------------------------------------------------------------------- saving --- */

/* The header as files have it: without the key, unless the owner wants it there. */
static struct header header_for_file(const perhaps *f) {
    struct header header = f->header;
    header.flags &= (unsigned)~HEADER_DIRTY;
    if (!(header.flags & HEADER_KEY_IN_FILE)) {
        header.flags &= (unsigned)~HEADER_HAS_KEY;
        memset(header.key, 0, sizeof header.key);
    }
    return header;
}

int perhaps_save(const perhaps *f, const char *path) {
    struct header header = header_for_file(f);
    return image_save(&header, f->array.bytes, &f->allocator, path);
}

int perhaps_write(const perhaps *f, int (*sink)(void *context, const void *bytes, size_t length), void *context) {
    struct header header = header_for_file(f);
    return image_write(&header, f->array.bytes, &f->allocator, sink, context);
}

int perhaps_image(perhaps *f, const void **bytes, uint64_t *length) {
    if (f->owned) {
        header_write(&f->header, f->image);
        header_sum(f->image, f->array.bytes, f->array.length);
    } else {
        if (f->state == READ_ONLY && f->header.flags & HEADER_DIRTY)
            return fail(PERHAPS_EREADONLY, "the image is a dirty file, opened for reading; clone the filter first");
        int rc = perhaps_sync(f);
        if (rc < 0) return rc;
    }
    *bytes = f->image;
    *length = filter_image_bytes(f);
    return PERHAPS_OK;
}

/* Payload first, then the header that vouches for it, and only then the flag. */
int perhaps_sync(perhaps *f) {
    if (f->owned || f->state != CHANGEABLE) return PERHAPS_OK;
    uint64_t offset = image_offset(f->header.length);
    int rc = file_sync(&f->file, offset, f->array.length);
    if (rc < 0) return rc;
    header_set_items(f->image, f->header.items);
    header_sum_file(&f->file, f->array.length);
    rc = file_sync(&f->file, 0, offset);
    if (rc < 0) return rc;
    header_set_dirty(f->image, false);
    rc = file_sync(&f->file, 0, HEADER_BYTES);
    if (rc < 0)
        header_set_dirty(f->image, true);
    else
        f->state = CLEAN_MAP;
    return rc;
}

/* The first change of a clean map marks the file dirty, on disk, before it touches a bit. */
int filter_unlock(perhaps *f) {
    if (f->state == READ_ONLY)
        return fail(PERHAPS_EREADONLY, "the filter was opened for reading; open a copy, or open it for writing");
    header_set_dirty(f->image, true);
    int rc = file_sync(&f->file, 0, HEADER_BYTES);
    if (rc < 0)
        header_set_dirty(f->image, false);
    else
        f->state = CHANGEABLE;
    return rc;
}
