#include "core/filter.h"

#include "base/endian.h"
#include "base/memory.h"
#include "core/children.h"
#include "base/error.h"
#include "plan/plan.h"

#include <string.h>

/* ---- facts ---- */

unsigned filter_can(const perhaps *f) {
    return f->children ? f->children->can : f->kind->row.can;
}

bool filter_may_be_full(const perhaps *f) {
    return f->children ? f->children->may_be_full : f->kind->growable != NULL;
}

uint64_t filter_items(const perhaps *f) {
    uint64_t items = f->children ? 0 : f->header.items;
    for (unsigned i = 0; f->children && i < f->children->count; i++)
        items += filter_items(f->children->child[i].filter);
    for (unsigned i = 0; f->tallies && i < TALLIES; i++)
        items += __atomic_load_n(&f->tallies[i].items, __ATOMIC_RELAXED);
    return f->tallies && (int64_t)items < 0 ? 0 : items; /* below 0: stuck counters */
}

uint64_t filter_capacity(const perhaps *f) {
    if (!(filter_can(f) & PERHAPS_GROW) || !f->children) return f->header.capacity;
    return f->kind->composite->ops->capacity(f);
}

uint64_t filter_bytes(const perhaps *f) {
    uint64_t bytes = f->array.length;
    for (unsigned i = 0; f->children && i < f->children->count; i++)
        bytes += filter_bytes(f->children->child[i].filter);
    return bytes;
}

uint64_t filter_image_bytes(const perhaps *f) {
    uint64_t recipe = f->header.recipe.length;
    if (!f->children) return image_offset(f->header.length, recipe) + f->header.length;
    uint64_t length = (uint64_t)f->children->count * ENTRY_BYTES, end = image_offset(length, recipe) + length;
    for (unsigned i = 0; i < f->children->count; i++) {
        uint64_t part = filter_image_bytes(f->children->child[i].filter), offset = 0;
        directory_place(end, part, &offset);
        end = offset + part;
    }
    return end;
}

struct header filter_header(const perhaps *f, bool for_file) {
    struct header header = f->header;
    header.items = filter_items(f);
    bool planned = f->children && f->kind->composite->key_in_one_child; /* for filter_capacity */
    if (!planned) header.capacity = filter_capacity(f);
    header.flags &= (unsigned)~HEADER_DIRTY;
    if (f->children) {
        header.layout[CHILDREN] = f->children->count;
        header.length = (uint64_t)f->children->count * ENTRY_BYTES;
    }
    if (for_file && !(header.flags & HEADER_KEY_IN_FILE)) {
        header.flags &= (unsigned)~HEADER_HAS_KEY;
        memset(header.key, 0, sizeof header.key);
    }
    return header;
}

int filter_cannot(const perhaps *f, const char *what) {
    const struct kind *base = f->children ? kind_find((int)f->header.layout[BASE]) : NULL;
    return fail(PERHAPS_ECANNOT, "%s filters%s%s cannot %s; see perhaps_kind() for what each kind can",
                f->kind->row.name, base ? " over " : "", base ? base->row.name : "", what);
}

int fail_sealed(void) {
    return fail(PERHAPS_ESEALED,
                "the filter is sealed, and nothing was changed; make a new one of all keys, or take a kind that can "
                "be added to");
}

int filter_read_only(const perhaps *f) {
    return fail(PERHAPS_EREADONLY, "the filter was opened for reading; open a copy%s",
                f->kind->solver ? "" : ", or open it for writing");
}

int fail_unsealed(void) {
    return fail(PERHAPS_EUNSEALED, "the filter still collects keys; call perhaps_seal first");
}

/* ---- changing ---- */

int filter_mark_file(perhaps *f, bool dirty) {
    header_set_dirty(f->image, dirty);
    int rc = file_sync(&f->file, 0, HEADER_BYTES);
    if (rc < 0)
        header_set_dirty(f->image, !dirty);
    else
        f->state = dirty ? CHANGEABLE : CLEAN_MAP;
    return rc;
}

/* The file is marked dirty, on disk, before the first bit changes. */
int filter_begin_change(perhaps *f) {
    if (f->state == READ_ONLY) return f->kind->solver ? fail_sealed() : filter_read_only(f);
    return filter_mark_file(f, true);
}

struct digest filter_digest_u64_other(const perhaps *f, uint64_t key) {
    uint8_t bytes[8];
    if (!f->two_words) return one_word(hash_u64_other(&f->hash, key));
    store64(bytes, key);
    return filter_digest(f, bytes, sizeof bytes);
}

void filter_tally(perhaps *f, uint64_t digest, uint64_t change) {
    if (f->items_in == ITEMS_IN_TALLIES)
        __atomic_fetch_add(&f->tallies[digest % TALLIES].items, change, __ATOMIC_RELAXED);
}

int filter_add(perhaps *f, struct digest digest) {
    int is_new;
    while ((is_new = f->ops.add(&f->array, digest)) == FULL) {
        int rc = filter_grow(f, digest.first);
        if (rc < 0) return rc;
    }
    filter_count_added(f, digest.first, (uint64_t)is_new);
    return is_new;
}

int filter_add_many(perhaps *f, const uint64_t *digests, size_t n, uint8_t *answers, const char *ahead,
                    struct added *added) {
    int rc = PERHAPS_OK;
    size_t done = 0;
    if (f->children) {
        rc = f->kind->composite->ops->add_many(f, digests, n, answers);
        if (rc >= 0) done = n;
        *added = (struct added){done, count_ones(answers, done)};
        return rc;
    }
    do {
        done += f->ops.add_many(&f->array, digests + done, n - done, answers + done, ahead);
        if (done < n) rc = filter_grow(f, digests[done]);
    } while (rc == PERHAPS_OK && done < n);
    *added = (struct added){done, count_ones(answers, done)};
    filter_count_added(f, n ? digests[0] : 0, added->fresh);
    return rc;
}

void filter_undo(perhaps *f, const uint64_t *digests, size_t n, const uint8_t *answers) {
    if (f->children && f->kind->composite->ops->undo) f->kind->composite->ops->undo(f, digests, n, answers);
    for (size_t i = 0; f->ops.remove && i < n; i++) {
        if ((!answers || answers[i]) && f->ops.remove(&f->array, one_word(digests[i])))
            filter_count_removed(f, digests[i], 1);
    }
}

void filter_clear(perhaps *f) {
    if (f->children)
        f->kind->composite->ops->clear(f);
    else
        memory_clear(f->array.bytes, f->array.length);
    filter_set_items(f, 0);
}

void filter_set_items(perhaps *f, uint64_t items) {
    for (unsigned i = 0; f->tallies && i < TALLIES; i++) f->tallies[i].items = 0;
    f->header.items = items;
    f->header.flags &= (unsigned)~HEADER_INTERSECTED;
}

void filter_count_items(perhaps *f) {
    struct measures measures;
    plan_measure(f->kind, &f->array, &measures);
    filter_set_items(f, measures.items);
}

double filter_distinct(const perhaps *f, const struct measures *measures) {
    double items = (double)filter_items(f);
    return f->header.flags & HEADER_INTERSECTED && items < measures->distinct ? items : measures->distinct;
}

/* ---- making ---- */

int filter_hash(const char *name, const struct header *header, const uint8_t *given, struct hash *hash) {
    if (header->hash != PERHAPS_SIPHASH) {
        *hash = hash_unkeyed(header->hash, header->seed);
        return PERHAPS_OK;
    }
    uint8_t key[16];
    bool has_key = header->flags & HEADER_HAS_KEY;
    hash_key_bytes(header->key, key);
    if (has_key) *hash = hash_siphash(key);
    if (has_key && hash->seed != header->seed)
        return fail(PERHAPS_EDAMAGED, "%s: the hash key in it is not the one it was made with", name);
    if (!has_key && !given)
        return fail(PERHAPS_EKEY, "%s: its keys are hashed with a secret key, which is not in the file; give it", name);
    if (given) *hash = hash_siphash(given);
    if (hash->seed != header->seed)
        return fail(PERHAPS_EKEY, "%s: made with another hash key than the one given", name);
    return PERHAPS_OK;
}

int filter_handle(perhaps **made, const perhaps_allocator *given, const struct header *header, const struct hash *hash,
                  const enum isa *given_isa, bool shared) {
    perhaps_allocator allocator = given ? *given : memory_default;
    enum isa isa = given_isa ? *given_isa : ISA_SCALAR;
    int rc = given_isa ? PERHAPS_OK : isa_choose(&isa);
    if (rc < 0) return rc;
    perhaps *f = memory_zeroed(&allocator, sizeof *f);
    if (!f) return fail(PERHAPS_ENOMEM, "no memory for a filter's handle");
    f->allocator = allocator;
    f->header = *header;
    f->hash = *hash;
    f->kind = kind_find(header->kind);
    f->two_words = kind_of_keys(f->kind, header->layout)->hashing.words == 2;
    f->isa = f->array.isa = f->hash.isa = isa;
    f->array.near_bytes = cpu_near_bytes();
    f->shared = shared;
    f->ops = *f->kind->ops(header->layout, isa, shared);
    if (hash->id == PERHAPS_XXH3 && f->ops.batch) f->contains_unmixed = f->ops.batch->contains_unmixed;
    f->file.fd = -1;
    if (!f->kind->composite) f->array.length = header->length;
    memcpy(f->array.layout, header->layout, sizeof f->array.layout);
    if (f->kind->derive) f->kind->derive(&f->array);
    rc = recipe_copy(&allocator, header->recipe, &f->header.recipe);
    if (rc == PERHAPS_OK && shared && f->kind->lock_free) {
        f->items_in = ITEMS_IN_TALLIES;
        f->tallies = memory_zeroed(&allocator, TALLIES * sizeof *f->tallies);
        if (!f->tallies) rc = fail(PERHAPS_ENOMEM, "no memory for a filter's counters");
    }
    return filter_finish(made, f, rc);
}

void filter_use_image(perhaps *f, uint8_t *image, enum state state) {
    f->image = image;
    f->array.bytes = image + header_offset(&f->header);
    f->state = state;
}

void filter_take_file(perhaps *f, struct file *file) {
    f->file = *file;
    f->file.path = "the mapped file"; /* the caller's string may be freed before a message */
    *file = (struct file){.fd = -1};
}

int filter_make_guide(perhaps *f, const char *name) {
    const struct solver *solver = f->kind->solver;
    if (!solver) return PERHAPS_OK;
    void *guide = memory_get(&f->allocator, solver->guide_bytes(f->header.layout));
    if (!guide) return fail(PERHAPS_ENOMEM, "%s: no memory for its directory", name);
    f->array.guide = guide;
    const char *reason = solver->guide(&f->array, f->header.items, guide);
    return reason ? fail(PERHAPS_EDAMAGED, "%s: it has %s", name, reason) : PERHAPS_OK;
}

void filter_drop_guide(perhaps *f) {
    if (!f->array.guide) return;
    memory_release(&f->allocator, (void *)(uintptr_t)f->array.guide, f->kind->solver->guide_bytes(f->header.layout));
    f->array.guide = NULL;
}

int filter_own_image(perhaps *f, bool zero) {
    uint64_t size = filter_image_bytes(f);
    uint8_t *image = zero ? memory_zeroed(&f->allocator, size) : memory_get(&f->allocator, size);
    if (!image) return fail(PERHAPS_ENOMEM, "no memory for a filter of %llu bytes", (unsigned long long)size);
    if (f->kind->sparse) memory_keep_sparse(&f->allocator, image, size);
    f->owned = true;
    filter_use_image(f, image, CHANGEABLE);
    return PERHAPS_OK;
}

int filter_make(perhaps **made, const perhaps_allocator *allocator, const struct header *header,
                const struct hash *hash, const enum isa *isa, bool shared) {
    perhaps *f;
    int rc = filter_handle(&f, allocator, header, hash, isa, shared);
    if (rc < 0) return rc;
    if (f->kind->composite)
        rc = children_start(f, (unsigned)header->layout[CHILDREN]);
    else if (!f->kind->solver) /* static kinds get an array when they are sealed */
        rc = filter_own_image(f, true);
    return filter_finish(made, f, rc);
}

void filter_keep_key(struct header *header, const struct hash *hash) {
    if (hash->id != PERHAPS_SIPHASH) return;
    header->flags |= HEADER_HAS_KEY;
    memcpy(header->key, hash->key, sizeof header->key);
}

/* ---- copying and freeing ---- */

static int clone_tail(const perhaps *f, perhaps *made) {
    made->tail = memory_get(&made->allocator, f->tail_length);
    if (!made->tail)
        return fail(PERHAPS_ENOMEM, "no memory for the %llu bytes after the filter",
                    (unsigned long long)f->tail_length);
    memcpy(made->tail, f->tail, (size_t)f->tail_length);
    made->tail_length = f->tail_length;
    return PERHAPS_OK;
}

static int clone_array(const perhaps *f, perhaps *made) {
    int rc = filter_own_image(made, f->kind->sparse);
    if (rc < 0) return rc;
    if (f->kind->sparse)
        memory_copy_sparse(made->array.bytes, f->array.bytes, f->array.length);
    else
        memcpy(made->array.bytes, f->array.bytes, (size_t)f->array.length);
    rc = filter_make_guide(made, "copy");
    return rc == PERHAPS_OK && f->tail_length ? clone_tail(f, made) : rc;
}

int filter_clone_with(const perhaps *f, struct recipe recipe, perhaps **copy) {
    struct header header = filter_header(f, false);
    header.recipe = recipe;
    filter_keep_key(&header, &f->hash);
    *copy = NULL;
    perhaps *made;
    int rc = filter_check_sealed(f);
    if (rc == PERHAPS_OK) rc = filter_handle(&made, &f->allocator, &header, &f->hash, &f->isa, f->shared);
    if (rc < 0) return rc;
    made->guessed = f->guessed;
    made->array.near_bytes = f->array.near_bytes;
    return filter_finish(copy, made, f->children ? children_clone(f, made) : clone_array(f, made));
}

int filter_clone(const perhaps *f, perhaps **copy) {
    return filter_clone_with(f, f->header.recipe, copy);
}

void filter_free(perhaps *f) {
    if (!f) return;
    perhaps_allocator allocator = f->allocator;
    if (f->children)
        children_free(f);
    else if (f->owned)
        memory_release(&allocator, f->image, filter_image_bytes(f));
    if (f->owned) memory_release(&allocator, f->tail, f->tail_length);
    memory_release(&allocator, f->tallies, TALLIES * sizeof *f->tallies);
    filter_drop_guide(f);
    memory_release(&allocator, (void *)(uintptr_t)f->header.recipe.bytes, f->header.recipe.length);
    bins_free(f->bins);
    file_close(&f->file);
    memory_release(&allocator, f, sizeof *f);
}

int filter_finish(perhaps **made, perhaps *f, int rc) {
    if (rc < 0)
        filter_free(f);
    else
        *made = f;
    return rc;
}

void filter_swap(perhaps *a, perhaps *b) {
    perhaps was = *a;
    *a = *b;
    *b = was;
}

/* ---- growing ---- */

static int check_growth(const perhaps *f, const uint64_t layout[LAYOUT_WORDS], uint64_t *length) {
    const char *reason;
    uint64_t total;
    *length = f->kind->payload_bytes(layout, &reason);
    if (!*length || !image_length(*length, f->header.recipe.length, &total) || total > memory_of_machine())
        return fail(PERHAPS_ENOMEM, "growing would take more memory than this machine has; nothing was added");
    return PERHAPS_OK;
}

/* An empty filter like this one with another layout. */
static int make_like(const perhaps *f, const uint64_t layout[LAYOUT_WORDS], uint64_t capacity, perhaps **made) {
    struct header header = f->header;
    memcpy(header.layout, layout, sizeof header.layout);
    header.capacity = capacity;
    int rc = check_growth(f, layout, &header.length);
    if (rc < 0) return rc;
    return filter_make(made, &f->allocator, &header, &f->hash, &f->isa, false);
}

static int refuse_growth(const perhaps *f) {
    const char *remedy = f->header.flags & HEADER_FIXED ? "it was made not to grow"
                         : f->shared ? "a filter that threads share cannot grow; make one for more items"
                         : !f->owned ? "what is changed in place cannot grow; open a copy"
                                     : "make one for more items, or one that grows";
    return fail(PERHAPS_EFULL, "%s, and nothing was added: %s", f->kind->growable->full, remedy);
}

/* Without copying the array, if it grows at its end and the allocator can. */
static bool extend(perhaps *f, const uint64_t layout[LAYOUT_WORDS], uint64_t capacity) {
    const perhaps_allocator *allocator = &f->allocator;
    uint64_t before = f->array.length, bytes = filter_image_bytes(f), recipe = f->header.recipe.length, length;
    if (!f->kind->growable->extend || !allocator->enlarge || check_growth(f, layout, &length) < 0 || length <= before ||
        image_offset(length, recipe) != image_offset(before, recipe))
        return false;
    uint8_t *image = allocator->enlarge(allocator->context, f->image, (size_t)bytes, (size_t)(bytes + length - before));
    if (!image) return false;
    f->header.capacity = capacity;
    f->header.length = f->array.length = length;
    memcpy(f->header.layout, layout, sizeof f->header.layout);
    memcpy(f->array.layout, layout, sizeof f->array.layout);
    filter_use_image(f, image, f->state);
    f->kind->growable->extend(&f->array, before);
    return true;
}

int filter_grow_to(perhaps *f, const uint64_t layout[LAYOUT_WORDS], uint64_t capacity) {
    perhaps *grown = NULL;
    if (!f->kind->growable || f->header.flags & HEADER_FIXED || f->shared || !f->owned) return refuse_growth(f);
    if (extend(f, layout, capacity)) return PERHAPS_OK;
    int rc = make_like(f, layout, capacity, &grown);
    if (rc < 0) return rc;
    grown->array.near_bytes = f->array.near_bytes;
    if (f->kind->growable->rehash(&grown->array, &f->array)) {
        filter_swap(f, grown);
        filter_free(grown);
        return PERHAPS_OK;
    }
    /* Still too small: try the next size. */
    uint64_t larger[LAYOUT_WORDS];
    bool can = f->kind->growable->grow(&grown->array, 0, larger, &capacity);
    filter_free(grown);
    return can ? filter_grow_to(f, larger, capacity) : refuse_growth(f);
}

int filter_grow(perhaps *f, uint64_t digest) {
    if (f->kind->solver) return f->bins ? bins_flush(f->bins) : fail_sealed();
    if (f->children) return f->kind->composite->ops->make_room(f, digest);
    uint64_t layout[LAYOUT_WORDS], capacity = f->header.capacity;
    if (!f->kind->growable || !f->kind->growable->grow(&f->array, digest, layout, &capacity)) return refuse_growth(f);
    return filter_grow_to(f, layout, capacity);
}

/* ---- folding ---- */

int filter_fold_to(perhaps *f, const uint64_t layout[LAYOUT_WORDS]) {
    perhaps *folded;
    int rc = make_like(f, layout, f->header.capacity, &folded);
    if (rc < 0) return rc;
    folded->guessed = f->guessed;
    folded->header.fpr = 0;
    if (f->guessed) folded->header.capacity = 0; /* both are guessed anew */
    plan_guess(f->kind, layout, &folded->header.capacity, &folded->header.fpr);
    f->kind->shrinkable->rehash(&folded->array, &f->array);
    filter_swap(f, folded);
    filter_free(folded);
    return PERHAPS_OK;
}
