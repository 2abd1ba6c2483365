#include "image/save.h"

#include "base/file.h"
#include "base/memory.h"
#include "base/why.h"

/* Everything before the payload, checksums included; NULL when memory is short. */
static uint8_t *make_head(const struct header *header, const uint8_t *payload, const perhaps_allocator *allocator) {
    uint8_t *head = memory_get(allocator, image_offset(header->length));
    if (!head) {
        fail(PERHAPS_ENOMEM, "no memory for the image's header");
        return NULL;
    }
    header_write(header, head);
    header_sum(head, payload, header->length);
    return head;
}

/* Pages of zeros become holes: what lies between them is written in one piece. */
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

static int write_file(struct replacement *r, const struct header *header, const uint8_t *head, const uint8_t *payload) {
    uint64_t offset = image_offset(header->length);
    int rc = replacement_write(r, 0, head, offset);
    for (uint64_t i = 0; rc == PERHAPS_OK && i < image_blocks(header->length); i++) {
        if (image_block_is_empty(head, i)) continue;
        uint64_t at = i * BLOCK_BYTES;
        rc = write_block(r, offset + at, payload + at, image_block_length(header->length, i));
    }
    return rc;
}

int image_save(const struct header *header, const uint8_t *payload, const perhaps_allocator *allocator,
               const char *path) {
    uint64_t offset = image_offset(header->length);
    uint8_t *head = make_head(header, payload, allocator);
    if (!head) return PERHAPS_ENOMEM;
    struct replacement r;
    int rc = replacement_begin(&r, path);
    if (rc == PERHAPS_OK) {
        rc = write_file(&r, header, head, payload);
        if (rc == PERHAPS_OK)
            rc = replacement_commit(&r, offset + header->length);
        else
            replacement_abandon(&r);
    }
    memory_release(allocator, head, offset);
    return rc;
}

int image_write(const struct header *header, const uint8_t *payload, const perhaps_allocator *allocator,
                image_sink *sink, void *context) {
    uint8_t *head = make_head(header, payload, allocator);
    if (!head) return PERHAPS_ENOMEM;
    int stopped = sink(context, head, (size_t)image_offset(header->length));
    for (uint64_t i = 0; !stopped && i < image_blocks(header->length); i++) {
        uint64_t length = image_block_length(header->length, i);
        stopped = sink(context, payload + i * BLOCK_BYTES, (size_t)length);
    }
    memory_release(allocator, head, image_offset(header->length));
    return stopped ? fail(PERHAPS_EIO, "the sink stopped the writing of the image") : PERHAPS_OK;
}
