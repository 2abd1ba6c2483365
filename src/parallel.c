/*
 * The verbs on many keys with many threads. The keys are cut into slices, which the threads take one after the other.
 */
#include "base/memory.h"
#include "base/why.h"
#include "many.h"

#include <stdio.h>
#include <string.h>

enum { SLICE = 65536, SMALL_SLICE = 4096, THREADS_MOST = 256 };

struct job {
    perhaps *f;           /* adding */
    const perhaps *asked; /* asking */
    const struct keys *keys;
    size_t n, slice;
    uint8_t *answers;
    size_t next;   /* the first key that no thread has taken */
    uint64_t ones; /* answers that were 1 */
    int failed;    /* the first error, and its reason */
    char reason[WHY_BYTES];
};

static struct keys keys_from(const struct keys *keys, size_t from) {
    return (struct keys){.bytes = keys->bytes ? keys->bytes + from : NULL,
                         .lengths = keys->lengths ? keys->lengths + from : NULL,
                         .integers = keys->integers ? keys->integers + from : NULL,
                         .digests = keys->digests ? keys->digests + from : NULL};
}

/* The next slice; false if there is none, or a thread has failed. */
static bool take_slice(struct job *job, size_t *from, size_t *n) {
    if (__atomic_load_n(&job->failed, __ATOMIC_ACQUIRE)) return false;
    *from = __atomic_fetch_add(&job->next, job->slice, __ATOMIC_RELAXED);
    if (*from >= job->n) return false;
    *n = job->n - *from < job->slice ? job->n - *from : job->slice;
    return true;
}

/* Only the thread that fails first writes its reason. */
static void note_failure(struct job *job, int rc) {
    int none = 0;
    if (__atomic_compare_exchange_n(&job->failed, &none, rc, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
        snprintf(job->reason, sizeof job->reason, "%s", why());
}

/* How to cut n keys for so many threads: in slices of the usual size, or smaller ones, so that all have something to do. */
static unsigned cut(struct job *job, size_t n, unsigned threads) {
    if (threads == 0) threads = processors();
    if (threads > THREADS_MOST) threads = THREADS_MOST;
    job->n = n;
    job->slice = n / threads / 4 < SLICE ? n / threads / 4 : SLICE;
    if (job->slice < SMALL_SLICE) job->slice = SMALL_SLICE;
    size_t slices = n / job->slice + 1;
    return slices < threads ? (unsigned)slices : threads;
}

/* ---- adding ---- */

/* Each thread has a handle of its own on the same array: with operations for many threads, and its own count of items. */
static perhaps own_handle(const perhaps *f) {
    perhaps own = *f;
    if (f->family) return own;
    own.ops = *f->kind->ops(f->header.layout, f->isa, true);
    own.header.items = 0;
    own.items_in = ITEMS_IN_HEADER;
    own.shared = true;
    return own;
}

static void add_slices(void *context, unsigned thread) {
    struct job *job = context;
    perhaps own = own_handle(job->f);
    uint64_t ones = 0;
    size_t from, n;
    (void)thread;
    while (take_slice(job, &from, &n)) {
        struct keys keys = keys_from(job->keys, from);
        uint8_t *answers = job->answers ? job->answers + from : NULL;
        int64_t added = many_put(&own, &keys, n, answers);
        if (added < 0) {
            note_failure(job, (int)added);
            if (answers) memset(answers, 0, n); /* it has taken them out again */
        } else {
            ones += (uint64_t)added;
        }
    }
    __atomic_fetch_add(&job->ones, ones, __ATOMIC_RELAXED);
}

/* Takes out what slices before a failure have added. */
static int undo_all(struct job *job) {
    perhaps *f = job->f;
    uint64_t digest;
    for (size_t i = 0; job->answers && f->ops.remove && i < job->n; i++) {
        if (!job->answers[i]) continue;
        digest = job->keys->digests    ? job->keys->digests[i]
                 : job->keys->integers ? hash_u64(&f->hash, job->keys->integers[i])
                                       : hash_bytes(&f->hash, job->keys->bytes[i], job->keys->lengths[i]);
        filter_undo(f, &digest, 1, &job->answers[i]);
    }
    return fail(job->failed, "%s", job->reason);
}

static int64_t run_adding(struct job *job, unsigned threads) {
    if (job->answers) memset(job->answers, 0, job->n);
    run_in_threads(threads, add_slices, job);
    if (!job->f->family) filter_count_added(job->f, 0, job->ones);
    return job->failed ? undo_all(job) : (int64_t)job->ones;
}

/* A kind that grows, but not while threads share it, grows beforehand: the largest digest is put in, and out again. */
static int grow_beforehand(perhaps *f, const struct keys *keys, size_t n) {
    const uint64_t *digests = keys->digests ? keys->digests : keys->integers;
    uint64_t largest = 0;
    if (f->family || !f->kind->grow) return PERHAPS_OK;
    for (size_t i = 0; i < n; i++) largest = digests[i] > largest ? digests[i] : largest;
    int is_new = filter_add(f, (struct digest){largest, 0});
    if (is_new == 1) filter_undo(f, &largest, 1, &(uint8_t){1});
    return is_new < 0 ? is_new : PERHAPS_OK;
}

static int check_parallel(const perhaps *f) {
    if (f->kind->lock_free || f->kind == &kind_sharded) return PERHAPS_OK;
    return filter_cannot(f, "be added to by many threads, unless they are in shards");
}

/* Shards have locks while threads share them, if not always. */
static int64_t add_with_locks(struct job *job, unsigned threads) {
    struct family *family = job->f->family;
    if (!family || family->locks || job->f->shared) return run_adding(job, threads);
    family->locks = locks_make(&job->f->allocator, family->count);
    if (!family->locks) return fail(PERHAPS_ENOMEM, "no memory for %u locks", family->count);
    int64_t added = run_adding(job, threads);
    locks_free(&job->f->allocator, family->locks);
    family->locks = NULL;
    return added;
}

static int64_t add_parallel(perhaps *f, const struct keys *keys, size_t n, uint8_t *answers, unsigned threads) {
    struct job job = {.f = f, .keys = keys, .answers = answers};
    int rc = many_takes(f, keys);
    if (rc == PERHAPS_OK) rc = check_parallel(f);
    if (rc == PERHAPS_OK) rc = filter_prepare_change(f);
    if (rc < 0 || n == 0) return rc;
    threads = cut(&job, n, threads);
    if (threads < 2) return many_add(f, keys, n, answers);
    rc = grow_beforehand(f, keys, n);
    if (rc < 0) return rc;
    if (answers || !many_may_fail(f)) return add_with_locks(&job, threads);
    job.answers = memory_get(&f->allocator, n);
    if (!job.answers) return fail(PERHAPS_ENOMEM, "no memory for %llu answers", (unsigned long long)n);
    int64_t added = add_with_locks(&job, threads);
    memory_release(&f->allocator, job.answers, n);
    return added;
}

int64_t perhaps_add_parallel(perhaps *f, const void *const *keys, const size_t *lengths, size_t n, uint8_t *answers,
                             unsigned threads) {
    return add_parallel(f, &(struct keys){.bytes = keys, .lengths = lengths}, n, answers, threads);
}

int64_t perhaps_add_parallel_u64(perhaps *f, const uint64_t *keys, size_t n, uint8_t *answers, unsigned threads) {
    return add_parallel(f, &(struct keys){.integers = keys}, n, answers, threads);
}

int64_t perhaps_add_parallel_digest(perhaps *f, const uint64_t *digests, size_t n, uint8_t *answers, unsigned threads) {
    return add_parallel(f, &(struct keys){.digests = digests}, n, answers, threads);
}

/* ---- asking ---- */

static void ask_slices(void *context, unsigned thread) {
    struct job *job = context;
    uint64_t ones = 0;
    size_t from, n;
    (void)thread;
    while (take_slice(job, &from, &n)) {
        struct keys keys = keys_from(job->keys, from);
        ones += (uint64_t)many_contains(job->asked, &keys, n, job->answers ? job->answers + from : NULL);
    }
    __atomic_fetch_add(&job->ones, ones, __ATOMIC_RELAXED);
}

static int64_t contains_parallel(const perhaps *f, const struct keys *keys, size_t n, uint8_t *answers,
                                 unsigned threads) {
    struct job job = {.asked = f, .keys = keys, .answers = answers};
    int rc = many_takes(f, keys);
    if (rc < 0 || n == 0) return rc;
    run_in_threads(cut(&job, n, threads), ask_slices, &job);
    return (int64_t)job.ones;
}

int64_t perhaps_contains_parallel(const perhaps *f, const void *const *keys, const size_t *lengths, size_t n,
                                  uint8_t *answers, unsigned threads) {
    return contains_parallel(f, &(struct keys){.bytes = keys, .lengths = lengths}, n, answers, threads);
}

int64_t perhaps_contains_parallel_u64(const perhaps *f, const uint64_t *keys, size_t n, uint8_t *answers,
                                      unsigned threads) {
    return contains_parallel(f, &(struct keys){.integers = keys}, n, answers, threads);
}

int64_t perhaps_contains_parallel_digest(const perhaps *f, const uint64_t *digests, size_t n, uint8_t *answers,
                                         unsigned threads) {
    return contains_parallel(f, &(struct keys){.digests = digests}, n, answers, threads);
}
