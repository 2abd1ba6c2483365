/* Looking in: perhaps_info and perhaps_child, and both without counting bits. */
#include "base/error.h"
#include "core/children.h"
#include "api/foreign_file.h"
#include "plan/plan.h"
#include "perhaps_embed.h"

/* The children's sights become one. A stranger is asked for in all of them, where their rates add up, or in one. */
static void add_sight(struct measures *all, const struct measures *one, bool key_in_one_child, double share,
                      double weight) {
    all->distinct += one->distinct;
    all->fill += one->fill * weight;
    all->fpr += key_in_one_child ? one->fpr * share : one->fpr - all->fpr * one->fpr;
    all->stuck += one->stuck;
    all->stashed += one->stashed;
}

/* The filter with an array that is asked first. */
static const perhaps *leaf_of(const perhaps *f) {
    while (f->children) f = f->children->child[f->children->count - 1].filter;
    return f;
}

static void look(const perhaps *f, struct measures *sight) {
    if (f->bins) return; /* there is nothing to see yet */
    if (!f->children) {
        plan_measure(f->kind, &f->array, sight);
        sight->distinct = filter_distinct(f, sight);
        return;
    }
    *sight = (struct measures){0};
    double share = 1.0 / f->children->count, bytes = (double)filter_bytes(f);
    for (unsigned i = 0; i < f->children->count; i++) {
        const perhaps *child = f->children->child[i].filter;
        struct measures one;
        look(child, &one);
        add_sight(sight, &one, f->kind->composite->key_in_one_child, share, (double)filter_bytes(child) / bytes);
    }
    if (sight->fill > 1) sight->fill = 1; /* sums of shares may round to a little more than all */
    if (sight->fpr > 1) sight->fpr = 1;
    sight->loss = plan_loss(leaf_of(f)->kind, sight->distinct); /* keys of different children share digests too */
}

static int growth_of(const perhaps *f) {
    return leaf_of(f)->header.flags & HEADER_FIXED ? PERHAPS_GROW_NEVER : PERHAPS_GROW_DEFAULT;
}

static unsigned lines_of(const perhaps *f) {
    if (!f->children) return f->kind->model->cache_lines(f->header.layout);
    unsigned lines = 0;
    for (unsigned i = 0; i < f->children->count; i++) {
        unsigned here = lines_of(f->children->child[i].filter);
        lines = !f->kind->composite->key_in_one_child ? lines + here : here > lines ? here : lines;
    }
    return lines;
}

/* What a kind says of its keys. */
static unsigned traits_of_keys(const struct kind *kind) {
    return (kind->hashing.hash == PERHAPS_IDENTITY ? 0 : PERHAPS_TAKES_BYTES) |
           (kind->hashing.words == 1 ? PERHAPS_TAKES_DIGESTS : 0) | (kind->model->exact ? PERHAPS_EXACT : 0) |
           (kind->solver ? PERHAPS_STATIC : 0);
}

/* Static kinds collect keys with a lock for each bin. */
static unsigned traits_of_adds(const struct kind *kind, unsigned can) {
    bool parallel = kind->solver || kind_takes_threads(kind);
    return (can & PERHAPS_COUNT ? PERHAPS_MULTISET : 0) | (parallel ? PERHAPS_PARALLEL : 0);
}

unsigned perhaps_kind_traits(int kind) {
    const struct kind *found = kind_find(kind);
    return found && found->model ? traits_of_keys(found) | traits_of_adds(found, found->row.can) : 0;
}

/* `seen` is what the bits say, or zeros. */
static void describe(const perhaps *f, const struct measures *seen, struct perhaps_info *info) {
    *info = (struct perhaps_info){
        .kind = f->kind->row.kind,
        .kind_name = f->kind->row.name,
        .can = filter_can(f),
        .traits = traits_of_keys(leaf_of(f)->kind) | traits_of_adds(f->kind, filter_can(f)),
        .capacity = filter_capacity(f),
        .items = filter_items(f),
        .distinct = seen->distinct,
        .fill = seen->fill,
        .fpr_target = f->header.fpr,
        .fpr_now = seen->fpr,
        .loss = seen->loss < 1 ? seen->loss : 1,
        .stuck = seen->stuck,
        .stashed = seen->stashed,
        .bytes = filter_bytes(f),
        .image_bytes = f->kind->format ? format_bytes(f) : filter_image_bytes(f),
        .hashes = leaf_of(f)->kind->model->hashes(leaf_of(f)->header.layout),
        .lines = lines_of(f),
        .hash = f->header.hash,
        .hash_name = hash_name(f->header.hash),
        .seed = f->header.seed,
        .format_version = FORMAT_VERSION,
        .isa = isa_name(f->isa),
        .read_only = f->state == READ_ONLY,
        .grow = growth_of(f),
        .shared = f->shared,
        .collecting = f->bins != NULL,
        .guessed = f->guessed,
    };
    info->bits_per_key = 8 * (double)info->bytes / (double)info->capacity;
    if (!f->children) return;
    info->base = (int)f->header.layout[BASE];
    info->children = f->children->count;
    f->kind->composite->ops->describe(f, info);
}

static int tell(const perhaps *f, bool count_bits, uint64_t since, struct perhaps_info *theirs) {
    struct perhaps_info info;
    struct measures seen = {0};
    if (count_bits) look(f, &seen);
    describe(f, &seen, &info);
    info.since = since;
    return give_sized(theirs, &info, sizeof info, "info");
}

static int tell_of_child(const perhaps *f, unsigned i, bool count_bits, struct perhaps_info *theirs) {
    if (!f->children || i >= f->children->count)
        return fail(PERHAPS_EINVAL, "the filter has no child %u; perhaps_info says how many it has", i);
    const struct child *child = &f->children->child[i];
    return tell(child->filter, count_bits, child->since == NEVER ? 0 : child->since, theirs);
}

int perhaps_info(const perhaps *f, struct perhaps_info *info) {
    return tell(f, true, 0, info);
}

int perhaps_child(const perhaps *f, unsigned i, struct perhaps_info *info) {
    return tell_of_child(f, i, true, info);
}

int perhaps_facts(const perhaps *f, struct perhaps_info *info) {
    return tell(f, false, 0, info);
}

int perhaps_child_facts(const perhaps *f, unsigned i, struct perhaps_info *info) {
    return tell_of_child(f, i, false, info);
}

int perhaps_recipe_of(const perhaps *f, perhaps_recipe *theirs) {
    perhaps_recipe recipe;
    recipe_decode(f->header.recipe, &recipe);
    return give_sized(theirs, &recipe, sizeof recipe, "recipe");
}
