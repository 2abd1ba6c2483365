#include "checksums.h"

#include "base/endian.h"
#include "image/directory.h"

enum { AT_PAYLOAD_LENGTH = 112, DEEPEST = 3 };

static void fix(uint8_t *image, size_t length, unsigned depth);

/* Those of the children that lie within the image, and what the directory says of them. */
static void fix_children(uint8_t *image, size_t length, uint64_t payload, unsigned depth) {
    uint8_t *directory = image + image_offset(payload);
    for (uint64_t i = 0; i < payload / ENTRY_BYTES; i++) {
        struct entry entry = directory_get(directory, i);
        if (entry.offset < image_offset(payload) + payload || entry.offset > length) continue;
        if (entry.length < HEADER_BYTES || entry.length > length - entry.offset) continue;
        fix(image + entry.offset, (size_t)entry.length, depth + 1);
        entry.sum = header_checksum(image + entry.offset);
        directory_put(directory, i, &entry);
    }
}

static void fix(uint8_t *image, size_t length, unsigned depth) {
    uint64_t total;
    if (length < HEADER_BYTES || depth > DEEPEST) return;
    uint64_t payload = load64(image + AT_PAYLOAD_LENGTH);
    bool has_children = header_before_children(image) != 0;
    if (!image_length(payload, &total) || total > length || (total < length && !has_children)) return;
    if (has_children) fix_children(image, length, payload, depth);
    header_sum(image, image + image_offset(payload), payload);
}

void fix_checksums(uint8_t *image, size_t length) {
    fix(image, length, 0);
}
