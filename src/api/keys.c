/*
 * Public calls on single keys. Each checks its arguments, hashes the key, and calls the kind.
 *
 *     key bytes ──core/hash.c──▶ digest ──kind/NAME/──▶ bits in one array ──image/──▶ a file
 *
 * Kinds know nothing of keys, files, memory and counting. Batches are in batch.c.
 */
#include "base/error.h"
#include "core/children.h"
#include "static/seal.h"

/* What seldom happens is out of line: the common path has few instructions, and a loop of single
 * calls is as fast as the processor can look ahead. */
static __attribute__((noinline)) int add_growing(perhaps *f, struct digest digest) {
    int rc = filter_grow(f, digest.first);
    return rc < 0 ? rc : filter_add(f, digest);
}

static __attribute__((noinline)) int add_first_change(perhaps *f, struct digest digest) {
    int rc = filter_begin_change(f);
    return rc < 0 ? rc : filter_add(f, digest);
}

static __attribute__((noinline)) int add_tallied(perhaps *f, struct digest digest, int is_new) {
    filter_count_added(f, digest.first, (uint64_t)is_new);
    return is_new;
}

static inline int add_digest(perhaps *f, struct digest digest) {
    if (__builtin_expect(f->state != CHANGEABLE, 0)) return add_first_change(f, digest);
    int is_new = f->ops.add(&f->array, digest);
    if (__builtin_expect(is_new == FULL, 0)) return add_growing(f, digest);
    if (__builtin_expect(f->items_in != ITEMS_IN_HEADER, 0)) return add_tallied(f, digest, is_new);
    f->header.items += (uint64_t)is_new;
    return is_new;
}

static int add_absent_digest(perhaps *f, struct digest digest) {
    int rc = filter_prepare_change(f);
    if (rc < 0) return rc;
    bool copies = filter_can(f) & PERHAPS_COUNT; /* a set never stores a key twice */
    if (copies && f->children && f->kind->composite->ops->add_absent)
        return f->kind->composite->ops->add_absent(f, digest);
    return copies && f->ops.contains(&f->array, digest) ? 0 : add_digest(f, digest);
}

static int remove_digest(perhaps *f, struct digest digest) {
    int rc = f->ops.remove ? filter_prepare_change(f) : filter_cannot(f, "remove keys");
    if (rc < 0) return rc;
    int gone = f->ops.remove(&f->array, digest);
    filter_count_removed(f, digest.first, (uint64_t)gone);
    return gone;
}

static int64_t count_digest(const perhaps *f, struct digest digest) {
    if (!f->ops.count) return filter_cannot(f, "count copies of a key");
    uint64_t count = f->ops.count(&f->array, digest);
    return count < INT64_MAX ? (int64_t)count : INT64_MAX; /* damaged filters may count anything */
}

/* ---- keys of bytes ---- */

static __attribute__((noinline)) int add_other(perhaps *f, const void *key, size_t length) {
    int rc = filter_takes_bytes(f);
    return rc < 0 ? rc : add_digest(f, filter_digest(f, key, length));
}

static __attribute__((noinline)) int contains_other(const perhaps *f, const void *key, size_t length) {
    int rc = filter_takes_bytes(f);
    return rc < 0 ? rc : f->ops.contains(&f->array, filter_digest(f, key, length));
}

/* All kinds that take xxh3 take keys of bytes, and their digests have one word. */
int perhaps_add(perhaps *f, const void *key, size_t length) {
    if (__builtin_expect(f->hash.id != PERHAPS_XXH3, 0)) return add_other(f, key, length);
    return add_digest(f, one_word(hash_bytes_xxh3(&f->hash, key, length)));
}

int perhaps_contains(const perhaps *f, const void *key, size_t length) {
    if (__builtin_expect(f->hash.id != PERHAPS_XXH3, 0)) return contains_other(f, key, length);
    return f->ops.contains(&f->array, one_word(hash_bytes_xxh3(&f->hash, key, length)));
}

int perhaps_add_absent(perhaps *f, const void *key, size_t length) {
    int rc = filter_takes_bytes(f);
    return rc < 0 ? rc : add_absent_digest(f, filter_digest(f, key, length));
}

int perhaps_remove(perhaps *f, const void *key, size_t length) {
    int rc = filter_takes_bytes(f);
    return rc < 0 ? rc : remove_digest(f, filter_digest(f, key, length));
}

int64_t perhaps_count(const perhaps *f, const void *key, size_t length) {
    int rc = filter_takes_bytes(f);
    return rc < 0 ? rc : count_digest(f, filter_digest(f, key, length));
}

/* ---- integers ---- */

static __attribute__((noinline)) int add_u64_other(perhaps *f, uint64_t key) {
    return add_digest(f, filter_digest_u64_other(f, key));
}

int perhaps_add_u64(perhaps *f, uint64_t key) {
    if (__builtin_expect(f->hash.id != PERHAPS_XXH3, 0)) return add_u64_other(f, key);
    return add_digest(f, one_word(hash_u64_xxh3(&f->hash, key)));
}

static __attribute__((noinline)) int contains_u64_other(const perhaps *f, uint64_t key) {
    return f->ops.contains(&f->array, filter_digest_u64_other(f, key));
}

int perhaps_contains_u64(const perhaps *f, uint64_t key) {
    if (__builtin_expect(f->hash.id != PERHAPS_XXH3, 0)) return contains_u64_other(f, key);
    return filter_contains_u64(f, key);
}

int perhaps_add_absent_u64(perhaps *f, uint64_t key) {
    return add_absent_digest(f, filter_digest_u64(f, key));
}

int perhaps_remove_u64(perhaps *f, uint64_t key) {
    return remove_digest(f, filter_digest_u64(f, key));
}

int64_t perhaps_count_u64(const perhaps *f, uint64_t key) {
    return count_digest(f, filter_digest_u64(f, key));
}

/* ---- digests ---- */

int perhaps_add_digest(perhaps *f, uint64_t digest) {
    int rc = filter_takes_digests(f);
    return rc < 0 ? rc : add_digest(f, one_word(digest));
}

int perhaps_contains_digest(const perhaps *f, uint64_t digest) {
    int rc = filter_takes_digests(f);
    return rc < 0 ? rc : f->ops.contains(&f->array, one_word(digest));
}

int perhaps_add_absent_digest(perhaps *f, uint64_t digest) {
    int rc = filter_takes_digests(f);
    return rc < 0 ? rc : add_absent_digest(f, one_word(digest));
}

int perhaps_remove_digest(perhaps *f, uint64_t digest) {
    int rc = filter_takes_digests(f);
    return rc < 0 ? rc : remove_digest(f, one_word(digest));
}

int64_t perhaps_count_digest(const perhaps *f, uint64_t digest) {
    int rc = filter_takes_digests(f);
    return rc < 0 ? rc : count_digest(f, one_word(digest));
}

int perhaps_next(const perhaps *f, uint64_t *at, uint64_t *digest) {
    if (!(filter_can(f) & PERHAPS_LIST)) return filter_cannot(f, "list their members");
    return f->kind->next(&f->array, at, digest);
}

/* ---- static filters and windows ---- */

int perhaps_seal(perhaps *f, const perhaps_seal_options *theirs) {
    perhaps_seal_options options = {.size = sizeof options, .threads = 1};
    int rc = theirs ? take_sized(&options, sizeof options, theirs, "options") : PERHAPS_OK;
    return rc < 0 || !f->bins ? rc : seal_filter(f, &options);
}

int perhaps_advance(perhaps *f, uint64_t now) {
    if (!is_timed(f)) return 0;
    int rc = filter_prepare_change(f);
    return rc < 0 ? rc : f->kind->composite->ops->advance(f, now);
}
