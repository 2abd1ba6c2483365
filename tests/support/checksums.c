#include "checksums.h"

#include "base/endian.h"
#include "image/header.h"

void fix_checksums(uint8_t *image, size_t length) {
    enum { AT_PAYLOAD_LENGTH = 112 };
    uint64_t total;
    if (length < HEADER_BYTES) return;
    uint64_t payload = load64(image + AT_PAYLOAD_LENGTH);
    if (!image_length(payload, &total) || total != length) return;
    header_sum(image, image + image_offset(payload), payload);
}
