/*
 * Two workers do what there is to do: a job is read, hashed, and taken. Only one of them reads at a
 * time, and only one takes, in the order of the input.
 *
 *     worker 1   read 1 │ hash 1 │ take 1 │ read 3 │ hash 3 │ take 3
 *     worker 2            read 2 │ hash 2 │ take 2 │ read 4 │ ...
 *
 * As long as each stage takes its share of the time, a worker carries its block through all of
 * them, and the block stays in the cache of one processor. Where taking takes longer, a job always
 * waits to be taken, and the worker that takes goes on with it while the other reads and hashes.
 */
#include "pipeline.h"
#include "output/numbers.h"
#include "output/report.h"

#if defined(__GLIBC__)
#include <malloc.h>
#endif
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* A job can be read, one hashed and one taken at the same time. First blocks stay in the cache. */
enum { WORKERS = 2, JOBS = 3, FIRST_BLOCK = 128 << 10 };

/* Jobs [taken, made) are on their way, in a ring. */
struct ring {
    const struct pipeline *pipeline;
    struct blocks blocks;
    struct line_block jobs[JOBS];
    size_t made, taken;
    bool reading, taking; /* someone is */
    bool ended;           /* nothing is left to read, or can be: `status` says why */
    bool refused;         /* no more is wanted: `status` says why */
    int status;
    size_t file;               /* that the last job was of */
    uint64_t lines, keys;      /* taken so far, of this file and of all of them */
    uint64_t missing, invalid; /* of all of them */
    pthread_mutex_t lock;
    pthread_cond_t news;
};

/* What a worker has to itself. */
struct pipeline_worker {
    struct ring *ring;
    struct line_block *job; /* that it reads and hashes */
    struct input_chunk chunk;
};

/* ---- hashing ---- */

static int no_memory(void) {
    return failure(NULL, "not enough memory for a block of lines");
}

static bool enlarge(void *array, size_t n, size_t size) {
    void *larger = n > SIZE_MAX / size ? NULL : realloc(*(void **)array, n * size);
    if (larger) *(void **)array = larger;
    return larger;
}

/* Room for n lines more. */
static int make_room(struct line_block *job, size_t n, const struct input *input, bool with_keys) {
    if (n <= job->room - job->n) return FINE;
    size_t room = 2 * (job->n + n);
    bool fine = enlarge(&job->digests, room, sizeof *job->digests) &&
                enlarge(&job->lines, room + 1, sizeof *job->lines) &&
                enlarge(&job->answers, room, sizeof *job->answers);
    if (input_skips(input)) fine = fine && enlarge(&job->ends, room, sizeof *job->ends);
    if (with_keys)
        fine = fine && enlarge(&job->keys, room, sizeof *job->keys) &&
               enlarge(&job->key_lengths, room, sizeof *job->key_lengths);
    if (!fine) return no_memory();
    job->room = room;
    return FINE;
}

/* Copies keys that are gone after this call. Where `made` will be is known when it is complete:
 * until then `keys` has offsets. */
static int keep_keys(struct line_block *job, const struct batch *batch) {
    for (size_t i = 0; i < batch->n; i++) {
        size_t length = batch->key_text_lengths[i], needed = job->made_length + length + NUMBER_TEXT;
        if (needed > job->made_room && !enlarge(&job->made, 2 * needed, 1)) return no_memory();
        if (needed > job->made_room) job->made_room = 2 * needed;
        char *to = job->made + job->made_length;
        int digits = snprintf(to, NUMBER_TEXT, "%zu:", length);
        memcpy(to + digits, batch->key_texts[i], length);
        job->keys[job->n + i] = (const char *)(uintptr_t)job->made_length;
        job->key_lengths[job->n + i] = (size_t)digits + length;
        job->made_length += (size_t)digits + length;
    }
    return FINE;
}

static void find_kept_keys(struct line_block *job) {
    for (size_t i = 0; i < job->n && job->made_length; i++) job->keys[i] = job->made + (uintptr_t)job->keys[i];
}

static int hash_batch(void *context, const struct batch *batch) {
    const struct pipeline_worker *worker = context;
    struct line_block *job = worker->job;
    const struct pipeline *pipeline = worker->ring->pipeline;
    perhaps_keys keys = batch_keys(batch);
    if (make_room(job, batch->n, pipeline->input, pipeline->with_keys) != FINE) return TROUBLE;
    if (!job->n) job->offset = batch->offset;
    perhaps_digest_many(pipeline->hasher, &keys, job->digests + job->n);
    memcpy(job->lines + job->n, batch->lines, batch->n * sizeof *job->lines);
    for (size_t i = 0; i < batch->n && job->ends; i++)
        job->ends[job->n + i] = batch->lines[i] + batch->line_lengths[i] + batch->terminator_length;
    if (pipeline->with_keys && makes_keys(pipeline->input)) {
        if (keep_keys(job, batch) != FINE) return TROUBLE;
    } else if (pipeline->with_keys) {
        memcpy(job->keys + job->n, batch->key_texts, batch->n * sizeof *job->keys);
        memcpy(job->key_lengths + job->n, batch->key_text_lengths, batch->n * sizeof *job->key_lengths);
    }
    job->n += batch->n;
    job->lines[job->n] = batch->lines[batch->n - 1] + batch->line_lengths[batch->n - 1] + batch->terminator_length;
    return FINE;
}

/* ---- stages, entered with the lock held ---- */

static bool may_read(const struct ring *ring) {
    return !ring->reading && !ring->ended && ring->made - ring->taken < JOBS;
}

static bool may_take(const struct ring *ring) {
    return !ring->taking && ring->made > ring->taken && ring->jobs[ring->taken % JOBS].hashed;
}

static bool is_finished(const struct ring *ring) {
    return ring->refused || (ring->ended && ring->made == ring->taken);
}

/* Interrupts come to the one who reads. The other one can read on as soon as this block is read. */
static void read_and_hash(struct pipeline_worker *worker) {
    struct ring *ring = worker->ring;
    struct line_block *job = worker->job = &ring->jobs[ring->made % JOBS];
    ring->reading = true;
    pthread_mutex_unlock(&ring->lock);
    if (job->buffer.size < job->block && enlarge(&job->buffer.bytes, job->block + 1, 1)) job->buffer.size = job->block;
    leave_interrupts_to_others(false);
    int status = job->buffer.size ? blocks_next(&ring->blocks, &job->buffer, &worker->chunk) : no_memory();
    leave_interrupts_to_others(true);
    bool more = status == FINE && !blocks_none(&worker->chunk);
    pthread_mutex_lock(&ring->lock);
    ring->reading = false;
    if (!more) {
        ring->ended = true;
        if (!ring->refused) ring->status = status;
        return;
    }
    job->hashed = false;
    ring->made++;
    pthread_cond_signal(&ring->news);
    pthread_mutex_unlock(&ring->lock);
    job->n = job->made_length = 0;
    chunk_read(&worker->chunk);
    find_kept_keys(job);
    job->outcome = worker->chunk.outcome;
    job->file = worker->chunk.file;
    job->read_before_end = worker->chunk.read_before_end;
    pthread_mutex_lock(&ring->lock);
    job->hashed = true;
}

/* A reader whose lines nobody wants any more need not wait for the next one. */
static void end_taking(struct ring *ring, int status) {
    pthread_mutex_lock(&ring->lock);
    ring->taking = false;
    if (status == FINE) return;
    ring->refused = true;
    ring->status = status;
    input_interrupt();
}

static void take_job(struct ring *ring) {
    const struct pipeline *p = ring->pipeline;
    struct line_block *job = &ring->jobs[ring->taken % JOBS];
    ring->taking = true;
    pthread_mutex_unlock(&ring->lock);
    int status = job->n ? p->take(p->context, job) : FINE;
    if (job->file != ring->file) ring->lines = 0;
    ring->file = job->file;
    ring->lines += job->outcome.lines;
    ring->keys += job->n;
    ring->missing += job->outcome.missing;
    ring->invalid += job->outcome.invalid;
    progress_at(job->read_before_end, ring->keys);
    if (status == FINE) status = outcome_tell(&job->outcome, p->input->paths[job->file], ring->lines + 1);
    end_taking(ring, status);
    ring->taken++;
}

/* ---- waiting ---- */

/* The other worker is mostly about to end a stage: to sleep and be woken would take longer. */
static bool news_soon(struct ring *ring) {
    enum { TIMES = 100 };
    for (int i = 0; i < TIMES; i++) {
        pthread_mutex_unlock(&ring->lock);
        sched_yield();
        pthread_mutex_lock(&ring->lock);
        if (may_take(ring) || may_read(ring) || is_finished(ring)) return true;
    }
    return false;
}

/* For something to do; if nothing has come for long enough, that is a pause. */
static void wait_for_news(struct ring *ring) {
    const struct pipeline *p = ring->pipeline;
    if (news_soon(ring)) return;
    if (!p->pause || ring->taking || ring->made > ring->taken) {
        pthread_cond_wait(&ring->news, &ring->lock);
        return;
    }
    double end = clock_now() + fmin(p->patience(p->context), 1e6);
    struct timespec until = {(time_t)end, (long)((end - (double)(time_t)end) * 1e9)};
    if (pthread_cond_timedwait(&ring->news, &ring->lock, &until) == 0 || ring->taking) return;
    ring->taking = true;
    pthread_mutex_unlock(&ring->lock);
    end_taking(ring, p->pause(p->context));
}

/* ---- workers ---- */

static void *work(void *argument) {
    struct pipeline_worker *worker = argument;
    struct ring *ring = worker->ring;
    pthread_mutex_lock(&ring->lock);
    while (!is_finished(ring)) {
        if (may_take(ring))
            take_job(ring);
        else if (may_read(ring))
            read_and_hash(worker);
        else
            wait_for_news(ring);
        pthread_cond_signal(&ring->news);
    }
    pthread_mutex_unlock(&ring->lock);
    return NULL;
}

/* One worker does it all where there is one processor, unless something is to be done in pauses. */
int pipeline_run(const struct pipeline *pipeline) {
    struct ring ring = {.pipeline = pipeline,
                        .blocks = {.input = pipeline->input, .threads = 1, .wide = true},
                        .status = FINE,
                        .lock = PTHREAD_MUTEX_INITIALIZER};
    struct pipeline_worker workers[WORKERS] = {{0}};
    pthread_condattr_t attributes;
    pthread_t other;
    int status = input_make_interruptible();
    if (status != FINE) return status;
#if defined(__GLIBC__) /* what one worker frees, the other can use; or the system, if it is much */
    mallopt(M_ARENA_MAX, 1);
    mallopt(M_MMAP_THRESHOLD, 128 << 10);
#endif
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&ring.news, &attributes);
    pthread_condattr_destroy(&attributes);
    for (int i = 0; i < JOBS; i++) ring.jobs[i].block = FIRST_BLOCK;
    for (struct pipeline_worker *worker = workers; worker < workers + WORKERS; worker++) {
        worker->ring = &ring;
        worker->chunk.input = pipeline->input;
        worker->chunk.function = hash_batch;
        worker->chunk.context = worker;
    }

    input_start_progress(pipeline->input);
    leave_interrupts_to_others(true);
    bool two = (processor_count() > 1 || pipeline->pause) && pthread_create(&other, NULL, work, &workers[1]) == 0;
    work(&workers[0]);
    if (two) pthread_join(other, NULL);
    leave_interrupts_to_others(false);
    progress_end();

    blocks_end(&ring.blocks);
    for (struct line_block *job = ring.jobs; job < ring.jobs + JOBS; job++) {
        free(job->buffer.bytes);
        free(job->digests);
        free(job->lines);
        free(job->answers);
        free(job->ends);
        free(job->made);
        free(job->keys);
        free(job->key_lengths);
    }
    for (int i = 0; i < WORKERS; i++) chunk_free(&workers[i].chunk);
    input_tell_missing(pipeline->input, ring.missing, ring.invalid);
    pthread_cond_destroy(&ring.news);
    return ring.status;
}
