/*
 * Sealing: from the keys in their bins to the array of a static filter.
 *
 *     bins ──▶ groups ──▶ parts ──solver──▶ data of each part ──▶ array: directory, data, padding
 *              a thread takes one at a time
 *
 * A group is one part, of one or more bins; or one bin, if parts are smaller. Bins may have keys
 * more than once, so the number of different keys is first estimated from some bins.
 *
 * Invariants
 *   I1  collecting: f->bins has all keys (bins.h); f has no array, and its operations only collect.
 *   I2  sealing: the bins are flushed first, and then only read. Threads share `next`, `done` and
 *       `failed`; a group's parts are written by the one thread that took it.
 *   I3  sealed: f is swapped with a complete filter. The one that is freed has the bins.
 *   I4  after a failure f is as in I1, with all its keys; parts that were solved are freed.
 */
#include "static/seal.h"

#include "base/memory.h"
#include "base/error.h"
#include "static/key_sort.h"
#include "static/parts.h"
#include "plan/plan.h"

#include <stdio.h>
#include <string.h>

/* FEW keys are counted, not estimated; SAMPLED bins make an estimate; solvers take IN_ANY_ORDER
 * keys in any order (struct solver). */
enum { FEW = 65536, SAMPLED = 4, IN_ANY_ORDER = 65536 };

/* ---- collecting ---- */

static int collect(struct array *array, struct digest digest) {
    struct bins *bins = filter_of(array)->bins;
    if (__builtin_expect(bins->pended == PENDING, 0)) return FULL;
    bins->pending[bins->pended++] = digest.first;
    return 1;
}

static size_t collect_batch(struct array *array, const uint64_t *digests, size_t n, uint8_t *answers,
                            const char *ahead) {
    struct bins *bins = filter_of(array)->bins;
    size_t room = (size_t)(PENDING - bins->pended), some = n < room ? n : room;
    uint64_t *to = bins->pending + bins->pended;
    (void)ahead;
    memcpy(to, digests, some * sizeof *to);
    memset(answers, 1, some);
    bins->pended += some;
    return some;
}

static int refuse_query(const struct array *array, struct digest digest) {
    (void)array, (void)digest;
    return fail_unsealed();
}

int seal_collect(perhaps *f, uint64_t max_scratch, const char *folder) {
    static const struct kind_ops ops = {.add = collect, .add_many = collect_batch, .contains = refuse_query};
    struct bins *bins;
    int rc = bins_make(&bins, &f->allocator, max_scratch, folder);
    if (rc < 0) return rc;
    if (f->owned) memory_release(&f->allocator, f->image, filter_image_bytes(f));
    filter_drop_guide(f);
    f->owned = true;
    f->image = f->array.bytes = NULL;
    f->bins = bins;
    f->ops = ops;
    f->state = CHANGEABLE;
    f->header.items = 0;
    return PERHAPS_OK;
}

int seal_restart(perhaps *f) {
    if (!f->bins) return f->owned ? seal_collect(f, 0, NULL) : fail_sealed();
    bins_clear(f->bins);
    f->header.items = 0;
    return PERHAPS_OK;
}

/* ---- what threads share ---- */

struct part {
    struct solution solution;
    uint64_t *data;
};

struct sealing {
    const perhaps *f;
    const struct bins *bins;
    const struct solver *solver;
    uint64_t layout[LAYOUT_WORDS];
    uint64_t keys;     /* in all bins, equal ones included */
    uint64_t expected; /* different keys in a part */
    unsigned bits;     /* 2^bits parts */
    unsigned groups;
    unsigned threads;
    unsigned next;      /* the first group, then the first part, that no thread has taken */
    struct part *parts; /* data is NULL unless solved */
    uint8_t *into;      /* the array */
    struct locks *lock; /* guards what follows */
    uint64_t done;      /* keys */
    void (*progress)(void *context, uint64_t done, uint64_t all);
    void *context;
    int failed; /* the first error, and its reason */
    char reason[WHY_BYTES];
};

/* A thread's memory. */
struct memory {
    uint64_t *words, count;
};
struct worker {
    struct sealing *s;
    struct memory keys, other, room;
};

/* At least one word: the pointer is never NULL, even without keys. */
static int get_words(const struct sealing *s, struct memory *memory, uint64_t count) {
    if (count == 0) count = 1;
    if (count <= memory->count) return PERHAPS_OK;
    memory_release(&s->f->allocator, memory->words, memory->count * 8);
    memory->count = 0;
    memory->words = memory_get(&s->f->allocator, count * 8);
    if (!memory->words)
        return fail(PERHAPS_ENOMEM, "no memory to seal the filter: %llu bytes; the keys are still there",
                    (unsigned long long)count * 8);
    memory->count = count;
    return PERHAPS_OK;
}

static void release_words(const struct sealing *s, const struct memory *memory) {
    memory_release(&s->f->allocator, memory->words, memory->count * 8);
}

/* ---- reading keys ---- */

static int not_uniform(void) {
    return fail(PERHAPS_ERANGE,
                "the keys cannot be sealed: too many have similar digests; hash them with another seed");
}

/* Reads the keys of some bins. If there are many more than expected, many must be equal: they are
 * left out whenever memory is full. */
static int read_keys(struct worker *w, unsigned first, unsigned bins, uint64_t expected, uint64_t *n) {
    uint64_t all = 0, limit = 4 * expected + FEW;
    for (unsigned i = first; i < first + bins; i++) all += bin_keys(w->s->bins, i);
    if (all < limit) limit = all;
    int rc = get_words(w->s, &w->keys, limit);
    if (rc == PERHAPS_OK) rc = get_words(w->s, &w->other, limit);
    *n = 0;
    for (unsigned i = first; rc == PERHAPS_OK && i < first + bins; i++) {
        for (uint64_t from = 0; rc == PERHAPS_OK && from < bin_keys(w->s->bins, i);) {
            uint64_t rest = bin_keys(w->s->bins, i) - from, some = limit - *n < rest ? limit - *n : rest;
            rc = bins_read(w->s->bins, i, from, some, w->keys.words + *n);
            *n += some;
            from += some;
            if (rc < 0 || *n < limit || limit == all) continue;
            *n = unique_keys(w->keys.words, *n, w->other.words);
            if (*n > limit / 2) rc = not_uniform();
        }
    }
    return rc;
}

static int count_in_bins(struct worker *w, unsigned first, unsigned bins, uint64_t expected, uint64_t *different) {
    uint64_t n;
    int rc = read_keys(w, first, bins, expected, &n);
    if (rc == PERHAPS_OK) *different = unique_keys(w->keys.words, n, w->other.words);
    return rc;
}

/* Different keys: estimated from SAMPLED bins, or counted if they are few. */
static int count_different(struct sealing *s, uint64_t *different) {
    struct worker w = {.s = s};
    uint64_t here = 0, sum = 0;
    int rc = PERHAPS_OK;
    for (unsigned i = 0; rc == PERHAPS_OK && s->keys > FEW && i < BINS; i += BINS / SAMPLED) {
        rc = count_in_bins(&w, i, 1, s->keys / BINS, &here);
        sum += here;
    }
    *different = sum * (BINS / SAMPLED);
    if (rc == PERHAPS_OK && *different < FEW) rc = count_in_bins(&w, 0, BINS, FEW, different);
    release_words(s, &w.keys);
    release_words(s, &w.other);
    return rc;
}

/* ---- solving ---- */

static int solve_part(struct worker *w, uint64_t part, uint64_t *keys, uint64_t n) {
    struct sealing *s = w->s;
    struct part *out = &s->parts[part];
    if (n > 2 * s->expected + FEW) { /* a solver's limit counts equal keys too */
        int rc = get_words(s, &w->room, n);
        if (rc < 0) return rc;
        n = unique_keys(keys, n, w->room.words);
    }
    int rc = get_words(s, &w->room, s->solver->room(s->layout, n));
    if (rc < 0) return rc;
    if (!s->solver->solve(s->layout, s->f->isa, keys, n, w->room.words, &out->solution)) return not_uniform();
    out->data = memory_get(&s->f->allocator, out->solution.words * 8);
    if (!out->data) return fail(PERHAPS_ENOMEM, "no memory for a part of the filter; the keys are still there");
    memcpy(out->data, w->room.words, (size_t)out->solution.words * 8);
    return PERHAPS_OK;
}

_Static_assert((int)PARTS_BITS_MAX - BIN_BITS <= (int)ORDERING_BITS_MAX, "a bin is ordered by parts in one step");

/* Keys of a group are in the order of their bins. Orders them further if that is too coarse for the
 * solver, or if parts are smaller than bins. */
static void order_group(struct worker *w, uint64_t n) {
    unsigned bits = w->s->bits, skip = bits < BIN_BITS ? bits : BIN_BITS, finer = bits - skip;
    while (n >> (finer - (bits - skip)) > IN_ANY_ORDER && finer < ORDERING_BITS_MAX) finer++;
    if (skip + finer <= BIN_BITS) return;
    order_keys(w->keys.words, n, skip, finer, w->other.words);
    struct memory ordered = w->other;
    w->other = w->keys;
    w->keys = ordered;
}

static int solve_parts(struct worker *w, unsigned group, uint64_t n) {
    uint64_t *keys = w->keys.words, parts = (UINT64_C(1) << w->s->bits) / w->s->groups, from = 0;
    int rc = PERHAPS_OK;
    for (uint64_t part = group * parts; rc == PERHAPS_OK && part < (group + 1) * parts; part++) {
        uint64_t end = parts == 1 ? n : from;
        while (end < n && part_of(keys[end], w->s->bits) == part) end++;
        rc = solve_part(w, part, keys + from, end - from);
        from = end;
    }
    return rc;
}

static int solve_group(struct worker *w, unsigned group) {
    const struct sealing *s = w->s;
    unsigned bins = BINS / s->groups;
    uint64_t n;
    int rc = read_keys(w, group * bins, bins, (s->expected << s->bits) / s->groups, &n);
    if (rc < 0) return rc;
    order_group(w, n);
    return solve_parts(w, group, n);
}

static void note_end(struct sealing *s, unsigned group, int rc) {
    unsigned bins = BINS / s->groups;
    lock_take(s->lock, 0);
    for (unsigned i = group * bins; i < (group + 1) * bins; i++) s->done += bin_keys(s->bins, i);
    if (rc < 0 && !s->failed) {
        snprintf(s->reason, sizeof s->reason, "%s", why());
        __atomic_store_n(&s->failed, rc, __ATOMIC_RELAXED);
    }
    if (rc == PERHAPS_OK && s->progress) s->progress(s->context, s->done, s->keys);
    lock_leave(s->lock, 0);
}

static void solve_groups(void *context, unsigned thread) {
    struct worker w = {.s = context};
    (void)thread;
    while (!__atomic_load_n(&w.s->failed, __ATOMIC_RELAXED)) {
        unsigned group = __atomic_fetch_add(&w.s->next, 1, __ATOMIC_RELAXED);
        if (group >= w.s->groups) break;
        note_end(w.s, group, solve_group(&w, group));
    }
    release_words(w.s, &w.keys);
    release_words(w.s, &w.other);
    release_words(w.s, &w.room);
}

/* ---- putting the parts together ---- */

/* Releases each part's memory once it is in the array: both together take hardly more than one. */
static void put_part(struct sealing *s, uint64_t i) {
    struct part *part = &s->parts[i];
    unsigned entry_words = s->solver->entry_words;
    uint8_t *entry = s->into + 8 * i * entry_words;
    uint8_t *data = s->into + parts_data_start(s->layout, entry_words) + 8 * part->solution.entry[PART_START];
    for (unsigned j = 0; j < entry_words; j++) store64(entry + 8 * j, part->solution.entry[j]);
    for (uint64_t j = 0; j < part->solution.words; j++) store64(data + 8 * j, part->data[j]);
    memory_release(&s->f->allocator, part->data, part->solution.words * 8);
    part->data = NULL;
}

static void put_parts(void *context, unsigned thread) {
    struct sealing *s = context;
    (void)thread;
    for (uint64_t i; (i = __atomic_fetch_add(&s->next, 1, __ATOMIC_RELAXED)) < UINT64_C(1) << s->bits;) put_part(s, i);
}

/* Sets where every part begins, and the layout's DATA_WORDS; gives the number of keys. */
static uint64_t place_parts(struct sealing *s) {
    uint64_t keys = 0;
    s->layout[DATA_WORDS] = 0;
    for (uint64_t i = 0; i < UINT64_C(1) << s->bits; i++) {
        struct solution *solution = &s->parts[i].solution;
        solution->entry[PART_START] = s->layout[DATA_WORDS];
        s->layout[DATA_WORDS] += solution->words;
        keys += solution->keys;
    }
    return keys;
}

static int assemble(struct sealing *s, perhaps *f) {
    struct header header = f->header;
    uint64_t keys = place_parts(s), total;
    const char *reason;
    memcpy(header.layout, s->layout, sizeof header.layout);
    header.items = keys;
    header.capacity = keys ? keys : 1;
    header.fpr = plan_rate(f->kind, s->layout, keys);
    header.length = f->kind->payload_bytes(s->layout, &reason);
    if (!header.length || !image_length(header.length, header.recipe.length, &total) || total > SIZE_MAX / 2)
        return fail(PERHAPS_ERANGE, "the filter would be too large for one array");
    perhaps *sealed;
    int rc = filter_handle(&sealed, &f->allocator, &header, &f->hash, &f->isa, false);
    if (rc < 0) return rc;
    rc = filter_own_image(sealed, false);
    if (rc == PERHAPS_OK) {
        s->into = sealed->array.bytes;
        memset(s->into + header.length - PARTS_PADDING, 0, PARTS_PADDING);
        s->next = 0;
        run_in_threads(s->threads, put_parts, s);
        rc = filter_make_guide(sealed, "filter");
    }
    if (rc == PERHAPS_OK) filter_swap(f, sealed);
    filter_free(sealed);
    return rc;
}

/* ---- the whole ---- */

static void free_parts(struct sealing *s) {
    for (uint64_t i = 0; s->parts && i < UINT64_C(1) << s->bits; i++)
        memory_release(&s->f->allocator, s->parts[i].data, s->parts[i].solution.words * 8);
    memory_release(&s->f->allocator, s->parts, sizeof *s->parts << s->bits);
    locks_free(&s->f->allocator, s->lock);
}

static int plan_parts(struct sealing *s) {
    uint64_t different;
    int rc = count_different(s, &different);
    if (rc < 0) return rc;
    s->bits = (unsigned)parts_bits_for(different);
    s->expected = different >> s->bits;
    s->groups = s->bits < BIN_BITS ? 1u << s->bits : BINS;
    s->layout[PARTS_BITS] = s->bits;
    s->solver->settle(s->layout, s->expected);
    s->parts = memory_zeroed(&s->f->allocator, sizeof *s->parts << s->bits);
    s->lock = locks_make(&s->f->allocator, 1);
    return s->parts && s->lock ? PERHAPS_OK : fail(PERHAPS_ENOMEM, "no memory for the parts of a filter");
}

int seal_filter(perhaps *f, const perhaps_seal_options *options) {
    struct sealing s = {.f = f, .bins = f->bins, .solver = f->kind->solver, .keys = bins_keys(f->bins)};
    s.threads = options->threads ? options->threads : processors();
    s.progress = options->progress;
    s.context = options->context;
    memcpy(s.layout, f->header.layout, sizeof s.layout);
    int rc = bins_flush(f->bins);
    if (rc == PERHAPS_OK) rc = plan_parts(&s);
    if (rc == PERHAPS_OK) {
        if (s.threads > s.groups) s.threads = s.groups;
        run_in_threads(s.threads, solve_groups, &s);
        if (s.failed) rc = fail(s.failed, "%s", s.reason);
    }
    if (rc == PERHAPS_OK) rc = assemble(&s, f);
    free_parts(&s);
    return rc;
}

/* ---- explaining ---- */

/* As in the bins once they are flushed. */
static int copy_keys(const struct bins *bins, uint64_t n, uint64_t *keys, uint64_t *other) {
    uint64_t *to = other;
    for (unsigned i = 0; i < BINS; i++) {
        int rc = bins_read(bins, i, 0, bin_keys(bins, i), to);
        if (rc < 0) return rc;
        to += bin_keys(bins, i);
    }
    memcpy(to, bins->pending, (size_t)bins->pended * sizeof *to);
    order_keys(other, n, 0, BIN_BITS, keys);
    return PERHAPS_OK;
}

/* Few keys are one part, and their number is no estimate. */
static int trace_solving(struct worker *w, uint64_t n, struct trace *trace) {
    struct sealing *s = w->s;
    struct solution solution;
    int rc = get_words(s, &w->keys, n);
    if (rc == PERHAPS_OK) rc = get_words(s, &w->other, n);
    if (rc == PERHAPS_OK) rc = get_words(s, &w->room, n);
    if (rc == PERHAPS_OK) rc = copy_keys(s->bins, n, w->keys.words, w->other.words);
    if (rc < 0) return rc;
    s->layout[PARTS_BITS] = 0;
    s->solver->settle(s->layout, unique_keys(w->other.words, n, w->room.words));
    rc = get_words(s, &w->room, s->solver->room(s->layout, n));
    if (rc < 0) return rc;
    if (!s->solver->solve(s->layout, s->f->isa, w->keys.words, n, w->room.words, &solution)) return not_uniform();
    s->solver->trace(s->layout, w->room.words, n, &solution, trace);
    return PERHAPS_OK;
}

int seal_trace(const perhaps *f, struct trace *trace) {
    struct sealing s = {.f = f, .bins = f->bins, .solver = f->kind->solver, .keys = bins_keys(f->bins)};
    struct worker w = {.s = &s};
    if (!s.solver->trace)
        return fail(PERHAPS_ECANNOT, "%s filters cannot explain how they are sealed", f->kind->row.name);
    if (s.keys > FEW)
        return fail(PERHAPS_ERANGE, "sealing is explained for up to %u keys, and %llu were added", (unsigned)FEW,
                    (unsigned long long)s.keys);
    memcpy(s.layout, f->header.layout, sizeof s.layout);
    int rc = trace_solving(&w, s.keys, trace);
    release_words(&s, &w.keys);
    release_words(&s, &w.other);
    release_words(&s, &w.room);
    return rc;
}
