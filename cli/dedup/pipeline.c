#include "pipeline.h"
#include "input/records.h"
#include "output/numbers.h"
#include "output/report.h"

#if defined(__GLIBC__)
#include <malloc.h>
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* First blocks stay in the cache. Lines are looked up in order, which takes longer than all else:
 * more threads would only wait. N-grams take longer to hash. */
enum { FIRST_BLOCK = 128 << 10, THREADS = 2, THREADS_FOR_NGRAMS = 4 };

/* A block on its way. */
struct line_job {
    struct pipeline_run *run;
    struct line_block block;
};

struct pipeline_run {
    const struct pipeline *pipeline;
    size_t block; /* how large the next one is to be */
    struct line_job jobs[THREADS_FOR_NGRAMS + 1];
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
static int make_room(struct line_block *block, size_t n, const struct input *input, bool with_keys) {
    if (n <= block->room - block->n) return FINE;
    size_t room = 2 * (block->n + n);
    bool fine = enlarge(&block->digests, room, sizeof *block->digests) &&
                enlarge(&block->lines, room + 1, sizeof *block->lines) &&
                enlarge(&block->answers, room, sizeof *block->answers);
    if (input_skips(input)) fine = fine && enlarge(&block->ends, room, sizeof *block->ends);
    if (with_keys)
        fine = fine && enlarge(&block->keys, room, sizeof *block->keys) &&
               enlarge(&block->key_lengths, room, sizeof *block->key_lengths);
    if (!fine) return no_memory();
    block->room = room;
    return FINE;
}

/* Copies keys that are gone after this call. Where `made` will be is known when it is complete:
 * until then `keys` has offsets. */
static int keep_keys(struct line_block *block, const struct batch *batch) {
    for (size_t i = 0; i < batch->n; i++) {
        size_t length = batch->key_text_lengths[i], needed = block->made_length + length + NUMBER_TEXT;
        if (needed > block->made_room && !enlarge(&block->made, 2 * needed, 1)) return no_memory();
        if (needed > block->made_room) block->made_room = 2 * needed;
        char *to = block->made + block->made_length;
        int digits = snprintf(to, NUMBER_TEXT, "%zu:", length);
        memcpy(to + digits, batch->key_texts[i], length);
        block->keys[block->n + i] = (const char *)(uintptr_t)block->made_length;
        block->key_lengths[block->n + i] = (size_t)digits + length;
        block->made_length += (size_t)digits + length;
    }
    return FINE;
}

static void find_kept_keys(struct line_block *block) {
    for (size_t i = 0; i < block->n && block->made_length; i++)
        block->keys[i] = block->made + (uintptr_t)block->keys[i];
}

static int hash_ngrams(struct line_block *block, const struct pipeline *pipeline, const struct batch *batch) {
    struct ngram_maker maker = {pipeline->hasher, pipeline->input->ngram, pipeline->input->ignore_case};
    for (size_t i = 0; i < batch->n; i++)
        if (!ngrams_add(&block->ngrams, &maker, batch->key_texts[i], batch->key_text_lengths[i])) return no_memory();
    return FINE;
}

static int hash_batch(void *context, const struct batch *batch) {
    struct line_job *job = context;
    struct line_block *block = &job->block;
    const struct pipeline *pipeline = job->run->pipeline;
    const struct input *input = pipeline->input;
    perhaps_keys keys = batch_keys(batch);
    if (make_room(block, batch->n, input, pipeline->with_keys) != FINE) return TROUBLE;
    if (!block->n) block->offset = batch->offset;
    block->file = batch->file;
    if (!input->ngram)
        perhaps_digest_many(pipeline->hasher, &keys, block->digests + block->n);
    else if (hash_ngrams(block, pipeline, batch) != FINE)
        return TROUBLE;
    memcpy(block->lines + block->n, batch->lines, batch->n * sizeof *block->lines);
    for (size_t i = 0; i < batch->n && block->ends; i++)
        block->ends[block->n + i] = batch->lines[i] + batch->line_lengths[i] + batch->terminator_length;
    if (pipeline->with_keys && makes_keys(input)) {
        if (keep_keys(block, batch) != FINE) return TROUBLE;
    } else if (pipeline->with_keys) {
        memcpy(block->keys + block->n, batch->key_texts, batch->n * sizeof *block->keys);
        memcpy(block->key_lengths + block->n, batch->key_text_lengths, batch->n * sizeof *block->key_lengths);
    }
    block->n += batch->n;
    block->lines[block->n] = batch->lines[batch->n - 1] + batch->line_lengths[batch->n - 1] + batch->terminator_length;
    return FINE;
}

static int take_block(void *context, const char *path, uint64_t first_line) {
    struct line_job *job = context;
    const struct pipeline *pipeline = job->run->pipeline;
    (void)path, (void)first_line;
    find_kept_keys(&job->block);
    int status = job->block.n ? pipeline->take(pipeline->context, &job->block) : FINE;
    if (job->block.next_size > job->run->block) job->run->block = job->block.next_size;
    job->block.n = job->block.made_length = 0;
    ngrams_clear(&job->block.ngrams);
    return status;
}

/* ---- running ---- */

int pipeline_run(const struct pipeline *pipeline) {
    struct pipeline_run run = {.pipeline = pipeline, .block = FIRST_BLOCK};
    void *contexts[THREADS_FOR_NGRAMS + 1];
    unsigned most = pipeline->input->ngram ? THREADS_FOR_NGRAMS : THREADS;
#if defined(__GLIBC__) /* what one worker frees, others can use; or the system, if it is much */
    mallopt(M_ARENA_MAX, 1);
    mallopt(M_MMAP_THRESHOLD, 128 << 10);
#endif
    for (unsigned i = 0; i <= THREADS_FOR_NGRAMS; i++) {
        run.jobs[i].run = &run;
        contexts[i] = &run.jobs[i];
    }
    int status =
        input_work(pipeline->input, &(struct key_work){.threads = pipeline->threads < most ? pipeline->threads : most,
                                                       .in_thread = hash_batch,
                                                       .in_order = take_block,
                                                       .contexts = contexts,
                                                       .block = &run.block,
                                                       .pause = pipeline->pause,
                                                       .patience = pipeline->patience,
                                                       .pausing = pipeline->context});
    for (unsigned i = 0; i <= THREADS_FOR_NGRAMS; i++) {
        struct line_block *block = &run.jobs[i].block;
        ngrams_free(&block->ngrams);
        free(block->digests);
        free(block->lines);
        free(block->ends);
        free(block->answers);
        free(block->keys);
        free(block->key_lengths);
        free(block->made);
    }
    return status;
}
