/*
 * Every public call: check the arguments → key to digest → the kind's arithmetic on the array → answer.
 *
 *     key bytes ──hash.c──▶ digest ──kind/NAME.c──▶ bits in one array ──image/──▶ the same bytes in a file
 *
 * This file owns what kinds must not know of: memory, files, keys, counting. A filter is a header (facts), an array
 * (what the kind works on) and an image (the header's bytes and the array's bytes in one piece), which is its own,
 * borrowed or a mapped file.
 */
#include "base/arith.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/why.h"
#include "hash.h"
#include "image/header.h"
#include "image/save.h"
#include "plan.h"

#include <math.h>
#include <string.h>

enum { CHUNK = 2048 }; /* keys hashed at a time in batches: their digests stay in the first-level cache */

/* May it be changed? */
enum state {
    CHANGEABLE,
    CLEAN_MAP, /* a file mapped for changing, not marked dirty yet */
    READ_ONLY
};

struct perhaps {
    struct array array;
    const struct kind_ops *ops;
    struct hash hash;
    enum state state;
    enum isa isa;
    const struct kind *kind;
    struct header header; /* its items are up to date; its flags are those of the image in memory */
    uint8_t *image;
    bool owned;       /* the image is memory of this filter's allocator */
    struct file file; /* the mapped file; fd -1 if there is none */
    perhaps_allocator allocator;
};

/* ------------------------------------------------------------------------------------------ the small calls --- */

#define TEXT(x)   #x
#define NUMBER(x) TEXT(x)

const char *perhaps_version(void) {
    return NUMBER(PERHAPS_VERSION_MAJOR) "." NUMBER(PERHAPS_VERSION_MINOR) "." NUMBER(PERHAPS_VERSION_PATCH);
}

const char *perhaps_strerror(int error) {
    static const char *const sentences[] = {
        "success",
        "an argument makes no sense",
        "not enough memory",
        "the system refused a file operation",
        "not a perhaps image",
        "the image has a newer format than this library knows",
        "the image is damaged",
        "the hash key is missing or wrong",
        "this kind of filter cannot do that",
        "the two filters do not fit together",
        "the filter was opened for reading only",
        "the file was being changed in place when its writer ended",
        "no layout can do what was wanted",
        "another process is changing the file in place",
    };
    if (error > 0 || error <= -(int)(sizeof sentences / sizeof sentences[0])) return "an unknown error";
    return sentences[-error];
}

const char *perhaps_why(void) {
    return why();
}

const struct perhaps_kind_row *perhaps_kind(size_t row) {
    return row < kind_count ? &kinds[row]->row : NULL;
}

/* ------------------------------------------------------------------------------------------ wants and plans --- */

/* Public structs begin with their size, so that older and newer programs can call us. A program that knows fewer fields
 * leaves the rest zero; one that knows more must not have used them. */
static int take_sized(void *ours, size_t our_size, const void *theirs, const char *name) {
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

/* The other way: fills as much of the caller's struct as the caller knows of. */
static int give_sized(void *theirs, void *ours, size_t our_size, const char *name) {
    size_t size = *(size_t *)theirs;
    if (size < 2 * sizeof(size_t) || size > 4096)
        return fail(PERHAPS_EINVAL, "%s.size is not set; initialise it with {sizeof %s}", name, name);
    *(size_t *)ours = size;
    memcpy(theirs, ours, size < our_size ? size : our_size);
    return PERHAPS_OK;
}

void perhaps_want_init(perhaps_want *want) {
    memset(want, 0, sizeof *want);
    want->size = sizeof *want;
}

int perhaps_want_preset(perhaps_want *want, const char *name) {
    static const struct {
        const char *name;
        double bits_per_key;
        unsigned hashes;
    } presets[] = {{"rough", 4, 3}, {"fair", 8, 6}, {"good", 16, 12}, {"fine", 32, 23}};
    for (size_t i = 0; i < sizeof presets / sizeof presets[0]; i++) {
        if (strcmp(name, presets[i].name) != 0) continue;
        want->kind = PERHAPS_BLOOM;
        want->bits_per_key = presets[i].bits_per_key;
        want->hashes = presets[i].hashes;
        return PERHAPS_OK;
    }
    return fail(PERHAPS_EINVAL, "there is no preset '%s'; the presets are rough, fair, good and fine", name);
}

int perhaps_plan(const perhaps_want *theirs, struct perhaps_plan *shown) {
    perhaps_want want;
    struct plan plan;
    int rc = take_sized(&want, sizeof want, theirs, "want");
    if (rc == PERHAPS_OK) rc = plan_make(&want, &plan);
    if (rc == PERHAPS_OK) rc = give_sized(shown, &plan.shown, sizeof plan.shown, "plan");
    return rc;
}

/* ----------------------------------------------------------------------------------------- making and ending --- */

static int choose_hash(const perhaps_want *want, const struct kind *kind, struct hash *hash) {
    int id = want->hash == PERHAPS_HASH_DEFAULT ? kind->hash : want->hash;
    if (!hash_name(id)) return fail(PERHAPS_EINVAL, "there is no hash with number %d", id);
    if (id == PERHAPS_SIPHASH) {
        if (!want->hash_key) return fail(PERHAPS_EINVAL, "siphash needs a hash_key of 16 bytes");
        if (want->seed) return fail(PERHAPS_EINVAL, "siphash takes a hash_key, not a seed");
        *hash = hash_siphash(want->hash_key);
        return PERHAPS_OK;
    }
    if (want->hash_key || want->key_in_file) return fail(PERHAPS_EINVAL, "a hash key goes with siphash only");
    *hash = hash_xxh3(want->seed);
    return PERHAPS_OK;
}

/* A handle without an image. */
static int new_handle(perhaps **made, const perhaps_allocator *given, const struct header *header,
                      const struct hash *hash) {
    perhaps_allocator allocator = given ? *given : memory_default;
    enum isa isa;
    int rc = isa_choose(&isa);
    if (rc < 0) return rc;
    perhaps *f = memory_zeroed(&allocator, sizeof *f);
    if (!f) return fail(PERHAPS_ENOMEM, "no memory for a filter's handle");
    f->allocator = allocator;
    f->header = *header;
    f->hash = *hash;
    f->kind = kind_find(header->kind);
    f->isa = isa;
    f->ops = f->kind->ops(header->layout, isa);
    f->file.fd = -1;
    f->array.length = header->length;
    memcpy(f->array.layout, header->layout, sizeof f->array.layout);
    *made = f;
    return PERHAPS_OK;
}

static uint64_t image_bytes(const perhaps *f) {
    return image_offset(f->header.length) + f->header.length;
}

static void use_image(perhaps *f, uint8_t *image, enum state state) {
    f->image = image;
    f->array.bytes = image + image_offset(f->header.length);
    f->state = state;
}

/* Gives a new handle an image of its own; zero bytes if `zero`, else for the caller to fill. */
static int own_image(perhaps *f, bool zero) {
    uint64_t size = image_bytes(f);
    uint8_t *image = zero ? memory_zeroed(&f->allocator, size) : memory_get(&f->allocator, size);
    if (!image) return fail(PERHAPS_ENOMEM, "no memory for a filter of %llu bytes", (unsigned long long)size);
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

int perhaps_create(perhaps **f, const perhaps_want *theirs) {
    perhaps_want want;
    struct plan plan;
    struct hash hash;
    *f = NULL;
    int rc = take_sized(&want, sizeof want, theirs, "want");
    if (rc == PERHAPS_OK) rc = plan_make(&want, &plan);
    if (rc == PERHAPS_OK) rc = choose_hash(&want, plan.kind, &hash);
    if (rc == PERHAPS_OK && want.tag > 255) rc = fail(PERHAPS_EINVAL, "tag is %u; it has one byte", want.tag);
    if (rc < 0) return rc;
    struct header header = {.kind = plan.kind->row.kind,
                            .hash = hash.id,
                            .tag = want.tag,
                            .flags = want.key_in_file ? HEADER_KEY_IN_FILE : 0,
                            .seed = hash.seed,
                            .capacity = plan.shown.items,
                            .fpr = plan.shown.fpr,
                            .length = plan.shown.bytes};
    memcpy(header.layout, plan.layout, sizeof header.layout);
    keep_key(&header, &hash);
    perhaps *made;
    rc = new_handle(&made, want.allocator, &header, &hash);
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
    int rc = new_handle(&made, &f->allocator, &header, &f->hash);
    if (rc < 0) return rc;
    rc = own_image(made, false);
    if (rc < 0) {
        perhaps_free(made);
        return rc;
    }
    memcpy(made->array.bytes, f->array.bytes, (size_t)f->array.length);
    *copy = made;
    return PERHAPS_OK;
}

void perhaps_free(perhaps *f) {
    if (!f) return;
    perhaps_allocator allocator = f->allocator;
    if (f->owned) memory_release(&allocator, f->image, image_bytes(f));
    file_close(&f->file);
    memory_release(&allocator, f, sizeof *f);
}

/* -------------------------------------------------------------------------------------------------- opening --- */

static int open_hash(const char *name, const struct header *header, const uint8_t *given, struct hash *hash) {
    if (header->hash == PERHAPS_XXH3) {
        *hash = hash_xxh3(header->seed);
        return PERHAPS_OK;
    }
    uint8_t key[16];
    if (given)
        memcpy(key, given, sizeof key);
    else if (header->flags & HEADER_HAS_KEY)
        hash_key_bytes(header->key, key);
    else
        return fail(PERHAPS_EKEY, "%s: its keys are hashed with a secret key, which is not in the file; give it", name);
    *hash = hash_siphash(key);
    if (hash->seed != header->seed)
        return fail(PERHAPS_EKEY, "%s: made with another hash key than the one given", name);
    return PERHAPS_OK;
}

/* What is checked of every image, wherever it comes from, before it is used. */
static int check_image(const char *name, const uint8_t *image, uint64_t length, unsigned flags, struct header *header) {
    int rc = header_read(name, image, length, header);
    if (rc < 0) return rc;
    if (header->flags & HEADER_DIRTY) {
        if (flags & PERHAPS_OPEN_RECOVER) return PERHAPS_OK;
        return fail(PERHAPS_EDIRTY, "%s: was being changed in place when its writer ended; open it for recovery", name);
    }
    return flags & PERHAPS_OPEN_NO_VERIFY ? PERHAPS_OK : image_verify(name, image, header->length);
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

static void count_items(perhaps *f) {
    struct sight sight;
    plan_look(f->kind, &f->array, &sight);
    f->header.items = (uint64_t)llround(sight.distinct);
}

/* A handle for a checked image. A dirty one was let in for recovery: count it anew. */
static int adopt(perhaps **f, const char *name, uint8_t *image, const struct header *header,
                 const perhaps_open_options *options) {
    struct hash hash;
    int rc = open_hash(name, header, options->hash_key, &hash);
    if (rc < 0) return rc;
    perhaps *made;
    rc = new_handle(&made, options->allocator, header, &hash);
    if (rc < 0) return rc;
    use_image(made, image, READ_ONLY);
    if (header->flags & HEADER_DIRTY) count_items(made);
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
    if (rc == PERHAPS_OK) rc = check_image("image", bytes, length, options.flags, &header);
    /* The array is never written through a read-only filter, so the cast takes nothing from the caller. */
    if (rc == PERHAPS_OK) rc = adopt(f, "image", (uint8_t *)(uintptr_t)bytes, &header, &options);
    if (rc == PERHAPS_OK && options.flags & PERHAPS_OPEN_COPY) rc = become_owner(f);
    return rc;
}

/* A copy is read, not mapped, so that nobody can change it under our hands; then it is adopted as memory. */
static int open_copy(perhaps **f, struct file *file, const perhaps_open_options *options) {
    perhaps_allocator allocator = options->allocator ? *options->allocator : memory_default;
    struct header header;
    uint64_t size = file->length ? file->length : 1;
    uint8_t *image = memory_get(&allocator, size);
    if (!image)
        return fail(PERHAPS_ENOMEM, "%s: no memory for %llu bytes", file->path, (unsigned long long)file->length);
    int rc = file_read(file, image);
    if (rc == PERHAPS_OK) rc = check_image(file->path, image, file->length, options->flags, &header);
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

static int open_map(perhaps **f, struct file *file, const perhaps_open_options *options) {
    static const uint8_t nothing[1];
    bool writable = options->flags & PERHAPS_OPEN_WRITE;
    struct header header;
    int rc = file_map(file, writable);
    const uint8_t *image = file->bytes ? file->bytes : nothing;
    if (rc == PERHAPS_OK) rc = check_image(file->path, image, file->length, options->flags, &header);
    if (rc == PERHAPS_OK) rc = adopt(f, file->path, file->bytes, &header, options);
    if (rc < 0) return rc;
    (*f)->file = *file;
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
    int rc = PERHAPS_OK;
    if (f->owned) {
        header_write(&f->header, f->image);
        header_sum(f->image, f->array.bytes, f->array.length);
    } else {
        rc = perhaps_sync(f);
    }
    *bytes = f->image;
    *length = image_bytes(f);
    return rc;
}

/* Payload first, then the header that vouches for it. */
int perhaps_sync(perhaps *f) {
    if (f->owned || f->state != CHANGEABLE) return PERHAPS_OK;
    uint64_t offset = image_offset(f->header.length);
    int rc = file_sync(&f->file, offset, f->array.length);
    if (rc < 0) return rc;
    struct header header = header_for_file(f);
    header_write(&header, f->image);
    header_sum(f->image, f->array.bytes, f->array.length);
    rc = file_sync(&f->file, 0, offset);
    if (rc == PERHAPS_OK) f->state = CLEAN_MAP;
    return rc;
}

/* Called before each change. The first change of a clean map marks the file dirty, on disk, before it touches a bit. */
static int prepare_change(perhaps *f) {
    if (__builtin_expect(f->state == CHANGEABLE, 1)) return PERHAPS_OK;
    if (f->state == READ_ONLY)
        return fail(PERHAPS_EREADONLY, "the filter was opened for reading; open a copy, or open it for writing");
    struct header header = header_for_file(f);
    header.flags |= HEADER_DIRTY;
    header_write(&header, f->image);
    header_sum_head(f->image, f->header.length);
    int rc = file_sync(&f->file, 0, image_offset(f->header.length));
    if (rc == PERHAPS_OK) f->state = CHANGEABLE;
    return rc;
}

/* ---------------------------------------------------------------------------------------- adding and asking --- */

static int add_digest(perhaps *f, const uint64_t *digest) {
    int rc = prepare_change(f);
    if (rc < 0) return rc;
    int is_new = f->ops->add(&f->array, digest);
    f->header.items += (uint64_t)is_new;
    return is_new;
}

int perhaps_add(perhaps *f, const void *key, size_t length) {
    uint64_t digest = hash_bytes(&f->hash, key, length);
    return add_digest(f, &digest);
}

int perhaps_add_u64(perhaps *f, uint64_t key) {
    uint64_t digest = hash_u64(&f->hash, key);
    return add_digest(f, &digest);
}

int perhaps_add_digest(perhaps *f, uint64_t digest) {
    return add_digest(f, &digest);
}

int perhaps_contains(const perhaps *f, const void *key, size_t length) {
    uint64_t digest = hash_bytes(&f->hash, key, length);
    return f->ops->contains(&f->array, &digest);
}

int perhaps_contains_u64(const perhaps *f, uint64_t key) {
    uint64_t digest = hash_u64(&f->hash, key);
    return f->ops->contains(&f->array, &digest);
}

int perhaps_contains_digest(const perhaps *f, uint64_t digest) {
    return f->ops->contains(&f->array, &digest);
}

uint64_t perhaps_digest(const perhaps *f, const void *key, size_t length) {
    return hash_bytes(&f->hash, key, length);
}

uint64_t perhaps_digest_u64(const perhaps *f, uint64_t key) {
    return hash_u64(&f->hash, key);
}

/* ---- in batches ---- */

/* Where the keys of a batch come from: one of the three forms. */
struct keys {
    const void *const *bytes;
    const size_t *lengths;
    const uint64_t *integers;
    const uint64_t *digests;
};

/* The digests of keys from..from+n-1: the caller's own, or made in `room`. */
static const uint64_t *digests_of(const perhaps *f, const struct keys *keys, size_t from, size_t n, uint64_t *room) {
    if (keys->digests) return keys->digests + from;
    if (keys->integers) {
        hash_u64_many(&f->hash, f->isa, keys->integers + from, n, room);
        return room;
    }
    for (size_t i = 0; i < n; i++) room[i] = hash_bytes(&f->hash, keys->bytes[from + i], keys->lengths[from + i]);
    return room;
}

static int64_t count_ones(const uint8_t *answers, size_t n) {
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++) sum += answers[i];
    return (int64_t)sum;
}

static int64_t many(const perhaps *f, perhaps *changed, const struct keys *keys, size_t n, uint8_t *answers) {
    uint64_t room[CHUNK];
    uint8_t own_answers[CHUNK];
    int64_t ones = 0;
    for (size_t from = 0; from < n; from += CHUNK) {
        size_t count = n - from < CHUNK ? n - from : CHUNK;
        uint8_t *out = answers ? answers + from : own_answers;
        const uint64_t *digests = digests_of(f, keys, from, count, room);
        const char *ahead = (const char *)((keys->integers ? keys->integers + from : digests) + count);
        if (changed)
            f->ops->add_many(&changed->array, digests, count, out, ahead);
        else
            f->ops->contains_many(&f->array, digests, count, out, ahead);
        ones += count_ones(out, count);
    }
    return ones;
}

static int64_t add_many(perhaps *f, const struct keys *keys, size_t n, uint8_t *answers) {
    int rc = prepare_change(f);
    if (rc < 0) return rc;
    int64_t added = many(f, f, keys, n, answers);
    f->header.items += (uint64_t)added;
    return added;
}

int64_t perhaps_add_many(perhaps *f, const void *const *keys, const size_t *lengths, size_t n, uint8_t *answers) {
    return add_many(f, &(struct keys){.bytes = keys, .lengths = lengths}, n, answers);
}

int64_t perhaps_add_many_u64(perhaps *f, const uint64_t *keys, size_t n, uint8_t *answers) {
    return add_many(f, &(struct keys){.integers = keys}, n, answers);
}

int64_t perhaps_add_many_digest(perhaps *f, const uint64_t *digests, size_t n, uint8_t *answers) {
    return add_many(f, &(struct keys){.digests = digests}, n, answers);
}

int64_t perhaps_contains_many(const perhaps *f, const void *const *keys, const size_t *lengths, size_t n,
                              uint8_t *answers) {
    return many(f, NULL, &(struct keys){.bytes = keys, .lengths = lengths}, n, answers);
}

int64_t perhaps_contains_many_u64(const perhaps *f, const uint64_t *keys, size_t n, uint8_t *answers) {
    return many(f, NULL, &(struct keys){.integers = keys}, n, answers);
}

int64_t perhaps_contains_many_digest(const perhaps *f, const uint64_t *digests, size_t n, uint8_t *answers) {
    return many(f, NULL, &(struct keys){.digests = digests}, n, answers);
}

/* -------------------------------------------------------------------------------------------- whole filters --- */

/* The first thing in which two filters differ, or NULL. */
static const char *difference(const perhaps *a, const perhaps *b) {
    if (a->kind != b->kind) return "kind";
    for (int i = 0; i < LAYOUT_WORDS; i++) {
        if (a->header.layout[i] != b->header.layout[i]) return a->kind->layout_names[i];
    }
    if (a->header.hash != b->header.hash) return "hash";
    if (a->header.seed != b->header.seed) return a->header.hash == PERHAPS_SIPHASH ? "hash key" : "seed";
    return NULL;
}

static int combine(perhaps *into, const perhaps *from, void (*operation)(struct array *, const struct array *),
                   const char *verb) {
    if (!operation) return fail(PERHAPS_ECANNOT, "%s filters cannot %s", into->kind->row.name, verb);
    const char *differs = difference(into, from);
    if (differs)
        return fail(PERHAPS_EMISMATCH, "cannot %s: the two filters differ in %s; make both with the same want", verb,
                    differs);
    int rc = prepare_change(into);
    if (rc < 0) return rc;
    operation(&into->array, &from->array);
    count_items(into);
    return PERHAPS_OK;
}

int perhaps_merge(perhaps *into, const perhaps *from) {
    return combine(into, from, into->kind->merge, "merge");
}

int perhaps_intersect(perhaps *into, const perhaps *from) {
    return combine(into, from, into->kind->intersect, "intersect");
}

int perhaps_clear(perhaps *f) {
    int rc = prepare_change(f);
    if (rc < 0) return rc;
    memset(f->array.bytes, 0, (size_t)f->array.length);
    f->header.items = 0;
    return PERHAPS_OK;
}

int perhaps_equal(const perhaps *a, const perhaps *b) {
    return !difference(a, b) && memcmp(a->array.bytes, b->array.bytes, (size_t)a->array.length) == 0;
}

/* ----------------------------------------------------------------------------------------------- looking in --- */

int perhaps_info(const perhaps *f, struct perhaps_info *theirs) {
    struct sight sight;
    const struct model *model = f->kind->model;
    plan_look(f->kind, &f->array, &sight);
    struct perhaps_info info = {
        .kind = f->kind->row.kind,
        .kind_name = f->kind->row.name,
        .can = f->kind->row.can,
        .capacity = f->header.capacity,
        .items = f->header.items,
        .distinct = sight.distinct,
        .fill = sight.fill,
        .fpr_target = f->header.fpr,
        .fpr_now = sight.fpr,
        .bytes = f->array.length,
        .image_bytes = image_bytes(f),
        .bits_per_key = 8 * (double)f->array.length / (double)f->header.capacity,
        .hashes = model->hashes(f->header.layout),
        .lines = model->lines(f->header.layout),
        .hash = f->header.hash,
        .hash_name = hash_name(f->header.hash),
        .seed = f->header.seed,
        .tag = f->header.tag,
        .format_version = FORMAT_VERSION,
        .isa = isa_name(f->isa),
        .read_only = f->state == READ_ONLY,
    };
    return give_sized(theirs, &info, sizeof info, "info");
}

unsigned perhaps_tag(const perhaps *f) {
    return f->header.tag;
}
