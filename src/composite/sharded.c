/*
 * Shards: N filters, all of a key in one of them.
 *
 * Idea: the digest picks a shard by a separate mix, so all other bits taken from it stay
 * independent, and false-positive rates and loads are those of one large filter. Each shard has a
 * lock, where the kind is not lock-free; and a table that grows copies one shard at a time.
 *
 *     digest ── × odd ──▶ shard 0..N-1
 *          └────────────▶ the shard's operations
 *
 * Batches are partitioned by shard (partition.h): each shard gets its keys in one piece.
 *
 * Shards get different numbers of keys: they are planned for n/N + 5·sqrt(n/N), which one in
 * millions exceeds.
 *
 * Layout: kind of the shards, their number.
 *
 * Invariants
 *   I1  a key is in the shard that shard_of names, or in none.
 *   I2  all shards have the same kind and operations; growing shards have layers of the same kind.
 *   I3  a thread holds at most one lock at a time, and only inside one call.
 *   I4  a batch that fails is removed again from the shards that it reached, where they can remove;
 *       where they cannot, room was reserved for it (see `room`).
 */
#include "base/arith.h"
#include "composite/composite.h"
#include "composite/partition.h"
#include "plan/plan.h"
#include "base/target.h"
#include "composite/composite_trace.h"

#include <string.h>

enum { AHEAD = 32 }; /* keys; how far ahead memory is prefetched in batches not partitioned */

static inline unsigned shard_of(uint64_t digest, unsigned shards) {
    return (unsigned)((digest * UINT64_C(0xD1B54A32D192ED03) >> 32) * shards >> 32);
}

static perhaps *enter(const perhaps *f, unsigned shard) {
    if (f->children->locks) lock_take(f->children->locks, shard);
    return f->children->child[shard].filter;
}

static void leave(const perhaps *f, unsigned shard) {
    if (f->children->locks) lock_leave(f->children->locks, shard);
}

static perhaps *shard_at(const perhaps *f, unsigned shard) {
    return f->children->child[shard].filter;
}

/* ---- one key ---- */

static int add(struct array *array, struct digest digest) {
    const perhaps *f = filter_of(array);
    unsigned shard = shard_of(digest.first, f->children->count);
    int is_new = filter_add(enter(f, shard), digest);
    leave(f, shard);
    return is_new < 0 ? FULL : is_new;
}

/* `add` has tried to grow it; trying again gives the reason. */
static int make_room(perhaps *f, uint64_t digest) {
    unsigned shard = shard_of(digest, f->children->count);
    int rc = filter_grow(enter(f, shard), digest);
    leave(f, shard);
    return rc;
}

/* One atomic step: the lock is held over query and add. */
static int add_absent(perhaps *f, struct digest digest) {
    unsigned shard = shard_of(digest.first, f->children->count);
    perhaps *child = enter(f, shard);
    int is_new = child->ops.contains(&child->array, digest) ? 0 : filter_add(child, digest);
    leave(f, shard);
    return is_new;
}

static int contains(const struct array *array, struct digest digest) {
    const perhaps *f = filter_of_const(array);
    unsigned shard = shard_of(digest.first, f->children->count);
    const perhaps *child = enter(f, shard);
    int found = child->ops.contains(&child->array, digest);
    leave(f, shard);
    return found;
}

static int remove_one(struct array *array, struct digest digest) {
    const perhaps *f = filter_of(array);
    unsigned shard = shard_of(digest.first, f->children->count);
    perhaps *child = enter(f, shard);
    int gone = child->ops.remove(&child->array, digest);
    filter_count_removed(child, digest.first, (uint64_t)gone);
    leave(f, shard);
    return gone;
}

static uint64_t count(const struct array *array, struct digest digest) {
    const perhaps *f = filter_of_const(array);
    unsigned shard = shard_of(digest.first, f->children->count);
    const perhaps *child = enter(f, shard);
    uint64_t copies = child->ops.count(&child->array, digest);
    leave(f, shard);
    return copies;
}

/* With locks it does nothing: another thread may be replacing the shard's array. */
static void prefetch(const struct array *array, struct digest digest) {
    const perhaps *f = filter_of_const(array);
    if (f->children->locks) return;
    const perhaps *child = shard_at(f, shard_of(digest.first, f->children->count));
    child->ops.prefetch(&child->array, digest);
}

/* ---- batches ---- */

static inline __attribute__((always_inline)) void find_shards(const uint64_t *restrict digests, size_t n,
                                                              unsigned shards, uint16_t *restrict shard) {
    for (size_t i = 0; i < n; i++) shard[i] = (uint16_t)shard_of(digests[i], shards);
}

#if defined(__x86_64__)
/* AVX-512 multiplies eight 64-bit words at a time. */
TARGET_AVX512 static void find_shards_avx512(const uint64_t *restrict digests, size_t n, unsigned shards,
                                             uint16_t *restrict shard) {
    find_shards(digests, n, shards, shard);
}
#endif

static void scatter_keys(const perhaps *f, struct sorted *sorted, const uint64_t *digests, size_t n) {
#if defined(__x86_64__)
    if (f->isa == ISA_AVX512)
        find_shards_avx512(digests, n, f->children->count, sorted->part);
    else
#endif
        find_shards(digests, n, f->children->count, sorted->part);
    partition_scatter(sorted, digests, n);
}

/* The shard to begin with: threads begin with different ones, and seldom wait for each other. */
static unsigned start_of(const perhaps *f, const uint64_t *digests) {
    return shard_of(digests[0], f->children->count);
}

typedef int work_on_shard(const perhaps *f, struct sorted *sorted, unsigned shard);

/* Goes through all shards; *done is the number before a failure. */
static int each_shard(const perhaps *f, struct sorted *sorted, unsigned start, work_on_shard *work, unsigned *done) {
    unsigned shards = f->children->count;
    int rc = PERHAPS_OK;
    for (*done = 0; rc == PERHAPS_OK && *done < shards; *done += rc == PERHAPS_OK) {
        unsigned shard = (start + *done) % shards;
        if (sorted->first[shard] == sorted->first[shard + 1]) continue;
        enter(f, shard);
        rc = work(f, sorted, shard);
        leave(f, shard);
    }
    return rc;
}

static int query_shard(const perhaps *f, struct sorted *sorted, unsigned shard) {
    const perhaps *child = shard_at(f, shard);
    uint32_t first = sorted->first[shard], last = sorted->first[shard + 1];
    child->ops.contains_many(&child->array, sorted->digests + first, last - first, sorted->answers + first,
                             (const char *)(sorted->digests + last));
    return PERHAPS_OK;
}

static int undo_shard(const perhaps *f, struct sorted *sorted, unsigned shard) {
    uint32_t first = sorted->first[shard], last = sorted->first[shard + 1];
    filter_undo(shard_at(f, shard), sorted->digests + first, last - first, sorted->answers + first);
    return PERHAPS_OK;
}

static int add_to_shard(const perhaps *f, struct sorted *sorted, unsigned shard) {
    uint32_t first = sorted->first[shard], last = sorted->first[shard + 1];
    struct added added;
    int rc = filter_add_many(shard_at(f, shard), sorted->digests + first, last - first, sorted->answers + first,
                             (const char *)(sorted->digests + last), &added);
    if (rc < 0) filter_undo(shard_at(f, shard), sorted->digests + first, added.done, sorted->answers + first);
    return rc;
}

typedef int work_on_batch(const perhaps *f, struct sorted *sorted, const uint64_t *digests, size_t n, uint8_t *answers);

/* One batch if there is memory to partition it; else several small ones. *done keys were in batches
 * before a failure. */
static int in_scattered_batches(const perhaps *f, const uint64_t *digests, size_t n, uint8_t *answers,
                                work_on_batch *work, size_t *done) {
    unsigned shards = f->children->count;
    int rc = PERHAPS_OK;
    *done = 0;
    struct scratch *scratch = n > PARTITION_SMALL && n <= LARGE_BATCH ? scratch_take(f, SCRATCH_BYTES) : NULL;
    if (scratch) {
        struct sorted sorted = partition_in_memory(scratch->room, n, shards);
        rc = work(f, &sorted, digests, n, answers);
        scratch_leave(f, scratch);
        return rc;
    }
    struct partition_room room;
    struct sorted sorted = partition_in_small_room(&room, shards);
    while (rc == PERHAPS_OK && *done < n) {
        size_t some = n - *done < PARTITION_SMALL ? n - *done : PARTITION_SMALL;
        rc = work(f, &sorted, digests + *done, some, answers + *done);
        if (rc == PERHAPS_OK) *done += some;
    }
    return rc;
}

static bool worth_scattering(const perhaps *f, size_t n) {
    return (n < PARTITION_SMALL ? n : PARTITION_SMALL) / PARTITION_FEW >= f->children->count;
}

static int query_scattered(const perhaps *f, struct sorted *sorted, const uint64_t *digests, size_t n,
                           uint8_t *answers) {
    unsigned done;
    scatter_keys(f, sorted, digests, n);
    each_shard(f, sorted, start_of(f, digests), query_shard, &done);
    partition_restore(sorted, answers);
    return PERHAPS_OK;
}

static void contains_many(const struct array *array, const uint64_t *digests, size_t n, uint8_t *answers,
                          const char *ahead) {
    const perhaps *f = filter_of_const(array);
    (void)ahead;
    size_t done;
    if (worth_scattering(f, n)) {
        in_scattered_batches(f, digests, n, answers, query_scattered, &done);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        if (i + AHEAD < n) prefetch(array, one_word(digests[i + AHEAD]));
        answers[i] = (uint8_t)contains(array, one_word(digests[i]));
    }
}

static int add_scattered(const perhaps *f, struct sorted *sorted, const uint64_t *digests, size_t n, uint8_t *answers) {
    unsigned start = start_of(f, digests), done, undone;
    scatter_keys(f, sorted, digests, n);
    int rc = each_shard(f, sorted, start, add_to_shard, &done);
    if (rc < 0) {
        /* Only shards start..start+done-1 have keys to remove: the others' answers become 0. */
        for (unsigned i = done; i < f->children->count; i++) {
            unsigned shard = (start + i) % f->children->count;
            memset(sorted->answers + sorted->first[shard], 0, sorted->first[shard + 1] - sorted->first[shard]);
        }
        each_shard(f, sorted, start, undo_shard, &undone);
        return rc;
    }
    partition_restore(sorted, answers);
    return PERHAPS_OK;
}

static int add_one_by_one(perhaps *f, const uint64_t *digests, size_t n, uint8_t *answers) {
    for (size_t i = 0; i < n; i++) {
        int is_new = filter_add(f, (struct digest){digests[i], 0});
        if (is_new < 0) {
            filter_undo(f, digests, i, answers);
            return is_new;
        }
        answers[i] = (uint8_t)is_new;
    }
    return PERHAPS_OK;
}

static int add_many(perhaps *f, const uint64_t *digests, size_t n, uint8_t *answers) {
    size_t done;
    if (!worth_scattering(f, n)) return add_one_by_one(f, digests, n, answers);
    int rc = in_scattered_batches(f, digests, n, answers, add_scattered, &done);
    if (rc < 0) filter_undo(f, digests, done, answers);
    return rc;
}

/* Called only for growing shards. */
static void expect(perhaps *f, const uint64_t *digests, size_t n) {
    for (size_t i = 0; i < n; i++) {
        unsigned shard = shard_of(digests[i], f->children->count);
        perhaps *child = enter(f, shard);
        child->kind->composite->ops->reserving->expect(child, digests + i, 1);
        leave(f, shard);
    }
}

static bool shards_have_layers(const perhaps *f) {
    const struct kind *base = kind_find((int)f->header.layout[BASE]);
    return base->composite && base->composite->has_layers;
}

/* For growing shards that cannot remove keys. Shards share a batch evenly: at three quarters of the
 * room in the fullest one, only a rare accident or attacker-chosen keys overfill a shard, which
 * then appends a layer during the batch. */
static uint64_t room(const perhaps *f) {
    uint64_t least = UINT64_MAX;
    if (!shards_have_layers(f) || f->ops.remove) return UINT64_MAX;
    for (unsigned shard = 0; shard < f->children->count; shard++) {
        const perhaps *child = enter(f, shard);
        uint64_t here = child->kind->composite->ops->reserving->room(child);
        leave(f, shard);
        if (here < least) least = here;
    }
    return least > 1000 ? least / 4 * 3 * f->children->count : 0;
}

/* Calls all of them, even after a failure: this also ends what they expect. */
static int provide(perhaps *f) {
    int first = PERHAPS_OK;
    bool layers = shards_have_layers(f);
    for (unsigned shard = 0; layers && shard < f->children->count; shard++) {
        perhaps *child = enter(f, shard);
        int rc = child->kind->composite->ops->provide(child);
        leave(f, shard);
        if (first == PERHAPS_OK) first = rc;
    }
    return first;
}

/* ---- whole filters ---- */

/* A position is the position in the shard times the number of shards, plus the shard. */
static bool next(const struct array *array, uint64_t *at, uint64_t *digest) {
    const perhaps *f = filter_of_const(array);
    uint64_t shards = f->children->count, shard = *at % shards, within = *at / shards;
    for (; shard < shards; shard++, within = 0) {
        const perhaps *child = shard_at(f, (unsigned)shard);
        if (!child->kind->next(&child->array, &within, digest)) continue;
        *at = within * shards + shard;
        return true;
    }
    *at = UINT64_MAX - UINT64_MAX % shards - 1; /* past the end of the last shard */
    return false;
}

/* I2 */
static const char *check_children(const perhaps *f) {
    for (unsigned i = 1; shard_at(f, 0)->children && i < f->children->count; i++) {
        if (shard_at(f, i)->header.layout[BASE] != shard_at(f, 0)->header.layout[BASE])
            return "shards of different kinds";
    }
    return NULL;
}

static const char *refuses(const struct kind *base) {
    if (base->hashing.hash == PERHAPS_IDENTITY)
        return "a %s is one array of integers; it needs no shards, and threads can share it";
    if (base->format || base->hashing.hash == PERHAPS_MURMUR)
        return "%s filters are a foreign format, which has no shards";
    if (base->composite && !base->composite->has_layers) return "a %s cannot be sharded";
    return base->row.can & PERHAPS_ADD ? NULL : "%s filters are made at once, and cannot be shards";
}

static unsigned can(const struct kind *base) {
    return base->row.can & (unsigned)~PERHAPS_IN_PLACE;
}

static uint64_t payload_bytes(const uint64_t layout[LAYOUT_WORDS], const char **reason) {
    const struct kind *base = layout[BASE] < INT16_MAX ? kind_find((int)layout[BASE]) : NULL;
    *reason = NULL;
    if (!base || refuses(base)) *reason = "shards of a kind that cannot be";
    if (layout[CHILDREN] < 1 || layout[CHILDREN] > CHILDREN_MAX) *reason = "an impossible number of shards";
    return *reason ? 0 : layout[CHILDREN] * ENTRY_BYTES;
}

static const struct kind_ops *ops(const uint64_t layout[LAYOUT_WORDS], enum isa isa, bool shared) {
    static const struct kind_ops all = {.add = add,
                                        .contains = contains,
                                        .contains_many = contains_many,
                                        .remove = remove_one,
                                        .count = count,
                                        .prefetch = prefetch};
    (void)layout, (void)isa, (void)shared;
    return &all;
}

static uint64_t capacity(const perhaps *f) {
    uint64_t sum = 0;
    for (unsigned i = 0; i < f->children->count; i++) sum += filter_capacity(shard_at(f, i));
    return plan_capacity_of_shards(f->header.capacity, sum, f->children->count);
}

/* Growing shards: max_bytes is for all of them together. */
static void describe(const perhaps *f, struct perhaps_info *info) {
    const perhaps *first = shard_at(f, 0);
    if (!first->children) return;
    first->kind->composite->ops->describe(first, info);
    info->max_bytes *= f->children->count;
}

static const struct reserving reserving = {.room = room, .expect = expect};

static const struct children_ops children_ops = {.add_many = add_many,
                                                 .make_room = make_room,
                                                 .add_absent = add_absent,
                                                 .reserving = &reserving,
                                                 .provide = provide,
                                                 .capacity = capacity,
                                                 .describe = describe,
                                                 .clear = composite_clear,
                                                 .check = check_children};

static const struct composite composite = {
    .refuses = refuses, .can = can, .key_in_one_child = true, .ops = &children_ops};

TRACED static int sharded_trace(const struct array *array, struct digest digest, bool adding, struct trace *trace) {
    const perhaps *f = filter_of_const(array);
    unsigned shard = shard_of(digest.first, f->children->count);
    enter(f, shard);
    int answer = trace_child(f, shard, "shard", digest, adding, trace);
    leave(f, shard);
    return trace_answer(trace, adding, answer, "The key's shard answers for all.");
}

const struct kind kind_sharded = {
    .row = {PERHAPS_SHARDED,
            PERHAPS_ADD | PERHAPS_REMOVE | PERHAPS_COUNT | PERHAPS_MERGE | PERHAPS_INTERSECT | PERHAPS_GROW |
                PERHAPS_LIST,
            "sharded", "shards, all of a key in one: for threads, and growth in small steps"},
    .hashing = {.hash = PERHAPS_XXH3, .words = 1},
    .words = {.name = {"kind of the shards", "number of shards"}},
    .payload_bytes = payload_bytes,
    .ops = ops,
    .composite = &composite,
    .next = next,
    .trace = sharded_trace,
};
