#include "blocks.h"
#include "output/report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Something behind what is kept, or the end of the file. A buffer that a long line has enlarged is
 * not filled with short ones: each of those takes memory of its own while it waits. */
static int read_on(struct blocks *b, bool *ended) {
    const char *name = input_name(b->source.path);
    char *to = b->buffer->bytes + b->end;
    size_t kept = b->end - b->start, room = b->buffer->size - b->end, size = room < LARGE_BLOCK ? room : LARGE_BLOCK;
    ssize_t got;
    do {
        input_wait(b->source.fd);
        if (input_was_interrupted()) return STOP;
        got = read(b->source.fd, to, size);
    } while (got < 0 && errno == EINTR);
    if (got < 0)
        return failure(name, "cannot be read: %s; %s", strerror(errno),
                       errno == EISDIR ? "give the files in it" : "give a readable file, or keys on standard input");
    b->end += (size_t)got;
    b->bytes += (uint64_t)got;
    *ended = got == 0;
    if (!*ended) return FINE;
    int status = source_ended(&b->source);
    if (status != FINE || !kept) return status;
    if (b->input->encoding == ENCODING_U64LE)
        return failure(name, "ends %zu byte%s after its last record of 8 bytes; it is cut off or is not --key u64le",
                       kept, kept == 1 ? "" : "s");
    b->buffer->bytes[b->end++] = b->input->terminator;
    return FINE;
}

/* Moves the unfinished line to the front of the next buffer, which is made so large that this takes
 * less than half of it. False if there is not enough memory. */
static bool make_room(struct blocks *b, struct buffer *next) {
    size_t kept = b->end - b->start, size = next->size;
    while (kept >= size / 2 && size <= SIZE_MAX / 4) size *= 2;
    if (size > next->size) {
        char *larger = kept < size / 2 ? realloc(next->bytes, size + 1) : NULL;
        if (!larger) return false;
        *next = (struct buffer){larger, size};
    }
    if (kept) memmove(next->bytes, b->buffer->bytes + b->start, kept);
    b->buffer = next;
    b->offset += b->start;
    b->scanned -= b->start;
    b->start = 0;
    b->end = kept;
    return true;
}

/* As far as there are whole lines, or whole records. */
static void take_whole_lines(struct blocks *b, struct input_chunk *chunk) {
    const char *bytes = b->buffer->bytes;
    size_t until = b->end - (b->end - b->start) % 8;
    if (b->input->encoding != ENCODING_U64LE) {
        const char *last = memrchr(bytes + b->scanned, b->input->terminator, b->end - b->scanned);
        until = last ? (size_t)(last - bytes) + 1 : b->start;
    }
    chunk->at = bytes + b->start;
    chunk->end = bytes + until;
    chunk->offset = b->offset + b->start;
    chunk->read_before_end = b->bytes;
    b->start = until;
    b->scanned = b->end;
}

bool blocks_none(const struct input_chunk *chunk) {
    return chunk->at == chunk->end && chunk->outcome.status == FINE;
}

int blocks_next(struct blocks *b, struct buffer *buffer, struct input_chunk *chunk) {
    chunk->at = chunk->end = NULL;
    chunk->outcome = (struct chunk_outcome){.status = FINE};
    while (b->file < b->input->path_count && blocks_none(chunk)) {
        const char *path = b->input->paths[b->file];
        bool ended;
        int status = FINE;
        if (!b->open) {
            status = source_open(&b->source, path, decompressor_of(path));
            if (status != FINE) return status;
            source_widen(&b->source);
            b->offset = (uint64_t)source_position(&b->source);
            b->start = b->scanned = b->end = 0;
            b->open = true;
        }
        chunk->file = b->file;
        if (!make_room(b, buffer)) {
            chunk->outcome = (struct chunk_outcome){
                .status = TROUBLE, .fault = "is too long for the memory there is; is -0 missing or one too many?"};
            return FINE;
        }
        status = read_on(b, &ended);
        if (status != FINE) return status;
        take_whole_lines(b, chunk);
        if (!ended) continue;
        blocks_end(b);
        b->file++;
    }
    return FINE;
}

void blocks_end(struct blocks *b) {
    if (b->open) source_close(&b->source);
    b->open = false;
}
