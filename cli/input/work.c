/*
 * What there is to do with keys, in several threads. A worker reads a block, makes keys of its
 * lines and works on them, and finishes it. Only one worker reads at a time, and only one finishes,
 * in the order of the input. So what comes of the input does not depend on the number of workers.
 *
 *     worker 1   read 1 │ work 1 │ finish 1 │ read 3 │ work 3 │ finish 3
 *     worker 2            read 2 │ work 2   │ finish 2 │ read 4 │ ...
 *
 * As long as each stage takes its share of the time, a worker carries its block through all of
 * them, and the block stays in the cache of one processor. Where finishing takes longer, a block
 * always waits for it, and the worker that finishes goes on with it while the others read and work.
 */
#include "blocks.h"
#include "output/report.h"

#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <time.h>

/* Large enough to make system calls rare, small enough to stay in the second-level cache. */
enum { BLOCK = 256 << 10 };

/* A block on its way. */
struct block_job {
    struct buffer buffer;
    struct input_chunk chunk;
    char *messages; /* what reading it and its work would have told */
    bool done;      /* it is worked on, and can be finished */
};

/* Jobs [finished, made) are on their way, in a ring of `count`. */
struct ring {
    const struct input *input;
    const struct key_work *work;
    struct block_reader blocks;
    struct block_job *jobs;
    size_t count, block; /* how large the buffer of the next job is to be */
    size_t made, finished;
    bool reading, finishing; /* someone is */
    bool alone;              /* there is one worker */
    bool ended;              /* nothing is left to read, or can be: `status` says why */
    bool refused;            /* no more is wanted: `status` says why */
    int status;
    char *messages;            /* what reading after the last job would have told */
    size_t file;               /* that the last finished job was of */
    uint64_t lines;            /* finished so far, of this file */
    uint64_t keys;             /* of all files */
    uint64_t missing, invalid; /* records of all files, likewise */
    pthread_mutex_t lock;
    pthread_cond_t news;
};

/* ---- stages, entered with the lock held ---- */

static bool may_read(const struct ring *ring) {
    return !ring->reading && !ring->ended && ring->made - ring->finished < ring->count;
}

static bool may_finish(const struct ring *ring) {
    return !ring->finishing && ring->made > ring->finished && ring->jobs[ring->finished % ring->count].done;
}

static bool is_over(const struct ring *ring) {
    return ring->refused || (ring->ended && ring->made == ring->finished);
}

static bool make_buffer(struct buffer *buffer, size_t size) {
    if (buffer->size >= size) return true;
    char *larger = realloc(buffer->bytes, size + 1);
    if (!larger) return buffer->size;
    buffer->bytes = larger;
    buffer->size = size;
    return true;
}

/* Interrupts come to the one who reads. Another one can read on as soon as this block is read. What
 * is wrong is told when it is its turn: after what is wrong with lines before it. */
static void read_and_work(struct ring *ring) {
    struct block_job *job = &ring->jobs[ring->made % ring->count];
    size_t block = ring->block;
    ring->reading = true;
    pthread_mutex_unlock(&ring->lock);
    keep_messages(&job->messages);
    if (!ring->alone) leave_interrupts_to_others(false);
    int status = make_buffer(&job->buffer, block) ? blocks_next(&ring->blocks, &job->buffer, &job->chunk)
                                                  : failure(NULL, "not enough memory for a block of lines");
    if (!ring->alone) leave_interrupts_to_others(true);
    keep_messages(NULL);
    bool more = status == FINE && !blocks_none(&job->chunk);
    pthread_mutex_lock(&ring->lock);
    ring->reading = false;
    if (!more) {
        ring->ended = true;
        ring->messages = job->messages;
        job->messages = NULL;
        if (!ring->refused) ring->status = status;
        return;
    }
    job->done = false;
    job->chunk.first_line = ring->count == 1 && job->chunk.file == ring->file ? ring->lines + 1 : 1;
    ring->made++;
    pthread_cond_signal(&ring->news);
    pthread_mutex_unlock(&ring->lock);
    keep_messages(&job->messages);
    chunk_read(&job->chunk);
    keep_messages(NULL);
    pthread_mutex_lock(&ring->lock);
    job->done = true;
}

/* A reader whose lines nobody wants any more need not wait for the next one. */
static void end_finishing(struct ring *ring, int status) {
    pthread_mutex_lock(&ring->lock);
    ring->finishing = false;
    if (status == FINE) return;
    ring->refused = true;
    ring->status = status;
    if (ring->reading) input_interrupt();
}

static void finish_job(struct ring *ring) {
    const struct key_work *work = ring->work;
    struct block_job *job = &ring->jobs[ring->finished % ring->count];
    const struct input_chunk *chunk = &job->chunk;
    const char *path = ring->input->paths[chunk->file];
    uint64_t before = chunk->file == ring->file ? ring->lines : 0, lines = before + chunk->outcome.lines;
    ring->finishing = true;
    pthread_mutex_unlock(&ring->lock);
    tell_messages(&job->messages);
    int status = work->in_order ? work->in_order(chunk->context, path, before + 1) : FINE;
    ring->keys += chunk->outcome.keys;
    ring->missing += chunk->outcome.missing;
    ring->invalid += chunk->outcome.invalid;
    progress_at(chunk->read_before_end, ring->keys);
    if (status == FINE) status = outcome_tell(&chunk->outcome, path, lines + 1);
    end_finishing(ring, status);
    ring->file = chunk->file;
    ring->lines = lines;
    if (work->block) ring->block = *work->block;
    ring->finished++;
}

/* ---- waiting ---- */

/* Other workers are mostly about to end a stage: to sleep and be woken would take longer. */
static bool news_soon(struct ring *ring) {
    enum { TIMES = 100 };
    for (int i = 0; i < TIMES; i++) {
        pthread_mutex_unlock(&ring->lock);
        sched_yield();
        pthread_mutex_lock(&ring->lock);
        if (may_finish(ring) || may_read(ring) || is_over(ring)) return true;
    }
    return false;
}

/* For something to do; if nothing has come for long enough, that is a pause. */
static void wait_for_news(struct ring *ring) {
    const struct key_work *work = ring->work;
    if (news_soon(ring)) return;
    if (!work->pause || ring->finishing || ring->made > ring->finished) {
        pthread_cond_wait(&ring->news, &ring->lock);
        return;
    }
    double end = clock_now() + fmin(work->patience(work->pausing), 1e6);
    struct timespec until = {(time_t)end, (long)((end - (double)(time_t)end) * 1e9)};
    if (pthread_cond_timedwait(&ring->news, &ring->lock, &until) == 0) return;
    if (ring->finishing || ring->made > ring->finished) return;
    ring->finishing = true;
    pthread_mutex_unlock(&ring->lock);
    end_finishing(ring, work->pause(work->pausing));
}

/* ---- workers ---- */

static void run_worker(void *context, unsigned i) {
    struct ring *ring = context;
    (void)i;
    pthread_mutex_lock(&ring->lock);
    while (!is_over(ring)) {
        if (may_finish(ring))
            finish_job(ring);
        else if (may_read(ring))
            read_and_work(ring);
        else
            wait_for_news(ring);
        pthread_cond_signal(&ring->news);
    }
    pthread_cond_broadcast(&ring->news);
    pthread_mutex_unlock(&ring->lock);
}

static bool make_jobs(struct ring *ring) {
    ring->jobs = calloc(ring->count, sizeof *ring->jobs);
    for (size_t i = 0; ring->jobs && i < ring->count; i++) {
        ring->jobs[i].chunk.input = ring->input;
        ring->jobs[i].chunk.function = ring->work->in_thread;
        ring->jobs[i].chunk.context = ring->work->contexts[i];
    }
    return ring->jobs;
}

static void free_jobs(struct ring *ring) {
    for (size_t i = 0; ring->jobs && i < ring->count; i++) {
        free(ring->jobs[i].buffer.bytes);
        chunk_free(&ring->jobs[i].chunk);
        free(ring->jobs[i].messages);
    }
    free(ring->jobs);
    free(ring->messages);
}

/* The condition's clock never goes back. */
static void begin_waiting(struct ring *ring) {
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&ring->news, &attributes);
    pthread_condattr_destroy(&attributes);
}

/* One thread may need another one, with which it takes turns, for what is to be done in pauses. */
static void run_workers(struct ring *ring) {
    unsigned workers = ring->work->threads;
    if (ring->work->pause && workers < 2) workers = 2;
    ring->alone = workers == 1;
    if (!ring->alone) leave_interrupts_to_others(true);
    call_in_threads(workers, run_worker, ring);
    if (!ring->alone) leave_interrupts_to_others(false);
}

int input_work(const struct input *input, const struct key_work *work) {
    struct ring ring = {.input = input,
                        .work = work,
                        .blocks = {.input = input},
                        .count = blocks_on_the_way(work->threads),
                        .block = work->block ? *work->block : BLOCK,
                        .lock = PTHREAD_MUTEX_INITIALIZER};
    if (work->threads > 1 || work->pause) ring.status = input_make_interruptible();
    if (ring.status != FINE) return ring.status;
    if (!make_jobs(&ring)) return failure(NULL, "not enough memory to read keys");
    begin_waiting(&ring);
    input_start_progress(input);
    run_workers(&ring);
    progress_end();
    if (!ring.refused) tell_messages(&ring.messages);
    input_tell_missing(input, ring.missing, ring.invalid);
    blocks_end(&ring.blocks);
    free_jobs(&ring);
    pthread_cond_destroy(&ring.news);
    return ring.status;
}

int input_read(const struct input *input, batch_function *function, void *context) {
    return input_work(input, &(struct key_work){.threads = 1, .in_thread = function, .contexts = &context});
}
