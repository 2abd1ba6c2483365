#include "blocks.h"
#include "output/report.h"
#include "threads.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ----------------------------------------------------------------------------------------- interruptions --- */

static atomic_bool interrupted;
static int interruptions[2] = {-1, -1}; /* a pipe that has a byte when there was one */
static int watched_output = -1;

int input_make_interruptible(void) {
    if (interruptions[0] >= 0 || pipe2(interruptions, O_CLOEXEC | O_NONBLOCK) == 0) return FINE;
    return failure(NULL, "no pipe to be had: %s", strerror(errno));
}

void input_watch_output(int fd) {
    watched_output = fd;
}

void input_interrupt(void) {
    int before = errno;
    interrupted = true;
    if (interruptions[1] >= 0 && write(interruptions[1], "", 1) < 0) errno = before; /* it is full: so be it */
}

bool input_was_interrupted(void) {
    return interrupted;
}

/* Until there is something to read, or an interruption; or nobody to write for. */
static void wait_for_input(const struct blocks *b) {
    struct pollfd any[3] = {
        {.fd = b->source.fd, .events = POLLIN}, {.fd = interruptions[0], .events = POLLIN}, {.fd = watched_output}};
    if (interruptions[0] < 0) return;
    if (poll(any, 3, -1) > 0 && any[2].revents & (POLLERR | POLLHUP)) input_interrupt();
}

/* ------------------------------------------------------------------------------------------------ reading --- */

/* A block of a plain file, of which each thread reads a part. */
struct parts {
    int fd;
    off_t at;
    char *to;
    size_t size; /* of a part */
    size_t got[MOST_THREADS];
    int error[MOST_THREADS];
};

static void read_part(void *context, unsigned i) {
    struct parts *p = context;
    ssize_t got = 1;
    while (got && p->got[i] < p->size && !p->error[i]) {
        size_t before = i * p->size + p->got[i];
        got = pread(p->fd, p->to + before, p->size - p->got[i], p->at + (off_t)before);
        if (got < 0 && errno != EINTR) p->error[i] = errno;
        if (got > 0) p->got[i] += (size_t)got;
    }
}

/* As read(2), but only whole parts, up to one that is short: there the file ends, or has an error, which comes again with
 * the next block. */
static ssize_t read_in_parts(int fd, char *to, size_t size, unsigned threads) {
    struct parts parts = {.fd = fd, .to = to, .size = size / threads, .at = lseek(fd, 0, SEEK_CUR)};
    size_t total = 0;
    if (parts.at < 0 || size < LEAST_CHUNK * (size_t)threads) return read(fd, to, size);
    call_in_threads(threads, read_part, &parts);
    for (unsigned i = 0; i < threads && total == i * parts.size; i++) total += parts.got[i];
    errno = parts.error[0];
    if (total == 0 && errno) return -1;
    return lseek(fd, (off_t)total, SEEK_CUR) < 0 ? -1 : (ssize_t)total;
}

/* A buffer that a long line has enlarged is not filled with short ones: each of those takes memory of its own while it waits. */
static ssize_t read_some(const struct blocks *b) {
    char *to = b->buffer->bytes + b->end;
    size_t room = b->buffer->size - b->end, size = room < LARGE_BLOCK ? room : LARGE_BLOCK;
    return b->threads > 1 ? read_in_parts(b->source.fd, to, size, b->threads) : read(b->source.fd, to, size);
}

static const char *path_of(const struct blocks *b) {
    return b->input->paths[b->file];
}

static int end_of_file(struct blocks *b) {
    size_t kept = b->end - b->start;
    int status = source_ended(&b->source);
    if (status != FINE) return status;
    b->ended = true;
    if (b->input->encoding == ENCODING_U64LE && kept)
        return failure(input_name(path_of(b)),
                       "ends %zu byte%s after its last record of 8 bytes; it is cut off or is not --key u64le", kept,
                       kept == 1 ? "" : "s");
    if (kept) b->buffer->bytes[b->end++] = b->input->terminator;
    return FINE;
}

/* Something behind what is kept, or the end of the file. */
static int read_on(struct blocks *b) {
    for (;;) {
        wait_for_input(b);
        if (interrupted) return STOP;
        ssize_t got = read_some(b);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0)
            return failure(input_name(path_of(b)), "cannot be read: %s; %s", strerror(errno),
                           errno == EISDIR ? "give the files in it"
                                           : "give a readable file, or keys on standard input");
        if (got == 0) return end_of_file(b);
        b->end += (size_t)got;
        b->bytes += (uint64_t)got;
        return FINE;
    }
}

/* ------------------------------------------------------------------------------------------------- blocks --- */

/* Makes a buffer so large that an unfinished line of `kept` bytes takes less than half of it. */
static bool enlarge(struct buffer *buffer, size_t kept) {
    size_t size = buffer->size;
    while (kept >= size / 2 && size <= SIZE_MAX / 4) size *= 2;
    if (size == buffer->size) return true;
    char *larger = kept >= size / 2 ? NULL : realloc(buffer->bytes, size + 1);
    if (larger) *buffer = (struct buffer){larger, size};
    return larger;
}

/* Moves the unfinished line to the front of the buffer that is next. */
static bool make_room(struct blocks *b, struct buffer *next) {
    size_t kept = b->end - b->start;
    if (!enlarge(next, kept)) return false;
    if (kept) memmove(next->bytes, b->buffer->bytes + b->start, kept);
    b->buffer = next;
    b->offset += b->start;
    b->scanned -= b->start;
    b->start = 0;
    b->end = kept;
    return true;
}

/* Where the whole lines end, or the whole records. */
static size_t whole_until(const struct blocks *b) {
    if (b->input->encoding == ENCODING_U64LE) return b->end - (b->end - b->start) % 8;
    const char *last = memrchr(b->buffer->bytes + b->scanned, b->input->terminator, b->end - b->scanned);
    return last ? (size_t)(last - b->buffer->bytes) + 1 : b->start;
}

static void hand_on(struct blocks *b, struct input_chunk *chunk) {
    size_t until = whole_until(b);
    chunk->path = path_of(b);
    chunk->file = b->file;
    chunk->origin = b->buffer->bytes;
    chunk->offset = b->offset;
    chunk->at = b->buffer->bytes + b->start;
    chunk->end = b->buffer->bytes + until;
    chunk->read_before_end = b->bytes;
    b->start = until;
    b->scanned = b->end;
}

static void too_long(const struct blocks *b, struct input_chunk *chunk) {
    chunk->path = path_of(b);
    chunk->file = b->file;
    chunk->outcome.status = TROUBLE;
    snprintf(chunk->outcome.fault, sizeof chunk->outcome.fault,
             "is too long for the memory there is; is -0 missing or one too many?");
}

static int open_next(struct blocks *b) {
    int status = source_open(&b->source, path_of(b));
    if (status != FINE) return status;
    if (b->wide) source_widen(&b->source);
    b->offset = (uint64_t)source_position(&b->source);
    b->start = b->scanned = b->end = 0;
    b->open = true;
    b->ended = false;
    return FINE;
}

static void close_this(struct blocks *b) {
    source_close(&b->source);
    b->open = false;
    b->file++;
}

void blocks_begin(struct blocks *blocks, const struct input *input, unsigned threads, bool wide) {
    *blocks = (struct blocks){.input = input, .threads = threads, .wide = wide};
}

bool blocks_none(const struct input_chunk *chunk) {
    return chunk->at == chunk->end && chunk->outcome.status == FINE;
}

int blocks_next(struct blocks *b, struct buffer *buffer, struct input_chunk *chunk) {
    chunk->at = chunk->end = NULL;
    chunk->outcome = (struct chunk_outcome){.status = FINE};
    while (b->file < b->input->path_count && blocks_none(chunk)) {
        int status = b->open ? FINE : open_next(b);
        if (status != FINE) return status;
        if (!make_room(b, buffer)) {
            too_long(b, chunk);
            return FINE;
        }
        status = read_on(b);
        if (status != FINE) return status;
        hand_on(b, chunk);
        if (b->ended) close_this(b);
    }
    return FINE;
}

void blocks_end(struct blocks *blocks) {
    if (blocks->open) source_close(&blocks->source);
}
