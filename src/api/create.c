/* Public calls that make, copy, empty and free a filter. */
#include "base/error.h"
#include "core/children.h"
#include "plan/plan.h"
#include "static/seal.h"

#include <string.h>

static int choose_hash(const perhaps_want *want, const struct kind *kind, struct hash *hash) {
    int id = want->hash == PERHAPS_HASH_DEFAULT ? kind->hashing.hash : want->hash;
    if (hash_name(id) && !kind_takes_hash(kind, id))
        return fail(PERHAPS_EINVAL, "%s filters do not take the hash %s", kind->row.name, hash_name(id));
    if (!hash_name(id)) return fail(PERHAPS_EINVAL, "there is no hash with number %d", id);
    if (id == PERHAPS_SIPHASH) {
        if (!want->hash_key) return fail(PERHAPS_EINVAL, "siphash needs a hash_key of 16 bytes");
        if (want->seed) return fail(PERHAPS_EINVAL, "siphash takes a hash_key, not a seed");
        *hash = hash_siphash(want->hash_key);
        return PERHAPS_OK;
    }
    if (want->hash_key || want->key_in_file) return fail(PERHAPS_EINVAL, "a hash key goes with siphash only");
    if (kind->hashing.own && want->seed)
        return fail(PERHAPS_EINVAL, "the keys of %s filters are hashed in one way only: it takes no seed",
                    kind->row.name);
    *hash = hash_unkeyed(id, kind->hashing.own ? kind->hashing.seed : want->seed);
    return PERHAPS_OK;
}

/* ---- composite filters ---- */

static int make_level(perhaps **made, const struct plan *plan, unsigned i, const struct header *common,
                      const perhaps_want *want, const struct hash *hash);

static int make_children(perhaps *f, const struct plan *plan, unsigned level, const struct header *common,
                         const perhaps_want *want, const struct hash *hash) {
    int rc = PERHAPS_OK;
    for (uint64_t i = 0; rc == PERHAPS_OK && i < f->header.layout[CHILDREN]; i++) {
        rc = make_level(&f->children->child[i].filter, plan, level, common, want, hash);
        f->children->child[i].since = is_timed(f) ? NEVER : 0;
        f->children->count += rc == PERHAPS_OK;
    }
    if (rc == PERHAPS_OK) children_settle(f);
    return rc;
}

/* Level i of a plan, with its children. `common` has what all levels share. */
static int make_level(perhaps **made, const struct plan *plan, unsigned i, const struct header *common,
                      const perhaps_want *want, const struct hash *hash) {
    const struct level *level = &plan->level[i];
    struct header header = *common;
    header.kind = level->kind->row.kind;
    if (i > 0) header.recipe = (struct recipe){NULL, 0}; /* only the outermost filter has it */
    header.flags |= want->grow == PERHAPS_GROW_NEVER && level->kind->growable ? HEADER_FIXED : 0;
    header.capacity = level->capacity;
    header.fpr = level->fpr;
    header.length = level->length;
    memcpy(header.layout, level->layout, sizeof header.layout);
    /* Children behind locks need no atomic operations. */
    bool shared = want->shared && (i == 0 || (i == 1 && level->kind->lock_free));
    perhaps *f;
    int rc = filter_make(&f, want->allocator, &header, hash, NULL, shared);
    if (rc < 0) return rc;
    if (f->children) rc = make_children(f, plan, i + 1, common, want, hash);
    if (f->kind->solver) rc = seal_collect(f, want->max_scratch, want->scratch_dir);
    return filter_finish(made, f, rc);
}

int perhaps_create(perhaps **f, const perhaps_want *theirs) {
    perhaps_want want;
    struct plan plan;
    struct hash hash;
    struct recipe recipe;
    uint8_t room[RECIPE_MAX];
    *f = NULL;
    int rc = take_sized(&want, sizeof want, theirs, "want");
    if (rc == PERHAPS_OK) rc = plan_make(&want, &plan);
    if (rc == PERHAPS_OK) rc = choose_hash(&want, plan.level[plan.levels - 1].kind, &hash);
    if (rc == PERHAPS_OK) rc = recipe_encode(want.recipe, room, &recipe);
    if (rc < 0) return rc;
    struct header common = {
        .hash = hash.id, .recipe = recipe, .flags = want.key_in_file ? HEADER_KEY_IN_FILE : 0, .seed = hash.seed};
    filter_keep_key(&common, &hash);
    return make_level(f, &plan, 0, &common, &want, &hash);
}

int perhaps_clone(const perhaps *f, perhaps **copy) {
    return filter_clone(f, copy);
}

int perhaps_clear(perhaps *f) {
    if (f->kind->solver) return f->state == READ_ONLY ? filter_read_only(f) : seal_restart(f);
    int rc = filter_prepare_change(f);
    if (rc == PERHAPS_OK) filter_clear(f);
    return rc;
}

void perhaps_free(perhaps *f) {
    filter_free(f);
}
