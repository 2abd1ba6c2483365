#include "blocks.h"
#include "output/report.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Something behind what is kept, or the end of the file. A buffer that a long line has enlarged is
 * not filled with short ones: each of those takes memory of its own while it waits. */
static int read_on(struct block_reader *b, bool *ended) {
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
    if (b->source.compressed < 0) b->bytes += (uint64_t)got;
    *ended = got == 0;
    bool first = b->at_first && !kept && b->input->records != PERHAPS_RAW;
    if (!*ended) return first ? source_refuse_compressed(&b->source, to, (size_t)got) : FINE;
    int status = source_ended(&b->source);
    if (status != FINE || !kept) return status;
    if (b->input->records == PERHAPS_RAW)
        return failure(name, "ends %zu byte%s after its last record of 8 bytes; it is truncated or is not --key u64le",
                       kept, kept == 1 ? "" : "s");
    b->buffer->bytes[b->end++] = b->input->terminator;
    return FINE;
}

/* Moves the unfinished line to the front of the next buffer, which is made so large that this takes
 * less than half of it. False if there is not enough memory. */
static bool make_room(struct block_reader *b, struct buffer *next) {
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

/* A quote that is never closed would have all of a file read into memory. */
enum { MOST_RECORD = 1 << 30 };

/* As far as there are whole records; at the end of the file all there is. */
static void take_whole_records(struct block_reader *b, struct input_chunk *chunk, bool ended) {
    const char *bytes = b->buffer->bytes, *end = bytes + b->end, *from = bytes + b->scanned, *until;
    chunk->at = bytes + b->start;
    chunk->marked = b->at_first && begins_with_mark(b->input, chunk->at, end);
    if (chunk->marked && b->scanned == b->start) from += MARK_BYTES;
    if (b->input->records == PERHAPS_RAW) {
        until = end - (b->end - b->start) % 8;
    } else {
        until = last_record_end(&b->search, from, end);
        if (until == from) until = chunk->at;
    }
    chunk->end = ended ? end : until;
    chunk->offset = b->offset + b->start;
    chunk->read_before_end = b->bytes + source_compressed_bytes(&b->source);
    b->start = (size_t)(chunk->end - bytes);
    b->scanned = b->end;
}

static void chunk_fault(struct input_chunk *chunk, const char *text) {
    chunk->outcome.status = TROUBLE;
    snprintf(chunk->outcome.fault, sizeof chunk->outcome.fault, "%s", text);
}

/* What the header [at, end) says of the fields; with --missing, a file may lack one. */
static void read_header(struct block_reader *b, struct input_chunk *chunk, const char *at, const char *end) {
    const struct input *input = b->input;
    char text[300];
    while (at < end && end[-1] == '\r' && is_table(input->records)) end--;
    enum header_result result = columns_of_header(input, at, end, &b->columns, text, sizeof text - 40);
    if (result == HEADER_FINE) return;
    if (result == HEADER_LACKS && input->missing != MISSING_ERROR) {
        warning(input_name(b->source.path), "%s", text);
        return;
    }
    if (result == HEADER_LACKS)
        append_text(text, sizeof text,
                    input->where_kept ? "; give --%sfield 0 if lines are keys" : "; correct --%sfield", input->prefix);
    chunk_fault(chunk, text);
}

/* Takes the first record of the file, which must be whole; blank lines before it are none, and not
 * handed on. */
static int take_header(struct block_reader *b, struct input_chunk *chunk) {
    const struct input *input = b->input;
    const char *at = chunk->at, *first = at + (chunk->marked ? MARK_BYTES : 0);
    const char *text = behind_blank_lines(input, first, chunk->end), *shown = text == first ? at : text;
    const char *end = record_end_from(record_search_in(input, text, chunk->end), text, text, chunk->end);
    if (text == chunk->end) return FINE;
    if (!end) {
        chunk_fault(chunk, "has a header with a quote that is never closed; correct it");
        return FINE;
    }
    read_header(b, chunk, text, end - 1);
    chunk->marked = b->header_due = false;
    chunk->outcome.lines = count_bytes(at, (size_t)(end - at), input->terminator);
    if (chunk->outcome.status != FINE)
        chunk->outcome.lines -= count_bytes(text, (size_t)(end - text), input->terminator);
    chunk->at = end;
    chunk->offset += (uint64_t)(end - at);
    b->header_lines = chunk->outcome.lines;
    if (b->header_taken || !input->take_header || chunk->outcome.status != FINE) return FINE;
    b->header_taken = true;
    return input->take_header(input->header_context, shown, (size_t)(end - shown));
}

static int open_next(struct block_reader *b) {
    const char *path = b->input->paths[b->file];
    int status = source_open(&b->source, path, decompressor_of(path));
    if (status != FINE) return status;
    source_widen(&b->source);
    b->offset = (uint64_t)source_position(&b->source);
    b->start = b->scanned = b->end = 0;
    b->search = record_search_in(b->input, NULL, NULL);
    b->open = b->at_first = true;
    b->header_due = b->input->header;
    b->header_lines = 0;
    if (!b->header_due) columns_resolve(&b->input->fields, NULL, &b->columns);
    return FINE;
}

/* What was read becomes a chunk; it is empty as long as there is no whole record. */
static int make_chunk(struct block_reader *b, struct input_chunk *chunk, bool ended) {
    size_t kept = b->end - b->start;
    int status = FINE;
    bool may_be_mark = b->at_first && kept && kept < MARK_BYTES && b->buffer->bytes[b->start] == '\xEF';
    if (may_be_mark && is_table(b->input->records) && !ended) return FINE;
    take_whole_records(b, chunk, ended);
    if (chunk->at == chunk->end) {
        if (b->input->records == PERHAPS_CSV && kept > MOST_RECORD)
            chunk_fault(chunk,
                        "begins a record of more than 1 GiB, so a quote in it is perhaps never closed; correct it");
        return FINE;
    }
    b->at_first = false;
    chunk->outcome.lines = b->header_lines;
    if (b->header_due) status = take_header(b, chunk);
    chunk->columns = b->columns;
    if (chunk->at < chunk->end) b->header_lines = 0;
    return status;
}

bool blocks_none(const struct input_chunk *chunk) {
    return chunk->at == chunk->end && chunk->outcome.status == FINE;
}

int blocks_next(struct block_reader *b, struct buffer *buffer, struct input_chunk *chunk) {
    chunk->at = chunk->end = NULL;
    chunk->outcome = (struct chunk_outcome){.status = FINE};
    while (b->file < b->input->path_count && blocks_none(chunk)) {
        bool ended = false;
        int status = b->open ? FINE : open_next(b);
        if (status != FINE) return status;
        chunk->file = b->file;
        if (!make_room(b, buffer)) {
            chunk->outcome = (struct chunk_outcome){
                .status = TROUBLE, .fault = "is too long for the memory there is; is -0 missing or one too many?"};
            return FINE;
        }
        status = read_on(b, &ended);
        if (status != FINE) return status;
        status = make_chunk(b, chunk, ended);
        if (status != FINE) return status;
        if (!ended) continue;
        blocks_end(b);
        b->file++;
    }
    return FINE;
}

void blocks_end(struct block_reader *b) {
    if (!b->open) return;
    b->bytes += source_compressed_bytes(&b->source);
    source_close(&b->source);
    b->open = false;
}
