#include "pipeline.h"
#include "../interrupt.h"
#include "../report.h"
#include "../threads.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* So many jobs are in use in turn. A block is large enough to sort its digests by shard, and small enough for all of them to stay in
 * the cache. */
enum { JOBS = 4, BLOCK = 1 << 20 };

/* Jobs [done, made) are on their way, in a ring: the reader makes the one with number `made`. */
struct ring {
    const struct pipeline *pipeline;
    struct job jobs[JOBS];
    size_t made, done;
    bool ended;   /* the reader has ended, with this status */
    bool refused; /* the taker wants no more */
    int status;
    bool threads; /* else the reader takes its own jobs */
    pthread_mutex_t lock;
    pthread_cond_t news;
};

/* ---------------------------------------------------------------------------------------------- the reader --- */

static int no_memory(void) {
    return failure(NULL, "not enough memory for so many lines at a time");
}

static bool enlarge(void *array, size_t n, size_t size) {
    void *larger = n > SIZE_MAX / size ? NULL : realloc(*(void **)array, n * size);
    if (larger) *(void **)array = larger;
    return larger;
}

/* Room for n lines more. */
static int make_room(struct job *job, size_t n, bool with_keys) {
    if (n <= job->room - job->n) return FINE;
    size_t room = 2 * (job->n + n);
    bool fine = enlarge(&job->digests, room, sizeof *job->digests) &&
                enlarge(&job->lines, room + 1, sizeof *job->lines) &&
                enlarge(&job->answers, room, sizeof *job->answers);
    if (with_keys)
        fine = fine && enlarge(&job->keys, room, sizeof *job->keys) &&
               enlarge(&job->key_lengths, room, sizeof *job->key_lengths);
    if (!fine) return no_memory();
    job->room = room;
    return FINE;
}

static void copy_keys(struct job *job, const struct batch *batch) {
    memcpy(job->keys + job->n, batch->key_texts, batch->n * sizeof *job->keys);
    memcpy(job->key_lengths + job->n, batch->key_text_lengths, batch->n * sizeof *job->key_lengths);
}

static int hash_batch(void *context, const struct batch *batch) {
    struct ring *ring = context;
    struct job *job = &ring->jobs[ring->made % JOBS];
    const perhaps *filter = ring->pipeline->filter;
    if (make_room(job, batch->n, ring->pipeline->with_keys) != FINE) return TROUBLE;
    if (!job->n) {
        job->file = batch->file;
        job->offset = batch->offset;
    }
    uint64_t *digests = job->digests + job->n;
    for (size_t i = 0; batch->numbers && i < batch->n; i++) digests[i] = perhaps_digest_u64(filter, batch->numbers[i]);
    for (size_t i = 0; !batch->numbers && i < batch->n; i++)
        digests[i] = perhaps_digest(filter, batch->keys[i], batch->lengths[i]);
    memcpy(job->lines + job->n, batch->lines, batch->n * sizeof *job->lines);
    if (ring->pipeline->with_keys) copy_keys(job, batch);
    job->n += batch->n;
    job->lines[job->n] = batch->lines[batch->n - 1] + batch->line_lengths[batch->n - 1] + batch->terminator_length;
    return FINE;
}

static int send(void *context, const char *path, uint64_t first_line) {
    struct ring *ring = context;
    struct job *job = &ring->jobs[ring->made % JOBS];
    (void)path;
    (void)first_line;
    if (!job->n) return FINE;
    if (!ring->threads) {
        int status = ring->pipeline->take(ring->pipeline->context, job);
        job->n = 0;
        return status;
    }
    pthread_mutex_lock(&ring->lock);
    ring->made++;
    pthread_cond_signal(&ring->news);
    pthread_mutex_unlock(&ring->lock);
    return FINE;
}

/* The buffer of the next job, when that is free. */
static struct buffer *next_buffer(void *context) {
    struct ring *ring = context;
    pthread_mutex_lock(&ring->lock);
    while (ring->made - ring->done == JOBS && !ring->refused) pthread_cond_wait(&ring->news, &ring->lock);
    bool refused = ring->refused;
    pthread_mutex_unlock(&ring->lock);
    struct job *job = &ring->jobs[ring->made % JOBS];
    job->n = 0;
    return refused ? NULL : &job->buffer;
}

static int read_all(struct ring *ring) {
    void *context = ring;
    return input_work(
        ring->pipeline->input,
        &(struct work){
            .threads = 1, .in_thread = hash_batch, .in_order = send, .contexts = &context, .exchange = next_buffer});
}

static void *read_in_thread(void *argument) {
    struct ring *ring = argument;
    int status = read_all(ring);
    pthread_mutex_lock(&ring->lock);
    ring->ended = true;
    ring->status = status;
    pthread_cond_signal(&ring->news);
    pthread_mutex_unlock(&ring->lock);
    return NULL;
}

/* ----------------------------------------------------------------------------------------------- the taker --- */

/* Waits for a job, or for the end of a pause: then NULL and not `ended`. Called with the lock held. */
static struct job *next_job(struct ring *ring, const struct timespec *until) {
    int rc = 0;
    while (ring->made == ring->done && !ring->ended && rc == 0)
        rc = until ? pthread_cond_timedwait(&ring->news, &ring->lock, until)
                   : pthread_cond_wait(&ring->news, &ring->lock);
    return ring->made == ring->done ? NULL : &ring->jobs[ring->done % JOBS];
}

static struct timespec after(double seconds) {
    static const double most = 1e6;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (seconds > most) seconds = most;
    int64_t nanoseconds = now.tv_nsec + (int64_t)((seconds - (double)(int64_t)seconds) * 1e9);
    now.tv_sec += (time_t)seconds + (time_t)(nanoseconds / 1000000000);
    now.tv_nsec = (long)(nanoseconds % 1000000000);
    return now;
}

static int take_all(struct ring *ring) {
    const struct pipeline *p = ring->pipeline;
    int status = FINE;
    pthread_mutex_lock(&ring->lock);
    for (bool ended = false; status == FINE && !ended;) {
        struct timespec until = after(p->pause ? p->patience(p->context) : 0);
        struct job *job = next_job(ring, p->pause ? &until : NULL);
        ended = !job && ring->ended;
        pthread_mutex_unlock(&ring->lock);
        if (job)
            status = p->take(p->context, job);
        else if (!ended)
            status = p->pause(p->context);
        pthread_mutex_lock(&ring->lock);
        ring->done += job != NULL;
        ring->refused = status != FINE;
        pthread_cond_signal(&ring->news);
    }
    pthread_mutex_unlock(&ring->lock);
    return status;
}

static int prepare(struct ring *ring) {
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_mutex_init(&ring->lock, NULL);
    pthread_cond_init(&ring->news, &attributes);
    pthread_condattr_destroy(&attributes);
    for (int i = 0; i < JOBS; i++) {
        ring->jobs[i].buffer = (struct buffer){malloc(BLOCK + 1), BLOCK};
        if (!ring->jobs[i].buffer.bytes) return no_memory();
    }
    return FINE;
}

static void tidy_up(struct ring *ring) {
    for (int i = 0; i < JOBS; i++) {
        struct job *job = &ring->jobs[i];
        free(job->buffer.bytes);
        free(job->digests);
        free(job->lines);
        free(job->answers);
        free(job->keys);
        free(job->key_lengths);
    }
    pthread_cond_destroy(&ring->news);
    pthread_mutex_destroy(&ring->lock);
}

/* A reader whose lines nobody wants any more need not wait for the next one. */
static void end_reader(pthread_t reader, int status) {
    if (status != FINE) input_interrupt();
    pthread_join(reader, NULL);
    leave_interrupts_to_others(false);
}

int pipeline_run(const struct pipeline *pipeline) {
    struct ring ring = {.pipeline = pipeline};
    pthread_t reader;
    int status = input_make_interruptible();
    if (status == FINE) status = prepare(&ring);
    if (status == FINE) {
        ring.threads = processor_count() > 1 || pipeline->pause; /* which the reader looks at as soon as there is one */
        if (ring.threads && pthread_create(&reader, NULL, read_in_thread, &ring) != 0) ring.threads = false;
        if (ring.threads) leave_interrupts_to_others(true);
        status = ring.threads ? take_all(&ring) : read_all(&ring);
        if (ring.threads) end_reader(reader, status);
        if (status == FINE && ring.threads) status = ring.status;
    }
    tidy_up(&ring);
    return status;
}
