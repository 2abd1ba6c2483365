/*
 * Batches with several threads. The keys are cut into slices; each thread takes the next one.
 *
 * Where all of a key is in one cache line, or in one shard, a thread partitions its slice by ranges
 * of cache lines, or by shards, and takes one lock at a time: each thread is then as fast as alone.
 * Elsewhere threads change the same memory with atomic operations, which pays only from
 * MANY_THREADS on.
 */
#include "api/partitioned.h"
#include "base/memory.h"
#include "base/error.h"
#include "composite/partition.h"
#include "static/parts.h"
#include "api/batch.h"

#include <stdio.h>
#include <string.h>

enum { SLICE = 65536, SMALL_SLICE = 4096 };
enum { RANGES = 64, MANY_THREADS = 4 };

struct job {
    perhaps *f; /* adding */
    const perhaps *queried;
    const perhaps_keys *keys;
    size_t slice;
    uint8_t *answers;
    size_t next;         /* the first key that no thread has taken */
    uint64_t ones;       /* answers that were 1 */
    uint8_t *memory;     /* with locks: partition_bytes for each thread */
    unsigned parts;      /* ranges of cache lines, or bins */
    struct locks *locks; /* one for each part; else NULL */
    int failed;          /* the first error, and its reason */
    char reason[WHY_BYTES];
};

/* The next slice; false if there is none, or a thread has failed. */
static bool take_slice(struct job *job, size_t *from, size_t *n) {
    if (__atomic_load_n(&job->failed, __ATOMIC_ACQUIRE)) return false;
    *from = __atomic_fetch_add(&job->next, job->slice, __ATOMIC_RELAXED);
    if (*from >= job->keys->n) return false;
    *n = job->keys->n - *from < job->slice ? job->keys->n - *from : job->slice;
    return true;
}

/* The first thread that fails writes its reason, which is read after all threads have ended. */
static void note_failure(struct job *job, int rc) {
    int none = 0;
    if (__atomic_compare_exchange_n(&job->failed, &none, rc, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
        snprintf(job->reason, sizeof job->reason, "%s", why());
}

/* Sets the slice size so that every thread gets some; gives the number of threads to use. */
static unsigned cut(struct job *job, unsigned threads) {
    size_t n = job->keys->n;
    if (threads == 0) threads = processors();
    if (threads > THREADS_MAX) threads = THREADS_MAX;
    job->slice = n / threads / 4 < SLICE ? n / threads / 4 : SLICE;
    if (job->slice < SMALL_SLICE) job->slice = SMALL_SLICE;
    size_t slices = n / job->slice + 1;
    return slices < threads ? (unsigned)slices : threads;
}

/* ---- adding ---- */

/* Each thread has a handle on the same array, which counts its items, and whose operations are
 * atomic unless there are locks. */
static perhaps own_handle(const struct job *job) {
    const perhaps *f = job->f;
    perhaps own = *f;
    if (f->children || f->bins) return own;
    own.ops = *f->kind->ops(f->header.layout, f->isa, !job->locks);
    own.header.items = 0;
    own.items_in = ITEMS_IN_HEADER;
    own.shared = true;
    return own;
}

/* The range of cache lines that each key is in. */
static void find_ranges(const perhaps *f, const uint64_t *digests, size_t n, uint16_t *part) {
    uint64_t lines = f->array.length / 64 + 1, scale = ((uint64_t)RANGES << 32) / lines;
    uint64_t (*cache_line)(const struct array *, uint64_t) = filter_cache_line(f);
    for (size_t i = 0; i < n; i++) part[i] = (uint16_t)(cache_line(&f->array, digests[i]) * scale >> 32);
}

/* The bin that each key is in. */
static void find_bins(const uint64_t *digests, size_t n, uint16_t *part) {
    for (size_t i = 0; i < n; i++) part[i] = (uint16_t)part_of(digests[i], BIN_BITS);
}

static int add_part(perhaps *own, const struct sorted *sorted, unsigned part, size_t first, size_t n) {
    struct added added;
    if (own->bins) return bins_put(own->bins, part, sorted->digests + first, n);
    return filter_add_many(own, sorted->digests + first, n, sorted->answers + first,
                           (const char *)(sorted->digests + first + n), &added);
}

/* The keys of a slice go to one part after the other. Threads begin with different parts. */
static int64_t add_by_parts(struct job *job, perhaps *own, const perhaps_keys *keys, struct sorted *sorted) {
    size_t n = keys->n;
    uint64_t before = own->header.items;
    const uint64_t *digests = keys_digests(&own->hash, false, keys, 0, n, sorted->unsorted);
    if (own->bins)
        find_bins(digests, n, sorted->part);
    else
        find_ranges(own, digests, n, sorted->part);
    partition_scatter(sorted, digests, n);
    int rc = PERHAPS_OK;
    for (unsigned i = 0; rc == PERHAPS_OK && i < job->parts; i++) {
        unsigned part = (sorted->part[0] + i) % job->parts;
        size_t first = sorted->first[part], count = sorted->first[part + 1] - first;
        if (!count) continue;
        lock_take(job->locks, part);
        rc = add_part(own, sorted, part, first, count);
        lock_leave(job->locks, part);
    }
    if (rc < 0) return rc;
    return own->bins ? (int64_t)n : (int64_t)(own->header.items - before);
}

/* Adds a slice; `sorted` is room to partition it, where there are locks. */
static int64_t add_slice(struct job *job, perhaps *own, size_t from, size_t n, struct sorted *sorted) {
    perhaps_keys keys = keys_slice(job->keys, from, n);
    uint8_t *answers = job->answers ? job->answers + from : NULL;
    if (!job->locks) return batch_put(own, &keys, answers);
    int64_t added = add_by_parts(job, own, &keys, sorted);
    if (added >= 0 && answers && !own->bins) partition_restore(sorted, answers);
    return added;
}

static void add_slices(void *context, unsigned thread) {
    struct job *job = context;
    perhaps own = own_handle(job);
    uint64_t ones = 0;
    struct sorted sorted = {.n = 0};
    size_t from, n;
    if (job->memory)
        sorted =
            partition_in_memory(job->memory + thread * partition_bytes(job->slice, job->parts), job->slice, job->parts);
    while (take_slice(job, &from, &n)) {
        int64_t added = add_slice(job, &own, from, n, &sorted);
        if (added >= 0) {
            ones += (uint64_t)added;
            continue;
        }
        note_failure(job, (int)added);
        if (job->answers) memset(job->answers + from, 0, n); /* its keys are removed already */
    }
    __atomic_fetch_add(&job->ones, ones, __ATOMIC_RELAXED);
}

static int64_t run_adding(struct job *job, unsigned threads) {
    perhaps *f = job->f;
    if (job->answers) memset(job->answers, f->bins != NULL, job->keys->n); /* collected: all new */
    run_in_threads(threads, add_slices, job);
    if (!f->children && !f->bins) filter_count_added(f, 0, job->ones);
    if (!job->failed) return (int64_t)job->ones;
    if (job->answers && !f->bins) batch_undo(f, job->keys, job->keys->n, job->answers);
    return fail(job->failed, "%s", job->reason);
}

/* A kind cannot grow while threads share it: it grows beforehand. */
static int grow_beforehand(perhaps *f, const perhaps_keys *keys) {
    uint64_t room[CHUNK], largest = 0;
    if (f->children || !f->kind->growable || !f->kind->growable->range) return PERHAPS_OK;
    for (struct chunk chunk = {0}; next_chunk(f, keys, room, CHUNK, &chunk);)
        for (size_t i = 0; i < chunk.n; i++) largest = chunk.digests[i] > largest ? chunk.digests[i] : largest;
    return largest < f->kind->growable->range(&f->array) ? PERHAPS_OK : filter_grow(f, largest);
}

/* Shards without locks get some for the time of the call. */
static int64_t add_to_shards(struct job *job, unsigned threads) {
    struct children *children = job->f->children;
    if (children->locks || job->f->shared) return run_adding(job, threads);
    children->locks = locks_make(&job->f->allocator, children->count);
    if (!children->locks) return fail(PERHAPS_ENOMEM, "no memory for %u locks", children->count);
    int64_t added = run_adding(job, threads);
    locks_free(&job->f->allocator, children->locks);
    children->locks = NULL;
    return added;
}

static int64_t add_to_parts(struct job *job, unsigned threads, unsigned parts) {
    const perhaps_allocator *allocator = &job->f->allocator;
    uint64_t bytes = threads * partition_bytes(job->slice, parts);
    job->parts = parts;
    job->locks = locks_make(allocator, parts);
    job->memory = memory_get(allocator, bytes);
    int64_t added = job->locks && job->memory ? run_adding(job, threads)
                                              : fail(PERHAPS_ENOMEM, "no memory to sort keys for %u threads", threads);
    memory_release(allocator, job->memory, bytes);
    locks_free(allocator, job->locks);
    return added;
}

/* Not by parts in a shared filter: other threads, which do not know these locks, may add to it. */
static int64_t add_in_threads(struct job *job, unsigned threads) {
    if (job->f->children) return add_to_shards(job, threads);
    return filter_cache_line(job->f) && !job->f->shared ? add_to_parts(job, threads, RANGES) : run_adding(job, threads);
}

/* When memory is short, one thread does it, and spills to the file. */
static int64_t collect_parallel(struct job *job, unsigned threads) {
    struct bins *bins = job->f->bins;
    int rc = bins_begin(bins, PENDING + job->keys->n);
    if (rc < 0) return rc;
    bool can = threads > 1 && bins_reserve(bins, job->keys->n);
    int64_t added = can ? add_to_parts(job, threads, BINS) : PERHAPS_ENOMEM;
    if (added == PERHAPS_ENOMEM && !job->failed) return batch_add(job->f, job->keys, job->answers);
    if (added < 0) bins_undo(bins);
    job->f->header.items = bins_keys(bins);
    return added;
}

int64_t perhaps_add_parallel(perhaps *f, const perhaps_keys *keys, uint8_t *answers, unsigned threads) {
    struct job job = {.f = f, .keys = keys, .answers = answers};
    int rc = batch_check(f, keys);
    if (rc == PERHAPS_OK && !f->kind->solver && !kind_takes_threads(f->kind))
        rc = filter_cannot(f, "be added to by several threads, unless they are in shards");
    if (rc == PERHAPS_OK) rc = batch_begin(f, keys);
    if (rc < 0 || keys->n == 0) return rc;
    threads = cut(&job, threads);
    if (f->bins) return collect_parallel(&job, threads);
    if (f->kind->solver) return fail_sealed();
    bool atomic = !f->children && (f->shared || !filter_cache_line(f));
    bool aligned = (uintptr_t)f->array.bytes % 8 == 0; /* borrowed bytes may not be */
    if (threads < (atomic ? MANY_THREADS : 2) || (atomic && !aligned)) return batch_add(f, keys, answers);
    rc = grow_beforehand(f, keys);
    if (rc == PERHAPS_OK) rc = batch_provide(f, keys);
    if (rc < 0) return rc;
    if (answers || !filter_may_be_full(f)) return add_in_threads(&job, threads);
    job.answers = memory_get(&f->allocator, keys->n);
    if (!job.answers) return fail(PERHAPS_ENOMEM, "no memory for %zu answers", keys->n);
    int64_t added = add_in_threads(&job, threads);
    memory_release(&f->allocator, job.answers, keys->n);
    return added;
}

/* ---- queries ---- */

static void query_slices(void *context, unsigned thread) {
    struct job *job = context;
    uint64_t ones = 0;
    size_t from, n;
    (void)thread;
    while (take_slice(job, &from, &n)) {
        perhaps_keys keys = keys_slice(job->keys, from, n);
        ones += (uint64_t)batch_contains(job->queried, &keys, job->answers ? job->answers + from : NULL);
    }
    __atomic_fetch_add(&job->ones, ones, __ATOMIC_RELAXED);
}

/* Where partitioning pays, a thread's slice is all of its share. */
static unsigned cut_queries(struct job *job, unsigned threads) {
    threads = cut(job, threads);
    size_t share = job->keys->n / threads + 1;
    if (partitioned_query_pays(job->queried, share)) job->slice = share;
    return threads;
}

int64_t perhaps_contains_parallel(const perhaps *f, const perhaps_keys *keys, uint8_t *answers, unsigned threads) {
    struct job job = {.queried = f, .keys = keys, .answers = answers};
    int rc = batch_check(f, keys);
    if (rc == PERHAPS_OK) rc = filter_check_sealed(f);
    if (rc < 0 || keys->n == 0) return rc;
    run_in_threads(cut_queries(&job, threads), query_slices, &job);
    return (int64_t)job.ones;
}
