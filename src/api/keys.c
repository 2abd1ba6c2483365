/*
 * Every verb: check the arguments → key to digest → the kind's arithmetic on the array → answer.
 *
 *     key bytes ──hash.c──▶ digest ──kind/NAME.c──▶ bits in one array ──image/──▶ the same bytes in a file
 *
 * Kinds know nothing of keys, files, memory and counting: that is done here; for batches in batch.c, and for the
 * beginning and the end of a filter's life in open.c.
 */
#include "base/error.h"
#include "static/seal.h"
#include "core/filter.h"
#include "plan/plan.h"
#include "perhaps_embed.h"

#include <string.h>

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
        "the image is of a format that this library does not read: a newer one, or an early one",
        "the image is damaged",
        "the hash key is missing or wrong",
        "this kind of filter cannot do that",
        "the two filters do not fit together",
        "the filter was opened for reading only",
        "the file is being changed in place, or was when its writer ended",
        "no layout can do what was wanted",
        "the file is being changed by another process or filter",
        "the filter is full",
        "the filter is sealed",
        "the filter is not sealed yet",
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

const struct perhaps_kind_row *perhaps_file_kind(size_t row) {
    return row < file_kind_count ? &file_kinds[row]->row : NULL;
}

/* ------------------------------------------------------------------------------------------ wants and plans --- */

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

/* ---------------------------------------------------------------------------------------- adding and asking --- */

/* Kept apart from add_digest, which is to stay small: the filter was full. */
static __attribute__((noinline)) int add_growing(perhaps *f, struct digest digest) {
    int rc = filter_grow(f, digest.first);
    return rc < 0 ? rc : filter_add(f, digest);
}

static inline int add_digest(perhaps *f, struct digest digest) {
    int rc = filter_prepare_change(f);
    if (rc < 0) return rc;
    int is_new = f->ops.add(&f->array, digest);
    if (__builtin_expect(is_new == FULL, 0)) return add_growing(f, digest);
    filter_count_added(f, digest.first, (uint64_t)is_new);
    return is_new;
}

static int add_absent_digest(perhaps *f, struct digest digest) {
    int rc = filter_prepare_change(f);
    if (rc < 0) return rc;
    bool copies = filter_can(f) & PERHAPS_COUNT; /* a set does not store a key twice anyway */
    if (copies && f->family && f->kind->combiner->add_absent) return f->kind->combiner->add_absent(f, digest);
    return copies && f->ops.contains(&f->array, digest) ? 0 : add_digest(f, digest);
}

static int remove_digest(perhaps *f, struct digest digest) {
    int rc = f->ops.remove ? filter_prepare_change(f) : filter_cannot(f, "forget single keys");
    if (rc < 0) return rc;
    int gone = f->ops.remove(&f->array, digest);
    filter_count_removed(f, digest.first, (uint64_t)gone);
    return gone;
}

static int64_t count_digest(const perhaps *f, struct digest digest) {
    if (!f->ops.count) return filter_cannot(f, "count copies of a key");
    uint64_t count = f->ops.count(&f->array, digest);
    return count < INT64_MAX ? (int64_t)count : INT64_MAX; /* in a damaged filter it may be anything */
}

/* ---- keys of bytes ---- */

int perhaps_add(perhaps *f, const void *key, size_t length) {
    int rc = filter_takes_bytes(f);
    return rc < 0 ? rc : add_digest(f, filter_digest(f, key, length));
}

int perhaps_contains(const perhaps *f, const void *key, size_t length) {
    int rc = filter_takes_bytes(f);
    return rc < 0 ? rc : f->ops.contains(&f->array, filter_digest(f, key, length));
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

int perhaps_add_u64(perhaps *f, uint64_t key) {
    return add_digest(f, filter_digest_u64(f, key));
}

/* Kept apart, so that the common cases below have no call to save registers for and end in a jump. */
static __attribute__((noinline)) int contains_u64_other(const perhaps *f, uint64_t key) {
    return f->ops.contains(&f->array, filter_digest_u64_other(f, key));
}

int perhaps_contains_u64(const perhaps *f, uint64_t key) {
    if (f->ops.contains_unmixed) return f->ops.contains_unmixed(&f->array, key ^ f->hash.stir);
    if (__builtin_expect(f->hash.id != PERHAPS_XXH3, 0)) return contains_u64_other(f, key);
    return f->ops.contains(&f->array, one_word(hash_u64_xxh3(&f->hash, key)));
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
    if (!(filter_can(f) & PERHAPS_LIST)) return filter_cannot(f, "list what is in them");
    return f->kind->next(&f->array, at, digest);
}

/* -------------------------------------------------------------------------------------------- whole filters --- */

/* The first thing in which two filters differ, or NULL. Layout words in the set `may_differ` are passed over. */
static const char *difference(const perhaps *a, const perhaps *b, unsigned may_differ) {
    if (a->kind != b->kind) return "kind";
    for (int i = 0; i < LAYOUT_WORDS; i++) {
        if (a->header.layout[i] != b->header.layout[i] && !(may_differ >> i & 1)) return a->kind->layout_names[i];
    }
    if (a->header.hash != b->header.hash) return "hash";
    if (a->header.seed != b->header.seed) return a->header.hash == PERHAPS_SIPHASH ? "hash key" : "seed";
    bool of_integers = a->header.hash == PERHAPS_IDENTITY; /* which are the same however they are written */
    if (!of_integers && !recipe_same_keys(a->header.recipe, b->header.recipe)) return "transformation of keys";
    return NULL;
}

/* The copy takes the filter's place; where that is borrowed bytes, only their content does. */
static void replace(perhaps *f, perhaps *copy) {
    if (f->owned)
        filter_swap(f, copy);
    else
        memcpy(f->array.bytes, copy->array.bytes, (size_t)f->array.length);
}

/* Combines in a copy of that layout, which then takes the filter's place: 1. If it has not room for all, it tells, by
 * growing, which layout to try next: 0. */
static int combine_in_copy(perhaps *into, const perhaps *from, enum combination what, uint64_t layout[LAYOUT_WORDS],
                           uint64_t *capacity) {
    perhaps *copy;
    int rc = perhaps_clone(into, &copy);
    if (rc == PERHAPS_OK && memcmp(layout, into->header.layout, sizeof into->header.layout) != 0)
        rc = filter_grow_to(copy, layout, *capacity);
    bool done = rc == PERHAPS_OK && into->kind->combine[what](&copy->array, &from->array);
    if (done)
        replace(into, copy);
    else if (rc == PERHAPS_OK)
        rc = filter_grow(into->owned ? copy : into, 0);
    if (rc == PERHAPS_OK && !done) {
        memcpy(layout, copy->header.layout, sizeof copy->header.layout);
        *capacity = copy->header.capacity;
    }
    perhaps_free(copy);
    return rc < 0 ? rc : done;
}

/* For kinds that put the keys of one into the other, and may find no room half-way. */
static int combine_copy(perhaps *into, const perhaps *from, enum combination what) {
    uint64_t layout[LAYOUT_WORDS], capacity = into->header.capacity;
    memcpy(layout, into->header.layout, sizeof layout);
    int rc;
    do rc = combine_in_copy(into, from, what, layout, &capacity);
    while (rc == 0);
    return rc < 0 ? rc : PERHAPS_OK;
}

static int combine_in_place(perhaps *into, const perhaps *from, enum combination what) {
    int rc = PERHAPS_OK;
    while (rc == PERHAPS_OK && !into->kind->combine[what](&into->array, &from->array))
        rc = filter_grow_to(into, from->header.layout, from->header.capacity);
    return rc;
}

static int combine(perhaps *into, const perhaps *from, enum combination what);

/* Shard by shard, in a copy, so that a failure half-way leaves everything as it was. */
static int combine_families(perhaps *into, const perhaps *from, enum combination what) {
    perhaps *copy;
    int rc = perhaps_clone(into, &copy);
    for (unsigned i = 0; rc == PERHAPS_OK && i < copy->family->count; i++)
        rc = combine(copy->family->child[i].filter, from->family->child[i].filter, what);
    if (rc == PERHAPS_OK) filter_swap(into, copy);
    perhaps_free(copy);
    return rc;
}

static double distinct_in(const perhaps *f) {
    struct sight sight;
    plan_look(f->kind, &f->array, &sight);
    return filter_distinct(f, &sight);
}

/* Bits that both have may be those of different keys, and say too many; so what is common is estimated beforehand. */
static int intersect_arrays(perhaps *into, const perhaps *from) {
    uint64_t common = plan_common(into->kind, &into->array, distinct_in(into), &from->array, distinct_in(from));
    int rc = combine_in_place(into, from, COMBINE_INTERSECT);
    if (rc < 0) return rc;
    filter_set_items(into, common);
    into->header.flags |= HEADER_INTERSECTED;
    return PERHAPS_OK;
}

static int combine_arrays(perhaps *into, const perhaps *from, enum combination what) {
    uint64_t items = filter_items(into) + filter_items(from);
    if (what == COMBINE_INTERSECT && into->kind->model->either) return intersect_arrays(into, from);
    int rc = into->kind->reinserts ? combine_copy(into, from, what) : combine_in_place(into, from, what);
    if (rc < 0) return rc;
    filter_count_items(into);
    if (into->kind->row.can & PERHAPS_COUNT) into->header.items = items;
    return PERHAPS_OK;
}

static int combine(perhaps *into, const perhaps *from, enum combination what) {
    static const char *const verbs[COMBINATIONS] = {"be merged", "be intersected", "be subtracted from each other",
                                                    "give their symmetric difference"};
    static const unsigned abilities[COMBINATIONS] = {PERHAPS_MERGE, PERHAPS_INTERSECT, PERHAPS_SUBTRACT,
                                                     PERHAPS_SUBTRACT};
    if (!(filter_can(into) & abilities[what])) return filter_cannot(into, verbs[what]);
    const char *differs = difference(into, from, into->kind->differing);
    if (differs)
        return fail(PERHAPS_EMISMATCH, "the two filters cannot %s: they differ in %s; make both with the same want",
                    verbs[what], differs);
    int rc = filter_prepare_change(into);
    if (rc < 0) return rc;
    if (into->family && into->kind->combiner->merge) return into->kind->combiner->merge(into, from);
    return into->family ? combine_families(into, from, what) : combine_arrays(into, from, what);
}

int perhaps_merge(perhaps *into, const perhaps *from) {
    return combine(into, from, COMBINE_MERGE);
}

int perhaps_intersect(perhaps *into, const perhaps *from) {
    return combine(into, from, COMBINE_INTERSECT);
}

int perhaps_subtract(perhaps *into, const perhaps *from) {
    return combine(into, from, COMBINE_SUBTRACT);
}

int perhaps_differ(perhaps *into, const perhaps *from) {
    return combine(into, from, COMBINE_DIFFER);
}

/* Without memory for a smaller array the larger one does, as does one that is not our own. */
int perhaps_compact(perhaps *f) {
    uint64_t layout[LAYOUT_WORDS], capacity;
    int rc = f->kind->compact ? filter_prepare_change(f) : PERHAPS_OK;
    if (rc < 0 || !f->kind->compact) return rc;
    f->kind->compact(&f->array, layout, &capacity);
    if (memcmp(layout, f->header.layout, sizeof layout) != 0) filter_grow_to(f, layout, capacity);
    return PERHAPS_OK;
}

int perhaps_fold(perhaps *f, uint64_t bytes) {
    uint64_t layout[LAYOUT_WORDS];
    int rc = f->kind->fold ? filter_prepare_change(f) : filter_cannot(f, "be folded to a smaller size"), halvings = 0;
    if (rc < 0) return rc;
    memcpy(layout, f->header.layout, sizeof layout);
    if (!f->kind->fold(layout, bytes))
        return fail(PERHAPS_ERANGE, "the filter's %llu bytes cannot be halved to %llu or fewer",
                    (unsigned long long)f->array.length, (unsigned long long)bytes);
    for (uint64_t length = f->array.length; length > bytes; length /= 2) halvings++;
    if (halvings && !f->owned) return fail(PERHAPS_ECANNOT, "what is changed in place keeps its size; open a copy");
    if (halvings) rc = filter_fold_to(f, layout);
    return rc < 0 ? rc : halvings;
}

int perhaps_clear(perhaps *f) {
    if (f->kind->solver) return f->state == READ_ONLY ? filter_read_only(f) : seal_restart(f);
    int rc = filter_prepare_change(f);
    if (rc == PERHAPS_OK) filter_clear(f);
    return rc;
}

static bool equal_children(const struct family *a, const struct family *b) {
    bool equal = a->count == b->count;
    for (unsigned i = 0; equal && i < a->count; i++)
        equal = a->child[i].since == b->child[i].since && perhaps_equal(a->child[i].filter, b->child[i].filter);
    return equal;
}

int perhaps_equal(const perhaps *a, const perhaps *b) {
    if (a->bins || b->bins) return 0;
    if (difference(a, b, a->family ? 1 << CHILDREN : 0)) return 0;
    if (a->family) return equal_children(a->family, b->family);
    return memcmp(a->array.bytes, b->array.bytes, (size_t)a->array.length) == 0;
}
