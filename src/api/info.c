/* perhaps_info and perhaps_child; perhaps_facts and perhaps_child_facts, which do not count
 * bits. */
#include "base/error.h"
#include "core/children.h"
#include "api/foreign_file.h"
#include "plan/plan.h"
#include "perhaps_embed.h"

/* Adds a child's measures. A query for a non-member looks in one child, or in all of them: there
 * the false-positive rates add up. */
static void add_measures(struct measures *all, const struct measures *one, bool key_in_one_child, double share,
                         double weight) {
    all->distinct += one->distinct;
    all->fill += one->fill * weight;
    all->fpr += key_in_one_child ? one->fpr * share : one->fpr - all->fpr * one->fpr;
    all->stuck += one->stuck;
    all->stashed += one->stashed;
}

/* The filter with an array that a query looks in first. A window as of a time may have none. */
static const perhaps *leaf_of(const perhaps *f) {
    while (f->children) f = f->children->child[f->children->count ? f->children->count - 1 : 0].filter;
    return f;
}

static void measure(const perhaps *f, struct measures *measures) {
    if (f->bins) return; /* no array yet */
    if (!f->children) {
        plan_measure(f->kind, &f->array, measures);
        measures->distinct = filter_distinct(f, measures);
        return;
    }
    *measures = (struct measures){0};
    double share = 1.0 / f->children->count, bytes = (double)filter_bytes(f);
    for (unsigned i = 0; i < f->children->count; i++) {
        const perhaps *child = f->children->child[i].filter;
        struct measures one;
        measure(child, &one);
        add_measures(measures, &one, f->kind->composite->key_in_one_child, share, (double)filter_bytes(child) / bytes);
    }
    if (measures->fill > 1) measures->fill = 1; /* rounding */
    const struct kind *leaf = leaf_of(f)->kind;
    /* A non-member may share its digest with any of the keys, and all of those are in its shard. */
    if (f->kind->composite->key_in_one_child)
        measures->fpr += plan_kind_digest_fpr(leaf, measures->distinct * (1 - share));
    if (measures->fpr > 1) measures->fpr = 1;
    /* Keys of different children may share a digest too. */
    measures->loss = plan_loss(leaf, measures->distinct);
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

/* `measures` are zero if bits are not counted. */
static void describe(const perhaps *f, const struct measures *measures, struct perhaps_info *info) {
    *info = (struct perhaps_info){
        .kind = f->kind->row.kind,
        .kind_name = f->kind->row.name,
        .can = filter_can(f),
        .traits = plan_traits(f->kind, leaf_of(f)->kind, filter_can(f)),
        .capacity = filter_capacity(f),
        .items = filter_items(f),
        .distinct = measures->distinct,
        .fill = measures->fill,
        .fpr_target = f->header.fpr,
        .fpr_now = measures->fpr,
        .loss = measures->loss < 1 ? measures->loss : 1,
        .stuck = measures->stuck,
        .stashed = measures->stashed,
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
        .grow = leaf_of(f)->header.flags & HEADER_FIXED ? PERHAPS_GROW_NEVER : PERHAPS_GROW_DEFAULT,
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

static int give_info(const perhaps *f, bool count_bits, uint64_t since, struct perhaps_info *theirs) {
    struct perhaps_info info;
    struct measures measures = {0};
    if (count_bits) measure(f, &measures);
    describe(f, &measures, &info);
    info.since = since;
    return give_sized(theirs, &info, sizeof info, "info");
}

static int give_child_info(const perhaps *f, unsigned i, bool count_bits, struct perhaps_info *theirs) {
    if (!f->children || i >= f->children->count)
        return fail(PERHAPS_EINVAL, "the filter has no child %u; perhaps_info says how many it has", i);
    const struct child *child = &f->children->child[i];
    return give_info(child->filter, count_bits, child->since == NEVER ? 0 : child->since, theirs);
}

int perhaps_info(const perhaps *f, struct perhaps_info *info) {
    return give_info(f, true, 0, info);
}

int perhaps_child(const perhaps *f, unsigned i, struct perhaps_info *info) {
    return give_child_info(f, i, true, info);
}

int perhaps_facts(const perhaps *f, struct perhaps_info *info) {
    return give_info(f, false, 0, info);
}

int perhaps_child_facts(const perhaps *f, unsigned i, struct perhaps_info *info) {
    return give_child_info(f, i, false, info);
}
