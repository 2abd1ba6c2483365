/*
 * Growing filters (Almeida, Baquero, Preguiça, Hutchison, "Scalable Bloom filters", 2007,
 * generalised).
 *
 * Idea: a layer is made for a number of keys. When it has them, a larger layer is appended, which
 * takes the next keys. A query looks in all layers, from the newest to the oldest. The sum of their
 * false-positive rates stays below the planned one, however many there will be: see plan/layers.c.
 *
 *     newest   ┌───────────────────────────────┐
 *              │ ░░░░░░░░░░░                   │   keys go here
 *              └───────────────────────────────┘
 *              ┌───────────────┐
 *              │ ░░░░░░░░░░░░░ │                   full
 *              └───────────────┘
 *     oldest   ┌───────┐
 *              │ ░░░░░ │                           full
 *              └───────┘
 *
 * Over sets (bloom, blocked), a key that an older layer perhaps has is not stored again. Over
 * multisets (cuckoo, counting) every copy is stored, in the newest layer, and a count is the sum.
 *
 * A remove takes a copy from the newest layer that has the key. That copy may be another key's,
 * with the same fingerprint there. The removed key's copy then stays in an older layer, and must
 * match the other key there too, or that key is lost. So cuckoo layers nest: keys that match in a
 * newer layer match in all older ones (kind/cuckoo/cuckoo_layout.h). Counters cannot promise that,
 * so there is no remove over counting.
 *
 * Example: from 1,000 keys at 1 %, a hundred million take twelve layers: 1,000, 3,000, 12,000,
 * 112,000, 896,000, ... 65.5 million.
 *
 * Layout: kind of the layers, their number, growth in 256ths (0 = the library's rule), most bytes
 * (0 = no limit), siblings (if it is a shard: the number of shards).
 *
 * Invariants
 *   I1  only the newest layer is added to. A layer is appended when the newest has as many keys as
 *       it was made for, or when it is a kind that can be full and is.
 *   I2  two neighbouring layers are `nested`, where the kind's model has that.
 *   I3  over a set, a key is added only if no layer has it: layers have no keys in common, unless
 *       they come from a merge.
 *   I4  a batch that fails changes nothing: over a multiset it is undone, and layers that it
 *       appended become spare again; over a set, room was reserved for it.
 */
#include "base/arith.h"
#include "base/memory.h"
#include "base/error.h"
#include "composite/composite.h"
#include "plan/plan.h"
#include "composite/composite_trace.h"

#include <string.h>

enum { GROWTH_MIN = 384, GROWTH_MOST = 4096 };

bool layers_have_rule(const struct kind *base) {
    return base->model && base->model->layering && base->model->layering->next_layer;
}

static bool is_multiset(const perhaps *f) {
    return newest_of(f)->kind->row.can & PERHAPS_COUNT;
}

static uint64_t room_in(const perhaps *layer) {
    uint64_t items = filter_items(layer);
    return items < layer->header.capacity ? layer->header.capacity - items : 0;
}

bool layers_fit(const perhaps *f, uint64_t more) {
    if (!layers_have_rule(newest_of(f)->kind)) return true;
    for (unsigned i = 0; i < f->children->count + f->children->spare; i++) {
        const perhaps *layer = f->children->child[i].filter;
        uint64_t items = filter_items(layer), capacity = layer->header.capacity;
        if (!add_fits(more, items > capacity ? items : capacity, &more)) return false;
    }
    return more <= INT64_MAX;
}

/* ---- the next layer ---- */

static int plan_layer(const perhaps *f, struct level *level) {
    const struct children *children = f->children;
    const perhaps *newest = children->child[children->count + children->spare - 1].filter;
    struct layers layers = {.base = newest->kind,
                            .fpr = f->header.fpr,
                            .rest = f->header.fpr - children->child[0].filter->header.fpr,
                            .growth = f->header.layout[GROWTH],
                            .siblings = f->header.layout[SIBLINGS],
                            .first = children->child[0].filter->header.capacity,
                            .newest = newest->header.capacity,
                            .newest_fpr = newest->header.fpr,
                            .layout = newest->header.layout};
    for (unsigned i = 0; i < children->count + children->spare; i++)
        layers.total += children->child[i].filter->header.capacity;
    return plan_next_layer(&layers, level);
}

static int check_size(const perhaps *f, const struct level *level) {
    uint64_t bytes = level->length, most = f->header.layout[MAX_BYTES], total;
    unsigned layers = f->children->count + f->children->spare;
    for (unsigned i = 0; i < layers; i++) bytes += f->children->child[i].filter->array.length;
    if (layers >= LAYERS_MAX || !layers_fit(f, level->capacity))
        return fail(PERHAPS_ERANGE, "no further layer is possible: there are %u already; nothing was added", layers);
    if (most && bytes > most)
        return fail(PERHAPS_EFULL,
                    "the next layer would make it %llu bytes large, and %smax_bytes is %llu; nothing was added",
                    (unsigned long long)bytes, layers_part(f), (unsigned long long)most);
    if (!image_length(level->length, 0, &total) || total > memory_of_machine())
        return fail(PERHAPS_ENOMEM, "the next layer would take more memory than this machine has; nothing was added");
    return PERHAPS_OK;
}

int layers_make(const perhaps *f, const struct header *like, perhaps **made) {
    struct header header = newest_of(f)->header;
    header.items = 0;
    header.flags = (header.flags & (unsigned)~HEADER_INTERSECTED) | (like->flags & HEADER_INTERSECTED);
    header.capacity = like->capacity;
    header.fpr = like->fpr;
    header.length = like->length;
    memcpy(header.layout, like->layout, sizeof header.layout);
    return filter_make(made, &f->allocator, &header, &f->hash, &f->isa, false);
}

static int make_spare(perhaps *f) {
    struct level level;
    int rc = plan_layer(f, &level);
    if (rc == PERHAPS_OK) rc = check_size(f, &level);
    if (rc == PERHAPS_OK) rc = children_reserve(f);
    if (rc < 0) return rc;
    struct header like = {.capacity = level.capacity, .fpr = level.fpr, .length = level.length};
    memcpy(like.layout, level.layout, sizeof like.layout);
    rc = layers_make(f, &like, &f->children->child[f->children->count + f->children->spare].filter);
    f->children->spare += rc == PERHAPS_OK;
    return rc;
}

static int append_layer(perhaps *f) {
    int rc = f->children->spare ? PERHAPS_OK : make_spare(f);
    if (rc < 0) return rc;
    f->children->spare--;
    f->children->count++;
    f->children->touched = 0;
    return PERHAPS_OK;
}

/* The next layer is made when a 32nd of the newest one is left, if that is large. From then on each
 * call touches the share of its pages that is due, but at most TOUCHED_MOST bytes, so that no call
 * takes long. A page is mapped when it is first written: of a large layer nearly every key would
 * write one at first. */
enum { PREPARED_FROM = 1 << 18, PREPARED_SHARE = 32, TOUCHED_MOST = 256 * MEMORY_PAGE };

static void touch_spare(perhaps *f, uint64_t added, uint64_t room) {
    struct children *children = f->children;
    perhaps *spare = children->child[children->count].filter;
    uint64_t size = filter_image_bytes(spare), left = size - children->touched, due = left;
    if (added < room) due = (uint64_t)((double)left * (double)added / (double)(added + room)) + MEMORY_PAGE;
    if (due > TOUCHED_MOST) due = TOUCHED_MOST;
    if (due > left) due = left;
    volatile uint8_t *bytes = spare->image;
    for (uint64_t end = children->touched + due; children->touched < end; children->touched += MEMORY_PAGE) {
        const uint8_t same = bytes[children->touched];
        bytes[children->touched] = same;
    }
    if (children->touched > size) children->touched = size;
}

bool layers_prepare(perhaps *f, uint64_t added) {
    const perhaps *newest = newest_of(f);
    uint64_t room = room_in(newest);
    if (newest->array.length < PREPARED_FROM || room > newest->header.capacity / PREPARED_SHARE) return false;
    if (f->children->spare) touch_spare(f, added, room);
    return !f->children->spare && f->children->touched != NEVER;
}

int layers_make_spare(perhaps *f) {
    int rc = f->children->spare ? PERHAPS_OK : make_spare(f);
    if (rc < 0) f->children->touched = NEVER;
    return rc;
}

/* The newest layer is full. With fewer keys than it was made for, a larger stash may do. */
static int make_room(perhaps *f, uint64_t digest) {
    perhaps *newest = newest_of(f);
    int rc = room_in(newest) ? filter_grow(newest, digest) : PERHAPS_EFULL;
    return rc == PERHAPS_EFULL ? append_layer(f) : rc;
}

/* ---- one key ---- */

static int add_copy(struct array *array, struct digest digest) {
    perhaps *newest = newest_of(filter_of(array));
    if (!room_in(newest)) return FULL;
    int is_new = newest->ops.add(&newest->array, digest);
    if (is_new > 0) filter_count_added(newest, digest.first, 1);
    return is_new;
}

static int add_to_set(struct array *array, struct digest digest) {
    return composite_contains(array, digest) ? 0 : add_copy(array, digest);
}

static int remove_copy(struct array *array, struct digest digest) {
    const struct children *children = filter_of(array)->children;
    for (unsigned i = children->count; i-- > 0;) {
        perhaps *layer = children->child[i].filter;
        if (!layer->ops.remove(&layer->array, digest)) continue;
        filter_count_removed(layer, digest.first, 1);
        return 1;
    }
    return 0;
}

static uint64_t count(const struct array *array, struct digest digest) {
    const struct children *children = filter_of_const(array)->children;
    uint64_t sum = 0;
    for (unsigned i = 0; i < children->count; i++) {
        const perhaps *layer = children->child[i].filter;
        uint64_t here = layer->ops.count(&layer->array, digest);
        sum = here < UINT64_MAX - sum ? sum + here : UINT64_MAX; /* damaged layers count anything */
    }
    return sum;
}

/* ---- batches ---- */

/* A subset of at most CHILD_BLOCK keys, in order, with their indices. */
struct some_keys {
    size_t n;
    uint64_t digests[CHILD_BLOCK];
    uint16_t at[CHILD_BLOCK];
};

/* Drops the keys before `from`, and those after it whose answer is 1. */
static void keep_unanswered(struct some_keys *keys, size_t from, const uint8_t *answers) {
    size_t kept = 0;
    for (size_t i = from; i < keys->n; i++) {
        keys->digests[kept] = keys->digests[i];
        keys->at[kept] = keys->at[i];
        kept += !answers[i - from];
    }
    keys->n = kept;
}

/* Adds keys that no older layer has to the newest, at most as many as it has room for. Once it is
 * full, it is an older layer for the rest. */
static int add_unknown(perhaps *f, struct some_keys *keys, uint8_t *answers) {
    uint8_t found[CHILD_BLOCK];
    while (keys->n) {
        perhaps *newest = newest_of(f);
        uint64_t room = room_in(newest);
        size_t some = room < keys->n ? (size_t)room : keys->n;
        struct added added;
        int rc = filter_add_many(newest, keys->digests, some, found, (const char *)keys->digests, &added);
        if (rc < 0) return rc;
        for (size_t i = 0; i < some; i++) answers[keys->at[i]] = found[i];
        size_t rest = keys->n - some;
        memset(found, 0, rest);
        if (!room) newest->ops.contains_many(&newest->array, keys->digests, rest, found, (const char *)keys->digests);
        keep_unanswered(keys, some, found);
        if (!room && keys->n) rc = append_layer(f);
        if (rc < 0) return rc;
    }
    return PERHAPS_OK;
}

static int add_block_to_set(perhaps *f, const uint64_t *digests, size_t n, uint8_t *answers) {
    struct some_keys keys = {.n = n};
    uint8_t known[CHILD_BLOCK];
    memcpy(keys.digests, digests, n * sizeof *digests);
    for (size_t i = 0; i < n; i++) keys.at[i] = (uint16_t)i;
    any_child_has_many(f, f->children->count - 1, digests, n, known);
    memset(answers, 0, n);
    keep_unanswered(&keys, 0, known);
    return add_unknown(f, &keys, answers);
}

static int add_to_sets(perhaps *f, const uint64_t *digests, size_t n, uint8_t *answers) {
    int rc = PERHAPS_OK;
    for (size_t from = 0; rc == PERHAPS_OK && from < n; from += CHILD_BLOCK) {
        size_t some = n - from < CHILD_BLOCK ? n - from : CHILD_BLOCK;
        rc = add_block_to_set(f, digests + from, some, answers + from);
    }
    return rc;
}

static int add_copies(perhaps *f, const uint64_t *digests, size_t n, uint8_t *answers) {
    struct children *children = f->children;
    unsigned layers = children->count;
    size_t all = 0;
    int rc = PERHAPS_OK;
    while (rc == PERHAPS_OK && all < n) {
        perhaps *newest = newest_of(f);
        uint64_t room = room_in(newest);
        size_t some = room < n - all ? (size_t)room : n - all;
        struct added added;
        rc = filter_add_many(newest, digests + all, some, answers + all, (const char *)(digests + all), &added);
        all += added.done;
        if (rc == PERHAPS_EFULL || (rc == PERHAPS_OK && all < n)) rc = append_layer(f);
    }
    if (rc == PERHAPS_OK) return rc;
    filter_undo(f, digests, all, answers);
    for (; children->count > layers && filter_items(newest_of(f)) == 0; children->count--) children->spare++;
    return rc;
}

static int add_many(perhaps *f, const uint64_t *digests, size_t n, uint8_t *answers) {
    return is_multiset(f) ? add_copies(f, digests, n, answers) : add_to_sets(f, digests, n, answers);
}

static uint64_t room_in_all(const perhaps *f) {
    uint64_t room = room_in(newest_of(f));
    for (unsigned i = 0; i < f->children->spare; i++)
        room += f->children->child[f->children->count + i].filter->header.capacity;
    return room;
}

/* A table, which grows as it fills; stays NULL when memory is short. */
static void make_coming_keys(perhaps *f) {
    const struct kind *table = kind_find(PERHAPS_TABLE);
    perhaps_want want = PERHAPS_WANT(.kind = PERHAPS_TABLE, .items = CHILD_BLOCK, .fpr = 0.5);
    struct level level;
    if (plan_single(table, &want, &level) < 0) return;
    struct hash hash = hash_unkeyed(table->hashing.hash, 0);
    struct header header = {.kind = PERHAPS_TABLE, .hash = hash.id, .capacity = level.capacity, .length = level.length};
    memcpy(header.layout, level.layout, sizeof header.layout);
    filter_make(&f->children->coming_keys, &f->allocator, &header, &hash, &f->isa, false);
}

/* Counts a new key once, however often the batch has it; each time when memory is short. */
static void count_coming(perhaps *f, uint64_t digest) {
    struct children *children = f->children;
    if (!children->coming_keys) make_coming_keys(f);
    children->coming += !children->coming_keys || filter_add(children->coming_keys, one_word(digest)) != 0;
}

static void expect_one(perhaps *f, struct digest digest) {
    if (!any_child_has(f, f->children->count, digest)) count_coming(f, digest.first);
}

static void expect(perhaps *f, const uint64_t *digests, size_t n) {
    if (is_multiset(f)) {
        f->children->coming += n;
        return;
    }
    for (size_t from = 0; from < n; from += CHILD_BLOCK) {
        size_t some = n - from < CHILD_BLOCK ? n - from : CHILD_BLOCK;
        uint8_t known[CHILD_BLOCK];
        any_child_has_many(f, f->children->count, digests + from, some, known);
        for (size_t i = 0; i < some; i++)
            if (!known[i]) count_coming(f, digests[from + i]);
    }
}

/* Makes room for all announced keys, or none. */
static int provide(perhaps *f) {
    struct children *children = f->children;
    unsigned before = children->spare;
    int rc = PERHAPS_OK;
    while (rc == PERHAPS_OK && room_in_all(f) < children->coming) rc = make_spare(f);
    while (rc < 0 && children->spare > before) filter_free(children->child[children->count + --children->spare].filter);
    filter_free(children->coming_keys);
    children->coming_keys = NULL;
    children->coming = 0;
    return rc;
}

/* ---- whole filters ---- */

static void clear(perhaps *f) {
    struct children *children = f->children;
    for (unsigned i = 1; i < children->count + children->spare; i++) filter_free(children->child[i].filter);
    children->count = 1;
    children->spare = 0;
    children->touched = 0;
    filter_clear(children->child[0].filter);
}

static const char *check_children(const perhaps *f) {
    if (!layers_fit(f, 0)) return "layers that are too large together";
    for (unsigned i = 0; i < f->children->count + f->children->spare; i++) {
        const struct header *layer = &f->children->child[i].filter->header;
        if (layer->capacity / KEYS_PER_BYTE_MAX > layer->length)
            return "a layer with far less memory than its keys need";
    }
    for (unsigned i = 1; i < f->children->count + f->children->spare; i++) {
        const perhaps *older = f->children->child[i - 1].filter, *newer = f->children->child[i].filter;
        const struct layering *layering = older->kind->model->layering;
        if (layering && !layering->nested(older->header.layout, newer->header.layout)) return "layers that do not nest";
    }
    return NULL;
}

static const char *refuses(const struct kind *base) {
    if (base->composite || base->format || !(base->row.can & PERHAPS_ADD))
        return "%s filters cannot be layers of a growing one";
    return base->row.can & PERHAPS_GROW ? "%s filters grow by themselves, without layers, growth or max_bytes" : NULL;
}

static unsigned can(const struct kind *base) {
    unsigned both = base->row.can & (PERHAPS_REMOVE | PERHAPS_COUNT);
    unsigned merge = base->row.can & PERHAPS_COUNT ? 0 : base->row.can & PERHAPS_MERGE;
    return PERHAPS_ADD | PERHAPS_GROW | merge | (plan_nests(base) ? both : both & PERHAPS_COUNT);
}

static bool growth_fits(const struct kind *base, uint64_t growth) {
    if (layers_have_rule(base)) return growth && growth % GROWTH_ONE == 0 && growth / GROWTH_ONE <= RULED_GROWTH_MAX;
    if (growth >= GROWTH_OF_NEWEST)
        return growth - GROWTH_OF_NEWEST >= GROWTH_ONE && growth - GROWTH_OF_NEWEST <= GROWTH_MOST;
    return !growth || (growth >= GROWTH_MIN && growth <= GROWTH_MOST);
}

static uint64_t payload_bytes(const uint64_t layout[LAYOUT_WORDS], const char **reason) {
    const struct kind *base = layout[BASE] < INT16_MAX ? kind_find((int)layout[BASE]) : NULL;
    *reason = NULL;
    if (!base || refuses(base)) *reason = "layers of a kind that cannot be";
    if (!*reason && (layout[CHILDREN] < 1 || layout[CHILDREN] > LAYERS_MAX)) *reason = "an impossible number of layers";
    if (!*reason && !growth_fits(base, layout[GROWTH])) *reason = "a growth out of range";
    if (layout[SIBLINGS] > CHILDREN_MAX) *reason = "too many siblings";
    return *reason ? 0 : layout[CHILDREN] * ENTRY_BYTES;
}

static const struct kind_ops *ops(const uint64_t layout[LAYOUT_WORDS], enum isa isa, bool shared) {
    static const struct kind_ops set = {.add = BEYOND_QUERIES(add_to_set),
                                        .contains = composite_contains,
                                        .contains_many = composite_contains_many,
                                        .prefetch = composite_prefetch};
    /* children_settle drops `remove` over counting. */
    static const struct kind_ops multiset = {.add = BEYOND_QUERIES(add_copy),
                                             .contains = composite_contains,
                                             .contains_many = composite_contains_many,
                                             .remove = BEYOND_QUERIES(remove_copy),
                                             .count = BEYOND_QUERIES(count),
                                             .prefetch = composite_prefetch};
    (void)isa, (void)shared;
    return kind_find((int)layout[BASE])->row.can & PERHAPS_COUNT ? &multiset : &set;
}

static uint64_t capacity(const perhaps *f) {
    uint64_t sum = 0;
    for (unsigned i = 0; i < f->children->count; i++) sum += filter_capacity(f->children->child[i].filter);
    return sum;
}

static void describe(const perhaps *f, struct perhaps_info *info) {
    info->grow = PERHAPS_GROW_LAYERS;
    info->max_bytes = f->header.layout[MAX_BYTES];
    info->growth = plan_growth_of(f->header.layout[GROWTH]);
}

static const struct reserving reserving = {.room = room_in_all, .expect = expect, .expect_one = expect_one};

static const struct children_ops children_ops = {.add_many = BEYOND_QUERIES(add_many),
                                                 .make_room = BEYOND_QUERIES(make_room),
                                                 .reserving = BEYOND_QUERIES(&reserving),
                                                 .provide = BEYOND_QUERIES(provide),
                                                 .capacity = capacity,
                                                 .describe = describe,
                                                 .clear = BEYOND_QUERIES(clear),
                                                 .merge = BEYOND_QUERIES(layers_merge),
                                                 .check = check_children};

static const struct composite composite = {.refuses = refuses, .can = can, .has_layers = true, .ops = &children_ops};

/* What append_layer() would do. */
TRACED static int trace_append(const perhaps *f, struct trace *trace) {
    const struct children *children = f->children;
    struct level level = {.length = children->spare ? children->child[children->count].filter->array.length : 0};
    int rc = children->spare ? PERHAPS_OK : plan_layer(f, &level);
    if (rc == PERHAPS_OK && !children->spare) rc = check_size(f, &level);
    if (rc < 0) return trace_answer(trace, true, rc, "The newest layer is full, and no layer can be appended.");
    trace_step(trace, PERHAPS_STEP_ROOM, "layer", false, children->count, 0, level.length);
    return trace_answer(trace, true, 1, "The newest layer is full: a layer is appended and takes the key.");
}

TRACED static int growing_trace(const struct array *array, struct digest digest, bool adding, struct trace *trace) {
    const perhaps *f = filter_of_const(array);
    unsigned layers = f->children->count;
    bool found = (!adding || !is_multiset(f)) && trace_children(f, 0, layers, "layer", digest, trace);
    if (!adding) return trace_answer(trace, false, found, found ? "A layer has the key." : "No layer has the key.");
    if (found) return trace_answer(trace, true, 0, "A layer has the key already.");
    int is_new = room_in(newest_of(f)) ? trace_child(f, layers - 1, "layer", digest, true, trace) : PERHAPS_EFULL;
    if (is_new == PERHAPS_EFULL) return trace_append(f, trace);
    return trace_answer(trace, true, is_new, "The key goes to the newest layer.");
}

const struct kind kind_growing = {
    .row = {PERHAPS_GROWING, PERHAPS_ADD | PERHAPS_REMOVE | PERHAPS_COUNT | PERHAPS_MERGE | PERHAPS_GROW, "growing",
            "layers, each larger than those before: for sets of unknown size"},
    .hashing = {.hash = PERHAPS_XXH3, .words = 1},
    .words = {.name = {"kind of the layers", "number of layers", "growth", "most bytes", "siblings"},
              .may_differ = 1 << CHILDREN | 1 << GROWTH | 1 << MAX_BYTES},
    .payload_bytes = payload_bytes,
    .ops = ops,
    .composite = &composite,
    .trace = BEYOND_QUERIES(growing_trace),
};
