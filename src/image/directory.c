#include "image/directory.h"

#include "base/arith.h"
#include "base/endian.h"

struct entry directory_get(const uint8_t *directory, uint64_t i) {
    const uint8_t *at = directory + i * ENTRY_BYTES;
    return (struct entry){load64(at), load64(at + 8), load64(at + 16), load64(at + 24)};
}

void directory_put(uint8_t *directory, uint64_t i, const struct entry *entry) {
    uint8_t *at = directory + i * ENTRY_BYTES;
    store64(at, entry->offset);
    store64(at + 8, entry->length);
    store64(at + 16, entry->sum);
    store64(at + 24, entry->since);
}

bool directory_place(uint64_t end, uint64_t length, uint64_t *offset) {
    uint64_t last;
    return round_up_fits(end, length < BLOCK_BYTES ? 64 : 4096, offset) && add_fits(*offset, length, &last) &&
           last <= INT64_MAX;
}

const char *directory_check(const uint8_t *directory, uint64_t count, uint64_t end, uint64_t length) {
    for (uint64_t i = 0; i < count; i++) {
        struct entry entry = directory_get(directory, i);
        uint64_t offset;
        if (entry.length < HEADER_BYTES || !directory_place(end, entry.length, &offset) || entry.offset != offset)
            return "a directory whose entries are not in their places";
        end = offset + entry.length;
        if (end > length) return "a directory that reaches beyond its end: it is truncated";
    }
    return end == length ? NULL : "bytes behind its last part";
}
