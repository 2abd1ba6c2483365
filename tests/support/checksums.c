#include "checksums.h"

#include "base/endian.h"
#include "image/directory.h"

enum { AT_PAYLOAD_LENGTH = 112, DEEPEST = 3 };

static void fix(uint8_t *image, size_t length, unsigned depth);

/* Those of the children that lie within the image, and what the directory says of them. */
static void fix_children(uint8_t *image, size_t length, uint64_t payload, unsigned depth) {
    uint64_t before = image_offset(payload, header_recipe_length(image));
    uint8_t *directory = image + before;
    for (uint64_t i = 0; i < payload / ENTRY_BYTES; i++) {
        struct entry entry = directory_get(directory, i);
        if (entry.offset < before + payload || entry.offset > length) continue;
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
    uint64_t recipe = header_recipe_length(image);
    bool has_children = header_before_children(image) != 0;
    if (!image_length(payload, recipe, &total) || total > length || (total < length && !has_children)) return;
    if (has_children) fix_children(image, length, payload, depth);
    header_sum(NULL, image, image + image_offset(payload, recipe), payload, recipe);
}

void fix_checksums(uint8_t *image, size_t length) {
    fix(image, length, 0);
}
