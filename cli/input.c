#include "input.h"
#include "lines.h"
#include "report.h"
#include "source.h"
#include "threads.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* One thread: large enough to make system calls rare, small enough to stay in the second-level cache. Several: large
 * enough to make starting them cheap; and not one for less than a few thousand lines. */
enum { BLOCK = 256 << 10, LARGE_BLOCK = 8 << 20, LEAST_PIECE = 64 << 10 };

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

/* One file being read. Of the buffer's bytes, [start..end) is not handed on yet, and [start..scanned) holds no line end. One byte
 * after the block is kept free for the terminator that a last line may lack. */
struct reader {
    const struct input *input;
    const struct work *work;
    const char *path;
    struct source source;
    bool ended;
    struct buffer *buffer;
    size_t start, scanned, end;
    bool used;            /* lines of this buffer were handed on */
    size_t file;          /* number of the path */
    uint64_t offset;      /* of buffer[0] in the file */
    uint64_t line;        /* number of the next line */
    uint64_t bytes, keys; /* read so far, of all files */
    struct piece *pieces; /* one for each thread */
};

/* --------------------------------------------------------------------------------------- blocks to pieces --- */

/* Where the whole lines end, or the whole records. */
static size_t whole_until(const struct reader *r) {
    if (r->input->encoding == ENCODING_U64LE) return r->end - (r->end - r->start) % 8;
    const char *last = memrchr(r->buffer->bytes + r->scanned, r->input->terminator, r->end - r->scanned);
    return last ? (size_t)(last - r->buffer->bytes) + 1 : r->start;
}

/* The first place from `at` on where a line or record begins; not beyond `until`, where one does. */
static size_t next_beginning(const struct reader *r, size_t at, size_t until) {
    if (at >= until) return until;
    if (r->input->encoding == ENCODING_U64LE) return at + (8 - (at - r->start) % 8) % 8;
    const char *stop = memchr(r->buffer->bytes + at, r->input->terminator, until - at);
    return stop ? (size_t)(stop - r->buffer->bytes) + 1 : until;
}

/* Cuts all up to `until` into pieces of about the same size; how many. */
static unsigned cut(struct reader *r, size_t until) {
    size_t most = (until - r->start) / LEAST_PIECE + 1, at = r->start;
    unsigned n = r->work->threads < most ? r->work->threads : (unsigned)most;
    size_t size = (until - r->start) / n;
    for (unsigned i = 0; i < n; i++) {
        size_t stop = i + 1 < n ? next_beginning(r, at + size, until) : until;
        struct piece *p = &r->pieces[i];
        p->path = r->path;
        p->file = r->file;
        p->origin = r->buffer->bytes;
        p->offset = r->offset;
        p->first_line = i ? 0 : r->line;
        p->at = r->buffer->bytes + at;
        p->end = r->buffer->bytes + stop;
        at = stop;
    }
    return n;
}

static void read_piece(void *context, unsigned i) {
    struct reader *r = context;
    piece_read(&r->pieces[i]);
}

/* What is left to do about a piece when all before it are done. */
static int finish_piece(struct reader *r, const struct piece *p) {
    uint64_t first = r->line;
    int status = FINE;
    r->line += p->lines;
    r->keys += p->lines;
    if (r->work->in_order) status = r->work->in_order(p->context, p->path, first);
    if (status != FINE) return status;
    if (*p->fault) return failure(input_name(p->path), "line %llu %s", (unsigned long long)r->line, p->fault);
    return p->status;
}

static int hand_on(struct reader *r) {
    size_t until = whole_until(r);
    unsigned n = cut(r, until);
    int status = FINE;
    call_in_threads(n, read_piece, r);
    for (unsigned i = 0; i < n && status == FINE; i++) status = finish_piece(r, &r->pieces[i]);
    r->used |= until > r->start;
    r->start = until;
    r->scanned = r->end;
    return status;
}

/* ----------------------------------------------------------------------------------------- files to blocks --- */

/* Makes a buffer so large that an unfinished line of `kept` bytes takes less than half of it. */
static int enlarge(const struct reader *r, struct buffer *buffer, size_t kept) {
    size_t size = buffer->size;
    while (kept >= size / 2 && size <= SIZE_MAX / 4) size *= 2;
    if (size == buffer->size) return FINE;
    char *larger = kept >= size / 2 ? NULL : realloc(buffer->bytes, size + 1);
    if (!larger)
        return failure(input_name(r->path),
                       "line %llu is too long for the memory there is; is -0 missing or one too many?",
                       (unsigned long long)r->line);
    *buffer = (struct buffer){larger, size};
    return FINE;
}

/* Moves the unfinished line to the front: of this buffer, or of another one if whole lines of this one were handed on to
 * someone who goes on using it. Only this thread writes into buffers, so the unfinished line is still there. */
static int make_room(struct reader *r) {
    size_t kept = r->end - r->start;
    struct buffer *next = r->buffer;
    if (r->work->exchange && r->used) next = r->work->exchange(r->work->contexts[0]);
    if (!next) return STOP;
    if (enlarge(r, next, kept) != FINE) return TROUBLE;
    if (kept) memmove(next->bytes, r->buffer->bytes + r->start, kept);
    r->buffer = next;
    r->used = false;
    r->offset += r->start;
    r->scanned -= r->start;
    r->start = 0;
    r->end = kept;
    return FINE;
}

static int end_of_file(struct reader *r) {
    size_t kept = r->end - r->start;
    int status = source_ended(&r->source);
    if (status != FINE) return status;
    r->ended = true;
    if (r->input->encoding == ENCODING_U64LE && kept)
        return failure(input_name(r->path),
                       "ends %zu byte%s after its last record of 8 bytes; it is cut off or is not --key u64le", kept,
                       kept == 1 ? "" : "s");
    if (kept) r->buffer->bytes[r->end++] = r->input->terminator;
    return FINE;
}

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
    if (parts.at < 0 || size < LEAST_PIECE * (size_t)threads) return read(fd, to, size);
    call_in_threads(threads, read_part, &parts);
    for (unsigned i = 0; i < threads && total == i * parts.size; i++) total += parts.got[i];
    errno = parts.error[0];
    if (total == 0 && errno) return -1;
    return lseek(fd, (off_t)total, SEEK_CUR) < 0 ? -1 : (ssize_t)total;
}

/* A buffer that a long line has enlarged is not filled with short ones: each of those takes memory of its own while it waits. */
static ssize_t read_some(const struct reader *r) {
    char *to = r->buffer->bytes + r->end;
    size_t room = r->buffer->size - r->end, size = room < LARGE_BLOCK ? room : LARGE_BLOCK;
    return r->work->threads > 1 ? read_in_parts(r->source.fd, to, size, r->work->threads)
                                : read(r->source.fd, to, size);
}

/* Until there is something to read, or an interruption; or nobody to write for. */
static void wait_for_input(const struct reader *r) {
    struct pollfd any[3] = {
        {.fd = r->source.fd, .events = POLLIN}, {.fd = interruptions[0], .events = POLLIN}, {.fd = watched_output}};
    if (interruptions[0] < 0) return;
    if (poll(any, 3, -1) > 0 && any[2].revents & (POLLERR | POLLHUP)) input_interrupt();
}

static int read_block(struct reader *r) {
    int status = make_room(r);
    while (status == FINE) {
        wait_for_input(r);
        if (interrupted) return STOP;
        ssize_t got = read_some(r);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0)
            return failure(input_name(r->path), "cannot be read: %s; %s", strerror(errno),
                           errno == EISDIR ? "give the files in it"
                                           : "give a readable file, or keys on standard input");
        if (got == 0) return end_of_file(r);
        r->end += (size_t)got;
        r->bytes += (uint64_t)got;
        return FINE;
    }
    return status;
}

/* Where a plain file is, since standard input need not be at its beginning. */
static uint64_t position(int fd) {
    off_t at = lseek(fd, 0, SEEK_CUR);
    return at > 0 ? (uint64_t)at : 0;
}

static int read_file(struct reader *r) {
    r->start = r->scanned = r->end = 0;
    r->offset = position(r->source.fd);
    r->line = 1;
    r->ended = false;
    while (!r->ended) {
        int status = read_block(r);
        if (status == FINE) status = hand_on(r);
        if (status != FINE) return status;
        progress_at(r->bytes, r->keys);
    }
    return FINE;
}

/* ------------------------------------------------------------------------------------------------- files --- */

/* Are all inputs plain files, which can be read twice? Then *total is their size. */
static bool plain_files(const struct input *input, uint64_t *total) {
    *total = 0;
    for (size_t i = 0; i < input->path_count; i++) {
        struct stat status;
        bool standard = strcmp(input->paths[i], "-") == 0;
        if ((standard ? fstat(STDIN_FILENO, &status) : stat(input->paths[i], &status)) != 0) return false;
        if (!S_ISREG(status.st_mode) || source_compressed(input->paths[i])) return false;
        *total += (uint64_t)status.st_size;
    }
    return true;
}

bool input_repeatable(const struct input *input) {
    uint64_t total;
    return plain_files(input, &total);
}

static int read_files(struct reader *r) {
    int status = FINE;
    for (size_t i = 0; i < r->input->path_count && status == FINE; i++) {
        r->path = r->input->paths[i];
        r->file = i;
        status = source_open(&r->source, r->path);
        if (status != FINE) return status;
        if (r->work->threads > 1 || r->work->exchange) source_widen(&r->source);
        status = read_file(r);
        source_close(&r->source);
    }
    return status;
}

static void prepare_pieces(struct reader *r) {
    for (unsigned i = 0; i < r->work->threads; i++) {
        r->pieces[i].input = r->input;
        r->pieces[i].function = r->work->in_thread;
        r->pieces[i].context = r->work->contexts[i];
    }
}

int input_work(const struct input *input, const struct work *work) {
    struct buffer own = {.size = work->threads > 1 ? LARGE_BLOCK : BLOCK};
    struct reader r = {.input = input, .work = work, .buffer = &own, .used = true};
    uint64_t total;
    int status;
    own.bytes = malloc(own.size + 1);
    r.pieces = calloc(work->threads, sizeof *r.pieces);
    if (own.bytes && r.pieces) {
        prepare_pieces(&r);
        if (!input->silent) progress_start(plain_files(input, &total) ? total : 0);
        status = read_files(&r);
        progress_end();
    } else {
        status = failure(NULL, "not enough memory to read keys");
    }
    for (unsigned i = 0; r.pieces && i < work->threads; i++) free(r.pieces[i].scratch);
    free(r.pieces);
    free(own.bytes);
    return status;
}

int input_read(const struct input *input, batch_function *function, void *context) {
    return input_work(input, &(struct work){.threads = 1, .in_thread = function, .contexts = &context});
}

/* ------------------------------------------------------------------------------------------------ counting --- */

/* The compiler compares many bytes at a time if the sum of a few fits into a byte, too. */
static uint64_t count_ends(const char *bytes, size_t n, char terminator) {
    enum { FEW = 192 };
    uint64_t found = 0;
    for (; n >= FEW; n -= FEW, bytes += FEW) {
        uint8_t some = 0;
        for (size_t i = 0; i < FEW; i++) some = (uint8_t)(some + (bytes[i] == terminator));
        found += some;
    }
    for (size_t i = 0; i < n; i++) found += bytes[i] == terminator;
    return found;
}

/* Counts line ends, and the last line if it has none; for raw records the bytes. */
static int count_file(int fd, const char *path, char terminator, char *buffer, uint64_t *lines, uint64_t *bytes) {
    char last = terminator;
    for (;;) {
        ssize_t got = read(fd, buffer, BLOCK);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return failure(input_name(path), "cannot be read: %s; give a readable file", strerror(errno));
        if (got == 0) break;
        *lines += count_ends(buffer, (size_t)got, terminator);
        *bytes += (uint64_t)got;
        last = buffer[got - 1];
    }
    *lines += last != terminator;
    return FINE;
}

static int count_path(const struct input *input, const char *path, char *buffer, uint64_t *keys) {
    struct source source;
    uint64_t lines = 0, bytes = 0;
    if (source_open(&source, path) != FINE) return TROUBLE;
    off_t began = lseek(source.fd, 0, SEEK_CUR);
    int status = count_file(source.fd, path, input->terminator, buffer, &lines, &bytes);
    if (status == FINE && lseek(source.fd, began, SEEK_SET) < 0)
        status = failure(input_name(path), "cannot be read twice: %s; give -n", strerror(errno));
    source_close(&source);
    *keys += input->encoding == ENCODING_U64LE ? bytes / 8 : lines;
    return status;
}

int input_count(const struct input *input, bool *countable, uint64_t *lines) {
    uint64_t total;
    *lines = 0;
    *countable = plain_files(input, &total);
    if (!*countable) return FINE;
    char *buffer = malloc(BLOCK);
    if (!buffer) return failure(NULL, "not enough memory to count keys");
    int status = FINE;
    for (size_t i = 0; i < input->path_count && status == FINE; i++)
        status = count_path(input, input->paths[i], buffer, lines);
    free(buffer);
    return status;
}

/* From the first bytes of a file, how many keys all of it has. */
static int estimate_path(const struct input *input, const char *path, char *buffer, double *keys) {
    struct source source;
    struct stat status;
    if (source_open(&source, path) != FINE) return TROUBLE;
    ssize_t got = fstat(source.fd, &status) == 0 ? pread(source.fd, buffer, BLOCK, (off_t)position(source.fd)) : -1;
    if (got > 0) {
        double ends = (double)count_ends(buffer, (size_t)got, input->terminator);
        *keys += (ends > 0 ? ends : 1) / (double)got * (double)status.st_size;
    }
    source_close(&source);
    return FINE;
}

int input_estimate(const struct input *input, uint64_t *keys) {
    uint64_t total;
    double sum = 0;
    *keys = 0;
    if (!plain_files(input, &total)) return FINE;
    if (input->encoding == ENCODING_U64LE) {
        *keys = total / 8 + 1;
        return FINE;
    }
    char *buffer = malloc(BLOCK);
    if (!buffer) return failure(NULL, "not enough memory to read keys");
    int status = FINE;
    for (size_t i = 0; i < input->path_count && status == FINE; i++)
        status = estimate_path(input, input->paths[i], buffer, &sum);
    free(buffer);
    *keys = (uint64_t)(sum * 1.02) + 1000;
    return status;
}
