#include "input.h"
#include "blocks.h"
#include "output/report.h"
#include "threads.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* For one thread: large enough to make system calls rare, small enough to stay in the second-level cache. Several have a
 * LARGE_BLOCK, which makes starting them cheap. */
enum { BLOCK = 256 << 10 };

/* --------------------------------------------------------------------------------------- blocks to chunks --- */

/* A block at a time, cut into chunks. */
struct input_reader {
    const struct input *input;
    const struct key_work *work;
    struct blocks blocks;
    struct buffer buffer;
    size_t file;                /* that the last chunk was of */
    uint64_t line;              /* number of the next line in it */
    uint64_t keys;              /* so far, of all files */
    struct input_chunk *chunks; /* one for each thread */
};

/* The first place from `at` on where a line or record begins; not beyond `until`, where one does. */
static const char *next_beginning(const struct input *input, const struct input_chunk *block, const char *at,
                                  const char *until) {
    if (at >= until) return until;
    if (input->encoding == ENCODING_U64LE) return at + (8 - (at - block->at) % 8) % 8;
    const char *stop = memchr(at, input->terminator, (size_t)(until - at));
    return stop ? stop + 1 : until;
}

/* Cuts the block, which is the first chunk, into chunks of about the same size; how many. */
static unsigned cut(struct input_reader *r) {
    struct input_chunk *block = &r->chunks[0];
    const char *until = block->end;
    size_t all = (size_t)(until - block->at), most = all / LEAST_CHUNK + 1;
    unsigned n = r->work->threads < most ? r->work->threads : (unsigned)most;
    block->first_line = r->line;
    for (unsigned i = 0; i < n; i++) {
        struct input_chunk *p = &r->chunks[i];
        if (i) {
            p->path = block->path;
            p->file = block->file;
            p->origin = block->origin;
            p->offset = block->offset;
            p->first_line = 0;
            p->outcome = (struct chunk_outcome){.status = FINE};
            p->at = p[-1].end;
        }
        p->end = i + 1 < n ? next_beginning(r->input, block, p->at + all / n, until) : until;
    }
    return n;
}

static void read_chunk(void *context, unsigned i) {
    struct input_reader *r = context;
    chunk_read(&r->chunks[i]);
}

/* What is left to do about a chunk when all before it are done. */
static int finish_chunk(struct input_reader *r, const struct input_chunk *p) {
    uint64_t first = r->line;
    int status = FINE;
    r->line += p->outcome.lines;
    r->keys += p->outcome.lines;
    if (r->work->in_order) status = r->work->in_order(p->context, p->path, first);
    return status == FINE ? outcome_tell(&p->outcome, p->path, r->line) : status;
}

static int hand_on(struct input_reader *r) {
    if (r->chunks[0].file != r->file) r->line = 1;
    r->file = r->chunks[0].file;
    unsigned n = cut(r);
    int status = FINE;
    call_in_threads(n, read_chunk, r);
    for (unsigned i = 0; i < n && status == FINE; i++) status = finish_chunk(r, &r->chunks[i]);
    progress_at(r->chunks[0].read_before_end, r->keys);
    return status;
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

void input_start_progress(const struct input *input) {
    uint64_t total;
    if (!input->silent) progress_start(plain_files(input, &total) ? total : 0);
}

static int read_all(struct input_reader *r) {
    int status = FINE;
    for (bool more = true; status == FINE && more;) {
        status = blocks_next(&r->blocks, &r->buffer, &r->chunks[0]);
        more = !blocks_none(&r->chunks[0]);
        if (status == FINE && more) status = hand_on(r);
    }
    return status;
}

static void prepare_chunks(struct input_reader *r) {
    for (unsigned i = 0; i < r->work->threads; i++) {
        r->chunks[i].input = r->input;
        r->chunks[i].function = r->work->in_thread;
        r->chunks[i].context = r->work->contexts[i];
    }
}

int input_work(const struct input *input, const struct key_work *work) {
    size_t size = work->threads > 1 ? LARGE_BLOCK : BLOCK;
    struct input_reader r = {.input = input, .work = work, .buffer = {malloc(size + 1), size}, .line = 1};
    int status;
    r.chunks = calloc(work->threads, sizeof *r.chunks);
    if (r.buffer.bytes && r.chunks) {
        prepare_chunks(&r);
        input_start_progress(input);
        blocks_begin(&r.blocks, input, work->threads, work->threads > 1);
        status = read_all(&r);
        blocks_end(&r.blocks);
        progress_end();
    } else {
        status = failure(NULL, "not enough memory to read keys");
    }
    for (unsigned i = 0; r.chunks && i < work->threads; i++) free(r.chunks[i].scratch);
    free(r.chunks);
    free(r.buffer.bytes);
    return status;
}

int input_read(const struct input *input, batch_function *function, void *context) {
    return input_work(input, &(struct key_work){.threads = 1, .in_thread = function, .contexts = &context});
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
    struct input_source source;
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
    struct input_source source;
    struct stat status;
    if (source_open(&source, path) != FINE) return TROUBLE;
    ssize_t got = fstat(source.fd, &status) == 0 ? pread(source.fd, buffer, BLOCK, source_position(&source)) : -1;
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
