#include "image/write.h"

#include "base/memory.h"
#include "base/error.h"

#include <string.h>

/* ---- to a file ---- */

/* Pages of zeros become holes. */
static int write_block(struct replacement *r, uint64_t offset, const uint8_t *block, uint64_t length) {
    int rc = PERHAPS_OK;
    for (uint64_t at = 0, end; rc == PERHAPS_OK && at < length; at = end + MEMORY_PAGE) {
        for (end = at; end < length; end += MEMORY_PAGE) {
            uint64_t page = length - end < MEMORY_PAGE ? length - end : MEMORY_PAGE;
            if (memory_is_zero(block + end, page)) break;
        }
        if (end > length) end = length;
        if (end > at) rc = replacement_write(r, offset + at, block + at, end - at);
    }
    return rc;
}

static int write_payload(struct replacement *r, const struct piece *piece) {
    int rc = PERHAPS_OK;
    for (uint64_t i = 0; rc == PERHAPS_OK && i < image_blocks(piece->length); i++) {
        if (image_block_is_empty(piece->head, i)) continue;
        uint64_t at = i * BLOCK_BYTES;
        rc = write_block(r, piece->offset + at, piece->bytes + at, image_block_length(piece->length, i));
    }
    return rc;
}

int image_save(const struct pieces *pieces, struct file_lock *lock) {
    struct replacement r;
    int rc = replacement_begin(&r, lock);
    if (rc < 0) return rc;
    for (size_t i = 0; rc == PERHAPS_OK && i < pieces->count; i++) {
        const struct piece *piece = &pieces->piece[i];
        rc = piece->head ? write_payload(&r, piece) : replacement_write(&r, piece->offset, piece->bytes, piece->length);
    }
    if (rc == PERHAPS_OK) rc = replacement_set_length(&r, pieces->total);
    if (rc == PERHAPS_OK) return replacement_commit(&r);
    replacement_abandon(&r);
    return rc;
}

/* ---- to a callback ---- */

/* Zeros if `bytes` is NULL. */
static int sink_some(image_sink *sink, void *context, const uint8_t *bytes, uint64_t length) {
    static const uint8_t zeros[MEMORY_PAGE];
    uint64_t most = bytes ? BLOCK_BYTES : sizeof zeros;
    int stopped = 0;
    for (uint64_t at = 0; !stopped && at < length; at += most)
        stopped = sink(context, bytes ? bytes + at : zeros, (size_t)(length - at < most ? length - at : most));
    return stopped;
}

int image_write(const struct pieces *pieces, image_sink *sink, void *context) {
    uint64_t end = 0;
    int stopped = 0;
    for (size_t i = 0; !stopped && i < pieces->count; i++) {
        const struct piece *piece = &pieces->piece[i];
        stopped = sink_some(sink, context, NULL, piece->offset - end);
        if (!stopped) stopped = sink_some(sink, context, piece->bytes, piece->length);
        end = piece->offset + piece->length;
    }
    return stopped ? fail(PERHAPS_EIO, "the sink stopped the writing of the image") : PERHAPS_OK;
}

/* ---- to memory of zeros ---- */

void image_copy(const struct pieces *pieces, uint8_t *memory) {
    for (size_t i = 0; i < pieces->count; i++) {
        const struct piece *piece = &pieces->piece[i];
        memcpy(memory + piece->offset, piece->bytes, (size_t)piece->length);
    }
}
