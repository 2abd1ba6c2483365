#include "blocks.h"
#include "output/numbers.h"
#include "output/report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* For one thread: large enough to make system calls rare, small enough to stay in the second-level
 * cache. Several have a LARGE_BLOCK, which makes starting them cheap. */
enum { BLOCK = 256 << 10 };

/* Are all inputs plain files, which can be read twice? Then *total is their size. */
static bool plain_files(const struct input *input, uint64_t *total) {
    *total = 0;
    for (size_t i = 0; i < input->path_count; i++) {
        struct stat status;
        bool standard = strcmp(input->paths[i], "-") == 0;
        if ((standard ? fstat(STDIN_FILENO, &status) : stat(input->paths[i], &status)) != 0) return false;
        if (!S_ISREG(status.st_mode) || decompressor_of(input->paths[i])) return false;
        *total += (uint64_t)status.st_size;
    }
    return true;
}

bool input_repeatable(const struct input *input) {
    uint64_t total;
    return plain_files(input, &total);
}

void input_start_progress(const struct input *input) {
    uint64_t total;
    if (!input->silent) progress_start(plain_files(input, &total) ? total : 0, false);
}

/* ---- reading ---- */

/* A block at a time, cut into chunks. */
struct input_reader {
    const struct input *input;
    const struct key_work *work;
    struct blocks blocks;
    struct buffer buffer;
    size_t file;                /* that the last chunk was of */
    uint64_t line;              /* number of the next line in it */
    uint64_t keys;              /* so far, of all files */
    uint64_t missing, invalid;  /* of records, likewise */
    struct input_chunk *chunks; /* one for each thread */
};

/* Cuts the block, which is the first chunk, into chunks of about the same size; how many. */
static unsigned cut(struct input_reader *r) {
    struct input_chunk *p = r->chunks;
    const char *until = p->end;
    size_t all = (size_t)(until - p->at), most = all / LEAST_CHUNK + 1;
    unsigned n = r->work->threads < most ? r->work->threads : (unsigned)most;
    struct record_search search = record_search_in(r->input, p->at, until);
    size_t skip = p->marked ? MARK_BYTES : 0;
    for (unsigned i = 1; i < n; i++, p++) {
        size_t share = all / n, rest = (size_t)(until - p->at);
        if (r->input->records == PERHAPS_RAW) {
            p->end = p->at + share / 8 * 8;
        } else {
            const char *stop = share < rest ? record_end_from(search, p->at + skip, p->at + share, until) : NULL;
            p->end = stop ? stop : until;
        }
        skip = 0;
        p[1].file = p->file;
        p[1].columns = p->columns;
        p[1].marked = false;
        p[1].at = p->end;
        p[1].end = until;
        p[1].offset = p->offset + (uint64_t)(p->end - p->at);
        p[1].outcome = (struct chunk_outcome){.status = FINE};
    }
    return n;
}

static void read_chunk(void *context, unsigned i) {
    struct input_chunk *chunks = context;
    chunk_read(&chunks[i]);
}

/* Has a block read in threads, then does in order what is left to do about its chunks. */
static int work_on_block(struct input_reader *r) {
    struct input_chunk *block = r->chunks;
    const char *path = r->input->paths[block->file];
    int status = FINE;
    if (block->file != r->file) r->line = 1;
    r->file = block->file;
    block->first_line = r->line;
    unsigned n = cut(r);
    call_in_threads(n, read_chunk, r->chunks);
    for (unsigned i = 0; i < n && status == FINE; i++) {
        const struct input_chunk *p = &r->chunks[i];
        if (r->work->in_order) status = r->work->in_order(p->context, path, r->line);
        r->line += p->outcome.lines;
        r->keys += p->outcome.keys;
        r->missing += p->outcome.missing;
        r->invalid += p->outcome.invalid;
        if (status == FINE) status = outcome_tell(&p->outcome, path, r->line);
    }
    progress_at(block->read_before_end, r->keys);
    return status;
}

int input_work(const struct input *input, const struct key_work *work) {
    unsigned threads = work->threads;
    size_t size = threads > 1 ? LARGE_BLOCK : BLOCK;
    struct input_reader r = {.input = input,
                             .work = work,
                             .blocks = {.input = input, .threads = threads, .wide = threads > 1},
                             .buffer = {malloc(size + 1), size},
                             .line = 1};
    int status = TROUBLE;
    r.chunks = calloc(threads, sizeof *r.chunks);
    if (r.buffer.bytes && r.chunks) {
        for (unsigned i = 0; i < threads; i++) {
            r.chunks[i].input = input;
            r.chunks[i].function = work->in_thread;
            r.chunks[i].context = work->contexts[i];
        }
        input_start_progress(input);
        do {
            status = blocks_next(&r.blocks, &r.buffer, r.chunks);
            if (status != FINE || blocks_none(r.chunks)) break;
            status = work_on_block(&r);
        } while (status == FINE);
        blocks_end(&r.blocks);
        progress_end();
        for (unsigned i = 0; i < threads; i++) chunk_free(&r.chunks[i]);
        input_tell_missing(input, r.missing, r.invalid);
    } else {
        failure(NULL, "not enough memory to read keys");
    }
    free(r.chunks);
    free(r.buffer.bytes);
    return status;
}

int input_read(const struct input *input, batch_function *function, void *context) {
    return input_work(input, &(struct key_work){.threads = 1, .in_thread = function, .contexts = &context});
}

void input_tell_missing(const struct input *input, uint64_t missing, uint64_t invalid) {
    char count[NUMBER_TEXT], what[COLUMNS_TEXT + 40];
    const char *name = input->path_count == 1 ? input_name(input->paths[0]) : NULL;
    if (input->quiet) return;
    bool one = missing == 1, skipped = input->missing == MISSING_SKIP;
    if (missing)
        remark(name, "%s record%s %s, and %s", group_digits(missing, count), one ? " has" : "s have",
               missing_text(input, what, sizeof what),
               !skipped ? "the empty key"
               : one    ? "was skipped"
                        : "were skipped");
    if (invalid)
        remark(name, "%s record%s not valid, and skipped", group_digits(invalid, count),
               invalid == 1 ? " was" : "s were");
}

/* ---- counting ---- */

/* Adds the keys of a plain file: the ends of its records, and the last one if it has none, less the
 * header; or its raw records. Blank lines and records without a key are counted, too. With `roughly`, about how many there are, by its first bytes and its size. The file stays where
 * it is. */
static int count_path(const struct input *input, const char *path, bool roughly, char *buffer, uint64_t *keys) {
    struct input_source source;
    struct stat file;
    struct record_search search = record_search_in(input, NULL, NULL);
    uint64_t ends = 0, bytes = 0;
    char last = input->terminator;
    ssize_t got;
    if (source_open(&source, path, NULL) != FINE) return TROUBLE;
    off_t began = source_position(&source);
    do {
        got = pread(source.fd, buffer, BLOCK, began + (off_t)bytes);
        if (got > 0) {
            ends += count_records(&search, buffer, buffer + got);
            bytes += (uint64_t)got;
            last = buffer[got - 1];
        }
    } while ((got > 0 && !roughly) || (got < 0 && errno == EINTR));
    if (got < 0 || fstat(source.fd, &file) != 0) {
        int error = errno;
        source_close(&source);
        return failure(input_name(path), "cannot be read: %s; give a readable file", strerror(error));
    }
    source_close(&source);
    if (input->records == PERHAPS_RAW)
        *keys += bytes / 8;
    else if (!roughly)
        *keys += ends + (last != input->terminator) - (input->header && ends);
    else if (bytes)
        *keys += (uint64_t)((double)(ends ? ends : 1) * (double)file.st_size / (double)bytes);
    return FINE;
}

static int count_paths(const struct input *input, bool roughly, uint64_t *keys) {
    int status = FINE;
    char *buffer = malloc(BLOCK);
    if (!buffer) return failure(NULL, "not enough memory to count keys");
    for (size_t i = 0; i < input->path_count && status == FINE; i++)
        status = count_path(input, input->paths[i], roughly, buffer, keys);
    free(buffer);
    return status;
}

int input_count(const struct input *input, bool *countable, uint64_t *lines) {
    *lines = 0;
    *countable = input_repeatable(input);
    return *countable ? count_paths(input, false, lines) : FINE;
}

int input_estimate(const struct input *input, uint64_t *keys) {
    uint64_t total, about = 0;
    *keys = 0;
    if (!plain_files(input, &total)) return FINE;
    if (input->records != PERHAPS_RAW && count_paths(input, true, &about) != FINE) return TROUBLE;
    *keys = input->records == PERHAPS_RAW ? total / 8 + 1 : (uint64_t)((double)about * 1.02) + 1000;
    return FINE;
}
