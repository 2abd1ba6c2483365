/*
 * Chunks of BF.SCANDUMP, CF.SCANDUMP and their LOADCHUNK.
 *
 * A chunk has a cursor: the position after it, plus one. The header chunk has cursor 1 and is not
 * counted. A filter in RedisBloom's layout gives and takes RedisBloom's chunks, byte for byte. A
 * native filter gives its image in the same manner, after a header chunk with these fields:
 *
 *     bytes  what
 *         8  "perhaps\1"
 *         8  the image's length
 *         6  struct reported: bucket size, iterations, expansion
 *         8  struct reported: deletions
 *
 * All numbers are little-endian.
 */
#ifndef PERHAPS_SERVER_CHUNK_HEADER_H
#define PERHAPS_SERVER_CHUNK_HEADER_H

#include "little_endian.h"
#include "value.h"

#include <string.h>

/* The longest chunk, and the longest string in an RDB or AOF. */
enum { CHUNK_BYTES = 16 << 20 };

enum { CHUNK_HEADER_BYTES = 30 };
static const uint8_t chunk_magic[8] = {'p', 'e', 'r', 'h', 'a', 'p', 's', 1};

static inline void chunk_header_write(uint8_t header[CHUNK_HEADER_BYTES], uint64_t total,
                                      const struct reported *reported) {
    memcpy(header, chunk_magic, sizeof chunk_magic);
    put_little_endian(header + 8, total, 8);
    put_little_endian(header + 16, reported->bucket, 2);
    put_little_endian(header + 18, reported->iterations, 2);
    put_little_endian(header + 20, reported->expansion, 2);
    put_little_endian(header + 22, reported->deleted, 8);
}

static inline bool chunk_header_read(const uint8_t *header, size_t length, uint64_t *total, struct reported *reported) {
    if (length != CHUNK_HEADER_BYTES || memcmp(header, chunk_magic, sizeof chunk_magic) != 0) return false;
    *total = get_little_endian(header + 8, 8);
    reported->bucket = (uint16_t)get_little_endian(header + 16, 2);
    reported->iterations = (uint16_t)get_little_endian(header + 18, 2);
    reported->expansion = (uint16_t)get_little_endian(header + 20, 2);
    reported->deleted = get_little_endian(header + 22, 8);
    return true;
}

#endif
